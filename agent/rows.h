/* SPDX-License-Identifier: MIT */
/*
 * rows.h - process and thread rows: taken, reused, and their counts kept when the owner has ended.
 *
 * All functions need segment_lock(). A row of an ended thread is found by its `life` word, which
 * the kernel marks; nothing has to run in the dying thread.
 *
 * Where an ended thread's counts go: the first such row of a process becomes the process's ENDED
 * row; later ones are added to it. When the last row of a process is found ended, process and all
 * are added to the family's ENDED row (SEG_ROW_ENDED), and the process row is free again.
 */
#pragma once

#include "agent/segment.h"

#include <stdbool.h>

#define ROWS_NONE UINT32_MAX

/* Sets up the two fixed rows; once, after segment_create(). False: no memory. */
bool rows_create(void);

/* A row for a process / thread that starts to record; ROWS_NONE: all are in use. The thread's
 * `life` is locked by the calling thread, its table has 16 slots or is absent (no memory). */
uint32_t rows_take_process(int32_t pid);
uint32_t rows_take_thread(uint32_t process);

/* Gives back a process row that holds no thread row; false: it does. */
bool rows_give_process(uint32_t process);

/* Replaces the row's table by one of twice the size. False: no room; the old one stays. */
bool rows_grow_table(struct seg_thread *row);

/* Before and after the owner moves slots about within its table: readers see that they cannot rely
 * on it meanwhile. No lock. */
void rows_change_table(struct seg_thread *row);
void rows_changed_table(struct seg_thread *row);
/* After a change that may have been abandoned half way. */
void rows_settle_table(struct seg_thread *row);

/* Adds a slot (or tally) to a row, growing its table as needed; what finds no place goes to
 * row->other. Only for rows without a running owner, and for the caller's own. */
void rows_add(struct seg_thread *row, uint64_t key, const struct seg_tally *tally);

/* True where another process of the family is still alive. */
bool rows_others_alive(uint32_t process);

struct seg_thread *rows_thread(uint32_t index);
struct seg_process *rows_process(uint32_t index);
