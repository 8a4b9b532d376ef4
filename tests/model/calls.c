/* SPDX-License-Identifier: BSD-3-Clause */
#include "model.h"

#include <stdlib.h>
#include <string.h>

/* The caller. */

enum { UNTOUCHED = 0x3c };

/* ---- What is called ---- */

/* Around the thresholds, and well above. */
static uint32_t
some_length(struct model *model)
{
	uint32_t size = model->config.inline_send;

	switch (model_below(model, 4)) {
	case 0: return model_below(model, 9);
	case 1: return model_below(model, size / 2);
	case 2: return size - 200 + model_below(model, 240);
	default: return model_below(model, 10000);
	}
}

static void
choose_said(struct model *model, struct call *call)
{
	struct said *said = &call->said;
	uint32_t at = 16;

	said->length = 16 + 4 * model_below(model, 40);
	if (call->reverse)
		return;
	if (model_one_in(model, 5)) /* a position-zero chunk */
		said->length = model_padded(16 + model->config.inline_send - 60 + model_below(model, 4000));
	said->item_count = model_one_in(model, 2)   ? 0
			   : model_one_in(model, 2) ? 1
						    : 1 + model_below(model, RR_CALL_ITEMS / 2);
	for (uint32_t i = 0; i < said->item_count; i++) {
		at += 4 * model_below(model, (said->length - at) / 4 + 1);
		said->offsets[i] = at;
		said->lengths[i] = some_length(model);
	}
}

/* What the call has room for in its answer: reply_max and sinks. The memory of sinks is chosen later. */
static void
choose_room(struct model *model, struct call *call)
{
	struct rr_transaction *transaction = &call->transaction;

	transaction->reply_max = 24 + 4 * model_below(model, 30);
	if (call->reverse)
		return;
	if (model_one_in(model, 5))
		transaction->reply_max = model_padded(24 + some_length(model));
	transaction->sink_count = model_one_in(model, 2) ? 0 : 1 + model_below(model, 2);
	for (uint32_t i = 0; i < transaction->sink_count; i++)
		transaction->sinks[i].length = some_length(model);
	call->beyond = model_one_in(model, 30);
}

static uint32_t
memory_size(const struct call *call)
{
	uint32_t size = call->said.length;

	for (uint32_t i = 0; i < call->said.item_count; i++)
		size += call->said.lengths[i];
	for (uint32_t i = 0; i < call->transaction.sink_count; i++)
		size += call->transaction.sinks[i].length;
	return size;
}

/* Every attempt says another attempt number, so that what belongs to an old one is not mistaken. */
static void
say(struct call *call)
{
	uint8_t *at = call->memory->memory;

	model_say_stream(&call->said, at);
	call->transaction.call = (struct rpcrdma_message){ .stream = at,
		.length = call->said.length,
		.items = call->items,
		.item_count = call->said.item_count };
	at += call->said.length;
	for (uint32_t i = 0; i < call->said.item_count; i++) {
		model_say_item(&call->said, i, at);
		call->items[i] = (struct rpcrdma_item){ at, call->said.lengths[i], call->said.offsets[i] };
		at += call->said.lengths[i];
	}
	call->sinks_at = (uint32_t)(at - call->memory->memory);
}

/* Some sinks are the caller's memory, for some the transport finds memory. */
static void
give_sinks(struct call *call)
{
	struct rr_transaction *transaction = &call->transaction;
	uint8_t *at = call->memory->memory + call->sinks_at;

	for (uint32_t i = 0; i < transaction->sink_count; i++) {
		memset(at, UNTOUCHED, transaction->sinks[i].length);
		transaction->sinks[i].data = model_one_in(call->model, 4) ? NULL : at;
		at += transaction->sinks[i].length;
	}
}

/* ---- Its end ---- */

/* More octets, padding among them, than a message may have here. */
static bool
is_too_long(const struct said *said)
{
	uint32_t octets = said->length;

	for (uint32_t i = 0; i < said->item_count; i++)
		octets += model_padded(said->lengths[i]);
	return octets > MODEL_MESSAGE_MAX;
}

static bool
is_allowed(const struct call *call, int error)
{
	switch (error) {
	case -RPCRDMA_ERR_LIMIT: return is_too_long(&call->said);
	/* What was not offered room may come in a Read chunk of the responder's. */
	case 0:
		return call->answered &&
		       (!call->beyond || (call->model->config.read_chunks && !call->reverse));
	/* Or the responder could not register what it wanted to provide. */
	case -RPCRDMA_ERR_CHUNK:
		return call->answered &&
		       (call->beyond || ((call->model->harsh || call->model->scarce) &&
						call->model->config.read_chunks && !call->reverse));
	case -RPCRDMA_ERR_DISCONNECTED: return true;
	/* A pull does not wait for memory for ever. */
	case -RPCRDMA_ERR_NOMEM:
		return call->model->harsh || call->model->scarce ||
		       (call->answered && call->model->config.read_chunks && !call->reverse);
	default: return false;
	}
}

