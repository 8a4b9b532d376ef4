/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <linux/capability.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "fabric/verbs/verbs.h"

/* Whether the process has the capability CAP_IPC_LOCK, which allows it to lock any amount of memory. */
static bool
limits_may_lock_anything(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];

	return syscall(SYS_capget, &header, data) == 0 &&
	       data[CAP_TO_INDEX(CAP_IPC_LOCK)].effective & CAP_TO_MASK(CAP_IPC_LOCK);
}

int
rr_verbs_check_locked_memory(uint64_t need, bool strict, struct rr_text *text)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_MEMLOCK, &limit) < 0 || limit.rlim_cur == RLIM_INFINITY ||
		limit.rlim_cur >= need || (!strict && limits_may_lock_anything()))
		return 0;
	return rr_fail(text, -RPCRDMA_ERR_LIMIT,
		"locked memory is limited to %" PRIu64 " KiB, and %" PRIu64
		" KiB are needed for receives alone: raise it (ulimit -l, memlock in "
		"/etc/security/limits.conf, LimitMEMLOCK= of a systemd unit)",
		(uint64_t)limit.rlim_cur / 1024, (need + 1023) / 1024);
}
