// SPDX-License-Identifier: MIT
/* Figures - the row of totals and rates of the family in view; takes a Summary and its history. */
import type { ComponentChildren } from "preact";
import { bytes, count, duration, exact, text } from "../format";
import type { SeriesName } from "../history";
import { history, summary, view } from "../store";
import type { Summary } from "../types";
import { Num } from "./Num";
import { Sparkline } from "./Sparkline";

interface TileProps {
	label: string;
	note: string;
	series?: SeriesName;
	color?: string;
	children: ComponentChildren;
}

function Tile({ label, note, series, color, children }: TileProps) {
	return (
		<div class="tile">
			<dt>{label}</dt>
			<dd>
				<span class="value">{children}</span>
				<span class="note" title={note}>
					{note}
				</span>
			</dd>
			{series ? (
				<Sparkline
					values={history.value.values[series]}
					color={color ?? ""}
				/>
			) : null}
		</div>
	);
}

function movedShare(s: Summary): string {
	if (!s.realloc_count) return "none since start";
	return `${Math.round((s.realloc_moved / s.realloc_count) * 100)} % moved their block`;
}

function rssNote(s: Summary): string {
	if (s.rss_bytes === null) return s.ended ? "the process has ended" : "not known";
	if (s.live_bytes <= 0) return "memory in RAM";
	return `${(s.rss_bytes / s.live_bytes).toFixed(1)}× the live heap`;
}

function processNote(s: Summary): string {
	if (s.processes_started > 1) return `${exact(s.processes_started)} started so far`;
	return s.ended ? "ended" : `up ${duration((s.now_ns - s.started_ns) / 1e9)}`;
}

interface MovingProps {
	label: string;
	s: Summary;
	rate: "allocs_per_s" | "bytes_per_s" | "frees_per_s" | "reallocs_per_s";
	total: "alloc_count" | "alloc_bytes" | "free_count" | "realloc_count";
	series: SeriesName;
	color: string;
	as?: "count" | "bytes";
	note?: string;
}

/* A rate, its total below it; of what has ended the total alone, as the rate is nought for ever. */
function Moving({ label, s, rate, total, series, color, as = "count", note }: MovingProps) {
	const sum = text(as === "bytes" ? bytes(s[total]) : count(s[total]));
	if (s.ended)
		return (
			<Tile label={label} note={note ?? "in all"} series={series} color={color}>
				<Num value={s[total]} as={as} />
			</Tile>
		);
	return (
		<Tile
			label={view.value.since === "start" ? `${label}, mean` : label}
			note={note ?? `${sum} since start`}
			series={series}
			color={color}
		>
			<Num value={s[rate]} as={as} per="s" />
		</Tile>
	);
}

export function Figures() {
	const s = summary.value;
	if (!s) return null;
	return (
		<dl class={"figures panel" + (s.ended ? " final" : "")} aria-label="Figures">
			<Moving
				label="Allocations"
				s={s}
				rate="allocs_per_s"
				total="alloc_count"
				series="allocs"
				color="c-alloc"
			/>
			<Moving
				label="Bytes allocated"
				s={s}
				rate="bytes_per_s"
				total="alloc_bytes"
				series="bytes"
				color="c-alloc"
				as="bytes"
			/>
			<Moving
				label="Frees"
				s={s}
				rate="frees_per_s"
				total="free_count"
				series="frees"
				color="c-free"
			/>
			<Moving
				label="Reallocs"
				s={s}
				rate="reallocs_per_s"
				total="realloc_count"
				series="reallocs"
				color="c-alloc"
				note={movedShare(s)}
			/>
			<Tile
				label={s.ended ? "Never freed" : "Live heap"}
				note={`${text(count(s.live_count))} blocks`}
				series="live"
				color="c-live"
			>
				<Num value={s.live_bytes} as="bytes" />
			</Tile>
			<Tile label="RSS" note={rssNote(s)} series="rss" color="c-rss">
				<Num value={s.rss_bytes} as="bytes" />
			</Tile>
			<Tile label="Threads" note={`${exact(s.threads_started)} started so far`}>
				<Num value={s.threads} as="whole" />
			</Tile>
			<Tile label="Processes" note={processNote(s)}>
				<Num value={s.processes} as="whole" />
			</Tile>
		</dl>
	);
}
