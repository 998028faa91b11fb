// SPDX-License-Identifier: MIT
/*
 * CopyButton - puts `text` on the clipboard and says so. Pages on plain HTTP other than localhost
 * have no clipboard API; there the text is selected by an off-screen field, as browsers still allow.
 */
import { useSignal } from "@preact/signals";
import { Icon } from "./Icon";

function copyByField(text: string): boolean {
	const field = document.createElement("textarea");
	field.value = text;
	field.className = "hidden";
	document.body.append(field);
	field.select();
	const done = document.execCommand("copy");
	field.remove();
	return done;
}

async function copy(text: string): Promise<boolean> {
	try {
		await navigator.clipboard.writeText(text);
		return true;
	} catch {
		return copyByField(text);
	}
}

export function CopyButton({ text, label }: { text: string; label: string }) {
	const done = useSignal(false);
	const click = async () => {
		done.value = await copy(text);
		setTimeout(() => (done.value = false), 1500);
	};
	return (
		<button
			type="button"
			class="quiet copy"
			onClick={click}
			title={label}
			aria-label={done.value ? "Copied" : label}
		>
			<Icon name={done.value ? "check" : "copy"} />
		</button>
	);
}
