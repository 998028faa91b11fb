// SPDX-License-Identifier: MIT
/* Notices - what the agent or the server could not do as asked, and what was not recorded in full. */
import { exact } from "../format";
import { summary } from "../store";
import type { Summary } from "../types";
import { Icon } from "./Icon";
import { Name } from "./Name";

const DROPS: Record<string, (n: string) => string> = {
	threads: (n) => `${n} calls came from threads that found no row of their own: counted under “other threads”, without a site.`,
	processes: (n) => `${n} forked processes found no row of their own: counted under “other threads”.`,
	sites: (n) => `${n} calls without a site: their thread's table was full. They are counted as “(site not known)”.`,
	modules: (n) => `${n} sites lie in objects that found no place in the module table: shown by address.`,
	memory: (n) => `${n} times there was no memory for the recording (is /dev/shm full?).`,
	lock: (n) => `${n} times the recording's lock was not to be had in time.`,
	recovered: (n) => `${n} times a process died in the middle of a change: repaired.`,
};

function drops(s: Summary): { key: string; text: string }[] {
	return Object.entries(s.dropped)
		.filter(([, n]) => n > 0)
		.map(([key, n]) => ({ key, text: DROPS[key]?.(exact(n)) ?? `${exact(n)} dropped: ${key}.` }));
}

export function Notices() {
	const s = summary.value;
	if (!s)
		return null;
	const dropped = drops(s);
	const total = s.problems.length + dropped.length;
	if (total === 0)
		return null;
	return (
		<details class="notices" open={total <= 2}>
			<summary><Icon name="warn" /> {total === 1 ? "1 notice" : `${total} notices`} about this recording</summary>
			<ul>
				{s.problems.map((p, i) => <li key={i}><code>{p.code}</code> <Name text={p.message} title={false} /></li>)}
				{dropped.map((d) => <li key={d.key}><code>dropped</code> {d.text}</li>)}
			</ul>
		</details>
	);
}
