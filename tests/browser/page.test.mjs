// SPDX-License-Identifier: MIT
/*
 * page.test.mjs - what the page does, in headless Chromium against mock_server.mjs. Each test has
 * a server and a page of its own, and ends with a look at the page's console: no error, no report
 * of the content security policy.
 */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { launch, openPage } from "./browser.mjs";
import { createMock } from "./mock_server.mjs";

let browser;

before(async () => {
	browser = await launch();
});
after(() => browser.close());

function pageTest(
	name,
	{ scene = "normal", hash = "", ready = ".sites tbody tr", ...options },
	body,
) {
	test(name, { timeout: 60000 }, async () => {
		const mock = await createMock(scene);
		mock.token = options.token ?? null;
		const page = await openPage(browser, mock.url + hash, options);
		page.setDefaultTimeout(8000);
		try {
			await page.waitForSelector(ready);
			await body(page, mock);
			assert.deepEqual(page.troubles, []);
		} finally {
			await page.context().close();
			await mock.down().catch(() => {});
		}
	});
}

async function until(what, condition, ms = 8000) {
	const end = Date.now() + ms;
	for (;;) {
		if (await condition()) return;
		assert.ok(Date.now() < end, `not within ${ms} ms: ${what}`);
		await new Promise((resolve) => setTimeout(resolve, 50));
	}
}

const last = (mock, path) => mock.requests.filter((r) => r.path === path).at(-1)?.query ?? {};
const names = (page) => page.locator(".sites tbody .rowname > .name").allInnerTexts();
const hashOf = (page) => new URLSearchParams(new URL(page.url()).hash.slice(1));

async function siteValues(page, column) {
	// Exact values are in the titles: "1,234.5 bytes".
	const titles = await page
		.locator(`.sites tbody td.col-${column} .num`)
		.evaluateAll((all) => all.map((e) => e.title));
	return titles.map((title) => Number(title.replace(/[^\d.]/g, "")));
}

function assertSorted(values, descending) {
	const wanted = [...values].sort((a, b) => (descending ? b - a : a - b));
	assert.deepEqual(values, wanted);
}

pageTest("rates and totals move", {}, async (page) => {
	const read = () =>
		page
			.locator(".figures .value .num")
			.evaluateAll((all) => all.map((e) => e.title).join());
	const first = await read();
	await until("the figures change", async () => (await read()) !== first);
	assert.equal(await page.locator(".status").innerText(), "live");
	assert.equal(await page.locator(".plot canvas").count(), 3);
	assert.match(await page.title(), /redis-server 4217/);
});

pageTest("a header asks the server for its order and shows it", {}, async (page, mock) => {
	await page.click(".sites th.col-brate button");
	await until("the request", () => last(mock, "/api/v1/sites").sort === "bytes_per_s");
	assert.equal(last(mock, "/api/v1/sites").order, "desc");
	await until(
		"the first row",
		async () =>
			(await siteValues(page, "brate"))[0] ===
			Math.max(...(await siteValues(page, "brate"))),
	);
	assertSorted(await siteValues(page, "brate"), true);
	assert.equal(await page.getAttribute(".sites th.col-brate", "aria-sort"), "descending");
	assert.equal(await page.getAttribute(".sites th.col-rate", "aria-sort"), "none");

	await page.click(".sites th.col-brate button");
	await until("the other order", () => last(mock, "/api/v1/sites").order === "asc");
	await until(
		"it is drawn",
		async () =>
			(await siteValues(page, "brate"))[0] ===
			Math.min(...(await siteValues(page, "brate"))),
	);
	assertSorted(await siteValues(page, "brate"), false);
	assert.equal(hashOf(page).get("sort"), "bytes_per_s");
	assert.equal(hashOf(page).get("order"), "asc");
});

