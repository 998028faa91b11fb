// SPDX-License-Identifier: MIT
//
// net.mjs - free ports and small clients.
import { createServer, connect } from "node:net";
import { waitFor } from "./wait.mjs";

export function freePort(host = "127.0.0.1") {
	return new Promise((done, fail) => {
		const server = createServer().on("error", fail).listen(0, host, () => {
			const { port } = server.address();
			server.close(() => done(port));
		});
	});
}

// Holds a port until close() is called; undefined where it is taken already.
export function takePort(port, host = "127.0.0.1") {
	return new Promise((done) => {
		const server = createServer().on("error", () => done(undefined)).listen(port, host, () => done(server));
	});
}

export async function canConnect(port, host = "127.0.0.1") {
	return await new Promise((done) => {
		const socket = connect(port, host);
		socket.on("connect", () => (socket.destroy(), done(true)));
		socket.on("error", () => done(false));
	});
}

// Sends text over one connection and waits until the answer contains `until`.
export async function talk(port, text, until, timeoutMs = 20000) {
	const socket = connect(port, "127.0.0.1");
	let answer = "";
	socket.on("data", (data) => (answer += data)).on("error", () => {});
	socket.write(text);
	try {
		return await waitFor(`${until} from port ${port}`, () => answer.includes(until) && answer, timeoutMs);
	} finally {
		socket.destroy();
	}
}
