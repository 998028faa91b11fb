/* SPDX-License-Identifier: MIT */
/*
 * params.c - one reader per parameter, found by name in a table; see params.h.
 */
#include "dashboard/params.h"

#include "dashboard/encode_json.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct reader {
	const struct param *param;
	struct params *out;
	char *why;
	size_t why_size;
	unsigned given; /* enum param_id seen so far */
};

struct word { /* one of the values that a parameter may have */
	const char *name;
	int value;
};

#define WORDS(list) list, sizeof list / sizeof list[0]

static const struct word site_sorts[] = {
	{"allocs_per_s", VIEW_ALLOCS_PER_S},
	{"bytes_per_s", VIEW_BYTES_PER_S},
	{"frees_per_s", VIEW_FREES_PER_S},
	{"reallocs_per_s", VIEW_REALLOCS_PER_S},
	{"alloc_count", VIEW_ALLOC_COUNT},
	{"alloc_bytes", VIEW_ALLOC_BYTES},
	{"usable_bytes", VIEW_USABLE_BYTES},
	{"free_count", VIEW_FREE_COUNT},
	{"free_bytes", VIEW_FREE_BYTES},
	{"realloc_count", VIEW_REALLOC_COUNT},
	{"realloc_copied_bytes", VIEW_REALLOC_COPIED_BYTES},
	{"mean_bytes", VIEW_MEAN_BYTES},
	{"name", VIEW_NAME},
};

static const struct word thread_sorts[] = {
	{"allocs_per_s", VIEW_ALLOCS_PER_S},
	{"bytes_per_s", VIEW_BYTES_PER_S},
	{"alloc_count", VIEW_ALLOC_COUNT},
	{"alloc_bytes", VIEW_ALLOC_BYTES},
	{"free_count", VIEW_FREE_COUNT},
	{"free_bytes", VIEW_FREE_BYTES},
	{"realloc_count", VIEW_REALLOC_COUNT},
	{"net_bytes", VIEW_NET_BYTES},
	{"tid", VIEW_TID},
	{"name", VIEW_NAME},
};

static const struct word sinces[] = {{"second", VIEW_SECOND}, {"start", VIEW_START}};
static const struct word orders[] = {{"desc", false}, {"asc", true}};
static const struct word states[] = {{"all", VIEW_ALL}, {"live", VIEW_LIVE}, {"ended", VIEW_ENDED}};

#define KINDS_ALLOC                                                                                \
	(1u << SEG_KIND_MALLOC | 1u << SEG_KIND_CALLOC | 1u << SEG_KIND_ALIGNED |                  \
	 1u << SEG_KIND_NEW | 1u << SEG_KIND_NEW_ARRAY | 1u << SEG_KIND_REALLOC)
#define KINDS_FREE (1u << SEG_KIND_FREE | 1u << SEG_KIND_DELETE | 1u << SEG_KIND_DELETE_ARRAY)

