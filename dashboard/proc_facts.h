/* SPDX-License-Identifier: MIT */
/*
 * proc_facts.h - what /proc says of the living processes and threads of one family: names, rss.
 *
 * The pids of a segment are those of the process's own pid namespace, which may not be ours. So a
 * /proc/PID is believed only if it belongs to the family's user and started before the segment's
 * row did; else its facts are unknown. Reads are rationed: names of a few new threads at a time, a
 * few known ones again each second, rss and process names once a second.
 */
#pragma once

#include "dashboard/model.h"
#include "dashboard/snapshot.h"

struct proc_facts;

int proc_facts_create(struct proc_facts **out);	   /* 0 or -ENOMEM */
void proc_facts_destroy(struct proc_facts *facts); /* accepts NULL */

/* Reads the names of at most `budget` threads that were not known yet, so that they are there when
 * the threads have ended. Failures are not told: a name stays unknown. */
void proc_facts_see(struct proc_facts *facts, const struct snapshot *now, size_t budget);

/* Puts names and rss into a family that model_build made, ends processes that live by their rows
 * but have none and are not there, and orders the processes anew. */
void proc_facts_fill(struct proc_facts *facts, struct family *family);

/* A living process of the family whose /proc/PID can be believed; 0 where there is none. */
int32_t proc_facts_pid(struct proc_facts *facts, const struct family *family);

/* Whether /proc/PID exists, is the user's and started at or before `start_boot_ns`. */
bool proc_exists(int32_t pid, uint32_t uid, uint64_t start_boot_ns);
