/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TOOL_OWNERS_H
#define RR_TOOL_OWNERS_H

#include <stdbool.h>
#include <stdint.h>

#include <rpcrdma/nfs.h>

#include "vfs/idmap/idmap.h"

/* The numbers that users and groups have on this machine whom a server names "user@domain", with a memory of
 * those that were asked for last. */

enum { RR_OWNERS_MEMORY = 64 };

/* The number of a user or group that this machine does not know. */
#define RR_OWNERS_NOBODY UINT32_MAX

struct rr_owners {
	char domain[RR_IDMAP_NAME + 1]; /* of names of this machine; "" until it is known */
	bool asked;                     /* the domain was asked for */
	struct {
		char name[RPCRDMA_NFS_OWNER_MAX + 1];
		bool is_group;
		uint32_t number;
	} memory[RR_OWNERS_MEMORY];
};

/* Returns the number of the user or group, or RR_OWNERS_NOBODY: for names of another domain, too. Waits for
 * the directory of users. *owners is zeroed before the first call, or has the domain. */
uint32_t rr_owners_number(struct rr_owners *owners, const char *name, bool is_group);

#endif
