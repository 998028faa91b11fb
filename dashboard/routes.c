/* SPDX-License-Identifier: MIT */
/*
 * routes.c - the table of routes and what each answers; see routes.h.
 *
 * A handler finds its family, builds a view, lets the encoder write it. Adding one:
 * dashboard/README.md.
 */
#include "dashboard/routes.h"

#include "dashboard/encode_json.h"
#include "dashboard/openapi.h"
#include "dashboard/params.h"
#include "dashboard/view.h"

#include <stdio.h>
#include <string.h>

struct call {
	const struct request *request;
	const struct model *model;
	const char *rest; /* what stands in place of {…} */
	struct params params;
	struct response *response;
};

void routes_error(struct response *response, int status, const char *code, const char *message)
{
	buf_clear(&response->body);
	response->fixed = NULL;
	response->status = status;
	response->content_type = "application/json; charset=utf-8";
	response->cache_control = "no-store";
	encode_json_error(&response->body, code, message);
}

static bool is_bound(const struct request *request, const struct family *family)
{
	for (size_t i = 0; i < request->bound_count; i++)
		if (strcmp(request->bound[i], family->id) == 0)
			return true;
	return false;
}

/* The models' order is: living before ended, then by allocations per second. */
static const struct family *default_family(const struct call *call)
{
	for (size_t i = 0; i < call->model->family_count; i++) {
		const struct family *family = &call->model->families[i];

		if (call->request->bound_count == 0 || is_bound(call->request, family))
			return family;
	}
	return NULL;
}

static bool has_member(const struct family *family, int32_t pid)
{
	for (size_t i = 0; i < family->process_count; i++)
		if (family->processes[i].pid == pid)
			return true;
	return false;
}

/* NULL where there is none: the response is then written. */
static const struct family *find_family(struct call *call)
{
	const struct params *params = &call->params;
	const struct family *family;
	char why[160];

	if (params->process)
		family = model_find(call->model, params->process);
	else
		family = default_family(call);
	if (!family && !params->process) {
		routes_error(call->response, 404, "no_family",
			     "no process with heaptap in it has been seen; start one with: "
			     "heaptap run -- COMMAND");
		return NULL;
	}
	if (!family || (params->member && !has_member(family, params->member))) {
		snprintf(why, sizeof why, "no process %d is observed here; see /api/v1/processes",
			 family ? params->member : params->process);
		routes_error(call->response, 404, "no_process", why);
		return NULL;
	}
	return family;
}

static const struct thread *find_thread(struct call *call, const struct family *family, int32_t tid)
{
	const struct thread *thread = view_find_thread(family, tid, call->params.member);
	char why[160];

	if (thread)
		return thread;
	snprintf(why, sizeof why,
		 "no thread %d of process %d has a row; see /api/v1/threads?process=%d", tid,
		 family->pid, family->pid);
	routes_error(call->response, 404, "no_thread", why);
	return NULL;
}

static void out_of_memory(struct call *call)
{
	call->response->body.failed = true; /* routes_respond() makes a 500 of it */
}

static void health(struct call *call)
{
	encode_json_health(&call->response->body, call->model->family_count);
}

static void openapi(struct call *call)
{
	call->response->fixed = openapi_json;
	call->response->fixed_size = openapi_json_size();
	call->response->cache_control = "no-cache";
}

static void summary(struct call *call)
{
	const struct family *family = find_family(call);

	if (family)
		encode_json_summary(&call->response->body, call->model, family,
				    call->params.options.since);
}

/* Nothing observed is an empty list here, not an error: that is how a client waits. */
static void processes(struct call *call)
{
	const struct family *only = NULL;

	if (call->params.process) {
		only = find_family(call);
		if (!only)
			return;
	}
	encode_json_processes(&call->response->body, call->model, only, call->params.options.since);
}

static void threads(struct call *call)
{
	const struct family *family = find_family(call);
	struct thread_view view;

	if (!family)
		return;
	if (view_threads(family, &call->params.options, &view)) {
		out_of_memory(call);
		return;
	}
	encode_json_threads(&call->response->body, call->model, family, &call->params.options,
			    &view);
	view_threads_destroy(&view);
}

