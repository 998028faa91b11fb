// SPDX-License-Identifier: MIT
//
// Many threads and many call sites: totals stay exact, memory stays bounded, what did not fit is
// counted and shown.
import assert from "node:assert/strict";
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { benchTest } from "./lib/bench.mjs";
import { assertViewsAgree, readFamily, sum, sumBy } from "./lib/counts.mjs";
import * as paths from "./lib/paths.mjs";

const MiB = 1024 * 1024;

// Memory in use by the one segment of this bench.
function segmentMemory(bench, pid) {
	const [name] = readdirSync(bench.dir).filter((entry) => entry.startsWith(`${pid}-`) && entry.endsWith(".seg"));
	const { blocks, size } = statSync(join(bench.dir, name));
	return { memory: blocks * 512, size };
}

function ownSites(family, name) {
	return family.sites.sites.filter((site) => site.module_name === name);
}

async function startCrowd(bench, passing, alive, extra = {}) {
	const host = bench.start([paths.host("crowd"), String(passing), String(alive)], extra);
	await host.waitForOutput(/ready/, 60000);
	return host;
}

// Every thread: malloc(100), free, malloc(7); the main thread frees the 7 of those that passed.
function assertCrowd(family, passing, alive) {
	const total = sum(ownSites(family, "crowd"));
	assert.equal(total.alloc_count, 2 * (passing + alive));
	assert.equal(total.alloc_bytes, 107 * (passing + alive));
	assert.equal(total.free_count, 2 * passing + alive);
	assert.equal(family.summary.threads_started, 1 + passing + alive);
	assertViewsAgree(family);
}

benchTest("10,000 threads created and ended, then 2,000 alive at once", {}, async (bench) => {
	bench.start(["/bin/sleep", "1000"]);
	const host = await startCrowd(bench, 10000, 2000);
	const family = await readFamily(bench, host.pid);
	assertCrowd(family, 10000, 2000);
	assert.equal(family.summary.threads, 2001);
	const live = family.threads.threads.filter((t) => t.role === "thread" && !t.ended && t.tid !== host.pid);
	assert.equal(live.length, 2000);
	for (const thread of live) {
		assert.equal(thread.alloc_count, 2);
		assert.equal(thread.alloc_bytes, 107);
		assert.equal(thread.net_count, 1);
	}
	assert.deepEqual(Object.entries(family.summary.dropped).filter(([, n]) => n !== 0), []);
	const { memory, size } = segmentMemory(bench, host.pid);
	assert.ok(size <= 8 * MiB && memory <= 8 * MiB, `${memory} of ${size}`);
	assert.ok(family.summary.overhead.segment_used_bytes <= 8 * MiB);

	assert.deepEqual(await host.finish(60000), { code: 0, signal: null });
	await bench.getUntil(`/api/v1/summary?process=${host.pid}`, (s) => s.ended);
	const ended = await readFamily(bench, host.pid);
	const total = sum(ownSites(ended, "crowd"));
	assert.equal(total.alloc_count, 24000);
	assert.equal(total.free_count, 24000, "all were given back");
	assert.equal(total.usable_bytes, total.free_bytes);
	assert.equal(ended.summary.threads, 0);
	assertViewsAgree(ended);
});

benchTest("the same in 1 MiB: drops are counted and shown, totals stay exact", {}, async (bench) => {
	const host = await startCrowd(bench, 3000, 2000, { HEAPTAP_MEMORY: "1M" });
	const family = await readFamily(bench, host.pid);
	assert.equal(family.summary.threads_started >= 1, true);
	assertViewsAgree(family);
	// Where sites were dropped the host's own calls stand under no site, but they are all there:
	// nothing else in this host allocates but libc's descriptors of threads.
	assert.ok(family.summary.alloc_count >= 2 * 5000);
	const sizes = family.summary.size_classes;
	const seven = sizes.find((c) => c.min === 4).count;
	const hundred = sizes.find((c) => c.min === 64).count;
	assert.ok(seven >= 5000 && hundred >= 5000, JSON.stringify(sizes));
	assert.ok(family.summary.dropped.threads > 0, JSON.stringify(family.summary.dropped));
	const shared = family.threads.threads.filter((t) => t.role === "shared");
	assert.equal(shared.length, 1);
	assert.ok(shared[0].alloc_count > 0);
	const { memory, size } = segmentMemory(bench, host.pid);
	assert.ok(size <= MiB && memory <= MiB, `${memory} of ${size}`);
	assert.deepEqual(await host.finish(60000), { code: 0, signal: null });
});

