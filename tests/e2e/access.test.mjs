// SPDX-License-Identifier: MIT
//
// Who may ask, and what is refused: other users, other hosts' names, wrong methods and parameters.
import assert from "node:assert/strict";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { connect } from "node:net";
import { ask, askJson, benchTest, isRoot, noOtherUser } from "./lib/bench.mjs";
import { canConnect, freePort } from "./lib/net.mjs";
import * as paths from "./lib/paths.mjs";
import { waitFor } from "./lib/wait.mjs";

const nobody = 65534;

async function startHost(bench, extra = {}) {
	const host = bench.start([paths.host("exact"), "1", "0", "50"], extra);
	await host.waitForOutput(/\n/);
	await bench.getUntil("/api/v1/processes", (p) => p.families.some((f) => f.pid === host.pid));
	return host;
}

// Asks as another user: curl's answer as {status, text}.
async function askAs(bench, uid, url, ...more) {
	const curl = bench.startPlain(["/usr/bin/curl", "-s", "-w", "\n%{http_code}", ...more, url], {}, { uid, gid: uid });
	await curl.finish();
	const lines = curl.stdout.split("\n");
	return { status: Number(lines.pop()), text: lines.join("\n") };
}

function readToken(bench) {
	return readFileSync(join(bench.dir, "token"), "utf8").trim();
}

benchTest("another user is refused, with the token let in", { skip: isRoot ? false : "needs root to become another user" }, async (bench) => {
	await startHost(bench);
	const url = `${await bench.server()}/api/v1/summary`;
	const same = await askAs(bench, 0, url);
	assert.equal(same.status, 200, "the same way works for the same user");
	for (const path of ["/api/v1/summary", "/api/v1/sites", "/api/v1/processes", "/"]) {
		const refused = await askAs(bench, nobody, `${await bench.server()}${path}`);
		if (path !== "/") {
			assert.ok(refused.status === 401 || refused.status === 403, `${path}: ${refused.status}`);
			assert.ok(JSON.parse(refused.text).error.code);
		}
		assert.doesNotMatch(refused.text, /alloc_count/);
	}
	const token = readToken(bench);
	assert.match(token, /^[0-9a-f]{64}$/);
	assert.equal((await askAs(bench, nobody, url, "-H", `Authorization: Bearer ${token}`)).status, 200);
	const wrong = token.replace(/.$/, (last) => (last === "0" ? "1" : "0"));
	for (const header of [`Bearer ${wrong}`, `Bearer ${token.slice(0, 63)}`, "Bearer ", `Basic ${token}`, `Bearer ${token}0`])
		assert.notEqual((await askAs(bench, nobody, url, "-H", `Authorization: ${header}`)).status, 200, header);
});

benchTest("a user's server lets root in, and another user not", { skip: noOtherUser() }, async (bench) => {
	const dir = join(bench.root, "nobody");
	const env = { HEAPTAP_DIR: dir };
	bench.startPlain(["/bin/sh", "-c", `mkdir -m 700 ${dir} && chown ${nobody}:${nobody} ${dir}`]);
	await waitFor("the directory", () => statSync(dir).uid === nobody);
	const host = bench.start([paths.host("exact"), "0", "0", "50"], { ...env, HEAPTAP_LOG: "" }, { uid: nobody, gid: nobody });
	await host.waitForOutput(/\n/);
	const listen = await waitFor("the server", () => bench.serverFacts(dir).get("listen"));
	const server = Number(bench.serverFacts(dir).get("pid"));
	assert.equal(statSync(`/proc/${server}`).uid, nobody, "it has the host's uid");
	const summary = await waitFor("root is let in", () => askJson(`http://${listen}/api/v1/summary`));
	assert.equal(summary.pid, host.pid);
	assert.equal((await askAs(bench, nobody, `http://${listen}/api/v1/summary`)).status, 200);
	assert.notEqual((await askAs(bench, 1, `http://${listen}/api/v1/summary`)).status, 200);
	process.kill(server, "SIGKILL");
});

