// SPDX-License-Identifier: MIT
/* ProcessPicker - which family to look at: a button that opens the list of Family. */
import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { count, plural, text } from "../format";
import { chooseProcess, processes, summary } from "../store";
import type { Family } from "../types";
import { Icon } from "./Icon";
import { Name } from "./Name";

function facts(f: Family): string {
	const parts = [`pid ${f.pid}`];
	if (f.members.length > 1) parts.push(plural(f.processes, "process", "processes"));
	parts.push(plural(f.threads, "thread"));
	return parts.join(" · ");
}

function Entry({ f, current, onChoose }: { f: Family; current: boolean; onChoose: () => void }) {
	return (
		<li>
			<button
				type="button"
				class={"family" + (f.ended ? " over" : "")}
				aria-current={current}
				onClick={onChoose}
			>
				<span class="who">
					<Name text={f.name} />{" "}
					{f.ended ? <span class="tag">ended</span> : null}
				</span>
				<span class="num rate">
					{f.ended ? "" : `${text(count(f.allocs_per_s))} objects/s`}
				</span>
				<span class="sub what">{facts(f)}</span>
				<span class="sub line">
					<Name text={f.cmdline} />
				</span>
			</button>
		</li>
	);
}

function moveFocus(event: KeyboardEvent): void {
	const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
	if (!step) return;
	const buttons = [
		...(event.currentTarget as HTMLElement).querySelectorAll<HTMLElement>("button"),
	];
	const at = buttons.indexOf(document.activeElement as HTMLElement);
	event.preventDefault();
	buttons[(at + step + buttons.length) % buttons.length]?.focus();
}

export function ProcessPicker() {
	const open = useSignal(false);
	const root = useRef<HTMLDivElement>(null);
	const families = processes.value?.families ?? [];
	const s = summary.value;
	useEffect(() => {
		if (!open.value) return;
		const outside = (event: Event) => {
			if (!root.current?.contains(event.target as Node)) open.value = false;
		};
		document.addEventListener("pointerdown", outside);
		document.addEventListener("focusin", outside);
		return () => {
			document.removeEventListener("pointerdown", outside);
			document.removeEventListener("focusin", outside);
		};
	}, [open.value]);
	const shut = () => {
		open.value = false;
		root.current?.querySelector("button")?.focus();
	};
	return (
		<div
			class="picker"
			ref={root}
			onKeyDown={(event) => {
				moveFocus(event);
				if (event.key === "Escape" && open.value) {
					event.preventDefault();
					shut();
				}
			}}
		>
			<button
				type="button"
				class="current"
				aria-expanded={open.value}
				disabled={families.length === 0}
				onClick={() => (open.value = !open.value)}
			>
				<span class="hidden">Process </span>
				{s ? (
					<>
						<Name text={s.name} />{" "}
						<span class="muted num">{s.pid}</span>
					</>
				) : (
					<span class="muted">no process</span>
				)}
				{families.length > 1 ? (
					<span
						class="tag"
						title={`${families.length} to choose from`}
					>
						{families.length}
					</span>
				) : null}
				<Icon name="down" />
			</button>
			{open.value ? (
				<ul class="menu panel" aria-label="Processes">
					{families.map((f) => (
						<Entry
							key={f.id}
							f={f}
							current={f.id === s?.id}
							onChoose={() => {
								chooseProcess(f.pid);
								shut();
							}}
						/>
					))}
				</ul>
			) : null}
		</div>
	);
}
