// SPDX-License-Identifier: MIT
/*
 * types.ts - what the server answers, as dashboard/openapi.json describes it.
 *
 * Times are ns, sizes are bytes. Integers above 2^53 arrive rounded by JSON.parse; the page shows
 * three digits of them, so that this is never seen.
 */

export interface Counts {
	alloc_count: number;
	alloc_bytes: number;
	usable_bytes: number;
	free_count: number;
	free_bytes: number;
	realloc_count: number;
	realloc_moved: number;
	realloc_grown: number;
	realloc_copied_bytes: number;
}

export interface Rates {
	allocs_per_s: number;
	bytes_per_s: number;
	frees_per_s: number;
	freed_bytes_per_s: number;
	reallocs_per_s: number;
}

export interface Live {
	live_bytes: number;
	live_count: number;
	rss_bytes: number | null;
}

export interface SizeClass {
	min: number;
	max: number;
	count: number;
}

export interface Problem {
	code: string;
	message: string;
}

export interface Summary extends Counts, Rates, Live {
	id: string;
	pid: number;
	name: string;
	exe: string;
	cmdline: string;
	started_ns: number;
	now_ns: number;
	ended: boolean;
	listen: string;
	processes: number;
	threads: number;
	threads_started: number;
	processes_started: number;
	rate_window_ns: number;
	size_classes: SizeClass[];
	overhead: { segment_bytes: number; segment_used_bytes: number; torn_reads: number };
	dropped: Record<string, number>;
	sources: Record<string, string | null>;
	problems: Problem[];
}

export interface Member extends Counts, Rates, Live {
	pid: number;
	name: string;
	ended: boolean;
	started_ns: number;
	threads: number;
	threads_started: number;
}

export interface Family extends Counts, Rates, Live {
	id: string;
	pid: number;
	name: string;
	cmdline: string;
	ended: boolean;
	started_ns: number;
	processes: number;
	threads: number;
	listen: string;
	members: Member[];
}

export interface Processes {
	now_ns: number;
	families: Family[];
}

export interface Thread extends Counts, Rates {
	role: "thread" | "ended" | "shared";
	tid: number;
	pid: number;
	name: string;
	ended: boolean;
	net_bytes: number;
	net_count: number;
	sites: number;
}

export interface Threads {
	now_ns: number;
	rate_window_ns: number;
	total: number;
	matched: number;
	threads: Thread[];
}

export interface Site extends Counts, Rates {
	id: string;
	address: string;
	function: string | null;
	function_offset: number;
	module: string | null;
	module_name: string | null;
	module_offset: number;
	build_id: string | null;
	name: string;
	kind: string;
	mean_bytes: number | null;
	alloc_share: number;
	bytes_share: number;
}

export interface Sites {
	now_ns: number;
	rate_window_ns: number;
	total: number;
	matched: number;
	totals: Counts & Rates;
	sites: Site[];
}
