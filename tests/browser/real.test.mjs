// SPDX-License-Identifier: MIT
/*
 * real.test.mjs - the page as heaptap-server itself serves it: to the browser of the same user, with
 * HEAPTAP_BUILD the build tree to take it from, or HEAPTAP_URL the address of one that runs with a
 * program under load behind it ("http://127.0.0.1:4327/", or with "#token=..."). Skipped without.
 */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { launch, openPage } from "./browser.mjs";
import { startReal } from "./real_server.mjs";

const { HEAPTAP_URL: given, HEAPTAP_BUILD: build } = process.env;
const skip = given || build ? false : "neither HEAPTAP_URL nor HEAPTAP_BUILD is set";
let browser;
let real = null;

before(async () => {
	if (skip) return;
	if (!given) real = await startReal(build);
	browser = await launch();
});
after(async () => {
	await browser?.close();
	await real?.close();
});

async function open() {
	const page = await openPage(browser, given || real.url);
	page.refusals = [];
	page.on("response", (response) => {
		if (response.status() >= 400)
			page.refusals.push(`${response.status()} ${response.url()}`);
	});
	await page.waitForSelector(".sites tbody tr");
	return page;
}

async function close(page) {
	assert.deepEqual(page.refusals, []);
	assert.deepEqual(page.troubles, []);
	await page.context().close();
}

test("the page is live", { skip, timeout: 60000 }, async () => {
	const page = await open();
	const read = () =>
		page
			.locator(".figures .value .num")
			.evaluateAll((all) => all.map((e) => e.title).join());
	await page.waitForFunction(
		(old) =>
			[...document.querySelectorAll(".figures .value .num")]
				.map((e) => e.title)
				.join() !== old,
		await read(),
	);
	assert.ok((await page.locator(".sites .rowname").first().innerText()).length > 0);
	await close(page);
});

test(
	"every order, kind and filter that the page offers is one that the server takes",
	{ skip, timeout: 120000 },
	async () => {
		const page = await open();
		for (const kind of await page.locator(".sites .segmented button").all()) {
			await kind.click();
			for (const header of await page.locator(".sites th button").all()) {
				await header.click();
				await page.waitForTimeout(250);
			}
		}
		for (const header of await page.locator(".threads th button").all()) {
			await header.click();
			await page.waitForTimeout(250);
		}
		await page.fill("#site-filter", "py & <b>%");
		await page.waitForTimeout(600);
		await page.press("#site-filter", "Escape");
		await page.locator(".threads button.rowname").first().click();
		await page.click('.topbar .segmented button:has-text("since start")');
		await page.waitForTimeout(1500);
		await close(page);
	},
);

test(
	"the program ends, then its server: the page keeps the figures and says so",
	{ skip: skip || (given ? "not our program" : false), timeout: 60000 },
	async () => {
		const page = await open();
		real.kill();
		await page.waitForSelector(".banner.b-ended", { timeout: 10000 });
		await page.waitForFunction(
			() =>
				document
					.querySelector(".banner")
					.innerText.includes("server has ended too"),
			null,
			{ timeout: 20000 },
		);
		assert.ok((await page.locator(".sites tbody tr").count()) > 3);
		await close(page);
	},
);
