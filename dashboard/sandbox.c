/* SPDX-License-Identifier: MIT */
/*
 * sandbox.c - see sandbox.h.
 *
 * A list of what is denied rather than of what is allowed: libmicrohttpd, GnuTLS and the C library
 * change their system calls from release to release, and a server that dies of a new one is worse
 * than one that may do a little more. EPERM rather than a kill, for the same reason.
 */
#include "dashboard/sandbox.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#define NICE	    5
#define MEMORY_MAX  (256ul << 20)
#define FILES_MAX   4096u
#define X32_BIT	    0x40000000u
#define LIST_LENGTH (sizeof denied / sizeof denied[0])

#if defined(__x86_64__)
#define OWN_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define OWN_ARCH AUDIT_ARCH_AARCH64
#else
#error "sandbox.c: this architecture is not known"
#endif

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1 /* the shadow is larger than any cap, and the leak check uses ptrace */
#else
#define SANITIZED 0
#endif

static const unsigned denied[] = {
	__NR_execve,
	__NR_execveat,
#if !SANITIZED
	__NR_ptrace,
#endif
	__NR_process_vm_readv,
	__NR_process_vm_writev,
	__NR_kcmp,
	__NR_mount,
	__NR_umount2,
	__NR_pivot_root,
	__NR_chroot,
	__NR_unshare,
	__NR_setns,
	__NR_bpf,
	__NR_perf_event_open,
	__NR_userfaultfd,
	__NR_kexec_load,
#ifdef __NR_kexec_file_load
	__NR_kexec_file_load,
#endif
	__NR_init_module,
	__NR_finit_module,
	__NR_delete_module,
	__NR_reboot,
	__NR_swapon,
	__NR_swapoff,
	__NR_settimeofday,
	__NR_clock_settime,
	__NR_adjtimex,
	__NR_sethostname,
	__NR_setdomainname,
	__NR_acct,
	__NR_quotactl,
	__NR_add_key,
	__NR_request_key,
	__NR_keyctl,
	__NR_open_by_handle_at,
	__NR_syslog,
	__NR_setuid,
	__NR_setgid,
	__NR_setreuid,
	__NR_setregid,
	__NR_setresuid,
	__NR_setresgid,
	__NR_setgroups,
	__NR_capset,
	__NR_kill,
	__NR_tkill,
	__NR_pidfd_send_signal,
	__NR_io_uring_setup,
	__NR_mknodat,
#ifdef __x86_64__
	__NR_mknod,
	__NR_iopl,
	__NR_ioperm,
	__NR_modify_ldt,
#endif
};

static void lower(int what, rlim_t value)
{
	struct rlimit limit;

	if (getrlimit(what, &limit) || (limit.rlim_cur <= value && limit.rlim_max <= value))
		return;
	if (limit.rlim_max > value)
		limit.rlim_max = value;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(what, &limit);
}

/* The host's soft limit may be anything. */
static void allow_files(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return;
	limit.rlim_cur = limit.rlim_max < FILES_MAX ? limit.rlim_max : FILES_MAX;
	setrlimit(RLIMIT_NOFILE, &limit);
}

void sandbox_limit(void)
{
	int priority = getpriority(PRIO_PROCESS, 0);

	setpriority(PRIO_PROCESS, 0, priority + NICE);
	allow_files();
	lower(RLIMIT_CORE, 0);
	if (!SANITIZED)
		lower(RLIMIT_DATA, MEMORY_MAX); /* not AS: segments are mapped, and may be large */
}

/*
 *   load arch;   other than ours      -> deny
 *   load number; x32 bit set          -> deny (the same calls under other numbers)
 *   number == denied[i]  ...          -> deny
 *   allow
 *   deny: EPERM
 */
static size_t build(struct sock_filter *filter)
{
	const unsigned deny = (unsigned)LIST_LENGTH + 5;
	unsigned at = 0;

	filter[at++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
						    offsetof(struct seccomp_data, arch));
	filter[at] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, OWN_ARCH, 0,
						  (__u8)(deny - at - 1));
	at++;
	filter[at++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
						    offsetof(struct seccomp_data, nr));
	filter[at] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, X32_BIT,
						  (__u8)(deny - at - 1), 0);
	at++;
	for (size_t i = 0; i < LIST_LENGTH; i++, at++)
		filter[at] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, denied[i],
							  (__u8)(deny - at - 1), 0);
	filter[at++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	filter[at++] =
		(struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (EPERM & 0xffff));
	return at;
}

int sandbox_enter(void)
{
	struct sock_filter filter[LIST_LENGTH + 6];
	struct sock_fprog program = {.filter = filter};

	_Static_assert(LIST_LENGTH + 6 < 256, "a jump of the filter is one byte");
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return -errno;
	program.len = (unsigned short)build(filter);
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0))
		return -errno;
	return 0;
}
