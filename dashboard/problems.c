/* SPDX-License-Identifier: MIT */
/*
 * problems.c - the agent records a code and the offending text; what would have been allowed and
 * what was done instead is said here, so that the host carries no prose.
 */
#include "dashboard/problems.h"
#include "dashboard/snapshot.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

struct setting {
	const char *name;
	const char *allowed;
};

static const struct setting settings[] = {
	{"HEAPTAP", "off or unset"},
	{"HEAPTAP_LISTEN", "host:port, unix:/path or off"},
	{"HEAPTAP_TOKEN_FILE", "the absolute path of a file"},
	{"HEAPTAP_SAMPLE", "a number of bytes such as 512K"},
	{"HEAPTAP_MEMORY", "a size from 1M to 1G"},
	{"HEAPTAP_DIR", "the absolute path of a directory of your own with mode 0700"},
	{"HEAPTAP_KEEP", "0 or 1"},
	{"HEAPTAP_KERNEL", "the absolute path of a socket, or off"},
	{"HEAPTAP_CHILDREN", "follow or off"},
	{"HEAPTAP_UNWIND", "auto, fp, cfi or off"},
	{"HEAPTAP_LOG", "the absolute path of a file"},
};

static const char *allowed_for(const char *text)
{
	size_t length = strcspn(text, "=");

	for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++)
		if (strlen(settings[i].name) == length &&
		    memcmp(settings[i].name, text, length) == 0)
			return settings[i].allowed;
	return NULL;
}

/* ": No such file or directory", or nothing. */
static const char *reason(int err, char *room, size_t size)
{
	const char *known = err ? strerrordesc_np(err) : NULL;

	room[0] = '\0';
	if (known)
		snprintf(room, size, ": %s", known);
	else if (err)
		snprintf(room, size, ": error %d", err);
	return room;
}

static void describe_setting(struct problem *out, const char *text)
{
	const char *allowed = allowed_for(text);

	out->code = "setting";
	if (allowed)
		snprintf(out->message, sizeof(out->message),
			 "%s is not valid; allowed: %s. The default is used", text, allowed);
	else
		snprintf(out->message, sizeof(out->message), "%s is not valid. The default is used",
			 text);
}

bool problem_describe(const struct seg_problem *record, struct problem *out)
{
	char text[sizeof(record->text) + 1], why[64];
	char *message = out->message;
	size_t size = sizeof(out->message);

	snapshot_string(text, sizeof(text), record->text, sizeof(record->text));
	reason(record->err, why, sizeof(why));
	switch (record->code) {
	case SEG_PROBLEM_NONE:
		return false;
	case SEG_PROBLEM_SETTING:
		describe_setting(out, text);
		return true;
	case SEG_PROBLEM_UNKNOWN_SETTING:
		out->code = "unknown_setting";
		snprintf(message, size, "%s is not a setting of heaptap; it is ignored", text);
		return true;
	case SEG_PROBLEM_DIR:
		out->code = "dir";
		snprintf(message, size,
			 "HEAPTAP_DIR: %s cannot be used%s; the default directory is used", text,
			 why);
		return true;
	case SEG_PROBLEM_SERVER:
		out->code = "server";
		if (record->err == ECHILD)
			snprintf(message, size,
				 "No server was started: it would become a child of this process, "
				 "which is pid 1 or a subreaper and may wait for it; run `heaptap "
				 "serve`, or name an address in HEAPTAP_LISTEN");
		else
			snprintf(message, size, "The server %s could not be started%s", text, why);
		return true;
	case SEG_PROBLEM_NOT_FIRST:
		out->code = "not_first";
		snprintf(message, size,
			 "The malloc of %s is in force instead of heaptap's, so its calls are not "
			 "counted; put libheaptap.so first in LD_PRELOAD",
			 text);
		return true;
	case SEG_PROBLEM_LOG:
		out->code = "log";
		snprintf(message, size, "HEAPTAP_LOG: %s could not be written%s", text, why);
		return true;
	default:
		out->code = "agent";
		snprintf(message, size, "The agent reports problem %u of a kind not known here%s",
			 record->code, why);
		return true;
	}
}
