// SPDX-License-Identifier: MIT
//
// wait.mjs - waiting for conditions, never for time to pass.

export function sleep(ms) {
	return new Promise((done) => setTimeout(done, ms));
}

// Asks `condition` again and again until it answers something true, and gives that back. An
// exception of it counts as "not yet"; the last one is told when the time is over.
export async function waitFor(what, condition, timeoutMs = 10000, everyMs = 20) {
	const end = performance.now() + timeoutMs;
	let last;

	for (;;) {
		try {
			const answer = await condition();
			if (answer)
				return answer;
			last = undefined;
		} catch (error) {
			last = error;
		}
		if (performance.now() > end)
			throw new Error(`${what}: not within ${timeoutMs} ms`, { cause: last });
		await sleep(everyMs);
	}
}

// The opposite: `condition` must hold all the time.
export async function holdsFor(what, condition, ms, everyMs = 50) {
	const end = performance.now() + ms;

	while (performance.now() < end) {
		if (!(await condition()))
			throw new Error(`${what}: no longer so`);
		await sleep(everyMs);
	}
}