pageTest(
	"the keyboard sorts, walks the rows, opens and closes the detail",
	{},
	async (page, mock) => {
		await page.focus(".sites th.col-mean button");
		await page.keyboard.press("Enter");
		await until("the request", () => last(mock, "/api/v1/sites").sort === "mean_bytes");
		await until("it is drawn", async () =>
			/2\.00/.test(
				await page
					.locator(".sites tbody tr td.col-mean")
					.nth(1)
					.innerText(),
			),
		);

		await page.focus(".sites tbody tr:first-child .rowname");
		await page.keyboard.press("ArrowDown");
		await page.keyboard.press("ArrowDown");
		await page.keyboard.press("ArrowUp");
		const second = await page
			.locator(".sites tbody .rowname > .name")
			.nth(1)
			.innerText();
		assert.equal(
			await page.evaluate(
				() => document.activeElement.firstElementChild.innerText,
			),
			second,
		);
		await page.keyboard.press("Enter");
		await page.waitForSelector(".detail");
		assert.equal(await page.locator(".detail .fullname").innerText(), second);
		await page.keyboard.press("Escape");
		await until(
			"the detail is gone",
			async () => (await page.locator(".detail").count()) === 0,
		);
	},
);

pageTest("the detail holds address, module, build-id and all counters", {}, async (page) => {
	await page.locator(".sites .rowname", { hasText: "_sdsMakeRoomFor" }).click();
	const detail = await page.locator(".detail").innerText();
	for (const wanted of [
		"0x55d0c0de",
		"/usr/lib/x86_64-linux-gnu/redis-server",
		"8f3a1c09d27be456",
		"addr2line",
		"that moved",
		"copied",
		"Bytes given",
	])
		assert.ok(detail.includes(wanted), wanted);
	await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
	await page.click('.detail [aria-label="Copy name"]');
	await until(
		"the clipboard",
		async () =>
			(await page.evaluate(() => navigator.clipboard.readText())) ===
			"_sdsMakeRoomFor+0x32",
	);
	await page.click('.detail [aria-label="Close the detail"]');
	assert.equal(hashOf(page).get("site"), null);
});

pageTest("the filter narrows the sites", {}, async (page, mock) => {
	await page.keyboard.press("/");
	await page.keyboard.type("sds");
	await until(
		"the rows",
		async () =>
			(await names(page)).length > 0 &&
			(await names(page)).every((n) => /sds/i.test(n)),
	);
	assert.equal(last(mock, "/api/v1/sites").filter, "sds");
	assert.equal(hashOf(page).get("filter"), "sds");
	assert.equal(await page.locator(".sites .shown").innerText(), "2 that match");
	await page.fill("#site-filter", "nothing is called so");
	await page.waitForSelector(".sites .none");
	await page.press("#site-filter", "Escape");
	await until("all rows", async () => (await names(page)).length === 18);
});

pageTest("kinds and the limit", {}, async (page, mock) => {
	await page.click('.sites .segmented button:has-text("free")');
	await until("frees", async () => (await names(page))[0]?.startsWith("zfree"));
	assert.equal(last(mock, "/api/v1/sites").kind, "free");
	assert.equal(last(mock, "/api/v1/sites").sort, "frees_per_s");
	await page.click('.sites .segmented button:text-is("all")');
	await until("all", async () => (await names(page)).length === 23);
	await page.selectOption(".limit select", "25");
	await until("the limit", () => last(mock, "/api/v1/sites").limit === "25");
	await page.click('.topbar .segmented button:has-text("since start")');
	await until("the mean", () => last(mock, "/api/v1/summary").since === "start");
	assert.match(await page.locator(".figures dt").first().innerText(), /mean/);
});

pageTest("a thread narrows the sites, and the chip widens them again", {}, async (page, mock) => {
	await page.locator(".threads .rowname", { hasText: "bio_lazy_free" }).click();
	await until("the request", () => last(mock, "/api/v1/sites").thread === "4218");
	await until("fewer rows", async () => (await names(page)).length < 18);
	assert.match(await page.locator(".chip").innerText(), /bio_lazy_free 4218/);
	assert.equal(hashOf(page).get("thread"), "4218");
	await page.click(".chip");
	await until("all rows", async () => (await names(page)).length === 18);
	assert.equal(last(mock, "/api/v1/sites").thread, undefined);
	await page.goBack();
	await until("back to the thread", async () => (await page.locator(".chip").count()) === 1);
});

