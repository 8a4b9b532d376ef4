/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "tool/check/session.h"

/*
 * A case of the reverse direction (RFC 8167): the server calls its client over the connection that the client
 * made. A server of NFS version 4.1 does so in two situations: a session takes callbacks, and the server
 * tries whether they arrive; or the server has given a delegation, and another client opens the file. So the
 * case asks for a delegation, and plays the other client, too.
 */

enum {
	REVERSE_READ = 1, /* OPEN4_SHARE_ACCESS_READ, and below, _WRITE */
	REVERSE_WRITE = 2,
	REVERSE_FIRST = 1000,    /* octets of the file; the file has at least 5000 */
	REVERSE_OPEN_RESULT = 24 /* octets of change_info4 and the flags: RFC 8881, 18.16.2 */
};

/* A client of the case: its connection and session, and what it has of the file. */
struct reverse {
	struct rr_check4 talk;
	uint8_t opened[16], delegated[16]; /* stateids */
	bool has_opened, has_delegated;
	uint32_t calls; /* of the server, answered by this side */
};

/* ---- Operations ---- */

/* Adds to the COMPOUND an OPEN of the current filehandle with the share access `access`. */
static void
reverse_put_open(struct rr_check4 *talk, uint32_t access)
{
	rpcrdma_put_u32(&talk->writer, OP_OPEN);
	rpcrdma_put_u32(&talk->writer, 0); /* seqid, which has no meaning in a session */
	rpcrdma_put_u32(&talk->writer, access);
	rpcrdma_put_u32(&talk->writer, 0); /* nothing is denied to others */
	rpcrdma_put_u64(&talk->writer, talk->client);
	rpcrdma_put_bytes(&talk->writer, (struct rpcrdma_bytes){ "check", 5 }, RR_CHECK4_ARGS);
	rpcrdma_put_u32(&talk->writer, OPEN4_NOCREATE);
	rpcrdma_put_u32(&talk->writer, CLAIM_FH);
}

/* Decodes the successful results of OPEN into `reverse`: the stateid of the open file, and the stateid of a
 * read delegation if the server gave one. has_opened and has_delegated then say which of them are set; both
 * are false if the results do not decode. The reader must stand behind the number and the status of the
 * operation. */
static void
reverse_take_open(struct reverse *reverse, struct rpcrdma_xdr_reader *reader)
{
	uint32_t words;

	rpcrdma_get_fixed(reader, reverse->opened, sizeof(reverse->opened));
	for (uint32_t i = 0; i < REVERSE_OPEN_RESULT / 4; i++)
		rpcrdma_get_u32(reader);
	words = rpcrdma_get_u32(reader); /* attrset, a bitmap */
	for (uint32_t i = 0; i < words && !reader->failed; i++)
		rpcrdma_get_u32(reader);
	reverse->has_delegated = rpcrdma_get_u32(reader) == OPEN_DELEGATE_READ;
	if (reverse->has_delegated)
		rpcrdma_get_fixed(reader, reverse->delegated, sizeof(reverse->delegated));
	reverse->has_opened = !reader->failed;
	reverse->has_delegated = reverse->has_delegated && !reader->failed;
}

/* Receives the reply to a COMPOUND that ends with OPEN, and notes the results of OPEN if the COMPOUND
 * succeeded. Returns false if no reply came; true also if the reply has an error status. */
static bool
reverse_opened(struct reverse *reverse)
{
	struct rpcrdma_xdr_reader reader;
	struct rr_check_reply reply;
	uint32_t status;

	if (!rr_check_reply(reverse->talk.peer, &reply, reverse->talk.why))
		return false;
	status = rr_check4_status(&reply, &reader);
	rr_check4_skip_way(&reverse->talk, &reader);
	rpcrdma_get_u64(&reader); /* OPEN and its status */
	if (status == NFS4_OK)
		reverse_take_open(reverse, &reader);
	rr_check_forget(&reply);
	return true;
}

/* Sends a COMPOUND that opens the file with the share access `access`, and does not wait for the reply.
 * Returns false if the COMPOUND cannot be sent. */
static bool
reverse_open(struct reverse *reverse, uint32_t access)
{
	rr_check4_go(&reverse->talk, 1);
	reverse_put_open(&reverse->talk, access);
	return rr_check4_send(&reverse->talk, NULL);
}

/* Sends CLOSE if the file was opened, and in the same COMPOUND DELEGRETURN if the server gave a delegation.
 * The status of the server's reply does not matter. */
