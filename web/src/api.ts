// SPDX-License-Identifier: MIT
/*
 * api.ts - one GET to the server: JSON out, or an ApiError that says what kind of failure it was.
 *
 * The token arrives once in the URL's hash (`heaptap ps` prints it there: a hash is never sent to
 * a server nor logged) and is kept for this tab only.
 */

export type Failure = "unreachable" | "unauthorised" | "no_family" | "no_process" | "refused";

export class ApiError extends Error {
	readonly failure: Failure;

	constructor(failure: Failure, message: string) {
		super(message);
		this.failure = failure;
	}
}

const TOKEN_KEY = "heaptap-token";
const TIMEOUT_MS = 5000;

let token: string | null = null;

function stored(): string | null {
	try {
		return sessionStorage.getItem(TOKEN_KEY);
	} catch {
		return null; // storage is switched off: the token lives as long as the page
	}
}

/* Takes the token out of a hash and returns the hash without it. */
export function takeToken(hash: string): string {
	const params = new URLSearchParams(hash.replace(/^#/, ""));
	token = params.get("token") ?? token ?? stored();
	if (!params.has("token")) return hash;
	try {
		sessionStorage.setItem(TOKEN_KEY, token!);
	} catch {
		// as above
	}
	params.delete("token");
	const rest = params.toString();
	return rest ? "#" + rest : "";
}

export function hasToken(): boolean {
	return token !== null;
}

export type Params = Record<string, string | number | null>;

function url(path: string, params: Params): string {
	const query = new URLSearchParams();
	for (const [name, value] of Object.entries(params)) {
		if (value !== null && value !== "") query.set(name, String(value));
	}
	const text = query.toString();
	return text ? `${path}?${text}` : path;
}

async function failureOf(response: Response): Promise<ApiError> {
	let code = "";
	let message = `${response.status} ${response.statusText}`;
	try {
		const body = (await response.json()) as {
			error?: { code?: string; message?: string };
		};
		code = body.error?.code ?? "";
		message = body.error?.message ?? message;
	} catch {
		// not JSON: a proxy between us and the server
	}
	if (response.status === 401 || response.status === 403)
		return new ApiError("unauthorised", message);
	if (response.status === 404 && (code === "no_family" || code === "no_process"))
		return new ApiError(code, message);
	return new ApiError(response.status >= 500 ? "unreachable" : "refused", message);
}

function timeLimit(signal: AbortSignal): { signal: AbortSignal; done: () => void } {
	const controller = new AbortController();
	const abort = () => controller.abort();
	const timer = setTimeout(abort, TIMEOUT_MS);
	signal.addEventListener("abort", abort);
	const done = () => {
		clearTimeout(timer);
		signal.removeEventListener("abort", abort);
	};
	return { signal: controller.signal, done };
}

export async function get<T>(path: string, params: Params, signal: AbortSignal): Promise<T> {
	const limit = timeLimit(signal);
	try {
		const response = await fetch(url(path, params), {
			cache: "no-store",
			headers: token ? { Authorization: `Bearer ${token}` } : {},
			signal: limit.signal,
		});
		if (!response.ok) throw await failureOf(response);
		return (await response.json()) as T;
	} catch (error) {
		if (error instanceof ApiError) throw error;
		const late = limit.signal.aborted && !signal.aborted;
		throw new ApiError(
			"unreachable",
			late
				? `no answer within ${TIMEOUT_MS / 1000} s`
				: "connection refused or lost",
		);
	} finally {
		limit.done();
	}
}
