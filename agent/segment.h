/* SPDX-License-Identifier: MIT */
/*
 * segment.h - the layout of the shared segment: plain data between the agent and its readers.
 *
 * One segment belongs to one family: an exec'd image and everything that it forks. It is a file
 * "<pid>-<start>.seg" (decimal pid, hexadecimal CLOCK_BOOTTIME ns) of fixed size in HEAPTAP_DIR.
 * The agent's threads write it through MAP_SHARED; readers map it read-only, in another process,
 * and trust nothing in it. This is the only header of agent/ that others include.
 *
 *   0      +--------------------------------------------+
 *          | struct seg_header                 (1 page)  |
 *          +--------------------------------------------+  regions[SEG_PROCESSES].offset
 *          | struct seg_process [ ]                      |
 *          +--------------------------------------------+  regions[SEG_THREADS].offset
 *          | struct seg_thread [ ]   0: shared, 1: ended |
 *          +--------------------------------------------+  regions[SEG_MODULES].offset
 *          | struct seg_module [ ]                       |
 *          +--------------------------------------------+  regions[SEG_HEAP].offset
 *          | site tables, 2^n slots each                 |
 *   size   +--------------------------------------------+
 *
 * Each region is backed by memory up to `populated` bytes and holds `used` bytes of records; what
 * lies behind `populated` is a hole and reads as zeros.
 *
 * Counters have one writer and are 64-bit aligned stores, so a reader never sees half of one. What
 * a reader must do to see a consistent whole is said at `fold_seq` and at `seg_thread.table`.
 *
 * Native byte order; both sides run on the same machine. Times are ns, sizes are bytes.
 */
#pragma once

#include <stdint.h>

#define SEG_MAGIC	0x3167657370616568ull /* "heapseg1" */
#define SEG_VERSION	1u

#define SEG_HEADER_SIZE 4096u
#define SEG_ALIGN	65536u /* regions start on this boundary: the largest page size of Linux */
#define SEG_SIZE_MIN	(1u << 20)
#define SEG_SIZE_MAX	(1u << 30)

enum seg_region_id { SEG_PROCESSES, SEG_THREADS, SEG_MODULES, SEG_HEAP, SEG_REGIONS };

struct seg_region {
	uint64_t offset;    /* from the start of the segment */
	uint64_t size;	    /* address space set aside */
	uint64_t populated; /* bytes that have memory behind them */
	uint64_t used;	    /* bytes in use; records above it have never been written */
};

/*
 * What a call site did. A slot's key carries the kind in its top byte and the return address of
 * the call below it: one call instruction has one kind, except for realloc, which fills three.
 *
 *   kind                     count            bytes             more
 *   MALLOC .. NEW_ARRAY      allocations      requested         usable (malloc_usable_size)
 *   REALLOC_NULL             the same, for realloc(NULL, n)
 *   REALLOC                  the same, for a successful realloc of a block: the new block
 *   FREE, DELETE, ...        frees            usable            0
 *   REALLOC_FREE             old blocks given up by realloc, and realloc(p, 0):
 *                            frees            usable            those whose address changed
 *   REALLOC_GROWN            grown blocks     bytes copied, at most: min(old usable, new size)
 *                                             of each moved block
 *
 * "Grown": the new usable size is above the old one.
 */
enum seg_kind {
	SEG_KIND_NONE,
	SEG_KIND_MALLOC,
	SEG_KIND_CALLOC,
	SEG_KIND_ALIGNED, /* posix_memalign, aligned_alloc, memalign, valloc, pvalloc */
	SEG_KIND_NEW,
	SEG_KIND_NEW_ARRAY,
	SEG_KIND_REALLOC_NULL,
	SEG_KIND_REALLOC,
	SEG_KIND_FREE,
	SEG_KIND_DELETE,
	SEG_KIND_DELETE_ARRAY,
	SEG_KIND_REALLOC_FREE,
	SEG_KIND_REALLOC_GROWN,
	SEG_KINDS = 16
};

#define SEG_KEY_SHIFT	56
#define SEG_KEY_ADDRESS ((1ull << SEG_KEY_SHIFT) - 1)

struct seg_slot {
	uint64_t key; /* 0: empty; written last, after the counters below were zeroed */
	uint64_t count;
	uint64_t bytes;
	uint64_t more;
};

struct seg_tally { /* a slot without a key: calls that could not be given a site */
	uint64_t count;
	uint64_t bytes;
	uint64_t more;
};

