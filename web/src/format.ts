// SPDX-License-Identifier: MIT
/*
 * format.ts - figures as text: three digits and a unit, the exact value elsewhere (a title).
 *
 * Pure. Units are apart from the digits so that a table can mute them.
 */

export interface Figure {
	digits: string;
	unit: string;
}

const NONE: Figure = { digits: "–", unit: "" };
const exactFormat = new Intl.NumberFormat("en", { maximumFractionDigits: 1 });

function fixed(value: number, decimals: number): string {
	return value.toFixed(decimals).replace("-", "\u2212");
}

function threeDigits(value: number): string {
	const size = Math.abs(value);
	if (size >= 99.95) return fixed(value, 0);
	return fixed(value, size >= 9.995 ? 1 : 2);
}

function scaled(value: number, step: number, units: readonly string[]): Figure {
	let power = 0;
	let rest = value;
	// Past 999.5 the digits would be four: "1000 k" is written "1.00 M".
	while (Math.abs(rest) >= 999.5 && power < units.length - 1) {
		rest /= step;
		power++;
	}
	return { digits: power === 0 ? plain(rest) : threeDigits(rest), unit: units[power]! };
}

function plain(value: number): string {
	if (Number.isInteger(value) || Math.abs(value) >= 99.95) return fixed(value, 0);
	return fixed(value, 1);
}

export function count(value: number | null | undefined): Figure {
	return value == null ? NONE : scaled(value, 1000, ["", "k", "M", "G", "T", "P", "E"]);
}

export function bytes(value: number | null | undefined): Figure {
	return value == null
		? NONE
		: scaled(value, 1024, ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"]);
}

/* Few things, of which each counts: threads, processes. */
export function whole(value: number | null | undefined): Figure {
	return value == null ? NONE : { digits: exact(value), unit: "" };
}

export function text(figure: Figure): string {
	return figure.unit ? `${figure.digits}\u202f${figure.unit}` : figure.digits;
}

/* Without the zeros that only say how precise it is: "64 MiB". For axes. */
export function round(figure: Figure): string {
	const digits = figure.digits.includes(".")
		? figure.digits.replace(/\.?0+$/, "")
		: figure.digits;
	return text({ ...figure, digits });
}

export function exact(value: number | null | undefined): string {
	return value == null ? "not known" : exactFormat.format(value);
}

export function percent(share: number): string {
	if (!(share > 0)) return "0";
	const value = share * 100;
	return value < 0.1 ? "<0.1" : value.toFixed(value >= 9.95 ? 0 : 1);
}

/* A span of time as the two largest units: "3 h 12 min". */
export function duration(seconds: number): string {
	const s = Math.max(0, Math.floor(seconds));
	if (s < 60) return `${s}\u202fs`;
	if (s < 3600) return `${Math.floor(s / 60)}\u202fmin ${s % 60}\u202fs`;
	if (s < 86400)
		return `${Math.floor(s / 3600)}\u202fh ${Math.floor((s % 3600) / 60)}\u202fmin`;
	return `${Math.floor(s / 86400)}\u202fd ${Math.floor((s % 86400) / 3600)}\u202fh`;
}

export function clock(ns: number): string {
	return new Date(ns / 1e6).toLocaleTimeString("en-GB");
}

export function dateTime(ns: number): string {
	return new Date(ns / 1e6).toLocaleString("sv-SE");
}

export function plural(n: number, one: string, many = one + "s"): string {
	return `${exact(n)} ${n === 1 ? one : many}`;
}

/*
 * Names come from any process of the machine: direction overrides and control characters would
 * let one dress up as another or reorder the row around it. They are shown as what they are.
 */
export function safeName(name: string): string {
	return name.replace(
		/[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g,
		(c) => {
			return `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`;
		},
	);
}
