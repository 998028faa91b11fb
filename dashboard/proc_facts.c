/* SPDX-License-Identifier: MIT */
/*
 * proc_facts.c - see proc_facts.h. Reading one file of /proc costs some 5 us, so what was read is
 * kept in two hashes: threads by serial, processes by pid and start.
 */
#include "dashboard/proc_facts.h"
#include "dashboard/clock.h"
#include "dashboard/lineage.h"
#include "dashboard/model_build.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
	TABLE_MIN = 64,
	REFRESH_PER_SECOND = 32,
	PROCESSES_PER_SECOND = 512,
};

#define SECOND	    1000000000u
#define CLOCK_SLACK SECOND    /* CLOCK_REALTIME may be stepped a little */
#define START_SLACK 20000000u /* /proc counts in ticks of 10 ms */

struct fact {
	uint64_t key;  /* 0: empty */
	bool believed; /* the /proc/PID of its process is the one meant */
	char name[16];
	uint64_t rss_bytes;
	uint64_t read_ns; /* CLOCK_MONOTONIC */
};

struct table {
	struct fact *facts; /* open addressing, a power of two of slots */
	size_t size, used;
};

struct proc_facts {
	struct table threads;
	struct table processes;
	uint32_t uid;
	int32_t family_pid;
	uint64_t start_boot_ns;
	uint64_t second_ns; /* begin of the second that the rations below are for */
	size_t refreshed, processes_read;
	size_t cursor; /* thread to be read again next */
};

int proc_facts_create(struct proc_facts **out)
{
	struct proc_facts *facts = calloc(1, sizeof(*facts));

	if (!facts)
		return -ENOMEM;
	*out = facts;
	return 0;
}

void proc_facts_destroy(struct proc_facts *facts)
{
	if (!facts)
		return;
	free(facts->threads.facts);
	free(facts->processes.facts);
	free(facts);
}

/* --- tables --- */

static struct fact *slot_of(const struct table *table, uint64_t key)
{
	size_t mask = table->size - 1;
	size_t at = (key * 0x9e3779b97f4a7c15u >> 32) & mask;

	while (table->facts[at].key != 0 && table->facts[at].key != key)
		at = (at + 1) & mask;
	return &table->facts[at];
}

static struct fact *table_find(const struct table *table, uint64_t key)
{
	struct fact *fact = table->size && key ? slot_of(table, key) : NULL;

	return fact && fact->key ? fact : NULL;
}

static bool table_resize(struct table *table, size_t size)
{
	struct table fresh = {calloc(size, sizeof(struct fact)), size, table->used};

	if (!fresh.facts)
		return false;
	for (size_t i = 0; i < table->size; i++)
		if (table->facts[i].key != 0)
			*slot_of(&fresh, table->facts[i].key) = table->facts[i];
	free(table->facts);
	*table = fresh;
	return true;
}

/* NULL: no memory, the fact is not kept. */
static struct fact *table_add(struct table *table, uint64_t key)
{
	struct fact *fact;

	if (key == 0)
		return NULL;
	if ((table->used + 1) * 2 > table->size &&
	    !table_resize(table, table->size ? table->size * 2 : TABLE_MIN))
		return NULL;
	fact = slot_of(table, key);
	table->used += fact->key == 0;
	*fact = (struct fact){.key = key};
	return fact;
}

static void table_forget(struct table *table)
{
	free(table->facts);
	*table = (struct table){0};
}

/* --- files of /proc --- */

/* Reads a small file whole; returns its length, 0 where it cannot be read. */
static size_t read_small(const char *path, char *out, size_t room)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	ssize_t got;

	if (fd < 0)
		return 0;
	got = read(fd, out, room - 1);
	close(fd);
	got = got < 0 ? 0 : got;
	out[got] = '\0';
	return (size_t)got;
}

