/* SPDX-License-Identifier: BSD-3-Clause */
/* clnt_control() of a CLIENT. */
#include <string.h>

#include "base/address.h"
#include "tirpc/tirpc.h"

enum { CONTROL_SECONDS_MAX = 100000000, CONTROL_MICROSECONDS = 1000000 };

/* CLSET_TIMEOUT: sets the timeout of all later calls, which then counts instead of that of clnt_call().
 * Returns FALSE if the time is not allowed. */
static bool_t
control_set_timeout(struct rr_tirpc_client *client, const struct timeval *timeout)
{
	if (timeout->tv_sec < 0 || timeout->tv_sec > CONTROL_SECONDS_MAX || timeout->tv_usec < 0 ||
		timeout->tv_usec > CONTROL_MICROSECONDS)
		return FALSE;
	client->timeout = *timeout;
	client->has_timeout = true;
	return TRUE;
}

/* CLGET_TIMEOUT: returns the timeout that CLSET_TIMEOUT has set, or zeroes if none was set. */
static bool_t
control_get_timeout(const struct rr_tirpc_client *client, struct timeval *timeout)
{
	*timeout = client->timeout;
	return TRUE;
}

/* Has the netbuf point to the server's address in the client's own memory, as clnt_control() of libtirpc does
 * for a CLIENT over TCP. */
static bool_t
control_get_address(struct rr_tirpc_client *client, struct netbuf *address)
{
	address->buf = &client->address;
	address->len = address->maxlen = rr_address_size(&client->address);
	return TRUE;
}

/* Copies a 32-bit number, such as the XID, the version or the program: from info to member if set is true,
 * otherwise from member to info. Returns TRUE. */
static bool_t
control_number(uint32_t *member, void *info, bool set)
{
	if (set)
		memcpy(member, info, sizeof(*member));
	else
		memcpy(info, member, sizeof(*member));
	return TRUE;
}

/* CLSET_XID: sets the XID of the next call. Each call first adds 1 to the client's XID, so the given XID less
 * 1 is stored. */
static bool_t
control_set_xid(struct rr_tirpc_client *client, void *info)
{
	(void)control_number(&client->xid, info, true);
	client->xid--;
	return TRUE;
}

/* Carries out a request of clnt_control(). Returns FALSE if the request is not known, or its value is not
 * allowed. The caller holds the client's lock. */
static bool_t
control_do(struct rr_tirpc_client *client, u_int request, void *info)
{
	switch (request) {
	case CLSET_TIMEOUT: return control_set_timeout(client, info);
	case CLGET_TIMEOUT: return control_get_timeout(client, info);
	case CLGET_SERVER_ADDR:
		memcpy(info, &client->address, rr_address_size(&client->address));
		return TRUE;
	case CLGET_SVC_ADDR: return control_get_address(client, info);
	case CLGET_FD: *(int *)info = rpcrdma_engine_fd(client->engine); return TRUE;
	case CLGET_XID: return control_number(&client->xid, info, false);
	case CLSET_XID: return control_set_xid(client, info);
	case CLGET_VERS: return control_number(&client->vers, info, false);
	case CLSET_VERS: return control_number(&client->vers, info, true);
	case CLGET_PROG: return control_number(&client->prog, info, false);
	case CLSET_PROG: return control_number(&client->prog, info, true);
	default: return FALSE;
	}
}

/* clnt_control(): gets or sets a property of the client while it holds the client's lock. Returns FALSE if
 * the request is not known, its value is not allowed, or info is NULL although the request needs it. */
bool_t
rr_tirpc_control(CLIENT *handle, u_int request, void *info)
{
	struct rr_tirpc_client *client = handle->cl_private;
	bool_t done;

	/* The client closes its connection in any case. */
	if (request == CLSET_FD_CLOSE || request == CLSET_FD_NCLOSE)
		return TRUE;
	if (!info)
		return FALSE;
	pthread_mutex_lock(&client->lock);
	done = control_do(client, request, info);
	pthread_mutex_unlock(&client->lock);
	return done;
}
