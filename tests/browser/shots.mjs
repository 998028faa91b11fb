// SPDX-License-Identifier: MIT
/* shots.mjs - pictures of every scene into a folder, to be looked at: node shots.mjs OUT [SCENE...] */
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { launch, openPage } from "./browser.mjs";
import { createMock } from "./mock_server.mjs";

const out = process.argv[2] ?? "shots";
const wanted = process.argv.slice(3);
const SCENES = [
	"normal",
	"prefork",
	"empty",
	"ended",
	"restarted",
	"hostile",
	"noticed",
	"overfull",
	"disconnected",
	"locked",
	"detail",
];
const SIZES = [
	["wide", 1440, 900],
	["narrow", 390, 844],
];

async function shoot(browser, name, scheme, [size, width, height]) {
	const mock = await createMock(
		SCENES.includes(name) && !["disconnected", "locked", "detail"].includes(name)
			? name
			: "normal",
	);
	mock.begun -= 1000;
	if (name === "locked") mock.token = "secret";
	const page = await openPage(browser, mock.url, { width, height, scheme });
	await page.waitForTimeout(name === "normal" ? 12000 : 3500);
	if (name === "detail") {
		await page.locator(".sites .rowname").nth(4).click();
		await page.waitForTimeout(1200);
	}
	if (name === "disconnected") {
		await mock.down();
		await page.waitForTimeout(1800);
	}
	await page.screenshot({ path: join(out, `${name}-${scheme}-${size}.png`), fullPage: true });
	if (page.troubles.length) console.log(name, page.troubles);
	await page.context().close();
	if (name !== "disconnected") await mock.down();
}

await mkdir(out, { recursive: true });
const browser = await launch();
for (const name of wanted.length ? wanted : SCENES)
	await Promise.all(
		["light", "dark"].flatMap((scheme) =>
			SIZES.map((size) => shoot(browser, name, scheme, size)),
		),
	);
await browser.close();
