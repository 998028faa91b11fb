/* SPDX-License-Identifier: MIT */
/*
 * params.h - the parameters of a request, checked against what its route allows.
 *
 * Nothing is ignored: an unknown name, a name given twice and a value out of range are all refused
 * with a message that says what is allowed.
 */
#pragma once

#include "dashboard/request.h"
#include "dashboard/view.h"

enum param_id {
	PARAM_PROCESS = 1 << 0,
	PARAM_MEMBER = 1 << 1,
	PARAM_THREAD = 1 << 2,
	PARAM_SINCE = 1 << 3,
	PARAM_SORT_SITES = 1 << 4, /* the sort keys of sites */
	PARAM_SORT_THREADS = 1 << 5,
	PARAM_ORDER = 1 << 6,
	PARAM_LIMIT = 1 << 7,
	PARAM_FILTER = 1 << 8,
	PARAM_KIND = 1 << 9,
	PARAM_STATE = 1 << 10
};

#define PARAMS_LIMIT_MAX     10000u
#define PARAMS_LIMIT_DEFAULT 100u
#define PARAMS_FILTER_MAX    256u

struct params {
	int32_t process; /* these three are 0 where not given */
	int32_t member;
	int32_t thread;
	struct view_options options; /* `thread` in it is not filled */
};

/* 0, or -EINVAL and in `why` a message. `allowed` is a set of enum param_id. */
int params_parse(const struct request *request, unsigned allowed, struct params *out, char *why,
		 size_t why_size);

/* A pid or tid: decimal, from 1 to 2^31 - 1, nothing else. 0 where it is not. */
int32_t params_id(const char *text);