pageTest("threads are sorted and filtered by the server", {}, async (page, mock) => {
	await page.click(".threads th.col-net button");
	await until("the request", () => last(mock, "/api/v1/threads").sort === "net_bytes");
	await page.fill("#thread-filter", "bio_");
	await until(
		"the rows",
		async () => (await page.locator(".threads tbody tr").count()) === 2,
	);
});

pageTest(
	"a prefork server is one entry with its processes",
	{ scene: "prefork" },
	async (page, mock) => {
		await page.click('.threads .segmented button:has-text("Processes")');
		assert.equal(await page.locator(".threads tbody tr").count(), 6);
		await page.locator(".threads tbody tr", { hasText: "pid 1202" }).click();
		await until("the request", () => last(mock, "/api/v1/sites").member === "1202");
		assert.match(await page.locator(".chip").innerText(), /1202/);
	},
);

pageTest("the picker changes the process", {}, async (page, mock) => {
	await page.click(".picker .current");
	assert.equal(await page.locator(".menu .family").count(), 3);
	await page.keyboard.press("ArrowDown");
	await page.locator(".menu .family", { hasText: "python3" }).click();
	await until("the request", () => last(mock, "/api/v1/summary").process === "880");
	await until("it is shown", async () =>
		(await page.locator(".picker .current").innerText()).includes("python3"),
	);
	assert.equal(await page.locator(".menu").count(), 0);
	assert.equal(hashOf(page).get("process"), "880");
	await page.goBack();
	await until("back", async () =>
		(await page.locator(".picker .current").innerText()).includes("redis-server"),
	);
});

pageTest("an ended process stays, marked, and its restart is offered", {}, async (page, mock) => {
	mock.show("ended");
	await page.waitForSelector(".banner.b-ended");
	assert.match(await page.locator(".banner").innerText(), /redis-server \(4217\) has ended/);
	assert.equal(await page.locator(".status").innerText(), "ended");
	assert.ok((await names(page)).length > 10);
	mock.show("restarted");
	await page.click('.banner button:has-text("redis-server 5120")');
	await until(
		"the new one",
		async () => (await page.locator(".status").innerText()) === "live",
	);
	assert.equal(hashOf(page).get("process"), "5120");
	assert.equal(await page.locator(".banner").count(), 0);
});

pageTest("an ended process whose server has ended too is no alarm", {}, async (page, mock) => {
	mock.show("ended");
	await page.waitForSelector(".banner.b-ended");
	await mock.down();
	await until("it says so", async () =>
		/server has ended too/.test(await page.locator(".banner").innerText()),
	);
	assert.equal(await page.locator(".status").innerText(), "ended");
	assert.ok((await names(page)).length > 10);
});

pageTest(
	"a lost server is said, the figures stay, and it recovers by itself",
	{},
	async (page, mock) => {
		await mock.down();
		await page.waitForSelector(".banner.b-down");
		assert.match(
			await page.locator(".banner").innerText(),
			/No answer from the server since \d\d:\d\d:\d\d/,
		);
		assert.equal(await page.locator(".status").innerText(), "disconnected");
		assert.equal(await page.locator("main.stale").count(), 1);
		assert.ok((await names(page)).length > 10);
		await mock.up();
		await until(
			"live again",
			async () => (await page.locator(".status").innerText()) === "live",
			12000,
		);
		assert.equal(await page.locator(".banner").count(), 0);
		assert.equal(await page.locator("main.stale").count(), 0);
	},
);

pageTest("Try now does not wait", {}, async (page, mock) => {
	await mock.down();
	await until(
		"a long wait",
		async () => /Next try in [3-9] s/.test(await page.locator("body").innerText()),
		20000,
	);
	await mock.up();
	await page.click('button:has-text("Try now")');
	await until(
		"live again",
		async () => (await page.locator(".status").innerText()) === "live",
		1500,
	);
});

pageTest(
	"without the token it says how to get it",
	{ token: "cafe", ready: ".card" },
	async (page, mock) => {
		assert.match(
			await page.locator(".card").innerText(),
			/needs a token[\s\S]*heaptap ps/,
		);
		assert.equal(await page.locator(".status").innerText(), "locked");
		await page.fill(".card input", `${mock.url}#token=cafe`);
		await page.click('.card button:has-text("Open")');
		await page.waitForSelector(".sites tbody tr");
	},
);