static void one_thread(struct call *call)
{
	struct view_options *options = &call->params.options;
	const struct family *family;
	const struct thread *thread;
	struct site_view view;
	int32_t tid = params_id(call->rest);

	if (tid == 0) {
		routes_error(call->response, 400, "bad_parameter",
			     "tid: allowed is a thread id, a number from 1 to 2147483647");
		return;
	}
	family = find_family(call);
	thread = family ? find_thread(call, family, tid) : NULL;
	if (!thread)
		return;
	options->thread = thread;
	if (view_sites(family, options, &view)) {
		out_of_memory(call);
		return;
	}
	encode_json_thread(&call->response->body, call->model, family, thread, options, &view);
	view_sites_destroy(&view);
}

static void sites(struct call *call)
{
	struct view_options *options = &call->params.options;
	const struct family *family = find_family(call);
	struct site_view view;

	if (!family)
		return;
	if (call->params.thread) {
		options->thread = find_thread(call, family, call->params.thread);
		if (!options->thread)
			return;
	}
	if (view_sites(family, options, &view)) {
		out_of_memory(call);
		return;
	}
	encode_json_sites(&call->response->body, call->model, family, options, &view);
	view_sites_destroy(&view);
}

#define PARAMS_SITES                                                                               \
	(PARAM_PROCESS | PARAM_MEMBER | PARAM_SINCE | PARAM_SORT_SITES | PARAM_ORDER |             \
	 PARAM_LIMIT | PARAM_FILTER | PARAM_KIND)

static const struct route {
	const char *pattern; /* may end in one {…}, which stands for a last part without '/' */
	unsigned params;
	void (*answer)(struct call *call);
} routes[] = {
	{"/healthz", 0, health},
	{"/openapi.json", 0, openapi},
	{"/api/v1/summary", PARAM_PROCESS | PARAM_SINCE, summary},
	{"/api/v1/processes", PARAM_PROCESS | PARAM_SINCE, processes},
	{"/api/v1/threads",
	 PARAM_PROCESS | PARAM_MEMBER | PARAM_SINCE | PARAM_SORT_THREADS | PARAM_ORDER |
		 PARAM_LIMIT | PARAM_FILTER | PARAM_STATE,
	 threads},
	{"/api/v1/threads/{tid}", PARAMS_SITES, one_thread},
	{"/api/v1/sites", PARAMS_SITES | PARAM_THREAD, sites},
};

#define ROUTES (sizeof routes / sizeof routes[0])

const char *routes_pattern(size_t index)
{
	return index < ROUTES ? routes[index].pattern : NULL;
}

static bool matches(const struct route *route, const char *path, const char **rest)
{
	const char *hole = strchr(route->pattern, '{');
	size_t fixed = hole ? (size_t)(hole - route->pattern) : strlen(route->pattern);

	if (strncmp(path, route->pattern, fixed) != 0)
		return false;
	*rest = path + fixed;
	return hole ? **rest && !strchr(*rest, '/') : !**rest;
}

static bool is_read(const char *method)
{
	return strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0;
}

static void answer(const struct route *route, struct call *call)
{
	char why[512] = "";

	if (!is_read(call->request->method)) {
		call->response->allow = "GET, HEAD";
		routes_error(call->response, 405, "method_not_allowed", "allowed are GET and HEAD");
		return;
	}
	if (params_parse(call->request, route->params, &call->params, why, sizeof why)) {
		routes_error(call->response, 400, "bad_parameter", why);
		return;
	}
	route->answer(call);
	if (call->response->body.failed)
		routes_error(call->response, 500, "no_memory", "out of memory");
}

void routes_respond(const struct request *request, const struct model *model,
		    struct response *response)
{
	struct call call = {.request = request, .model = model, .response = response};

	response->status = 200;
	response->content_type = "application/json; charset=utf-8";
	response->cache_control = "no-store";
	for (size_t i = 0; i < ROUTES; i++) {
		if (!matches(&routes[i], request->path, &call.rest))
			continue;
		answer(&routes[i], &call);
		return;
	}
	routes_error(response, 404, "not_found",
		     "no such path; /openapi.json lists what there is, / is the page");
}