/*
 * Where a thread's site table lies. It is replaced as a whole when it grows, and slots change
 * places within it. So a reader copies the table and then reads this word again: when it changed,
 * or when the generation is odd, the copy is void and is made anew.
 *
 *   63            40 39      32 31                                0
 *   +---------------+----------+----------------------------------+
 *   |  generation   |   log2   |  offset from segment start / 64  |     0: no table yet
 *   +---------------+----------+----------------------------------+
 *
 * The table has 2^log2 slots, open addressing; the order of its slots carries no meaning.
 */
#define SEG_TABLE_OFFSET(word) (((word)&0xffffffffull) << 6)
#define SEG_TABLE_LOG2(word)   ((unsigned)((word) >> 32) & 0xffu)
#define SEG_TABLE_WORD(offset, log2, generation)                                                   \
	((uint64_t)(offset) >> 6 | (uint64_t)(log2) << 32 |                                        \
	 (uint64_t)(generation) << SEG_TABLE_GENERATION_SHIFT)
#define SEG_TABLE_GENERATION_SHIFT 40
#define SEG_TABLE_GENERATION	   (1ull << SEG_TABLE_GENERATION_SHIFT)
#define SEG_TABLE_LOG2_MIN	   4u
#define SEG_TABLE_LOG2_MAX	   20u

/*
 * `life` is a robust pthread mutex that the thread holds as long as it lives. Its first word is
 * the robust futex of the kernel's ABI (Documentation/locking/robust-futex-ABI.rst): the low 30
 * bits are the owner's tid, in its own pid namespace, and the kernel itself sets bit 30
 * (FUTEX_OWNER_DIED) when the thread is gone, by exit, exec or SIGKILL: from then on the row is
 * final. A row is reused for another thread only after its counts have been added to an "ended"
 * row.
 */
#define SEG_LIFE_SIZE	   64u
#define SEG_LIFE_TID(word) ((word)&0x3fffffffu)
#define SEG_LIFE_DIED	   0x40000000u

enum seg_thread_state {
	SEG_THREAD_FREE,    /* never used, or given back: holds no counts */
	SEG_THREAD_USED,    /* a thread's: alive or ended, as `life` says */
	SEG_THREAD_FOLDING, /* ended; its counts are being moved (fold_seq is odd) */
	SEG_THREAD_ENDED,   /* sum of the ended threads of `process` whose rows were reused */
	SEG_THREAD_SHARED   /* row 0: threads for which there was no row; no sites */
};

#define SEG_ROW_SHARED 0u
#define SEG_ROW_ENDED  1u /* sum of the processes whose rows were reused; state ENDED */

/* Size class k counts requests with 2^k <= size < 2^(k+1); class 0 also those of size 0. */
#define SEG_SIZE_CLASSES 48u

struct seg_thread {
	uint8_t life[SEG_LIFE_SIZE];
	uint32_t state;	  /* enum seg_thread_state */
	uint32_t process; /* index into the process rows */
	uint64_t serial;  /* differs for every thread of the family, also in a reused row */
	uint64_t table;	  /* SEG_TABLE_WORD */
	uint64_t slots;	  /* slots of the table that are filled */
	uint64_t sizes[SEG_SIZE_CLASSES];
	struct seg_tally other[SEG_KINDS]; /* calls whose site did not fit into the table */
	uint8_t reserved[32];
};

enum seg_process_state { SEG_PROCESS_FREE, SEG_PROCESS_USED };

/* A process has ended when every thread row of it has; its row may then be reused. */
struct seg_process {
	uint32_t state;	    /* enum seg_process_state */
	int32_t pid;	    /* in its own pid namespace */
	uint32_t ended_row; /* index of the thread row with the sum of its ended threads; 0: none */
	uint32_t generation; /* grows when the row is reused */
	uint64_t started_ns; /* CLOCK_REALTIME */
	uint64_t threads_started;
	uint64_t threads_folded; /* of those, how many are in ended_row by now */
	uint32_t rows;		 /* agent's own: thread rows that it holds, besides ended_row */
	uint8_t reserved[20];
};

#define SEG_BUILD_ID_MAX 32u
#define SEG_MODULE_PATH	 416u

