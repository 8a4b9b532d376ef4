/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <string.h>

#include "fabric/verbs/endpoint.h"

/* The events of an endpoint that several files bring about: there is work to do, the connection is up, the
 * connection ends. */

void
rr_verbs_set_state(struct rr_verbs_endpoint *endpoint, enum rr_verbs_state state)
{
	static const char *const names[RR_VERBS_STATES] = { "resolving", "connecting", "requested",
		"accepted", "established", "ended", "disconnected", "closed" };

	rr_log(rr_verbs_fabric(endpoint)->env, RR_LOG_DEBUG, "%s: verbs endpoint %s, was %s",
		endpoint->base.peer, names[state], names[endpoint->state]);
	endpoint->state = state;
}

void
rr_verbs_wake(struct rr_verbs_endpoint *endpoint)
{
	endpoint->spins = 0;
	if (endpoint->state != RR_VERBS_CLOSED)
		rr_loop_defer(endpoint->base.fabric->loop, &endpoint->task);
}

void
rr_verbs_emit(struct rr_verbs_endpoint *endpoint, const struct rr_event *event)
{
	endpoint->base.handler(endpoint->base.ctx, event);
}

void
rr_verbs_established(struct rr_verbs_endpoint *endpoint, uint8_t *data, uint32_t size)
{
	struct rr_event event = { .kind = RR_EVENT_ESTABLISHED, .data = data, .length = size };

	rr_verbs_set_state(endpoint, RR_VERBS_ESTABLISHED);
	rr_verbs_wake(endpoint);
	rr_verbs_emit(endpoint, &event);
}

void
rr_verbs_stop(struct rr_verbs_endpoint *endpoint)
{
	const struct rr_verbs_library *library = &rr_verbs_fabric(endpoint)->library;
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };

	if (endpoint->connected)
		library->disconnect(endpoint->id);
	endpoint->connected = false;
	if (endpoint->qp)
		library->modify_qp(endpoint->qp, &attr, IBV_QP_STATE);
}

void
rr_verbs_end(struct rr_verbs_endpoint *endpoint, int status, const char *format, ...)
{
	struct rr_loop *loop = endpoint->base.fabric->loop;
	va_list args;

	if (endpoint->state >= RR_VERBS_ENDED)
		return;
	va_start(args, format);
	vsnprintf(endpoint->text.text, sizeof(endpoint->text.text), format, args);
	va_end(args);
	endpoint->status = status;
	rr_verbs_set_state(endpoint, RR_VERBS_ENDED);
	rr_loop_disarm(loop, &endpoint->timer);
	rr_verbs_stop(endpoint);
	rr_loop_defer(loop, &endpoint->task);
}
