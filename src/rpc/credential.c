/* SPDX-License-Identifier: BSD-3-Clause */
/* Credentials of AUTH_SYS as values of the public interface: of this process, and as they are sent. */
#include "rpc/credential.h"

#include <rpcrdma/error.h>
#include <string.h>
#include <unistd.h>

#include "rpc/auth.h"

/* Fills in the credential of this process: its effective user and group, its further groups, and the host's
 * name. RFC 5531, appendix A: "The "machinename" is the name of the caller's machine". */
static void
credential_own(struct rpcrdma_auth_sys *user)
{
	gid_t groups[RPCRDMA_AUTH_SYS_GIDS];
	int count = getgroups(RPCRDMA_AUTH_SYS_GIDS, groups);

	user->uid = (uint32_t)geteuid();
	user->gid = (uint32_t)getegid();
	/* If the process has more groups than AUTH_SYS can carry, getgroups() fails, and no groups are
	 * sent. */
	for (int i = 0; i < count; i++)
		user->gids[user->gid_count++] = (uint32_t)groups[i];
	if (gethostname(user->machine, RPCRDMA_AUTH_SYS_NAME) < 0)
		user->machine[0] = '\0';
}

int
rr_credential_sys(const struct rpcrdma_auth_sys *given, struct rpcrdma_auth_sys *user, struct rr_text *text)
{
	memset(user, 0, sizeof(*user));
	if (!given) {
		credential_own(user);
		return 0;
	}
	if (given->gid_count > RPCRDMA_AUTH_SYS_GIDS || !memchr(given->machine, 0, sizeof(given->machine)))
		return rr_fail(text, -RPCRDMA_ERR_INVAL,
			"an AUTH_SYS credential has at most %d groups, and a name that ends",
			RPCRDMA_AUTH_SYS_GIDS);
	*user = *given;
	return 0;
}

struct rr_opaque_auth
rr_credential_encode(const struct rpcrdma_auth_sys *user, uint8_t body[RR_AUTH_BODY_MAX])
{
	struct rpcrdma_xdr_writer writer;

	rpcrdma_xdr_writer_init(&writer, body, RR_AUTH_BODY_MAX, NULL, 0);
	rr_auth_sys.put(&writer, user);
	return (struct rr_opaque_auth){ RR_AUTH_SYS, { body, (uint32_t)rpcrdma_xdr_length(&writer) } };
}

bool
rr_credential_decode(const struct rr_opaque_auth *credential, struct rpcrdma_auth_sys *user)
{
	struct rr_auth_sys sys;

	memset(user, 0, sizeof(*user));
	if (credential->flavor != RR_AUTH_SYS || !rr_auth_sys_get(credential->body, &sys))
		return false;
	user->stamp = sys.stamp;
	user->uid = sys.uid;
	user->gid = sys.gid;
	user->gid_count = sys.gid_count;
	memcpy(user->gids, sys.gids, sizeof(sys.gids));
	if (sys.machine.length > 0)
		memcpy(user->machine, sys.machine.data, sys.machine.length);
	return true;
}
