// SPDX-License-Identifier: MIT
/*
 * SizeHistogram - how large the requests were: SizeClass[] of powers of two, as columns.
 *
 * Heights are linear: a logarithm would hide that one class has nearly all. Empty classes between
 * the outer ones keep their place, so that the axis stays an axis.
 */
import { bytes, count, exact, percent, text } from "../format";
import { summary } from "../store";
import type { SizeClass } from "../types";

function log2(size: number): number {
	return size < 1 ? 0 : Math.floor(Math.log2(size) + 1e-9);
}

function spread(classes: readonly SizeClass[]): { power: number; count: number }[] {
	const byPower = new Map<number, number>();
	for (const c of classes)
		byPower.set(log2(c.min), (byPower.get(log2(c.min)) ?? 0) + c.count);
	const powers = [...byPower.keys()];
	const first = Math.min(3, ...powers);
	const last = Math.max(first + 11, ...powers);
	return Array.from({ length: last - first + 1 }, (_, i) => ({
		power: first + i,
		count: byPower.get(first + i) ?? 0,
	}));
}

function label(power: number): string {
	const { digits, unit } = bytes(2 ** power);
	return power < 10 ? digits : digits.replace(/\.0+$/, "") + unit[0];
}

function range(power: number): string {
	return `${power === 0 ? "0" : text(bytes(2 ** power))} to ${text(bytes(2 ** (power + 1)))}`;
}

function median(columns: readonly { power: number; count: number }[], total: number): number {
	let seen = 0;
	for (const column of columns) {
		seen += column.count;
		if (seen * 2 >= total) return column.power;
	}
	return 0;
}

export function SizeHistogram() {
	const classes = summary.value?.size_classes ?? [];
	const columns = spread(classes);
	const total = columns.reduce((sum, c) => sum + c.count, 0);
	const max = Math.max(1, ...columns.map((c) => c.count));
	const every = columns.length > 24 ? 4 : 2;
	return (
		<section class="panel sizes" aria-labelledby="sizes-title">
			<header>
				<h2 id="sizes-title">Request sizes</h2>
				<span class="muted shown">
					{total
						? `half are below ${text(bytes(2 ** (median(columns, total) + 1)))}`
						: ""}
				</span>
				<span class="grow" />
				<span class="muted shown">
					tallest column: {percent(max / (total || 1))} %
				</span>
			</header>
			<div class="columns" aria-hidden="true">
				{columns.map((c) => (
					<div
						class="column"
						key={c.power}
						title={`${range(c.power)}: ${exact(c.count)} objects, ${percent(c.count / (total || 1))} %`}
					>
						<div class="room">
							<div
								class={
									c.count
										? "bar"
										: "bar nothing"
								}
								style={{
									height: `${(c.count / max) * 100}%`,
								}}
							/>
						</div>
						<span class="tick">
							{c.power % every === 0
								? label(c.power)
								: ""}
						</span>
					</div>
				))}
			</div>
			<div class="hidden">
				<table>
					<caption>Request sizes, objects since start</caption>
					<tbody>
						{columns
							.filter((c) => c.count)
							.map((c) => (
								<tr key={c.power}>
									<th scope="row">
										{range(c.power)}
									</th>
									<td>
										{text(
											count(
												c.count,
											),
										)}
									</td>
								</tr>
							))}
					</tbody>
				</table>
			</div>
		</section>
	);
}
