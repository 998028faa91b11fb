// SPDX-License-Identifier: MIT
/* SitesTable - Site rows; the columns follow the kind of sites in view. */
import { changeView, sites, view } from "../store";
import type { Site } from "../types";
import type { SiteSort } from "../view";
import { DataTable, type Column } from "./DataTable";
import { Name } from "./Name";
import { Num } from "./Num";
import { ShareBar } from "./ShareBar";

type SiteColumn = Column<Site, SiteSort>;

const FREE_KINDS = new Set(["free", "delete", "delete[]"]);

function kindClass(kind: string): string {
	if (FREE_KINDS.has(kind))
		return "k-free";
	return kind === "realloc" ? "k-realloc" : "k-alloc";
}

function SiteName({ site }: { site: Site }) {
	const module = site.module_name ?? site.module ?? "module not known";
	return (
		<button type="button" class="rowname" data-site={site.id}>
			<Name text={site.name} short />
			<span class="sub">
				<span class={`kind ${kindClass(site.kind)}`}>{site.kind}</span>
				<Name text={module} />
			</span>
		</button>
	);
}

type Count = "alloc_count" | "alloc_bytes" | "free_count";

/* The server's share is one of rates: where nothing moves (idle, ended), that of the totals says more. */
function shareOf(rates: number, share: number, site: Site, count: Count): number {
	const total = sites.value!.totals[count];
	return rates > 0 ? share : total > 0 ? site[count] / total : 0;
}

function share(site: Site): number {
	const { totals } = sites.value!;
	const { kind, sort } = view.value;
	if (kind === "free") {
		const ofFrees = site.frees_per_s / totals.frees_per_s;
		return shareOf(totals.frees_per_s, ofFrees, site, "free_count");
	}
	if (byBytes(sort))
		return shareOf(totals.bytes_per_s, site.bytes_share, site, "alloc_bytes");
	return shareOf(totals.allocs_per_s, site.alloc_share, site, "alloc_count");
}

function byBytes(sort: SiteSort): boolean {
	return sort === "bytes_per_s" || sort === "alloc_bytes";
}

const NAME: SiteColumn = {
	id: "name",
	label: "Call site",
	title: "function and offset of the call, its kind and module",
	sort: "name",
	text: true,
	render: (s) => <SiteName site={s} />,
};
const OBJECTS_RATE: SiteColumn = {
	id: "rate",
	label: "Objects/s",
	title: "blocks allocated per second",
	sort: "allocs_per_s",
	render: (s) => <Num value={s.allocs_per_s} />,
};
const BYTES_RATE: SiteColumn = {
	id: "brate",
	label: "Bytes/s",
	title: "bytes asked for per second",
	sort: "bytes_per_s",
	render: (s) => <Num value={s.bytes_per_s} as="bytes" />,
};
const FREES_RATE: SiteColumn = {
	id: "frate",
	label: "Frees/s",
	title: "blocks freed per second",
	sort: "frees_per_s",
	render: (s) => <Num value={s.frees_per_s} />,
};
const OBJECTS: SiteColumn = {
	id: "objects",
	label: "Objects",
	title: "blocks allocated since start",
	sort: "alloc_count",
	render: (s) => <Num value={s.alloc_count} />,
};
const BYTES: SiteColumn = {
	id: "bytes",
	label: "Bytes",
	title: "bytes asked for since start",
	sort: "alloc_bytes",
	render: (s) => <Num value={s.alloc_bytes} as="bytes" />,
};
const MEAN: SiteColumn = {
	id: "mean",
	label: "Mean size",
	title: "bytes per object, since start",
	sort: "mean_bytes",
	render: (s) => (
		<Num value={s.mean_bytes === null ? null : Math.round(s.mean_bytes)} as="bytes" />
	),
};
const REALLOCS: SiteColumn = {
	id: "reallocs",
	label: "Reallocs",
	title: "of these, reallocations of a block",
	sort: "realloc_count",
	render: (s) => <Num value={s.realloc_count} />,
};
const FREES: SiteColumn = {
	id: "frees",
	label: "Frees",
	title: "blocks freed since start",
	sort: "free_count",
	render: (s) => <Num value={s.free_count} />,
};
const FREED: SiteColumn = {
	id: "freed",
	label: "Freed",
	title: "bytes given back since start",
	sort: "free_bytes",
	render: (s) => <Num value={s.free_bytes} as="bytes" />,
};

function shareColumn(): SiteColumn {
	const { kind, sort } = view.value;
	const of = kind === "free" ? "frees" : byBytes(sort) ? "bytes" : "objects";
	return {
		id: "share",
		label: `% of ${of}`,
		title: `part of all ${of} per second; where nothing moves, since start`,
		render: (s) => <ShareBar share={share(s)} />,
	};
}

function columns(): SiteColumn[] {
	switch (view.value.kind) {
		case "free":
			return [NAME, FREES_RATE, shareColumn(), FREES, FREED];
		case "all":
			return [
				NAME,
				OBJECTS_RATE,
				BYTES_RATE,
				FREES_RATE,
				shareColumn(),
				OBJECTS,
				BYTES,
				FREES,
				MEAN,
			];
		default:
			return [
				NAME,
				OBJECTS_RATE,
				BYTES_RATE,
				shareColumn(),
				OBJECTS,
				BYTES,
				MEAN,
				REALLOCS,
			];
	}
}

export function SitesTable() {
	const v = view.value;
	return (
		<DataTable
			caption="Allocation sites"
			columns={columns()}
			rows={sites.value?.sites ?? []}
			rowKey={(site) => site.id}
			sort={v.sort}
			order={v.order}
			onSort={(sort, order) => changeView({ sort, order })}
			selected={v.site}
			onSelect={(site) => changeView({ site: site.id })}
			empty={
				sites.value
					? v.filter || v.thread || v.member
						? "Nothing matches."
						: "No calls yet."
					: "Loading…"
			}
		/>
	);
}