static void
reverse_close(struct reverse *reverse)
{
	struct rr_check4 *talk = &reverse->talk;
	struct rr_check_reply reply;

	if (!reverse->has_opened)
		return;
	rr_check4_go(talk, reverse->has_delegated ? 2 : 1);
	rpcrdma_put_u32(&talk->writer, OP_CLOSE);
	rpcrdma_put_u32(&talk->writer, 0);
	rpcrdma_put_fixed(&talk->writer, reverse->opened, sizeof(reverse->opened));
	if (reverse->has_delegated) {
		rpcrdma_put_u32(&talk->writer, OP_DELEGRETURN);
		rpcrdma_put_fixed(&talk->writer, reverse->delegated, sizeof(reverse->delegated));
	}
	if (rr_check4_call(talk, NULL, &reply))
		rr_check_forget(&reply);
}

/* Sends RECLAIM_COMPLETE in the session, as a client must before its first OPEN, and waits for the reply. The
 * COMPOUND needs no file, so talk->path is empty meanwhile. Returns false if no reply came. RFC 8881,
 * 18.51.3: "Whenever a client establishes a new client ID and before it does the first non-reclaim operation
 * that obtains a lock, it MUST send a RECLAIM_COMPLETE". */
static bool
reverse_reclaim_complete(struct rr_check4 *talk)
{
	const char *path = talk->path;
	struct rr_check_reply reply;
	bool answered;

	talk->path = "";
	rr_check4_go(talk, 1);
	rpcrdma_put_u32(&talk->writer, OP_RECLAIM_COMPLETE);
	rpcrdma_put_u32(&talk->writer, 0);
	answered = rr_check4_call(talk, NULL, &reply);
	talk->path = path;
	if (answered)
		rr_check_forget(&reply);
	return answered;
}

/* ---- Answers to calls ---- */

/* Writes the results of a callback: decodes the arguments of its CB_SEQUENCE, and writes successful results
 * of CB_SEQUENCE. A callback of this case that has a second operation recalls the delegation, so a successful
 * result of CB_RECALL follows then. The caller checks reader->failed and writer->failed. */
static void
reverse_put_results(struct rpcrdma_xdr_writer *writer, struct rpcrdma_xdr_reader *reader)
{
	uint8_t session[NFS4_SESSIONID_SIZE];
	uint32_t count, sequence, slot, highest;

	rpcrdma_get_bytes(reader, RR_CHECK4_ARGS); /* the tag */
	rpcrdma_get_u64(reader);                   /* the minor version, and an identifier of version 4.0 */
	count = rpcrdma_get_u32(reader);
	rpcrdma_get_u32(reader); /* CB_SEQUENCE */
	rpcrdma_get_fixed(reader, session, sizeof(session));
	sequence = rpcrdma_get_u32(reader);
	slot = rpcrdma_get_u32(reader);
	highest = rpcrdma_get_u32(reader);
	rpcrdma_put_u32(writer, NFS4_OK);
	rpcrdma_put_u32(writer, 0);
	rpcrdma_put_u32(writer, count > 1 ? 2 : 1);
	rpcrdma_put_u32(writer, OP_CB_SEQUENCE);
	rpcrdma_put_u32(writer, NFS4_OK);
	rpcrdma_put_fixed(writer, session, sizeof(session));
	rpcrdma_put_u32(writer, sequence);
	rpcrdma_put_u32(writer, slot);
	rpcrdma_put_u32(writer, highest);
	rpcrdma_put_u32(writer, highest);
	if (count > 1) {
		rpcrdma_put_u32(writer, OP_CB_RECALL);
		rpcrdma_put_u32(writer, NFS4_OK);
	}
}

/* Sends a successful reply to a call that the server made in the reverse direction. Only a CB_COMPOUND has
 * results; a CB_NULL has none. Returns false if the arguments of the call do not decode, or the reply cannot
 * be sent. */
