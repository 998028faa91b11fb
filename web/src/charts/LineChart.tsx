// SPDX-License-Identifier: MIT
/*
 * LineChart - series of one History over time, drawn by uPlot; the only file that knows it.
 *
 * uPlot is made once and fed once a second; it is made anew when the theme changes, as a canvas
 * keeps the colours it was drawn with. The canvas is hidden from screen readers, who get a table.
 */
import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import { clock, round, text, type Figure } from "../format";
import { HISTORY_SECONDS, type History, type SeriesName } from "../history";
import { cssColor, themeTick } from "../prefs";
import { history, summary } from "../store";
import { cursorIndex } from "./cursor";

export interface Line {
	series: SeriesName;
	label: string;
	color: string; // custom property of style.css
	fill?: boolean;
	dashed?: boolean; // not by colour alone
}

interface Props {
	title: string;
	lines: readonly Line[];
	format: (value: number | null | undefined) => Figure;
	binary?: boolean; // steps of the axis are powers of two
	per?: string;
}

const HEIGHT = 150;
const SPAN_MIN = 60;
const TICK_HALF = 22; // px of a time that stick out: none is written nearer to the right edge
const BINARY_STEPS = Array.from({ length: 50 }, (_, i) => 2 ** i);

function window_(u: uPlot): uPlot.Range.MinMax {
	const times = u.data[0]!;
	const end = times.length ? times[times.length - 1]! : Date.now() / 1000;
	const known = times.length ? end - times[0]! : 0;
	return [end - Math.min(HISTORY_SECONDS, Math.max(SPAN_MIN, known)), end];
}

function heights(_: uPlot, min: number | null, max: number | null): uPlot.Range.MinMax {
	const low = Math.min(0, min ?? 0);
	return [low * 1.1, Math.max(max ?? 0, low < 0 ? 0 : 1) * 1.12];
}

function axes(props: Props): uPlot.Axis[] {
	const stroke = cssColor("--muted");
	const grid = { stroke: cssColor("--grid"), width: 1 };
	const font = "11px system-ui, sans-serif";
	const ticks = { show: false };
	const time = (u: uPlot, at: number[]) => {
		const length = at.length > 1 && at[1]! - at[0]! < 60 ? 8 : 5;
		const { min, max } = u.scales.x as { min: number; max: number };
		const edge = max - (max - min) * (TICK_HALF / u.bbox.width) * devicePixelRatio;
		return at.map((t) => (t > edge ? "" : clock(t * 1e9).slice(0, length)));
	};
	return [
		{
			stroke,
			grid: { show: false },
			ticks,
			font,
			size: 28,
			gap: 8,
			space: 76,
			values: time,
		},
		{
			stroke,
			grid,
			ticks,
			font,
			size: 58,
			gap: 6,
			space: 34,
			values: (_, at) => at.map((v) => round(props.format(v))),
			...(props.binary ? { incrs: BINARY_STEPS } : {}),
		},
	];
}

function series(lines: readonly Line[]): uPlot.Series[] {
	return lines.map((line) => {
		const stroke = cssColor(line.color);
		return {
			label: line.label,
			stroke,
			width: 1.5,
			points: { show: false },
			...(line.dashed ? { dash: [5, 3] } : {}),
			...(line.fill ? { fill: cssColor(line.color + "-fill") } : {}),
		};
	});
}

function options(props: Props, width: number): uPlot.Options {
	return {
		width,
		height: HEIGHT,
		padding: [8, 8, 0, 0],
		legend: { show: false },
		cursor: {
			sync: { key: "heaptap" },
			drag: { x: false, y: false, setScale: false },
			y: false,
			points: { size: 7 },
		},
		scales: { x: { time: true, range: window_ }, y: { range: heights } },
		axes: axes(props),
		series: [{}, ...series(props.lines)],
		hooks: {
			setCursor: [
				(u) => {
					cursorIndex.value = u.cursor.idx ?? null;
				},
			],
		},
	};
}

function columns(h: History, lines: readonly Line[]): uPlot.AlignedData {
	return [h.times, ...lines.map((line) => h.values[line.series])];
}

function say(props: Props, value: number | null | undefined): string {
	return text(props.format(value)) + (value == null ? "" : (props.per ?? ""));
}

function Legend({ props }: { props: Props }) {
	const h = history.value;
	const at = cursorIndex.value ?? h.times.length - 1;
	return (
		<ul class="legend">
			{props.lines.map((line) => (
				<li key={line.series}>
					<span
						class={`swatch ${line.color.slice(2)}${line.dashed ? " dashed" : ""}`}
						aria-hidden="true"
					/>
					{line.label}
					<b class="num">{say(props, h.values[line.series][at])}</b>
				</li>
			))}
		</ul>
	);
}

function Time() {
	const at = cursorIndex.value;
	const time = at === null ? undefined : history.value.times[at];
	return time === undefined ? null : <span class="at num">{clock(time * 1e9)}</span>;
}

function Alternative({ props }: { props: Props }) {
	const h = history.value;
	return (
		<div class="hidden">
			<table>
				<caption>{props.title}, last five minutes</caption>
				<thead>
					<tr>
						<th scope="col">series</th>
						<th scope="col">now</th>
						<th scope="col">lowest</th>
						<th scope="col">highest</th>
					</tr>
				</thead>
				<tbody>
					{props.lines.map((line) => {
						const known = h.values[line.series].filter(
							(v): v is number => v !== null,
						);
						return (
							<tr key={line.series}>
								<th scope="row">{line.label}</th>
								<td>{say(props, known.at(-1))}</td>
								<td>
									{say(props, 
										known.length
											? Math.min(
													...known,
												)
											: undefined,
									)}
								</td>
								<td>
									{say(props, 
										known.length
											? Math.max(
													...known,
												)
											: undefined,
									)}
								</td>
							</tr>
						);
					})}
				</tbody>
			</table>
		</div>
	);
}

export function LineChart(props: Props) {
	const box = useRef<HTMLDivElement>(null);
	const plot = useRef<uPlot | null>(null);
	const tick = themeTick.value;
	const h = history.value;

	useEffect(() => {
		const element = box.current!;
		const u = new uPlot(
			options(props, element.clientWidth || 300),
			columns(h, props.lines),
			element,
		);
		const watch = new ResizeObserver(() =>
			u.setSize({ width: element.clientWidth, height: HEIGHT }),
		);
		watch.observe(element);
		plot.current = u;
		return () => {
			watch.disconnect();
			u.destroy();
			plot.current = null;
		};
	}, [tick]);
	useEffect(() => {
		plot.current?.setData(columns(h, props.lines));
	});
	return (
		<section class="panel chart" aria-label={props.title}>
			<header>
				<h2>{props.title}</h2>
				<Time />
				<span class="grow" />
				<Legend props={props} />
			</header>
			<div class="plot" ref={box} aria-hidden="true" />
			{h.times.length === 0 ? (
				<p class="muted nodata">
					{summary.value?.ended
						? "It had ended before this page was opened."
						: "Waiting for the first figures…"}
				</p>
			) : null}
			<Alternative props={props} />
		</section>
	);
}
