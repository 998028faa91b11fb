// SPDX-License-Identifier: MIT
//
// The server is held to its own description: every documented route answers, every answer has the
// documented shape, and every route of the contract is documented.
import assert from "node:assert/strict";
import { ask, benchTest } from "./lib/bench.mjs";
import * as paths from "./lib/paths.mjs";
import { check, resolveRef } from "./lib/schema.mjs";

const contract = ["/healthz", "/openapi.json", "/api/v1/summary", "/api/v1/processes", "/api/v1/threads",
	"/api/v1/threads/{tid}", "/api/v1/sites"];

function jsonSchema(document, operation, status) {
	const response = resolveRef(document, operation.responses[status] ?? operation.responses.default ?? {});
	return response.content?.["application/json"]?.schema;
}

async function assertAnswer(document, address, path, operation, status) {
	const answer = await ask(`${address}${path}`);
	assert.equal(answer.status, status, `${path}: ${answer.text}`);
	assert.match(answer.headers["content-type"], /^application\/json/);
	const schema = jsonSchema(document, operation, String(status));
	assert.ok(schema, `${path}: ${status} is documented`);
	const errors = [];
	check(document, schema, JSON.parse(answer.text), path, errors);
	assert.deepEqual(errors.slice(0, 10), []);
	// Bytes that are not UTF-8 would have become U+FFFD in `text`.
	assert.ok(Buffer.from(answer.text, "utf8").equals(answer.raw));
}

benchTest("every documented route answers as documented", {}, async (bench) => {
	const host = bench.start([paths.host("exact"), "2", "2"]);
	await host.waitForOutput(/\n/);
	await bench.getUntil(`/api/v1/summary?process=${host.pid}`, (s) => s.alloc_count > 0);
	const address = await bench.server();
	const document = await bench.get("/openapi.json");
	assert.match(document.openapi, /^3\./);
	for (const path of contract)
		assert.ok(document.paths[path]?.get, `${path} is documented`);

	for (const [path, item] of Object.entries(document.paths)) {
		const operation = item.get;
		const concrete = path.replace("{tid}", String(host.pid));
		if (!jsonSchema(document, operation, "200"))
			continue;
		await assertAnswer(document, address, concrete, operation, 200);
		const parameters = (operation.parameters ?? []).map((p) => resolveRef(document, p)).filter((p) => p.in === "query");
		for (const parameter of parameters) {
			const schema = resolveRef(document, parameter.schema);
			for (const value of schema.enum ?? [])
				await assertAnswer(document, address, `${concrete}?${parameter.name}=${encodeURIComponent(value)}`, operation, 200);
		}
		if (operation.responses["400"])
			await assertAnswer(document, address, `${concrete}?nonsense=1`, operation, 400);
	}
	const names = (path) => (document.paths[path].get.parameters ?? []).map((p) => resolveRef(document, p).name);
	for (const name of ["process", "member", "since", "sort", "order", "limit", "filter", "kind", "thread"])
		assert.ok(names("/api/v1/sites").includes(name), `${name} of /api/v1/sites is documented`);
	await assertAnswer(document, address, "/api/v1/threads/1", document.paths["/api/v1/threads/{tid}"].get, 404);
	await assertAnswer(document, address, "/api/v1/summary?process=1", document.paths["/api/v1/summary"].get, 404);
});

benchTest("with no family: 404 in the documented shape", {}, async (bench) => {
	bench.startPlain([paths.cli, "serve"], { HEAPTAP_DIR: bench.dir });
	const address = await bench.server();
	const document = await bench.get("/openapi.json");
	assert.deepEqual((await bench.get("/api/v1/processes")).families, []);
	assert.equal((await bench.get("/healthz")).families, 0);
	for (const path of ["/api/v1/summary", "/api/v1/sites", "/api/v1/threads"]) {
		const answer = await ask(`${address}${path}`);
		assert.equal(answer.status, 404);
		assert.equal(JSON.parse(answer.text).error.code, "no_family");
		await assertAnswer(document, address, path, document.paths[path].get, 404);
	}
});
