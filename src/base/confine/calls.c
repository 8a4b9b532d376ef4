/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The system calls that a service makes, and the filter that refuses all others with EPERM. The kernel's log
 * names each call that was refused ("type=1326", with its number): who adds a library, or a call, looks
 * there.
 *
 * The filter is written here and not made by libseccomp: it is one table of numbers and a few checks, which a
 * library would not make shorter, and a program that is linked to none needs none. The kernel remembers for
 * each number that the filter allows it whatever the arguments are, so that the length of the table costs
 * nothing later.
 */
#include "base/confine/private.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <rpcrdma/error.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The architecture of this program, as seccomp(2) names it; without one, no filter is written. */
#if defined(__x86_64__) && !defined(__ILP32__)
#define CALLS_ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__) && defined(__AARCH64EL__)
#define CALLS_ARCHITECTURE AUDIT_ARCH_AARCH64
#elif defined(__s390x__)
#define CALLS_ARCHITECTURE AUDIT_ARCH_S390X
#elif defined(__riscv) && __riscv_xlen == 64
#define CALLS_ARCHITECTURE AUDIT_ARCH_RISCV64
#endif

#ifdef CALLS_ARCHITECTURE

static const uint32_t calls_allowed[] = {
	/* Reading and writing: files, sockets, eventfds. */
	SYS_read,
	SYS_write,
	SYS_pread64,
	SYS_pwrite64,
	SYS_readv,
	SYS_writev,
	SYS_preadv,
	SYS_pwritev,
	SYS_preadv2,
	SYS_pwritev2,
	SYS_close,
	SYS_close_range,
	SYS_lseek,
	SYS_copy_file_range,
	SYS_fallocate,
	SYS_ftruncate,
	SYS_fsync,
	SYS_fdatasync,
	SYS_sync_file_range,
	SYS_syncfs,
	SYS_fadvise64,
	SYS_readahead,
	SYS_ioctl, /* reflinks, extents, terminals, adapters */
	SYS_fcntl,
	SYS_flock,
	SYS_dup,
	SYS_dup3,
	SYS_pipe2,
	/* Files, as the operations of NFS name, make, change and remove them. */
	SYS_openat,
	SYS_openat2,
	SYS_name_to_handle_at,
	SYS_open_by_handle_at,
	SYS_fstat,
	SYS_newfstatat,
	SYS_statx,
	SYS_statfs,
	SYS_fstatfs,
	SYS_getdents64,
	SYS_readlinkat,
	SYS_faccessat,
	SYS_faccessat2,
	SYS_mkdirat,
	SYS_mknodat,
	SYS_symlinkat,
	SYS_linkat,
	SYS_unlinkat,
#ifdef SYS_renameat
	SYS_renameat,
#endif
	SYS_renameat2,
	SYS_truncate,
	SYS_fchmod,
	SYS_fchmodat,
#ifdef SYS_fchmodat2
	SYS_fchmodat2,
#endif
	SYS_fchown,
	SYS_fchownat,
	SYS_utimensat,
	SYS_umask,
	SYS_getcwd,
	SYS_getxattr,
	SYS_lgetxattr,
	SYS_fgetxattr,
	SYS_setxattr,
	SYS_lsetxattr,
	SYS_fsetxattr,
	SYS_listxattr,
	SYS_llistxattr,
	SYS_flistxattr,
	SYS_removexattr,
	SYS_lremovexattr,
	SYS_fremovexattr,
	/* Sockets. */
	SYS_socketpair,
	SYS_bind,
	SYS_listen,
	SYS_accept,
	SYS_accept4,
	SYS_connect,
	SYS_getsockname,
	SYS_getpeername,
	SYS_getsockopt,
	SYS_setsockopt,
	SYS_sendto,
	SYS_recvfrom,
	SYS_sendmsg,
	SYS_recvmsg,
	SYS_sendmmsg,
	SYS_recvmmsg,
	SYS_shutdown,
	/* The loop, and waiting. */
	SYS_epoll_create1,
	SYS_epoll_ctl,
	SYS_epoll_pwait,
#ifdef SYS_epoll_pwait2
	SYS_epoll_pwait2,
#endif
	SYS_eventfd2,
	SYS_signalfd4,
	SYS_timerfd_create,
	SYS_timerfd_settime,
	SYS_ppoll,
	SYS_pselect6,
	SYS_nanosleep,
	SYS_clock_nanosleep,
	/* Storage reads by rings; what a ring does is held by the rules of landlock.c. */
	SYS_io_uring_setup,
	SYS_io_uring_enter,
	SYS_io_uring_register,
	/* Memory, also that of adapters and of libraries that are loaded. */
	SYS_brk,
	SYS_mmap,
	SYS_munmap,
	SYS_mremap,
	SYS_mprotect,
	SYS_madvise,
	SYS_msync,
	SYS_mlock,
	SYS_mlock2,
	SYS_munlock,
	SYS_memfd_create,
	SYS_membarrier,
	SYS_get_mempolicy, /* allocators of libceph ask where memory is */
	/* Threads, and the end of the process. clone3(2) is refused by a filter of its own. */
	SYS_clone3,
	SYS_futex,
	SYS_set_robust_list,
	SYS_get_robust_list,
#ifdef SYS_rseq
	SYS_rseq,
#endif
	SYS_set_tid_address,
	SYS_exit,
	SYS_exit_group,
	SYS_wait4,
	SYS_waitid,
	SYS_sched_yield,
	SYS_sched_getaffinity,
	SYS_sched_setaffinity,
	SYS_sched_getparam,
	SYS_sched_setparam,
	SYS_sched_getscheduler,
	SYS_sched_setscheduler,
	SYS_sched_get_priority_max,
	SYS_sched_get_priority_min,
	SYS_getpriority,
	SYS_setpriority,
	SYS_getcpu,
	SYS_prctl,
	/* Signals: landlock.c lets none leave. */
	SYS_rt_sigaction,
	SYS_rt_sigprocmask,
	SYS_rt_sigreturn,
	SYS_rt_sigsuspend,
	SYS_rt_sigtimedwait,
	SYS_sigaltstack,
	SYS_restart_syscall,
	SYS_kill,
	SYS_tkill,
	SYS_tgkill,
	/* Identities: each operation is done as its caller. */
	SYS_getuid,
	SYS_geteuid,
	SYS_getgid,
	SYS_getegid,
	SYS_getresuid,
	SYS_getresgid,
	SYS_getgroups,
	SYS_setgroups,
	SYS_setfsuid,
	SYS_setfsgid,
	SYS_setresuid, /* Kerberos opens the replay cache as another user; quotas are asked for as their users
			*/
	SYS_setresgid,
#ifdef SYS_quotactl_fd
	SYS_quotactl_fd,
#endif
	SYS_capget,
	SYS_capset,
	/* What the machine and the process are. */
	SYS_getpid,
	SYS_getppid,
	SYS_gettid,
	SYS_getpgid,
	SYS_getsid,
	SYS_uname,
	SYS_sysinfo,
	SYS_times,
	SYS_getrusage,
	SYS_prlimit64,
#ifdef SYS_getrlimit
	SYS_getrlimit,
	SYS_setrlimit,
#endif
	SYS_clock_gettime,
	SYS_clock_getres,
	SYS_gettimeofday,
	SYS_getrandom,
	/* Kerberos may keep tickets in keyrings. */
	SYS_keyctl,
	SYS_add_key,
/* The forms of calls above that older kernels had, which some C libraries make still. */
#ifdef SYS_open
	SYS_open,
	SYS_creat,
	SYS_stat,
	SYS_lstat,
	SYS_access,
	SYS_readlink,
	SYS_mkdir,
	SYS_rmdir,
	SYS_mknod,
	SYS_link,
	SYS_symlink,
	SYS_unlink,
	SYS_rename,
	SYS_chmod,
	SYS_chown,
	SYS_lchown,
	SYS_utime,
	SYS_utimes,
	SYS_futimesat,
	SYS_getdents,
	SYS_dup2,
	SYS_pipe,
	SYS_poll,
	SYS_select,
	SYS_epoll_create,
	SYS_epoll_wait,
	SYS_eventfd,
	SYS_getpgrp,
#endif
#ifdef SYS_time
	SYS_time,
#endif
#ifdef SYS_arch_prctl
	SYS_arch_prctl,
#endif
#ifdef SYS_riscv_hwprobe
	SYS_riscv_hwprobe,
#endif
#if RR_CONFINE_TRACES
	SYS_ptrace,
#endif
};

