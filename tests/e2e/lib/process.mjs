// SPDX-License-Identifier: MIT
//
// process.mjs - one program under test: started with exactly the given environment, its output
// kept, always ended.
import { spawn } from "node:child_process";
import { waitFor } from "./wait.mjs";

export class Process {
	constructor(argv, env, { cwd = "/", uid, gid } = {}) {
		this.argv = argv;
		this.stdout = "";
		this.stderr = "";
		this.child = spawn(argv[0], argv.slice(1), { cwd, env, uid, gid, detached: true });
		this.pid = this.child.pid;
		this.child.stdout.setEncoding("utf8").on("data", (text) => (this.stdout += text));
		this.child.stderr.setEncoding("utf8").on("data", (text) => (this.stderr += text));
		this.child.stdin.on("error", () => {});
		// "exit" and not "close": a server that the host started must not keep us waiting.
		this.ended = new Promise((done) => {
			this.child.on("error", (error) => done({ code: null, signal: null, error }));
			this.child.on("exit", (code, signal) => done((this.result = { code, signal })));
		});
		this.closed = new Promise((done) => this.child.on("close", done));
	}

	// Gives stdin its end of file, and waits for the program's.
	async finish(timeoutMs = 30000) {
		this.child.stdin.end();
		return await this.wait(timeoutMs);
	}

	async wait(timeoutMs = 30000) {
		let timer;
		const late = new Promise((_, fail) => {
			timer = setTimeout(() => fail(new Error(`${this.argv.join(" ")}: still runs after ${timeoutMs} ms`)),
					   timeoutMs);
		});
		try {
			const result = await Promise.race([this.ended, late]);
			// The pipes are read to their end, or as far as they go where somebody holds them.
			await Promise.race([this.closed, waitFor("output", () => false, 300).catch(() => {})]);
			return result;
		} finally {
			clearTimeout(timer);
		}
	}

	async waitForOutput(pattern, timeoutMs = 20000) {
		return await waitFor(`${this.argv.join(" ")}: ${pattern} on stdout`, () => {
			if (this.result && !this.stdout.match(pattern))
				throw new Error(`it ended: ${JSON.stringify(this.result)} ${this.stderr}`);
			return this.stdout.match(pattern);
		}, timeoutMs);
	}

	signal(name) {
		process.kill(this.pid, name);
	}

	// With all that is left of its process group.
	async kill() {
		for (const pid of [-this.pid, this.pid])
			try {
				process.kill(pid, "SIGKILL");
			} catch {
				// gone already
			}
		await this.ended;
	}
}
