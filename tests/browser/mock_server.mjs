// SPDX-License-Identifier: MIT
/*
 * mock_server.mjs - a heaptap-server made of made-up data: the built page, and the API with the
 * scenes of mock_data.mjs. For tests (createMock) and for work on the page by hand:
 *
 *   node mock_server.mjs [SCENE] [PORT]
 *
 * It answers with the same security headers as the real one, so that a page which breaks its own
 * content policy breaks here too.
 */
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { scene, snapshot } from "./mock_data.mjs";

export const DIST =
	process.env.HEAPTAP_WEB_DIST || fileURLToPath(new URL("../../build/web", import.meta.url));

const HEADERS = {
	"Content-Security-Policy":
		"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
		"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'",
	"X-Content-Type-Options": "nosniff",
	"Referrer-Policy": "no-referrer",
	"Cross-Origin-Opener-Policy": "same-origin",
	"Cross-Origin-Resource-Policy": "same-origin",
	"X-Frame-Options": "DENY",
};
const MIME = {
	".html": "text/html; charset=utf-8",
	".js": "text/javascript; charset=utf-8",
	".css": "text/css; charset=utf-8",
};
const FREES = new Set(["free", "delete", "delete[]"]);
const START_NS = 1.7e18;

class Refusal extends Error {
	constructor(status, code, message) {
		super(message);
		Object.assign(this, { status, code });
	}
}

function find(families, query) {
	const pid = query.get("process");
	if (families.length === 0)
		throw new Refusal(404, "no_family", "no process is being watched");
	if (pid === null) return families[0];
	const found = families.find(
		(f) => String(f.pid) === pid || f.members.some((m) => String(m.pid) === pid),
	);
	if (!found)
		throw new Refusal(
			404,
			"no_process",
			`process=${pid}: no such process is being watched`,
		);
	return found;
}

function ordered(rows, query, fallback) {
	const sort = query.get("sort") ?? fallback;
	const sign = query.get("order") === "asc" ? 1 : -1;
	if (rows.length && !(sort in rows[0]))
		throw new Refusal(
			400,
			"bad_parameter",
			`sort=${sort}: not one of ${Object.keys(rows[0]).join(", ")}`,
		);
	return rows.sort((a, b) => {
		const [x, y] = [a[sort], b[sort]];
		return (
			sign * (typeof x === "string" ? x.localeCompare(y) : x - y) ||
			b.alloc_count - a.alloc_count
		);
	});
}

function limited(rows, query) {
	return rows.slice(0, Number(query.get("limit") ?? 100));
}

function window_(now) {
	return { now_ns: START_NS + now.t * 1e9, rate_window_ns: 1e9 };
}

function summaryOf(family, now) {
	const s = snapshot(family, now);
	const sizes = [3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 14, 16, 21].map((power, i) => ({
		min: 2 ** power,
		max: 2 ** (power + 1) - 1,
		count: Math.round(
			s.total.alloc_count *
				[
					0.04, 0.09, 0.31, 0.24, 0.1, 0.15, 0.03, 0.015, 0.01, 0.008,
					0.004, 0.002, 0.0001,
				][i],
		),
	}));
	return {
		id: family.id,
		pid: family.pid,
		name: family.name,
		exe: family.cmdline.split(" ")[0],
		cmdline: family.cmdline,
		started_ns: START_NS - family.started * 1e9,
		now_ns: START_NS + (family.ended ? 0 : now.t * 1e9),
		ended: family.ended,
		listen: "",
		processes: family.ended ? 0 : s.members.filter((m) => !m.ended).length,
		threads: family.ended ? 0 : family.threads.length,
		threads_started: family.threads.length + 38,
		processes_started: s.members.length,
		...s.total,
		live_bytes: s.live_bytes,
		live_count: s.live_count,
		rate_window_ns: 1e9,
		rss_bytes: s.rss_bytes,
		size_classes: sizes,
		overhead: { segment_bytes: 8388608, segment_used_bytes: 421888, torn_reads: 0 },
		dropped: {
			threads: 0,
			processes: 0,
			sites: 0,
			modules: 0,
			memory: 0,
			lock: 0,
			recovered: 0,
			...family.dropped,
		},
		sources: { memory: "agent", scheduler: null, tcp: null },
		problems: family.problems,
	};
}

function processesOf(families, now) {
	return {
		now_ns: START_NS + now.t * 1e9,
		families: families.map((family) => {
			const s = summaryOf(family, now);
			return { ...s, members: snapshot(family, now).members };
		}),
	};
}

