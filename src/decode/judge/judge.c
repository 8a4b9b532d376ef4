/* SPDX-License-Identifier: BSD-3-Clause */
#include "decode/judge/judge_private.h"

#include <rpcrdma/error.h>
#include <string.h>

/* The judge itself: it receives what a decoder finds (struct rr_decode_sink), keeps an entry for each
 * connection, and hands messages and operations to the files judge_*.c, which have the checks. */

/* The octets that a judge may keep, and the buckets of its maps of calls and regions. */
enum { JUDGE_MEMORY = 64 << 20, JUDGE_BUCKETS = 4096 };

/* ---- Connections ---- */

/* Sets the limits of a side. They hold until the side announces other limits: in version 1, messages of 1024
 * octets and one credit (RFC 8166, 3.3.2 and 3.3.3); in version 2, messages of 4096 octets. */
static void
judge_side_init(struct rr_judge_side *side)
{
	side->send_size = side->receive_size = 1024;
	side->limit_2 = 4096;
	side->grant = side->last_grant = 1;
}

/* Frees a connection and its calls. Before that, reports the calls that should have had a reply by now. */
static void
judge_end_connection(struct rr_judge *judge, struct rr_judge_connection *connection)
{
	rr_judge_end_calls(judge, connection->number);
	rr_map_remove(&judge->connections, &connection->link);
	rr_list_remove(&connection->age);
	rr_decode_free(&judge->memory, connection, sizeof(*connection));
}

/* Returns the connection that the judge has known for the longest time, or NULL if there is none. */
static struct rr_judge_connection *
judge_oldest(const struct rr_judge *judge)
{
	return rr_list_empty(&judge->connection_ages)
		       ? NULL
		       : rr_container(judge->connection_ages.next, struct rr_judge_connection, age);
}

/* Returns what the judge keeps about the connection of the moment. If this connection is new, makes an
 * entry for it; if there are too many, the oldest connection is removed first. Returns NULL if there is
 * no memory. */
static struct rr_judge_connection *
judge_connection(struct rr_judge *judge, const struct rr_moment *moment)
{
	struct rr_map_link *link = rr_map_find(&judge->connections, moment->connection);
	struct rr_judge_connection *connection;

	if (link)
		return rr_container(link, struct rr_judge_connection, link);
	if (judge->connections.count >= RR_JUDGE_CONNECTIONS)
		judge_end_connection(judge, judge_oldest(judge));
	connection = rr_decode_alloc(&judge->memory, sizeof(*connection));
	if (!connection)
		return NULL;
	connection->number = moment->connection;
	memcpy(connection->ends, moment->ends, sizeof(connection->ends));
	judge_side_init(&connection->sides[0]);
	judge_side_init(&connection->sides[1]);
	rr_map_add(&judge->connections, &connection->link, moment->connection);
	rr_list_append(&judge->connection_ages, &connection->age);
	return connection;
}

/* ---- Findings of the decoder ---- */

/* Returns the kind of a message. RDMA_NOMSG does not show whether it is a call or a reply: it is a reply if
 * it has no Read list, or if its XID is that of a call of the other side which has no reply yet. But in
 * version 1, where no reply may have a Read list, it is a call if its sender has sent calls before. RFC
 * 8167, 2.4.1: "a forward-direction Requester MAY use the same XID value at the same time as a
 * reverse-direction Requester". */
static enum rr_message_kind
judge_kind(const struct rr_judged *judged)
{
	const struct rr_message *message = judged->message;
	const struct rr_judge_call *call;

	if (message->kind != RR_MESSAGE_UNCLEAR || message->result != RR_HEADER_OK ||
		message->header.proc != RR_RDMA_NOMSG)
		return message->kind;
	if (message->lists.read_count == 0)
		return RR_MESSAGE_REPLY;
	if (message->header.vers == 1 && judged->connection->sides[judged->from].calls)
		return RR_MESSAGE_CALL;
	call = rr_judge_find_call(
		judged->judge, judged->connection->number, !judged->from, message->header.xid);
	return call && !call->answered ? RR_MESSAGE_REPLY : RR_MESSAGE_CALL;
}

/* Checks a message that a side sent: first its size and its header, then what the rules for its kind (call,
 * reply, error and so on) say. A message of which octets were not captured is not checked, and its connection
 * is no longer whole. */
static void
judge_sent(void *ctx, const struct rr_message *message)
{
	struct rr_judge *judge = ctx;
	const struct rr_moment *moment = &message->sent.moment;
	const struct rr_judged judged = { .judge = judge,
		.connection = judge_connection(judge, moment),
		.message = message,
		.moment = moment,
		.xid = message->header.xid,
		.from = moment->from };

	if (!judged.connection)
		return;
	judge->messages++;
	judged.connection->has_messages = true;
	judged.connection->lossy |= message->sent.is_cut;
	judge->cut += message->sent.is_cut;
	if (message->sent.is_cut)
		return;
	rr_judge_size(&judged);
	rr_judge_header(&judged);
	switch (judge_kind(&judged)) {
	case RR_MESSAGE_CALL: rr_judge_call(&judged); return;
	case RR_MESSAGE_REPLY: rr_judge_reply(&judged); return;
	case RR_MESSAGE_ERROR: rr_judge_error(&judged); return;
	case RR_MESSAGE_DONE: rr_judge_done(&judged); return;
	case RR_MESSAGE_OPTIONAL:
		rr_judge_optional(&judged);
		rr_judge_plain(&judged);
		return;
	case RR_MESSAGE_UNCLEAR: rr_judge_plain(&judged); return;
	}
}

