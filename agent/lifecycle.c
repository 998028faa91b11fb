/* SPDX-License-Identifier: MIT */
/*
 * lifecycle.c - what happens when the host starts and when it exits.
 *
 * The constructor runs before all others (-z initfirst), before libc has set `environ`, and once in
 * each exec'd image. Whatever fails in it is written down and the host goes on: without a segment
 * the hooks only pass calls through. Nothing is printed. Forks and ends of threads need no work
 * here: the kernel reports both (see record.h, rows.h).
 */
#include "agent/config.h"
#include "agent/directory.h"
#include "agent/interpose_cxx.h"
#include "agent/next.h"
#include "agent/record.h"
#include "agent/segment_writer.h"
#include "agent/server_start.h"
#include "agent/system.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* A regular file only: to open or to fill a FIFO without a reader would hold up the host. */
static int open_log(const char *path)
{
	int flags = O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
	int fd = system_open(path, flags, 0600);
	struct stat status;
	int err;

	if (fd < 0)
		return -errno;
	err = system_stat(fd, &status) ? -errno : S_ISREG(status.st_mode) ? 0 : -EINVAL;
	if (!err)
		return fd;
	system_close(fd);
	return err;
}

static void write_problem(int fd, const struct seg_problem *problem)
{
	char line[256];
	int size = snprintf(line, sizeof(line), "libheaptap[%d]: problem %u, errno %d: %s\n",
			    system_getpid(), problem->code, problem->err, problem->text);

	if (size > 0 && (size_t)size < sizeof(line))
		system_write(fd, line, (size_t)size);
}

static void log_problems(struct config *config)
{
	int fd;

	if (!config->log[0] || !config->problem_count)
		return;
	fd = open_log(config->log);
	if (fd < 0) {
		config_add_problem(config, SEG_PROBLEM_LOG, -fd, config->log, NULL);
		return;
	}
	for (size_t i = 0; i < config->problem_count; i++)
		write_problem(fd, &config->problems[i]);
	system_close(fd);
}

static bool begin(struct config *config, char *dir)
{
	if (directory_prepare(config, dir))
		return false;
	directory_sweep(dir);
	if (next_usurper)
		config_add_problem(config, SEG_PROBLEM_NOT_FIRST, 0, next_usurper, NULL);
	if (segment_create(config, dir))
		return false;
	return record_start(config->follow_forks);
}

static void serve(struct config *config, const char *dir)
{
	char path[512] = "heaptap-server";
	int err;

	if (!config->serve)
		return;
	err = server_start(config, dir, path, sizeof(path));
	if (err)
		config_add_problem(config, SEG_PROBLEM_SERVER, -err, path, NULL);
}

__attribute__((constructor)) static void start(int argc, char **arguments, char **environment)
{
	char dir[DIRECTORY_PATH];
	struct config config;
	int saved = errno;

	(void)argc;
	(void)arguments;
	next_resolve();
	interpose_cxx_resolve();
	config_read(&config, environment);
	if (config.off || !begin(&config, dir)) {
		record_off();
	} else {
		segment_publish();
		serve(&config, dir);
		log_problems(&config);
		memcpy(segment->problems, config.problems, sizeof(segment->problems));
	}
	errno = saved;
}

/* Runs after the destructors of all other objects. Only a mark: a syscall that a seccomp filter
 * does not know would change how the host ends. The server removes the file. */
__attribute__((destructor)) static void finish(void)
{
	if (record_is_last_process())
		__atomic_fetch_or(&segment->flags, SEG_FLAG_EXITED, __ATOMIC_RELEASE);
}
