// SPDX-License-Identifier: MIT
/* Charts - the live course of the family in view: which series stand together, and how they look. */
import { bytes, count } from "../format";
import { LineChart, type Line } from "./LineChart";

const OBJECTS: readonly Line[] = [
	{ series: "allocs", label: "allocated", color: "--alloc", fill: true },
	{ series: "frees", label: "freed", color: "--free", dashed: true },
];
const BYTES: readonly Line[] = [
	{ series: "bytes", label: "allocated", color: "--alloc", fill: true },
	{ series: "freed", label: "freed", color: "--free", dashed: true },
];
const MEMORY: readonly Line[] = [
	{ series: "live", label: "live heap", color: "--live", fill: true },
	{ series: "rss", label: "RSS", color: "--rss", dashed: true },
];

export function Charts() {
	return (
		<div class="charts">
			<LineChart title="Objects" lines={OBJECTS} format={count} per="/s" />
			<LineChart title="Bytes" lines={BYTES} format={bytes} binary per="/s" />
			<LineChart title="Memory" lines={MEMORY} format={bytes} binary />
		</div>
	);
}