async function startSites(bench, rounds, extra = {}) {
	const host = bench.start([paths.host("sites"), String(rounds)], extra);
	await host.waitForOutput(/ready/, 60000);
	return host;
}

benchTest("10,000 distinct call sites", {}, async (bench) => {
	const host = await startSites(bench, 3);
	const family = await readFamily(bench, host.pid);
	assertViewsAgree(family);
	const own = ownSites(family, "sites");
	const allocating = own.filter((s) => s.kind === "malloc");
	// The page is of 10,000 lines at most, free's own line among them: ask for malloc alone.
	const { sites, total, matched } = await bench.get(`/api/v1/sites?process=${host.pid}&kind=malloc&limit=10000&filter=sites`);
	assert.ok(allocating.length >= 9990);
	assert.equal(sites.length, 10000);
	assert.ok(total >= 10000 && matched === 10000, `${total} ${matched}`);
	assert.ok(sites.every((s) => s.alloc_count === 3), "each three times");
	const bytes = sites.map((s) => s.alloc_bytes / 3).sort((a, b) => a - b);
	assert.deepEqual(bytes, Array.from({ length: 10000 }, (_, i) => 1 + Math.floor(i / 100)));
	assert.deepEqual(Object.keys(sumBy(sites, (s) => s.function)).sort(), ["allocate_rest", "allocate_thousand"]);
	assert.equal(sumBy(sites, (s) => s.function).allocate_thousand.alloc_count, 3000);
	assert.equal(family.summary.dropped.sites, 0);
	const { memory } = segmentMemory(bench, host.pid);
	assert.ok(memory <= 8 * MiB);
	assert.deepEqual(await host.finish(), { code: 0, signal: null });
});

benchTest("the same in 1 MiB: dropped sites are counted and shown, totals stay exact", {}, async (bench) => {
	const host = await startSites(bench, 3, { HEAPTAP_MEMORY: "1M" });
	const family = await readFamily(bench, host.pid);
	assertViewsAgree(family);
	assert.ok(family.summary.dropped.sites > 0, JSON.stringify(family.summary.dropped));
	assert.ok(family.summary.alloc_count >= 30000);
	// What has a place is exact, what has none is one line without an address.
	const own = ownSites(family, "sites").filter((s) => s.kind === "malloc");
	assert.ok(own.length > 1000 && own.every((s) => s.alloc_count <= 3));
	const rest = family.sites.sites.filter((s) => s.kind === "malloc" && BigInt(s.address) === 0n);
	assert.equal(rest.length, 1);
	assert.equal(rest[0].name, "(site not known)");
	assert.ok(sum(own).alloc_count + rest[0].alloc_count >= 30000);
	const { memory, size } = segmentMemory(bench, host.pid);
	assert.ok(size <= MiB && memory <= MiB, `${memory} of ${size}`);
});

benchTest("a short-lived process costs 64 KiB", {}, async (bench) => {
	const host = bench.start(["/bin/sleep", "1000"]);
	await bench.server();
	assert.ok(segmentMemory(bench, host.pid).memory <= 64 * 1024, `${segmentMemory(bench, host.pid).memory}`);
});

benchTest("a thread's name of any bytes is valid JSON", {}, async (bench) => {
	const host = bench.start([paths.host("crowd"), "0", "0", "<b>\"\\\u0001x"]);
	await host.waitForOutput(/ready/);
	const { threads } = await bench.getUntil(`/api/v1/threads?process=${host.pid}`, (t) => t.threads.length > 0);
	assert.equal(threads[0].name, "<b>\"\\\u0001x");
});