/* A loaded object, recorded when the first call site in it is seen. */
struct seg_module {
	uint64_t start; /* mapped range [start, end) */
	uint64_t end;
	uint64_t bias;		/* address in memory minus address in the file's symbol table */
	uint32_t build_id_size; /* 0: the object has none */
	uint32_t path_size;	/* without NUL; 0: the executable itself */
	uint8_t build_id[SEG_BUILD_ID_MAX];
	uint32_t flags; /* enum seg_module_flags */
	uint32_t reserved;
	char path[SEG_MODULE_PATH]; /* NUL-terminated */
	uint8_t reserved2[24];
};

enum seg_module_flags { SEG_MODULE_PATH_CUT = 1 };

/* What was lost or could not be told apart. The calls themselves are always counted. The agent
 * leaves THREADS and SITES at 0: the tallies that they name already hold the number. */
enum seg_drop {
	SEG_DROP_THREADS,   /* calls by threads without a row: they are in row SHARED */
	SEG_DROP_PROCESSES, /* forked processes without a row: they are in row SHARED */
	SEG_DROP_SITES,	    /* calls whose site found no place in the table: they are in `other` */
	SEG_DROP_MODULES,   /* sites in objects that found no place in the module table */
	SEG_DROP_MEMORY,    /* times the kernel gave no memory for the segment (tmpfs full) */
	SEG_DROP_LOCK,	    /* times the family's lock was not to be had in time */
	SEG_DROP_RECOVERED, /* times a process died while it held that lock */
	SEG_DROPS = 16
};

/* What went wrong in the agent; `err` is an errno value or 0, `text` the offending setting. */
enum seg_problem_code {
	SEG_PROBLEM_NONE,
	SEG_PROBLEM_SETTING,	     /* text "NAME=value": bad value, the default is used */
	SEG_PROBLEM_UNKNOWN_SETTING, /* text "NAME": no such HEAPTAP_ variable */
	SEG_PROBLEM_DIR,       /* text: HEAPTAP_DIR not usable, the default directory is used */
	SEG_PROBLEM_SERVER,    /* text: heaptap-server that could not be started */
	SEG_PROBLEM_NOT_FIRST, /* text: object whose malloc is in force instead of ours */
	SEG_PROBLEM_LOG	       /* text: HEAPTAP_LOG that could not be written */
};

#define SEG_PROBLEMS 12u

struct seg_problem {
	uint32_t code;
	int32_t err;
	char text[120]; /* NUL-terminated */
};

enum seg_flags {
	SEG_FLAG_KEEP = 1,  /* HEAPTAP_KEEP=1: nobody removes the file */
	SEG_FLAG_EXITED = 2 /* the last process of the family ended by exit(), not by a signal */
};

#define SEG_FREE_CLASSES 16u

struct seg_header {
	uint64_t magic; /* written last: a file without it is not ready yet */
	uint32_t version;
	uint32_t header_size;
	uint64_t size; /* of the file */
	int32_t pid;   /* of the family's first process */
	uint32_t uid;
	uint64_t start_boot_ns; /* as in the file's name */
	uint64_t started_ns;	/* CLOCK_REALTIME */
	/* Odd while counts move from one row to another. A reader notes it before and compares it
	 * after its walk over all rows; odd or changed means that the walk is void. */
	uint64_t fold_seq;
	uint64_t flags; /* enum seg_flags */
	struct seg_region regions[SEG_REGIONS];
	uint64_t threads_started; /* of the whole family, ended ones too */
	uint64_t processes_started;
	uint64_t processes_folded; /* of those, how many are in row ENDED by now */
	uint64_t dropped[SEG_DROPS];
	uint64_t free_blocks[SEG_FREE_CLASSES]; /* agent's own: lists of free tables by log2 */
	uint8_t lock[SEG_LIFE_SIZE];		/* agent's own: robust mutex of the family */
	struct seg_problem problems[SEG_PROBLEMS];
	char listen[128];     /* HEAPTAP_LISTEN as in force; "": the default */
	char token_file[256]; /* HEAPTAP_TOKEN_FILE; "": the default */
	char exe[512];	      /* path of the executable, cut where longer */
	char cmdline[512];    /* arguments separated by blanks, cut where longer */
	uint8_t reserved[0x268];
};

_Static_assert(sizeof(struct seg_slot) == 32, "layout");
_Static_assert(sizeof(struct seg_thread) == 896, "layout");
_Static_assert(sizeof(struct seg_process) == 64, "layout");
_Static_assert(sizeof(struct seg_module) == 512, "layout");
_Static_assert(sizeof(struct seg_problem) == 128, "layout");
_Static_assert(sizeof(struct seg_header) == SEG_HEADER_SIZE, "layout");
