// SPDX-License-Identifier: MIT
/* ThreadsPanel - who allocates: threads, and the processes of a family that has forked. */
import { useSignal } from "@preact/signals";
import { exact } from "../format";
import { changeView, family, threads, view } from "../store";
import { FilterBox } from "./FilterBox";
import { MembersTable } from "./MembersTable";
import { Segmented } from "./Segmented";
import { ThreadsTable } from "./ThreadsTable";

function Shown() {
	const answer = threads.value;
	if (!answer) return null;
	const shown = answer.threads.length;
	return (
		<span class="muted shown">
			{shown < answer.matched
				? `top ${shown} of ${exact(answer.matched)}`
				: exact(answer.matched)}
		</span>
	);
}

export function ThreadsPanel() {
	const tab = useSignal<"threads" | "processes">("threads");
	const members = family.value?.members.length ?? 0;
	const forked = members > 1;
	const processes = forked && tab.value === "processes";
	const choices = [
		{ value: "threads", label: "Threads" },
		{ value: "processes", label: `Processes ${members}` },
	] as const;
	return (
		<section class="panel threads" aria-labelledby="threads-title">
			<header>
				<h2 id="threads-title" class={forked ? "hidden" : ""}>
					{processes ? "Processes" : "Threads"}
				</h2>
				{forked ? (
					<Segmented
						label="Threads or processes"
						value={tab.value}
						choices={choices}
						onChoose={(v) => (tab.value = v)}
					/>
				) : null}
				{processes ? null : <Shown />}
				<span class="grow" />
				{processes ? null : (
					<FilterBox
						id="thread-filter"
						label="Filter by name"
						value={view.value.threadFilter}
						onChange={(threadFilter) =>
							changeView({ threadFilter })
						}
					/>
				)}
			</header>
			{processes ? <MembersTable /> : <ThreadsTable />}
		</section>
	);
}
