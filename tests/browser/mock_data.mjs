// SPDX-License-Identifier: MIT
/*
 * mock_data.mjs - made-up families, as the API of heaptap-server describes them.
 *
 * Every count is a function of the family and of the seconds it has run, so that totals grow as
 * rates say and two runs show the same. Scenes: normal, prefork, empty, ended, restarted, overfull,
 * hostile, noticed.
 */

const RIGHT_TO_LEFT = "מקצה זיכרון";

function wave(seed, t) {
	return 1 + 0.22 * Math.sin(t / 9 + seed) + 0.1 * Math.sin(t / 2.3 + seed * 3);
}

/* The integral of wave() from 0, for totals that agree with the rates. */
function waved(seed, t) {
	return (
		t -
		1.98 * (Math.cos(t / 9 + seed) - Math.cos(seed)) -
		0.23 * (Math.cos(t / 2.3 + seed * 3) - Math.cos(seed * 3))
	);
}

const REDIS = [
	// name, module, kind, objects/s, bytes per object
	["ztrymalloc_usable_internal", "redis-server", "malloc", 412000, 34],
	["sdsnewlen", "redis-server", "malloc", 96500, 231],
	["createStringObject", "redis-server", "malloc", 88100, 52],
	["dictAddRaw", "redis-server", "malloc", 31200, 24],
	["_sdsMakeRoomFor", "redis-server", "realloc", 22800, 1730],
	["listAddNodeTail", "redis-server", "malloc", 21900, 24],
	["lpNew", "redis-server", "malloc", 6200, 11],
	["lpInsert", "redis-server", "realloc", 6050, 3900],
	["quicklistCreateNode", "redis-server", "malloc", 3100, 32],
	["createClient", "redis-server", "malloc", 410, 16384],
	["connCreateSocket", "redis-server", "calloc", 405, 88],
	["aeCreateFileEvent", "redis-server", "malloc", 210, 64],
	["je_arena_extent_alloc", "libjemalloc.so.2", "aligned", 12, 2097152],
	["_dictExpand", "redis-server", "calloc", 0.4, 4194304],
	["luaM_realloc_", "redis-server", "realloc", 1480, 46],
	["__GI__IO_file_doallocate", "libc.so.6", "malloc", 0.2, 4096],
	[
		"std::vector<std::pair<std::basic_string<char, std::char_traits<char>, std::allocator<char> >, unsigned long>, std::allocator<std::pair<std::basic_string<char, std::char_traits<char>, std::allocator<char> >, unsigned long> > >::_M_realloc_insert<std::pair<std::basic_string<char>, unsigned long> >(__gnu_cxx::__normal_iterator<std::pair<std::basic_string<char>, unsigned long>*, std::vector<std::pair<std::basic_string<char>, unsigned long> > >, std::pair<std::basic_string<char>, unsigned long>&&)",
		"libmodule.so",
		"new",
		940,
		512,
	],
	["<alloc::vec::Vec<T,A> as core::clone::Clone>::clone", "libmodule.so", "malloc", 702, 96],
	["decrRefCount", "redis-server", "free", 92400, 55],
	["sdsfree", "redis-server", "free", 118300, 240],
	["zfree", "redis-server", "free", 430100, 40],
	["listDelNode", "redis-server", "free", 21800, 24],
	["std::default_delete<session[]>::operator()", "libmodule.so", "delete[]", 930, 512],
];

const HOSTILE = [
	[
		"<script>window.pwned=1</script>",
		"<img src=x onerror=window.pwned=1>",
		"malloc",
		5000,
		64,
	],
	[`evil\u202Etxt.exe ${RIGHT_TO_LEFT}`, "libmodule.so", "new", 4000, 128],
	["bad bytes \uFFFD\uFFFD\u0007\u001b[31mred", "libmodule.so", "malloc", 3000, 16],
	["'\"&<>`${7*7}{{7*7}}", '"><svg onload=window.pwned=1>', "calloc", 2000, 256],
	["N".repeat(2000), "x".repeat(300), "malloc", 1500, 512],
	[
		"std::map<".repeat(60) + "int" + ">".repeat(60) + "::operator[](int const&)",
		"libmonster.so",
		"new[]",
		1200,
		48,
	],
	[RIGHT_TO_LEFT, RIGHT_TO_LEFT, "malloc", 900, 1024],
	["operator()", "libmodule.so", "new", 800, 40],
	["", "", "malloc", 10, 8],
];

function manySites(n) {
	const names = [
		"parse",
		"decode",
		"append",
		"copy",
		"resize",
		"insert",
		"format",
		"route",
		"session",
		"buffer",
	];
	const kinds = ["malloc", "new", "calloc", "realloc", "new[]", "aligned"];
	return Array.from({ length: n }, (_, i) => [
		`svc::${names[i % 10]}::handler_${i}(request const&, std::span<std::byte const>)`,
		`libplugin_${i % 37}.so`,
		kinds[i % 6],
		90000 / (i + 1) ** 0.9,
		16 << (i % 9),
	]);
}

const FREES = new Set(["free", "delete", "delete[]"]);

