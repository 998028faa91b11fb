// SPDX-License-Identifier: MIT
//
// What can go wrong around heaptap: the host runs on as before, and the summary or `heaptap ps`
// says what is wrong.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmodSync, copyFileSync, existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { benchTest, isRoot, noOtherUser } from "./lib/bench.mjs";
import { assertViewsAgree, readFamily } from "./lib/counts.mjs";
import { freePort, takePort } from "./lib/net.mjs";
import * as paths from "./lib/paths.mjs";
import { holdsFor, waitFor } from "./lib/wait.mjs";

async function assertRunsOn(host) {
	await host.waitForOutput(/^\{.*\}\n/);
	const end = await host.finish();
	assert.deepEqual(end, { code: 0, signal: null });
	assert.equal(host.stderr, "");
}

async function ps(bench, extra = {}) {
	const command = bench.startPlain([paths.cli, "ps"], { HEAPTAP_DIR: bench.dir, ...extra });
	await command.finish();
	return command;
}

function startExact(bench, extra = {}, options = {}) {
	return bench.start([paths.host("exact"), "1", "1", "50"], extra, options);
}

benchTest("garbage in every variable", {}, async (bench) => {
	const garbage = {
		HEAPTAP: "perhaps", HEAPTAP_LISTEN: "127.0.0.1:99999999", HEAPTAP_SAMPLE: "-3 elephants", HEAPTAP_MEMORY: "much",
		HEAPTAP_KEEP: "\x01\x7f", HEAPTAP_KERNEL: "?", HEAPTAP_CHILDREN: "x".repeat(5000), HEAPTAP_UNWIND: "upwards",
		HEAPTAP_TOKEN_FILE: "/nonexistent/token", HEAPTAP_NONSENSE: "1",
	};
	const host = startExact(bench, garbage);
	await host.waitForOutput(/\n/);
	const summary = await bench.getUntil(`/api/v1/summary?process=${host.pid}`, (s) => s.problems.length > 0);
	const text = JSON.stringify(summary.problems);
	for (const name of ["HEAPTAP=", "HEAPTAP_LISTEN", "HEAPTAP_MEMORY", "HEAPTAP_KEEP", "HEAPTAP_NONSENSE"])
		assert.ok(text.includes(name), `${name} in ${text}`);
	for (const problem of summary.problems)
		assert.match(problem.code, /^[a-z_]+$/);
	assertViewsAgree(await readFamily(bench, host.pid));
	await assertRunsOn(host);
});

for (const value of ["", " ", "0", "-1", "1", "18446744073709551616", "8M", "1T", "999G", "0x100000", "1.5M", "8MiB extra", "\u00e9"])
	benchTest(`HEAPTAP_MEMORY=${JSON.stringify(value)}`, {}, async (bench) => {
		const host = startExact(bench, { HEAPTAP_MEMORY: value });
		await host.waitForOutput(/\n/);
		const family = await readFamily(bench, host.pid);
		assert.ok(family.summary.alloc_count > 50);
		assert.ok(family.summary.overhead.segment_bytes <= 1 << 30);
		const good = ["", "8M"].includes(value);
		assert.equal(family.summary.problems.some((p) => p.code === "setting"), !good, JSON.stringify(family.summary.problems));
		await assertRunsOn(host);
	});

benchTest("a HEAPTAP_DIR that cannot be used", {}, async (bench) => {
	const blocked = join(bench.root, "file");
	writeFileSync(blocked, "");
	const host = startExact(bench, { HEAPTAP_DIR: join(blocked, "dir"), HEAPTAP_LISTEN: "off" });
	await host.waitForOutput(/\n/);
	// It falls back to the default directory, and says so there.
	const serve = await waitFor("ps", async () => {
		const command = bench.startPlain([paths.cli, "ps"]);
		await command.finish();
		return command.stdout.includes(String(host.pid)) && command;
	});
	assert.match(serve.stdout, /HEAPTAP_DIR|not usable|directory/i);
	await assertRunsOn(host);
});

benchTest("a HEAPTAP_DIR that others may write to is refused", {}, async (bench) => {
	const open = join(bench.root, "open");
	mkdirSync(open);
	chmodSync(open, 0o777);
	const host = startExact(bench, { HEAPTAP_DIR: open, HEAPTAP_LISTEN: "off" });
	await assertRunsOn(host);
	assert.deepEqual(readdirSync(open).filter((name) => name.endsWith(".seg")), []);
});

