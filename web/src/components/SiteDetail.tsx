// SPDX-License-Identifier: MIT
/*
 * SiteDetail - everything about one Site, beside the table. A site that has left the list (filter,
 * limit) stays as it was last seen, and is said to be so.
 */
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { safeName } from "../format";
import { changeView, sites, view } from "../store";
import type { Site } from "../types";
import { CopyButton } from "./CopyButton";
import { Icon } from "./Icon";
import { Name } from "./Name";
import { Num } from "./Num";

function Fact({
	label,
	copy,
	children,
}: {
	label: string;
	copy?: string | undefined;
	children: ComponentChildren;
}) {
	return (
		<div>
			<dt>{label}</dt>
			<dd>
				{children}
				{copy ? (
					<CopyButton
						text={copy}
						label={`Copy ${label.toLowerCase()}`}
					/>
				) : null}
			</dd>
		</div>
	);
}

function hex(value: number): string {
	return "0x" + value.toString(16);
}

/* What finds the source line; quoted for a shell, as paths are any bytes. */
function lineCommand(site: Site): string {
	return `addr2line -Cfipe '${site.module!.replaceAll("'", "'\\''")}' ${hex(site.module_offset)}`;
}

function Facts({ site }: { site: Site }) {
	return (
		<dl class="facts">
			<Fact label="Address" copy={site.address}>
				<code>{site.address}</code>
			</Fact>
			{site.function !== null ? (
				<Fact label="Function" copy={site.function}>
					<code>
						<Name text={site.function} />
					</code>{" "}
					<span class="muted">+{hex(site.function_offset)}</span>
				</Fact>
			) : null}
			{site.module !== null ? (
				<Fact label="Module" copy={site.module}>
					<code>
						<Name text={site.module} />
					</code>{" "}
					<span class="muted">+{hex(site.module_offset)}</span>
				</Fact>
			) : null}
			{site.build_id !== null ? (
				<Fact label="Build-id" copy={site.build_id}>
					<code>{site.build_id}</code>
				</Fact>
			) : null}
			{site.module !== null ? (
				<Fact label="Source line" copy={lineCommand(site)}>
					<code class="command">{safeName(lineCommand(site))}</code>
				</Fact>
			) : null}
		</dl>
	);
}

interface RowProps {
	label: string;
	total: number;
	rate?: number;
	as?: "count" | "bytes";
}

function Row({ label, total, rate, as = "count" }: RowProps) {
	return (
		<tr class={total === 0 ? "zero" : ""}>
			<th scope="row">{label}</th>
			<td>{rate === undefined ? null : <Num value={rate} as={as} />}</td>
			<td>
				<Num value={total} as={as} />
			</td>
		</tr>
	);
}

function Counters({ site }: { site: Site }) {
	return (
		<table class="counters">
			<caption class="hidden">Counters of this site</caption>
			<thead>
				<tr>
					<th scope="col">
						<span class="hidden">counter</span>
					</th>
					<th scope="col">per second</th>
					<th scope="col">since start</th>
				</tr>
			</thead>
			<tbody>
				<Row
					label="Objects allocated"
					total={site.alloc_count}
					rate={site.allocs_per_s}
				/>
				<Row
					label="Bytes asked for"
					total={site.alloc_bytes}
					rate={site.bytes_per_s}
					as="bytes"
				/>
				<Row label="Bytes given" total={site.usable_bytes} as="bytes" />
				{site.mean_bytes === null ? null : (
					<Row
						label="Mean size"
						total={Math.round(site.mean_bytes)}
						as="bytes"
					/>
				)}
				<Row
					label="Objects freed"
					total={site.free_count}
					rate={site.frees_per_s}
				/>
				<Row
					label="Bytes freed"
					total={site.free_bytes}
					rate={site.freed_bytes_per_s}
					as="bytes"
				/>
				<Row
					label="Reallocs"
					total={site.realloc_count}
					rate={site.reallocs_per_s}
				/>
				<Row label="… that moved" total={site.realloc_moved} />
				<Row label="… that grew" total={site.realloc_grown} />
				<Row
					label="… copied, at most"
					total={site.realloc_copied_bytes}
					as="bytes"
				/>
			</tbody>
		</table>
	);
}

function close(id: string): void {
	changeView({ site: null });
	requestAnimationFrame(() => {
		document.querySelector<HTMLElement>(`[data-site="${CSS.escape(id)}"]`)?.focus();
	});
}

function Panel({ id, site, current }: { id: string; site: Site | null; current: boolean }) {
	const heading = useRef<HTMLHeadingElement>(null);
	useEffect(() => heading.current?.focus({ preventScroll: true }), [id]);
	return (
		<aside class="detail panel" aria-labelledby="detail-title">
			<header>
				<h2 id="detail-title" ref={heading} tabIndex={-1}>
					Call site
					{site ? <span class="kind">{site.kind}</span> : null}
				</h2>
				<span class="grow" />
				{site ? <CopyButton text={site.name} label="Copy name" /> : null}
				<button
					type="button"
					class="quiet"
					onClick={() => close(id)}
					aria-label="Close the detail"
					title="Close (Esc)"
				>
					<Icon name="close" />
				</button>
			</header>
			<div class="body">
				{site ? (
					<>
						<p class="fullname">
							<Name text={site.name} title={false} />
						</p>
						{current ? null : (
							<p class="muted">
								Not in the list as it is now;
								figures as last seen.
							</p>
						)}
						<Counters site={site} />
						<Facts site={site} />
					</>
				) : (
					<p class="muted">
						This site is not in the list as it is now (
						<code>{safeName(id)}</code>).
					</p>
				)}
			</div>
		</aside>
	);
}

export function SiteDetail() {
	const id = view.value.site;
	const last = useRef<Site | null>(null);
	if (id === null) return null;
	const found = sites.value?.sites.find((site) => site.id === id);
	if (found) last.current = found;
	const known = last.current?.id === id ? last.current : null;
	return <Panel id={id} site={known} current={found !== undefined} />;
}
