// SPDX-License-Identifier: MIT
/*
 * Sparkline - the last minutes of one series as a bare line; `values` may hold nulls (gaps).
 * Decoration: the figure above it says the value, the charts below it the course.
 */

const WIDTH = 120;
const HEIGHT = 22;
const SPAN = 60; // seconds

function path(values: readonly (number | null)[], span: number): string {
	const known = values.filter((v): v is number => v !== null);
	const max = Math.max(...known, 1e-9);
	const min = Math.min(...known, 0);
	const step = WIDTH / (span - 1);
	let pen = "M";
	let out = "";
	values.forEach((v, i) => {
		if (v === null) {
			pen = "M";
			return;
		}
		const x = WIDTH - (values.length - 1 - i) * step;
		const y = HEIGHT - 1.5 - ((v - min) / (max - min)) * (HEIGHT - 3);
		out += `${pen}${x.toFixed(1)} ${y.toFixed(1)}`;
		pen = "L";
	});
	return out;
}

export function Sparkline({
	values,
	color,
}: {
	values: readonly (number | null)[];
	color: string;
}) {
	const recent = values.slice(-SPAN);
	const line = path(recent, SPAN);
	return (
		<svg
			class={`spark ${color}`}
			viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
			preserveAspectRatio="none"
			aria-hidden="true"
		>
			{recent.length > 1 ? <path d={line} /> : null}
		</svg>
	);
}
