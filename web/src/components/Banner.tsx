// SPDX-License-Identifier: MIT
/* Banner - what stands between the user and live figures: ended, server gone, refused. */
import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import { clock } from "../format";
import { chooseProcess, link, retryNow, successor, summary } from "../store";
import type { Summary } from "../types";
import { Icon } from "./Icon";
import { Name } from "./Name";

function Bar({ kind, children }: { kind: "ended" | "down"; children: ComponentChildren }) {
	return (
		<section class={`banner b-${kind}`} aria-label="State of the recording">
			<Icon name="warn" />
			<p>{children}</p>
		</section>
	);
}

function Who({ s }: { s: Summary }) {
	return (
		<>
			<b>
				<Name text={s.name} />
			</b>{" "}
			({s.pid})
		</>
	);
}

function Countdown({ until }: { until: number }) {
	const left = useSignal(0);
	useEffect(() => {
		const update = () =>
			(left.value = Math.max(0, Math.ceil((until - Date.now()) / 1000)));
		update();
		const timer = setInterval(update, 250);
		return () => clearInterval(timer);
	}, [until]);
	return (
		<span class="num">
			{left.value > 0 ? `Next try in ${left.value} s.` : "Trying…"}
		</span>
	);
}

function Ended({ s }: { s: Summary }) {
	const next = successor.value;
	const gone = link.value.state === "down";
	return (
		<Bar kind="ended">
			<Who s={s} /> has ended. What you see is where it stopped, complete to its
			last call.
			{gone
				? " The server has ended too, as no process was left to watch."
				: null}
			{next ? (
				<>
					{" "}
					<button
						type="button"
						onClick={() => chooseProcess(next.pid)}
					>
						Go to <Name text={next.name} /> {next.pid}, running
					</button>
				</>
			) : null}
		</Bar>
	);
}

export function Banner() {
	const now = link.value;
	const s = summary.value;
	if (s?.ended) return <Ended s={s} />;
	if (now.state === "down") {
		return (
			<Bar kind="down">
				No answer from the server since{" "}
				<span class="num">{clock(now.since * 1e6)}</span> ({now.message}).{" "}
				{s ? "The figures below are the last known. " : null}
				<Countdown until={now.retryAt} />{" "}
				<button type="button" onClick={retryNow}>
					Try now
				</button>
			</Bar>
		);
	}
	if (now.state === "refused")
		return (
			<Bar kind="down">
				The server refused the request: <Name text={now.message} />
			</Bar>
		);
	return null;
}
