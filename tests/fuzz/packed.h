/* SPDX-License-Identifier: MIT */
/*
 * packed.h - a segment without its holes, so that a fuzzer's input of some kilobytes can be one.
 *
 * A packed segment is a list of pieces, each written to its place in an empty file:
 *
 *	u32 offset / 8, u32 size / 8, size bytes
 *
 * What lies behind the last whole piece is ignored. A piece with offset PACKED_AGAIN is no piece:
 * from there on the pieces are written after the first read, as a process would that changes its
 * segment.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define PACKED_SIZE  (1u << 20) /* of the file */
#define PACKED_AGAIN 0xffffffffu

struct packed_piece {
	uint32_t offset;
	uint32_t size;
};
