// SPDX-License-Identifier: MIT
/*
 * names.ts - long C++ and Rust names made short enough for a table row.
 *
 * Pure. Template arguments and parameter lists carry the length, seldom the meaning: they are cut
 * to <…> and (…), and only in names that would not fit anyway. The full name is in the title and
 * in the detail.
 */

const FITS = 56;
const CLOSES: Record<string, string> = { "<": ">", "(": ")" };

/* The index behind the bracket that closes the one at `start`, or -1. */
function skip(name: string, start: number): number {
	let depth = 0;
	for (let i = start; i < name.length; i++) {
		const c = name[i]!;
		if (c === "<" || c === "(") depth++;
		else if ((c === ">" && name[i - 1] !== "-") || c === ")") depth--;
		if (depth === 0) return i + 1;
	}
	return -1;
}

/* Brackets that are part of a name, not arguments of it. */
function keeps(name: string, i: number): boolean {
	return (
		name.startsWith("(anonymous", i) ||
		name.startsWith("()", i) ||
		/operator\W*$/.test(name.slice(Math.max(0, i - 12), i)) ||
		(i === 0 && name[0] === "<")
	);
}

export function shortName(name: string): string {
	if (name.length <= FITS) return name;
	let out = "";
	for (let i = 0; i < name.length;) {
		const c = name[i]!;
		const end = c in CLOSES && !keeps(name, i) ? skip(name, i) : -1;
		if (end < 0) {
			out += c;
			i++;
		} else {
			out += c + "…" + CLOSES[c];
			i = end;
		}
	}
	return out;
}
