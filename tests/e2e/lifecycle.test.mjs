// SPDX-License-Identifier: MIT
//
// One server for all families of a user and directory: who starts it, what it shows at which
// address, when it ends and how it comes back.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { closeSync, openSync, readFileSync, readdirSync, statSync, writeSync } from "node:fs";
import { join } from "node:path";
import { ask, askJson, benchTest, isGone } from "./lib/bench.mjs";
import { countsOf, readFamily } from "./lib/counts.mjs";
import { canConnect, freePort } from "./lib/net.mjs";
import * as paths from "./lib/paths.mjs";
import { holdsFor, waitFor } from "./lib/wait.mjs";

async function startExact(bench, extra = {}) {
	const host = bench.start([paths.host("exact"), "1", "0", "50"], extra);
	await host.waitForOutput(/\n/);
	return host;
}

async function listPids(bench) {
	return (await bench.get("/api/v1/processes")).families.filter((f) => !f.ended).map((f) => f.pid).sort();
}

function segments(bench) {
	return readdirSync(bench.dir).filter((name) => name.endsWith(".seg"));
}

benchTest("two services, one server; the first one's end takes nothing from the second", {}, async (bench) => {
	const first = await startExact(bench);
	const address = await bench.server();
	const pid = bench.serverPid();
	const second = await startExact(bench);
	await waitFor("both families", async () => (await listPids(bench)).length === 2);
	assert.deepEqual(await listPids(bench), [first.pid, second.pid].sort());
	const before = await readFamily(bench, second.pid);

	await first.finish();
	await waitFor("the first one's end", async () => (await listPids(bench)).length === 1);
	assert.equal((await bench.get(`/api/v1/summary?process=${first.pid}`)).ended, true);
	await holdsFor("the second is served, by the same server", async () =>
		bench.serverPid() === pid && await bench.server() === address &&
		(await bench.get(`/api/v1/summary?process=${second.pid}`)).ended === false, 4000, 200);
	assert.deepEqual(countsOf((await readFamily(bench, second.pid)).summary), countsOf(before.summary));
});

benchTest("each with its own HEAPTAP_LISTEN gets its own address", {}, async (bench) => {
	const ports = [await freePort(), await freePort()];
	const hosts = [];
	for (const port of ports)
		hosts.push(await startExact(bench, { HEAPTAP_LISTEN: `127.0.0.1:${port}` }));
	for (const [i, host] of hosts.entries()) {
		const summary = await waitFor("its address", () => askJson(`http://127.0.0.1:${ports[i]}/api/v1/summary`));
		assert.equal(summary.pid, host.pid, "the family that is bound there");
		assert.equal(summary.listen, `127.0.0.1:${ports[i]}`);
	}
	const facts = bench.serverFacts();
	assert.equal([...facts.keys()].filter((key) => key.startsWith("family ")).length, 2);
	// At one's address the other can be asked for.
	assert.equal((await askJson(`http://127.0.0.1:${ports[0]}/api/v1/summary?process=${hosts[1].pid}`)).pid, hosts[1].pid);
	await hosts[0].finish();
	await waitFor("the first one's end", async () =>
		(await askJson(`http://127.0.0.1:${ports[1]}/api/v1/summary?process=${hosts[0].pid}`)).ended);
	assert.equal((await askJson(`http://127.0.0.1:${ports[1]}/api/v1/summary`)).pid, hosts[1].pid);
});

benchTest("HEAPTAP_LISTEN=unix:PATH", {}, async (bench) => {
	const path = join(bench.root, "socket");
	const host = await startExact(bench, { HEAPTAP_LISTEN: `unix:${path}` });
	const summary = await waitFor("the socket", () => askJson("http://localhost/api/v1/summary", { socketPath: path }));
	assert.equal(summary.pid, host.pid);
});

benchTest("HEAPTAP_LISTEN=off starts nothing", {}, async (bench) => {
	const host = await startExact(bench, { HEAPTAP_LISTEN: "off" });
	assert.equal(segments(bench).length, 1);
	await holdsFor("no server", () => !bench.serverPid(), 1500);
	// A server that runs anyway shows it.
	const other = await startExact(bench);
	await waitFor("both", async () => (await listPids(bench)).length === 2);
	await other.finish();
	await host.finish();
});

benchTest("the server ends 3 s after the last family", {}, async (bench) => {
	const host = await startExact(bench);
	const port = Number((await bench.server()).split(":").pop());
	const server = bench.serverPid();
	assert.equal(segments(bench).length, 1);
	await host.finish();
	const ended = performance.now();
	await bench.getUntil(`/api/v1/summary?process=${host.pid}`, (s) => s.ended, 2500);
	await waitFor("the server's end", () => isGone(server), 10000);
	const after = performance.now() - ended;
	assert.ok(after > 2500 && after < 5000, `${Math.round(after)} ms`);
	assert.equal(await canConnect(port), false);
	assert.deepEqual(segments(bench), [], "a normal exit leaves no segment");
});

