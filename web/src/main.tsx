// SPDX-License-Identifier: MIT
/*
 * main.tsx - takes token and view out of the URL, starts polling, mounts the page.
 */
import { render } from "preact";
import { takeToken } from "./api";
import { App } from "./components/App";
import { startKeys } from "./keys";
import { startPolling } from "./poll";
import { startPrefs } from "./prefs";
import { readView } from "./store";

function openHash(): void {
	const hash = takeToken(location.hash);
	if (hash !== location.hash)
		window.history.replaceState(null, "", location.pathname + location.search + hash);
	readView(hash);
}

startPrefs();
openHash();
window.addEventListener("popstate", openHash); // also fired when the hash is edited by hand
startKeys();
startPolling();
render(<App />, document.getElementById("app")!);
