/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads and writes the headers of RPC calls and replies: RFC 5531, section 9. */
#include "wire/rpc.h"

#include "base/checked.h"
#include "base/endian.h"
#include "wire/room.h"

/* ---- struct opaque_auth, RFC 5531, section 8.2 ---- */

/* Reads the body of a credential or verifier, of length octets. Returns false, and the reader fails, if the
 * body is longer than RFC 5531, 8.2, allows: "up to 400 bytes that are opaque to" the RPC protocol. If the
 * message ends within the body, the reader fails, too, but the result is true. */
static bool
rpc_get_body(struct rpcrdma_xdr_reader *reader, uint32_t length, struct rr_opaque_auth *auth)
{
	if (length > RR_AUTH_BODY_MAX) {
		rpcrdma_xdr_fail(reader);
		return false;
	}
	auth->body.data = rr_xdr_octets(reader, length + rr_pad(length));
	auth->body.length = auth->body.data ? length : 0;
	return true;
}

/* Reads a credential or verifier into auth. Returns false if its body is too long; any other failure shows in
 * reader->failed alone. */
static inline bool
rpc_get_auth(struct rpcrdma_xdr_reader *reader, struct rr_opaque_auth *auth)
{
	const uint8_t *words = rr_xdr_octets(reader, RR_AUTH_FIXED);
	uint32_t length = words ? rr_get_be32(words + 4) : 0;

	if (words)
		auth->flavor = rr_get_be32(words);
	return length == 0 || rpc_get_body(reader, length, auth);
}

/* If the body is empty, as is usual, writes both words in one step. */
void
rr_rpc_put_auth(struct rpcrdma_xdr_writer *writer, const struct rr_opaque_auth *auth)
{
	uint8_t *words = auth->body.length == 0 ? rr_xdr_room(writer, RR_AUTH_FIXED) : NULL;

	if (words) {
		rr_put_be32(words, auth->flavor);
		rr_put_be32(words + 4, 0);
		return;
	}
	rpcrdma_put_u32(writer, auth->flavor);
	rpcrdma_put_bytes(writer, auth->body, RR_AUTH_BODY_MAX);
}

/* Reads an enum whose values are 0 to max from the stream, and returns its value. If the value is larger, the
 * reader fails and the result is 0. RFC 4506, 4.3: "It is an error to encode as an enum any other
 * integer". */
static uint32_t
rpc_get_enum(struct rpcrdma_xdr_reader *reader, uint32_t max)
{
	uint32_t value = rpcrdma_get_u32(reader);

	if (value <= max)
		return value;
	rpcrdma_xdr_fail(reader);
	return 0;
}

/* ---- Calls: xid CALL rpcvers prog vers proc cred verf, then the arguments ---- */

/* Reads what can be read of a message that is not a complete call of RPC version 2: its xid and, if it is a
 * call, its RPC version. Always returns false, as there is no call to execute. */
static bool
rpc_get_no_call(struct rpcrdma_xdr_reader *reader, struct rr_call_header *call)
{
	uint32_t type;

	call->xid = rpcrdma_get_u32(reader);
	type = rpc_get_enum(reader, RR_REPLY);
	if (reader->failed || type != RR_CALL)
		return false;
	/* The words behind rpcvers are known of version 2 only. */
	call->rpcvers = rpcrdma_get_u32(reader);
	if (call->rpcvers == RR_RPC_VERSION)
		rpcrdma_xdr_fail(reader); /* the words behind rpcvers are not complete */
	return false;
}

bool
rr_rpc_get_call(struct rpcrdma_xdr_reader *reader, struct rr_call_header *call)
{
	const uint8_t *words = reader->next;

	*call = (struct rr_call_header){ .rpcvers = RR_RPC_VERSION };
	if (rpcrdma_xdr_left(reader) < RR_RPC_CALL_FIXED || rr_get_be32(words + 4) != RR_CALL ||
		rr_get_be32(words + 8) != RR_RPC_VERSION)
		return rpc_get_no_call(reader, call);
	reader->next += RR_RPC_CALL_FIXED;
	call->xid = rr_get_be32(words);
	call->prog = rr_get_be32(words + 12);
	call->vers = rr_get_be32(words + 16);
	call->proc = rr_get_be32(words + 20);
	if (!rpc_get_auth(reader, &call->cred))
		call->auth_stat = RR_AUTH_BADCRED;
	else if (!rpc_get_auth(reader, &call->verf))
		call->auth_stat = RR_AUTH_BADVERF;
	return !reader->failed;
}

bool
rr_rpc_header_is_reduced(const struct rpcrdma_xdr_reader *reader)
{
	return reader->items < reader->items_end &&
	       (reader->failed || reader->items->offset < (size_t)(reader->next - reader->start));
}

