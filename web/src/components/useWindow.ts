// SPDX-License-Identifier: MIT
/*
 * useWindow - which rows of a long table are drawn: those in view and some around them.
 *
 * A thousand rows drawn anew each second cost a second core; the sixty that can be seen cost
 * little. Rows have one height (style.css holds them to it), so the others can be left out by
 * two empty rows. Short tables are drawn whole, for the sake of the browser's own search.
 */
import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";

const ROW = 36; // px
const BLOCK = 20; // rows; the window moves by as many
const WHOLE = 150;

export interface Window {
	first: number;
	last: number; // exclusive
	before: number; // px
	after: number;
}

export function useWindow(total: number, question: string) {
	const box = useRef<HTMLDivElement>(null);
	const block = useSignal(0);
	const inView = useSignal(30);
	const update = () => {
		block.value = Math.floor(box.current!.scrollTop / ROW / BLOCK);
		inView.value = Math.ceil(box.current!.clientHeight / ROW);
	};
	useEffect(() => {
		box.current!.scrollTop = 0; // another question: its answer is read from the top
		update();
	}, [question]);

	const small = total <= WHOLE;
	const first = small ? 0 : Math.min(Math.max(0, (block.value - 1) * BLOCK), total);
	const last = small ? total : Math.min(total, first + inView.value + 3 * BLOCK);
	const window: Window = { first, last, before: first * ROW, after: (total - last) * ROW };
	return { box, window, onScroll: update };
}
