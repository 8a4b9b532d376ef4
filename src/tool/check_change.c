/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "tool/check_chunk.h"

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

/* Closes the connection, makes the call on a new connection, and copies the RPC reply to out. Returns the
 * number of octets of the reply. Returns 0, with the reason in `why`, if no reply of at most CHANGE_REPLY_MAX
 * octets came inline. */
static uint32_t
change_call(struct rr_check_peer *peer, struct rr_check_call call, uint8_t out[CHANGE_REPLY_MAX],
	struct rr_text *why)
{
	struct rr_check_reply reply;
	uint32_t size = 0;

	rr_check_close(peer);
	if (rr_check_connect(peer, NULL, 0) < 0) {
		rr_check_fail(why, "no connection: %.200s", peer->why.text);
		return 0;
	}
	if (rr_check_call(peer, &call) < 0 || !rr_check_reply(peer, &reply, why))
		return 0;
	if (reply.has_rpc && reply.payload.length <= CHANGE_REPLY_MAX) {
		size = reply.payload.length;
		memcpy(out, reply.payload.data, size);
	}
	rr_check_forget(&reply);
	if (size == 0)
		rr_check_fail(why, "no reply inline");
	return size;
}

/* Calls MKDIR, and repeats the call with the same XID on another connection. Passes if both replies have the
 * same octets: a server that executed the call twice would reply NFS3ERR_EXIST to the second one. Removes the
 * directory at the end. */
static enum rr_check_verdict
change_repeated(struct rr_check_peer *peer, struct rr_text *why)
{
	uint8_t args[RR_CHECK_ARGS_MAX], first[CHANGE_REPLY_MAX], second[CHANGE_REPLY_MAX];
	struct rr_check_call call = { .xid = rr_random_u32(&rr_env_system) | 1, .proc = NFSPROC3_MKDIR };
	struct rr_text ignored;
	char name[CHANGE_NAME];
	uint32_t first_size, second_size;

	snprintf(name, sizeof(name), "rpcrdma-check-%08x", call.xid);
	call.args = change_args(peer, name, true, args);
	first_size = change_call(peer, call, first, why);
	second_size = first_size ? change_call(peer, call, second, why) : 0;
	call = (struct rr_check_call){ .proc = NFSPROC3_RMDIR, .args = change_args(peer, name, false, args) };
	if (first_size)
		change_call(peer, call, (uint8_t[CHANGE_REPLY_MAX]){ 0 }, &ignored);
	if (!first_size || !second_size)
		return RR_CHECK_FAIL;
	if (first_size != second_size || memcmp(first, second, first_size) != 0)
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
