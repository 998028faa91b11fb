// SPDX-License-Identifier: MIT
/*
 * real_server.mjs - a program under the heaptap of a build tree, and so its server: what
 * real.test.mjs looks at where HEAPTAP_URL does not name one.
 */
import { spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";

const WAIT_MS = 15000; // sanitized servers start slowly
const PROGRAM =
	"import time\nwhile True:\n  [bytes(600 + i) for i in range(500)]\n  time.sleep(0.01)\n";

function findAgent(build) {
	const lib = join(build, "lib");
	const paths = readdirSync(lib).map((triplet) =>
		join(lib, triplet, "heaptap/libheaptap.so"),
	);
	const found = paths.find((path) => existsSync(path));
	if (!found) throw new Error(`no libheaptap.so below ${lib}`);
	return found;
}

function lockValue(dir, key) {
	try {
		return new RegExp(`^${key} (.+)$`, "m").exec(
			readFileSync(join(dir, "server.lock"), "utf8"),
		)?.[1];
	} catch {
		return undefined;
	}
}

async function waitFor(what, condition) {
	const end = Date.now() + WAIT_MS;
	while (!condition()) {
		if (Date.now() > end) throw new Error(`not within ${WAIT_MS} ms: ${what}`);
		await new Promise((resolve) => setTimeout(resolve, 50));
	}
}

/* A zombie, which pid 1 may be slow to reap, has ended. */
function alive(pid) {
	try {
		return readFileSync(`/proc/${pid}/stat`, "utf8").replace(/^.*\) /s, "")[0] !== "Z";
	} catch {
		return false;
	}
}

/* `kill` ends the program; the server follows by itself; `close` waits for that and cleans up. */
export async function startReal(build) {
	const dir = await mkdtemp("/dev/shm/heaptap-browser-");
	const host = spawn("python3", ["-c", PROGRAM], {
		env: {
			PATH: process.env.PATH,
			PYTHONMALLOC: "malloc",
			LD_PRELOAD: findAgent(build),
			HEAPTAP_DIR: dir,
		},
		stdio: "ignore",
	});
	await waitFor("the server's address", () => lockValue(dir, "listen"));
	const server = Number(lockValue(dir, "pid"));
	return {
		url: `http://${lockValue(dir, "listen")}/`,
		kill: () => host.kill("SIGKILL"),
		close: async () => {
			host.kill("SIGKILL");
			try {
				await waitFor("the server's end", () => !alive(server));
			} finally {
				await rm(dir, { recursive: true, force: true });
			}
		},
	};
}
