// SPDX-License-Identifier: MIT
/*
 * Name - a text that came from a watched process. Isolated, so that right-to-left letters cannot
 * reorder what stands beside it, and with control characters made visible.
 */
import { safeName } from "../format";
import { shortName } from "../names";

interface Props {
	text: string;
	short?: boolean;
	title?: boolean;
}

export function Name({ text, short = false, title = true }: Props) {
	const safe = safeName(text);
	const offset = short ? /\+0x[0-9a-f]+$/.exec(safe)?.[0] : undefined;
	const base = offset ? safe.slice(0, -offset.length) : safe;
	return (
		<bdi class="name" dir="ltr" title={title ? safe : undefined}>
			{offset ? <bdi>{shortName(base)}</bdi> : short ? shortName(base) : base}
			{offset ? <span class="offset">{offset}</span> : null}
		</bdi>
	);
}