static bool
reverse_answer(const struct reverse *reverse, const struct rr_check_reply *call,
	const struct rr_call_header *header, struct rpcrdma_xdr_reader *arguments)
{
	struct rr_check_peer *peer = reverse->talk.peer;
	const struct rr_rdma_header over = {
		.xid = header->xid, .vers = call->header.vers, .credit = 32, .proc = RR_RDMA_MSG
	};
	const struct rr_reply_header reply = { .xid = header->xid };
	struct rpcrdma_xdr_writer writer;
	uint8_t out[RR_CHECK4_ARGS];

	rpcrdma_xdr_writer_init(&writer, out, sizeof(out), NULL, 0);
	rr_rdma_put_any_header(&writer, &over, NULL);
	rr_rpc_put_reply(&writer, &reply);
	if (header->proc == CB_COMPOUND)
		reverse_put_results(&writer, arguments);
	if (writer.failed || arguments->failed) {
		rr_check_fail(reverse->talk.why, "a callback does not decode");
		return false;
	}
	return rr_check_send(peer, out, (uint32_t)rpcrdma_xdr_length(&writer), 0) == 0;
}

/* ---- The call ---- */

/*
 * Judges the headers of a call that the server made in the reverse direction: version, XIDs and program. RFC
 * 8167, 5.1: "The rdma_vers field MUST contain the same value in reverse- and forward-direction Call messages
 * on the same connection", and "the ONC RPC Call header MUST start with the same XID value that is present in
 * the RPC-over-RDMA header".
 */
static enum rr_check_verdict
reverse_judge(const struct reverse *reverse, const struct rr_check_reply *call,
	const struct rr_call_header *header, bool is_whole)
{
	struct rr_text *why = reverse->talk.why;

	if (call->header.vers != reverse->talk.peer->version)
		return rr_check_fail(why,
			"a call in the reverse direction of version %u, on a connection of version %u",
			call->header.vers, reverse->talk.peer->version);
	if (!is_whole)
		return rr_check_fail(why, "a call in the reverse direction whose RPC header does not decode");
	if (header->xid != call->header.xid)
		return rr_check_fail(why,
			"the XIDs of a call in the reverse direction differ: 0x%08x and 0x%08x",
			call->header.xid, header->xid);
	if (header->prog != RR_CHECK4_CALLBACK)
		return rr_check_fail(why, "a call of program %u, where the client's is %u", header->prog,
			RR_CHECK4_CALLBACK);
	return RR_CHECK_PASS;
}

/* Makes a NULL call with this XID, while a call of the server with the same XID still waits for its reply.
 * Checks that the server answers the NULL call. RFC 8167, 4: the two directions have separate credits and
 * XIDs. */
static enum rr_check_verdict
reverse_call_meanwhile(const struct reverse *reverse, uint32_t xid)
{
	struct rr_check_peer *peer = reverse->talk.peer;
	struct rr_check_call null = { .xid = xid };
	struct rr_check_reply reply;
	bool answered;

	if (rr_check_call(peer, &null) < 0 || !rr_check_reply(peer, &reply, reverse->talk.why))
		return RR_CHECK_FAIL;
	answered = reply.result == RR_HEADER_OK && reply.header.xid == xid && reply.has_rpc &&
		   reply.rpc.xid == xid;
	rr_check_forget(&reply);
	return answered ? RR_CHECK_PASS
			: rr_check_fail(reverse->talk.why, "a call with the XID of one in the reverse "
							   "direction gets no reply of its own");
}

/* Waits for a call that the server makes in the reverse direction, judges its headers, and answers it. Before
 * the answer, makes a NULL call with the same XID, and checks that the server answers the NULL call. */
static enum rr_check_verdict
reverse_take_call(struct reverse *reverse)
{
	struct rpcrdma_xdr_reader reader;
	struct rpcrdma_message stream;
	enum rr_check_verdict verdict;
	struct rr_call_header header;
	struct rr_check_reply call;
	bool is_whole;

	if (!rr_check_called(reverse->talk.peer, &call, reverse->talk.why))
		return RR_CHECK_FAIL;
	stream = (struct rpcrdma_message){ .stream = call.payload.data, .length = call.payload.length };
	rpcrdma_xdr_reader_init(&reader, &stream, NULL);
	is_whole = rr_rpc_get_call(&reader, &header);
	verdict = reverse_judge(reverse, &call, &header, is_whole);
	if (verdict == RR_CHECK_PASS)
		verdict = reverse_call_meanwhile(reverse, header.xid);
	if (verdict == RR_CHECK_PASS && !reverse_answer(reverse, &call, &header, &reader))
		verdict = RR_CHECK_FAIL;
	reverse->calls++;
	rr_check_forget(&call);
	return verdict;
}

/* ---- A reason for the server to call ---- */

