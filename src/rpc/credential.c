/* SPDX-License-Identifier: BSD-3-Clause */
#include "rpc/credential.h"

#include <rpcrdma/error.h>
#include <string.h>
#include <unistd.h>

/* Fills in the credential of this process: its effective user and group, its further groups, and the host's
 * name, which it stores in machine. RFC 5531, appendix A: "The "machinename" is the name of the caller's
 * machine". */
static void
credential_own(struct rr_auth_sys *cred, char *machine)
{
	gid_t groups[RR_AUTH_SYS_GIDS];
	int count = getgroups(RR_AUTH_SYS_GIDS, groups);

	cred->uid = (uint32_t)geteuid();
	cred->gid = (uint32_t)getegid();
	/* If the process has more groups than AUTH_SYS can carry, getgroups() fails, and no groups are
	 * sent. */
	for (int i = 0; i < count; i++)
		cred->gids[cred->gid_count++] = (uint32_t)groups[i];
	if (gethostname(machine, RPCRDMA_AUTH_SYS_NAME) < 0)
		machine[0] = '\0';
}

/* Copies the given credential into cred, and its machine name into machine. Returns 0, or -RPCRDMA_ERR_INVAL
 * if the given credential has too many groups, or its name has no terminating zero. */
static int
credential_given(
	struct rr_auth_sys *cred, char *machine, const struct rpcrdma_auth_sys *given, struct rr_text *text)
{
	if (given->gid_count > RPCRDMA_AUTH_SYS_GIDS || !memchr(given->machine, 0, sizeof(given->machine)))
		return rr_fail(text, -RPCRDMA_ERR_INVAL,
			"an AUTH_SYS credential has at most %d groups, and a name that ends",
			RPCRDMA_AUTH_SYS_GIDS);
	cred->stamp = given->stamp;
	cred->uid = given->uid;
	cred->gid = given->gid;
	cred->gid_count = given->gid_count;
	memcpy(cred->gids, given->gids, given->gid_count * sizeof(given->gids[0]));
	strcpy(machine, given->machine);
	return 0;
}

int
rr_credential_sys(const struct rpcrdma_auth_sys *given, char machine[RPCRDMA_AUTH_SYS_NAME + 1],
	struct rr_auth_sys *cred, struct rr_text *text)
{
	int error = 0;

	memset(machine, 0, RPCRDMA_AUTH_SYS_NAME + 1);
	if (given)
		error = credential_given(cred, machine, given, text);
	else
		credential_own(cred, machine);
	cred->machine = (struct rpcrdma_bytes){ machine, (uint32_t)strlen(machine) };
	return error;
}
