// SPDX-License-Identifier: MIT
/*
 * browser.mjs - headless Chromium for the tests: pages that remember what went wrong in them.
 *
 * HEAPTAP_CHROMIUM names another executable. Without --no-sandbox it does not start as root.
 */
import { chromium } from "playwright-core";

export function launch() {
	return chromium.launch({
		executablePath: process.env.HEAPTAP_CHROMIUM || "/usr/bin/chromium",
		headless: true,
		args: [
			"--no-sandbox",
			"--disable-gpu",
			"--disable-quic",
			"--no-first-run",
			"--disable-background-networking",
			"--disable-component-update",
			"--disable-sync",
		],
	});
}

/* `page.troubles`: console errors, exceptions and reports of the content security policy. */
export async function openPage(
	browser,
	url,
	{ width = 1440, height = 900, scheme = "light" } = {},
) {
	const context = await browser.newContext({
		viewport: { width, height },
		colorScheme: scheme,
		reducedMotion: "reduce",
	});
	const page = await context.newPage();
	page.troubles = [];
	page.on("console", (message) => {
		// The network's own messages for a server that is away or refuses: those tests want them.
		if (message.type() === "error" && !/Failed to load resource/.test(message.text()))
			page.troubles.push(message.text());
	});
	page.on("pageerror", (error) => page.troubles.push(String(error)));
	await page.addInitScript(() => {
		document.addEventListener("securitypolicyviolation", (event) =>
			console.error(
				`CSP: ${event.violatedDirective} ${event.blockedURI} ${event.sample}`,
			),
		);
	});
	await page.goto(url);
	return page;
}