benchTest("the token's file is the user's alone", {}, async (bench) => {
	await startHost(bench);
	assert.equal(statSync(join(bench.dir, "token")).mode & 0o777, 0o600);
	assert.equal(statSync(bench.dir).mode & 0o777, 0o700);
});

benchTest("the Host header", {}, async (bench) => {
	await startHost(bench);
	const address = await bench.server();
	const port = address.split(":").pop();
	for (const host of [`127.0.0.1:${port}`, `localhost:${port}`])
		assert.equal((await ask(`${address}/api/v1/summary`, { headers: { host } })).status, 200, host);
	for (const host of ["evil.example", `evil.example:${port}`, "127.0.0.1.evil.example", `127.0.0.1:${port}.evil.example`,
			    "localhost.evil.example", `[::1].evil:${port}`])
		for (const path of ["/api/v1/summary", "/", "/openapi.json"])
			assert.equal((await ask(`${address}${path}`, { headers: { host } })).status, 421, `${host} ${path}`);
});

benchTest("methods and paths", {}, async (bench) => {
	await startHost(bench);
	const address = await bench.server();
	for (const path of ["/nothing", "/api/v1/nothing", "/api/v1", "/api/v2/summary", "/api/v1/summary/", "/assets/nothing.js",
			    "/../../etc/passwd", "/%2e%2e/etc/passwd", "//", "/api/v1/threads/"]) {
		const answer = await ask(`${address}${path}`);
		assert.equal(answer.status, 404, path);
		assert.equal(JSON.parse(answer.text).error.code, "not_found", path);
	}
	for (const method of ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"]) {
		const answer = await ask(`${address}/api/v1/summary`, { method });
		assert.equal(answer.status, 405, method);
		assert.match(answer.headers.allow, /GET/);
	}
	const head = await ask(`${address}/api/v1/summary`, { method: "HEAD" });
	assert.equal(head.status, 200);
	assert.equal(head.raw.length, 0);
	assert.equal((await ask(`${address}/api/v1/threads/1`)).status, 404);
	assert.equal(JSON.parse((await ask(`${address}/api/v1/threads/1`)).text).error.code, "no_thread");
	assert.equal(JSON.parse((await ask(`${address}/api/v1/summary?process=1`)).text).error.code, "no_process");
	const found = await ask(`${address}/`);
	for (const [name, value] of [["x-content-type-options", /nosniff/], ["content-security-policy", /default-src|script-src/],
				     ["cache-control", /./]])
		assert.match(found.headers[name] ?? "", value, name);
	assert.equal(found.headers["access-control-allow-origin"], undefined);
});