static int refuse(struct reader *reader, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* "name=value: …"; long values are cut, so that the rest of the message still fits. */
static int refuse(struct reader *reader, const char *format, ...)
{
	va_list arguments;
	int length = snprintf(reader->why, reader->why_size, "%.40s=%.60s: ", reader->param->name,
			      reader->param->value);

	va_start(arguments, format);
	if (length > 0 && (size_t)length < reader->why_size)
		vsnprintf(reader->why + length, reader->why_size - (size_t)length, format,
			  arguments);
	va_end(arguments);
	return -EINVAL;
}

static int read_word(struct reader *reader, const struct word *words, size_t count, int *value)
{
	char allowed[256] = "";

	for (size_t i = 0; i < count; i++) {
		size_t used = strlen(allowed);

		if (strcmp(reader->param->value, words[i].name) == 0) {
			*value = words[i].value;
			return 0;
		}
		snprintf(allowed + used, sizeof allowed - used, "%s%s", i > 0 ? ", " : "",
			 words[i].name);
	}
	return refuse(reader, "allowed are %s", allowed);
}

int32_t params_id(const char *text)
{
	int64_t value = 0;

	if (strlen(text) > 10)
		return 0;
	for (; *text; text++) {
		if (*text < '0' || *text > '9')
			return 0;
		value = value * 10 + (*text - '0');
	}
	return value <= INT32_MAX ? (int32_t)value : 0;
}

static int read_id(struct reader *reader, int32_t *id, const char *what)
{
	int32_t value = params_id(reader->param->value);

	if (value == 0)
		return refuse(reader, "allowed is a %s, a number from 1 to 2147483647", what);
	*id = value;
	return 0;
}

static int read_process(struct reader *reader)
{
	return read_id(reader, &reader->out->process, "process id");
}

static int read_member(struct reader *reader)
{
	int err = read_id(reader, &reader->out->member, "process id");

	reader->out->options.member = reader->out->member;
	return err;
}

static int read_thread(struct reader *reader)
{
	return read_id(reader, &reader->out->thread, "thread id");
}

static int read_since(struct reader *reader)
{
	int value = 0, err = read_word(reader, WORDS(sinces), &value);

	reader->out->options.since = (enum view_since)value;
	return err;
}

static int read_site_sort(struct reader *reader)
{
	int value = 0, err = read_word(reader, WORDS(site_sorts), &value);

	reader->out->options.sort = (enum view_sort)value;
	return err;
}

static int read_thread_sort(struct reader *reader)
{
	int value = 0, err = read_word(reader, WORDS(thread_sorts), &value);

	reader->out->options.sort = (enum view_sort)value;
	return err;
}

static int read_order(struct reader *reader)
{
	int value = 0, err = read_word(reader, WORDS(orders), &value);

	reader->out->options.ascending = value;
	return err;
}

static int read_limit(struct reader *reader)
{
	int32_t value = params_id(reader->param->value);

	if (value < 1 || value > (int32_t)PARAMS_LIMIT_MAX)
		return refuse(reader, "allowed is a number from 1 to %u", PARAMS_LIMIT_MAX);
	reader->out->options.limit = (size_t)value;
	return 0;
}

static int read_filter(struct reader *reader)
{
	if (strlen(reader->param->value) > PARAMS_FILTER_MAX)
		return refuse(reader, "allowed are up to %u bytes", PARAMS_FILTER_MAX);
	if (reader->param->value[0])
		reader->out->options.filter = reader->param->value;
	return 0;
}

static int read_kind(struct reader *reader)
{
	const char *value = reader->param->value;
	uint32_t *kinds = &reader->out->options.kinds;

	if (strcmp(value, "all") == 0)
		*kinds = ~0u;
	else if (strcmp(value, "alloc") == 0)
		*kinds = KINDS_ALLOC;
	else if (strcmp(value, "free") == 0)
		*kinds = KINDS_FREE; /* the group, not the kind of that name alone */
	else
		*kinds = 0;
	for (unsigned kind = 0; *kinds == 0 && kind < SEG_KINDS; kind++) {
		const char *name = encode_json_kind(kind);

		if (name && strcmp(value, name) == 0)
			*kinds = 1u << kind;
	}
	if (*kinds == 0)
		return refuse(reader, "allowed are alloc, free, all, malloc, calloc, aligned, new, "
				      "new[], realloc, delete, delete[]");
	return 0;
}

static int read_state(struct reader *reader)
{
	int value = 0, err = read_word(reader, WORDS(states), &value);

	reader->out->options.state = (enum view_state)value;
	return err;
}

static const struct {
	const char *name;
	enum param_id id;
	int (*read)(struct reader *reader);
} readers[] = {
	{"process", PARAM_PROCESS, read_process},   {"member", PARAM_MEMBER, read_member},
	{"thread", PARAM_THREAD, read_thread},	    {"since", PARAM_SINCE, read_since},
	{"sort", PARAM_SORT_SITES, read_site_sort}, {"sort", PARAM_SORT_THREADS, read_thread_sort},
	{"order", PARAM_ORDER, read_order},	    {"limit", PARAM_LIMIT, read_limit},
	{"filter", PARAM_FILTER, read_filter},	    {"kind", PARAM_KIND, read_kind},
	{"state", PARAM_STATE, read_state},
};

#define READERS (sizeof readers / sizeof readers[0])

static int unknown(struct reader *reader, unsigned allowed)
{
	char names[160] = "";

	for (size_t i = 0; i < READERS; i++) {
		size_t used = strlen(names);

		if (allowed & readers[i].id)
			snprintf(names + used, sizeof names - used, "%s%s", used ? ", " : "",
				 readers[i].name);
	}
	if (!names[0])
		return refuse(reader, "this route takes no parameters");
	return refuse(reader, "no such parameter here; allowed are %s", names);
}

static int read_param(struct reader *reader, unsigned allowed)
{
	for (size_t i = 0; i < READERS; i++) {
		if (!(allowed & readers[i].id) || strcmp(reader->param->name, readers[i].name) != 0)
			continue;
		if (reader->given & readers[i].id)
			return refuse(reader, "given more than once");
		reader->given |= readers[i].id;
		return readers[i].read(reader);
	}
	return unknown(reader, allowed);
}

/* What follows from the other parameters where one was not given. */
static void set_defaults(struct params *out, unsigned given)
{
	struct view_options *options = &out->options;

	if (!(given & (PARAM_SORT_SITES | PARAM_SORT_THREADS)) && !(options->kinds & KINDS_ALLOC))
		options->sort = VIEW_FREES_PER_S; /* what only frees allocates nothing */
	if (!(given & PARAM_ORDER))
		options->ascending = options->sort == VIEW_NAME || options->sort == VIEW_TID;
}

int params_parse(const struct request *request, unsigned allowed, struct params *out, char *why,
		 size_t why_size)
{
	struct params params = {.options = {.limit = PARAMS_LIMIT_DEFAULT, .kinds = KINDS_ALLOC}};
	struct reader reader = {.out = &params, .why = why, .why_size = why_size};

	for (size_t i = 0; i < request->param_count; i++) {
		int err;

		reader.param = &request->params[i];
		err = read_param(&reader, allowed);
		if (err)
			return err;
	}
	set_defaults(&params, reader.given);
	*out = params;
	return 0;
}
