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

function SiteName({ site }: { site: Site }) {
	const module = site.module_name ?? site.module ?? "module not known";
	return (
		<>
			<button type="button" class="rowname" data-site={site.id}>
				<Name text={site.name} short />
			</button>
			<span class="sub">
				<span class={`kind ${FREE_KINDS.has(site.kind) ? "k-free" : site.kind === "realloc" ? "k-realloc" : "k-alloc"}`}>{site.kind}</span>
				<Name text={module} />
			</span>
		</>
	);
}

type Counter = "allocs_per_s" | "bytes_per_s" | "frees_per_s" | "alloc_count" | "alloc_bytes" | "free_count";

/* Of the rates; where nothing moves (ended, idle), of the totals since start. */
function shareOf(site: Site, rate: Counter, count: Counter): number {
	const totals = sites.value!.totals;
	const by = totals[rate] > 0 ? rate : count;
	return totals[by] > 0 ? site[by] / totals[by] : 0;
}

function share(site: Site): number {
	const v = view.value;
	if (v.kind === "free")
		return shareOf(site, "frees_per_s", "free_count");
	return byBytes(v.sort) ? shareOf(site, "bytes_per_s", "alloc_bytes") : shareOf(site, "allocs_per_s", "alloc_count");
}

function byBytes(sort: SiteSort): boolean {
	return sort === "bytes_per_s" || sort === "alloc_bytes";
}

const NAME: SiteColumn = { id: "name", label: "Call site", title: "function and offset of the call, its kind and module", sort: "name", text: true, render: (s) => <SiteName site={s} /> };
const OBJECTS_RATE: SiteColumn = { id: "rate", label: "Objects/s", title: "blocks allocated per second", sort: "allocs_per_s", render: (s) => <Num value={s.allocs_per_s} /> };
const BYTES_RATE: SiteColumn = { id: "brate", label: "Bytes/s", title: "bytes asked for per second", sort: "bytes_per_s", render: (s) => <Num value={s.bytes_per_s} as="bytes" /> };
const FREES_RATE: SiteColumn = { id: "frate", label: "Frees/s", title: "blocks freed per second", sort: "frees_per_s", render: (s) => <Num value={s.frees_per_s} /> };
const OBJECTS: SiteColumn = { id: "objects", label: "Objects", title: "blocks allocated since start", sort: "alloc_count", render: (s) => <Num value={s.alloc_count} /> };
const BYTES: SiteColumn = { id: "bytes", label: "Bytes", title: "bytes asked for since start", sort: "alloc_bytes", render: (s) => <Num value={s.alloc_bytes} as="bytes" /> };
const MEAN: SiteColumn = { id: "mean", label: "Mean size", title: "bytes per object, since start", sort: "mean_bytes", render: (s) => <Num value={s.mean_bytes === null ? null : Math.round(s.mean_bytes)} as="bytes" /> };
const REALLOCS: SiteColumn = { id: "reallocs", label: "Reallocs", title: "of these, reallocations of a block", sort: "realloc_count", render: (s) => <Num value={s.realloc_count} /> };
const FREES: SiteColumn = { id: "frees", label: "Frees", title: "blocks freed since start", sort: "free_count", render: (s) => <Num value={s.free_count} /> };
const FREED: SiteColumn = { id: "freed", label: "Freed", title: "bytes given back since start", sort: "free_bytes", render: (s) => <Num value={s.free_bytes} as="bytes" /> };

function shareColumn(): SiteColumn {
	const { kind, sort } = view.value;
	const of = kind === "free" ? "frees" : byBytes(sort) ? "bytes" : "objects";
	return { id: "share", label: `% of ${of}`, title: `part of all ${of} of the sites that match, per second; where nothing moves, since start`, render: (s) => <ShareBar share={share(s)} /> };
}

function columns(): SiteColumn[] {
	switch (view.value.kind) {
	case "free":
		return [NAME, FREES_RATE, shareColumn(), FREES, FREED];
	case "all":
		return [NAME, OBJECTS_RATE, BYTES_RATE, FREES_RATE, shareColumn(), OBJECTS, BYTES, FREES, MEAN];
	default:
		return [NAME, OBJECTS_RATE, BYTES_RATE, shareColumn(), OBJECTS, BYTES, MEAN, REALLOCS];
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
			empty={sites.value ? (v.filter || v.thread || v.member ? "Nothing matches." : "No calls yet.") : "Loading…"}
		/>
	);
}