benchTest("a directory that another user owns is refused", { skip: noOtherUser() }, async (bench) => {
	const host = bench.start([paths.host("exact"), "1", "1", "50"], { HEAPTAP_LISTEN: "off" }, { uid: 65534, gid: 65534 });
	await assertRunsOn(host);
	assert.deepEqual(readdirSync(bench.dir).filter((name) => name.endsWith(".seg")), []);
});

benchTest("a symbolic link in place of the directory", {}, async (bench) => {
	const target = join(bench.root, "target");
	mkdirSync(target, { mode: 0o700 });
	symlinkSync(target, join(bench.root, "link"));
	await assertRunsOn(startExact(bench, { HEAPTAP_DIR: join(bench.root, "link"), HEAPTAP_LISTEN: "off" }));
});

benchTest("an address that is taken", {}, async (bench) => {
	const port = await freePort();
	const taken = await takePort(port);
	const host = startExact(bench, { HEAPTAP_LISTEN: `127.0.0.1:${port}` });
	await host.waitForOutput(/\n/);
	const summary = await bench.getUntil(`/api/v1/summary?process=${host.pid}`, (s) => s.problems.length > 0);
	const problem = summary.problems.find((p) => p.code === "listen");
	assert.ok(problem, JSON.stringify(summary.problems));
	assert.match(problem.message, new RegExp(`127\\.0\\.0\\.1:${port}`));
	assert.match(problem.message, /in use/i);
	taken.close();
	await assertRunsOn(host);
});

benchTest("heaptap-server is missing", {}, async (bench) => {
	const lonely = join(bench.root, "libheaptap.so");
	copyFileSync(paths.agent, lonely);
	const host = startExact(bench, { LD_PRELOAD: lonely });
	await host.waitForOutput(/\n/);
	const told = await ps(bench);
	assert.match(told.stdout + told.stderr, new RegExp(String(host.pid)));
	assert.match(told.stdout + told.stderr, /heaptap-server/);
	// A server that is started by hand shows it, with its problem.
	bench.startPlain([paths.cli, "serve"], { HEAPTAP_DIR: bench.dir });
	const summary = await bench.getUntil(`/api/v1/summary?process=${host.pid}`, (s) => s.problems.length > 0);
	assert.equal(summary.problems[0].code, "server");
	assert.match(summary.problems[0].message, /heaptap-server/);
	await assertRunsOn(host);
});

benchTest("heaptap-server cannot be executed", {}, async (bench) => {
	const root = join(bench.root, "prefix");
	const lib = join(root, "lib/x86_64-linux-gnu/heaptap");
	const libexec = join(root, "libexec/heaptap");
	mkdirSync(lib, { recursive: true });
	mkdirSync(libexec, { recursive: true });
	copyFileSync(paths.agent, join(lib, "libheaptap.so"));
	writeFileSync(join(libexec, "heaptap-server"), "no program\n", { mode: 0o644 });
	await assertRunsOn(startExact(bench, { LD_PRELOAD: join(lib, "libheaptap.so") }));
});

// A tmpfs of its own size in a mount namespace of its own; the host and the server run inside.
function inFullTmpfs(size, fill, command) {
	return ["/usr/bin/unshare", "-m", "/bin/sh", "-c",
		`mount -t tmpfs -o size=${size},mode=755 none /mnt && mkdir -m 700 /mnt/dir && { ${fill}; } ; exec ${command}`];
}

benchTest("a full /dev/shm", { skip: isRoot ? false : "needs root to mount a tmpfs" }, async (bench) => {
	const fill = "dd if=/dev/zero of=/mnt/fill bs=4096 2>/dev/null";
	const argv = inFullTmpfs("1m", fill, `env LD_PRELOAD=${paths.agent} HEAPTAP_DIR=/mnt/dir ${paths.host("exact")} 4 3`);
	const host = bench.startPlain(argv);
	await host.waitForOutput(/^\{.*\}\n/);
	// The failure is left in the directory, where the directory can hold a name at all.
	const inside = bench.startPlain(["/usr/bin/nsenter", "-m", "-t", String(host.pid), "/bin/ls", "/mnt/dir"]);
	await inside.finish();
	const told = bench.startPlain(["/usr/bin/nsenter", "-m", "-t", String(host.pid), paths.cli, "ps"], { HEAPTAP_DIR: "/mnt/dir" });
	await told.finish();
	assert.match(told.stdout + told.stderr, /no space|ENOSPC/i, `${inside.stdout} | ${told.stdout} | ${told.stderr}`);
	await assertRunsOn(host);
});

