// SPDX-License-Identifier: MIT
/*
 * cursor.ts - where the pointer stands in time, for all charts: index into History.times, or null.
 * uPlot moves the lines of the other charts itself; this feeds the figures above them.
 */
import { signal } from "@preact/signals";

export const cursorIndex = signal<number | null>(null);
