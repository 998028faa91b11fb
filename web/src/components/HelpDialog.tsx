// SPDX-License-Identifier: MIT
/* HelpDialog - the sheet behind `?`: keys, and what the figures mean. */
import { useEffect, useRef } from "preact/hooks";
import { KEYS } from "../keys";
import { setShortcuts, shortcuts } from "../prefs";
import { helpOpen } from "../store";
import { Icon } from "./Icon";

const WORDS: readonly [string, string][] = [
	[
		"Objects, bytes",
		"blocks allocated, and the bytes asked for. Exact, from the first call on; nothing is sampled here.",
	],
	["Live heap", "bytes given by the allocator less bytes given back."],
	[
		"RSS",
		"memory in RAM, by the kernel. What it has beyond the live heap is code, stacks, caches and gaps of the allocator.",
	],
	[
		"Call site",
		"the instruction that called malloc, operator new and the like; the caller, not a library in between.",
	],
	["Net", "bytes a thread allocated less bytes it freed."],
	["Reallocs", "each also counts as one allocation and one free."],
];

export function HelpDialog() {
	const dialog = useRef<HTMLDialogElement>(null);
	const open = helpOpen.value;
	useEffect(() => {
		if (open) dialog.current?.showModal();
		else dialog.current?.close();
	}, [open]);
	return (
		<dialog
			ref={dialog}
			class="panel help"
			aria-labelledby="help-title"
			onClose={() => (helpOpen.value = false)}
		>
			<header>
				<h2 id="help-title">Help</h2>
				<span class="grow" />
				<button
					type="button"
					class="quiet"
					onClick={() => (helpOpen.value = false)}
					aria-label="Close"
				>
					<Icon name="close" />
				</button>
			</header>
			<div class="body">
				<h3>Keys</h3>
				<dl class="keys">
					{KEYS.map(([key, what]) => (
						<div key={key}>
							<dt>
								<kbd>{key}</kbd>
							</dt>
							<dd>{what}</dd>
						</div>
					))}
				</dl>
				<label class="check">
					<input
						type="checkbox"
						checked={shortcuts.value}
						onChange={(event) =>
							setShortcuts(event.currentTarget.checked)
						}
					/>
					single-key shortcuts
				</label>
				<h3>Words</h3>
				<dl class="words">
					{WORDS.map(([word, what]) => (
						<div key={word}>
							<dt>{word}</dt>
							<dd>{what}</dd>
						</div>
					))}
				</dl>
				<p class="muted">
					The same figures as JSON:{" "}
					<a href="/openapi.json">/openapi.json</a> describes them.
				</p>
			</div>
		</dialog>
	);
}
