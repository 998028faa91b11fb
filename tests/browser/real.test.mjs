// SPDX-License-Identifier: MIT
/*
 * real.test.mjs - the page as heaptap-server itself serves it. HEAPTAP_URL is its address with a
 * program under load behind it ("http://127.0.0.1:4327/", or with "#token=..."); skipped without.
 */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { launch, openPage } from "./browser.mjs";

const url = process.env.HEAPTAP_URL;
const skip = url ? false : "HEAPTAP_URL is not set";
let browser;

before(async () => {
	browser = url ? await launch() : null;
});
after(() => browser?.close());

test("the real server's page is live", { skip, timeout: 60000 }, async () => {
	const page = await openPage(browser, url);
	await page.waitForSelector(".sites tbody tr");
	const read = () => page.locator(".figures .value .num").evaluateAll((all) => all.map((e) => e.title).join());
	const first = await read();
	await page.waitForFunction((old) => [...document.querySelectorAll(".figures .value .num")].map((e) => e.title).join() !== old, first);
	assert.ok((await page.locator(".sites .rowname").first().innerText()).length > 0);
	assert.deepEqual(page.troubles, []);
});

test("every order and kind that the page offers is one that the server knows", { skip, timeout: 120000 }, async () => {
	const page = await openPage(browser, url);
	const bad = [];
	page.on("response", (response) => {
		if (response.status() >= 400)
			bad.push(`${response.status()} ${response.url()}`);
	});
	await page.waitForSelector(".sites tbody tr");
	for (const kind of ["alloc", "free", "all"]) {
		await page.locator(".sites .segmented button").nth(["alloc", "free", "all"].indexOf(kind)).click();
		for (const header of await page.locator(".sites th button").all()) {
			await header.click();
			await page.waitForTimeout(250);
		}
	}
	for (const header of await page.locator(".threads th button").all()) {
		await header.click();
		await page.waitForTimeout(250);
	}
	await page.locator(".threads button.rowname").first().click();
	await page.waitForTimeout(500);
	await page.click('.topbar .segmented button:has-text("since start")');
	await page.waitForTimeout(500);
	assert.deepEqual(bad, []);
	assert.deepEqual(page.troubles, []);
});
