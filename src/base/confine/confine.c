/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/confine/private.h"

#include <errno.h>
#include <linux/capability.h>
#include <rpcrdma/error.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

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

int
rr_confine(enum rr_confine_service service, struct rr_confine *confine, struct rr_text *text)
{
	struct rr_text other;
	int files, calls;

	if (!confine_drop(confine_kept[service]))
		return rr_fail(
			text, -RPCRDMA_ERR_NOTSUP, "capabilities cannot be dropped: %s", strerror(errno));
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		return rr_fail(
			text, -RPCRDMA_ERR_NOTSUP, "the kernel has no no_new_privs: %s", strerror(errno));
	files = confine ? rr_confine_landlock(confine, text) : 0;
	/* The filter refuses the calls for rules. */
	calls = rr_confine_calls(files < 0 ? &other : text);
	return files < 0 ? files : calls;
}
