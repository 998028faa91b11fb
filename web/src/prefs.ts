// SPDX-License-Identifier: MIT
/*
 * prefs.ts - the user's taste: theme and single-key shortcuts, remembered by this browser.
 *
 * The theme is an attribute of <html>; style.css derives every colour from it. Canvases cannot
 * follow style sheets: they ask cssColor() and redraw when `themeTick` moves.
 */
import { signal } from "@preact/signals";

export type Theme = "auto" | "dark" | "light";
const THEMES: readonly Theme[] = ["auto", "dark", "light"];

function load(key: string): string | null {
	try {
		return localStorage.getItem(key);
	} catch {
		return null;
	}
}

function save(key: string, value: string): void {
	try {
		localStorage.setItem(key, value);
	} catch {
		// storage is switched off: the choice lasts as long as the page
	}
}

export const theme = signal<Theme>(THEMES.find((t) => t === load("heaptap-theme")) ?? "auto");
export const shortcuts = signal(load("heaptap-shortcuts") !== "off");
export const themeTick = signal(0);

function apply(): void {
	if (theme.value === "auto") delete document.documentElement.dataset.theme;
	else document.documentElement.dataset.theme = theme.value;
	themeTick.value++;
}

export function cycleTheme(): void {
	theme.value = THEMES[(THEMES.indexOf(theme.value) + 1) % THEMES.length]!;
	save("heaptap-theme", theme.value);
	apply();
}

export function setShortcuts(on: boolean): void {
	shortcuts.value = on;
	save("heaptap-shortcuts", on ? "on" : "off");
}

export function startPrefs(): void {
	apply();
	matchMedia("(prefers-color-scheme: dark)").addEventListener("change", apply);
}

/* The colour of a custom property as a canvas understands it. */
export function cssColor(name: string): string {
	const probe = document.createElement("i");
	probe.style.color = `var(${name})`;
	document.body.append(probe);
	const color = getComputedStyle(probe).color;
	probe.remove();
	return color;
}
