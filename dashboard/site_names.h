/* SPDX-License-Identifier: MIT */
/*
 * site_names.h - names of the call sites of one family, remembered by address.
 *
 * A name is looked up when its address is first seen: an object that is unloaded and replaced by
 * another at the same address keeps the name that was right then.
 */
#pragma once

#include "dashboard/model.h"
#include "dashboard/snapshot.h"
#include "dashboard/symbols.h"

struct site_names;

int site_names_create(struct site_names **out);	   /* 0 or -ENOMEM */
void site_names_destroy(struct site_names *names); /* accepts NULL */

/* Fills function, module and build_id of all sites of `family`. The strings are valid until the
 * next call. `pid`: a living process of the family, or 0. 0 or -ENOMEM. */
int site_names_fill(struct site_names *names, struct symbols *symbols, const struct snapshot *now,
		    int32_t pid, struct family *family);
