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
#include "agent/system.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define STACK_SIZE 65536u

/* libc's clone by the name that no host has */
int __clone(int (*function)(void *), void *stack, int flags, void *argument, ...);

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
	fd = system_open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW, 0);
	if (fd < 0)
		return false;
	held = system_flock(fd, LOCK_SH | LOCK_NB) && errno == EWOULDBLOCK;
	system_close(fd);
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

/* As the kernel has it: handler, flags, restorer, mask. All zero: the default action. */
static void reset_signals(void)
{
	unsigned long action[8] = {0};
	uint64_t none = 0;

	for (int number = 1; number < NSIG; number++)
		syscall(SYS_rt_sigaction, number, action, NULL, sizeof(none));
	syscall(SYS_rt_sigprocmask, SIG_SETMASK, &none, NULL, sizeof(none));
}

static void drop_descriptors(void)
{
	int null;

	syscall(SYS_close_range, 0u, ~0u, 0u);
	for (int fd = 0; fd < 1024; fd++) /* for kernels before 5.9 */
		system_close(fd);
	null = system_open("/dev/null", O_RDWR, 0);
	syscall(SYS_dup3, null, 1, 0);
	syscall(SYS_dup3, null, 2, 0);
}

static int run_grandchild(void *argument)
{
	static char *const environment[] = {"PATH=/usr/bin:/bin", "LANG=C.UTF-8", NULL};
	struct start *start = argument;

	syscall(SYS_execve, start->arguments[0], start->arguments, environment);
	start->err = errno;
	syscall(SYS_exit_group, 127);
	__builtin_unreachable();
}

static int run_child(void *argument)
{
	struct start *start = argument;

	reset_signals();
	syscall(SYS_setsid);
	drop_descriptors();
	if (__clone(run_grandchild, start->grandchild_stack, CLONE_VM | CLONE_VFORK | SIGCHLD,
		    start) < 0)
		start->err = errno;
	syscall(SYS_exit_group, 0);
	__builtin_unreachable();
}

static int run(char *const *arguments)
{
	char *stacks = system_map(2 * STACK_SIZE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1);
	struct start start = {.arguments = arguments};
	uint64_t all = ~0ull, before;
	int child;

	if (stacks == MAP_FAILED)
		return -errno;
	start.grandchild_stack = stacks + 2 * STACK_SIZE;
	syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, &before, sizeof(all));
	child = __clone(run_child, stacks + STACK_SIZE, CLONE_VM | CLONE_VFORK, &start);
	if (child < 0)
		start.err = errno;
	while (child > 0 && syscall(SYS_wait4, child, NULL, __WALL, NULL) < 0 && errno == EINTR)
		;
	syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, sizeof(before));
	system_unmap(stacks, 2 * STACK_SIZE);
	return -start.err;
}

/* The server would become a child of pid 1 or of a subreaper, which may wait for all its children
 * to end, while the server waits for the host to end. */
static bool adopts_orphans(void)
{
	int subreaper = 0;

	syscall(SYS_prctl, PR_GET_CHILD_SUBREAPER, &subreaper, 0, 0, 0);
	return subreaper || system_getpid() == 1;
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
	if (adopts_orphans() && !config->listen[0])
		return -ECHILD;
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