pageTest(
	"a token in the URL is taken once and kept for the tab",
	{ token: "cafe", hash: "#token=cafe&sort=name" },
	async (page, mock) => {
		assert.ok(!page.url().includes("cafe"));
		assert.equal(hashOf(page).get("sort"), "name");
		assert.ok(mock.requests.every((r) => r.token === "Bearer cafe"));
		await page.reload();
		await page.waitForSelector(".sites tbody tr");
		await page.goto(mock.url + "#token=wrong");
		await page.reload();
		await until("refused", async () =>
			/not accepted/.test(await page.locator("main").innerText()),
		);
	},
);

pageTest(
	"no process yet: how to start one, and it appears by itself",
	{ scene: "empty", ready: ".card" },
	async (page, mock) => {
		assert.match(
			await page.locator(".card").innerText(),
			/heaptap run -- [\s\S]*LD_PRELOAD=/,
		);
		mock.show("single");
		await page.waitForSelector(".sites tbody tr");
	},
);

pageTest(
	"an unknown process: those that are known are offered",
	{ hash: "#process=99", ready: ".card" },
	async (page) => {
		assert.match(
			await page.locator(".card").innerText(),
			/Process 99 is not being watched/,
		);
		await page.click('.choices button:has-text("nginx")');
		await page.waitForSelector(".sites tbody tr");
	},
);

pageTest("the theme is toggled and remembered", {}, async (page) => {
	const background = () =>
		page.evaluate(() => getComputedStyle(document.body).backgroundColor);
	const light = await background();
	await page.keyboard.press("t");
	assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), "dark");
	const dark = await background();
	assert.notEqual(dark, light);
	await page.reload();
	await page.waitForSelector(".sites tbody tr");
	assert.equal(await background(), dark);
	await page.click('[aria-label="Theme: dark"]');
	await page.click('[aria-label="Theme: light"]');
	assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), undefined);
	await page.emulateMedia({ colorScheme: "dark" });
	assert.equal(await background(), dark);
});

pageTest("hostile names are text", { scene: "hostile" }, async (page) => {
	await page.locator(".sites .rowname").first().click();
	await page.waitForSelector(".detail");
	assert.equal(await page.evaluate(() => window.pwned), undefined);
	assert.equal(await page.locator("main script, main img, main [onload]").count(), 0);
	const body = await page.locator("body").innerText();
	assert.ok(body.includes("<script>window.pwned=1</script>"));
	assert.ok(body.includes("evil\\u202etxt.exe"), "direction overrides are spelled out");
	assert.ok(!/[\u202a-\u202e\u2066-\u2069]/.test(body));
	const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
	assert.ok(wide <= 0, `${wide} px too wide`);
});

pageTest(
	"the view comes back on reload",
	{
		hash: "#process=4217&sort=alloc_bytes&order=asc&filter=lp&kind=all&limit=50&since=start&tsort=alloc_count",
	},
	async (page, mock) => {
		const check = async () => {
			const query = last(mock, "/api/v1/sites");
			assert.deepEqual(query, {
				process: "4217",
				since: "start",
				sort: "alloc_bytes",
				order: "asc",
				kind: "all",
				limit: "50",
				filter: "lp",
			});
			assert.equal(last(mock, "/api/v1/threads").sort, "alloc_count");
			assert.equal(await page.inputValue("#site-filter"), "lp");
		};
		await check();
		await page.reload();
		await page.waitForSelector(".sites tbody tr");
		await check();
	},
);

pageTest(
	"a URL full of nonsense gives the default view",
	{ hash: "#sort=<b>&kind=%00&limit=1e9&process=-1&thread=x&order=up" },
	async (page, mock) => {
		assert.deepEqual(last(mock, "/api/v1/sites"), {
			process: "4217",
			since: "second",
			sort: "allocs_per_s",
			order: "desc",
			kind: "alloc",
			limit: "100",
		});
	},
);

