// SPDX-License-Identifier: MIT
/* Num - a figure in three digits, its unit muted, its exact value in the title. */
import { bytes, count, exact, whole } from "../format";

const FORMATS = { count, bytes, whole };

interface Props {
	value: number | null | undefined;
	as?: keyof typeof FORMATS;
	per?: "s";
}

export function Num({ value, as = "count", per }: Props) {
	const figure = FORMATS[as](value);
	const unit = figure.unit + (per && value != null ? "/s" : "");
	const title =
		value == null
			? "not known"
			: `${exact(value)}${as === "bytes" ? " bytes" : ""}${per ? " per second" : ""}`;
	return (
		<span class={value ? "num" : "num zero"} title={title}>
			{figure.digits}
			{unit ? <span class="unit">{"\u202f" + unit}</span> : null}
		</span>
	);
}
