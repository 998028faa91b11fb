// SPDX-License-Identifier: MIT
/* accessibility.test.mjs - axe-core finds nothing against WCAG 2.2 AA, in both themes. */
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { readFile } from "node:fs/promises";
import { after, before, test } from "node:test";
import { launch, openPage } from "./browser.mjs";
import { createMock } from "./mock_server.mjs";

const TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
const axe = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
let browser;

before(async () => {
	browser = await launch();
});
after(() => browser.close());

const VIEWS = {
	normal: {},
	"normal, narrow": { width: 390 },
	detail: { act: (page) => page.locator(".sites .rowname").nth(2).click() },
	help: { act: (page) => page.keyboard.press("?") },
	picker: { act: (page) => page.click(".picker .current") },
	frees: { act: (page) => page.click('.sites .segmented button:has-text("free")') },
	processes: {
		scene: "prefork",
		act: (page) => page.click('.threads .segmented button:has-text("Processes")'),
	},
	noticed: { scene: "noticed" },
	ended: { scene: "ended" },
	empty: { scene: "empty", ready: ".card" },
	locked: { token: "cafe", ready: ".card" },
};

for (const scheme of ["light", "dark"]) {
	for (const [
		name,
		{ scene = "normal", token = null, ready = ".sites tbody tr", act, ...options },
	] of Object.entries(VIEWS)) {
		test(`no finding: ${name}, ${scheme}`, { timeout: 60000 }, async () => {
			const mock = await createMock(scene);
			mock.token = token;
			const page = await openPage(browser, mock.url, { ...options, scheme });
			await page.waitForSelector(ready);
			await act?.(page);
			await page.waitForTimeout(300);
			await page.evaluate(axe);
			const { violations } = await page.evaluate(
				(tags) =>
					window.axe.run(document, {
						runOnly: tags,
						resultTypes: ["violations"],
					}),
				TAGS,
			);
			await page.context().close();
			await mock.down();
			const findings = violations.map(
				(v) =>
					`${v.id}: ${v.help}\n` +
					v.nodes
						.slice(0, 4)
						.map(
							(n) =>
								`  ${n.target}: ${n.failureSummary.replaceAll("\n", " ")}`,
						)
						.join("\n"),
			);
			assert.equal(findings.join("\n"), "");
		});
	}
}