function sitesOf(family, now, query) {
	const s = snapshot(family, now);
	const kind = query.get("kind") ?? "alloc";
	const filter = (query.get("filter") ?? "").toLowerCase();
	const thread = s.threads.find((t) => String(t.tid) === query.get("thread"));
	let rows = s.sites.filter(
		(site) => kind === "all" || FREES.has(site.kind) === (kind === "free"),
	);
	const total = s.sites.length;
	if (thread)
		// each thread has its own few
		rows = rows.filter((_, i) => (i + thread.tid) % 4 === 0);
	rows = rows.filter((site) =>
		`${site.name} ${site.module ?? ""}`.toLowerCase().includes(filter),
	);
	return {
		...window_(now),
		total,
		matched: rows.length,
		totals: s.total,
		sites: limited(ordered(rows, query, "allocs_per_s"), query),
	};
}

function threadsOf(family, now, query) {
	const s = snapshot(family, now);
	const filter = (query.get("filter") ?? "").toLowerCase();
	const member = query.get("member");
	const rows = s.threads.filter(
		(t) =>
			t.name.toLowerCase().includes(filter) &&
			(member === null || String(t.pid) === member),
	);
	return {
		...window_(now),
		total: s.threads.length,
		matched: rows.length,
		threads: limited(ordered(rows, query, "allocs_per_s"), query),
	};
}

function answer(mock, path, query) {
	const now = { t: (Date.now() - mock.begun) / 1000, mean: query.get("since") === "start" };
	const routes = {
		"/api/v1/processes": () => processesOf(mock.families, now),
		"/api/v1/summary": () => summaryOf(find(mock.families, query), now),
		"/api/v1/sites": () => sitesOf(find(mock.families, query), now, query),
		"/api/v1/threads": () => threadsOf(find(mock.families, query), now, query),
	};
	if (!routes[path]) throw new Refusal(404, "not_found", `${path}: there is nothing here`);
	return routes[path]();
}

async function sendFile(response, path) {
	const name = path === "/" ? "index.html" : path.slice(1);
	const body = await readFile(join(DIST, name));
	response.writeHead(200, {
		...HEADERS,
		"Content-Type": MIME[extname(name)] ?? "application/octet-stream",
	});
	response.end(body);
}

function sendJson(response, status, value) {
	response.writeHead(status, {
		...HEADERS,
		"Content-Type": "application/json",
		"Cache-Control": "no-store",
	});
	response.end(JSON.stringify(value));
}

async function handle(mock, request, response) {
	const { pathname, searchParams } = new URL(request.url, "http://mock");
	if (!pathname.startsWith("/api/")) {
		sendFile(response, pathname).catch(() =>
			sendJson(response, 404, {
				error: { code: "not_found", message: pathname },
			}),
		);
		return;
	}
	mock.requests.push({
		path: pathname,
		query: Object.fromEntries(searchParams),
		token: request.headers.authorization ?? null,
	});
	mock.atOnce = Math.max(mock.atOnce, ++mock.open);
	await new Promise((resolve) => setTimeout(resolve, mock.delay));
	mock.open--;
	try {
		if (mock.token && request.headers.authorization !== `Bearer ${mock.token}`)
			throw new Refusal(
				401,
				"unauthorized",
				"this address needs the token of HEAPTAP_TOKEN_FILE",
			);
		sendJson(response, 200, answer(mock, pathname, searchParams));
	} catch (error) {
		sendJson(response, error.status ?? 500, {
			error: { code: error.code ?? "internal", message: error.message },
		});
	}
}

/*
 * A server on a port of its own; `down` and `up` take it away and bring it back on the same port.
 * `delay` ms pass before each answer; `atOnce` is the most requests there were at the same time.
 */
export async function createMock(name = "normal", port = 0) {
	const mock = {
		families: scene(name),
		begun: Date.now(),
		requests: [],
		token: null,
		port,
		delay: 0,
		open: 0,
		atOnce: 0,
	};
	let server;
	mock.show = (next) => {
		mock.families = scene(next);
	};
	mock.up = async () => {
		server = createServer((request, response) => handle(mock, request, response));
		await new Promise((resolve) => server.listen(mock.port, "127.0.0.1", resolve));
		mock.port = server.address().port;
		mock.url = `http://127.0.0.1:${mock.port}/`;
	};
	mock.down = async () => {
		const closed = new Promise((resolve) => server.close(resolve));
		server.closeAllConnections();
		await closed;
	};
	await mock.up();
	return mock;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
	const mock = await createMock(process.argv[2] ?? "normal", Number(process.argv[3] ?? 4399));
	console.log(mock.url);
}
