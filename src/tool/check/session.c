/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "tool/check/session.h"

/* COMPOUNDs of NFS version 4.1, and sessions for them; for a server of version 4.0, COMPOUNDs without
 * sessions. */

enum {
	NFS4_VERSION = 4,
	SEQUENCE_RESULT = 36 /* octets behind the status: RFC 8881, 18.46.2 */
};

/* ---- Messages ---- */

void
rr_check4_begin(struct rr_check4 *talk, uint32_t operations)
{
	rpcrdma_xdr_writer_init(&talk->writer, talk->args, sizeof(talk->args), NULL, 0);
	rpcrdma_put_u32(&talk->writer, 0); /* the tag */
	rpcrdma_put_u32(&talk->writer, talk->minor);
	rpcrdma_put_u32(&talk->writer, operations);
}

/* Counts the components of a path. */
static uint32_t
session_names(const char *path)
{
	uint32_t count = 0;

	while (*path) {
		path += strspn(path, "/");
		count += *path != '\0';
		path += strcspn(path, "/");
	}
	return count;
}

/* Adds to the COMPOUND a SEQUENCE for the next request in slot 0, the only slot of the session. */
static void
session_put_sequence(struct rr_check4 *talk)
{
	rpcrdma_put_u32(&talk->writer, OP_SEQUENCE);
	rpcrdma_put_fixed(&talk->writer, talk->session, sizeof(talk->session));
	rpcrdma_put_u32(&talk->writer, ++talk->sequence);
	rpcrdma_put_u32(&talk->writer, 0); /* the slot, and the highest one */
	rpcrdma_put_u32(&talk->writer, 0);
	rpcrdma_put_u32(&talk->writer, 0); /* the reply need not be kept */
}

void
rr_check4_go(struct rr_check4 *talk, uint32_t more)
{
	const char *path = talk->path;

	rr_check4_begin(talk, (talk->minor > 0 ? 2 : 1) + session_names(path) + more);
	if (talk->minor > 0)
		session_put_sequence(talk);
	rpcrdma_put_u32(&talk->writer, OP_PUTROOTFH);
	for (path += strspn(path, "/"); *path; path += strspn(path, "/")) {
		size_t length = strcspn(path, "/");

		rpcrdma_put_u32(&talk->writer, OP_LOOKUP);
		rpcrdma_put_bytes(
			&talk->writer, (struct rpcrdma_bytes){ path, (uint32_t)length }, RR_CHECK4_ARGS);
		path += length;
	}
}

void
rr_check4_skip_way(const struct rr_check4 *talk, struct rpcrdma_xdr_reader *reader)
{
	uint32_t words = 2 + 2 * session_names(talk->path); /* operation and status of each LOOKUP */

	if (talk->minor > 0)
		words += 2 + SEQUENCE_RESULT / 4;
	while (words-- > 0)
		rpcrdma_get_u32(reader);
}

/* Adds to the COMPOUND a READ with the anonymous stateid, whose octets are all zero (RFC 8881, 8.2.3). */
void
rr_check4_put_read(struct rr_check4 *talk, uint64_t offset, uint32_t count)
{
	static const uint8_t stateid[16];

	rpcrdma_put_u32(&talk->writer, OP_READ);
	rpcrdma_put_fixed(&talk->writer, stateid, sizeof(stateid));
	rpcrdma_put_u64(&talk->writer, offset);
	rpcrdma_put_u32(&talk->writer, count);
}

bool
rr_check4_send(struct rr_check4 *talk, const struct rr_chunk_lists *lists)
{
	struct rr_check_call call = { .vers = NFS4_VERSION,
		.proc = NFSPROC4_COMPOUND,
		.args = { talk->args, (uint32_t)rpcrdma_xdr_length(&talk->writer) } };

	if (lists)
		call.lists = *lists;
	if (rr_check_call(talk->peer, &call) == 0)
		return true;
	rr_check_fail(talk->why, "a COMPOUND cannot be sent");
	return false;
}

