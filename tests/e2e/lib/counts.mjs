// SPDX-License-Identifier: MIT
//
// counts.mjs - adding up and comparing what hosts and heaptap say.
import assert from "node:assert/strict";
import { sleep } from "./wait.mjs";

export const countNames = ["alloc_count", "alloc_bytes", "usable_bytes", "free_count", "free_bytes",
	"realloc_count", "realloc_moved", "realloc_grown", "realloc_copied_bytes"];

export function countsOf(thing) {
	return Object.fromEntries(countNames.map((name) => [name, thing[name]]));
}

export function sum(things) {
	const total = Object.fromEntries(countNames.map((name) => [name, 0]));
	for (const thing of things)
		for (const name of countNames)
			total[name] += thing[name];
	return total;
}

// A map from `key(thing)` to the sum of the things with it; without those that are all zero.
export function sumBy(things, key) {
	const groups = {};
	for (const thing of things)
		(groups[key(thing)] ??= []).push(thing);
	return Object.fromEntries(Object.entries(groups).map(([name, group]) => [name, sum(group)])
		.filter(([, total]) => countNames.some((name) => total[name] !== 0)).sort());
}

// All that the API says of one family, of the same moment: read again until nothing moves.
export async function readFamily(bench, pid) {
	let before;
	// A server that runs already learns of a new family a moment after its start.
	await bench.getUntil("/api/v1/processes", (p) => p.families.some((f) => f.pid === pid || f.members.some((m) => m.pid === pid)));
	for (let i = 0; i < 100; i++) {
		const family = {
			summary: await bench.get(`/api/v1/summary?process=${pid}`),
			sites: await bench.get(`/api/v1/sites?process=${pid}&kind=all&limit=10000`),
			threads: await bench.get(`/api/v1/threads?process=${pid}&limit=10000`),
			processes: await bench.get("/api/v1/processes"),
		};
		const now = JSON.stringify([countsOf(family.summary), sum(family.sites.sites), sum(family.threads.threads),
					    family.summary.ended, family.threads.total]);
		if (now === before)
			return family;
		before = now;
		await sleep(60); // the server hands out the same model for 50 ms
	}
	throw new Error(`family ${pid} does not stand still: ${before}`);
}

// The three views, and the processes, must be the same whole.
export function assertViewsAgree(family) {
	const whole = countsOf(family.summary);
	if (family.sites.matched === family.sites.sites.length) // more than one answer holds otherwise
		assert.deepEqual(sum(family.sites.sites), whole, "sum of the sites");
	assert.deepEqual(countsOf(family.sites.totals), whole, "totals of the sites");
	assert.deepEqual(sum(family.threads.threads), whole, "sum of the threads");
	const entry = family.processes.families.find((f) => f.id === family.summary.id);
	assert.deepEqual(countsOf(entry), whole, "the family among the processes");
	// What had no row of its own, or lost it, belongs to no process.
	const nobodys = family.threads.threads.filter((t) => t.role === "shared" || (t.role === "ended" && t.pid === 0));
	assert.deepEqual(sum([...entry.members, ...nobodys]), whole, "sum of the processes");
	assert.equal(family.summary.live_bytes, whole.usable_bytes - whole.free_bytes);
	assert.equal(family.summary.live_count, whole.alloc_count - whole.free_count);
	assert.equal(family.summary.size_classes.reduce((n, c) => n + c.count, 0), whole.alloc_count, "size classes");
}

// What a host printed by tally.h: {threads: [{pid, tid, main, kinds, sizes}]}.
export function claimedKinds(said) {
	const all = said.threads.flatMap((t) => Object.entries(t.kinds).map(([kind, counts]) => ({ kind, ...counts })));
	return sumBy(all, (entry) => entry.kind);
}

export function claimedThread(thread) {
	return sum(Object.values(thread.kinds));
}
