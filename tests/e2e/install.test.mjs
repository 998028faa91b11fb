// SPDX-License-Identifier: MIT
//
// cmake --install puts the three parts where they find each other, and they work from there.
import assert from "node:assert/strict";
import { existsSync, readdirSync, statSync } from "node:fs";
import { join, relative } from "node:path";
import { benchTest } from "./lib/bench.mjs";
import { assertViewsAgree, readFamily } from "./lib/counts.mjs";
import * as paths from "./lib/paths.mjs";

function listFiles(root, below = root) {
	return readdirSync(below, { withFileTypes: true }).flatMap((entry) =>
		entry.isDirectory() ? listFiles(root, join(below, entry.name)) : [relative(root, join(below, entry.name))]);
}

benchTest("install to a prefix and run from there", {}, async (bench) => {
	const prefix = join(bench.root, "prefix");
	const install = bench.startPlain(["/usr/bin/cmake", "--install", paths.build, "--prefix", prefix]);
	assert.deepEqual(await install.finish(), { code: 0, signal: null }, install.stderr);
	const agent = paths.findAgent(prefix);
	const programs = ["bin/heaptap", "libexec/heaptap/heaptap-server"];
	for (const path of programs)
		assert.equal(statSync(join(prefix, path)).mode & 0o777, 0o755, path);
	assert.ok(programs.every((path) => existsSync(join(prefix, path))));
	const unexpected = listFiles(prefix).filter((path) => !/^(bin|libexec|lib)\/|^share\//.test(path));
	assert.deepEqual(unexpected, []);

	const host = bench.startPlain([join(prefix, "bin/heaptap"), "run", "--", paths.host("exact"), "2", "1"], { HEAPTAP_DIR: bench.dir });
	await host.waitForOutput(/\n/);
	assertViewsAgree(await readFamily(bench, host.pid));
	const maps = bench.startPlain(["/bin/grep", "-c", agent, `/proc/${host.pid}/maps`]);
	await maps.finish();
	assert.ok(Number(maps.stdout) > 0, "the installed agent is the one in use");
	const exe = bench.startPlain(["/bin/readlink", `/proc/${bench.serverPid()}/exe`]);
	await exe.finish();
	assert.equal(exe.stdout.trim(), join(prefix, "libexec/heaptap/heaptap-server"));
	assert.deepEqual(await host.finish(), { code: 0, signal: null });
});
