/* SPDX-License-Identifier: BSD-3-Clause */
#include "decode/judge/judge_private.h"

/* This file keeps calls, and checks them and their replies. A call that has its reply is kept, too:
 * judge_private.h says for how long. */

/* A reply counts as missing if, since its call was sent, the caller has received so many replies. */
enum { CALL_LONG_AGO = 64 };

/* Returns the key of a call in the judge's map of calls. caller is the side that sent the call. The numbers
 * of connections have 31 bits. */
static uint64_t
call_key(uint32_t connection, uint8_t caller, uint32_t xid)
{
	return (uint64_t)connection << 33 | (uint64_t)caller << 32 | xid;
}

/* Returns the call with this XID that the side caller sent, or another message that an error may answer, or
 * NULL if there is none. The call may have its reply already. */
struct rr_judge_call *
rr_judge_find_call(const struct rr_judge *judge, uint32_t connection, uint8_t caller, uint32_t xid)
{
	struct rr_map_link *link = rr_map_find(&judge->calls, call_key(connection, caller, xid));

	return link ? rr_container(link, struct rr_judge_call, link) : NULL;
}

/* ---- Keeping calls ---- */

/* Forgets a call and the memory that its chunks offered, and frees the call. */
void
rr_judge_end_call(struct rr_judge *judge, struct rr_judge_call *call)
{
	rr_judge_withdraw(judge, call);
	rr_map_remove(&judge->calls, &call->link);
	rr_list_remove(&call->age);
	judge->call_count--;
	rr_decode_free(&judge->memory, call, sizeof(*call));
}

/* Reports a call that has no reply, although the caller has received at least CALL_LONG_AGO replies since it
 * sent the call. Nothing is reported unless the connection is whole. */
static void
call_is_missed(struct rr_judge *judge, const struct rr_judge_connection *connection,
	const struct rr_judge_call *call)
{
	uint32_t later = connection->sides[call->caller].replies - call->replies;

	if (!call->answered && !call->is_plain && rr_judge_is_whole(connection) && later >= CALL_LONG_AGO)
		rr_judge_find(judge, RR_RULE_UNANSWERED, &call->moment, &call->xid,
			"%u other calls were answered since", later);
}

/* Forgets all calls of the connection with that number, which the judge must still know. Before that, reports
 * the calls that should have had a reply by now. */
void
rr_judge_end_calls(struct rr_judge *judge, uint32_t number)
{
	struct rr_map_link *link = rr_map_find(&judge->connections, number);
	const struct rr_judge_connection *connection = rr_container(link, struct rr_judge_connection, link);

	rr_list_for_each (each, &judge->call_ages) {
		struct rr_judge_call *call = rr_container(each, struct rr_judge_call, age);

		if (call->connection != number)
			continue;
		call_is_missed(judge, connection, call);
		rr_judge_end_call(judge, call);
	}
}

/* Removes the oldest call to make room. If the call has no reply yet, its connection is no longer whole: the
 * reply would otherwise be reported as one that no call asked for. That is not so for a message that is not a
 * call (is_plain): it gets no reply, and an error only in rare cases. */
static void
call_evict(struct rr_judge *judge)
{
	struct rr_judge_call *oldest = rr_container(judge->call_ages.next, struct rr_judge_call, age);
	struct rr_map_link *link = rr_map_find(&judge->connections, oldest->connection);

	if (!oldest->answered && !oldest->is_plain) {
		judge->evicted++;
		rr_container(link, struct rr_judge_connection, link)->lossy = true;
	}
	rr_judge_end_call(judge, oldest);
}

/* Returns zeroed memory for a call, or NULL if there is none. Older calls are removed if there are too many
 * calls or too little memory. */
static struct rr_judge_call *
call_alloc(struct rr_judge *judge)
{
	struct rr_judge_call *call;

	if (judge->call_count >= RR_JUDGE_CALLS)
		call_evict(judge);
	call = rr_decode_alloc(&judge->memory, sizeof(*call));
	while (!call && judge->call_count > 0) {
		call_evict(judge);
		call = rr_decode_alloc(&judge->memory, sizeof(*call));
	}
	return call;
}

/* Remembers a call, or another message that an error may answer, and the memory that it offers for RDMA. An
 * earlier call of the same side with the same XID is forgotten, and does not count as outstanding any more,
 * because a reply ends the later call. If there is no memory, returns NULL, and the connection is no longer
 * whole: the reply or the error would otherwise be reported as one that no message asked for. */
static struct rr_judge_call *
call_begin(const struct rr_judged *judged)
{
	struct rr_judge *judge = judged->judge;
	const struct rr_message *message = judged->message;
	struct rr_judge_call *call =
		rr_judge_find_call(judge, judged->connection->number, judged->from, judged->xid);

	if (call && !call->answered && !call->is_plain)
		judged->connection->sides[judged->from].outstanding--;
	if (call)
		rr_judge_end_call(judge, call);
	call = call_alloc(judge);
	if (!call) {
		judged->connection->lossy = true;
		return NULL;
	}
	call->moment = *judged->moment;
	/* The ends in judged->moment are valid only during this callback. */
	call->moment.ends = judged->connection->ends;
	call->connection = judged->connection->number;
	call->caller = judged->from;
	call->xid = judged->xid;
	call->version = message->header.vers;
	call->has_procedure = message->has_procedure;
	call->prog = message->prog;
	call->vers = message->vers;
	call->proc = message->proc;
	call->replies = judged->connection->sides[judged->from].replies;
	rr_map_add(&judge->calls, &call->link, call_key(call->connection, call->caller, call->xid));
	rr_list_append(&judge->call_ages, &call->age);
	judge->call_count++;
	if (!rr_judge_offer(judge, call, message)) {
		judged->connection->lossy = true;
		rr_judge_end_call(judge, call);
		return NULL;
	}
	return call;
}