function zeroCounts() {
	return {
		alloc_count: 0,
		alloc_bytes: 0,
		usable_bytes: 0,
		free_count: 0,
		free_bytes: 0,
		realloc_count: 0,
		realloc_moved: 0,
		realloc_grown: 0,
		realloc_copied_bytes: 0,
	};
}

function zeroRates() {
	return {
		allocs_per_s: 0,
		bytes_per_s: 0,
		frees_per_s: 0,
		freed_bytes_per_s: 0,
		reallocs_per_s: 0,
	};
}

function add(into, from, factor = 1) {
	for (const key of Object.keys(into)) {
		if (typeof into[key] === "number" && key in from) into[key] += from[key] * factor;
	}
}

/* `run`: {t: seconds run, live: whether rates move, mean: rates since start} */
function siteAt(spec, i, run) {
	const [name, module, kind, rate, size] = spec;
	const rates = zeroRates();
	const counts = zeroCounts();
	const n = Math.max(0, Math.round(rate * waved(i, run.t)));
	const now = run.mean ? n / run.t : run.live ? rate * wave(i, run.t) : 0;
	if (FREES.has(kind)) {
		Object.assign(rates, { frees_per_s: now, freed_bytes_per_s: now * (size + 6) });
		Object.assign(counts, { free_count: n, free_bytes: n * (size + 6) });
	} else {
		Object.assign(rates, { allocs_per_s: now, bytes_per_s: now * size });
		Object.assign(counts, {
			alloc_count: n,
			alloc_bytes: n * size,
			usable_bytes: n * (size + 6),
		});
	}
	if (kind === "realloc") {
		Object.assign(rates, {
			reallocs_per_s: now,
			frees_per_s: now,
			freed_bytes_per_s: now * size * 0.8,
		});
		Object.assign(counts, {
			realloc_count: n,
			realloc_moved: Math.round(n * 0.37),
			realloc_grown: Math.round(n * 0.9),
			realloc_copied_bytes: Math.round(n * 0.3) * size,
			free_count: n,
			free_bytes: Math.round(n * size * 0.8),
		});
	}
	const known = name !== "";
	const address = known ? "0x" + (0x55d0c0de0000 + i * 0x51).toString(16) : "0x0";
	const offset = 0x12 + (i % 7) * 8;
	return {
		id: `${kind}-${address.slice(2)}`,
		address,
		function: known ? name : null,
		function_offset: known ? offset : 0,
		module: module
			? module.includes("<")
				? module
				: `/usr/lib/x86_64-linux-gnu/${module}`
			: null,
		module_name: module || null,
		module_offset: 0x40a10 + i * 0x51,
		build_id: module ? "8f3a1c09d27be4561fe0a9b8c7d6e5f40312ab9" + (i % 10) : null,
		name: known ? `${name}+0x${offset.toString(16)}` : "(site not known)",
		kind,
		...counts,
		mean_bytes: counts.alloc_count ? counts.alloc_bytes / counts.alloc_count : null,
		...rates,
		alloc_share: 0,
		bytes_share: 0,
	};
}

const THREADS = {
	redis: [
		["redis-server", 0.93],
		["bio_lazy_free", 0.04],
		["io_thd_1", 0.02],
		["jemalloc_bg_thd", 0.01],
		["bio_aof", 0],
	],
	hostile: [
		["<b>bold</b>", 0.5],
		[RIGHT_TO_LEFT, 0.3],
		["\u202Eevil\uFFFD", 0.2],
	],
};

function makeFamily(pid, name, cmdline, specs, threads, more = {}) {
	return {
		pid,
		name,
		cmdline,
		specs,
		threads,
		id: `${pid}-5f3a${pid.toString(16)}`,
		ended: false,
		started: 754,
		members: [],
		problems: [],
		dropped: {},
		scale: 1,
		...more,
	};
}

const REDIS_LINE = "/usr/bin/redis-server 127.0.0.1:6379 --save '' --appendonly no";

function nginx() {
	const members = [1201, 1202, 1203, 1204].map((pid) => ({
		pid,
		name: "nginx",
		ended: false,
	}));
	members.push({ pid: 1199, name: "nginx", ended: true });
	return makeFamily(
		1200,
		"nginx",
		"nginx: master process /usr/sbin/nginx -c /etc/nginx/nginx.conf",
		manySites(40).map(([n, , k, r, s]) => [
			n.replace(/svc::(\w+)::handler_(\d+).*/, "ngx_http_$1_$2"),
			"nginx",
			k === "new" || k === "new[]" ? "malloc" : k,
			r / 8,
			s,
		]),
		[
			["nginx", 0.3],
			["nginx", 0.3],
			["nginx", 0.2],
			["nginx", 0.2],
		],
		{ members: [{ pid: 1200, name: "nginx", ended: false }, ...members] },
	);
}

