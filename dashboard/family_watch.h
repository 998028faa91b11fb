/* SPDX-License-Identifier: MIT */
/*
 * family_watch.h - one family: its segment, whether it lives, its last snapshots, its model.
 *
 * Keeps the file open, so that a family stays readable after its file was unlinked.
 */
#pragma once

#include "dashboard/model.h"
#include "dashboard/segment_reader.h"
#include "dashboard/symbols.h"

struct family_watch;

/* As segment_open, whose errors it returns. -ESRCH: the family has ended; it is watched only when
 * `dead_too`. */
int family_watch_open(int dirfd, const char *name, uid_t owner, bool dead_too,
		      struct family_watch **out);
void family_watch_close(struct family_watch *watch); /* accepts NULL */

const char *family_watch_id(const struct family_watch *watch);
const char *family_watch_name(const struct family_watch *watch); /* of the file */
bool family_watch_live(const struct family_watch *watch);
const struct seg_header *family_watch_header(const struct family_watch *watch); /* at last look */

/* Looks whether the family lives. Reads the final counts when it has just ended. */
void family_watch_probe(struct family_watch *watch);

/* Takes the counts that later rates are relative to; once a second. */
void family_watch_take_base(struct family_watch *watch);

/* Brings the family's model up to date; an ended family's is made once. After a failure the one
 * before stays. 0 or -errno. */
int family_watch_build(struct family_watch *watch, struct symbols *symbols);
const struct family *family_watch_family(const struct family_watch *watch);

/* Memory that it takes, about. */
size_t family_watch_bytes(const struct family_watch *watch);

/* See families_set_problem. 0, -ENOMEM, or -ENOSPC for more than a few codes. */
int family_watch_set_problem(struct family_watch *watch, const char *code, const char *message);
