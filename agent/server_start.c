/* SPDX-License-Identifier: MIT */
/*
 * server_start.c - makes sure that a heaptap-server runs.
 *
 *   host ──clone(VM, VFORK, no signal)──▶ child ──clone(VM, VFORK)──▶ grandchild ──▶ heaptap-server
 *     waits for the child alone            setsid, closes all,          exec
 *     by its pid                           exits at once
 *
 * The grandchild is orphaned before its program has even been loaded, so the host waits for two
 * clones and an exec, and never for the server. The child's end raises no SIGCHLD: the host may
 * have been started with that signal blocked and would find it pending. Memory is shared, so a
 * failure of the exec is known here by its errno.
 */
#include "agent/server_start.h"
#include "agent/base.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define STACK_SIZE 65536u

struct start {
	char *const *arguments;
	char *grandchild_stack;
	int err;
};

static bool server_runs(const char *dir)
{
	char path[512];
	bool held;
	int fd;

	snprintf(path, sizeof(path), "%s/server.lock", dir);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return false;
	held = flock(fd, LOCK_SH | LOCK_NB) && errno == EWOULDBLOCK;
	close(fd);
	return held;
}

/* HEAPTAP_SERVER_PATH is relative to the directory of libheaptap.so, in the build tree as well as
 * where it is installed. */
static int find_server(char *path, size_t room)
{
	struct dl_find_object object;
	const char *self, *slash;
	int size;

	if (_dl_find_object((void *)find_server, &object))
		return -ENOENT;
	self = object.dlfo_link_map->l_name;
	slash = strrchr(self, '/');
	size = snprintf(path, room, "%.*s" HEAPTAP_SERVER_PATH, slash ? (int)(slash + 1 - self) : 0,
			self);
	return size < 0 || (size_t)size >= room ? -ENAMETOOLONG : 0;
}

static void reset_signals(void)
{
	sigset_t none;

	for (int number = 1; number < NSIG; number++)
		signal(number, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

static void drop_descriptors(void)
{
	int null;

	syscall(SYS_close_range, 0u, ~0u, 0u);
	for (int fd = 0; fd < 1024; fd++) /* for kernels before 5.9 */
		close(fd);
	null = open("/dev/null", O_RDWR);
	dup2(null, 1);
	dup2(null, 2);
}

static int run_grandchild(void *argument)
{
	static char *const environment[] = {"PATH=/usr/bin:/bin", "LANG=C.UTF-8", NULL};
	struct start *start = argument;

	execve(start->arguments[0], start->arguments, environment);
	start->err = errno;
	_exit(127);
}

static int run_child(void *argument)
{
	struct start *start = argument;

	reset_signals();
	setsid();
	drop_descriptors();
	if (clone(run_grandchild, start->grandchild_stack, CLONE_VM | CLONE_VFORK | SIGCHLD,
		  start) < 0)
		start->err = errno;
	_exit(0);
}

static int run(char *const *arguments)
{
	char *stacks = mmap(NULL, 2 * STACK_SIZE, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
	struct start start = {.arguments = arguments};
	sigset_t all, before;
	int child;

	if (stacks == MAP_FAILED)
		return -errno;
	start.grandchild_stack = stacks + 2 * STACK_SIZE;
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &before);
	child = clone(run_child, stacks + STACK_SIZE, CLONE_VM | CLONE_VFORK, &start);
	if (child < 0)
		start.err = errno;
	while (child > 0 && waitpid(child, NULL, __WALL) < 0 && errno == EINTR)
		;
	sigprocmask(SIG_SETMASK, &before, NULL);
	munmap(stacks, 2 * STACK_SIZE);
	return -start.err;
}

int server_start(const struct config *config, const char *dir, char *path, size_t room)
{
	char *arguments[8];
	int count = 0;
	int err;

	if (server_runs(dir))
		return 0;
	err = find_server(path, room);
	if (err)
		return err;
	arguments[count++] = path;
	arguments[count++] = "--dir";
	arguments[count++] = (char *)dir;
	if (config->token_file[0]) {
		arguments[count++] = "--token-file";
		arguments[count++] = (char *)config->token_file;
	}
	if (config->log[0]) {
		arguments[count++] = "--log";
		arguments[count++] = (char *)config->log;
	}
	arguments[count] = NULL;
	return run(arguments);
}