/* Writes the credential and the verifier of a call to words. Both have no body, as with AUTH_NONE. */
static void
rpc_put_empty_auths(uint8_t *words, const struct rr_call_header *call)
{
	rr_put_be32(words, call->cred.flavor);
	rr_put_be32(words + 4, 0);
	rr_put_be32(words + 8, call->verf.flavor);
	rr_put_be32(words + 12, 0);
}

void
rr_rpc_put_call(struct rpcrdma_xdr_writer *writer, const struct rr_call_header *call)
{
	bool empty = call->cred.body.length == 0 && call->verf.body.length == 0;
	uint8_t *words = rr_xdr_room(writer, RR_RPC_CALL_FIXED + (empty ? 2 * RR_AUTH_FIXED : 0));

	if (!words)
		return;
	rr_put_be32(words, call->xid);
	rr_put_be32(words + 4, RR_CALL);
	/* RFC 5531, 9: "In version 2 of the RPC protocol specification, rpcvers MUST be equal to 2." */
	rr_put_be32(words + 8, RR_RPC_VERSION);
	rr_put_be32(words + 12, call->prog);
	rr_put_be32(words + 16, call->vers);
	rr_put_be32(words + 20, call->proc);
	if (empty) {
		rpc_put_empty_auths(words + RR_RPC_CALL_FIXED, call);
		return;
	}
	rr_rpc_put_auth(writer, &call->cred);
	rr_rpc_put_auth(writer, &call->verf);
}

void
rr_rpc_put_call_front(struct rpcrdma_xdr_writer *writer, const struct rr_call_header *call)
{
	rpcrdma_put_u32(writer, call->xid);
	rpcrdma_put_u32(writer, RR_CALL);
	rpcrdma_put_u32(writer, RR_RPC_VERSION);
	rpcrdma_put_u32(writer, call->prog);
	rpcrdma_put_u32(writer, call->vers);
	rpcrdma_put_u32(writer, call->proc);
	rr_rpc_put_auth(writer, &call->cred);
}

struct rpcrdma_bytes
rr_rpc_call_front(const void *stream, const struct rr_call_header *call)
{
	uint32_t length = call->cred.body.length;

	return (struct rpcrdma_bytes){ stream, RR_RPC_CALL_FIXED + RR_AUTH_FIXED + length + rr_pad(length) };
}

/* ---- Replies: xid REPLY reply_stat, then one of two bodies ---- */

enum { REPLY_WORDS = 3 * sizeof(uint32_t) }; /* octets of these three words */

/* Reads the lowest and the highest version that the server supports, from a reply that refuses the caller's
 * version. */
static void
rpc_get_range(struct rpcrdma_xdr_reader *reader, struct rr_reply_header *reply)
{
	reply->low = rpcrdma_get_u32(reader);
	reply->high = rpcrdma_get_u32(reader);
}

/* Reads the header of an accepted reply, from the verifier on: verifier, status and, after a mismatch of the
 * program's version, the versions that the server supports. */
static void
rpc_get_accepted(struct rpcrdma_xdr_reader *reader, struct rr_reply_header *reply)
{
	/* If the verifier is too long, the reader fails: the caller sees that. */
	rpc_get_auth(reader, &reply->verf);
	reply->accept_stat = rpc_get_enum(reader, RR_SYSTEM_ERR);
	if (reply->accept_stat == RR_PROG_MISMATCH)
		rpc_get_range(reader, reply);
}

/* Reads the rest of the header of a denied reply: the reason, and the versions that the server supports or
 * the auth_stat. Any number is accepted as auth_stat, RFC 5531, 9: "there may be a need for more status
 * codes". */
static void
rpc_get_denied(struct rpcrdma_xdr_reader *reader, struct rr_reply_header *reply)
{
	reply->reject_stat = rpc_get_enum(reader, RR_AUTH_ERROR);
	if (reply->reject_stat == RR_RPC_MISMATCH)
		rpc_get_range(reader, reply);
	else
		reply->auth_stat = rpcrdma_get_u32(reader);
}

bool
rr_rpc_get_reply(struct rpcrdma_xdr_reader *reader, struct rr_reply_header *reply)
{
	const uint8_t *words = rr_xdr_octets(reader, REPLY_WORDS);

	*reply = (struct rr_reply_header){ 0 };
	if (!words)
		return false;
	reply->xid = rr_get_be32(words);
	reply->reply_stat = rr_get_be32(words + 8);
	if (rr_get_be32(words + 4) != RR_REPLY || reply->reply_stat > RR_MSG_DENIED) {
		rpcrdma_xdr_fail(reader);
		return false;
	}
	if (reply->reply_stat == RR_MSG_ACCEPTED)
		rpc_get_accepted(reader, reply);
	else
		rpc_get_denied(reader, reply);
	return !reader->failed;
}

