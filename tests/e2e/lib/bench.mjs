// SPDX-License-Identifier: MIT
//
// bench.mjs - one test's bench: a HEAPTAP_DIR of its own under /dev/shm, the programs started on
// it, the server that the agent starts there and requests to it.
//
// Everything is ended and removed after the test; what the programs and the server wrote is shown
// when it fails.
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, readlinkSync, rmSync } from "node:fs";
import { spawnSync } from "node:child_process";
import { request } from "node:http";
import { join } from "node:path";
import { test } from "node:test";
import { Process } from "./process.mjs";
import * as paths from "./paths.mjs";
import { waitFor } from "./wait.mjs";

export const isRoot = process.getuid() === 0;

// One request, nothing hidden: any method, any headers, any path.
export function ask(url, { method = "GET", headers = {}, socketPath, body, timeoutMs = 10000 } = {}) {
	return new Promise((done, fail) => {
		const outgoing = request(url, { method, headers, socketPath, agent: false, timeout: timeoutMs }, (answer) => {
			const chunks = [];
			answer.on("data", (chunk) => chunks.push(chunk));
			answer.on("error", fail);
			answer.on("end", () => {
				const raw = Buffer.concat(chunks);
				done({ status: answer.statusCode, headers: answer.headers, raw, text: raw.toString("utf8") });
			});
		});
		outgoing.on("timeout", () => outgoing.destroy(new Error(`${url}: no answer within ${timeoutMs} ms`)));
		outgoing.on("error", fail);
		outgoing.end(body);
	});
}

// Exact for integers beyond 2^53 is not needed here: no test goes that far.
export async function askJson(url, options) {
	const answer = await ask(url, options);
	if (answer.status !== 200)
		throw new Error(`${url}: ${answer.status} ${answer.text}`);
	return JSON.parse(answer.text);
}

// Why a test cannot start hosts as another user; false where it can. A clone below /root is closed to
// all others.
export function noOtherUser(uid = 65534) {
	if (!isRoot)
		return "needs root";
	const { error, status } = spawnSync("/usr/bin/test", ["-x", paths.host("exact"), "-a", "-r", paths.agent], { uid, gid: uid });
	return !error && status === 0 ? false : `uid ${uid} cannot reach ${paths.build}`;
}

// Also true for a zombie that nobody has reaped yet: its descriptors and locks are gone.
export function isGone(pid) {
	try {
		return readFileSync(`/proc/${pid}/stat`, "utf8").replace(/^.*\) /s, "")[0] === "Z";
	} catch {
		return true;
	}
}

export class Bench {
	constructor() {
		this.root = mkdtempSync("/dev/shm/heaptap-test-");
		chmodSync(this.root, 0o755);
		this.dir = join(this.root, "dir");
		mkdirSync(this.dir, { mode: 0o700 });
		this.log = join(this.root, "log");
		this.processes = [];
	}

	plainEnv(extra = {}) {
		return { PATH: "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", HOME: this.root, LANG: "C.UTF-8", ...extra };
	}

	// `behind` are further preloads: heaptap comes first.
	env(extra = {}, behind = []) {
		return this.plainEnv({ LD_PRELOAD: [paths.agent, ...behind].join(":"), HEAPTAP_DIR: this.dir,
				       HEAPTAP_LOG: this.log, ...extra });
	}

	run(argv, env, options) {
		const started = new Process(argv, env, options);
		this.processes.push(started);
		return started;
	}

	// A host under heaptap.
	start(argv, extra = {}, { behind, ...options } = {}) {
		return this.run(argv, this.env(extra, behind), options);
	}

	// The same host without it.
	startPlain(argv, extra = {}, options = {}) {
		return this.run(argv, this.plainEnv(extra), options);
	}

	// What the server says of itself: a Map of the lines of server.lock; "family ID" is one key.
	serverFacts(dir = this.dir) {
		const facts = new Map();
		for (const line of readFileSync(join(dir, "server.lock"), "utf8").split("\n")) {
			const words = line.split(" ");
			if (words[0] === "family")
				facts.set(`family ${words[1]}`, words[2]);
			else if (words.length > 1)
				facts.set(words[0], words.slice(1).join(" "));
		}
		return facts;
	}

	// The pid of the server that holds this bench's lock now, or 0.
	serverPid(dir = this.dir) {
		try {
			const pid = Number(this.serverFacts(dir).get("pid"));
			return pid > 0 && !isGone(pid) && readlinkSync(`/proc/${pid}/exe`).includes("heaptap") ? pid : 0;
		} catch {
			return 0;
		}
	}

	// Waits until the server answers, and gives its address, "http://127.0.0.1:4327".
	async server(timeoutMs = 10000) {
		return await waitFor("the server", async () => {
			const listen = this.serverFacts().get("listen");
			if (!listen || !this.serverPid())
				throw new Error(`server.lock has no living server: ${existsSync(this.log) ? readFileSync(this.log, "utf8") : "no log"}`);
			await askJson(`http://${listen}/healthz`);
			return `http://${listen}`;
		}, timeoutMs);
	}

	async get(path) {
		return await askJson(`${await this.server()}${path}`);
	}

	// Waits until `condition(answer)` is true; gives the answer.
	async getUntil(path, condition, timeoutMs = 10000) {
		let answer;
		await waitFor(`${path} ${condition}`, async () => condition((answer = await this.get(path))), timeoutMs, 50)
			.catch((error) => {
				error.message += `; last answer: ${JSON.stringify(answer)?.slice(0, 3000)}`;
				throw error;
			});
		return answer;
	}

	// The summary of a family once it no longer changes by itself and `pid` is in it.
	async summary(pid, query = "") {
		return await this.getUntil(`/api/v1/summary?process=${pid}${query}`, (s) => s.pid > 0);
	}

	describe() {
		const parts = [];
		for (const program of this.processes)
			parts.push(`--- ${program.argv.join(" ")} pid ${program.pid} ${JSON.stringify(program.result ?? "runs")}`,
				   program.stdout.slice(-800), program.stderr.slice(-3000));
		try {
			parts.push(`--- ${this.dir}: ${readdirSync(this.dir).join(" ")}`);
		} catch {
			parts.push("--- no directory");
		}
		for (const name of [this.log, join(this.dir, "server.lock")])
			if (existsSync(name))
				parts.push(`--- ${name}`, readFileSync(name, "utf8").slice(-3000));
		return parts.join("\n");
	}

	async close() {
		for (const program of this.processes)
			await program.kill();
		// The last host is gone, so the server would end by itself: it is only not waited for. One
		// that is just starting puts files into the directory while it is removed.
		await waitFor(`${this.root} to be removed`, () => {
			const pid = this.serverPid();
			if (pid)
				process.kill(pid, "SIGKILL");
			rmSync(this.root, { recursive: true, force: true });
			return !existsSync(this.root);
		}, 5000);
	}
}

// test(), with a bench as the first argument of the body. `skip` is a reason or false.
export function benchTest(name, options, body) {
	test(name, { timeout: 120000, ...options }, async (context) => {
		const bench = new Bench();
		try {
			await body(bench, context);
		} catch (error) {
			console.error(`*** ${name}\n${bench.describe()}`);
			throw error;
		} finally {
			await bench.close();
		}
	});
}
