/* SPDX-License-Identifier: BSD-3-Clause */
#include "carrier/rdma/core/room.h"
#include "model.h"

#include <stdlib.h>
#include <string.h>

/* The owner of connections. */

struct end *
model_end(const struct model *model, uint32_t id)
{
	rr_list_for_each (link, &model->ends) {
		struct end *end = rr_container(link, struct end, link);

		if (end->id == id)
			return end;
	}
	return NULL;
}

static void
connected(void *ctx)
{
	struct end *end = ctx;

	model_require(end->model, !end->connected && !end->closed);
	end->connected = true;
	end->model->totals->connections++;
	model_mischief(end->model);
}

static bool
is_allowed(const struct end *end, int error)
{
	const struct model *model = end->model;
	bool peer_is_known = end->is_client || end->peer > 0;

	switch (error) {
	case 0:
	case -RPCRDMA_ERR_DISCONNECTED:
	case -RPCRDMA_ERR_CANCELLED:
		return true; /* what a peer was still to take was cancelled */
	/* It was lost before anything answered a call in version 2. */
	case -RPCRDMA_ERR_VERS: return end->is_client;
	/* A peer that writes to a cancelled call's memory, or reads from it, is refused that: RDMA knows no
	 * other way than to end the connection. */
	case -RPCRDMA_ERR_ACCESS:
		return !peer_is_known || model->fenced[end->is_client ? end->id : end->peer];
	case -RPCRDMA_ERR_REJECTED:
	case -RPCRDMA_ERR_NOMEM: return model->harsh || model->scarce;
	case -RPCRDMA_ERR_REFUSED:
	case -RPCRDMA_ERR_PEER: return model->harsh; /* "fail connect", "fail receive" */
	default: return false;
	}
}

/* Every run delays work now and then, and its pools are small: share.h: "A party that holds what is wanted is
 * cut off where its peer moved less than rr_share_least()". Nothing else takes too long. */
static bool
is_cut(const struct end *end, int error, const char *text)
{
	bool cut = error == -RPCRDMA_ERR_TIMEDOUT && strstr(text, "moves next to nothing, while others wait");

	end->model->totals->cut += cut;
	return cut;
}

static void
closed(void *ctx, int error, const char *text)
{
	struct end *end = ctx;
	struct model *model = end->model;

	model_require(model, !end->closed);
	if (!is_allowed(end, error) && !is_cut(end, error, text))
		model_fail(model, "a connection ends with '%s': %s", rpcrdma_strerror(error), text);
	/* carrier.h: "Before it, every transaction got its done(-RPCRDMA_ERR_DISCONNECTED)." */
	model_require(model, rr_list_empty(&end->calls));
	end->closed = true;
	if (model_below(model, 2))
		model_close(end);
	model_mischief(model);
}

static const struct rr_carrier_events events = {
	.connected = connected, .closed = closed, .call = model_asked
};

static struct end *
end_new(struct model *model, bool is_client)
{
	struct end *end = calloc(1, sizeof(*end));

	model_require(model, end && model->last_end + 1 < MODEL_CALLS);
	*end = (struct end){ .model = model, .is_client = is_client, .id = ++model->last_end };
	rr_list_init(&end->calls);
	rr_list_init(&end->asked);
	rr_list_append(&model->ends, &end->link);
	model->end_count++;
	return end;
}

static void
forget_end(struct end *end)
{
	rr_list_remove(&end->link);
	end->model->end_count--;
	free(end);
}

/* Two ends have a version in common, but not always the highest. What was learnt of the server is forgotten
 * at times. */
static void
choose_versions(struct model *model)
{
	model->engine->config.versions = model_below(model, 2) ? RR_VERSIONS_AUTO : model->versions;
	if (model_below(model, 2))
		rr_room_in(model->engine)->servers = (struct rr_servers){ 0 };
}

void
model_accepted(void *ctx, struct rr_carrier *carrier)
{
	struct end *end = end_new(ctx, false);

	end->carrier = carrier;
	rr_carrier_attach(carrier, &events, end);
}

void
model_connect(struct model *model)
{
	struct rr_text text;
	struct end *end = end_new(model, true);
	int error;

	choose_versions(model);
	error = rr_carrier_connect(model->engine,
		&(struct rr_carrier_place){
			RR_TRANSPORT_AUTO, (struct sockaddr *)&model->address, sizeof(model->address) },
		&events, end, &end->carrier, &text);
	choose_versions(model); /* of the other end */

	if (!error)
		return;
	model_require(model, model->scarce && error == -RPCRDMA_ERR_NOMEM);
	forget_end(end);
}

/* carrier.h: "transactions are forgotten as if cancelled"; exchanges are to be answered all the same. */
void
model_close(struct end *end)
{
	struct model *model = end->model;
	struct rpcrdma_negotiated negotiated;
	struct rr_list *link;

	rr_carrier_negotiated(end->carrier, &negotiated);
	model->totals->version[negotiated.version]++;
	model->totals->properties += negotiated.properties;
	rr_counters_add(&model->totals->counters, &end->carrier->counters);
	rr_carrier_close(end->carrier);
	while (!rr_list_empty(&end->calls))
		model_forget(rr_container(end->calls.next, struct call, link));
	while ((link = rr_list_pop(&end->asked))) {
		rr_container(link, struct asked, link)->end = NULL;
		rr_list_append(&model->orphans, link);
	}
	forget_end(end);
}