benchTest("parameters: what is wrong and what is allowed", {}, async (bench) => {
	const host = await startHost(bench);
	const address = await bench.server();
	const wrong = [
		["/api/v1/sites?sort=colour", "sort", /colour.*allocs_per_s/s], ["/api/v1/sites?limit=0", "limit", /10000/],
		["/api/v1/sites?limit=10001", "limit", /10000/], ["/api/v1/sites?limit=-1", "limit", /10000/],
		["/api/v1/sites?limit=1e3", "limit", /10000/], ["/api/v1/sites?limit=99999999999999999999", "limit", /10000/],
		["/api/v1/sites?limit=", "limit", /10000/], ["/api/v1/sites?order=up", "order", /asc.*desc|desc.*asc/s],
		["/api/v1/sites?kind=leak", "kind", /malloc/], ["/api/v1/sites?since=hour", "since", /start/],
		["/api/v1/sites?thread=x", "thread", /./], ["/api/v1/sites?nonsense=1", "nonsense", /sort/],
		["/api/v1/sites?limit=5&limit=6", "limit", /./], ["/api/v1/summary?process=abc", "process", /./],
		["/api/v1/summary?process=-5", "process", /./], ["/api/v1/summary?limit=5", "limit", /./],
		["/api/v1/threads?state=asleep", "state", /live/], ["/api/v1/threads?sort=kind", "sort", /tid/],
		["/healthz?x=1", "x", /./],
	];
	for (const [path, name, allowed] of wrong) {
		const answer = await ask(`${address}${path}`);
		assert.equal(answer.status, 400, path);
		const { error } = JSON.parse(answer.text);
		assert.equal(error.code, "bad_parameter", path);
		assert.ok(error.message.includes(name), `${path}: ${error.message}`);
		assert.match(error.message, allowed, path);
	}
	assert.match((await ask(`${address}/api/v1/threads/x`)).text, /bad_parameter|not_found/);
	// The right ones do what they say.
	const two = await askJson(`${address}/api/v1/sites?process=${host.pid}&kind=all&limit=2&sort=alloc_bytes&order=asc`);
	assert.equal(two.sites.length, 2);
	assert.ok(two.total > 2 && two.sites[0].alloc_bytes <= two.sites[1].alloc_bytes);
	const filtered = await askJson(`${address}/api/v1/sites?process=${host.pid}&filter=DO_MALLOC`);
	assert.ok(filtered.sites.length > 0 && filtered.sites.every((s) => s.function === "do_malloc"));
	assert.equal(filtered.matched, filtered.sites.length);
	const kinds = await askJson(`${address}/api/v1/sites?process=${host.pid}&kind=free`);
	assert.deepEqual([...new Set(kinds.sites.map((s) => s.kind))].filter((k) => !["free", "realloc"].includes(k)), []);
	const started = await askJson(`${address}/api/v1/summary?process=${host.pid}&since=start`);
	assert.ok(started.allocs_per_s > 0 && started.rate_window_ns > 0);
});

// A family that wants to be reached from elsewhere has to bring a token.
benchTest("an address that is not loopback needs HEAPTAP_TOKEN_FILE", {}, async (bench) => {
	const [closed, open] = [await freePort(), await freePort()];
	const host = await startHost(bench, { HEAPTAP_LISTEN: `0.0.0.0:${closed}` });
	const refused = await bench.getUntil(`/api/v1/summary?process=${host.pid}`, (s) => s.problems.length > 0);
	assert.deepEqual(refused.problems.map((p) => p.code), ["listen"]);
	assert.equal(await canConnect(closed), false);

	const file = join(bench.root, "own-token");
	const token = "0123456789abcdef".repeat(4);
	writeFileSync(file, `${token}\n`, { mode: 0o600 });
	await startHost(bench, { HEAPTAP_LISTEN: `0.0.0.0:${open}`, HEAPTAP_TOKEN_FILE: file });
	await waitFor("the address", () => canConnect(open));
	const url = `http://127.0.0.1:${open}/api/v1/summary`;
	if (isRoot)
		assert.equal((await askAs(bench, nobody, url)).status, 401);
	assert.equal((await ask(url, { headers: { Authorization: `Bearer ${token}` } })).status, 200);
});

benchTest("requests that are not HTTP, and slow ones, do not stop the server", {}, async (bench) => {
	const host = await startHost(bench);
	const address = await bench.server();
	const port = Number(address.split(":").pop());
	const sockets = ["\x16\x03\x01\x02\x00", "GET / HTTP/9.9\r\n\r\n", "GET", "\r\n\r\n\r\n", `GET /${"x".repeat(100000)} HTTP/1.1\r\n\r\n`,
			 "POST /api/v1/summary HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 99999999999\r\n\r\n"].map((text) => {
		const socket = connect(port, "127.0.0.1");
		socket.on("error", () => {});
		socket.write(text);
		return socket;
	});
	for (let i = 0; i < 20; i++)
		assert.equal((await askJson(`${address}/api/v1/summary?process=${host.pid}`)).pid, host.pid);
	sockets.forEach((socket) => socket.destroy());
});
