// SPDX-License-Identifier: MIT
//
// Hosts of the kinds that broke other preloaded tools: forks in every way, limits, privileges,
// seccomp, threads that die or are interrupted. Each prints and ends as it does without heaptap.
import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { benchTest, isRoot } from "./lib/bench.mjs";
import { assertViewsAgree, readFamily } from "./lib/counts.mjs";
import * as paths from "./lib/paths.mjs";

const rootOnly = isRoot ? false : "needs root";
const churn = [paths.host("limits"), "churn"];
const hosts = [
	["forks", "storm"], ["forks", "raw"], ["forks", "vfork"], ["forks", "spawn"], ["forks", "chain", "8"], ["forks", "daemon"],
	["forks", "orphans"], ["limits", "closefds"], ["limits", "seccomp"], ["limits", "unshare"], ["limits", "mlock"],
	["limits", "dumpable"], ["limits", "under", "fsize", ...churn], ["limits", "under", "as", ...churn],
	["limits", "under", "nofile", ...churn], ["limits", "under", "nproc", ...churn], ["limits", "under", "stack", ...churn],
	["threads", "tsd"], ["threads", "signals"], ["threads", "altstack"], ["threads", "longjmp"], ["threads", "cancel"],
	["threads", "smallstack"], ["threads", "mainexit"], ["threads", "dlopen", paths.host("libplugin.so")],
	["threads", "dlopen", paths.host("libown_runtime.so")], ["names"], ["own_new"],
];

async function assertAlike(bench, argv, options = {}) {
	const ends = [];
	for (const program of [bench.startPlain(argv, {}, options), bench.start(argv, {}, options)])
		ends.push({ ...(await program.finish(40000)), stdout: program.stdout, stderr: program.stderr });
	assert.match(ends[0].stdout, /ok\n$/, "without heaptap it works");
	assert.deepEqual(ends[1], ends[0]);
}

for (const [name, ...rest] of hosts)
	benchTest([name, ...rest].join(" ").replaceAll(`${paths.build}/`, ""), {}, async (bench) => {
		await assertAlike(bench, [paths.host(name), ...rest]);
	});

benchTest("limits setuid", { skip: rootOnly }, async (bench) => {
	await assertAlike(bench, [paths.host("limits"), "setuid"]);
});

benchTest("limits chroot", { skip: rootOnly }, async (bench) => {
	const jail = join(bench.root, "jail");
	mkdirSync(jail);
	await assertAlike(bench, [paths.host("limits"), "chroot", jail]);
});

// The figures of a storm are exact too: the children's rows are theirs, and none is lost.
benchTest("a fork storm is counted whole", {}, async (bench) => {
	bench.start(["/bin/sleep", "1000"]);
	await bench.server();
	const host = bench.start([paths.host("forks"), "storm"]);
	assert.deepEqual(await host.finish(60000), { code: 0, signal: null });
	await bench.getUntil(`/api/v1/summary?process=${host.pid}`, (s) => s.ended);
	const family = await readFamily(bench, host.pid);
	assertViewsAgree(family);
	// 3 x 25 children, every fifth of which forks once more, and the first process.
	assert.equal(family.summary.processes_started, 1 + 75 + 15);
	const children = 75 * 200 + 15 * 50;
	const sites = family.sites.sites.filter((s) => s.module_name === "forks" && s.kind === "malloc");
	assert.ok(sites.reduce((n, s) => n + s.alloc_count, 0) >= children);
	assert.equal(family.summary.live_count >= 0, true);
	assert.deepEqual(Object.values(family.summary.dropped).filter((n) => n !== 0), []);
});

// kill -9 leaves what was counted to be read.
benchTest("a host killed by SIGKILL stays readable", {}, async (bench) => {
	bench.start(["/bin/sleep", "1000"]);
	await bench.server();
	const host = bench.start([paths.host("exact"), "3", "0"]);
	await host.waitForOutput(/\n/);
	const before = await readFamily(bench, host.pid);
	host.signal("SIGKILL");
	assert.deepEqual(await host.wait(), { code: null, signal: "SIGKILL" });
	const after = await bench.getUntil(`/api/v1/summary?process=${host.pid}`, (s) => s.ended);
	assert.equal(after.alloc_count, before.summary.alloc_count);
	assert.equal(after.usable_bytes, before.summary.usable_bytes);
});

