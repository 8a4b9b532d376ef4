/* SPDX-License-Identifier: BSD-3-Clause */
#include <grp.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "fabric/iwarp/iwarp.h"
#include "world.h"

/* Connects and transfers as a user without rights: iWARP in user space needs neither root nor a capability.
 */

enum { NOBODY = 65534 };

/* Whether the process has capabilities in its effective or permitted set. */
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