/* seccomp(2): numbers of the x32 ABI have this bit, and the architecture of x86-64. */
enum { CALLS_X32 = 0x40000000 };

/* Namespaces that no thread and no process of a service has of its own. A server that is not root has a child
 * in a user namespace open its own files (vfs/posix/tree/own.c). */
#define CALLS_NAMESPACES                                                                                     \
	(CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWPID | CLONE_NEWNET)

/* clone(2): on s390 "the order of the first two arguments ... is reversed". */
#if defined(__s390x__)
enum { CALLS_CLONE_FLAGS = 1 };
#else
enum { CALLS_CLONE_FLAGS = 0 };
#endif

/* The lower half of an argument: all that counts here are numbers of 32 bits. */
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define CALLS_ARGUMENT(i) (offsetof(struct seccomp_data, args) + 8 * (i) + 4)
#else
#define CALLS_ARGUMENT(i) (offsetof(struct seccomp_data, args) + 8 * (i))
#endif

#define CALLS_LOAD(offset)       BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)(offset))
#define CALLS_IS(value, yes, no) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)(value), yes, no)
#define CALLS_HAS(bits, yes, no) BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, (uint32_t)(bits), yes, no)
#define CALLS_ALLOW              BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
#define CALLS_REFUSE(error)      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (error))