/* ---- Calls ---- */

/* Reports a call of a version that the other side has refused. Remembers the version of a forward call, which
 * side 0 sends. Reports a reverse call, which side 1 sends, if its version is not that of the last forward
 * call. RFC 8167, 5.1: "The rdma_vers field MUST contain the same value in reverse- and forward-direction
 * Call messages on the same connection." A client may try version 2 before it uses version 1, so earlier
 * forward calls do not count. Reverse calls are compared only if all messages of the connection are known. */
static void
call_version(const struct rr_judged *judged)
{
	struct rr_judge_connection *connection = judged->connection;
	uint32_t version = judged->message->header.vers;

	if (version == connection->sides[!judged->from].refused)
		rr_judge_message(judged, RR_RULE_VERSION_REFUSED, "version %u", version);
	if (judged->from == 0) {
		connection->version = version;
		return;
	}
	if (connection->version && rr_judge_is_whole(connection) && version != connection->version)
		rr_judge_message(
			judged, RR_RULE_REVERSE_VERSION, "version %u, and %u", version, connection->version);
}

/* Checks a call: whether another call without a reply has its XID, whether its sender has a credit for it,
 * its version and its chunks. Then remembers the call. */
void
rr_judge_call(const struct rr_judged *judged)
{
	struct rr_judge_call *call =
		rr_judge_find_call(judged->judge, judged->connection->number, judged->from, judged->xid);

	if (call && !call->answered && !call->is_plain)
		rr_judge_message(judged, RR_RULE_TWICE, "the other one is in frame %llu",
			(unsigned long long)call->moment.frame);
	rr_judge_call_begins(judged);
	call_version(judged);
	rr_judge_chunk_kinds(judged);
	call = call_begin(judged);
	if (!call)
		return;
	call->digest = rr_judge_digest(judged->message->payload.data, judged->message->payload.length);
	rr_judge_overlaps(judged, call);
}

/* Remembers a message that is not a call, because an RDMA_ERROR may answer it. A message that is too short
 * for a header has no XID, and is not remembered. */
void
rr_judge_plain(const struct rr_judged *judged)
{
	struct rr_judge_call *call;

	if (judged->message->result == RR_HEADER_SHORT)
		return;
	call = call_begin(judged);
	if (!call)
		return;
	call->is_plain = true;
	if (judged->message->header.proc == RR_RDMA_OPTIONAL)
		call->opttype = judged->message->header.opttype;
}

/* ---- Replies ---- */

/* Notes that the call has its reply, or its error. If the call had none before, its caller has one more
 * credit, and the grant in the message counts from now on. */
void
rr_judge_answered(const struct rr_judged *judged, struct rr_judge_call *call)
{
	if (!call->is_plain && !call->answered)
		rr_judge_call_ends(judged);
	call->answered = true;
}

/* Checks a reply that the responder leaves in its own memory, from where the requester reads the reply: the
 * reply must be of version 2, and both sides must have announced that they use such replies. Remembers that
 * memory. If the judge has no room for that, the connection is no longer whole: RDMA to that memory, and the
 * RDMA_DONE, would otherwise be reported. */
static void
call_provided(const struct rr_judged *judged, struct rr_judge_call *call)
{
	const struct rr_judge_side *sides = judged->connection->sides;

	if (call->version == 1 || judged->message->header.vers == 1) {
		rr_judge_message(
			judged, RR_RULE_REPLY_READS, "%u read segments", judged->message->lists.read_count);
		return;
	}
	if (rr_judge_is_whole(judged->connection) && (!sides[0].announced_reads || !sides[1].announced_reads))
		rr_judge_message(judged, RR_RULE_PROVIDED, "%s did not",
			sides[0].announced_reads ? "the responder" : "the requester");
	call->provided = rr_judge_provide(judged->judge, call, judged->message);
	if (!call->provided)
		judged->connection->lossy = true;
}

/* Checks a reply: whether a call without a reply has its XID, its version, the credits that it grants, and
 * the chunks that it returns. Then notes that the call has its reply. The version is compared with that of
 * the call only if side 0 replies to a reverse call, as RFC 8167, 5.2, is about such replies. */
void
rr_judge_reply(const struct rr_judged *judged)
{
	struct rr_judge_call *call =
		rr_judge_find_call(judged->judge, judged->connection->number, !judged->from, judged->xid);

	/* An RDMA_NOMSG without any chunk for an RPC message may have been meant as a call or as a reply. It
	 * counts as a reply only if there is a call with its XID. */
	if (!call && judged->message->header.proc == RR_RDMA_NOMSG &&
		judged->message->lists.read_count == 0 && !judged->message->lists.has_reply) {
		rr_judge_plain(judged);
		return;
	}
	rr_judge_grant(judged);
	if (!call || call->answered) {
		if (rr_judge_is_whole(judged->connection))
			rr_judge_message(judged, RR_RULE_STRAY_REPLY,
				call ? "its call was answered before" : "there is no call with its XID");
		return;
	}
	if (judged->from == 0 && judged->message->header.vers != call->version)
		rr_judge_message(judged, RR_RULE_REVERSE_VERSION, "version %u, and the call has %u",
			judged->message->header.vers, call->version);
	rr_judge_returned(judged, call);
	rr_judge_read_result(judged, call);
	rr_judge_repeated(judged, call);
	if (judged->message->lists.read_count > 0)
		call_provided(judged, call);
	rr_judge_answered(judged, call);
}
