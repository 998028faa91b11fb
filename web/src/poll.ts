// SPDX-License-Identifier: MIT
/*
 * poll.ts - asks the server once a second and puts its answers into the store.
 *
 * One request at a time and one round at a time: a slow server is asked less often, never more. A
 * choice of the user ends the round and starts a new one. No round while the tab is hidden or the
 * page is paused (but a choice made while paused is answered once). A lost server is asked again
 * with growing delays.
 */
import { batch } from "@preact/signals";
import { ApiError, get, type Params } from "./api";
import * as store from "./store";
import type { Processes, Sites, Summary, Threads } from "./types";

const PERIOD_MS = 1000;
const PAUSE_MIN_MS = 100;
const RETRY_MS = [1000, 2000, 4000, 8000, 10000] as const;
const THREAD_LIMIT = 250;

let timer: ReturnType<typeof setTimeout> | undefined;
let round: AbortController | null = null;
let failures = 0;

function idle(): boolean {
	return document.hidden || store.paused.value;
}

function schedule(delay: number): void {
	clearTimeout(timer);
	timer = setTimeout(() => void run(), delay);
}

async function ask(signal: AbortSignal): Promise<void> {
	const view = store.view.value;
	const rates: Params = { since: view.since };
	const all = await get<Processes>("/api/v1/processes", {}, signal);
	// At once: the list is what helps when the chosen process turns out to be unknown.
	store.recordProcesses(all);
	const summary = await get<Summary>(
		"/api/v1/summary",
		{ process: view.process, ...rates },
		signal,
	);
	const scope: Params = { process: summary.pid, member: view.member, ...rates };
	const sites = await get<Sites>(
		"/api/v1/sites",
		{
			...scope,
			sort: view.sort,
			order: view.order,
			kind: view.kind,
			limit: view.limit,
			filter: view.filter,
			thread: view.thread,
		},
		signal,
	);
	const threads = await get<Threads>(
		"/api/v1/threads",
		{
			...scope,
			sort: view.threadSort,
			order: view.threadOrder,
			limit: THREAD_LIMIT,
			filter: view.threadFilter,
		},
		signal,
	);
	batch(() => {
		if (store.link.value.state === "down") store.announcement.value = "Connected again";
		else if (summary.ended && store.summary.value?.ended === false)
			store.announcement.value = "The process has ended";
		store.summary.value = summary;
		store.sites.value = sites;
		store.threads.value = threads;
		store.link.value = { state: "up" };
		store.pinProcess(summary.pid);
	});
}

function fail(error: ApiError): number {
	const before = store.link.value;
	const delay = RETRY_MS[Math.min(failures++, RETRY_MS.length - 1)]!;
	if (error.failure === "unreachable") {
		const since = before.state === "down" ? before.since : Date.now();
		if (before.state !== "down") store.announcement.value = "The server is gone";
		store.link.value = {
			state: "down",
			message: error.message,
			since,
			retryAt: Date.now() + delay,
		};
		return delay;
	}
	if (
		error.failure === "no_family" ||
		error.failure === "no_process" ||
		error.failure === "unauthorised"
	) {
		store.summary.value = null;
		store.sites.value = null;
		store.threads.value = null;
	}
	if (error.failure === "no_family") {
		store.processes.value = null;
		store.link.value = { state: "no_family" };
		return PERIOD_MS;
	}
	store.link.value = { state: error.failure, message: error.message };
	return delay;
}

async function run(): Promise<void> {
	round?.abort();
	const mine = (round = new AbortController());
	const begun = performance.now();
	let delay = PERIOD_MS;
	try {
		await ask(mine.signal);
		failures = 0;
	} catch (error) {
		if (mine.signal.aborted) return;
		if (!(error instanceof ApiError)) throw error;
		delay = fail(error);
	}
	if (mine === round && !idle())
		schedule(Math.max(PAUSE_MIN_MS, delay - (performance.now() - begun)));
}

export function startPolling(): void {
	store.onRefresh(() => {
		failures = 0;
		schedule(0);
	});
	store.paused.subscribe((is) => {
		if (is) clearTimeout(timer);
	});
	document.addEventListener("visibilitychange", () => {
		if (!idle()) schedule(0);
		else clearTimeout(timer);
	});
	schedule(0);
}
