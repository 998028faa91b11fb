// SPDX-License-Identifier: MIT
/* ThreadsTable - Thread rows; choosing one narrows the sites to what it called. */
import { changeView, family, threads, view } from "../store";
import type { Thread } from "../types";
import type { ThreadSort } from "../view";
import { DataTable, type Column } from "./DataTable";
import { Name } from "./Name";
import { Num } from "./Num";

const ROLES = {
	thread: "",
	ended: "sum of ended threads",
	shared: "threads without a row of their own",
} as const;

function title(thread: Thread): string {
	if (thread.role === "ended") return "ended threads";
	if (thread.role === "shared") return "other threads";
	return thread.name || "(no name)";
}

function ThreadName({ thread }: { thread: Thread }) {
	const forked = (family.value?.members.length ?? 0) > 1;
	const one = thread.role === "thread";
	const lines = (
		<>
			<Name text={title(thread)} />
			<span class="sub">
				{one ? `tid ${thread.tid}` : "sum"}
				{thread.pid && (forked || !one) ? ` · pid ${thread.pid}` : ""}
				{one && thread.ended ? <span class="tag">ended</span> : null}
			</span>
		</>
	);
	return one ? (
		<button type="button" class="rowname">
			{lines}
		</button>
	) : (
		<span class="rowname" title={ROLES[thread.role]}>
			{lines}
		</span>
	);
}

const COLUMNS: readonly Column<Thread, ThreadSort>[] = [
	{
		id: "name",
		label: "Thread",
		title: "name and thread id",
		sort: "name",
		text: true,
		render: (t) => <ThreadName thread={t} />,
	},
	{
		id: "rate",
		label: "Objects/s",
		title: "blocks allocated per second",
		sort: "allocs_per_s",
		render: (t) => <Num value={t.allocs_per_s} />,
	},
	{
		id: "brate",
		label: "Bytes/s",
		title: "bytes asked for per second",
		sort: "bytes_per_s",
		render: (t) => <Num value={t.bytes_per_s} as="bytes" />,
	},
	{
		id: "objects",
		label: "Objects",
		title: "blocks allocated since start",
		sort: "alloc_count",
		render: (t) => <Num value={t.alloc_count} />,
	},
	{
		id: "bytes",
		label: "Bytes",
		title: "bytes asked for since start",
		sort: "alloc_bytes",
		render: (t) => <Num value={t.alloc_bytes} as="bytes" />,
	},
	{
		id: "net",
		label: "Net",
		title: "bytes it allocated less bytes it freed: below zero where it frees what others allocate",
		sort: "net_bytes",
		render: (t) => <Num value={t.net_bytes} as="bytes" />,
	},
];

function rowKey(thread: Thread): string {
	return `${thread.role}-${thread.pid}-${thread.tid}`;
}

function choose(thread: Thread): void {
	if (thread.role !== "thread") return;
	changeView({ thread: view.value.thread === thread.tid ? null : thread.tid }, true);
}

export function ThreadsTable() {
	const v = view.value;
	const rows = threads.value?.threads ?? [];
	const chosen = rows.find((t) => t.role === "thread" && t.tid === v.thread);
	return (
		<DataTable
			caption="Threads"
			columns={COLUMNS}
			rows={rows}
			rowKey={rowKey}
			sort={v.threadSort}
			order={v.threadOrder}
			onSort={(threadSort, threadOrder) =>
				changeView({ threadSort, threadOrder })
			}
			selected={chosen ? rowKey(chosen) : null}
			onSelect={choose}
			rowClass={(t) => (t.role !== "thread" ? "sum" : t.ended ? "over" : "")}
			empty={threads.value ? "Nothing matches." : "Loading…"}
		/>
	);
}
