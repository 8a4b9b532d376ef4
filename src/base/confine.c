/* SPDX-License-Identifier: BSD-3-Clause */
/* The filter is written here and not made by libseccomp: it is one table of numbers and three checks, which a
 * library would not make shorter, and a program that is linked to none needs none. */
#include "base/confine.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <rpcrdma/error.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The architecture of this program, as seccomp(2) names it; 0: no filter is written for it. */
#if defined(__x86_64__) && !defined(__ILP32__)
#define CONFINE_ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__) && defined(__AARCH64EL__)
#define CONFINE_ARCHITECTURE AUDIT_ARCH_AARCH64
#elif defined(__s390x__)
#define CONFINE_ARCHITECTURE AUDIT_ARCH_S390X
#elif defined(__riscv) && __riscv_xlen == 64
#define CONFINE_ARCHITECTURE AUDIT_ARCH_RISCV64
#else
#define CONFINE_ARCHITECTURE 0
#endif

/* seccomp(2): numbers of the x32 ABI have this bit, and the architecture of x86-64. */
enum { CONFINE_X32 = 0x40000000 };

#define CONFINE_BIT(capability) (UINT64_C(1) << (capability))

static const uint64_t confine_kept[] = {
	[RR_CONFINE_FILES] = CONFINE_BIT(CAP_CHOWN) | CONFINE_BIT(CAP_DAC_OVERRIDE) |
			     CONFINE_BIT(CAP_DAC_READ_SEARCH) | CONFINE_BIT(CAP_FOWNER) |
			     CONFINE_BIT(CAP_FSETID) | CONFINE_BIT(CAP_IPC_LOCK) | CONFINE_BIT(CAP_LEASE) |
			     CONFINE_BIT(CAP_MKNOD) | CONFINE_BIT(CAP_NET_BIND_SERVICE) |
			     CONFINE_BIT(CAP_SETGID) | CONFINE_BIT(CAP_SETUID),
	/* Certificates that are renewed, and the files of --flight, may be another user's. */
	[RR_CONFINE_RELAY] = CONFINE_BIT(CAP_DAC_OVERRIDE) | CONFINE_BIT(CAP_DAC_READ_SEARCH) |
			     CONFINE_BIT(CAP_IPC_LOCK) | CONFINE_BIT(CAP_NET_BIND_SERVICE),
};

static const uint32_t confine_refused[] = {
	/* programs */
	SYS_execve,
	SYS_execveat,
/* other processes */
#if !RR_CONFINE_TRACES
	SYS_ptrace,
#endif
	SYS_process_vm_readv,
	SYS_process_vm_writev,
#ifdef SYS_pidfd_getfd
	SYS_pidfd_getfd,
#endif
	/* mounts and namespaces; unshare(2) is how threads get a umask of their own */
	SYS_mount,
	SYS_umount2,
	SYS_pivot_root,
	SYS_chroot,
	SYS_setns,
#ifdef SYS_move_mount
	SYS_move_mount,
	SYS_open_tree,
	SYS_fsopen,
	SYS_fsconfig,
	SYS_fsmount,
	SYS_fspick,
#endif
#ifdef SYS_mount_setattr
	SYS_mount_setattr,
#endif
	/* the kernel and the machine */
	SYS_init_module,
	SYS_finit_module,
	SYS_delete_module,
	SYS_kexec_load,
	SYS_bpf,
	SYS_perf_event_open,
	SYS_userfaultfd,
	SYS_reboot,
	SYS_swapon,
	SYS_swapoff,
	SYS_acct,
	SYS_syslog,
	SYS_sethostname,
	SYS_setdomainname,
	SYS_settimeofday,
	SYS_clock_settime,
	SYS_clock_adjtime,
	SYS_personality,
};

enum {
	CONFINE_REFUSED = sizeof(confine_refused) / sizeof(confine_refused[0]),
	CONFINE_HEAD = 4, /* instructions before the comparisons with the table, and behind them */
	CONFINE_TAIL = 2,
	CONFINE_SIZE = CONFINE_HEAD + CONFINE_REFUSED + CONFINE_TAIL,
};

_Static_assert(CONFINE_SIZE < 256, "a jump of the filter has eight bits");

/* Drops the capabilities that are not among `kept`, also where the process could get them back. */
static bool
confine_drop(uint64_t kept)
{
	struct __user_cap_header_struct head = { _LINUX_CAPABILITY_VERSION_3, 0 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];

	if (syscall(SYS_capget, &head, data) != 0)
		return false;
	for (int i = 0; i < _LINUX_CAPABILITY_U32S_3; i++) {
		uint32_t mask = (uint32_t)(kept >> (32 * i));

		data[i].effective &= mask;
		data[i].permitted &= mask;
		data[i].inheritable = 0;
	}
	return syscall(SYS_capset, &head, data) == 0;
}

/* Writes the filter: a call by another ABI is refused, as its numbers mean other calls; then the number is
 * compared with each of the table. */
static void
confine_write(struct sock_filter filter[CONFINE_SIZE])
{
	static const struct sock_filter head[CONFINE_HEAD] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, CONFINE_ARCHITECTURE, 0, CONFINE_REFUSED + 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, CONFINE_X32, CONFINE_REFUSED + 1, 0),
	};
	static const struct sock_filter tail[CONFINE_TAIL] = {
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
	};

	memcpy(filter, head, sizeof(head));
	for (uint8_t i = 0; i < CONFINE_REFUSED; i++)
		filter[CONFINE_HEAD + i] = (struct sock_filter)BPF_JUMP(
			BPF_JMP | BPF_JEQ | BPF_K, confine_refused[i], (uint8_t)(CONFINE_REFUSED - i), 0);
	memcpy(filter + CONFINE_HEAD + CONFINE_REFUSED, tail, sizeof(tail));
}

int
rr_confine(enum rr_confine_service service, struct rr_text *text)
{
	struct sock_filter filter[CONFINE_SIZE];
	const struct sock_fprog program = { CONFINE_SIZE, filter };

	if (!confine_drop(confine_kept[service]))
		return rr_fail(
			text, -RPCRDMA_ERR_NOTSUP, "capabilities cannot be dropped: %s", strerror(errno));
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		return rr_fail(
			text, -RPCRDMA_ERR_NOTSUP, "the kernel has no no_new_privs: %s", strerror(errno));
	if (CONFINE_ARCHITECTURE == 0)
		return rr_fail(text, -RPCRDMA_ERR_NOTSUP,
			"there is no filter of system calls for this kind of processor");
	confine_write(filter);
	if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) != 0)
		return rr_fail(text, -RPCRDMA_ERR_NOTSUP, "the kernel takes no filter of system calls: %s",
			strerror(errno));
	return 0;
}