/* Ignores a message that the decoder has paired with its call: judge_sent() has checked the message when it
 * was sent. The sink must have this function. */
static void
judge_message(void *ctx, const struct rr_message *message)
{
	(void)ctx;
	(void)message;
}

/* Handles a handshake, the message by which a side takes its part in opening the connection: its private data
 * announces what the side supports. */
static void
judge_opened(void *ctx, const struct rr_moment *moment, const struct rr_handshake *handshake)
{
	struct rr_judge *judge = ctx;
	struct rr_judge_connection *connection = judge_connection(judge, moment);

	if (connection)
		rr_judge_opened(judge, connection, moment, handshake);
}

/* Checks an RDMA Read or Write. The region that the decoder found for it is not used, because the judge keeps
 * regions of its own. */
static void
judge_operation(void *ctx, const struct rr_moment *moment, const struct rr_op *op,
	const struct rr_decode_region *region)
{
	struct rr_judge *judge = ctx;
	const struct rr_judge_connection *connection = judge_connection(judge, moment);

	(void)region;
	if (connection && op->kind != RR_OP_TERMINATE)
		rr_judge_operation(judge, connection, moment, op);
}

static void
judge_segment(void *ctx, const struct rr_moment *moment, const struct rr_ddp_header *header,
	struct rpcrdma_bytes payload)
{
	struct rr_judge *judge = ctx;
	struct rr_judge_connection *connection = judge_connection(judge, moment);

	if (connection)
		rr_judge_segment(judge, connection, moment, header, payload);
}

/* Ignores a note, which is for people. The sink must have this function. */
static void
judge_note(void *ctx, const struct rr_moment *moment, const char *text)
{
	(void)ctx;
	(void)moment;
	(void)text;
}

/* Notes that octets of the connection are missing in the capture. From now on, rules that depend on earlier
 * messages are not applied to the connection, because these messages may be among the missing octets. */
static void
judge_lost(void *ctx, const struct rr_moment *moment)
{
	struct rr_judge_connection *connection = judge_connection(ctx, moment);

	if (connection)
		connection->lossy = true;
}

/* Reports that the sender that moment names refused a Send of the other side, because no Receive was posted
 * for it. */
static void
judge_starved(void *ctx, const struct rr_moment *moment)
{
	rr_judge_find(ctx, RR_RULE_NO_RECEIVE, moment, NULL, "the receiver's adapter said so");
}

/* ---- The judge ---- */

struct rr_decode_sink
rr_judge_sink(struct rr_judge *judge)
{
	return (struct rr_decode_sink){ .message = judge_message,
		.opened = judge_opened,
		.operation = judge_operation,
		.note = judge_note,
		.sent = judge_sent,
		.segment = judge_segment,
		.lost = judge_lost,
		.starved = judge_starved,
		.foreign = rr_judge_foreign,
		.ctx = judge };
}

uint64_t
rr_judge_messages(const struct rr_judge *judge)
{
	return judge->messages;
}

uint64_t
rr_judge_cut(const struct rr_judge *judge)
{
	return judge->cut;
}

uint64_t
rr_judge_evicted(const struct rr_judge *judge)
{
	return judge->evicted;
}

int
rr_judge_new(const struct rr_env *env, void (*found)(void *ctx, const struct rr_finding *finding), void *ctx,
	struct rr_judge **judge)
{
	struct rr_judge *made = rr_alloc(env, sizeof(*made));

	*judge = NULL;
	if (!made)
		return -RPCRDMA_ERR_NOMEM;
	made->env = env;
	made->memory = (struct rr_decode_memory){ .env = env, .limit = JUDGE_MEMORY };
	made->found = found;
	made->ctx = ctx;
	rr_list_init(&made->connection_ages);
	rr_list_init(&made->call_ages);
	if (rr_map_init(&made->connections, env, RR_JUDGE_CONNECTIONS) < 0 ||
		rr_map_init(&made->calls, env, JUDGE_BUCKETS) < 0 ||
		rr_map_init(&made->regions, env, JUDGE_BUCKETS) < 0) {
		rr_judge_free(made);
		return -RPCRDMA_ERR_NOMEM;
	}
	*judge = made;
	return 0;
}

void
rr_judge_finish(struct rr_judge *judge)
{
	while (judge_oldest(judge))
		judge_end_connection(judge, judge_oldest(judge));
}

void
rr_judge_free(struct rr_judge *judge)
{
	if (!judge)
		return;
	rr_judge_finish(judge);
	rr_map_free(&judge->connections, judge->env);
	rr_map_free(&judge->calls, judge->env);
	rr_map_free(&judge->regions, judge->env);
	rr_free(judge->env, judge);
}