export function scene(name) {
	const redis = makeFamily(4217, "redis-server", REDIS_LINE, REDIS, THREADS.redis);
	const others = [
		nginx(),
		makeFamily(
			880,
			"python3",
			"python3 -m http.server --directory /srv/www 8000",
			manySites(12),
			[["python3", 1]],
		),
	];
	switch (name) {
		case "normal":
			return [redis, ...others];
		case "single":
			return [redis];
		case "prefork":
			return [nginx(), redis];
		case "empty":
			return [];
		case "ended":
			return [{ ...redis, ended: true }];
		case "restarted":
			return [
				makeFamily(5120, "redis-server", REDIS_LINE, REDIS, THREADS.redis, {
					started: 12,
				}),
				{ ...redis, ended: true },
			];
		case "hostile":
			return [
				makeFamily(
					666,
					"<script>alert(1)</script>",
					`./<img src=x onerror=window.pwned=1> \u202E${RIGHT_TO_LEFT}`,
					HOSTILE,
					THREADS.hostile,
					{
						problems: [
							{
								code: "setting",
								message: "HEAPTAP_SAMPLE=<script>window.pwned=1</script>: not a size; 512 KiB is used",
							},
						],
					},
				),
			];
		case "noticed":
			return [
				{
					...redis,
					dropped: {
						threads: 0,
						sites: 12345,
						memory: 2,
						modules: 0,
					},
					problems: [
						{
							code: "listen",
							message: "HEAPTAP_LISTEN=127.0.0.1:80: address already in use; see it at http://127.0.0.1:4327",
						},
						{
							code: "setting",
							message: "HEAPTAP_MEMORY=8 mb: not a size; 8 MiB is used",
						},
					],
				},
			];
		case "overfull":
			return [
				makeFamily(
					31337,
					"gateway",
					"/opt/gateway/bin/gateway --config /etc/gateway/production.yaml --shards 64 --listen 0.0.0.0:8443 --cluster eu-central-1a,eu-central-1b,eu-central-1c --log-level warn",
					manySites(10000),
					Array.from({ length: 2000 }, (_, i) => [
						`worker-${i}`,
						1 / (i + 2) ** 1.1,
					]),
					{
						dropped: { sites: 8123456, threads: 120 },
						started: 86400 * 3,
					},
				),
			];
		default:
			throw new Error(`no such scene: ${name}`);
	}
}

function addUp(family, run) {
	const sites = family.specs.map((spec, i) => siteAt(spec, i, run));
	const total = { ...zeroCounts(), ...zeroRates() };
	for (const site of sites) add(total, site);
	for (const site of sites) {
		site.alloc_share = total.allocs_per_s ? site.allocs_per_s / total.allocs_per_s : 0;
		site.bytes_share = total.bytes_per_s ? site.bytes_per_s / total.bytes_per_s : 0;
	}
	return { sites, total };
}

function rounded(object) {
	const out = { ...object };
	for (const [key, value] of Object.entries(out)) {
		if (typeof value === "number" && !key.endsWith("share"))
			out[key] =
				key.endsWith("_per_s") || key === "mean_bytes"
					? Math.round(value * 10) / 10
					: Math.round(value);
	}
	return out;
}

function part(total, share) {
	const out = { ...zeroCounts(), ...zeroRates() };
	add(out, total, share);
	return rounded(out);
}

function live(family, t) {
	const bytes = 41e6 + 3e6 * Math.sin(t / 40) + t * 9000;
	return {
		live_bytes: Math.round(bytes),
		live_count: Math.round(bytes / 61),
		rss_bytes: family.ended ? null : Math.round(bytes * 1.42 + 9e6),
	};
}

/* Everything of one family at one moment: what the routes of mock_server.mjs answer from. */
export function snapshot(family, { t, mean }) {
	const run = { t: family.started + (family.ended ? 0 : t), live: !family.ended, mean };
	const { sites, total } = addUp(family, run);
	const forked = family.members.filter((m) => !m.ended);
	const threads = family.threads.map(([name, share], i) => ({
		role: "thread",
		tid: (forked[i]?.pid ?? family.pid) + (forked.length ? 0 : i),
		pid: forked[i]?.pid ?? family.pid,
		name,
		ended: family.ended,
		...part(total, share),
		net_bytes: Math.round(4.1e7 * (i === 1 ? -0.2 : share)),
		net_count: 10,
		sites: 9,
		share,
	}));
	threads.push({
		role: "ended",
		tid: 0,
		pid: family.pid,
		name: "",
		ended: true,
		...part({ ...total, ...zeroRates() }, 0.02),
		net_bytes: 1200,
		net_count: 3,
		sites: 4,
		share: 0.1,
	});
	const members = (
		family.members.length
			? family.members
			: [{ pid: family.pid, name: family.name, ended: family.ended }]
	).map((m, i, all) => ({
		...m,
		started_ns: 0,
		threads: m.ended ? 0 : 1,
		threads_started: 1,
		...part(
			m.ended ? { ...total, ...zeroRates() } : total,
			i === 0 && all.length > 1 ? 0.01 : 0.99 / all.length,
		),
		...live(family, run.t),
		rss_bytes: m.ended ? null : Math.round(5.2e7),
	}));
	return {
		run,
		sites: sites.map(rounded),
		total: rounded(total),
		threads,
		members,
		...live(family, run.t),
	};
}
