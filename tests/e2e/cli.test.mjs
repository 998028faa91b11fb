// SPDX-License-Identifier: MIT
//
// heaptap, the command: run, ps, serve, --help, --version, and errors that help.
import assert from "node:assert/strict";
import { readFileSync, realpathSync } from "node:fs";
import { askJson, benchTest } from "./lib/bench.mjs";
import { freePort } from "./lib/net.mjs";
import * as paths from "./lib/paths.mjs";
import { waitFor } from "./lib/wait.mjs";

const version = readFileSync(`${paths.source}/CMakeLists.txt`, "utf8").match(/VERSION (\d+\.\d+\.\d+)/)[1];

function heaptap(bench, args, extra = {}) {
	return bench.startPlain([paths.cli, ...args], { HEAPTAP_DIR: bench.dir, ...extra });
}

benchTest("--version and --help", {}, async (bench) => {
	for (const args of [["--version"], ["--help"], ["run", "--help"], ["ps", "--help"], ["serve", "--help"]]) {
		const command = heaptap(bench, args);
		assert.deepEqual(await command.finish(), { code: 0, signal: null }, args.join(" "));
		assert.equal(command.stderr, "");
		if (args[0] === "--version")
			assert.match(command.stdout, new RegExp(`^heaptap ${version.replaceAll(".", "\\.")}\n`));
		else
			assert.match(command.stdout, /[Uu]sage/);
	}
	const help = heaptap(bench, ["--help"]);
	await help.finish();
	for (const word of ["run", "ps", "serve", "HEAPTAP_LISTEN", "HEAPTAP_DIR"])
		assert.ok(help.stdout.includes(word), word);
});

benchTest("errors say what is wrong and what would be right", {}, async (bench) => {
	for (const [args, pattern] of [[[], /[Uu]sage|heaptap --help/], [["fly"], /fly/], [["run"], /command|usage/i],
				       [["--fly"], /--fly/], [["ps", "extra"], /extra/], [["run", "--fly", "--", "true"], /--fly/]]) {
		const command = heaptap(bench, args);
		const end = await command.finish();
		assert.equal(end.code, 2, `heaptap ${args.join(" ")}`);
		assert.equal(command.stdout, "");
		assert.match(command.stderr, pattern, args.join(" "));
	}
});

benchTest("run: a command that cannot be executed", {}, async (bench) => {
	const missing = heaptap(bench, ["run", "--", "/nonexistent/program"]);
	assert.equal((await missing.finish()).code, 127);
	assert.match(missing.stderr, /\/nonexistent\/program/);
	const directory = heaptap(bench, ["run", "--", "/etc"]);
	assert.equal((await directory.finish()).code, 126);
	assert.match(directory.stderr, /\/etc/);
});

benchTest("run: same pid, exit status, output and signals", {}, async (bench) => {
	const status = heaptap(bench, ["run", "--", "/bin/sh", "-c", "echo pid $$; exit 77"]);
	assert.deepEqual(await status.finish(), { code: 77, signal: null });
	assert.equal(status.stdout, `pid ${status.pid}\n`);
	const plain = heaptap(bench, ["run", "sh", "-c", "exit 3"]); // by PATH, without --
	assert.equal((await plain.finish()).code, 3);
	const killed = heaptap(bench, ["run", "--", paths.host("exact"), "1", "0"]);
	await killed.waitForOutput(/\n/);
	killed.signal("SIGTERM");
	assert.deepEqual(await killed.wait(), { code: null, signal: "SIGTERM" });
	const args = heaptap(bench, ["run", "--", "/usr/bin/printf", "%s|", "--help", "-x", "", "a b"]);
	await args.finish();
	assert.equal(args.stdout, "--help|-x||a b|");
});

benchTest("run: prints the page's address, and it works", {}, async (bench) => {
	const host = heaptap(bench, ["run", "--", paths.host("exact"), "1", "0"]);
	await host.waitForOutput(/\n/);
	const [, address, token] = (await waitFor("the address", () => host.stderr.match(/(http:\/\/127\.0\.0\.1:\d+)\/#token=([0-9a-f]{64})/)));
	const summary = await waitFor("the summary", () => askJson(`${address}/api/v1/summary`, { headers: { authorization: `Bearer ${token}` } }));
	assert.equal(summary.pid, host.pid);
	assert.equal(summary.exe, realpathSync(paths.host("exact")));
	assert.deepEqual(await host.finish(), { code: 0, signal: null });
});

benchTest("run: keeps other preloads and settings", {}, async (bench) => {
	const port = await freePort();
	const host = heaptap(bench, ["run", "--", "/bin/sh", "-c", "echo $LD_PRELOAD; echo $HEAPTAP_LISTEN; read x"],
			     { LD_PRELOAD: paths.host("libplugin.so"), HEAPTAP_LISTEN: `127.0.0.1:${port}`,
			       ASAN_OPTIONS: "verify_asan_link_order=0" });
	await host.waitForOutput(/\n.*\n/);
	const [preload, listen] = host.stdout.split("\n");
	assert.equal(preload, `${paths.agent}:${paths.host("libplugin.so")}`);
	assert.equal(listen, `127.0.0.1:${port}`);
	await host.finish();
});

benchTest("ps: lists families with their addresses", {}, async (bench) => {
	const none = heaptap(bench, ["ps"]);
	assert.equal((await none.finish()).signal, null);
	const host = bench.start([paths.host("exact"), "1", "2"]);
	await host.waitForOutput(/\n/);
	const address = await bench.server();
	const list = heaptap(bench, ["ps"]);
	assert.deepEqual(await list.finish(), { code: 0, signal: null });
	const line = list.stdout.split("\n").find((text) => text.includes(String(host.pid)));
	assert.ok(line?.includes("exact"), list.stdout);
	const token = readFileSync(`${bench.dir}/token`, "utf8").trim();
	assert.ok(list.stdout.includes(`${address}/#token=${token}`), list.stdout);
});

benchTest("serve: says where, in the foreground; a second one does not disturb", {}, async (bench) => {
	const first = heaptap(bench, ["serve"]);
	const address = await bench.server();
	assert.equal(bench.serverPid(), first.pid);
	await waitFor("its address", () => (first.stderr + first.stdout).includes(address));
	const second = heaptap(bench, ["serve"]);
	const end = await second.finish();
	assert.notEqual(end.code, 0);
	assert.match(second.stderr, /already|runs/i);
	assert.equal(bench.serverPid(), first.pid);
	first.signal("SIGINT");
	const left = await first.wait();
	assert.ok(left.code === 0 || left.signal === "SIGINT", JSON.stringify(left));
});
