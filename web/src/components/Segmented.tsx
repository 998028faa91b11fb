// SPDX-License-Identifier: MIT
/* Segmented - one choice of a few, all visible: radio buttons drawn as a bar. */

interface Props<T extends string> {
	label: string;
	value: T;
	choices: readonly { value: T; label: string; title?: string }[];
	onChoose: (value: T) => void;
}

export function Segmented<T extends string>({ label, value, choices, onChoose }: Props<T>) {
	return (
		<div class="segmented" role="group" aria-label={label}>
			{choices.map((choice) => (
				<button
					type="button"
					key={choice.value}
					aria-pressed={choice.value === value}
					title={choice.title}
					onClick={() => onChoose(choice.value)}
				>
					{choice.label}
				</button>
			))}
		</div>
	);
}
