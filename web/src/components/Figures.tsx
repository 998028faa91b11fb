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
				<span class="note" title={note}>{note}</span>
			</dd>
			{series ? <Sparkline values={history.value.values[series]} color={color ?? ""} /> : null}
		</div>
	);
}

function movedShare(s: Summary): string {
	if (!s.realloc_count)
		return "none since start";
	return `${Math.round((s.realloc_moved / s.realloc_count) * 100)} % moved their block`;
}

function rssNote(s: Summary): string {
	if (s.rss_bytes === null)
		return s.ended ? "the process has ended" : "not known";
	if (s.live_bytes <= 0)
		return "memory in RAM";
	return `${(s.rss_bytes / s.live_bytes).toFixed(1)}× the live heap`;
}

function processNote(s: Summary): string {
	if (s.processes_started > 1)
		return `${exact(s.processes_started)} started so far`;
	return s.ended ? "ended" : `up ${duration((s.now_ns - s.started_ns) / 1e9)}`;
}

export function Figures() {
	const s = summary.value;
	if (!s)
		return null;
	const mean = view.value.since === "start";
	const per = mean ? ", mean" : "";
	return (
		<dl class={"figures panel" + (s.ended ? " final" : "")} aria-label="Figures">
			<Tile label={`Allocations${per}`} note={`${text(count(s.alloc_count))} since start`} series="allocs" color="c-alloc">
				<Num value={s.allocs_per_s} per="s" />
			</Tile>
			<Tile label={`Bytes allocated${per}`} note={`${text(bytes(s.alloc_bytes))} since start`} series="bytes" color="c-alloc">
				<Num value={s.bytes_per_s} as="bytes" per="s" />
			</Tile>
			<Tile label={`Frees${per}`} note={`${text(count(s.free_count))} since start`} series="frees" color="c-free">
				<Num value={s.frees_per_s} per="s" />
			</Tile>
			<Tile label={`Reallocs${per}`} note={movedShare(s)} series="reallocs" color="c-alloc">
				<Num value={s.reallocs_per_s} per="s" />
			</Tile>
			<Tile label="Live heap" note={`${text(count(s.live_count))} blocks`} series="live" color="c-live">
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
