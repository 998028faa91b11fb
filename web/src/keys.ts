// SPDX-License-Identifier: MIT
/*
 * keys.ts - shortcuts of the whole page. Single keys can be switched off in the help sheet, as
 * WCAG 2.1.4 asks: speech input types them by accident. Arrow keys belong to DataTable.
 */
import { cycleTheme, shortcuts } from "./prefs";
import * as store from "./store";

export const KEYS: readonly [string, string][] = [
	["p", "pause or resume"],
	["/", "go to the filter of the sites"],
	["t", "theme: auto, dark, light"],
	["r", "rates: last second or mean since start"],
	["?", "this sheet"],
	["Esc", "close the detail, then drop the thread choice"],
	["↑ ↓", "in a table: to the row above or below"],
	["Enter", "in a table: open or choose the row"],
];

function typing(target: EventTarget | null): boolean {
	return (
		target instanceof HTMLElement &&
		target.matches("input:not([type=checkbox]), select, textarea")
	);
}

function closeOne(): void {
	if (store.view.value.site !== null) store.changeView({ site: null });
	else if (store.view.value.thread !== null) store.changeView({ thread: null }, true);
}

function toggleSince(): void {
	store.changeView({ since: store.view.value.since === "second" ? "start" : "second" });
}

const ACTIONS: Record<string, () => void> = {
	p: store.togglePause,
	t: cycleTheme,
	r: toggleSince,
	"/": () => document.getElementById("site-filter")?.focus(),
	"?": () => {
		store.helpOpen.value = true;
	},
};

function onKey(event: KeyboardEvent): void {
	if (
		event.ctrlKey ||
		event.metaKey ||
		event.altKey ||
		event.defaultPrevented ||
		store.helpOpen.value
	)
		return;
	if (event.key === "Escape") {
		closeOne();
		return;
	}
	const action = shortcuts.value && !typing(event.target) ? ACTIONS[event.key] : undefined;
	if (action) {
		event.preventDefault();
		action();
	}
}

export function startKeys(): void {
	document.addEventListener("keydown", onKey);
}
