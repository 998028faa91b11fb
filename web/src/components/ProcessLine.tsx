// SPDX-License-Identifier: MIT
/* ProcessLine - which program this is, since when, and what the watching costs it; takes a Summary. */
import { bytes, dateTime, duration, exact, round } from "../format";
import { summary } from "../store";
import { CopyButton } from "./CopyButton";
import { Name } from "./Name";

export function ProcessLine() {
	const s = summary.value;
	if (!s) return null;
	const { segment_used_bytes: used, segment_bytes: size } = s.overhead;
	return (
		<div class="processline muted">
			<code class="cmdline">
				<Name text={s.cmdline || s.exe} />
			</code>
			<CopyButton text={s.cmdline || s.exe} label="Copy the command line" />
			<span class="grow" />
			<span title={dateTime(s.started_ns)}>
				{s.ended
					? `started ${dateTime(s.started_ns)}`
					: `up ${duration((s.now_ns - s.started_ns) / 1e9)}`}
			</span>
			<span
				title={`${exact(used)} of ${exact(size)} bytes of the segment in use; ${exact(s.overhead.torn_reads)} reads had to be repeated`}
			>
				recording takes {round(bytes(used))} of {round(bytes(size))}
			</span>
		</div>
	);
}
