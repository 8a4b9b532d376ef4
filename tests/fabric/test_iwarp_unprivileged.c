/* SPDX-License-Identifier: BSD-3-Clause */
#include <grp.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "fabric/iwarp/iwarp.h"
#include "world.h"

/* What connects and transfers, by a user who may nothing: iWARP in user space needs no root and no
 * capability. */

enum { NOBODY = 65534 };

/* The effective and permitted sets as the kernel tells them. */
static bool
has_capabilities(void)
{
	FILE *file = fopen("/proc/self/status", "r");
	unsigned long long set, all = 0;
	char line[256];

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "CapEff: %llx", &set) == 1 || sscanf(line, "CapPrm: %llx", &set) == 1)
			all |= set;
	if (file)
		fclose(file);
	return !file || all;
}

int
main(void)
{
	if (geteuid() == 0 && (setgroups(0, NULL) || setresgid(NOBODY, NOBODY, NOBODY) ||
				      setresuid(NOBODY, NOBODY, NOBODY)))
		return 1;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || has_capabilities()) {
		fprintf(stderr, "privileges are left\n");
		return 1;
	}
	world_provider(rr_iwarp_fabric_new, NULL);
	return suite_connect() + suite_send() + suite_rdma();
}
