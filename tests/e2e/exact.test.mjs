// SPDX-License-Identifier: MIT
//
// Hosts that count their own heap calls (tests/hosts/exact.c, exact_cxx.cpp): summary, threads and
// sites agree with them to the last call and byte, alive and ended, over every allocator.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { basename } from "node:path";
import { benchTest } from "./lib/bench.mjs";
import { assertViewsAgree, claimedKinds, claimedThread, countsOf, readFamily, sum, sumBy } from "./lib/counts.mjs";
import * as paths from "./lib/paths.mjs";

// The end of a catch frees the exception by a chain of tail calls: seen from free, its caller is the
// function with the catch, do_failing() of exact_cxx.cpp, which frees nothing itself.
function ownSites(sites, argv) {
	return sites.filter((site) => site.module_name === basename(argv[0]) && !site.function?.startsWith("do_failing()"));
}

function assertKinds(sites, said, argv) {
	assert.deepEqual(sumBy(ownSites(sites, argv), (site) => site.kind), claimedKinds(said), "sites by kind");
}

async function assertThread(bench, family, thread, argv) {
	const row = family.threads.threads.find((t) => t.tid === thread.tid && t.role === "thread");
	assert.ok(row, `thread ${thread.tid} is listed`);
	assert.equal(row.pid, thread.pid);
	const detail = await bench.get(`/api/v1/threads/${thread.tid}?process=${family.summary.pid}&kind=all&limit=10000`);
	assert.deepEqual(sumBy(ownSites(detail.sites, argv), (s) => s.kind), claimedKinds({ threads: [thread] }),
			 `sites of thread ${thread.tid}`);
	if (thread.main)
		return; // libc allocates there too: its arguments, its threads' descriptors
	assert.deepEqual(countsOf(row), claimedThread(thread), `thread ${thread.tid}`);
	assert.equal(row.net_count, row.alloc_count - row.free_count);
	assert.equal(row.net_bytes, row.usable_bytes - row.free_bytes);
	const claimed = thread.sizes.map((count, k) => [k ? 2 ** k : 0, count]).filter(([, count]) => count);
	assert.deepEqual(detail.size_classes.map((c) => [c.min, c.count]), claimed, `size classes of ${thread.tid}`);
}

async function assertExact(bench, argv, options) {
	// A second family keeps the server alive after the host's end.
	bench.start(["/bin/sleep", "1000"]);
	const host = bench.start(argv, {}, options);
	const said = JSON.parse((await host.waitForOutput(/^\{.*\}\n/))[0]);
	assert.equal(said.pid, host.pid);

	const alive = await readFamily(bench, host.pid);
	assert.equal(alive.summary.ended, false);
	assertViewsAgree(alive);
	assertKinds(alive.sites.sites, said, argv);
	for (const thread of said.threads)
		await assertThread(bench, alive, thread, argv);
	assert.equal(alive.summary.threads, said.threads.length);
	assert.equal(alive.summary.threads_started, said.threads.length);
	assert.equal(alive.summary.processes, new Set(said.threads.map((t) => t.pid)).size);
	for (const dropped of Object.values(alive.summary.dropped))
		assert.equal(dropped, 0, JSON.stringify(alive.summary.dropped));

	assert.deepEqual(await host.finish(), { code: 0, signal: null });
	await bench.getUntil(`/api/v1/summary?process=${host.pid}`, (s) => s.ended);
	const ended = await readFamily(bench, host.pid);
	assert.equal(ended.summary.threads, 0);
	assertViewsAgree(ended);
	assertKinds(ended.sites.sites, said, argv);
	// Between the two only libc's own calls were made: none of them allocates.
	assert.equal(ended.summary.alloc_count, alive.summary.alloc_count);
	assert.equal(ended.summary.alloc_bytes, alive.summary.alloc_bytes);
	return { said, alive };
}

benchTest("C: threads, forks, every function", {}, async (bench) => {
	const { said, alive } = await assertExact(bench, [paths.host("exact"), "6", "4"]);
	const named = alive.sites.sites.filter((s) => s.function === "do_malloc" && s.kind === "malloc");
	assert.equal(named.length, 1);
	assert.deepEqual(countsOf(named[0]), claimedKinds(said).malloc);
	assert.ok(Math.abs(named[0].mean_bytes - named[0].alloc_bytes / named[0].alloc_count) <= 0.05);
});

benchTest("C: one thread, no fork", {}, async (bench) => {
	await assertExact(bench, [paths.host("exact"), "0", "0", "20000"]);
});

benchTest("C++: every operator new and delete", {}, async (bench) => {
	const { alive } = await assertExact(bench, [paths.host("exact_cxx"), "5"]);
	// The exception of the one failing new is libstdc++'s, and nothing else is.
	const others = alive.sites.sites.filter((s) => s.module_name?.startsWith("libstdc++"));
	assert.equal(sum(others.filter((s) => s.kind.startsWith("new"))).alloc_count, 0);
});

// The allocator's name as a library to link, and its file as one to preload.
for (const [name, file, failing] of [["jemalloc", "libjemalloc.so.2", "1"], ["tcmalloc_minimal", "libtcmalloc_minimal.so.4", "1"],
				     ["mimalloc", "libmimalloc.so.2", "0"]]) {
	const library = paths.findLibrary(file);
	const skip = library ? false : `no ${file} here`;

	benchTest(`C over ${name}, preloaded`, { skip }, async (bench) => {
		await assertExact(bench, [paths.host("exact"), "4", "2", "2000", "4"], { behind: [library] });
	});
	benchTest(`C++ over ${name}, preloaded`, { skip }, async (bench) => {
		await assertExact(bench, [paths.host("exact_cxx"), "3", "300", failing], { behind: [library] });
	});
	const linked = existsSync(paths.host(`exact_${name}`)) ? false : `not built with ${name}`;
	benchTest(`C over ${name}, linked in`, { skip: linked }, async (bench) => {
		await assertExact(bench, [paths.host(`exact_${name}`), "4", "2", "2000", "4"]);
	});
	benchTest(`C++ over ${name}, linked in`, { skip: linked }, async (bench) => {
		await assertExact(bench, [paths.host(`exact_cxx_${name}`), "3", "300", failing]);
	});
}