/* Writes the lowest and the highest version that the server supports, for a reply that refuses the caller's
 * version. */
static void
rpc_put_range(struct rpcrdma_xdr_writer *writer, const struct rr_reply_header *reply)
{
	rpcrdma_put_u32(writer, reply->low);
	rpcrdma_put_u32(writer, reply->high);
}

/* Writes the header of an accepted reply, from the verifier on: the verifier, the status and, after a
 * mismatch of the program's version, the versions that the server supports. The usual reply, a success with
 * an empty verifier, does not come here. */
static void
rpc_put_accepted(struct rpcrdma_xdr_writer *writer, const struct rr_reply_header *reply)
{
	rr_rpc_put_auth(writer, &reply->verf);
	rpcrdma_put_u32(writer, reply->accept_stat);
	if (reply->accept_stat == RR_PROG_MISMATCH)
		rpc_put_range(writer, reply);
}

/* Writes the rest of the header of a denied reply: the reason, and the versions that the server supports or
 * the auth_stat. */
static void
rpc_put_denied(struct rpcrdma_xdr_writer *writer, const struct rr_reply_header *reply)
{
	rpcrdma_put_u32(writer, reply->reject_stat);
	if (reply->reject_stat == RR_RPC_MISMATCH)
		rpc_put_range(writer, reply);
	else
		rpcrdma_put_u32(writer, reply->auth_stat);
}

void
rr_rpc_put_reply(struct rpcrdma_xdr_writer *writer, const struct rr_reply_header *reply)
{
	/* The header of the commonest reply is written at once: the call was executed, and the verifier is
	 * empty. */
	bool success = reply->reply_stat == RR_MSG_ACCEPTED && reply->accept_stat == RR_SUCCESS &&
		       reply->verf.body.length == 0;
	uint8_t *words = rr_xdr_room(writer, REPLY_WORDS + (success ? RR_AUTH_FIXED + sizeof(uint32_t) : 0));

	if (!words)
		return;
	rr_put_be32(words, reply->xid);
	rr_put_be32(words + 4, RR_REPLY);
	rr_put_be32(words + 8, reply->reply_stat);
	if (success) {
		rr_put_be32(words + REPLY_WORDS, reply->verf.flavor);
		/* Two words of 0: the length of the verifier, and the status. */
		rr_put_be64(words + REPLY_WORDS + 4, RR_SUCCESS);
		return;
	}
	if (reply->reply_stat == RR_MSG_ACCEPTED)
		rpc_put_accepted(writer, reply);
	else
		rpc_put_denied(writer, reply);
}

/* ---- struct authsys_parms, RFC 5531, appendix A ---- */

bool
rr_auth_sys_get(struct rpcrdma_bytes body, struct rr_auth_sys *sys)
{
	struct rpcrdma_message message = { .stream = body.data, .length = body.length };
	struct rpcrdma_xdr_reader reader;

	*sys = (struct rr_auth_sys){ 0 };
	rpcrdma_xdr_reader_init(&reader, &message, NULL);
	sys->stamp = rpcrdma_get_u32(&reader);
	sys->machine = rpcrdma_get_bytes(&reader, RR_AUTH_SYS_NAME);
	sys->uid = rpcrdma_get_u32(&reader);
	sys->gid = rpcrdma_get_u32(&reader);
	sys->gid_count = rpcrdma_get_count(&reader, RR_AUTH_SYS_GIDS, sizeof(uint32_t));
	for (uint32_t i = 0; i < sys->gid_count; i++)
		sys->gids[i] = rpcrdma_get_u32(&reader);
	return rpcrdma_xdr_done(&reader);
}

void
rr_auth_sys_put(struct rpcrdma_xdr_writer *writer, const struct rr_auth_sys *sys)
{
	if (sys->gid_count > RR_AUTH_SYS_GIDS) {
		rpcrdma_xdr_writer_fail(writer);
		return;
	}
	rpcrdma_put_u32(writer, sys->stamp);
	rpcrdma_put_bytes(writer, sys->machine, RR_AUTH_SYS_NAME);
	rpcrdma_put_u32(writer, sys->uid);
	rpcrdma_put_u32(writer, sys->gid);
	rpcrdma_put_u32(writer, sys->gid_count);
	for (uint32_t i = 0; i < sys->gid_count; i++)
		rpcrdma_put_u32(writer, sys->gids[i]);
}

bool
rr_rpc_peek(const void *data, size_t size, uint32_t *xid, uint32_t *msg_type)
{
	const uint8_t *words = data;

	if (size < 2 * sizeof(uint32_t))
		return false;
	*xid = rr_get_be32(words);
	*msg_type = rr_get_be32(words + sizeof(uint32_t));
	return true;
}
