// SPDX-License-Identifier: MIT
/* App - the page: bar, banners, and the figures of one family or what to do without them. */
import { useEffect } from "preact/hooks";
import { Charts } from "../charts/Charts";
import { safeName } from "../format";
import { announcement, link, summary } from "../store";
import { Banner } from "./Banner";
import { Figures } from "./Figures";
import { HelpDialog } from "./HelpDialog";
import { Notices } from "./Notices";
import { Placeholder } from "./Placeholder";
import { ProcessLine } from "./ProcessLine";
import { SiteDetail } from "./SiteDetail";
import { SitesPanel } from "./SitesPanel";
import { SizeHistogram } from "./SizeHistogram";
import { ThreadsPanel } from "./ThreadsPanel";
import { TopBar } from "./TopBar";

function Live() {
	return (
		<>
			<ProcessLine />
			<Notices />
			<Figures />
			<Charts />
			<div class="tables">
				<SitesPanel />
				<div class="side">
					<ThreadsPanel />
					<SizeHistogram />
				</div>
			</div>
			<SiteDetail />
		</>
	);
}

export function App() {
	const s = summary.value;
	useEffect(() => {
		document.title = s
			? `${safeName(s.name)} ${s.pid}${s.ended ? " (ended)" : ""} · heaptap`
			: "heaptap";
	}, [s?.id, s?.ended]);
	const stale = link.value.state === "down" && !s?.ended;
	return (
		<>
			<TopBar />
			<Banner />
			<main class={stale ? "stale" : ""}>{s ? <Live /> : <Placeholder />}</main>
			<HelpDialog />
			<p class="hidden" role="status">
				{announcement.value}
			</p>
		</>
	);
}
