// SPDX-License-Identifier: MIT
//
// The first minute of a newcomer: LD_PRELOAD and nothing else, in the default directory, at the
// default address. Runs alone in ctest, for there is one port 4327.
import assert from "node:assert/strict";
import { statSync } from "node:fs";
import { ask, benchTest } from "./lib/bench.mjs";
import { freePort, takePort } from "./lib/net.mjs";
import * as paths from "./lib/paths.mjs";
import { waitFor } from "./lib/wait.mjs";

const defaultDir = `/dev/shm/heaptap-${process.getuid()}`;

// A server that another test left behind ends within 3 s; one that stays is somebody's.
async function isInUse(bench) {
	return await waitForServerEnd(bench).then(() => false, () => true);
}

async function startRedis(bench) {
	const port = await freePort();
	const env = bench.plainEnv({ LD_PRELOAD: paths.agent });
	const started = performance.now();
	const redis = bench.run([paths.findProgram("redis-server"), "--port", String(port), "--save", "", "--dir", bench.root], env);
	return { redis, started };
}

async function waitForPage(port) {
	return await waitFor("the page", async () => {
		const page = await ask(`http://127.0.0.1:${port}/`);
		return page.status === 200 && page;
	}, 10000, 5);
}

async function waitForServerEnd(bench) {
	await waitFor("the server's end", () => !bench.serverPid(defaultDir), 10000);
}

benchTest("LD_PRELOAD and nothing else: the page is there within a second", {
	skip: paths.findProgram("redis-server") ? false : "no redis here",
}, async (bench, context) => {
	if (await isInUse(bench))
		return context.skip(`${defaultDir} has a living server`);
	const taken = await takePort(4327);
	if (!taken)
		return context.skip("port 4327 is taken by another program");
	await new Promise((done) => taken.close(done));

	// The machine may be busy: one of three starts has to be quick, all of them have to work.
	const times = [];
	for (let i = 0; i < 3; i++) {
		const { redis, started } = await startRedis(bench);
		const page = await waitForPage(4327);
		times.push(performance.now() - started);
		assert.match(page.text, /<!doctype html>/i);
		assert.equal(bench.serverFacts(defaultDir).get("listen"), "127.0.0.1:4327");
		assert.equal(statSync(defaultDir).mode & 0o777, 0o700);
		const summary = JSON.parse((await ask("http://127.0.0.1:4327/api/v1/summary")).text);
		assert.equal(summary.pid, redis.pid);
		assert.deepEqual(summary.problems, []);
		redis.signal("SIGTERM");
		assert.deepEqual(await redis.wait(), { code: 0, signal: null });
		await waitForServerEnd(bench);
	}
	assert.ok(Math.min(...times) < (paths.sanitized ? 3000 : 1000), `page after ${times.map(Math.round)} ms`);
});

benchTest("with 4327 taken, the next free port", { skip: paths.findProgram("redis-server") ? false : "no redis here" }, async (bench, context) => {
	if (await isInUse(bench))
		return context.skip(`${defaultDir} has a living server`);
	const taken = await takePort(4327);
	const { redis } = await startRedis(bench);
	try {
		await waitFor("the server", () => bench.serverPid(defaultDir) && bench.serverFacts(defaultDir).has("listen"));
		const [, port] = bench.serverFacts(defaultDir).get("listen").match(/^127\.0\.0\.1:(\d+)$/);
		assert.ok(Number(port) > 4327 && Number(port) <= 4390, port);
		assert.match((await waitForPage(port)).text, /<!doctype html>/i);
	} finally {
		taken?.close();
		redis.signal("SIGTERM");
		await redis.wait();
		await waitForServerEnd(bench);
	}
});
