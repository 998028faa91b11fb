// SPDX-License-Identifier: MIT
/*
 * history.ts - the last five minutes of one family's rates, kept in the page.
 *
 * A ring would save nothing here: 300 points are shifted once a second. A gap (hidden tab, pause,
 * lost server) is kept as a point of nulls, so that charts break the line instead of inventing it.
 */

export const HISTORY_SECONDS = 300;
const GAP_SECONDS = 3.5;

export const SERIES = ["allocs", "frees", "bytes", "freed", "live", "rss", "reallocs"] as const;
export type SeriesName = (typeof SERIES)[number];
export type Point = Record<SeriesName, number | null>;

export interface History {
	times: number[]; // seconds
	values: Record<SeriesName, (number | null)[]>;
}

const NOTHING: Point = {
	allocs: null,
	frees: null,
	bytes: null,
	freed: null,
	live: null,
	rss: null,
	reallocs: null,
};

export function emptyHistory(): History {
	return {
		times: [],
		values: {
			allocs: [],
			frees: [],
			bytes: [],
			freed: [],
			live: [],
			rss: [],
			reallocs: [],
		},
	};
}

function append(history: History, time: number, point: Point): void {
	history.times.push(time);
	for (const name of SERIES) history.values[name].push(point[name]);
}

export function pushPoint(history: History, time: number, point: Point): void {
	const last = history.times.at(-1);
	if (last !== undefined && time <= last) return;
	if (last !== undefined && time - last > GAP_SECONDS) append(history, last + 1, NOTHING);
	append(history, time, point);
	const old = history.times.findIndex((t) => t >= time - HISTORY_SECONDS);
	if (old > 0) {
		history.times.splice(0, old);
		for (const name of SERIES) history.values[name].splice(0, old);
	}
}
