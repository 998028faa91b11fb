// SPDX-License-Identifier: MIT
/*
 * store.ts - all state of the page, and the only functions that change it.
 *
 * Components read the signals and call the actions; poll.ts fills the answers in. What the user
 * chose lives in `view` and so in the URL; what is the user's taste (theme, shortcuts) in
 * localStorage; all else is gone on reload.
 */
import { computed, signal } from "@preact/signals";
import { emptyHistory, pushPoint, type History } from "./history";
import type { Family, Processes, Sites, Summary, Threads } from "./types";
import { DEFAULT_VIEW, formatView, parseView, type View } from "./view";

export type Link =
	| { state: "connecting" }
	| { state: "up" }
	| { state: "unauthorised"; message: string }
	| { state: "no_family" }
	| { state: "no_process"; message: string }
	| { state: "refused"; message: string }
	| { state: "down"; message: string; since: number; retryAt: number }; // ms of Date.now()

export const view = signal<View>(DEFAULT_VIEW);
export const paused = signal(false);
export const link = signal<Link>({ state: "connecting" });
export const summary = signal<Summary | null>(null);
export const processes = signal<Processes | null>(null);
export const sites = signal<Sites | null>(null);
export const threads = signal<Threads | null>(null);
export const helpOpen = signal(false);
export const announcement = signal(""); // for screen readers
export const ticks = signal(0); // histories are changed in place; this tells that they were

const histories = new Map<string, History>();

export const history = computed<History>(() => {
	void ticks.value;
	// A new object each time, or the signal would not see that the arrays in it have grown.
	return { ...(histories.get(summary.value?.id ?? "") ?? emptyHistory()) };
});

export type Status =
	"connecting" | "live" | "paused" | "ended" | "disconnected" | "waiting" | "locked";

export const status = computed<Status>(() => {
	switch (link.value.state) {
		case "connecting":
			return "connecting";
		case "down":
			return summary.value?.ended ? "ended" : "disconnected";
		case "unauthorised":
			return "locked";
		case "no_family":
		case "no_process":
			return "waiting";
		default:
			if (summary.value?.ended) return "ended";
			return paused.value ? "paused" : "live";
	}
});

/* A running family of the same name that came after the ended one in view: most often its restart. */
export const successor = computed<Family | null>(() => {
	const old = summary.value;
	if (!old?.ended) return null;
	const alive = processes.value?.families.filter((f) => !f.ended && f.id !== old.id) ?? [];
	return alive.find((f) => f.name === old.name) ?? alive[0] ?? null;
});

export const family = computed<Family | null>(() => {
	return processes.value?.families.find((f) => f.id === summary.value?.id) ?? null;
});

/* Called when a choice made what is shown out of date: poll.ts sets it. */
let refresh = () => {};
const history_ = window.history;

export function onRefresh(callback: () => void): void {
	refresh = callback;
}

export function retryNow(): void {
	refresh();
}

/* `step`: the browser's back button returns to the view before. */
export function changeView(change: Partial<View>, step = false): void {
	const next = { ...view.value, ...change };
	if (formatView(next) === formatView(view.value)) return;
	view.value = next;
	const url = location.pathname + location.search + formatView(next);
	if (step) history_.pushState(null, "", url);
	else history_.replaceState(null, "", url);
	refresh();
}

export function readView(hash: string): void {
	view.value = parseView(hash);
	refresh();
}

export function chooseProcess(pid: number, member: number | null = null): void {
	const sameFamily = summary.value?.pid === pid && view.value.process === pid;
	if (!sameFamily) {
		summary.value = null;
		sites.value = null;
		threads.value = null;
	}
	changeView({ process: pid, member, thread: null, site: null }, true);
}

/* Stay with the family that the server picked: another may allocate most in the next second. */
export function pinProcess(pid: number): void {
	if (view.value.process !== null) return;
	view.value = { ...view.value, process: pid };
	history_.replaceState(
		null,
		"",
		location.pathname + location.search + formatView(view.value),
	);
}

export function togglePause(): void {
	paused.value = !paused.value;
	announcement.value = paused.value ? "Paused" : "Live again";
	if (!paused.value) refresh();
}

export function recordProcesses(answer: Processes): void {
	processes.value = answer;
	const time = answer.now_ns / 1e9;
	for (const f of answer.families) {
		let kept = histories.get(f.id);
		if (!kept) histories.set(f.id, (kept = emptyHistory()));
		if (!f.ended) {
			pushPoint(kept, time, {
				allocs: f.allocs_per_s,
				frees: f.frees_per_s,
				bytes: f.bytes_per_s,
				freed: f.freed_bytes_per_s,
				live: f.live_bytes,
				rss: f.rss_bytes,
				reallocs: f.reallocs_per_s,
			});
		}
	}
	for (const id of histories.keys()) {
		if (!answer.families.some((f) => f.id === id)) histories.delete(id);
	}
	ticks.value++;
}
