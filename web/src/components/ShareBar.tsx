// SPDX-License-Identifier: MIT
/* ShareBar - a part of a whole (0..1) as bar and per cent. */
import { percent } from "../format";

export function ShareBar({ share }: { share: number }) {
	const width = Math.min(1, Math.max(0, share || 0)) * 100;
	return (
		<span class="share" title={`${width.toFixed(2)} %`}>
			<span class="track" aria-hidden="true">
				<span class="fill" style={{ width: `${width}%` }} />
			</span>
			<span class={share > 0 ? "num" : "num zero"}>
				{percent(share)}
				<span class="unit">{"\u202f%"}</span>
			</span>
		</span>
	);
}
