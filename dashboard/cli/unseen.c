/* SPDX-License-Identifier: MIT */
/*
 * unseen.c - see unseen.h. A process that ends while it is looked at is left out.
 */
#include "dashboard/cli/unseen.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct unseen *add(struct unseen_list *list, int32_t pid)
{
	struct unseen *items = reallocarray(list->items, list->count + 1, sizeof *items);
	char path[64];
	FILE *file;

	if (!items)
		return NULL;
	list->items = items;
	items += list->count;
	*items = (struct unseen){.pid = pid};
	snprintf(path, sizeof path, "/proc/%d/comm", pid);
	file = fopen(path, "re");
	if (!file)
		return NULL;
	if (fgets(items->name, sizeof items->name, file))
		items->name[strcspn(items->name, "\n")] = '\0';
	fclose(file);
	list->count++;
	return items;
}

static bool is_listed(const struct unseen_list *list, int32_t pid)
{
	for (size_t i = 0; i < list->count; i++)
		if (list->items[i].pid == pid)
			return true;
	return false;
}

static int number_of(const char *name)
{
	for (int number = 1; number < 134; number++) {
		const char *known = strerrorname_np(number);

		if (known && strcmp(known, name) == 0)
			return number;
	}
	return 0;
}

/* "1234-5f.failed.ENOSPC" */
static int add_failed(struct unseen_list *list, const char *name)
{
	const char *mark = strstr(name, ".failed");
	int32_t pid = (int32_t)strtol(name, NULL, 10);
	struct unseen *one;
	const char *err;

	if (!mark || pid <= 0)
		return 0;
	one = add(list, pid);
	if (!one)
		return errno == ENOMEM ? -ENOMEM : 0;
	err = mark[7] == '.' ? mark + 8 : "";
	snprintf(one->message, sizeof one->message,
		 "no segment could be made for it (%.30s%s%s); it runs unobserved", err,
		 number_of(err) ? ": " : "", number_of(err) ? strerror(number_of(err)) : "");
	return 0;
}

static int find_failed(const char *dir, struct unseen_list *list)
{
	DIR *entries = opendir(dir);
	struct dirent *entry;
	int err = 0;

	if (!entries)
		return errno == ENOENT ? 0 : -errno;
	while (err == 0 && (entry = readdir(entries)))
		err = add_failed(list, entry->d_name);
	closedir(entries);
	return err;
}

static bool has_agent(int32_t pid)
{
	char path[64], *line = NULL;
	bool found = false;
	size_t size = 0;
	FILE *file;

	snprintf(path, sizeof path, "/proc/%d/maps", pid);
	file = fopen(path, "re");
	if (!file)
		return false;
	while (!found && getline(&line, &size, file) > 0)
		found = strstr(line, "/libheaptap.so") != NULL;
	free(line);
	fclose(file);
	return found;
}

/* The value that `name` had when the program was started. */
static bool started_with(int32_t pid, const char *name, char *value, size_t size)
{
	size_t length = strlen(name), room = 0;
	char path[64], *entry = NULL;
	bool found = false;
	FILE *file;

	snprintf(path, sizeof path, "/proc/%d/environ", pid);
	file = fopen(path, "re");
	if (!file)
		return false;
	while (!found && getdelim(&entry, &room, '\0', file) > 0) {
		found = strncmp(entry, name, length) == 0 && entry[length] == '=';
		if (found)
			snprintf(value, size, "%s", entry + length + 1);
	}
	free(entry);
	fclose(file);
	return found;
}

static void explain(struct unseen *one, const char *dir)
{
	char value[256];

	if (started_with(one->pid, "HEAPTAP", value, sizeof value) && strcmp(value, "off") == 0)
		snprintf(one->message, sizeof one->message, "switched off by HEAPTAP=off");
	else if (started_with(one->pid, "HEAPTAP_DIR", value, sizeof value) &&
		 strcmp(value, dir) != 0)
		snprintf(one->message, sizeof one->message,
			 "kept in another directory: heaptap ps --dir %.250s", value);
	else
		snprintf(one->message, sizeof one->message,
			 "libheaptap.so is in it, but it has no segment in %.200s", dir);
}

static bool is_ours(int32_t pid)
{
	struct stat status;
	char path[64];

	snprintf(path, sizeof path, "/proc/%d", pid);
	return stat(path, &status) == 0 && status.st_uid == geteuid();
}

static int find_mapped(const char *dir, unseen_is_known *is_known, const void *context,
		       struct unseen_list *list)
{
	DIR *entries = opendir("/proc");
	struct dirent *entry;

	if (!entries)
		return -errno;
	while ((entry = readdir(entries))) {
		int32_t pid = isdigit((unsigned char)entry->d_name[0])
				      ? (int32_t)strtol(entry->d_name, NULL, 10)
				      : 0;
		struct unseen *one;

		if (pid <= 0 || pid == getpid() || is_known(context, pid) || is_listed(list, pid) ||
		    !is_ours(pid) || !has_agent(pid))
			continue;
		one = add(list, pid);
		if (one)
			explain(one, dir);
	}
	closedir(entries);
	return 0;
}

int unseen_find(const char *dir, unseen_is_known *is_known, const void *context,
		struct unseen_list *out)
{
	struct unseen_list list = {0};
	int err = find_failed(dir, &list);

	if (err == 0)
		err = find_mapped(dir, is_known, context, &list);
	*out = list;
	return err;
}
