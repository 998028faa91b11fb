// SPDX-License-Identifier: MIT
/*
 * Placeholder - the page when there are no figures to show: nothing runs, the process is unknown,
 * the token is missing, no answer yet. Each says what to do.
 */
import type { ComponentChildren } from "preact";
import { useSignal } from "@preact/signals";
import { hasToken, takeToken } from "../api";
import { chooseProcess, link, processes, retryNow, view } from "../store";
import { CopyButton } from "./CopyButton";
import { Name } from "./Name";

function Card({ title, children }: { title: string; children: ComponentChildren }) {
	return (
		<section class="panel card">
			<h2>{title}</h2>
			{children}
		</section>
	);
}

function Command({ text }: { text: string }) {
	return (
		<p class="command-line">
			<code>{text}</code>
			<CopyButton text={text} label="Copy the command" />
		</p>
	);
}

function NoFamily() {
	return (
		<Card title="No process to watch yet">
			<p>
				Start one with heaptap in front of it. It appears here by itself,
				within a second.
			</p>
			<Command text="heaptap run -- redis-server" />
			<p>
				Or set one variable where the service is started, in a unit file or
				a container:
			</p>
			<Command text="LD_PRELOAD='/usr/$LIB/heaptap/libheaptap.so' redis-server" />
			<p class="muted">
				Processes that have begun without it cannot be joined.{" "}
				<code>heaptap ps</code> lists those that are being watched, and
				those where recording failed.
			</p>
		</Card>
	);
}

function NoProcess({ message }: { message: string }) {
	const families = processes.value?.families ?? [];
	return (
		<Card title={`Process ${view.value.process ?? ""} is not being watched`}>
			<p>
				It may have ended a while ago, or never ran with heaptap.{" "}
				<span class="muted">
					<Name text={message} title={false} />
				</span>
			</p>
			{families.length ? <p>Being watched now:</p> : null}
			<ul class="choices">
				{families.map((f) => (
					<li key={f.id}>
						<button
							type="button"
							onClick={() => chooseProcess(f.pid)}
						>
							<Name text={f.name} />{" "}
							<span class="muted num">{f.pid}</span>
							{f.ended ? (
								<span class="tag">ended</span>
							) : null}
						</button>
					</li>
				))}
			</ul>
		</Card>
	);
}

function Locked({ message }: { message: string }) {
	const typed = useSignal("");
	const open = () => {
		takeToken(
			"#" +
				new URLSearchParams({
					token: typed.value.replace(/^.*token=/, "").trim(),
				}).toString(),
		);
		retryNow();
	};
	return (
		<Card
			title={
				hasToken()
					? "The token is not accepted"
					: "This address needs a token"
			}
		>
			<p>
				Others on that machine must not see what your process does. On it,
				as the same user, run
			</p>
			<Command text="heaptap ps" />
			<p>
				and open the address that it prints, with all that follows the{" "}
				<code>#</code>. Or paste it here:
			</p>
			<p class="command-line">
				<input
					type="password"
					aria-label="Token or address"
					placeholder="token or address"
					value={typed.value}
					autocomplete="off"
					onInput={(event) =>
						(typed.value = event.currentTarget.value)
					}
					onKeyDown={(event) => event.key === "Enter" && open()}
				/>
				<button type="button" onClick={open} disabled={!typed.value.trim()}>
					Open
				</button>
			</p>
			<p class="muted">
				The server says: <Name text={message} title={false} />
			</p>
		</Card>
	);
}

export function Placeholder() {
	const now = link.value;
	switch (now.state) {
		case "no_family":
			return <NoFamily />;
		case "no_process":
			return <NoProcess message={now.message} />;
		case "unauthorised":
			return <Locked message={now.message} />;
		case "down":
		case "refused":
			return null; // the banner says it
		default:
			return <p class="loading muted">Loading…</p>;
	}
}
