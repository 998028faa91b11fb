// SPDX-License-Identifier: MIT
/*
 * build.mjs - from src/ to a dist folder: `node build.mjs OUT`.
 *
 *   OUT/index.html, OUT/assets/NAME.HASH.{js,css}   the page, for any web server
 *   OUT/embed/                                      the same for the C compiler (see embed.mjs)
 *
 * A page above BUDGET fails the build: it is downloaded through ssh tunnels during incidents.
 */
import { build } from "esbuild";
import { createHash } from "node:crypto";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join, parse, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { embed } from "./embed.mjs";

const BUDGET = 80 * 1000; // bytes, gzip -9, all files together
const here = dirname(fileURLToPath(import.meta.url));

async function bundle() {
	const result = await build({
		absWorkingDir: here,
		entryPoints: { app: "src/main.tsx", style: "src/style.css" },
		bundle: true,
		write: false,
		outdir: "assets",
		format: "esm",
		target: ["es2022"],
		jsx: "automatic",
		jsxImportSource: "preact",
		minify: true,
		legalComments: "none",
		charset: "utf8",
		logLevel: "warning",
	});
	return result.outputFiles.map((file) => {
		const { name, ext: extension } = parse(file.path);
		const hash = createHash("sha256").update(file.contents).digest("hex").slice(0, 10);
		return {
			path: `assets/${name}.${hash}${extension}`,
			extension,
			bytes: Buffer.from(file.contents),
		};
	});
}

function fill(template, files) {
	const name = (extension) => "/" + files.find((file) => file.extension === extension).path;
	return template.replace("%JS%", name(".js")).replace("%CSS%", name(".css"));
}

async function main(out) {
	const files = await bundle();
	const html = fill(await readFile(join(here, "src/index.html"), "utf8"), files);
	files.unshift({ path: "index.html", bytes: Buffer.from(html) });

	await rm(out, { recursive: true, force: true });
	await mkdir(join(out, "assets"), { recursive: true });
	for (const file of files) await writeFile(join(out, file.path), file.bytes);

	const sizes = await embed(out);
	const total = sizes.reduce((sum, file) => sum + file.gzip, 0);
	for (const { path, size, gzip } of sizes)
		console.log(`${path}  ${size} bytes, ${gzip} gzipped`);
	console.log(`total  ${total} of ${BUDGET} bytes gzipped`);
	if (total > BUDGET)
		throw new Error(
			`the page is ${total - BUDGET} bytes above its budget of ${BUDGET}`,
		);
}

if (!process.argv[2]) {
	console.error("usage: node build.mjs OUT");
	process.exit(2);
}
await main(resolve(process.argv[2]));
