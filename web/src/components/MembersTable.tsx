// SPDX-License-Identifier: MIT
/* MembersTable - the processes of one family (a prefork server's workers); choosing one narrows all. */
import { useSignal } from "@preact/signals";
import { changeView, family, view } from "../store";
import type { Member } from "../types";
import type { Order } from "../view";
import { DataTable, type Column } from "./DataTable";
import { Name } from "./Name";
import { Num } from "./Num";

type MemberSort =
	"allocs_per_s" | "bytes_per_s" | "alloc_count" | "live_bytes" | "rss_bytes" | "name";

function MemberName({ member }: { member: Member }) {
	return (
		<button type="button" class="rowname">
			<Name text={member.name || "(no name)"} />
			<span class="sub">
				pid {member.pid} · {member.threads} thr.
				{member.ended ? <span class="tag">ended</span> : null}
			</span>
		</button>
	);
}

const COLUMNS: readonly Column<Member, MemberSort>[] = [
	{
		id: "name",
		label: "Process",
		title: "name and process id",
		sort: "name",
		text: true,
		render: (m) => <MemberName member={m} />,
	},
	{
		id: "rate",
		label: "Objects/s",
		title: "blocks allocated per second",
		sort: "allocs_per_s",
		render: (m) => <Num value={m.allocs_per_s} />,
	},
	{
		id: "brate",
		label: "Bytes/s",
		title: "bytes asked for per second",
		sort: "bytes_per_s",
		render: (m) => <Num value={m.bytes_per_s} as="bytes" />,
	},
	{
		id: "objects",
		label: "Objects",
		title: "blocks allocated since start",
		sort: "alloc_count",
		render: (m) => <Num value={m.alloc_count} />,
	},
	{
		id: "live",
		label: "Live",
		title: "bytes allocated and not freed by this process; what it inherited by fork counts where it is freed",
		sort: "live_bytes",
		render: (m) => <Num value={m.live_bytes} as="bytes" />,
	},
	{
		id: "rss",
		label: "RSS",
		title: "memory in RAM",
		sort: "rss_bytes",
		render: (m) => <Num value={m.rss_bytes} as="bytes" />,
	},
];

/* The server sends members unsorted and whole: a family has few. */
function sorted(members: readonly Member[], sort: MemberSort, order: Order): Member[] {
	const sign = order === "desc" ? -1 : 1;
	return [...members].sort((a, b) => {
		const by =
			sort === "name"
				? a.name.localeCompare(b.name)
				: (a[sort] ?? 0) - (b[sort] ?? 0);
		return sign * by || a.pid - b.pid;
	});
}

export function MembersTable() {
	const sort = useSignal<MemberSort>("allocs_per_s");
	const order = useSignal<Order>("desc");
	const member = view.value.member;
	return (
		<DataTable
			caption="Processes"
			columns={COLUMNS}
			rows={sorted(family.value?.members ?? [], sort.value, order.value)}
			rowKey={(m) => String(m.pid)}
			sort={sort.value}
			order={order.value}
			onSort={(nextSort, nextOrder) => {
				sort.value = nextSort;
				order.value = nextOrder;
			}}
			selected={member === null ? null : String(member)}
			onSelect={(m) =>
				changeView(
					{ member: member === m.pid ? null : m.pid, thread: null },
					true,
				)
			}
			rowClass={(m) => (m.ended ? "over" : "")}
			empty="No process."
		/>
	);
}
