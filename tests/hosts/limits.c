/* SPDX-License-Identifier: MIT */
/*
 * limits.c - hosts under limits: resources, privileges, seccomp, descriptors, namespaces.
 *
 *	limits closefds|seccomp|setuid|unshare|mlock|dumpable|churn|chroot DIR
 *	limits under fsize|as|nofile|nproc|stack COMMAND...	sets a small limit, then executes
 *
 * Each prints "ok", or ends with a status that names the line at fault.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

static void expect(int good, int status)
{
	if (!good)
		_exit(status);
}

static void churn(unsigned rounds)
{
	void *blocks[32] = {NULL};

	for (unsigned i = 0; i < rounds; i++) {
		blocks[i % 32] = realloc(blocks[i % 32], 16 + i * 13 % 900);
		expect(blocks[i % 32] != NULL, 10);
	}
	for (unsigned i = 0; i < 32; i++)
		free(blocks[i]);
}

/* Closes what it does not know, then expects the numbers to be its own. */
static void run_closefds(void)
{
	for (int fd = 3; fd < 1024; fd++)
		close(fd);
	for (int i = 0; i < 12; i++)
		expect(open("/dev/null", O_RDWR) == 3 + i, 11);
	churn(5000);
	for (int i = 0; i < 12; i++)
		expect(fcntl(3 + i, F_GETFD) == 0, 12);
}

static int can_start;
static int waiting;
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t opened = PTHREAD_COND_INITIALIZER;

/* Its first allocation comes after the filter is there: the agent has to give it a row. */
static void *churn_late(void *data)
{
	pthread_mutex_lock(&gate);
	waiting++;
	pthread_cond_broadcast(&opened);
	while (!can_start)
		pthread_cond_wait(&opened, &gate);
	pthread_mutex_unlock(&gate);
	churn(20000);
	syscall(SYS_exit, 0);
	return data;
}

#define ALLOW(nr)                                                                                  \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (nr), 0, 1),                                           \
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

/* Allowed is what malloc itself, a mutex and an end need; all else kills the process. */
static void install_filter(void)
{
	static struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		ALLOW(SYS_brk),
		ALLOW(SYS_mmap),
		ALLOW(SYS_munmap),
		ALLOW(SYS_mremap),
		ALLOW(SYS_mprotect),
		ALLOW(SYS_madvise),
		ALLOW(SYS_futex),
		ALLOW(SYS_write),
		ALLOW(SYS_exit),
		ALLOW(SYS_exit_group),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)};
	struct sock_fprog program = {sizeof(filter) / sizeof(filter[0]), filter};

	expect(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 13);
	expect(!syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program),
	       14);
}

static void run_seccomp(void)
{
	pthread_t threads[3];

	mallopt(M_ARENA_MAX, 1); /* for a second arena, glibc asks for the number of processors */
	for (int i = 0; i < 3; i++)
		expect(!pthread_create(&threads[i], NULL, churn_late, NULL), 15);
	pthread_mutex_lock(&gate);
	while (waiting < 3)
		pthread_cond_wait(&opened, &gate);
	install_filter();
	can_start = 1;
	pthread_cond_broadcast(&opened);
	pthread_mutex_unlock(&gate);
	churn(20000);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	expect(write(1, "ok\n", 3) == 3, 16);
	exit(0); /* with all destructors, the agent's too */
}

static void *churn_thread(void *data)
{
	churn(5000);
	return data;
}

static void run_setuid(void)
{
	pthread_t thread;

	churn(100);
	pthread_create(&thread, NULL, churn_thread, NULL);
	expect(!setgid(65534) && !setuid(65534), 17);
	churn(5000);
	pthread_join(thread, NULL);
	expect(getuid() == 65534, 18);
}

/* Refused with EINVAL where the process has a second thread. */
static void run_unshare(void)
{
	churn(100);
	expect(!unshare(CLONE_NEWUSER), 19);
	churn(100);
}

static void run_mlock(void)
{
	expect(!mlockall(MCL_CURRENT | MCL_FUTURE) || errno == EPERM || errno == ENOMEM, 20);
	churn(5000);
}

static void run_dumpable(void)
{
	pthread_t thread;

	prctl(PR_SET_DUMPABLE, 0);
	expect(!pthread_create(&thread, NULL, churn_thread, NULL), 21);
	pthread_join(thread, NULL);
	churn(5000);
}

static void run_chroot(const char *dir)
{
	pthread_t thread;

	expect(!chroot(dir) && !chdir("/"), 22);
	expect(!pthread_create(&thread, NULL, churn_thread, NULL), 23);
	pthread_join(thread, NULL);
	churn(5000);
}

static void run_under(const char *what, char **argv)
{
	static const struct {
		const char *name;
		int resource;
		rlim_t value;
	} table[] = {{"fsize", RLIMIT_FSIZE, 0},
		     {"as", RLIMIT_AS, 40 << 20},
		     {"nofile", RLIMIT_NOFILE, 4},
		     {"nproc", RLIMIT_NPROC, 0},
		     {"stack", RLIMIT_STACK, 128 << 10}};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		if (!strcmp(table[i].name, what)) {
			struct rlimit limit = {table[i].value, table[i].value};

			expect(!setrlimit((__rlimit_resource_t)table[i].resource, &limit), 24);
			execv(argv[0], argv);
			_exit(25);
		}
	_exit(26);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	if (!strcmp(what, "closefds"))
		run_closefds();
	else if (!strcmp(what, "seccomp"))
		run_seccomp();
	else if (!strcmp(what, "setuid"))
		run_setuid();
	else if (!strcmp(what, "unshare"))
		run_unshare();
	else if (!strcmp(what, "mlock"))
		run_mlock();
	else if (!strcmp(what, "dumpable"))
		run_dumpable();
	else if (!strcmp(what, "churn"))
		churn(5000);
	else if (!strcmp(what, "chroot") && argc > 2)
		run_chroot(argv[2]);
	else if (!strcmp(what, "under") && argc > 3)
		run_under(argv[2], argv + 3);
	else
		return 2;
	puts("ok");
	return 0;
}
