/* SPDX-License-Identifier: MIT */
/*
 * config.c - one table of settings: name and parser. A parser answers false for a bad value and
 * then leaves the default in place.
 */
#include "agent/config.h"

#include <string.h>

#define PREFIX "HEAPTAP"

struct setting {
	const char *name; /* without "HEAPTAP_" */
	bool (*parse)(struct config *config, const char *value);
};

static bool copy(char *to, size_t room, const char *from)
{
	size_t size = strlen(from);

	if (size >= room)
		return false;
	memcpy(to, from, size + 1);
	return true;
}

static bool copy_path(char *to, size_t room, const char *value)
{
	return value[0] == '/' && copy(to, room, value);
}

static bool parse_switch(const char *value, const char *no, const char *yes, bool *out)
{
	if (strcmp(value, yes) && strcmp(value, no))
		return false;
	*out = !strcmp(value, yes);
	return true;
}

static bool parse_number(const char **at, uint64_t max, uint64_t *out)
{
	const char *p = *at;
	uint64_t number = 0;

	for (; *p >= '0' && *p <= '9'; p++) {
		number = number * 10 + (uint64_t)(*p - '0');
		if (number > max)
			return false;
	}
	if (p == *at)
		return false;
	*at = p;
	*out = number;
	return true;
}

/* Bytes, with k, M or G for powers of 1,024. */
static bool parse_memory(struct config *config, const char *value)
{
	uint64_t bytes;

	if (!parse_number(&value, SEG_SIZE_MAX, &bytes))
		return false;
	if (*value == 'k' || *value == 'K')
		bytes <<= 10, value++;
	else if (*value == 'M' || *value == 'm')
		bytes <<= 20, value++;
	else if (*value == 'G' || *value == 'g')
		bytes <<= 30, value++;
	if (*value || bytes < SEG_SIZE_MIN || bytes > SEG_SIZE_MAX)
		return false;
	config->memory = (size_t)bytes;
	return true;
}

/* host:port; the host is looked up and opened by the server, which reports what it cannot do. */
static bool is_host_port(const char *value)
{
	const char *colon = strrchr(value, ':');
	uint64_t port;

	if (!colon || colon == value)
		return false;
	for (const char *p = value; p < colon; p++)
		if (*p <= ' ' || *p > '~' || *p == '/')
			return false;
	colon++;
	return parse_number(&colon, 65535, &port) && !*colon && port > 0;
}

static bool parse_listen(struct config *config, const char *value)
{
	if (!strcmp(value, "off")) {
		config->serve = false;
		return copy(config->listen, sizeof(config->listen), value);
	}
	if (strncmp(value, "unix:/", 6) && !is_host_port(value))
		return false;
	return copy(config->listen, sizeof(config->listen), value);
}

static bool parse_dir(struct config *config, const char *value)
{
	return copy_path(config->dir, sizeof(config->dir), value);
}

static bool parse_token_file(struct config *config, const char *value)
{
	return copy_path(config->token_file, sizeof(config->token_file), value);
}

static bool parse_log(struct config *config, const char *value)
{
	return copy_path(config->log, sizeof(config->log), value);
}

static bool parse_keep(struct config *config, const char *value)
{
	return parse_switch(value, "0", "1", &config->keep);
}

static bool parse_children(struct config *config, const char *value)
{
	return parse_switch(value, "off", "follow", &config->follow_forks);
}

static const struct setting settings[] = {
	{"LISTEN", parse_listen}, {"TOKEN_FILE", parse_token_file},
	{"MEMORY", parse_memory}, {"DIR", parse_dir},
	{"KEEP", parse_keep},	  {"CHILDREN", parse_children},
	{"LOG", parse_log},
};

static const struct setting *find(const char *name, size_t size)
{
	for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++)
		if (strlen(settings[i].name) == size && !memcmp(settings[i].name, name, size))
			return &settings[i];
	return NULL;
}

void config_add_problem(struct config *config, uint32_t code, int err, const char *name,
			const char *value)
{
	struct seg_problem *problem;
	size_t at;

	if (config->problem_count == SEG_PROBLEMS)
		return;
	problem = &config->problems[config->problem_count++];
	problem->code = code;
	problem->err = err;
	at = strnlen(name, sizeof(problem->text) - 1);
	memcpy(problem->text, name, at);
	if (value && at < sizeof(problem->text) - 1) {
		size_t rest = sizeof(problem->text) - 1 - at - 1;
		size_t size = strnlen(value, rest);

		problem->text[at++] = '=';
		memcpy(problem->text + at, value, size);
		at += size;
	}
	problem->text[at] = '\0';
}

/* `variable` is "HEAPTAP_NAME=value". An empty value is as good as none. */
static void read_setting(struct config *config, const char *variable)
{
	const char *name = variable + sizeof(PREFIX "_") - 1;
	const char *equals = strchr(name, '=');
	const struct setting *setting;
	char full[64];
	size_t size;

	if (!equals)
		return;
	size = (size_t)(equals - variable);
	if (size >= sizeof(full))
		size = sizeof(full) - 1;
	memcpy(full, variable, size);
	full[size] = '\0';
	setting = find(name, (size_t)(equals - name));
	if (!setting)
		config_add_problem(config, SEG_PROBLEM_UNKNOWN_SETTING, 0, full, NULL);
	else if (equals[1] && !setting->parse(config, equals + 1))
		config_add_problem(config, SEG_PROBLEM_SETTING, 0, full, equals + 1);
}

void config_read(struct config *config, char *const *environment)
{
	memset(config, 0, sizeof(*config));
	config->serve = true;
	config->follow_forks = true;
	config->memory = CONFIG_MEMORY_DEFAULT;
	for (; environment && *environment; environment++) {
		const char *variable = *environment;

		if (strncmp(variable, PREFIX, sizeof(PREFIX) - 1))
			continue;
		if (!strcmp(variable, PREFIX "=off"))
			config->off = true;
		else if (variable[sizeof(PREFIX) - 1] == '_')
			read_setting(config, variable);
		else if (variable[sizeof(PREFIX) - 1] == '=' && strcmp(variable, PREFIX "=") &&
			 strcmp(variable, PREFIX "=on"))
			config_add_problem(config, SEG_PROBLEM_SETTING, 0, PREFIX,
					   variable + sizeof(PREFIX));
	}
}