/* Opens the file for writing as a second client, on a connection of its own, so that the server must recall
 * the delegation that the client `reverse` has. Judges and answers the server's call with the recall, and
 * then has that client close the file and return the delegation. The reply to the second client's OPEN comes
 * after that, or sooner with NFS4ERR_DELAY; so it is waited for last. Returns the verdict. */
static enum rr_check_verdict
reverse_conflict(struct reverse *reverse)
{
	struct rr_check_peer peer = { .check = reverse->talk.peer->check,
		.version = reverse->talk.peer->version };
	struct reverse other = {
		.talk = { .peer = &peer, .why = reverse->talk.why, .path = reverse->talk.path }
	};
	enum rr_check_verdict verdict;

	if (rr_check_connect(&peer, NULL, 0) < 0) {
		verdict = rr_check_fail(reverse->talk.why, "no second connection: %.200s", peer.why.text);
		rr_check_close(&peer);
		return verdict;
	}
	verdict = rr_check4_session(&other.talk);
	if (verdict == RR_CHECK_PASS &&
		(!reverse_reclaim_complete(&other.talk) || !reverse_open(&other, REVERSE_WRITE)))
		verdict = RR_CHECK_FAIL;
	if (verdict == RR_CHECK_PASS)
		verdict = reverse_take_call(reverse);
	reverse_close(reverse);
	if (verdict == RR_CHECK_PASS && !reverse_opened(&other))
		verdict = RR_CHECK_FAIL;
	reverse_close(&other);
	rr_check4_end(&other.talk);
	rr_check_close(&peer);
	return verdict;
}

/* Finds the file and sends RECLAIM_COMPLETE. Then judges and answers the calls that the server has already
 * made in the reverse direction. */
static enum rr_check_verdict
reverse_begin(struct reverse *reverse)
{
	uint8_t octets[REVERSE_FIRST];
	enum rr_check_verdict verdict = rr_check4_find(&reverse->talk, octets, sizeof(octets));

	if (verdict == RR_CHECK_PASS && !reverse_reclaim_complete(&reverse->talk))
		verdict = RR_CHECK_FAIL;
	while (verdict == RR_CHECK_PASS && reverse->talk.peer->called)
		verdict = reverse_take_call(reverse);
	return verdict;
}

/* Opens the file and asks for a read delegation, and makes the server recall the delegation. The case is
 * skipped if the server gives no delegation and has made no other call in the reverse direction. */
static enum rr_check_verdict
reverse_delegated(struct reverse *reverse)
{
	enum rr_check_verdict verdict = reverse_begin(reverse);

	if (verdict != RR_CHECK_PASS)
		return verdict;
	if (!reverse_open(reverse, REVERSE_READ | OPEN4_SHARE_ACCESS_WANT_READ_DELEG) ||
		!reverse_opened(reverse))
		return RR_CHECK_FAIL;
	if (reverse->has_delegated)
		return reverse_conflict(reverse);
	reverse_close(reverse);
	if (reverse->calls > 0)
		return RR_CHECK_PASS;
	return rr_check_skip(
		reverse->talk.why, "the server gives no delegation that it would have to recall");
}

/* Checks the calls that a server makes in the reverse direction, over the connection of a session: the server
 * must recall a delegation that it has given. The case is skipped if the server has no sessions, or makes no
 * calls in the reverse direction. */
static enum rr_check_verdict
reverse_called(struct rr_check_peer *peer, struct rr_text *why)
{
	struct reverse reverse = {
		.talk = { .peer = peer, .why = why, .path = peer->check->file_path, .back = true }
	};
	enum rr_check_verdict verdict;

	peer->takes_calls = true;
	verdict = rr_check4_session(&reverse.talk);
	if (verdict == RR_CHECK_PASS && (reverse.talk.minor == 0 || !reverse.talk.back))
		verdict = rr_check_skip(why, "the server makes no callbacks over a session's connection");
	if (verdict == RR_CHECK_PASS)
		verdict = reverse_delegated(&reverse);
	rr_check4_end(&reverse.talk);
	return verdict == RR_CHECK_PASS ? rr_check_null(peer, why) : verdict;
}

const struct rr_check_case rr_check_reverse_cases[] = {
	{ .name = "B6-reverse-call",
		.row = "B6",
		.section = "RFC 8167, 5.1",
		.text = "a call in the reverse direction is of the connection's version, and apart from "
			"calls with its XID",
		.version_1 = true,
		.version_2 = true,
		.needs_file = true,
		.run = reverse_called },
	{ .name = NULL },
};
