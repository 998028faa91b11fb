// SPDX-License-Identifier: MIT
/* TopBar - what is watched, whether it is live, and the controls of the whole page. */
import { cycleTheme, theme } from "../prefs";
import {
	changeView,
	helpOpen,
	paused,
	processes,
	status,
	summary,
	togglePause,
	view,
	type Status,
} from "../store";
import { Icon } from "./Icon";
import { ProcessPicker } from "./ProcessPicker";
import { Segmented } from "./Segmented";

const WORDS: Record<Status, string> = {
	connecting: "connecting",
	live: "live",
	paused: "paused",
	ended: "ended",
	disconnected: "disconnected",
	waiting: "waiting",
	locked: "locked",
};

const SINCE_CHOICES = [
	{ value: "second", label: "last second", title: "rates of the last second" },
	{ value: "start", label: "since start", title: "mean rates since the process started" },
] as const;

function Logo() {
	return (
		<span class="logo">
			<svg viewBox="0 0 16 16" aria-hidden="true" focusable="false">
				<path class="stack" d="M1 12h14v3H1zM1 7.5h9v3H1zM1 3h5v3H1z" />
				<path
					class="drop"
					d="M13 1.5c1.7 2.3 2.5 3.6 2.5 4.7a2.5 2.5 0 0 1-5 0c0-1.1.8-2.4 2.5-4.7z"
				/>
			</svg>
			heaptap
		</span>
	);
}

export function TopBar() {
	const now = status.value;
	const figures = summary.value !== null;
	return (
		<header class={`topbar s-${now}`}>
			<h1>
				<Logo />
			</h1>
			{figures || processes.value?.families.length ? <ProcessPicker /> : null}
			<span class="status">
				<span class="dot" aria-hidden="true" />
				{WORDS[now]}
			</span>
			<span class="grow" />
			{figures ? (
				<span class="since">
					<span class="muted label">Rates</span>
					<Segmented
						label="Rates"
						value={view.value.since}
						choices={SINCE_CHOICES}
						onChoose={(since) => changeView({ since })}
					/>
				</span>
			) : null}
			<button
				type="button"
				class="pause"
				aria-pressed={paused.value}
				onClick={togglePause}
				title={paused.value ? "Resume (p)" : "Pause (p)"}
			>
				<Icon name={paused.value ? "play" : "pause"} />{" "}
				<span class="label">{paused.value ? "Resume" : "Pause"}</span>
			</button>
			<button
				type="button"
				class="quiet"
				onClick={cycleTheme}
				aria-label={`Theme: ${theme.value}`}
				title={`Theme: ${theme.value} (t)`}
			>
				<Icon name={theme.value} />
			</button>
			<button
				type="button"
				class="quiet"
				onClick={() => (helpOpen.value = true)}
				aria-label="Help"
				title="Help (?)"
			>
				<span class="glyph">?</span>
			</button>
		</header>
	);
}