benchTest("a /dev/shm that fills up while the host runs", { skip: isRoot ? false : "needs root to mount a tmpfs" }, async (bench) => {
	const argv = inFullTmpfs("400k", ":", `env LD_PRELOAD=${paths.agent} HEAPTAP_DIR=/mnt/dir ${paths.host("crowd")} 200 1500`);
	const host = bench.startPlain(argv);
	await host.waitForOutput(/ready/, 30000);
	assert.deepEqual(await host.finish(), { code: 0, signal: null });
	assert.equal(host.stderr, "");
});

benchTest("no /proc, no /dev/shm", { skip: isRoot ? false : "needs root to unmount" }, async (bench) => {
	const host = bench.startPlain(["/usr/bin/unshare", "-m", "/bin/sh", "-c",
		`mount -t tmpfs none /proc && exec env LD_PRELOAD=${paths.agent} HEAPTAP_DIR=/nonexistent/dir HEAPTAP_LISTEN=off ${paths.host("exact")} 1 1 50`]);
	await assertRunsOn(host);
});

benchTest("files that are no segments do not disturb the server", {}, async (bench) => {
	writeFileSync(join(bench.dir, "1-1.seg"), "short");
	writeFileSync(join(bench.dir, "2-2.seg"), Buffer.alloc(1 << 20, 0xff));
	writeFileSync(join(bench.dir, "noise"), "x");
	mkdirSync(join(bench.dir, "3-3.seg"));
	const host = startExact(bench);
	await host.waitForOutput(/\n/);
	assertViewsAgree(await readFamily(bench, host.pid));
	await holdsFor("the server lives", () => bench.serverPid() > 0, 1000);
	await assertRunsOn(host);
});

benchTest("a program at a fixed address is not taken for one with a malloc of its own", {}, async (bench) => {
	const host = bench.start([paths.host("no_pie")]);
	await host.waitForOutput(/ready/);
	const { problems } = await bench.get(`/api/v1/summary?process=${host.pid}`);
	assert.deepEqual(problems, []);
	const { sites } = await bench.get(`/api/v1/sites?process=${host.pid}&kind=new[]`);
	assert.deepEqual(sites.map((s) => [s.module_name, s.alloc_count, s.alloc_bytes]), [["no_pie", 1000, 100000]]);
});

benchTest("HEAPTAP_CHILDREN=off records the first process alone", {}, async (bench) => {
	bench.start(["/bin/sleep", "1000"]); // keeps the server
	await bench.server();
	const host = bench.start([paths.host("exact"), "0", "3", "50"], { HEAPTAP_CHILDREN: "off" });
	assert.deepEqual(await host.finish(), { code: 0, signal: null });
	await bench.getUntil(`/api/v1/summary?process=${host.pid}`, (s) => s.ended);
	const family = await readFamily(bench, host.pid);
	assert.equal(family.summary.processes_started, 1);
	assert.deepEqual(Object.values(family.summary.dropped).filter((n) => n !== 0), []);
	assertViewsAgree(family);
});

benchTest("HEAPTAP_LOG=FIFO holds nobody up", {}, async (bench) => {
	const fifo = join(bench.root, "fifo");
	execFileSync("mkfifo", [fifo]);
	const host = startExact(bench, { HEAPTAP_LOG: fifo, HEAPTAP_MEMORY: "banana" });
	await assertRunsOn(host);
});

benchTest("a host that adopts orphans gets no server unless it names an address", {}, async (bench) => {
	const host = bench.start([paths.host("adopter")], { LD_PRELOAD: "", ADOPTER_PRELOAD: paths.agent });
	assert.deepEqual(await host.finish(), { code: 0, signal: null });
	assert.equal(host.stdout, "ok\n");
	assert.equal(readdirSync(bench.dir).filter((name) => name.endsWith(".seg")).length, 1, "it was recorded");
	await holdsFor("no server", () => !bench.serverPid(), 1000);
});

benchTest("nothing is written where HEAPTAP_LOG cannot be", {}, async (bench) => {
	const host = startExact(bench, { HEAPTAP_LOG: "/nonexistent/dir/log" });
	await assertRunsOn(host);
	assert.equal(existsSync("/nonexistent"), false);
});
