/* SPDX-License-Identifier: MIT */
/*
 * paths.c - where things are: the installation, the directory of segments, the page.
 */
#include "dashboard/cli/cli.h"

#include "dashboard/address.h"
#include "dashboard/token.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int cli_installed(const char *relative, char *path, size_t size)
{
	char self[4096];
	ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
	char *slash;
	int written;

	if (length < 0)
		return -errno;
	self[length] = '\0';
	for (int up = 0; up < 2; up++) {
		slash = strrchr(self, '/');
		if (!slash)
			return -ENOENT;
		*slash = '\0';
	}
	written = snprintf(path, size, "%s/%s", self, relative);
	return written < 0 || (size_t)written >= size ? -ENAMETOOLONG : 0;
}

int cli_dir(const char *given, char *path, size_t size)
{
	const char *dir = given ? given : getenv("HEAPTAP_DIR");
	char here[4096] = "";
	int written;

	if (!dir || !dir[0])
		written = snprintf(path, size, "/dev/shm/heaptap-%u", (unsigned)geteuid());
	else if (dir[0] == '/' || !getcwd(here, sizeof here))
		written = snprintf(path, size, "%s", dir);
	else
		written = snprintf(path, size, "%s/%s", here, dir);
	return written < 0 || (size_t)written >= size ? -ENAMETOOLONG : 0;
}

void cli_page(const char *listen, const char *token_path, char *url, size_t size)
{
	char token[TOKEN_MAX + 1], address[160];

	address_url(listen, address, sizeof address);
	if (!address[0])
		snprintf(url, size, "%s", listen);
	else if (token_path[0] && token_read(token_path, token) == 0)
		snprintf(url, size, "%s/#token=%s", address, token);
	else
		snprintf(url, size, "%s", address);
}
