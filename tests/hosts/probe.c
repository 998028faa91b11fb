/* SPDX-License-Identifier: MIT */
/*
 * probe.c - prints everything about itself that a preloaded library could have changed.
 *
 *	probe [blocked|ignored]
 *
 * "blocked" first blocks all signals and executes itself anew, so that a SIGCHLD sent during the
 * start stays pending; "ignored" does the same with SIGCHLD ignored. What is printed must be the
 * same with and without heaptap, but for the environment variables that the test itself sets.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static void print_descriptors(void)
{
	int lowest = open("/dev/null", O_RDONLY);

	printf("lowest free descriptor %d\n", lowest);
	for (int fd = 0; fd < 1024; fd++) {
		int flags = fd == lowest ? -1 : fcntl(fd, F_GETFD);

		if (flags >= 0)
			printf("descriptor %d flags %d\n", fd, flags);
	}
	close(lowest);
}

static void print_threads(void)
{
	DIR *tasks = opendir("/proc/self/task");
	int count = 0;

	while (tasks && readdir(tasks))
		count++;
	printf("threads %d\n", count - 2);
	if (tasks)
		closedir(tasks);
}

static void print_status(void)
{
	static const char *const wanted[] = {"SigPnd",	"ShdPnd",     "SigBlk", "SigIgn", "SigCgt",
					     "Seccomp", "NoNewPrivs", "Umask",	"CapEff", "Groups",
					     "Uid",	"Gid",	      "VmLck"};
	FILE *status = fopen("/proc/self/status", "r");
	char line[512];

	while (status && fgets(line, sizeof(line), status))
		for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
			if (!strncmp(line, wanted[i], strlen(wanted[i])) &&
			    line[strlen(wanted[i])] == ':')
				fputs(line, stdout);
	if (status)
		fclose(status);
}

static void print_signals(void)
{
	sigset_t set;

	sigprocmask(SIG_BLOCK, NULL, &set);
	for (int sig = 1; sig < 65; sig++) {
		struct sigaction action;

		if (sigaction(sig, NULL, &action) == 0)
			printf("signal %d blocked %d handler %d flags %x\n", sig,
			       sigismember(&set, sig),
			       action.sa_handler == SIG_DFL   ? 0
			       : action.sa_handler == SIG_IGN ? 1
							      : 2,
			       (unsigned)action.sa_flags);
	}
	sigpending(&set);
	for (int sig = 1; sig < 65; sig++)
		if (sigismember(&set, sig))
			printf("signal %d pending\n", sig);
}

static void print_children(void)
{
	int status;
	pid_t pid = waitpid(-1, &status, WNOHANG | __WALL);

	printf("waitpid %s\n", pid < 0 ? strerror(errno) : pid ? "gives a child" : "has a child");
}

static void print_limits(void)
{
	struct itimerval timer;

	for (int i = 0; i < RLIM_NLIMITS; i++) {
		struct rlimit limit;

		if (getrlimit((__rlimit_resource_t)i, &limit) == 0)
			printf("limit %d %llu %llu\n", i, (unsigned long long)limit.rlim_cur,
			       (unsigned long long)limit.rlim_max);
	}
	for (int i = 0; i < 3; i++) {
		getitimer((__itimer_which_t)i, &timer);
		printf("timer %d %ld\n", i, (long)timer.it_value.tv_sec);
	}
	printf("nice %d dumpable %d name ", getpriority(PRIO_PROCESS, 0), prctl(PR_GET_DUMPABLE));
}

static void print_identity(void)
{
	char name[32] = "", where[512] = "";
	stack_t stack;

	prctl(PR_GET_NAME, name);
	printf("%s\n", name);
	printf("cwd %s\n", getcwd(where, sizeof(where)) ? where : "?");
	printf("session of its own %d group of its own %d\n", getsid(0) == getpid(),
	       getpgrp() == getpid());
	sigaltstack(NULL, &stack);
	printf("altstack flags %d\n", stack.ss_flags);
}

static void run_again(char *self, const char *how)
{
	char *argv[] = {self, NULL};
	sigset_t all;

	if (!strcmp(how, "ignored"))
		signal(SIGCHLD, SIG_IGN);
	sigfillset(&all);
	if (!strcmp(how, "blocked"))
		sigprocmask(SIG_BLOCK, &all, NULL);
	execv(self, argv);
	_exit(126);
}

int main(int argc, char **argv)
{
	int start_errno = errno;

	if (argc > 1)
		run_again(argv[0], argv[1]);
	printf("errno %d\n", start_errno);
	print_descriptors();
	print_threads();
	print_children();
	print_signals();
	print_status();
	print_limits();
	print_identity();
	for (char **variable = environ; *variable; variable++)
		printf("env %s\n", *variable);
	fprintf(stderr, "one line on stderr\n");
	return 42;
}
