// SPDX-License-Identifier: MIT
/* Icon - one of our own 16 px line drawings; decoration only, the control beside it has the name. */

const PATHS = {
	pause: "M5.5 3v10M10.5 3v10",
	play: "M4.5 2.8v10.4L13 8z",
	auto: "M8 2a6 6 0 1 0 0 12zM8 2a6 6 0 0 1 0 12",
	dark: "M13 9.8A5.5 5.5 0 0 1 6.2 3a5.5 5.5 0 1 0 6.8 6.8z",
	light: "M8 5.2a2.8 2.8 0 1 0 0 5.6a2.8 2.8 0 1 0 0-5.6zM8 1v1.6M8 13.4V15M1 8h1.6M13.4 8H15M3 3l1.2 1.2M11.8 11.8L13 13M13 3l-1.2 1.2M4.2 11.8L3 13",
	close: "M4 4l8 8M12 4l-8 8",
	down: "M4 6l4 4 4-4",
	copy: "M5.5 5.5h7v7h-7zM3.5 10.5v-7h7",
	check: "M3 8.5l3.5 3.5L13 5",
	warn: "M8 2.5l6 10.5H2zM8 6.5v3M8 11v.6",
	search: "M7 3a4 4 0 1 0 0 8a4 4 0 1 0 0-8zM10 10l3.5 3.5",
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name }: { name: IconName }) {
	return (
		<svg class="icon" viewBox="0 0 16 16" aria-hidden="true" focusable="false">
			<path d={PATHS[name]} fill={name === "auto" ? "none" : undefined} />
		</svg>
	);
}