bool
rr_check4_call(struct rr_check4 *talk, const struct rr_chunk_lists *lists, struct rr_check_reply *reply)
{
	return rr_check4_send(talk, lists) && rr_check_reply(talk->peer, reply, talk->why);
}

uint32_t
rr_check4_status(const struct rr_check_reply *reply, struct rpcrdma_xdr_reader *reader)
{
	const struct rpcrdma_message stream = { .stream = reply->results.data,
		.length = reply->results.length };
	uint32_t status;

	rpcrdma_xdr_reader_init(reader, &stream, NULL);
	status = rpcrdma_get_u32(reader);
	rpcrdma_get_bytes(reader, RR_CHECK4_ARGS);
	rpcrdma_get_u32(reader);
	return reader->failed || !reply->has_rpc ? UINT32_MAX : status;
}

/* ---- A session ---- */

/* Begins a COMPOUND with an EXCHANGE_ID of a new client, whose owner name and verifier are random. */
static void
session_put_exchange(struct rr_check4 *talk)
{
	char owner[32];
	uint64_t number = rr_random_u64(&rr_env_system);

	snprintf(owner, sizeof(owner), "check-%016llx", (unsigned long long)number);
	rr_check4_begin(talk, 1);
	rpcrdma_put_u32(&talk->writer, OP_EXCHANGE_ID);
	rpcrdma_put_u64(&talk->writer, number);
	rpcrdma_put_bytes(
		&talk->writer, (struct rpcrdma_bytes){ owner, (uint32_t)strlen(owner) }, RR_CHECK4_ARGS);
	rpcrdma_put_u32(&talk->writer, 0); /* flags, SP4_NONE, no implementation ID */
	rpcrdma_put_u32(&talk->writer, SP4_NONE);
	rpcrdma_put_u32(&talk->writer, 0);
}

/* Writes the attributes of a channel: headerpadsize, maxrequestsize, maxresponsesize, maxresponsesize_cached,
 * maxoperations, maxrequests, and an empty rdma_ird (RFC 8881, 18.36.1). */
static void
session_put_channel(struct rr_check4 *talk)
{
	static const uint32_t words[] = { 0, 65536, 65536, 4096, 16, 1, 0 };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		rpcrdma_put_u32(&talk->writer, words[i]);
}

/* Sends CREATE_SESSION, and notes the session's ID in talk->session, and in talk->back whether the server
 * makes its callbacks over this connection. Returns false if that failed; talk->why then has the reason. */
static bool
session_create(struct rr_check4 *talk, uint32_t sequence)
{
	struct rpcrdma_xdr_reader reader;
	struct rr_check_reply reply;
	uint32_t status;

	rr_check4_begin(talk, 1);
	rpcrdma_put_u32(&talk->writer, OP_CREATE_SESSION);
	rpcrdma_put_u64(&talk->writer, talk->client);
	rpcrdma_put_u32(&talk->writer, sequence);
	rpcrdma_put_u32(&talk->writer, talk->back ? CREATE_SESSION4_FLAG_CONN_BACK_CHAN : 0);
	session_put_channel(talk); /* the fore channel, and the backchannel */
	session_put_channel(talk);
	rpcrdma_put_u32(&talk->writer, RR_CHECK4_CALLBACK); /* the program, and AUTH_NONE */
	rpcrdma_put_u32(&talk->writer, 1);
	rpcrdma_put_u32(&talk->writer, 0);
	if (!rr_check4_call(talk, NULL, &reply))
		return false;
	status = rr_check4_status(&reply, &reader);
	rpcrdma_get_u64(&reader); /* the operation and its status */
	rpcrdma_get_fixed(&reader, talk->session, sizeof(talk->session));
	rpcrdma_get_u32(&reader); /* the sequence */
	talk->back = rpcrdma_get_u32(&reader) & CREATE_SESSION4_FLAG_CONN_BACK_CHAN;
	rr_check_forget(&reply);
	if (status != NFS4_OK || reader.failed)
		rr_check_fail(talk->why, "CREATE_SESSION ends with status %u", status);
	return status == NFS4_OK && !reader.failed;
}