/* Octets of sinks that no result was placed in are as they were. */
static void
check_sinks(const struct call *call)
{
	const struct rr_transaction *transaction = &call->transaction;
	const struct rpcrdma_message *reply = &transaction->reply;
	const uint8_t *base = call->memory->memory;

	for (uint32_t i = 0; i < transaction->sink_count; i++) {
		const uint8_t *data = transaction->sinks[i].data;
		uint32_t used = 0;

		for (uint32_t j = 0; j < reply->item_count; j++)
			used += reply->items[j].data == data ? reply->items[j].length : 0;
		model_require(call->model, used <= transaction->sinks[i].length);
		if (data < base || data >= base + call->memory->size)
			continue;
		for (uint32_t at = used; at < transaction->sinks[i].length; at++)
			model_require(call->model, data[at] == UNTOUCHED);
	}
}

/* Sometimes the caller keeps the memory of the pool that the reply lies in. */
static void
keep(struct call *call)
{
	struct model *model = call->model;
	struct rr_transaction *transaction = &call->transaction;
	struct kept *kept;
	void **memory = transaction->pulled_memory ? transaction->pulled_memory : transaction->reply_memory;

	if (!memory || !model_one_in(model, 3))
		return;
	kept = malloc(sizeof(*kept));
	model_require(model, kept);
	*kept = (struct kept){ .memory = *memory, .until = model->step + 1 + model_below(model, 40) };
	*memory = NULL;
	/* From here on it is ours: whoever writes to it is found. */
	memset(kept->memory, UNTOUCHED, 24);
	rr_list_append(&model->kept, &kept->link);
}

void
model_keep_no_longer(struct model *model, bool all)
{
	rr_list_for_each (link, &model->kept) {
		struct kept *kept = rr_container(link, struct kept, link);

		if (!all && kept->until > model->step)
			continue;
		for (uint32_t i = 0; i < 24; i++)
			model_require(model, ((const uint8_t *)kept->memory)[i] == UNTOUCHED);
		rr_list_remove(&kept->link);
		rr_pool_put(model->engine->pool, kept->memory);
		free(kept);
	}
}

static void
end_call(struct call *call)
{
	rr_list_remove(&call->link);
	call->state = CALL_ENDED;
	call->end = NULL;
	model_bury(call->model, call->memory);
	call->memory = NULL;
}

static void
lose(struct call *call)
{
	struct model *model = call->model;

	model->totals->lost++;
	rr_list_remove(&call->link);
	call->state = CALL_LOST;
	call->end = NULL;
	rr_list_append(&model->lost, &call->link);
}

static void
done(struct rr_transaction *transaction, int error)
{
	struct call *call = rr_container(transaction, struct call, transaction);
	struct model *model = call->model;

	/* Exactly one outcome. */
	if (call->state != CALL_PENDING)
		model_fail(model, "XID 0x%08x has a second outcome: %d", call->said.xid, error);
	if (!is_allowed(call, error))
		model_fail(model, "XID 0x%08x ends with '%s', %s answered", call->said.xid,
			error ? rpcrdma_strerror(error) : "success", call->answered ? "was" : "was not");
	if (!error && !model_hears(&call->answer, &transaction->reply))
		model_fail(model, "XID 0x%08x has other octets in its reply than were sent", call->said.xid);
	if (!error)
		check_sinks(call);
	if (!error)
		keep(call);
	model->totals->answered += !error;
	model->totals->refused += error == -RPCRDMA_ERR_CHUNK;
	model->totals->failed += error == -RPCRDMA_ERR_NOMEM;
	if (error == -RPCRDMA_ERR_DISCONNECTED && model_below(model, 2))
		lose(call);
	else
		end_call(call);
	model_mischief(model);
}

void
model_forget(struct call *call)
{
	call->model->totals->cancelled++;
	end_call(call);
}

void
model_cancel(struct call *call)
{
	call->model->fenced[call->end->id] = true;
	rr_carrier_cancel(call->end->carrier, &call->transaction);
	model_forget(call);
}

/* ---- Its beginning ---- */

static void
start(struct call *call, struct end *end)
{
	call->end = end;
	call->state = CALL_PENDING;
	call->arrived = call->answered = false;
	call->said.attempt++;
	call->said.end = end->id;
	say(call);
	give_sinks(call);
	rr_list_remove(&call->link);
	rr_list_append(&end->calls, &call->link);
	rr_carrier_call(end->carrier, &call->transaction);
}

/* XIDs of the two directions are the same ones. */
void
model_call(struct model *model, struct end *end)
{
	bool reverse = !end->is_client;
	struct call *call;

	if (model->call_count[reverse] == MODEL_CALLS || (reverse && !end->connected))
		return;
	call = calloc(1, sizeof(*call));
	model_require(model, call);
	model->calls[reverse][model->call_count[reverse]++] = call;
	call->model = model;
	call->reverse = reverse;
	call->said.xid = model->call_count[reverse];
	call->transaction = (struct rr_transaction){ .xid = call->said.xid, .done = done };
	rr_list_init(&call->link);
	choose_said(model, call);
	choose_room(model, call);
	call->memory = model_memory(model, memory_size(call));
	model->totals->calls++;
	model->totals->reverse += reverse;
	start(call, end);
}

/* On any connection in the same direction; its regions are registered anew there. */
void
model_resend(struct model *model)
{
	struct rr_list *link = model_any(model, &model->lost), *other = model_any(model, &model->ends);
	struct call *call = link ? rr_container(link, struct call, link) : NULL;
	struct end *end = other ? rr_container(other, struct end, link) : NULL;

	if (!call)
		return;
	if (!end || end->is_client == call->reverse || !end->connected) {
		if (model_one_in(model, 4))
			end_call(call);
		return;
	}
	model->totals->resent++;
	start(call, end);
}
