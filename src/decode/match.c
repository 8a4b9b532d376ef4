/* SPDX-License-Identifier: BSD-3-Clause */
#include "decode/match.h"

#include <rpcrdma/error.h>
#include <string.h>

/* Returns the key of a transaction in the map. caller is the side that sent the call. The numbers of
 * connections have 31 bits. */
static uint64_t
match_key(uint32_t connection, uint8_t caller, uint32_t xid)
{
	return (uint64_t)connection << 33 | (uint64_t)caller << 32 | xid;
}

/* Returns the transaction with this XID on the connection of moment whose call the side caller sent, or NULL
 * if there is none. */
static struct rr_match_transaction *
match_find(const struct rr_match *match, const struct rr_moment *moment, uint8_t caller, uint32_t xid)
{
	struct rr_map_link *link =
		rr_map_find(&match->transactions, match_key(moment->connection, caller, xid));

	return link ? rr_container(link, struct rr_match_transaction, link) : NULL;
}

/* ---- Messages that are held back ---- */

/* Adds to the message what is known of its transaction (a call and its reply): the moment of the call, the
 * octets moved by RDMA, and the procedure if the message itself does not have it. */
static void
match_describe(const struct rr_match_transaction *transaction, struct rr_message *message)
{
	message->is_paired = true;
	message->call_moment = transaction->moment;
	memcpy(message->moved, transaction->moved, sizeof(message->moved));
	if (message->has_procedure)
		return;
	message->has_procedure = transaction->has_procedure;
	message->prog = transaction->prog;
	message->vers = transaction->vers;
	message->proc = transaction->proc;
}

/* Decodes the RPC header of a message that was itself moved by RDMA. The transaction has kept the first
 * octets of such a message. If the message is a call, its procedure becomes known as that of the
 * transaction. */
static void
match_decode_head(struct rr_match_transaction *transaction, struct rr_message *message)
{
	bool is_call = message->sent.moment.from == transaction->caller;
	const struct rr_head *head =
		&transaction->heads[is_call ? RR_TRANSACTION_CALL : RR_TRANSACTION_REPLY];

	if (head->data)
		rr_message_decode_rpc(message, (struct rpcrdma_bytes){ head->data, head->have });
	message->kind = is_call ? RR_MESSAGE_CALL : RR_MESSAGE_REPLY;
	if (!is_call || !message->has_call)
		return;
	transaction->has_procedure = true;
	transaction->prog = message->prog;
	transaction->vers = message->vers;
	transaction->proc = message->proc;
}

void
rr_match_release(struct rr_match *match, struct rr_match_transaction *transaction)
{
	struct rr_held held = transaction->held;
	struct rr_message message = { .sent = held.sent };

	if (!held.data)
		return;
	transaction->held = (struct rr_held){ 0 };
	rr_message_decode(&message, &match->lists, (struct rpcrdma_bytes){ held.data, held.sent.size });
	match_decode_head(transaction, &message);
	match_describe(transaction, &message);
	match->emit(match->ctx, &message);
	rr_decode_free(match->memory, held.data, held.sent.size);
}

/* Holds a message back: keeps a copy of it in the transaction, to be emitted later. Returns false if there is
 * no memory; the caller then emits the message at once. */
static bool
match_hold(struct rr_match *match, struct rr_match_transaction *transaction, const struct rr_message *message,
	struct rpcrdma_bytes data)
{
	uint8_t *copy = rr_decode_alloc(match->memory, data.length);

	if (!copy)
		return false;
	memcpy(copy, data.data, data.length);
	transaction->held = (struct rr_held){ copy, message->sent };
	return true;
}

/* ---- Transactions ---- */

/* Ends a transaction: emits the message that the transaction holds back, if there is one, and frees the
 * transaction. */
