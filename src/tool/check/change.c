/* SPDX-License-Identifier: BSD-3-Clause */
#include <endian.h>
#include <string.h>

#include "tool/check/chunk.h"

/* Cases that change what the server exports: they make a directory of a unique name, and remove it again. */

enum { CHANGE_REPLY_MAX = 2048, CHANGE_NAME = 40 };

/* Writes into out the arguments of MKDIR (if make is true) or of RMDIR (if it is false) for the name `name`
 * in the check's directory. Returns these octets. */
static struct rpcrdma_bytes
change_args(struct rr_check_peer *peer, const char *name, bool make, uint8_t out[RR_CHECK_ARGS_MAX])
{
	const struct rpcrdma_nfs_handle *directory = &peer->check->directory;
	struct rpcrdma_xdr_writer writer;

	rpcrdma_xdr_writer_init(&writer, out, RR_CHECK_ARGS_MAX, NULL, 0);
	rpcrdma_put_bytes(&writer, (struct rpcrdma_bytes){ directory->data, directory->length }, NFS3_FHSIZE);
	rpcrdma_put_bytes(&writer, (struct rpcrdma_bytes){ name, (uint32_t)strlen(name) }, CHANGE_NAME);
	/* sattr3: mode, uid, gid, size, atime and mtime; all six are left unset. */
	for (uint32_t i = 0; make && i < 6; i++)
		rpcrdma_put_u32(&writer, 0);
	return (struct rpcrdma_bytes){ out, (uint32_t)rpcrdma_xdr_length(&writer) };
}

/* A reply, as an RPC message, and the status with which its results begin; UINT32_MAX: there are none. */
struct change_reply {
	uint8_t octets[CHANGE_REPLY_MAX];
	uint32_t size, status;
};

/* Closes the connection, makes the call on a new connection, and copies the RPC reply to *out. Returns the
 * number of octets of the reply. Returns 0, with the reason in `why`, if no reply of at most CHANGE_REPLY_MAX
 * octets came inline. */
static uint32_t
change_call(
	struct rr_check_peer *peer, struct rr_check_call call, struct change_reply *out, struct rr_text *why)
{
	struct rr_check_reply reply;

	*out = (struct change_reply){ .status = UINT32_MAX };

	rr_check_close(peer);
	if (rr_check_connect(peer, NULL, 0) < 0) {
		rr_check_fail(why, "no connection: %.200s", peer->why.text);
		return 0;
	}
	if (rr_check_call(peer, &call) < 0 || !rr_check_reply(peer, &reply, why))
		return 0;
	if (reply.has_rpc && reply.payload.length <= CHANGE_REPLY_MAX) {
		out->size = reply.payload.length;
		memcpy(out->octets, reply.payload.data, out->size);
		if (reply.results.length >= sizeof(out->status)) {
			memcpy(&out->status, reply.results.data, sizeof(out->status));
			out->status = be32toh(out->status);
		}
	}
	rr_check_forget(&reply);
	if (out->size == 0)
		rr_check_fail(why, "no reply inline");
	return out->size;
}

/* Calls MKDIR, and repeats the call with the same XID on another connection. Passes if both replies have the
 * same octets: a server that executed the call twice would reply NFS3ERR_EXIST to the second one. The case is
 * skipped if no directory was made, as both replies then have the same octets anyway. Removes the directory
 * at the end. */
static enum rr_check_verdict
change_repeated(struct rr_check_peer *peer, struct rr_text *why)
{
	uint8_t args[RR_CHECK_ARGS_MAX];
	struct change_reply first, second = { .size = 0 }, removed;
	struct rr_check_call call = { .xid = rr_random_u32(&rr_env_system) | 1, .proc = NFSPROC3_MKDIR };
	struct rr_text ignored;
	char name[CHANGE_NAME];

	snprintf(name, sizeof(name), "rpcrdma-check-%08x", call.xid);
	call.args = change_args(peer, name, true, args);
	if (!change_call(peer, call, &first, why))
		return RR_CHECK_FAIL;
	if (first.status != NFS3_OK)
		return rr_check_skip(why, "MKDIR fails with status %u where the URL points", first.status);
	change_call(peer, call, &second, why);
	call = (struct rr_check_call){ .proc = NFSPROC3_RMDIR, .args = change_args(peer, name, false, args) };
	change_call(peer, call, &removed, &ignored);
	if (!second.size)
		return RR_CHECK_FAIL;
	if (first.size != second.size || memcmp(first.octets, second.octets, first.size) != 0)
		return rr_check_fail(why, "the second reply has other octets: the call was executed twice");
	return RR_CHECK_PASS;
}

const struct rr_check_case rr_check_change_cases[] = {
	{ .name = "B7-repeated-call",
		.row = "B7",
		.section = "RFC 8166, 3.4",
		.text = "MKDIR that is repeated on a new connection is executed once",
		.version_1 = true,
		.destructive = true,
		.needs_directory = true,
		.connects = true,
		.run = change_repeated },
	{ 0 },
};
