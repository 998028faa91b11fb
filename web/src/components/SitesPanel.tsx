// SPDX-License-Identifier: MIT
/* SitesPanel - the allocation sites with what narrows them: kind, text, thread, process, limit. */
import { exact } from "../format";
import { changeView, sites, threads, view } from "../store";
import { LIMITS, type Kind, type SiteSort } from "../view";
import { FilterBox } from "./FilterBox";
import { Icon } from "./Icon";
import { Name } from "./Name";
import { Segmented } from "./Segmented";
import { SitesTable } from "./SitesTable";

const KIND_CHOICES = [
	{ value: "alloc", label: "allocate", title: "sites that allocate" },
	{ value: "free", label: "free", title: "sites that free" },
	{ value: "all", label: "all", title: "both" },
] as const;

/* A sort that the columns of the next kind do not show would be invisible. */
function sortFor(kind: Kind, sort: SiteSort): SiteSort {
	const ofFrees = sort.startsWith("free");
	if (kind === "free" && !ofFrees && sort !== "name") return "frees_per_s";
	return kind === "alloc" && ofFrees ? "allocs_per_s" : sort;
}

function Chip({ label, text, onDrop }: { label: string; text: string; onDrop: () => void }) {
	return (
		<button
			type="button"
			class="chip"
			onClick={onDrop}
			title={`Show all again, not only ${label} ${text}`}
		>
			{label} <Name text={text} title={false} /> <Icon name="close" />
		</button>
	);
}

function Chips() {
	const { thread, member } = view.value;
	const named = threads.value?.threads.find((t) => t.tid === thread && t.role === "thread");
	return (
		<>
			{thread !== null ? (
				<Chip
					label="thread"
					text={
						named?.name
							? `${named.name} ${thread}`
							: String(thread)
					}
					onDrop={() => changeView({ thread: null }, true)}
				/>
			) : null}
			{member !== null ? (
				<Chip
					label="process"
					text={String(member)}
					onDrop={() => changeView({ member: null }, true)}
				/>
			) : null}
		</>
	);
}

function Shown() {
	const answer = sites.value;
	if (!answer) return null;
	const { filter, thread, member } = view.value;
	const shown = answer.sites.length;
	const what = filter || thread || member ? " that match" : "";
	return (
		<span class="muted shown">
			{shown < answer.matched ? `top ${exact(shown)} of ` : ""}
			{exact(answer.matched)}
			{what}
		</span>
	);
}

export function SitesPanel() {
	const v = view.value;
	return (
		<section class="panel sites" aria-labelledby="sites-title">
			<header>
				<h2 id="sites-title">Allocation sites</h2>
				<Shown />
				<Chips />
				<span class="grow" />
				<FilterBox
					id="site-filter"
					label="Filter by function or module"
					value={v.filter}
					onChange={(filter) => changeView({ filter })}
				/>
				<Segmented
					label="Kind of site"
					value={v.kind}
					choices={KIND_CHOICES}
					onChoose={(kind) =>
						changeView({ kind, sort: sortFor(kind, v.sort) })
					}
				/>
				<label class="limit">
					<span>rows</span>
					<select
						value={String(v.limit)}
						onChange={(event) =>
							changeView({
								limit: Number(
									event.currentTarget.value,
								),
							})
						}
					>
						{LIMITS.map((limit) => (
							<option key={limit} value={String(limit)}>
								{limit}
							</option>
						))}
					</select>
				</label>
			</header>
			<SitesTable />
		</section>
	);
}
