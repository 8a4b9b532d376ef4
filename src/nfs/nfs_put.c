/* SPDX-License-Identifier: BSD-3-Clause */
/* This file has the public function that makes a whole file by one call. */
#include "base/checked.h"
#include "nfs/nfs_private.h"

/* The operation's function repeated(): where the call may have been executed twice, the first time may have
 * made the file. */
static int
put_repeated(struct rr_nfs_pending *pending, int status)
{
	*pending->args.put.made = true;
	return status;
}

/* Checks what the caller has set. Sets the error text if something is wrong. */
static int
put_check(struct rpcrdma_nfs *nfs, const struct rpcrdma_nfs_whole *put)
{
	if (put->size < sizeof(*put))
		return rr_nfs_fail(nfs, -RPCRDMA_ERR_INVAL,
			"the size of struct rpcrdma_nfs_whole is %zu, less than it ever was", put->size);
	if (!nfs->v4 || !rr_v4_can_put(nfs->v4))
		return rr_nfs_fail(nfs, -RPCRDMA_ERR_NOTSUP,
			"a whole file is made by one call over NFS version 4 alone, if the server takes it");
	if (put->length == 0 || !put->data || put->length > nfs->write_max)
		return rr_nfs_fail(nfs, -RPCRDMA_ERR_INVAL,
			"the file has no octets, no memory, or more than the %u octets of one write",
			nfs->write_max);
	return 0;
}

/* Fills in the arguments of the call. */
static int
put_fill(struct rr_nfs_pending *pending, struct rpcrdma_nfs_whole *put)
{
	int error = rr_nfs_pending_name(pending, 0, put->temporary);

	if (!error)
		error = rr_nfs_pending_name(pending, 1, put->name);
	pending->args.put = (struct rr_v4_put_args){
		.directory = rr_nfs_fh(&pending->handles[0]),
		.temporary = rr_nfs_string(pending->names[0]),
		.name = rr_nfs_string(pending->names[1]),
		.data = { put->data, put->length },
		.made = &put->made,
	};
	return error ? error : rr_nfs_change_take(pending->nfs, put->changes, &pending->args.put.set, 0600);
}

int
rpcrdma_nfs_put(struct rpcrdma_nfs *nfs, struct rpcrdma_nfs_whole *put, const struct rpcrdma_nfs_then *then)
{
	struct rr_nfs_pending *pending;
	int error = nfs && put ? put_check(nfs, put) : -RPCRDMA_ERR_INVAL;

	if (!error)
		error = rr_nfs_pending_on(nfs, &put->directory, then, &pending);
	if (error)
		return error;
	put->made = false;
	pending->repeated = put_repeated;
	error = put_fill(pending, put);
	return error ? rr_nfs_pending_drop(pending, error) : rr_nfs_pending_start(pending, RR_V4_PUT, then);
}
