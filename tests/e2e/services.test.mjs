// SPDX-License-Identifier: MIT
//
// Real services under load: their own functions come first, by name, and the rates move.
import assert from "node:assert/strict";
import { existsSync, realpathSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { ask, benchTest, isRoot } from "./lib/bench.mjs";
import { assertViewsAgree, readFamily, sum } from "./lib/counts.mjs";
import { canConnect, freePort, talk } from "./lib/net.mjs";
import * as paths from "./lib/paths.mjs";
import { waitFor } from "./lib/wait.mjs";

function missing(...names) {
	const absent = names.find((name) => !paths.findProgram(name));
	return absent ? `no ${absent} here` : false;
}

const allocators = /^(malloc|calloc|realloc|operator new)/;

benchTest("redis-server under redis-benchmark", { skip: missing("redis-server", "redis-benchmark") }, async (bench) => {
	const port = await freePort();
	const program = paths.findProgram("redis-server");
	const redis = bench.start([program, "--port", String(port), "--save", "", "--dir", bench.root]);
	await redis.waitForOutput(/Ready to accept connections/);
	const own = basename(realpathSync(program));
	bench.startPlain([paths.findProgram("redis-benchmark"), "-p", String(port), "-t", "set,get,lpush", "-d", "200", "-n", "100000", "-l", "-q"]);

	const summary = await bench.getUntil(`/api/v1/summary?process=${redis.pid}`, (s) => s.allocs_per_s > 1000, 20000);
	assert.ok(summary.bytes_per_s > 16 * 1000, `${summary.bytes_per_s} bytes/s`);
	assert.ok(summary.rss_bytes > 1e6);
	assert.equal(summary.name, "redis-server"); // not what the link leads to
	// In its first second OpenSSL initialises itself.
	const { sites } = await bench.getUntil(`/api/v1/sites?process=${redis.pid}&limit=5`,
					       (answer) => answer.sites.slice(0, 2).every((s) => s.module_name === own && s.allocs_per_s > 1000));
	assert.equal(sites.length, 5);
	for (const site of sites.slice(0, 2)) {
		assert.equal(site.module_name, own, JSON.stringify(site));
		assert.match(site.function ?? "", /^\w+$/, "a redis function by name");
		assert.doesNotMatch(site.function, allocators);
		assert.ok(site.allocs_per_s > 0);
	}
	assert.match(sites.map((s) => s.function).join(" "), /zmalloc|ztrymalloc|zcalloc|ztryrealloc/);
	assert.ok(sites[0].allocs_per_s >= sites[1].allocs_per_s, "sorted by rate");
	assert.ok(sites[0].alloc_share > 0 && sites[0].alloc_share <= 1);
	const later = await bench.getUntil(`/api/v1/summary?process=${redis.pid}`,
					   (s) => s.alloc_count > summary.alloc_count + 1000 && s.now_ns > summary.now_ns);
	assert.ok(later.allocs_per_s > 0);
	// The load is seen, no matter whether the request counted: 200 bytes of value are in the mean.
	const page = await ask(`${await bench.server()}/`);
	assert.equal(page.status, 200);
	assert.match(page.headers["content-type"], /^text\/html/);
});

function nginxConfig(root, port) {
	const user = isRoot ? "user root;" : "";
	const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((kind) => `${kind}_temp_path ${root}/tmp_${kind};`).join(" ");
	return `${user} daemon off; worker_processes 2; pid ${root}/nginx.pid; error_log ${root}/error.log;
events { worker_connections 64; accept_mutex off; }
http { access_log off; ${temporary} keepalive_requests 2;
server { listen 127.0.0.1:${port}; location / { return 200 "hello\\n"; } } }`;
}

benchTest("nginx: one family, its workers as members", { skip: missing("nginx") }, async (bench) => {
	const port = await freePort();
	const config = join(bench.root, "nginx.conf");
	writeFileSync(config, nginxConfig(bench.root, port));
	const nginx = bench.start([paths.findProgram("nginx"), "-c", config, "-e", join(bench.root, "error.log")]);
	await waitFor("nginx", () => canConnect(port));
	const before = await readFamily(bench, nginx.pid);
	const entry = await waitFor("two workers", async () => {
		const { families } = await bench.get("/api/v1/processes");
		const found = families.find((f) => f.pid === nginx.pid);
		return found.members.length === 3 && found;
	});
	assert.equal(entry.name, "nginx");
	assert.equal(entry.processes, 3);
	assert.deepEqual(entry.members.filter((m) => m.pid === nginx.pid).length, 1);
	for (let i = 0; i < 300; i++)
		assert.equal((await ask(`http://127.0.0.1:${port}/`)).text, "hello\n");
	const after = await readFamily(bench, nginx.pid);
	assertViewsAgree(after);
	assert.ok(after.summary.alloc_count >= before.summary.alloc_count + 300, "each connection allocates");
	const workers = after.processes.families.find((f) => f.pid === nginx.pid).members.filter((m) => m.pid !== nginx.pid);
	assert.ok(workers.every((w) => w.alloc_count > 0 && !w.ended && w.rss_bytes > 0), JSON.stringify(workers));
	// A worker's pid finds the family; member= narrows to the worker.
	assert.equal((await bench.get(`/api/v1/summary?process=${workers[0].pid}`)).pid, nginx.pid);
	const narrowed = await bench.get(`/api/v1/threads?process=${nginx.pid}&member=${workers[0].pid}`);
	assert.deepEqual([...new Set(narrowed.threads.map((t) => t.pid))], [workers[0].pid]);
	assert.equal(sum(narrowed.threads).alloc_count,
		     (await bench.get("/api/v1/processes")).families.find((f) => f.pid === nginx.pid).members
			     .find((m) => m.pid === workers[0].pid).alloc_count);
	nginx.signal("SIGQUIT");
	assert.deepEqual(await nginx.wait(), { code: 0, signal: null });
});

benchTest("memcached: its threads", { skip: missing("memcached") }, async (bench) => {
	const port = await freePort();
	const memcached = bench.start([paths.findProgram("memcached"), "-p", String(port), "-U", "0", "-l", "127.0.0.1", "-t", "4",
				       ...(isRoot ? ["-u", "root"] : [])]);
	await waitFor("memcached", () => canConnect(port));
	const before = await readFamily(bench, memcached.pid);
	await Promise.all(Array.from({ length: 32 }, (_, i) =>
		talk(port, `set key${i} 0 0 200\r\n${"x".repeat(200)}\r\nget key${i}\r\n`, "END")));
	const { threads } = await bench.getUntil(`/api/v1/threads?process=${memcached.pid}&state=live&sort=alloc_count`,
						 (t) => t.threads.filter((one) => one.alloc_count > 0).length >= 5);
	assert.ok(threads.every((t, i) => i === 0 || threads[i - 1].alloc_count >= t.alloc_count), "sorted");
	const after = await readFamily(bench, memcached.pid);
	assertViewsAgree(after);
	// Its four workers and the main thread, whatever else it starts.
	assert.ok(after.summary.threads >= 5, `${after.summary.threads} threads`);
	assert.ok(after.summary.alloc_count > before.summary.alloc_count);
	const main = threads.find((t) => t.tid === memcached.pid);
	assert.equal(main.name, "memcached");
});

benchTest("python3 with PYTHONMALLOC=malloc", {}, async (bench) => {
	const python = bench.start(["/usr/bin/python3", "-c", "import sys\nprint('up', flush=True)\nx = []\nwhile True:\n  x = [str(i) for i in range(2000)]"],
				   { PYTHONMALLOC: "malloc" });
	await python.waitForOutput(/up/);
	await bench.getUntil(`/api/v1/summary?process=${python.pid}`, (s) => s.allocs_per_s > 10000);
	const { sites } = await bench.get(`/api/v1/sites?process=${python.pid}&limit=8`);
	// Debian's python exports its API, and has no symbols for what is static in it.
	assert.match(sites.map((s) => s.function).join(" "), /\b_?Py[A-Z]\w+/);
	for (const site of sites.slice(0, 3)) {
		assert.match(site.module_name, /^python3|^libpython3/);
		assert.match(site.name, /^(\w+|python3[.\d]*|libpython3\S*)\+0x[0-9a-f]+$/);
	}
});

benchTest("a C++ program: the caller of operator new", {}, async (bench) => {
	const program = bench.start([paths.host("cxx_service")]);
	await program.waitForOutput(/ready/);
	await bench.getUntil(`/api/v1/summary?process=${program.pid}`, (s) => s.allocs_per_s > 1000);
	const { sites } = await bench.get(`/api/v1/sites?process=${program.pid}&limit=100`);
	const [first, second] = sites;
	assert.deepEqual([first.function, second.function].sort(), ["service::build_many()", "service::build_reply()"]);
	const many = sites.find((s) => s.function === "service::build_many()");
	const one = sites.find((s) => s.function === "service::build_reply()");
	assert.equal(many.kind, "new[]");
	assert.equal(one.kind, "new");
	assert.equal(one.mean_bytes, 200);
	assert.equal(many.mean_bytes, 600);
	assert.equal(one.module_name, "cxx_service");
	assert.match(one.name, /^service::build_reply\(\)\+0x[0-9a-f]+$/);
	assert.match(one.build_id, /^[0-9a-f]{40}$/);
	assert.ok(!sites.some((s) => s.module_name?.startsWith("libstdc++") && s.kind.startsWith("new")));
});

benchTest("a Rust program: demangled names", { skip: existsSync(paths.host("rust_service")) ? false : "not built: no rustc" }, async (bench) => {
	const program = bench.start([paths.host("rust_service")]);
	await program.waitForOutput(/ready/);
	await bench.getUntil(`/api/v1/summary?process=${program.pid}`, (s) => s.allocs_per_s > 1000);
	const { sites } = await bench.get(`/api/v1/sites?process=${program.pid}&limit=5`);
	assert.deepEqual(sites.slice(0, 2).map((s) => s.function).sort(),
			 ["rust_service::cache::make_entry", "rust_service::cache::make_list"]);
	assert.ok(sites.every((s) => !/17h[0-9a-f]{16}|_ZN|_R/.test(s.name)), JSON.stringify(sites));
	const { threads } = await bench.get(`/api/v1/threads?process=${program.pid}`);
	assert.equal(threads[0].name, "rust-worker");
	assert.deepEqual(await program.finish(), { code: 0, signal: null });
});
