/* SPDX-License-Identifier: MIT */
/*
 * encode_json.h - what the API says, as JSON; schema in openapi.json.
 *
 * Pure: model and view in, bytes out. Every function appends to `out`; memory that was refused
 * shows in out->failed. Integers are written digit by digit from 64 bits, never through a double;
 * text is made valid UTF-8 first.
 */
#pragma once

#include "dashboard/buf.h"
#include "dashboard/view.h"

#include <stdint.h>

void encode_json_error(struct buf *out, const char *code, const char *message);
void encode_json_health(struct buf *out, size_t families);
void encode_json_summary(struct buf *out, const struct model *model, const struct family *family,
			 enum view_since since);

/* All families of the model, or `only` one. */
void encode_json_processes(struct buf *out, const struct model *model, const struct family *only,
			   enum view_since since);
void encode_json_threads(struct buf *out, const struct model *model, const struct family *family,
			 const struct view_options *options, const struct thread_view *view);

/* `view` holds the sites of `thread`. */
void encode_json_thread(struct buf *out, const struct model *model, const struct family *family,
			const struct thread *thread, const struct view_options *options,
			const struct site_view *view);
void encode_json_sites(struct buf *out, const struct model *model, const struct family *family,
		       const struct view_options *options, const struct site_view *view);

/* "malloc", "new[]", ...; NULL where `kind` is none that a site has. */
const char *encode_json_kind(unsigned kind);
