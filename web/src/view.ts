// SPDX-License-Identifier: MIT
/*
 * view.ts - what the user has chosen to see, and its form in the URL: "#process=12&sort=...".
 *
 * Pure. Only what differs from the default is written, so that a permalink says what matters.
 * Whatever a URL holds, the view that comes out of it is one that the server accepts.
 */

export const KINDS = ["alloc", "free", "all"] as const;
export const SINCE = ["second", "start"] as const;
export const LIMITS = [25, 50, 100, 250, 500, 1000] as const;
export const SITE_SORTS = [
	"allocs_per_s",
	"bytes_per_s",
	"frees_per_s",
	"reallocs_per_s",
	"alloc_count",
	"alloc_bytes",
	"free_count",
	"free_bytes",
	"realloc_count",
	"mean_bytes",
	"name",
] as const;
export const THREAD_SORTS = [
	"allocs_per_s",
	"bytes_per_s",
	"alloc_count",
	"alloc_bytes",
	"free_count",
	"net_bytes",
	"tid",
	"name",
] as const;
export const ORDERS = ["desc", "asc"] as const;

export type Kind = (typeof KINDS)[number];
export type Since = (typeof SINCE)[number];
export type SiteSort = (typeof SITE_SORTS)[number];
export type ThreadSort = (typeof THREAD_SORTS)[number];
export type Order = (typeof ORDERS)[number];

export interface View {
	process: number | null; // a family's pid; null: the server's choice
	member: number | null; // one process of it
	thread: number | null;
	since: Since;
	kind: Kind;
	sort: SiteSort;
	order: Order;
	filter: string;
	limit: number;
	site: string | null; // id of the site shown in detail
	threadSort: ThreadSort;
	threadOrder: Order;
	threadFilter: string;
}

export const DEFAULT_VIEW: View = {
	process: null,
	member: null,
	thread: null,
	since: "second",
	kind: "alloc",
	sort: "allocs_per_s",
	order: "desc",
	filter: "",
	limit: 100,
	site: null,
	threadSort: "allocs_per_s",
	threadOrder: "desc",
	threadFilter: "",
};

const FILTER_MAX = 200;

function oneOf<T extends string | number>(
	allowed: readonly T[],
	value: string | null,
	fallback: T,
): T {
	return allowed.find((item) => String(item) === value) ?? fallback;
}

function positive(value: string | null): number | null {
	return value !== null && /^[1-9]\d{0,9}$/.test(value) ? Number(value) : null;
}

export function parseView(hash: string): View {
	const get = new URLSearchParams(hash.replace(/^#/, ""));
	const base = DEFAULT_VIEW;
	return {
		process: positive(get.get("process")),
		member: positive(get.get("member")),
		thread: positive(get.get("thread")),
		since: oneOf(SINCE, get.get("since"), base.since),
		kind: oneOf(KINDS, get.get("kind"), base.kind),
		sort: oneOf(SITE_SORTS, get.get("sort"), base.sort),
		order: oneOf(ORDERS, get.get("order"), base.order),
		filter: (get.get("filter") ?? "").slice(0, FILTER_MAX),
		limit: oneOf(LIMITS, get.get("limit"), base.limit as (typeof LIMITS)[number]),
		site: get.get("site")?.slice(0, FILTER_MAX) || null,
		threadSort: oneOf(THREAD_SORTS, get.get("tsort"), base.threadSort),
		threadOrder: oneOf(ORDERS, get.get("torder"), base.threadOrder),
		threadFilter: (get.get("tfilter") ?? "").slice(0, FILTER_MAX),
	};
}

const NAMES: Record<keyof View, string> = {
	process: "process",
	member: "member",
	thread: "thread",
	since: "since",
	kind: "kind",
	sort: "sort",
	order: "order",
	filter: "filter",
	limit: "limit",
	site: "site",
	threadSort: "tsort",
	threadOrder: "torder",
	threadFilter: "tfilter",
};

export function formatView(view: View): string {
	const put = new URLSearchParams();
	for (const key of Object.keys(NAMES) as (keyof View)[]) {
		const value = view[key];
		if (value !== null && value !== DEFAULT_VIEW[key])
			put.set(NAMES[key], String(value));
	}
	const text = put.toString();
	return text ? "#" + text : "";
}
