// SPDX-License-Identifier: MIT
/*
 * FilterBox - a text that narrows a table. What is typed shows at once; `onChange` follows when
 * the typing rests, as each change is a request.
 */
import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { Icon } from "./Icon";

const REST_MS = 200;

interface Props {
	id: string;
	label: string;
	value: string;
	onChange: (value: string) => void;
}

export function FilterBox({ id, label, value, onChange }: Props) {
	const typed = useSignal(value);
	const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
	useEffect(() => {
		typed.value = value; // changed from outside: back button, another process
	}, [value]);
	const change = (text: string, delay: number) => {
		typed.value = text;
		clearTimeout(timer.current);
		timer.current = setTimeout(() => onChange(text.trim()), delay);
	};
	return (
		<span class="filter">
			<Icon name="search" />
			<input
				id={id}
				type="search"
				placeholder={label}
				aria-label={label}
				value={typed.value}
				maxLength={200}
				autocomplete="off"
				spellcheck={false}
				onInput={(event) => change(event.currentTarget.value, REST_MS)}
				onKeyDown={(event) => {
					if (event.key === "Escape" && typed.value) {
						event.preventDefault();
						change("", 0);
					}
				}}
			/>
		</span>
	);
}