pageTest(
	"pause stops the asking; a choice while paused is still answered",
	{},
	async (page, mock) => {
		await page.keyboard.press("p");
		assert.equal(await page.locator(".status").innerText(), "paused");
		await page.waitForTimeout(300);
		const before_ = mock.requests.length;
		await page.waitForTimeout(2200);
		assert.equal(mock.requests.length, before_);
		await page.click(".sites th.col-bytes button");
		await until("one round", () => last(mock, "/api/v1/sites").sort === "alloc_bytes");
		await page.waitForTimeout(1500);
		assert.equal(mock.requests.length, before_ + 4);
		await page.click(".pause");
		await until("live", () => mock.requests.length > before_ + 8);
	},
);

pageTest("a hidden tab asks nothing", {}, async (page, mock) => {
	const hide = (hidden) =>
		page.evaluate((is) => {
			Object.defineProperty(document, "hidden", {
				configurable: true,
				get: () => is,
			});
			document.dispatchEvent(new Event("visibilitychange"));
		}, hidden);
	await hide(true);
	await page.waitForTimeout(300);
	const before_ = mock.requests.length;
	await page.waitForTimeout(2200);
	assert.equal(mock.requests.length, before_);
	await hide(false);
	await until("it goes on", () => mock.requests.length > before_);
});

pageTest("a slow server is never asked twice at a time", {}, async (page, mock) => {
	mock.delay = 700;
	mock.atOnce = 0;
	const before_ = mock.requests.length;
	await page.waitForTimeout(5000);
	assert.equal(mock.atOnce, 1);
	assert.ok(mock.requests.length - before_ <= 8);
	assert.equal(await page.locator(".status").innerText(), "live");
});

pageTest("rows keep their places under the pointer", {}, async (page) => {
	await page.locator(".sites tbody tr").nth(3).hover();
	const order = await names(page);
	await page.waitForTimeout(3500);
	assert.deepEqual(await names(page), order);
});

pageTest("problems and drops are said", { scene: "noticed" }, async (page) => {
	await page.click(".notices summary");
	const text = await page.locator(".notices").innerText();
	assert.match(text, /4 notices/);
	assert.match(text, /address already in use/);
	assert.match(text, /12,345 calls without a site/);
	assert.doesNotMatch(text, /modules/);
});

pageTest("the help sheet opens, closes and switches single keys off", {}, async (page) => {
	await page.keyboard.press("?");
	await page.waitForSelector("dialog[open]");
	await page.click("dialog input[type=checkbox]");
	await page.keyboard.press("Escape");
	await until("closed", async () => (await page.locator("dialog[open]").count()) === 0);
	await page.keyboard.press("p");
	assert.equal(await page.locator(".status").innerText(), "live");
});

pageTest(
	"10,000 sites and 2,000 threads stay usable",
	{ scene: "overfull", hash: "#limit=1000" },
	async (page, mock) => {
		assert.equal(await page.getAttribute(".sites table", "aria-rowcount"), "1001");
		assert.ok((await page.locator(".sites tbody tr").count()) < 120, "only the rows in view are drawn");
		await page.evaluate(() => document.querySelector(".sites .scroll").scrollTo(0, 1e6));
		await page.waitForSelector('.sites tr[aria-rowindex="1001"]');
		await page.keyboard.press("/");
		assert.match(
			await page.locator(".sites .shown").innerText(),
			/top 1,000 of 10,000/,
		);
		assert.match(await page.locator(".threads .shown").innerText(), /top 250 of 2,001/);
		await page.fill("#site-filter", "handler_9999");
		await until("one row", async () => (await names(page)).length === 1);
		assert.equal(last(mock, "/api/v1/sites").filter, "handler_9999");
	},
);

for (const width of [320, 390, 768]) {
	for (const scene of ["normal", "overfull", "hostile", "empty"]) {
		pageTest(
			`no sideways scrolling of the page: ${scene} at ${width} px`,
			{ scene, width, ready: scene === "empty" ? ".card" : ".sites tbody tr" },
			async (page) => {
				const wide = await page.evaluate(
					() =>
						document.documentElement.scrollWidth -
						document.documentElement.clientWidth,
				);
				assert.ok(wide <= 0, `${wide} px too wide`);
			},
		);
	}
}
