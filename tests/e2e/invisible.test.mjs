// SPDX-License-Identifier: MIT
//
// The host is as it was before: what it prints, how it ends and what it can find out about itself
// are the same with and without heaptap, and HEAPTAP=off leaves no trace at all.
import assert from "node:assert/strict";
import { existsSync, readFileSync, readdirSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { benchTest } from "./lib/bench.mjs";
import * as paths from "./lib/paths.mjs";

// Runs it without, then with heaptap; both must end alike and print the same.
async function runBoth(bench, argv, { extra = {}, input = "", edit = (text) => text, ...options } = {}) {
	const results = [];
	for (const program of [bench.startPlain(argv, extra, options), bench.start(argv, extra, options)]) {
		program.child.stdin.write(input);
		const end = await program.finish(60000);
		results.push({ ...end, stdout: edit(program.stdout), stderr: program.stderr });
	}
	assert.deepEqual(results[1], results[0], `${argv.join(" ")} with heaptap, compared with without`);
	return results[0];
}

// The variables that the test itself sets are in the environment, unchanged and nothing else is.
function splitEnvironment(text, bench) {
	const set = Object.entries(bench.env()).map(([name, value]) => `env ${name}=${value}`);
	const plain = new Set(Object.entries(bench.plainEnv()).map(([name, value]) => `env ${name}=${value}`));
	const ours = set.filter((line) => !plain.has(line));
	const lines = text.split("\n");
	return { found: ours.filter((line) => lines.includes(line)), wanted: ours,
		 rest: lines.filter((line) => !ours.includes(line)).join("\n") };
}

for (const how of ["", "blocked", "ignored"])
	benchTest(`what a host sees of itself ${how}`, {}, async (bench) => {
		const argv = [paths.host("probe"), ...(how ? [how] : [])];
		const before = await runBoth(bench, argv, { edit: (text) => splitEnvironment(text, bench).rest });
		assert.equal(before.code, 42);
		assert.match(before.stdout, /^threads 1$/m);
		assert.match(before.stdout, /^lowest free descriptor 3$/m);
		assert.match(before.stdout, /^waitpid No child processes$/m);
		const again = bench.start(argv);
		await again.finish();
		const { found, wanted } = splitEnvironment(again.stdout, bench);
		assert.deepEqual(found, wanted, "the environment that was set");
	});

// What an aligned block gets beyond its size depends on where it comes to lie, and the first call of
// mimalloc leaves what its own start did to errno.
function withoutChance(text) {
	return text.replace(/^(malloc 0: .*) errno 2$/m, "$1 errno 0")
		.replace(/^(aligned_alloc|memalign|valloc)(.*) usable \d+/gm, "$1$2");
}

benchTest("the edges of the heap functions", {}, async (bench) => {
	const { stdout } = await runBoth(bench, [paths.host("api")], { edit: withoutChance });
	assert.match(stdout, /^ok$/m);
});

for (const library of ["libjemalloc.so.2", "libtcmalloc_minimal.so.4", "libmimalloc.so.2"]) {
	const path = paths.findLibrary(library);
	benchTest(`the edges of the heap functions over ${library}`, { skip: path ? false : `no ${library} here` }, async (bench) => {
		const plain = bench.startPlain([paths.host("api")], { LD_PRELOAD: path });
		const tapped = bench.start([paths.host("api")], {}, { behind: [path] });
		for (const program of [plain, tapped])
			assert.deepEqual(await program.finish(), { code: 0, signal: null });
		assert.equal(withoutChance(tapped.stdout), withoutChance(plain.stdout));
	});
}

// Both orders of two preloads: heaptap behind an allocator sees nothing, and harms nothing.
benchTest("behind another allocator", { skip: paths.findLibrary("libjemalloc.so.2") ? false : "no jemalloc here" }, async (bench) => {
	const program = bench.start([paths.host("api")], { LD_PRELOAD: `${paths.findLibrary("libjemalloc.so.2")}:${paths.agent}` });
	assert.deepEqual(await program.finish(), { code: 0, signal: null });
	assert.equal(program.stderr, "");
});

const script = `set -e; a=$(ls /usr/bin | wc -l); [ "$a" -gt 10 ]; seq 1000 | sort -rn | head -3; echo x | sed s/x/y/; ` +
	`printf '%s\\n' a b c | while read l; do (echo "$l"); done; find /etc -maxdepth 1 -name 'host*' | sort`;
const programs = [
	["/bin/true"], ["/bin/false"], ["/bin/ls", "/etc"], ["/bin/sh", "-c", script], ["/bin/bash", "-c", script],
	["/usr/bin/perl", "-e", "print join(',', map { $_ * 2 } 1 .. 2000), \"\\n\""],
	["/usr/bin/python3", "-c", "import subprocess; print(subprocess.check_output(['echo', 'child']))"],
	["/usr/bin/git", "--version"], ["/usr/bin/awk", "BEGIN { for (i = 0; i < 3000; i++) a[i] = i \"x\"; print length(a) }"],
	["/usr/bin/gcc", "--version"], ["/usr/bin/ldd", "/bin/ls"], ["/bin/tar", "--version"],
	["/bin/sh", "-c", "kill -TERM $$"], ["/bin/sh", "-c", "exit 77"], ["/usr/bin/env", "-u", "LD_PRELOAD", "/bin/true"],
];
for (const argv of programs)
	benchTest(`ordinary programs: ${argv.join(" ").slice(0, 60)}`, { skip: existsSync(argv[0]) ? false : "not here" }, async (bench) => {
		// ldd lists the preload, and addresses differ from run to run.
		await runBoth(bench, argv, { edit: (text) => text.split("\n").filter((line) => !line.includes("libheaptap"))
			.join("\n").replace(/0x[0-9a-f]+/g, "0x") });
	});

benchTest("a loader run as a program", {}, async (bench) => {
	const loader = ["/lib64/ld-linux-x86-64.so.2", "/lib/ld-linux-aarch64.so.1"].find((path) => existsSync(path));
	await runBoth(bench, [loader, paths.host("forks"), "spawn"]);
});

// Everything that could be left: files, a server, a mapping.
benchTest("HEAPTAP=off leaves no trace", {}, async (bench) => {
	rmdirSync(bench.dir);
	const sleeper = bench.start(["/bin/sh", "-c", "echo up; read x"], { HEAPTAP: "off" });
	await sleeper.waitForOutput(/up/);
	const maps = readFileSync(`/proc/${sleeper.pid}/maps`, "utf8");
	assert.ok(maps.includes("libheaptap.so"), "it is preloaded, so this proves something");
	assert.ok(!maps.includes(".seg"), "no segment is mapped");
	assert.deepEqual(await sleeper.finish(), { code: 1, signal: null });
	assert.equal(sleeper.stderr, "");
	assert.equal(existsSync(bench.dir), false, "no directory was made");
	assert.equal(existsSync(bench.log), false, "nothing was logged");
	const probe = bench.start([paths.host("probe")], { HEAPTAP: "off" });
	assert.equal((await probe.finish()).code, 42);
	assert.equal(probe.stderr, "one line on stderr\n");
	assert.equal(existsSync(bench.dir), false);
});

// What the off run proves by absence, the normal run must have.
benchTest("without HEAPTAP=off the same host has a segment", {}, async (bench) => {
	const sleeper = bench.start(["/bin/sh", "-c", "echo up; read x"]);
	await sleeper.waitForOutput(/up/);
	assert.match(readFileSync(`/proc/${sleeper.pid}/maps`, "utf8"), new RegExp(`${bench.dir}/${sleeper.pid}-[0-9a-f]+\\.seg`));
	assert.equal(readdirSync(bench.dir).filter((name) => name.endsWith(".seg")).length, 1);
	await sleeper.finish();
});

// A library that is not ours to write to: read-only standard descriptors, closed ones.
benchTest("closed standard descriptors", {}, async (bench) => {
	const out = join(bench.root, "out");
	writeFileSync(out, "");
	const shell = bench.start(["/bin/sh", "-c", `exec 0<&- 1>&- 2>&-; ${paths.host("api")} ; ${paths.host("limits")} churn; echo $? >${out}`]);
	assert.deepEqual(await shell.finish(), { code: 0, signal: null });
	assert.equal(readFileSync(out, "utf8"), "0\n");
	assert.equal(shell.stdout + shell.stderr, "");
});

benchTest("the agent needs libc alone and exports the heap functions alone", {}, async (bench) => {
	const dynamic = bench.startPlain(["/usr/bin/readelf", "-d", paths.agent]);
	await dynamic.finish();
	const needed = [...dynamic.stdout.matchAll(/\(NEEDED\).*\[(.*)\]/g)].map((match) => match[1]);
	assert.deepEqual(needed, ["libc.so.6"]);
	const symbols = bench.startPlain(["/usr/bin/nm", "-D", "--defined-only", paths.agent]);
	await symbols.finish();
	const names = symbols.stdout.trim().split("\n").map((line) => line.split(" ").pop());
	const allowed = /^(malloc|calloc|realloc|reallocarray|free|posix_memalign|aligned_alloc|memalign|valloc|pvalloc|_Zn[wa]\w*|_Zd[la]\w*)$/;
	assert.deepEqual(names.filter((name) => !allowed.test(name)), []);
	assert.ok(names.length >= 30, `${names.length} hooks`);
});
