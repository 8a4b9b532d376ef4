/* SPDX-License-Identifier: BSD-3-Clause */
#include "model.h"

#include <stdlib.h>

#include "base/endian.h"
#include "carrier/rdma/core/connection.h"

/* The one that is called. */

/* ---- Arrival ---- */

/* The memory of two messages that are with their owners at a time is not the same. */
static void
check_apart(const struct model *model, const struct rr_list *list, const void *from, uint32_t length)
{
	rr_list_for_each (link, list) {
		const struct rpcrdma_message *call =
			&rr_container(link, const struct asked, link)->exchange->call;

		for (uint32_t i = 0; i <= call->item_count; i++) {
			const uint8_t *other = i ? call->items[i - 1].data : call->stream;
			uint32_t size = i ? call->items[i - 1].length : call->length;

			if ((const uint8_t *)from < other + size && other < (const uint8_t *)from + length)
				model_fail(model, "a buffer is in two hands");
		}
	}
}

static void
check_alone(const struct model *model, const struct rpcrdma_message *call)
{
	rr_list_for_each (link, &model->ends) {
		const struct end *end = rr_container(link, const struct end, link);

		check_apart(model, &end->asked, call->stream, call->length);
		for (uint32_t i = 0; i < call->item_count; i++)
			check_apart(model, &end->asked, call->items[i].data, call->items[i].length);
	}
	check_apart(model, &model->orphans, call->stream, call->length);
}

/*
 * RFC 8166, 3.3.1: "A Requester MUST NOT send unacknowledged requests in excess of the Responder's granted
 * credit limit." 3.3.3: and no more than one before the first reply.
 */
static void
check_credits(const struct end *end)
{
	uint32_t grant = end->is_client ? RR_REVERSE_CREDITS : end->model->config.credits;
	struct rpcrdma_negotiated negotiated;
	bool granted;

	/* In version 2, the answer to the first message of the connection grants. */
	rr_carrier_negotiated(end->carrier, &negotiated);
	granted = end->answers > 0 || (!end->is_client && negotiated.version == RR_RPCRDMA_VERSION_2);
	if (end->unanswered > (granted ? grant : 1))
		model_fail(end->model, "%u calls are unanswered, %u were granted", end->unanswered, grant);
}

static struct call *
find_call(const struct end *end, const struct rr_exchange *exchange)
{
	const struct model *model = end->model;

	model_require(model, exchange->xid > 0 && exchange->xid <= model->call_count[end->is_client]);
	return model->calls[end->is_client][exchange->xid - 1];
}

static struct asked *
book(struct end *end, struct rr_exchange *exchange)
{
	struct asked *asked = calloc(1, sizeof(*asked));
	struct call *call = find_call(end, exchange);
	const uint8_t *stream = exchange->call.stream;

	model_require(end->model, asked && exchange->call.length >= 16);
	*asked = (struct asked){ .end = end, .exchange = exchange, .call = call, .said = call->said };
	asked->said.attempt = rr_get_be32(stream + 8);
	asked->said.end = rr_get_be32(stream + 12);
	asked->current = call->state == CALL_PENDING && asked->said.attempt == call->said.attempt;
	rr_list_init(&asked->link);
	return asked;
}

void
model_hear_again(const struct model *model, const struct asked *asked)
{
	if (!model_hears(&asked->said, &asked->exchange->call))
		model_fail(model, "XID 0x%08x has other octets in its call than were sent", asked->said.xid);
}

void
model_asked(void *ctx, struct rr_exchange *exchange)
{
	struct end *end = ctx;
	struct model *model = end->model;
	struct asked *asked = book(end, exchange);

	model_require(model, !end->peer || end->peer == asked->said.end);
	end->peer = asked->said.end;
	if (asked->current) {
		model_require(model, !asked->call->arrived && asked->call->end->id == asked->said.end);
		asked->call->arrived = true;
	}
	end->unanswered++;
	check_credits(end);
	check_alone(model, &exchange->call);
	rr_list_append(&end->asked, &asked->link);
	model_hear_again(model, asked);
	if (model_one_in(model, 4))
		model_answer(model, asked);
	model_mischief(model);
}

/* ---- Answers ---- */

static void
sent(void *arg)
{
	struct answer *answer = arg;
	struct model *model = answer->model;

	rr_list_remove(&answer->link);
	model_bury(model, answer->memory);
	free(answer);
}

/* As much as the call had room for, or less; or more than can be conveyed. */
static struct said
choose_answer(struct model *model, const struct asked *asked)
{
	const struct rr_transaction *transaction = &asked->call->transaction;
	struct said said = asked->said;
	uint32_t at = 16;

	said.type = 1;
	said.item_count = asked->call->beyond ? 0 : model_below(model, transaction->sink_count + 1);
	said.length = model_one_in(model, 3) ? transaction->reply_max : 24;
	if (asked->call->beyond)
		said.length = 2 * model->config.inline_send + 40000;
	for (uint32_t i = 0; i < said.item_count; i++) {
		uint32_t room = transaction->sinks[i].length;

		at += 4 * model_below(model, (said.length - at) / 4 + 1);
		said.offsets[i] = at;
		said.lengths[i] = model_one_in(model, 3) ? model_below(model, room + 1) : room;
	}
	return said;
}

static struct rest *
write_answer(struct model *model, const struct said *said, struct rpcrdma_message *message,
	struct rpcrdma_item *items)
{
	struct rest *memory;
	uint32_t size = said->length;

	for (uint32_t i = 0; i < said->item_count; i++)
		size += said->lengths[i];
	memory = model_memory(model, size);
	model_say_stream(said, memory->memory);
	*message = (struct rpcrdma_message){ .stream = memory->memory,
		.length = said->length,
		.items = items,
		.item_count = said->item_count };
	size = said->length;
	for (uint32_t i = 0; i < said->item_count; i++) {
		model_say_item(said, i, memory->memory + size);
		items[i] = (struct rpcrdma_item){ memory->memory + size, said->lengths[i], said->offsets[i] };
		size += said->lengths[i];
	}
	return memory;
}

static void
settle_account(struct asked *asked)
{
	if (asked->end) {
		asked->end->unanswered--;
		asked->end->answers++;
	}
	rr_list_remove(&asked->link);
}

void
model_answer(struct model *model, struct asked *asked)
{
	struct rr_exchange *exchange = asked->exchange;
	struct answer *answer = calloc(1, sizeof(*answer));
	struct rpcrdma_item items[RR_MESSAGE_ITEMS];
	struct rpcrdma_message message;
	struct said said;

	model_require(model, answer);
	model_hear_again(model, asked);
	said = choose_answer(model, asked);
	answer->model = model;
	answer->memory = write_answer(model, &said, &message, items);
	rr_list_init(&answer->link);
	rr_list_append(&model->answers, &answer->link);
	if (asked->current && asked->call->state == CALL_PENDING &&
		asked->call->said.attempt == said.attempt) {
		model_require(model, !asked->call->answered);
		asked->call->answered = true;
		asked->call->answer = said;
	}
	settle_account(asked);
	free(asked);
	rr_exchange_reply(exchange, &message, sent, answer);
}

/* The caller hears nothing, and its credit stays used. */
void
model_withhold(struct model *model, struct asked *asked)
{
	struct end *caller = asked->end ? model_end(model, asked->end->peer) : NULL;

	if (caller)
		caller->starves = true;
	/* A caller that is to shut down waits for that answer, and takes no calls meanwhile. */
	if (asked->end)
		asked->end->starves = true;
	rr_list_remove(&asked->link);
	rr_exchange_drop(asked->exchange);
	free(asked);
}
