// SPDX-License-Identifier: MIT
/* Notices - what the agent or the server could not do as asked, and what was not recorded in full. */
import { exact, plural } from "../format";
import { summary } from "../store";
import type { Summary } from "../types";
import { Icon } from "./Icon";
import { Name } from "./Name";

const DROPS: Record<string, (n: number) => string> = {
	threads: (n) =>
		`${plural(n, "call")} by threads that found no row of their own: counted under “other threads”, without a site.`,
	processes: (n) =>
		`${plural(n, "forked process", "forked processes")} without a row: counted under “other threads”.`,
	sites: (n) =>
		`${plural(n, "call")} without a site, as the thread's table was full: counted as “(site not known)”.`,
	modules: (n) =>
		`${plural(n, "site")} in objects that found no place in the module table: shown by address.`,
	memory: (n) =>
		`${plural(n, "time")} there was no memory for the recording (is /dev/shm full?).`,
	lock: (n) => `${plural(n, "time")} the recording's lock was not to be had in time.`,
	recovered: (n) =>
		`${plural(n, "time")} a process died in the middle of a change: repaired.`,
};

function drops(s: Summary): { key: string; text: string }[] {
	return Object.entries(s.dropped)
		.filter(([, n]) => n > 0)
		.map(([key, n]) => ({
			key,
			text: DROPS[key]?.(n) ?? `${exact(n)} dropped: ${key}.`,
		}));
}

export function Notices() {
	const s = summary.value;
	if (!s) return null;
	const dropped = drops(s);
	const total = s.problems.length + dropped.length;
	if (total === 0) return null;
	return (
		<details class="notices" open={total <= 2}>
			<summary>
				<Icon name="warn" /> {total === 1 ? "1 notice" : `${total} notices`}{" "}
				about this recording
			</summary>
			<ul>
				{s.problems.map((p, i) => (
					<li key={i}>
						<code>{p.code}</code>{" "}
						<Name text={p.message} title={false} />
					</li>
				))}
				{dropped.map((d) => (
					<li key={d.key}>
						<code>dropped</code> {d.text}
					</li>
				))}
			</ul>
		</details>
	);
}