static void
match_end(struct rr_match *match, struct rr_match_transaction *transaction)
{
	rr_match_release(match, transaction);
	rr_match_remove_regions(match, transaction);
	rr_map_remove(&match->transactions, &transaction->link);
	rr_list_remove(&transaction->age);
	match->count--;
	rr_decode_free(match->memory, transaction, sizeof(*transaction));
}

/* Returns the transaction that began first, or NULL if there is none. */
static struct rr_match_transaction *
match_oldest(const struct rr_match *match)
{
	return rr_list_empty(&match->ages) ? NULL
					   : rr_container(match->ages.next, struct rr_match_transaction, age);
}

/* Ends the oldest transaction, to make room. There must be one. */
static void
match_evict(struct rr_match *match)
{
	match->evicted++;
	match_end(match, match_oldest(match));
}

/* Returns zeroed memory for a transaction, or NULL if there is none. The oldest transaction is ended first if
 * there are too many, or if there is no memory. */
static struct rr_match_transaction *
match_alloc(struct rr_match *match)
{
	struct rr_match_transaction *transaction;

	if (match->count >= match->max)
		match_evict(match);
	transaction = rr_decode_alloc(match->memory, sizeof(*transaction));
	if (transaction || match->count == 0)
		return transaction;
	match_evict(match);
	return rr_decode_alloc(match->memory, sizeof(*transaction));
}

/* Makes the transaction of a call, and ends an earlier transaction with the same XID. Returns NULL if there
 * is no memory. */
static struct rr_match_transaction *
match_begin(struct rr_match *match, const struct rr_message *message)
{
	const struct rr_moment *moment = &message->sent.moment;
	struct rr_match_transaction *transaction =
		match_find(match, moment, moment->from, message->header.xid);

	if (transaction)
		match_end(match, transaction);
	transaction = match_alloc(match);
	if (!transaction)
		return NULL;
	transaction->connection = moment->connection;
	transaction->caller = moment->from;
	transaction->xid = message->header.xid;
	transaction->moment = *moment;
	transaction->has_procedure = message->has_procedure;
	transaction->prog = message->prog;
	transaction->vers = message->vers;
	transaction->proc = message->proc;
	rr_map_add(&match->transactions, &transaction->link,
		match_key(moment->connection, moment->from, message->header.xid));
	rr_list_append(&match->ages, &transaction->age);
	match->count++;
	return transaction;
}

/* ---- Messages ---- */

/* Tells whether the RPC message itself is in a Read chunk, and is moved by RDMA Reads. */
static bool
match_moves(const struct rr_message *message)
{
	return message->header.proc == RR_RDMA_NOMSG && message->lists.read_count > 0;
}

/* Returns the kind of a message. An RDMA_NOMSG without a Read list is a Long Reply. With a Read list it is a
 * Long Call, or, in version 2, the reply to a call of the other side
 * (draft-cel-nfsv4-rpcrdma-reliable-reply-02, 4.1). answered: the transaction of such a call, or NULL if
 * there is none. */
static enum rr_message_kind
match_kind(const struct rr_message *message, const struct rr_match_transaction *answered)
{
	if (message->kind != RR_MESSAGE_UNCLEAR || message->result != RR_HEADER_OK)
		return message->kind;
	if (message->header.proc != RR_RDMA_NOMSG)
		return RR_MESSAGE_UNCLEAR;
	if (!match_moves(message))
		return RR_MESSAGE_REPLY;
	return message->header.vers == RR_RPCRDMA_VERSION_2 && answered ? RR_MESSAGE_REPLY : RR_MESSAGE_CALL;
}

/* Handles a call: begins its transaction, and emits the call. But if the call itself is moved by RDMA, holds
 * the call back until its RPC header has come. Without memory for that, emits the call at once. */
static void
match_call(struct rr_match *match, struct rr_message *message, struct rpcrdma_bytes data)
{
	struct rr_match_transaction *transaction = match_begin(match, message);

	if (!transaction || !rr_match_add_regions(match, transaction, RR_TRANSACTION_CALL, message) ||
		!match_moves(message) || !match_hold(match, transaction, message, data))
		match->emit(match->ctx, message);
}