enum rr_check_verdict
rr_check4_session(struct rr_check4 *talk)
{
	struct rpcrdma_xdr_reader reader;
	struct rr_check_reply reply;
	uint32_t status, sequence;
	bool unknown;

	talk->minor = 1;
	session_put_exchange(talk);
	if (!rr_check4_call(talk, NULL, &reply))
		return RR_CHECK_FAIL;
	unknown = reply.has_rpc &&
		  (reply.rpc.accept_stat == RR_PROG_MISMATCH || reply.rpc.accept_stat == RR_PROG_UNAVAIL);
	status = rr_check4_status(&reply, &reader);
	rpcrdma_get_u64(&reader); /* EXCHANGE_ID and its status */
	talk->client = rpcrdma_get_u64(&reader);
	sequence = rpcrdma_get_u32(&reader);
	rr_check_forget(&reply);
	if (unknown)
		return rr_check_skip(talk->why, "the server has no NFS version 4");
	if (status == NFS4ERR_MINOR_VERS_MISMATCH) {
		talk->minor = 0;
		return RR_CHECK_PASS;
	}
	if (status != NFS4_OK)
		return rr_check_fail(talk->why, "EXCHANGE_ID ends with status %u", status);
	return session_create(talk, sequence) ? RR_CHECK_PASS : RR_CHECK_FAIL;
}

void
rr_check4_end(struct rr_check4 *talk)
{
	struct rr_check_reply reply;
	struct rr_text ignored;

	if (talk->minor == 0 || talk->peer->disconnected)
		return;
	talk->why = &ignored;
	rr_check4_begin(talk, 1);
	rpcrdma_put_u32(&talk->writer, OP_DESTROY_SESSION);
	rpcrdma_put_fixed(&talk->writer, talk->session, sizeof(talk->session));
	if (rr_check4_call(talk, NULL, &reply))
		rr_check_forget(&reply);
	rr_check4_begin(talk, 1);
	rpcrdma_put_u32(&talk->writer, OP_DESTROY_CLIENTID);
	rpcrdma_put_u64(&talk->writer, talk->client);
	if (rr_check4_call(talk, NULL, &reply))
		rr_check_forget(&reply);
	talk->why = NULL;
}

/* ---- The file ---- */

enum rr_check_verdict
rr_check4_find(struct rr_check4 *talk, uint8_t *octets, uint32_t size)
{
	for (;;) {
		struct rpcrdma_xdr_reader reader;
		struct rr_check_reply reply;
		struct rpcrdma_bytes data;
		uint32_t status;

		rr_check4_go(talk, 1);
		rr_check4_put_read(talk, 0, size);
		if (!rr_check4_call(talk, NULL, &reply))
			return RR_CHECK_FAIL;
		status = rr_check4_status(&reply, &reader);
		rr_check4_skip_way(talk, &reader);
		rpcrdma_get_u64(&reader); /* READ and its status */
		rpcrdma_get_u32(&reader); /* eof */
		data = rpcrdma_get_bytes(&reader, size);
		if (status == NFS4_OK && data.length == size)
			memcpy(octets, data.data, data.length);
		rr_check_forget(&reply);
		if (status == NFS4_OK)
			return data.length == size ? RR_CHECK_PASS
						   : rr_check_fail(talk->why, "READ brings %u octets inline",
							     data.length);
		talk->path += strspn(talk->path, "/");
		talk->path += strcspn(talk->path, "/");
		if (status == NFS4ERR_GRACE)
			return rr_check_skip(talk->why, "the server was restarted, and lets no file be read "
							"until its grace period ends: try again later");
		if (!*talk->path)
			return rr_check_skip(talk->why, "the file cannot be read in version 4.%u: status %u",
				talk->minor, status);
	}
}
