/* SPDX-License-Identifier: MIT */
/*
 * forks.c - hosts that make processes in every way there is, while they allocate.
 *
 *	forks storm|raw|vfork|spawn|chain N|daemon|orphans
 *
 * Each prints "ok" and what it counted, or ends with a status that names the line at fault.
 */
#include <errno.h>
#include <linux/sched.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static void expect(int good, int status)
{
	if (!good)
		_exit(status);
}

static void churn(unsigned rounds)
{
	void *blocks[16] = {NULL};

	for (unsigned i = 0; i < rounds; i++) {
		free(blocks[i % 16]);
		blocks[i % 16] = malloc(16 + i * 7 % 500);
		expect(blocks[i % 16] != NULL, 10);
	}
	for (unsigned i = 0; i < 16; i++)
		free(blocks[i]);
}

static void reap(pid_t pid, int wanted)
{
	int status;

	expect(waitpid(pid, &status, 0) == pid, 11);
	expect(WIFEXITED(status) && WEXITSTATUS(status) == wanted, 12);
}

static volatile int stop;

static void *churn_until_stop(void *data)
{
	while (!stop)
		churn(100);
	return data;
}

static void *fork_many(void *data)
{
	for (int i = 0; i < 25; i++) {
		pid_t pid = fork();

		expect(pid >= 0, 13);
		if (!pid) {
			churn(200);
			setenv("FORKS_CHILD", "grows environ by realloc", 1);
			if (i % 5 == 0) {
				pid_t inner = fork();

				if (!inner) {
					churn(50);
					_exit(3);
				}
				reap(inner, 3);
			}
			_exit(7);
		}
		reap(pid, 7);
	}
	return data;
}

/* Threads that allocate all the time while others fork: no child may wait for a lock. */
static void run_storm(void)
{
	pthread_t busy[2], forking[3];

	for (int i = 0; i < 2; i++)
		pthread_create(&busy[i], NULL, churn_until_stop, NULL);
	for (int i = 0; i < 3; i++)
		pthread_create(&forking[i], NULL, fork_many, NULL);
	for (int i = 0; i < 3; i++)
		pthread_join(forking[i], NULL);
	stop = 1;
	for (int i = 0; i < 2; i++)
		pthread_join(busy[i], NULL);
	puts("75 children");
}

static void run_raw(void)
{
	for (int i = 0; i < 20; i++) {
		pid_t pid = (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);

		expect(pid >= 0, 14);
		if (!pid) {
			churn(300);
			syscall(SYS_exit_group, 5);
		}
		churn(100);
		reap(pid, 5);
	}
	puts("20 raw clones");
}

static void run_vfork(void)
{
	char *argv[] = {"/bin/true", NULL};

	for (volatile int i = 0; i < 20; i++) {
		pid_t pid = vfork();

		expect(pid >= 0, 15);
		if (!pid) {
			execv(argv[0], argv);
			_exit(16);
		}
		churn(100);
		reap(pid, 0);
	}
	puts("20 vforks");
}

static void run_spawn(void)
{
	char *argv[] = {"/bin/sh", "-c", "exit 9", NULL};

	for (int i = 0; i < 10; i++) {
		pid_t pid;

		expect(!posix_spawn(&pid, argv[0], NULL, NULL, argv, environ), 17);
		churn(100);
		reap(pid, 9);
	}
	errno = 0;
	expect(waitpid(-1, NULL, 0) == -1 && errno == ECHILD, 18);
	puts("10 spawned");
}

/* The same pid again and again as a new image. */
static void run_chain(char *self, int left)
{
	char count[16];
	char *argv[] = {self, "chain", count, NULL};

	churn(200);
	if (left > 0) {
		snprintf(count, sizeof(count), "%d", left - 1);
		execv("/proc/self/exe", argv);
		_exit(19);
	}
	puts("end of the chain");
}

/* As services of old do it: twice forked, session of its own, descriptors closed. */
static void run_daemon(void)
{
	int answer[2];
	char byte = 0;

	expect(!pipe(answer), 20);
	if (!fork()) {
		setsid();
		if (fork())
			_exit(0);
		for (int fd = 0; fd < 1024; fd++)
			if (fd != answer[1])
				close(fd);
		churn(500);
		expect(write(answer[1], "d", 1) == 1, 21);
		_exit(0);
	}
	close(answer[1]);
	expect(read(answer[0], &byte, 1) == 1 && byte == 'd', 22);
	expect(wait(NULL) > 0, 23);
	puts("daemon answered");
}

/* The first process ends before its children, which go on allocating. */
static void run_orphans(void)
{
	int go[2], answer[2];
	char bytes[4];

	expect(!pipe(go) && !pipe(answer), 24);
	for (int i = 0; i < 4; i++)
		if (!fork()) {
			close(go[1]);
			expect(read(go[0], bytes, 1) == 0, 25);
			churn(1000);
			_exit(write(answer[1], "o", 1) == 1 ? 0 : 1);
		}
	close(go[1]);
	close(answer[1]);
	for (int i = 0; i < 4; i++)
		expect(read(answer[0], bytes, 1) == 1, 26);
	puts("4 orphans");
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	if (!strcmp(what, "storm"))
		run_storm();
	else if (!strcmp(what, "raw"))
		run_raw();
	else if (!strcmp(what, "vfork"))
		run_vfork();
	else if (!strcmp(what, "spawn"))
		run_spawn();
	else if (!strcmp(what, "chain"))
		run_chain(argv[0], argc > 2 ? atoi(argv[2]) : 0);
	else if (!strcmp(what, "daemon"))
		run_daemon();
	else if (!strcmp(what, "orphans"))
		run_orphans();
	else
		return 2;
	puts("ok");
	return 0;
}
