// SPDX-License-Identifier: MIT
//
// An independent counter preloaded behind heaptap (tests/hosts/count_preload.c) counts the same
// calls and bytes in real programs, from their first call to their last.
import assert from "node:assert/strict";
import { mkdirSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { benchTest } from "./lib/bench.mjs";
import { assertViewsAgree, countNames, countsOf, readFamily } from "./lib/counts.mjs";
import { freePort, talk } from "./lib/net.mjs";
import * as paths from "./lib/paths.mjs";

function readCounts(dir, pid) {
	const names = readdirSync(dir).filter((name) => name.startsWith(`${pid}.`));
	assert.equal(names.length, 1, `one file of counts for ${pid}`);
	const bytes = readFileSync(join(dir, names[0]));
	return Object.fromEntries(countNames.map((name, i) => [name, Number(bytes.readBigUInt64LE(8 * i))]));
}

async function startCounted(bench, argv, extra = {}) {
	const dir = join(bench.root, "counts");
	mkdirSync(dir);
	bench.start(["/bin/sleep", "1000"]); // keeps the server
	await bench.server(); // what has ended before it came would not be shown
	return bench.start(argv, { COUNT_DIR: dir, ...extra }, { behind: [paths.host("libcount.so")] });
}

async function assertSame(bench, host, least) {
	const counted = readCounts(join(bench.root, "counts"), host.pid);
	await bench.getUntil(`/api/v1/summary?process=${host.pid}`, (s) => s.ended);
	const family = await readFamily(bench, host.pid);
	assert.ok(counted.alloc_count >= least, `${counted.alloc_count} allocations are too few to prove anything`);
	assert.deepEqual(countsOf(family.summary), counted);
	assertViewsAgree(family);
}

benchTest("jq", { skip: paths.findProgram("jq") ? false : "no jq here" }, async (bench) => {
	const host = await startCounted(bench, [paths.findProgram("jq"), "-n", "[range(20000)|tostring]|map(.+\"x\")|sort|length"]);
	assert.deepEqual(await host.finish(), { code: 0, signal: null });
	assert.equal(host.stdout, "20000\n");
	await assertSame(bench, host, 40000);
});

benchTest("python3 with PYTHONMALLOC=malloc", {}, async (bench) => {
	const script = `
import threading, json
def work():
    for i in range(3000):
        json.loads(json.dumps({str(k): [k] * 5 for k in range(10)}))
ts = [threading.Thread(target=work) for _ in range(3)]
[t.start() for t in ts]
[t.join() for t in ts]
print("done")`;
	const host = await startCounted(bench, ["/usr/bin/python3", "-c", script], { PYTHONMALLOC: "malloc", PYTHONHASHSEED: "0" });
	assert.deepEqual(await host.finish(), { code: 0, signal: null });
	assert.equal(host.stdout, "done\n");
	await assertSame(bench, host, 100000);
});

async function driveRedis(port) {
	let script = "";
	for (let i = 0; i < 3000; i++)
		script += `SET key:${i % 500} ${"v".repeat(1 + i % 300)}\r\nLPUSH list:${i % 7} element-${i}\r\nHSET hash f${i} ${i}\r\n`;
	await talk(port, `${script}SORT list:1 ALPHA LIMIT 0 1\r\nDEL hash\r\nECHO finished\r\n`, "finished");
}

benchTest("redis-server, its jemalloc behind both", { skip: paths.findProgram("redis-server") ? false : "no redis here" }, async (bench) => {
	const port = await freePort();
	const host = await startCounted(bench, [paths.findProgram("redis-server"), "--port", String(port), "--save", "", "--dir", bench.root]);
	await host.waitForOutput(/Ready to accept connections/);
	await driveRedis(port);
	host.signal("SIGTERM");
	assert.deepEqual(await host.wait(), { code: 0, signal: null });
	await assertSame(bench, host, 9000);
});

benchTest("a host with threads and forks", {}, async (bench) => {
	const host = await startCounted(bench, [paths.host("exact"), "4", "3"]);
	await host.waitForOutput(/\n/);
	assert.deepEqual(await host.finish(), { code: 0, signal: null });
	await assertSame(bench, host, 10000);
});
