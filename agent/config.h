/* SPDX-License-Identifier: MIT */
/*
 * config.h - the HEAPTAP_ environment variables, read once.
 *
 * A bad value is replaced by the default and remembered as a problem, for /api/v1/summary. Reads
 * the given environment, not `environ`: the constructor runs before libc has set it. Start-up
 * only, one thread. Allocates nothing, changes no environment.
 */
#pragma once

#include "agent/segment.h"

#include <stdbool.h>
#include <stddef.h>

struct config {
	bool off;	      /* HEAPTAP=off: do nothing at all */
	bool serve;	      /* false: HEAPTAP_LISTEN=off, start no server */
	bool keep;	      /* HEAPTAP_KEEP=1 */
	bool follow_forks;    /* false: HEAPTAP_CHILDREN=off */
	size_t memory;	      /* HEAPTAP_MEMORY, bytes */
	char dir[256];	      /* HEAPTAP_DIR; "": the default directory */
	char listen[128];     /* "": the default address */
	char token_file[256]; /* "": the default */
	char log[256];	      /* "": none */
	struct seg_problem problems[SEG_PROBLEMS];
	size_t problem_count;
};

#define CONFIG_MEMORY_DEFAULT (8u << 20)

void config_read(struct config *config, char *const *environment);

/* Remembers a problem; those that find no room are dropped, the first ones count. `text` is cut
 * to fit. */
void config_add_problem(struct config *config, uint32_t code, int err, const char *name,
			const char *value);