// Nothing in the segment tells of it: its parent has exited, and it has not allocated since.
benchTest("a daemon that is silent at first is waited for", {}, async (bench) => {
	const path = join(bench.root, "fifo");
	execFileSync("mkfifo", [path]);
	const host = bench.start([paths.host("late_daemon"), path]);
	await waitFor("the parent's end", () => host.result);
	await bench.server();
	const server = bench.serverPid();
	await holdsFor("the server and the segment stay", () => !isGone(server) && segments(bench).length === 1, 4500);
	const fifo = openSync(path, "w");
	writeSync(fifo, "x");
	await bench.getUntil(`/api/v1/summary?process=${host.pid}`, (s) => !s.ended && s.alloc_count >= 1001);
	const { families } = await bench.get("/api/v1/processes");
	assert.deepEqual(families[0].members.map((m) => m.ended), [false]);
	closeSync(fifo);
	await waitFor("the server's end", () => isGone(server), 10000);
	assert.deepEqual(segments(bench), []);
});

benchTest("HEAPTAP_KEEP=1 keeps the segment", {}, async (bench) => {
	const host = await startExact(bench, { HEAPTAP_KEEP: "1" });
	await bench.server();
	const server = bench.serverPid();
	await host.finish();
	await waitFor("the server's end", () => isGone(server), 10000);
	assert.equal(segments(bench).length, 1);
	assert.equal(statSync(join(bench.dir, segments(bench)[0])).mode & 0o777, 0o600);
	// Nor does a later server take it away.
	const other = bench.start(["/bin/sleep", "1000"]);
	await bench.getUntil("/api/v1/processes", (p) => p.families.some((f) => f.pid === other.pid));
	assert.ok(segments(bench).some((name) => name.startsWith(`${host.pid}-`)));
});

benchTest("kill -9 of the server: the next preloaded process brings it back", {}, async (bench) => {
	const host = await startExact(bench);
	await bench.server();
	const before = await readFamily(bench, host.pid);
	const killed = bench.serverPid();
	process.kill(killed, "SIGKILL");
	await waitFor("its end", () => isGone(killed));
	const next = bench.start(["/bin/true"]);
	assert.deepEqual(await next.finish(), { code: 0, signal: null });
	await bench.server();
	assert.notEqual(bench.serverPid(), killed);
	const after = await readFamily(bench, host.pid);
	assert.equal(after.summary.ended, false);
	assert.deepEqual(countsOf(after.summary), countsOf(before.summary));
});

benchTest("kill -9 of the server: `heaptap serve` brings it back", {}, async (bench) => {
	const host = await startExact(bench);
	await bench.server();
	const before = await readFamily(bench, host.pid);
	const killed = bench.serverPid();
	process.kill(killed, "SIGKILL");
	await waitFor("its end", () => isGone(killed));
	const serve = bench.startPlain([paths.cli, "serve"], { HEAPTAP_DIR: bench.dir });
	await bench.server();
	assert.equal(bench.serverPid(), serve.pid, "in the foreground");
	assert.deepEqual(countsOf((await readFamily(bench, host.pid)).summary), countsOf(before.summary));
	// It stays after the last family, and ends without complaint (a sanitizer would have one).
	await host.finish();
	await holdsFor("it stays", () => bench.serverPid() === serve.pid, 4500, 100);
	serve.signal("SIGTERM");
	const end = await serve.wait();
	assert.doesNotMatch(serve.stderr, /ERROR|Sanitizer|runtime error/);
	assert.ok(end.code === 0 || end.signal === "SIGTERM", JSON.stringify(end));
});

benchTest("many start at once: one server", {}, async (bench) => {
	const hosts = Array.from({ length: 12 }, () => bench.start(["/bin/sleep", "1000"]));
	await bench.server();
	await waitFor("all families", async () => (await listPids(bench)).length === 12);
	assert.deepEqual(await listPids(bench), hosts.map((h) => h.pid).sort());
	const servers = readdirSync("/proc").filter((name) => {
		try {
			return /^\d+$/.test(name) && readFileSync(`/proc/${name}/cmdline`, "utf8").split("\0").includes(bench.dir);
		} catch {
			return false;
		}
	});
	await waitFor("the losers of the race are gone", () => servers.filter((pid) => !isGone(pid)).length === 1);
});

benchTest("the server keeps nothing of its host", {}, async (bench) => {
	const host = await startExact(bench, { SECRET: "of the host" });
	await bench.server();
	const pid = bench.serverPid();
	const environment = readFileSync(`/proc/${pid}/environ`, "utf8");
	assert.doesNotMatch(environment, /SECRET|LD_PRELOAD/);
	const [, , , , group, session] = readFileSync(`/proc/${pid}/stat`, "utf8").replace(/\(.*\)/, "x").split(" ");
	assert.notEqual(Number(session), host.pid);
	assert.notEqual(Number(group), host.pid);
	assert.doesNotMatch(readFileSync(`/proc/${pid}/maps`, "utf8"), /libheaptap\.so/);
	assert.equal((await ask(`${await bench.server()}/healthz`)).status, 200);
});