/* The flags of clone3(2) lie in memory, where a filter does not see them. The C library tries it for each
 * thread, and falls back to clone(2): as this is as it should be, it is a filter of its own, of which the
 * kernel's log says nothing. */
static const struct sock_filter calls_silent[] = {
	CALLS_LOAD(offsetof(struct seccomp_data, nr)),
	CALLS_IS(SYS_clone3, 0, 1),
	CALLS_REFUSE(ENOSYS),
	CALLS_ALLOW,
};

/* What comes before the table. A jump counts the instructions that it skips. */
static const struct sock_filter calls_head[] = {
	/* A call by another ABI is refused, as its numbers mean other calls. */
	CALLS_LOAD(offsetof(struct seccomp_data, arch)),
	CALLS_IS(CALLS_ARCHITECTURE, 1, 0),
	CALLS_REFUSE(EPERM),
	CALLS_LOAD(offsetof(struct seccomp_data, nr)),
	BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, CALLS_X32, 0, 1),
	CALLS_REFUSE(EPERM),
	CALLS_IS(SYS_clone, 0, 4),
	CALLS_LOAD(CALLS_ARGUMENT(CALLS_CLONE_FLAGS)),
	CALLS_HAS(CALLS_NAMESPACES, 0, 1),
	CALLS_REFUSE(EPERM),
	CALLS_ALLOW,
	/* Threads get a umask of their own. */
	CALLS_IS(SYS_unshare, 0, 4),
	CALLS_LOAD(CALLS_ARGUMENT(0)),
	CALLS_IS(CLONE_FS, 0, 1),
	CALLS_ALLOW,
	CALLS_REFUSE(EPERM),
	/* Netlink is where adapters, and the addresses of this machine, are found. */
	CALLS_IS(SYS_socket, 0, 7),
	CALLS_LOAD(CALLS_ARGUMENT(0)),
	CALLS_IS(AF_UNIX, 3, 0),
	CALLS_IS(AF_INET, 2, 0),
	CALLS_IS(AF_INET6, 1, 0),
	CALLS_IS(AF_NETLINK, 0, 1),
	CALLS_ALLOW,
	CALLS_REFUSE(EAFNOSUPPORT),
};

enum {
	CALLS_ALLOWED = sizeof(calls_allowed) / sizeof(calls_allowed[0]),
	CALLS_HEAD = sizeof(calls_head) / sizeof(calls_head[0]),
	CALLS_SIZE = CALLS_HEAD + 2 * CALLS_ALLOWED + 1,
};

_Static_assert(CALLS_SIZE <= BPF_MAXINSNS, "the kernel takes the filter");

/* Writes the filter: the checks before the table, two instructions for each call of the table, and the
 * refusal of all else. */
static void
calls_write(struct sock_filter filter[CALLS_SIZE])
{
	struct sock_filter *next = filter + CALLS_HEAD;

	memcpy(filter, calls_head, sizeof(calls_head));
	for (uint32_t i = 0; i < CALLS_ALLOWED; i++) {
		*next++ = (struct sock_filter)CALLS_IS(calls_allowed[i], 0, 1);
		*next++ = (struct sock_filter)CALLS_ALLOW;
	}
	*next = (struct sock_filter)CALLS_REFUSE(EPERM);
}

/* Has all threads use the filter, beside those that they have. */
static bool
calls_install(const struct sock_filter *filter, unsigned short size, unsigned flags)
{
	const struct sock_fprog program = { size, (struct sock_filter *)(uintptr_t)filter };

	return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags | SECCOMP_FILTER_FLAG_TSYNC, &program) ==
	       0;
}

int
rr_confine_calls(struct rr_text *text)
{
	struct sock_filter filter[CALLS_SIZE];

	calls_write(filter);
	if (!calls_install(calls_silent, sizeof(calls_silent) / sizeof(calls_silent[0]), 0) ||
		!calls_install(filter, CALLS_SIZE, SECCOMP_FILTER_FLAG_LOG))
		return rr_fail(text, -RPCRDMA_ERR_NOTSUP, "the kernel takes no filter of system calls: %s",
			strerror(errno));
	return 0;
}

#else

int
rr_confine_calls(struct rr_text *text)
{
	return rr_fail(
		text, -RPCRDMA_ERR_NOTSUP, "there is no filter of system calls for this kind of processor");
}

#endif
