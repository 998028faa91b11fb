/* SPDX-License-Identifier: MIT */
/*
 * families.h - which segments exist, and the model of them.
 *
 * Watches one directory by inotify, opens segments as they appear, keeps ended ones readable,
 * remembers the counts of the last ticks for the rates, and builds the model on request. One
 * thread. Allocates; functions return 0 or -errno and leave out-parameters untouched on failure.
 * Reads only, so that `heaptap ps` may use it beside the server; families_prune() alone removes
 * files.
 */
#pragma once

#include "dashboard/model.h"

struct families;

/* `dir` must exist. A directory that others than its owner may write to is refused: -EPERM. */
int families_create(const char *dir, struct families **out);
void families_destroy(struct families *families); /* accepts NULL */

/* An inotify descriptor, for poll; when readable, call families_events(). */
int families_fd(const struct families *families);
int families_events(struct families *families);

/* To be called every 100 ms: looks for ended families and retries segments that were not ready;
 * once a second it takes the base counts for the rates. */
int families_tick(struct families *families);

/* The model as of now; valid until the next call of families_model or families_tick or until
 * destroy. A model younger than 50 ms is handed out again. Names are resolved for every site. */
int families_model(struct families *families, const struct model **out);

/* Living families, those whose segment asks for HEAPTAP_LISTEN=off included. */
size_t families_live(const struct families *families);

/* What the family number `index` (from 0, ended ones included) asked for. False past the last one.
 * Cheap, unlike a model: no counts are read and no names resolved, so that the server can listen
 * before it does anything that takes time. */
struct family_wish {
	char id[48];
	char listen[128];     /* as in struct family */
	char token_file[256]; /* as in struct family */
	bool ended;
};

bool families_wish(const struct families *families, size_t index, struct family_wish *out);

/* Looks through the directory anew, for the server's last look before it ends; returns the number
 * of living families or -errno. */
int families_rescan(struct families *families);

/* Adds (or replaces, by code) a problem that the server found for a family, such as an address
 * that could not be opened. message NULL takes it away. */
int families_set_problem(struct families *families, const char *family_id, const char *code,
			 const char *message);

/* For the server: removes segments of ended families that nobody needs any more (see prune.h). To
 * be called at its start and when families_live() has sunk; a look at every file. 0 or -errno. */
int families_prune(const struct families *families);
