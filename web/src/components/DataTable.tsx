// SPDX-License-Identifier: MIT
/*
 * DataTable - rows that the server has sorted, with headers that ask it for another order.
 *
 * While the pointer rests on the rows they keep their places (values go on changing): a list that
 * is sorted anew each second cannot be clicked otherwise. Arrow keys move between rows.
 */
import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useRef } from "preact/hooks";
import type { Order } from "../view";

export interface Column<Row, Sort extends string> {
	id: string;
	label: string;
	title: string;
	sort?: Sort;
	text?: boolean; // left-aligned, first order ascending
	render: (row: Row) => ComponentChildren;
}

interface Props<Row, Sort extends string> {
	caption: string;
	columns: readonly Column<Row, Sort>[];
	rows: readonly Row[];
	rowKey: (row: Row) => string;
	sort: Sort;
	order: Order;
	onSort: (sort: Sort, order: Order) => void;
	selected: string | null;
	onSelect: (row: Row) => void;
	rowClass?: (row: Row) => string;
	empty: string;
}

function useHeldOrder<Row>(rows: readonly Row[], rowKey: (row: Row) => string, question: string) {
	const held = useSignal(false);
	const last = useRef<{ question: string; keys: string[] }>({ question: "", keys: [] });
	let shown = rows;
	if (held.value && last.current.question === question) {
		const place = new Map(last.current.keys.map((key, i) => [key, i]));
		const at = (row: Row) => place.get(rowKey(row)) ?? Number.MAX_SAFE_INTEGER;
		shown = [...rows].sort((a, b) => at(a) - at(b)); // stable: new rows stay in server order, at the end
	}
	last.current = { question, keys: shown.map(rowKey) };
	return { shown, held };
}

function moveFocus(event: KeyboardEvent): void {
	const row = (event.target as HTMLElement).closest("tr");
	const next =
		event.key === "ArrowDown"
			? row?.nextElementSibling
			: event.key === "ArrowUp"
				? row?.previousElementSibling
				: null;
	const button = next?.querySelector("button");
	if (button) {
		event.preventDefault();
		button.focus();
	}
}

function Header<Row, Sort extends string>({
	column,
	props,
}: {
	column: Column<Row, Sort>;
	props: Props<Row, Sort>;
}) {
	const { sort, order, onSort } = props;
	const kind = `col-${column.id}${column.text ? " text" : ""}`;
	const own = column.sort;
	if (!own)
		return (
			<th scope="col" class={kind} title={column.title}>
				<span class="plain">{column.label}</span>
			</th>
		);
	const active = own === sort;
	const next: Order = active
		? order === "desc"
			? "asc"
			: "desc"
		: column.text
			? "asc"
			: "desc";
	return (
		<th
			scope="col"
			class={kind}
			aria-sort={
				active ? (order === "desc" ? "descending" : "ascending") : "none"
			}
		>
			<button
				type="button"
				title={column.title}
				onClick={() => onSort(own, next)}
			>
				{column.label}
				<span class="arrow" aria-hidden="true">
					{active ? (order === "desc" ? "▾" : "▴") : ""}
				</span>
			</button>
		</th>
	);
}

export function DataTable<Row, Sort extends string>(props: Props<Row, Sort>) {
	const { caption, columns, rows, rowKey, selected, onSelect, rowClass, empty } = props;
	const { shown, held } = useHeldOrder(rows, rowKey, `${props.sort} ${props.order}`);
	return (
		<div class="scroll" role="group" aria-label={caption} tabIndex={0}>
			<table class="data">
				<caption class="hidden">{caption}</caption>
				<thead>
					<tr>
						{columns.map((column) => (
							<Header
								key={column.id}
								column={column}
								props={props}
							/>
						))}
					</tr>
				</thead>
				<tbody
					onPointerEnter={(event) =>
						(held.value = event.pointerType === "mouse")
					}
					onPointerLeave={() => (held.value = false)}
					onKeyDown={moveFocus}
				>
					{shown.map((row) => {
						const key = rowKey(row);
						const state = key === selected ? "selected " : "";
						return (
							<tr
								key={key}
								class={
									state +
									(rowClass?.(row) ?? "")
								}
								onClick={() => onSelect(row)}
							>
								{columns.map((column) => (
									<td
										key={column.id}
										class={`col-${column.id}${column.text ? " text" : ""}`}
									>
										{column.render(row)}
									</td>
								))}
							</tr>
						);
					})}
				</tbody>
			</table>
			{shown.length === 0 ? <p class="none">{empty}</p> : null}
		</div>
	);
}
