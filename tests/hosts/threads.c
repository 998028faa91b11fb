/* SPDX-License-Identifier: MIT */
/*
 * threads.c - hosts whose threads come, go and are interrupted in unusual ways.
 *
 *	threads tsd|signals|mainexit|smallstack|altstack|longjmp|cancel|dlopen PLUGIN
 *
 * Each prints "ok", or ends with a status that names the line at fault.
 */
#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

static void expect(int good, int status)
{
	if (!good)
		_exit(status);
}

static void churn(unsigned rounds)
{
	for (unsigned i = 0; i < rounds; i++) {
		void *block = malloc(16 + i * 11 % 700);

		expect(block != NULL, 10);
		free(block);
	}
}

static pthread_key_t keys[2];

/* Runs late in a dying thread, and keeps itself alive for one round more. */
static void destroy_late(void *value)
{
	char *count = value;

	churn(20);
	if (++count[0] < PTHREAD_DESTRUCTOR_ITERATIONS)
		pthread_setspecific(keys[0], count);
	else
		free(count);
}

static void *set_specific(void *data)
{
	pthread_setspecific(keys[0], calloc(1, 1));
	pthread_setspecific(keys[1], malloc(64));
	return data;
}

static void run_tsd(void)
{
	pthread_key_create(&keys[0], destroy_late);
	pthread_key_create(&keys[1], free);
	for (int i = 0; i < 200; i++) {
		pthread_t thread;

		expect(!pthread_create(&thread, NULL, set_specific, NULL), 11);
		pthread_join(thread, NULL);
	}
}

static volatile sig_atomic_t ticks;

static void count_tick(int sig)
{
	(void)sig;
	ticks++;
}

static void start_ticking(void (*handler)(int), int flags)
{
	struct sigaction action = {.sa_handler = handler, .sa_flags = flags};
	struct itimerval timer = {{0, 300}, {0, 300}};

	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &timer, NULL);
}

static void stop_ticking(void)
{
	struct itimerval timer = {{0, 0}, {0, 0}};

	setitimer(ITIMER_REAL, &timer, NULL);
}

static void run_signals(void)
{
	start_ticking(count_tick, 0);
	while (ticks < 300)
		churn(1000);
	stop_ticking();
}

static void run_altstack(void)
{
	static char memory[8192];
	stack_t stack = {.ss_sp = memory, .ss_size = sizeof(memory)}, now;

	expect(!sigaltstack(&stack, NULL), 12);
	start_ticking(count_tick, SA_ONSTACK);
	while (ticks < 300)
		churn(1000);
	stop_ticking();
	expect(!sigaltstack(NULL, &now) && now.ss_sp == memory, 13);
}

static sigjmp_buf back;

static void jump_back(int sig)
{
	(void)sig;
	siglongjmp(back, 1);
}

/* Leaves a handler that may have interrupted a hook. The allocator itself does not survive being
 * left inside its own lock, so the interrupted loop only frees nothing: the hook runs, the
 * allocator is hardly entered. */
static void run_longjmp(void)
{
	volatile int jumps = 0;

	start_ticking(jump_back, 0);
	if (sigsetjmp(back, 1))
		jumps++;
	while (jumps < 200)
		free(NULL);
	stop_ticking();
	churn(1000);
}

static void *churn_for_ever(void *data)
{
	for (;;) {
		churn(100);
		pthread_testcancel();
	}
	return data;
}

static void run_cancel(void)
{
	for (int i = 0; i < 100; i++) {
		pthread_t thread;
		void *result;

		expect(!pthread_create(&thread, NULL, churn_for_ever, NULL), 14);
		expect(!pthread_cancel(thread) && !pthread_join(thread, &result), 15);
		expect(result == PTHREAD_CANCELED, 16);
	}
}

static void *churn_small(void *data)
{
	churn(1000);
	return data;
}

static void run_smallstack(void)
{
	pthread_attr_t attr;

	pthread_attr_init(&attr);
	expect(!pthread_attr_setstacksize(&attr, PTHREAD_STACK_MIN), 17);
	for (int i = 0; i < 50; i++) {
		pthread_t thread;

		expect(!pthread_create(&thread, &attr, churn_small, NULL), 18);
		pthread_join(thread, NULL);
	}
}

static void *outlive_main(void *data)
{
	pthread_join(*(pthread_t *)data, NULL);
	churn(1000);
	expect(write(1, "ok\n", 3) == 3, 19);
	exit(5);
}

static void run_mainexit(void)
{
	static pthread_t self;
	pthread_t thread;

	self = pthread_self();
	expect(!pthread_create(&thread, NULL, outlive_main, &self), 20);
	pthread_exit(NULL);
}

static int (*plugin_work)(int);

static void *work_in_plugin(void *data)
{
	expect(plugin_work(200) == 200, 21);
	return data;
}

static void run_dlopen(const char *path)
{
	for (int i = 0; i < 20; i++) {
		void *library = dlopen(path, RTLD_NOW | (i % 2 ? RTLD_GLOBAL : RTLD_LOCAL));
		pthread_t thread;

		expect(library != NULL, 22);
		*(void **)&plugin_work = dlsym(library, "plugin_work");
		expect(plugin_work != NULL, 23);
		expect(!pthread_create(&thread, NULL, work_in_plugin, NULL), 24);
		work_in_plugin(NULL);
		pthread_join(thread, NULL);
		expect(!dlclose(library), 25);
	}
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	if (!strcmp(what, "tsd"))
		run_tsd();
	else if (!strcmp(what, "signals"))
		run_signals();
	else if (!strcmp(what, "altstack"))
		run_altstack();
	else if (!strcmp(what, "longjmp"))
		run_longjmp();
	else if (!strcmp(what, "cancel"))
		run_cancel();
	else if (!strcmp(what, "smallstack"))
		run_smallstack();
	else if (!strcmp(what, "mainexit"))
		run_mainexit();
	else if (!strcmp(what, "dlopen") && argc > 2)
		run_dlopen(argv[2]);
	else
		return 2;
	puts("ok");
	return 0;
}
