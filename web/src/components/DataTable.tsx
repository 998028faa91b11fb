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
import { useWindow } from "./useWindow";

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
		shown = [...rows].sort((a, b) => at(a) - at(b)); // stable: new ones come last
	}
	last.current = { question, keys: shown.map(rowKey) };
	return { shown, held };
}

function moveFocus(event: KeyboardEvent): void {
	const row = (event.target as HTMLElement).closest("tr");
	let next: Element | null | undefined = null;
	if (event.key === "ArrowDown")
		next = row?.nextElementSibling;
	else if (event.key === "ArrowUp")
		next = row?.previousElementSibling;
	const button = next?.querySelector("button");
	if (button) {
		event.preventDefault();
		button.focus();
	}
}

function cellClass(column: { id: string; text?: boolean }): string {
	return `col-${column.id}${column.text ? " text" : ""}`;
}

interface HeaderProps<Row, Sort extends string> {
	column: Column<Row, Sort>;
	order: Order | null; // null: sorted by another column
	onSort: (sort: Sort, order: Order) => void;
}

function Header<Row, Sort extends string>({ column, order, onSort }: HeaderProps<Row, Sort>) {
	const { sort, text, label, title } = column;
	if (!sort) {
		return (
			<th scope="col" class={cellClass(column)} title={title}>
				<span class="plain">{label}</span>
			</th>
		);
	}
	const first: Order = text ? "asc" : "desc";
	const turned: Order = order === "desc" ? "asc" : "desc";
	const said = { desc: "descending", asc: "ascending" } as const;
	const arrow = { desc: "▾", asc: "▴" };
	return (
		<th scope="col" class={cellClass(column)} aria-sort={order ? said[order] : "none"}>
			<button type="button" title={title} onClick={() => onSort(sort, order ? turned : first)}>
				{label}
				<span class="arrow" aria-hidden="true">
					{order ? arrow[order] : ""}
				</span>
			</button>
		</th>
	);
}

function Spacer({ height, columns }: { height: number; columns: number }) {
	if (height === 0)
		return null;
	return (
		<tbody class="spacer" aria-hidden="true">
			<tr>
				<td colSpan={columns} style={{ height: `${height}px` }} />
			</tr>
		</tbody>
	);
}

interface LineProps<Row, Sort extends string> {
	row: Row;
	index: number; // as a screen reader counts, the header is 1
	table: Props<Row, Sort>;
}

function Line<Row, Sort extends string>({ row, index, table }: LineProps<Row, Sort>) {
	const { columns, rowKey, selected, onSelect, rowClass } = table;
	const state = rowKey(row) === selected ? "selected " : "";
	return (
		<tr class={state + (rowClass?.(row) ?? "")} aria-rowindex={index} onClick={() => onSelect(row)}>
			{columns.map((column) => (
				<td key={column.id} class={cellClass(column)}>
					{column.render(row)}
				</td>
			))}
		</tr>
	);
}

export function DataTable<Row, Sort extends string>(props: Props<Row, Sort>) {
	const { caption, columns, rows, rowKey, sort, order, onSort, empty } = props;
	const question = `${sort} ${order}`;
	const { shown, held } = useHeldOrder(rows, rowKey, question);
	const { box, window, onScroll } = useWindow(shown.length, question);
	const drawn = shown.slice(window.first, window.last);
	return (
		<div class="scroll" role="group" aria-label={caption} tabIndex={0} ref={box} onScroll={onScroll}>
			<table class="data" aria-rowcount={shown.length + 1}>
				<caption class="hidden">{caption}</caption>
				<thead>
					<tr aria-rowindex={1}>
						{columns.map((column) => (
							<Header
								key={column.id}
								column={column}
								order={column.sort === sort ? order : null}
								onSort={onSort}
							/>
						))}
					</tr>
				</thead>
				<Spacer height={window.before} columns={columns.length} />
				<tbody
					onPointerEnter={(event) => (held.value = event.pointerType === "mouse")}
					onPointerLeave={() => (held.value = false)}
					onKeyDown={moveFocus}
				>
					{drawn.map((row, i) => (
						<Line key={rowKey(row)} row={row} index={window.first + i + 2} table={props} />
					))}
				</tbody>
				<Spacer height={window.after} columns={columns.length} />
			</table>
			{shown.length === 0 ? <p class="none">{empty}</p> : null}
		</div>
	);
}