static bool read_comm(const char *path, char *out, size_t room)
{
	char text[64];
	size_t length = read_small(path, text, sizeof(text));

	if (length == 0)
		return false;
	if (text[length - 1] == '\n')
		text[length - 1] = '\0';
	snapshot_string(out, room, text, sizeof(text));
	return true;
}

static uint64_t read_rss(int32_t pid)
{
	char path[64], text[128];
	unsigned long long pages = 0;

	snprintf(path, sizeof(path), "/proc/%d/statm", pid);
	if (read_small(path, text, sizeof(text)) == 0 || sscanf(text, "%*u %llu", &pages) != 1)
		return 0;
	return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* Start of a process in ns of CLOCK_BOOTTIME; false where it is not there. */
static bool read_start(int32_t pid, uint64_t *out)
{
	char path[64], text[1024];
	const char *at;
	unsigned long long ticks;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	if (read_small(path, text, sizeof(text)) == 0)
		return false;
	at = strrchr(text, ')'); /* the name before it may hold anything */
	if (!at || sscanf(at,
			  ") %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d "
			  "%*d %*d %*d %llu",
			  &ticks) != 1)
		return false;
	*out = ticks * (SECOND / (uint64_t)sysconf(_SC_CLK_TCK));
	return true;
}

bool proc_exists(int32_t pid, uint32_t uid, uint64_t start_boot_ns)
{
	uint64_t start;
	struct stat st;
	char path[64];

	if (pid <= 0)
		return false;
	snprintf(path, sizeof(path), "/proc/%d", pid);
	if (stat(path, &st) < 0)
		return false;
	/* root may have become another user since; one that may not be traced shows as root's */
	if (uid != 0 && st.st_uid != uid && st.st_uid != 0)
		return false;
	if (!read_start(pid, &start))
		return false;
	return start_boot_ns > UINT64_MAX - START_SLACK || start <= start_boot_ns + START_SLACK;
}

/* --- processes --- */

static uint64_t process_key(int32_t pid, uint64_t started_ns)
{
	return (started_ns << 20 ^ (uint32_t)pid) | 1;
}

static bool believed(const struct proc_facts *facts, int32_t pid, uint64_t started_ns)
{
	uint64_t real = clock_ns(CLOCK_REALTIME), boot = clock_ns(CLOCK_BOOTTIME);
	uint64_t age = started_ns < real ? real - started_ns : 0;
	uint64_t started = age < boot ? boot - age : 0;

	if (pid == facts->family_pid)
		return proc_exists(pid, facts->uid, facts->start_boot_ns);
	return proc_exists(pid, facts->uid, started + CLOCK_SLACK);
}

static struct fact *know_process(struct proc_facts *facts, int32_t pid, uint64_t started_ns)
{
	uint64_t key = process_key(pid, started_ns);
	struct fact *fact = table_find(&facts->processes, key);

	if (fact)
		return fact;
	fact = table_add(&facts->processes, key);
	if (fact)
		fact->believed = believed(facts, pid, started_ns);
	return fact;
}

static void refresh_process(struct proc_facts *facts, struct fact *fact, int32_t pid, uint64_t now)
{
	char path[64];

	if (!fact->believed || facts->processes_read >= PROCESSES_PER_SECOND ||
	    (fact->read_ns != 0 && now - fact->read_ns < SECOND))
		return;
	facts->processes_read++;
	fact->read_ns = now;
	fact->rss_bytes = read_rss(pid);
	snprintf(path, sizeof(path), "/proc/%d/comm", pid);
	read_comm(path, fact->name, sizeof(fact->name));
}

static void fill_process(struct proc_facts *facts, struct process *process, uint64_t now)
{
	struct fact *fact = know_process(facts, process->pid, process->started_ns);

	if (!fact)
		return;
	/* No row of it ever was: only /proc can tell whether it is still there. */
	if (!process->ended && process->live_threads == 0)
		process->ended = !believed(facts, process->pid, process->started_ns);
	if (!process->ended)
		refresh_process(facts, fact, process->pid, now);
	process->rss_bytes = process->ended ? 0 : fact->rss_bytes;
	snapshot_string(process->name, sizeof(process->name), fact->name, sizeof(fact->name));
}

int32_t proc_facts_pid(struct proc_facts *facts, const struct family *family)
{
	for (size_t i = 0; i < family->live_processes; i++) {
		const struct process *process = &family->processes[i];
		const struct fact *fact = know_process(facts, process->pid, process->started_ns);

		if (fact && fact->believed)
			return process->pid;
	}
	return 0;
}

/* --- threads --- */

static void read_thread(struct fact *fact, int32_t pid, int32_t tid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task/%d/comm", pid, tid);
	read_comm(path, fact->name, sizeof(fact->name));
}

/* Threads whose rows were reused are forgotten now and then. */
static void forget_old(struct proc_facts *facts, const struct snapshot *now)
{
	struct table kept = {0};

	if (facts->threads.used <= 2 * now->thread_count + TABLE_MIN)
		return;
	for (size_t i = 0; i < now->thread_count; i++) {
		const struct fact *fact = table_find(&facts->threads, now->threads[i].serial);
		struct fact *copy = fact ? table_add(&kept, fact->key) : NULL;

		if (copy)
			*copy = *fact;
	}
	table_forget(&facts->threads);
	facts->threads = kept;
	if (facts->processes.used > 2 * now->process_count + TABLE_MIN)
		table_forget(&facts->processes);
}

void proc_facts_see(struct proc_facts *facts, const struct snapshot *now, size_t budget)
{
	facts->uid = now->header.uid;
	facts->family_pid = now->header.pid;
	facts->start_boot_ns = now->header.start_boot_ns;
	forget_old(facts, now);
	for (size_t i = 0; i < now->thread_count && budget > 0; i++) {
		const struct snapshot_thread *row = &now->threads[i];
		const struct seg_process *process = lineage_process(now, row);
		struct fact *owner, *fact;

		if (!row->live || !process || table_find(&facts->threads, row->serial))
			continue;
		owner = know_process(facts, process->pid, process->started_ns);
		fact = table_add(&facts->threads, row->serial);
		if (!owner || !owner->believed || !fact)
			continue;
		fact->believed = true;
		read_thread(fact, process->pid, row->tid);
		budget--;
	}
}

static void refresh_thread(struct proc_facts *facts, const struct family *family)
{
	const struct thread *thread = &family->threads[facts->cursor++ % family->thread_count];
	struct fact *fact = table_find(&facts->threads, thread->serial);

	facts->refreshed++;
	if (fact && fact->believed && !thread->ended && thread->role == THREAD_ONE &&
	    thread->pid > 0)
		read_thread(fact, thread->pid, thread->tid);
}

static void fill_threads(struct proc_facts *facts, struct family *family)
{
	size_t budget = family->thread_count < REFRESH_PER_SECOND ? family->thread_count
								  : REFRESH_PER_SECOND;

	while (facts->refreshed < budget)
		refresh_thread(facts, family);
	for (size_t i = 0; i < family->thread_count; i++) {
		struct thread *thread = &family->threads[i];
		const struct fact *fact = table_find(&facts->threads, thread->serial);

		if (thread->role == THREAD_ONE && fact)
			snapshot_string(thread->name, sizeof(thread->name), fact->name,
					sizeof(fact->name));
	}
}

void proc_facts_fill(struct proc_facts *facts, struct family *family)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);

	if (now - facts->second_ns >= SECOND) {
		facts->second_ns = now;
		facts->refreshed = 0;
		facts->processes_read = 0;
	}
	family->rss_bytes = 0;
	for (size_t i = 0; i < family->process_count; i++) {
		fill_process(facts, &family->processes[i], now);
		family->rss_bytes += family->processes[i].rss_bytes;
	}
	model_order_processes(family);
	fill_threads(facts, family);
}
