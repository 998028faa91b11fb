// SPDX-License-Identifier: MIT
//
// examples/quickstart.sh: prints the page's address and a finding, ends when told, leaves nothing.
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { ask, benchTest } from "./lib/bench.mjs";
import * as paths from "./lib/paths.mjs";
import { waitFor } from "./lib/wait.mjs";

const script = join(paths.source, "examples/quickstart.sh");
const skip = paths.findProgram("redis-server") ? false : "no redis here";

function start(bench, ...args) {
	return bench.startPlain([script, "--no-build", ...args], { HEAPTAP_DIR: bench.dir, HEAPTAP_BUILD: paths.build });
}

// Processes that work in this bench, by their environment.
function listOwn(bench) {
	return readdirSync("/proc").filter((pid) => {
		try {
			return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/environ`, "utf8").includes(`HEAPTAP_DIR=${bench.dir}\0`);
		} catch {
			return false;
		}
	});
}

benchTest("--once: the finding, status 0 and nothing left", { skip }, async (bench) => {
	const quick = start(bench, "--once");
	assert.deepEqual(await quick.finish(60000), { code: 0, signal: null });
	assert.match(quick.stdout, /^Open http:\/\/127\.0\.0\.1:\d+\/#token=[0-9a-f]{64}$/m);
	assert.match(quick.stdout, /redis\S* \(pid \d+\) makes [\d,]+ allocations and asks for [\d.]+ MB each second/);
	assert.match(quick.stdout, /\d+% of the allocations come from \w+\+0x[0-9a-f]+ in redis/);
	assert.equal(quick.stderr, "");
	await waitFor("all its processes to be gone", () => listOwn(bench).length === 0);
});

benchTest("until Ctrl-C", { skip }, async (bench) => {
	const quick = start(bench);
	await quick.waitForOutput(/Press Ctrl-C/, 60000);
	const [, address, token] = quick.stdout.match(/Open (http:\S*)\/#token=(\S+)/);
	assert.equal((await ask(`${address}/`)).status, 200);
	assert.equal((await ask(`${address}/api/v1/summary`, { headers: { authorization: `Bearer ${token}` } })).status, 200);
	quick.signal("SIGINT");
	assert.equal((await quick.wait()).code, 130);
	await waitFor("all its processes to be gone", () => listOwn(bench).length === 0);
});

benchTest("a command of one's own that allocates", {}, async (bench) => {
	const quick = start(bench, "--once", "--", "/usr/bin/python3", "-c", "while True: x = [bytes(1000) for i in range(1000)]");
	assert.deepEqual(await quick.finish(60000), { code: 0, signal: null });
	assert.match(quick.stdout, /python3\S* \(pid \d+\) makes [\d,]+ allocations/);
	await waitFor("all its processes to be gone", () => listOwn(bench).length === 0);
});

benchTest("what it does not know", {}, async (bench) => {
	const quick = start(bench, "--fast");
	assert.equal((await quick.finish()).code, 2);
	assert.match(quick.stderr, /--once/);
});
