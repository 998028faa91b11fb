// SPDX-License-Identifier: MIT
//
// paths.mjs - where the things under test are.
//
// HEAPTAP_BUILD names the build tree (build/release by default), HEAPTAP_PREFIX an installation
// to test instead of it; the hosts always come from the build tree.
import { existsSync, readdirSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

export const source = resolve(dirname(fileURLToPath(import.meta.url)), "../../..");
export const build = resolve(process.env.HEAPTAP_BUILD ?? join(source, "build/release"));
export const prefix = resolve(process.env.HEAPTAP_PREFIX ?? build);

// <prefix>/lib/<triplet>/heaptap/libheaptap.so
export function findAgent(root = prefix) {
	for (const triplet of readdirSync(join(root, "lib"))) {
		const path = join(root, "lib", triplet, "heaptap/libheaptap.so");
		if (existsSync(path))
			return path;
	}
	throw new Error(`no libheaptap.so below ${root}/lib`);
}

export const agent = findAgent();
export const server = join(prefix, "libexec/heaptap/heaptap-server");
export const cli = join(prefix, "bin/heaptap");
export const sanitized = /asan|tsan/.test(build);

export function host(name) {
	return join(build, "tests/hosts", name);
}

// The first of the names that is a program somewhere on the path, or undefined.
export function findProgram(...names) {
	for (const name of names)
		for (const dir of ["/usr/local/bin", "/usr/bin", "/bin", "/usr/sbin", "/sbin"])
			if (existsSync(join(dir, name)))
				return join(dir, name);
	return undefined;
}

export function findLibrary(name) {
	for (const dir of [`/usr/lib/${process.arch === "arm64" ? "aarch64" : "x86_64"}-linux-gnu`,
			   "/usr/lib64", "/usr/lib"])
		if (existsSync(join(dir, name)))
			return join(dir, name);
	return undefined;
}