/* Handles a reply or an error: emits it, and ends its transaction. A message that the transaction still holds
 * back is emitted first. If the requester has yet to read the reply by RDMA, holds the reply back (without
 * memory for that, emits it at once), and does not end the transaction: RDMA_DONE does so. */
static void
match_reply(struct rr_match *match, struct rr_match_transaction *transaction, struct rr_message *message,
	struct rpcrdma_bytes data)
{
	rr_match_release(match, transaction);
	if (match_moves(message) && !transaction->is_answered) {
		transaction->is_answered = true;
		if (rr_match_add_regions(match, transaction, RR_TRANSACTION_REPLY, message) &&
			match_hold(match, transaction, message, data))
			return;
	}
	if (message->header.proc == RR_RDMA_NOMSG)
		match_decode_head(transaction, message);
	match_describe(transaction, message);
	match->emit(match->ctx, message);
	if (!transaction->is_answered)
		match_end(match, transaction);
}

/* Handles RDMA_DONE, by which the requester says that it has read a reply by RDMA: emits the RDMA_DONE, and
 * ends the transaction. draft-cel-nfsv4-rpcrdma-reliable-reply-02: RDMA_DONE has the XID of that reply. */
static void
match_done(struct rr_match *match, struct rr_match_transaction *transaction, struct rr_message *message)
{
	rr_match_release(match, transaction);
	match_describe(transaction, message);
	match->emit(match->ctx, message);
	match_end(match, transaction);
}

/* Finds the transaction of a message, and handles the message by its kind. A call begins a transaction. A
 * reply or an error belongs to a call of the other side, an RDMA_DONE to a call of its own sender. A message
 * without a transaction is only emitted. */
void
rr_match_message(struct rr_match *match, struct rr_message *message, struct rpcrdma_bytes data)
{
	const struct rr_moment *moment = &message->sent.moment;
	struct rr_match_transaction *answered = match_find(match, moment, !moment->from, message->header.xid);
	struct rr_match_transaction *own = match_find(match, moment, moment->from, message->header.xid);

	message->kind = match_kind(message, answered);
	switch (message->kind) {
	case RR_MESSAGE_CALL: match_call(match, message, data); return;
	case RR_MESSAGE_REPLY:
	case RR_MESSAGE_ERROR:
		if (!answered)
			break;
		match_reply(match, answered, message, data);
		return;
	case RR_MESSAGE_DONE:
		if (!own || !own->is_answered)
			break;
		match_done(match, own, message);
		return;
	default: break;
	}
	match->emit(match->ctx, message);
}

/* ---- The whole ---- */

int
rr_match_init(struct rr_match *match, struct rr_decode_memory *memory, uint32_t max)
{
	match->memory = memory;
	match->max = max;
	rr_list_init(&match->ages);
	if (rr_message_prepare(memory, &match->lists) < 0 ||
		rr_map_init(&match->transactions, memory->env, 4096) < 0 ||
		rr_map_init(&match->regions, memory->env, 4096) < 0) {
		rr_match_free(match);
		return -RPCRDMA_ERR_NOMEM;
	}
	return 0;
}

void
rr_match_end_connection(struct rr_match *match, uint32_t connection)
{
	rr_list_for_each (link, &match->ages) {
		struct rr_match_transaction *transaction =
			rr_container(link, struct rr_match_transaction, age);

		if (transaction->connection == connection)
			match_end(match, transaction);
	}
}

void
rr_match_free(struct rr_match *match)
{
	if (!match->memory)
		return;
	while (match_oldest(match))
		match_end(match, match_oldest(match));
	rr_map_free(&match->transactions, match->memory->env);
	rr_map_free(&match->regions, match->memory->env);
	rr_message_unprepare(match->memory, &match->lists);
	*match = (struct rr_match){ 0 };
}
