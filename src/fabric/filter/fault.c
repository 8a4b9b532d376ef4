/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/filter/fault_private.h"

#include "base/address.h"
#include "base/checked.h"

/* ---- What is to happen ---- */

/* Returns the next random number of the fabric, by the algorithm SplitMix64. The same seed gives the same
 * numbers. */
static uint32_t
fault_next_random(struct rr_fault_fabric *fabric)
{
	uint64_t z = fabric->state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return (uint32_t)(z >> 32);
}

/* Decides at random, by the script's rate, whether an operation has a fault, and returns the fault or
 * RR_FAULT_NONE. *argument becomes the delay, or the number of octets to which a cut shortens the
 * message. */
static enum rr_fault_action
fault_choose(
	struct rr_fault_fabric *fabric, enum rr_fault_operation operation, uint64_t size, uint64_t *argument)
{
	const struct rr_fault_script *script = &fabric->script;
	enum rr_fault_action choice[RR_FAULT_ACTIONS], action;
	uint32_t count = 0;

	if (!script->rate || fault_next_random(fabric) > script->rate)
		return RR_FAULT_NONE;
	for (unsigned i = 0; i < RR_FAULT_ACTIONS; i++)
		if (script->kinds >> i & 1 && rr_fault_applies((enum rr_fault_action)i, operation))
			choice[count++] = (enum rr_fault_action)i;
	if (!count)
		return RR_FAULT_NONE;
	action = choice[fault_next_random(fabric) % count];
	*argument = fault_next_random(fabric) % (action == RR_FAULT_CUT ? size + 1 : script->delay_max + 1);
	return action;
}

enum rr_fault_action
rr_fault_decide(
	struct rr_filter_fabric *filter, enum rr_fault_operation operation, uint64_t size, uint64_t *argument)
{
	struct rr_fault_fabric *fabric = rr_container(filter, struct rr_fault_fabric, filter);
	uint64_t number = ++fabric->counts[operation];
	/* Random numbers are drawn even if a rule decides: a rule does not change the random faults of other
	 * operations. */
	enum rr_fault_action action = fault_choose(fabric, operation, size, argument);

	for (uint32_t i = 0; i < fabric->script.rule_count; i++) {
		const struct rr_fault_rule *rule = &fabric->script.rules[i];

		if (rule->operation != operation || number < rule->number ||
			(number > rule->number && !rule->onward))
			continue;
		action = rule->action;
		*argument = rule->argument;
		break;
	}
	fabric->total += action != RR_FAULT_NONE;
	return action;
}

/* ---- Connections ---- */

/* Ends the connection as if it were lost: closes the endpoint below the filter, and cancels all outstanding
 * work requests. Then the owner of the filter's endpoint gets DISCONNECTED. */
static void
fault_lose(struct rr_filter_endpoint *endpoint)
{
	rr_fault_drop(rr_fault_of(endpoint), -RPCRDMA_ERR_DISCONNECTED,
		"the connection was lost (by a fault script)");
}

/* Makes an endpoint of the filter for an attempt to connect that fails, as the fault script says. It has no
 * endpoint below it. */
static int
fault_refuse(struct rr_filter_fabric *fabric, const struct sockaddr *address, rr_endpoint_handler *handler,
	void *ctx, struct rr_endpoint **endpoint, struct rr_text *text)
{
	struct rr_filter_endpoint *new = rr_filter_endpoint_new(fabric, handler, ctx);

	if (!new)
		return rr_fail(text, -RPCRDMA_ERR_NOMEM, "no memory");
	rr_address_text(address, new->base.peer, sizeof(new->base.peer));
	*endpoint = &new->base;
	return 0;
}

/* Connects, or has the attempt fail with REFUSED if the script says so. The script may also delay the event
 * ESTABLISHED, or have the connection drop when it is established. */
static int
fault_connect(struct rr_fabric *base, const struct rr_connect *how, struct rr_endpoint **endpoint,
	struct rr_text *text)
{
	struct rr_filter_fabric *fabric = rr_filter_fabric_of(base);
	uint64_t argument = 0;
	enum rr_fault_action action = rr_fault_decide(fabric, RR_FAULT_CONNECT, 0, &argument);
	int error;

	if (action == RR_FAULT_FAIL)
		error = fault_refuse(fabric, how->address, how->handler, how->ctx, endpoint, text);
	else
		error = rr_filter_connect(base, how, endpoint, text);
	if (error)
		return error;
	if (action == RR_FAULT_FAIL)
		rr_fault_drop(rr_fault_of(rr_filter_endpoint_of(*endpoint)), -RPCRDMA_ERR_REFUSED,
			"cannot connect (by a fault script)");
	rr_fault_of(rr_filter_endpoint_of(*endpoint))->drops_at_start = action == RR_FAULT_DROP;
	rr_fault_of(rr_filter_endpoint_of(*endpoint))->start_delay = action == RR_FAULT_DELAY ? argument : 0;
	return 0;
}

/* Accepts a connection request, or returns -RPCRDMA_ERR_NOMEM if the script says that accepting fails. The
 * script may also delay the event ESTABLISHED, or have the connection drop when it is established. */
static int
fault_accept(struct rr_endpoint *base, const void *private_data, size_t private_size)
{
	struct rr_filter_endpoint *endpoint = rr_filter_endpoint_of(base);
	uint64_t argument = 0;
	enum rr_fault_action action =
		rr_fault_decide(rr_filter_fabric(endpoint), RR_FAULT_ACCEPT, 0, &argument);

	if (action == RR_FAULT_FAIL)
		return -RPCRDMA_ERR_NOMEM;
	rr_fault_of(endpoint)->drops_at_start = action == RR_FAULT_DROP;
	rr_fault_of(endpoint)->start_delay = action == RR_FAULT_DELAY ? argument : 0;
	return rr_filter_accept(base, private_data, private_size);
}

/* Registers a region, or returns -RPCRDMA_ERR_NOMEM if the fault script says that registering fails. If the
 * script says that the connection drops, ends the connection, and returns -RPCRDMA_ERR_DISCONNECTED. */
static int
fault_register(
	struct rr_endpoint *base, void *addr, uint32_t length, unsigned access, struct rr_region *region)
{
	struct rr_filter_endpoint *endpoint = rr_filter_endpoint_of(base);
	uint64_t argument = 0;
	enum rr_fault_action action =
		rr_fault_decide(rr_filter_fabric(endpoint), RR_FAULT_REGISTER, length, &argument);

	if (action == RR_FAULT_FAIL)
		return -RPCRDMA_ERR_NOMEM;
	if (action == RR_FAULT_DROP)
		fault_lose(endpoint);
	return rr_filter_register(base, addr, length, access, region);
}

/* ---- Work requests ---- */

/* Returns the operation of a fault script (send, write or read) that a kind of work request counts as. */
static enum rr_fault_operation
fault_operation_of(enum rr_work_kind kind)
{
	switch (kind) {
	case RR_WORK_WRITE: return RR_FAULT_WRITE;
	case RR_WORK_READ: return RR_FAULT_READ;
	default: return RR_FAULT_SEND;
	}
}

/* Returns the number of octets of all sges of a work request. */
static uint64_t
fault_length_of(const struct rr_work *work)
{
	uint64_t length = 0;

	for (uint32_t i = 0; i < work->sge_count; i++)
		length += work->sges[i].length;
	return length;
}

/* Shortens a work request to its first octets. A Send that is cut is posted, as a faulty peer would send it.
 * After any other request that is cut, the connection ends when the request completes. */
static void
fault_cut(struct rr_fault_item *item, uint64_t octets)
{
	for (uint32_t i = 0; i < item->work.sge_count; i++) {
		item->sges[i].length = (uint32_t)rr_min(item->sges[i].length, octets);
		octets -= item->sges[i].length;
	}
	item->drops = fault_operation_of(item->work.kind) != RR_FAULT_SEND;
}

/* Makes an item, in which the filter keeps a work request until it completes: copies of the request and its
 * sges. The copy of the request has the item as its cookie. The owner's cookie is kept for the event that
 * reports the completion. Returns NULL if there is no memory. */
static struct rr_fault_item *
fault_item_for(struct rr_fault_endpoint *endpoint, const struct rr_work *work)
{
	struct rr_fault_item *item = rr_fault_item_new(endpoint, 0);

	if (!item)
		return NULL;
	item->event =
		(struct rr_event){ .kind = RR_EVENT_COMPLETED, .work = work->kind, .cookie = work->cookie };
	item->work = *work;
	for (uint32_t i = 0; i < work->sge_count; i++)
		item->sges[i] = work->sges[i];
	item->work.sges = item->sges;
	item->work.cookie = item;
	return item;
}

/* Posts the work request of an item at the endpoint below the filter, and moves the item to the list of
 * those that are posted. Returns an error if posting fails; the item is then in no list. After a request
 * that was cut and is to end the connection, no further requests are posted. */
static int
fault_submit(struct rr_fault_endpoint *endpoint, struct rr_fault_item *item)
{
	int error = rr_filter_post(&endpoint->filter.base, &item->work);

	rr_list_remove(&item->link);
	if (error)
		return error;
	rr_list_append(&endpoint->posted, &item->link);
	endpoint->breaking |= item->drops;
	return 0;
}

/* Posts the work requests that are delayed until the time `until` or an earlier one, in their order. Arms
 * the timer for the first request that stays delayed. If posting fails, ends the connection as if it were
 * lost. */
static void
fault_post_waiting(struct rr_fault_endpoint *endpoint, uint64_t until)
{
	uint64_t now = rr_now(rr_filter_fabric(&endpoint->filter)->env);

	while (!endpoint->ended && !endpoint->breaking && !rr_list_empty(&endpoint->waiting)) {
		struct rr_fault_item *item = rr_container(endpoint->waiting.next, struct rr_fault_item, link);

		if (item->at > until) {
			rr_loop_arm(endpoint->filter.base.fabric->loop, &endpoint->posting, item->at - now);
			return;
		}
		if (fault_submit(endpoint, item)) {
			/* The request goes back into the list, so that its completion, as cancelled, goes to
			 * the owner. */
			rr_list_append(&endpoint->waiting, &item->link);
			fault_lose(&endpoint->filter);
		}
	}
}

/* Called by the timer: posts the work requests whose delay is over. */
static void
fault_posting_is_due(struct rr_timer *timer)
{
	struct rr_fault_endpoint *endpoint = rr_container(timer, struct rr_fault_endpoint, posting);

	fault_post_waiting(endpoint, rr_now(rr_filter_fabric(&endpoint->filter)->env));
}

/* Delays the work request of an item by delay nanoseconds. The request also waits until all requests that
 * were delayed before it have been posted. */
static void
fault_put_off(struct rr_fault_endpoint *endpoint, struct rr_fault_item *item, uint64_t delay)
{
	item->at = rr_now(rr_filter_fabric(&endpoint->filter)->env) + delay;
	rr_list_append(&endpoint->waiting, &item->link);
	if (endpoint->waiting.next == &item->link)
		rr_loop_arm(endpoint->filter.base.fabric->loop, &endpoint->posting, delay);
}

/* Posts the work request of an item, with the fault that action says. The request is delayed if action says
 * so, or if other requests are delayed already, as it must not overtake them. If the connection drops, the
 * request is never posted, but completes with CANCELLED. The same happens to a request that follows one that
 * was cut. Frees the item if posting fails. */
static int
fault_post_item(struct rr_fault_endpoint *endpoint, struct rr_fault_item *item, enum rr_fault_action action,
	uint64_t argument)
{
	int error = 0;

	if (action == RR_FAULT_CUT)
		fault_cut(item, argument);
	if (action == RR_FAULT_CORRUPT)
		rr_filter_corrupt(&endpoint->filter.base);
	if (action == RR_FAULT_DELAY || action == RR_FAULT_DROP || endpoint->breaking ||
		!rr_list_empty(&endpoint->waiting))
		fault_put_off(endpoint, item, action == RR_FAULT_DELAY ? argument : 0);
	else
		error = fault_submit(endpoint, item);
	if (error) {
		rr_fault_item_free(endpoint, item);
		return error;
	}
	endpoint->filter.base.outstanding++;
	if (action == RR_FAULT_DROP)
		fault_lose(&endpoint->filter);
	return 0;
}

/* Posts a work request with the fault that the fault script has for it. Returns -RPCRDMA_ERR_NOMEM if the
 * fault is that posting fails, or if there is no memory, and -RPCRDMA_ERR_DISCONNECTED if the connection is
 * not up. */
static int
fault_post(struct rr_endpoint *base, const struct rr_work *work)
{
	struct rr_filter_endpoint *filter = rr_filter_endpoint_of(base);
	struct rr_fault_endpoint *endpoint = rr_fault_of(filter);
	struct rr_fault_item *item;
	enum rr_fault_action action;
	uint64_t argument = 0;

	if (!endpoint->up || endpoint->ended)
		return -RPCRDMA_ERR_DISCONNECTED;
	action = rr_fault_decide(
		rr_filter_fabric(filter), fault_operation_of(work->kind), fault_length_of(work), &argument);
	item = action == RR_FAULT_FAIL ? NULL : fault_item_for(endpoint, work);
	return item ? fault_post_item(endpoint, item, action, argument) : -RPCRDMA_ERR_NOMEM;
}

/* Posts all work requests that are delayed, without waiting for the end of their delays, and then disconnects
 * in good order. */
static void
fault_disconnect(struct rr_endpoint *base)
{
	struct rr_filter_endpoint *endpoint = rr_filter_endpoint_of(base);

	fault_post_waiting(rr_fault_of(endpoint), UINT64_MAX);
	rr_filter_disconnect(base);
}

/* ---- The filter ---- */

/* Initialises the lists and timers of a new endpoint: the lists are empty, the timers not armed. */
static void
fault_begin(struct rr_filter_endpoint *filter)
{
	struct rr_fault_endpoint *endpoint = rr_fault_of(filter);

	rr_list_init(&endpoint->posted);
	rr_list_init(&endpoint->waiting);
	rr_list_init(&endpoint->held);
	rr_list_init(&endpoint->last.link);
	rr_timer_init(&endpoint->posting, fault_posting_is_due);
	rr_timer_init(&endpoint->telling, rr_fault_told);
}

/* Frees all items (work requests and events that the filter keeps) of a list. Gives the receive buffers of
 * the events back to the fabric below the filter. */
static void
fault_forget(struct rr_fault_endpoint *endpoint, struct rr_list *items)
{
	while (!rr_list_empty(items)) {
		struct rr_fault_item *item = rr_container(items->next, struct rr_fault_item, link);

		if (item->event.kind == RR_EVENT_RECEIVED)
			rr_fabric_release(rr_filter_fabric(&endpoint->filter)->below, item->event.data);
		rr_fault_item_free(endpoint, item);
	}
}

/* Called when an endpoint is closed: disarms its timers, and frees all work requests and events that the
 * filter keeps for it. */
static void
fault_end(struct rr_filter_endpoint *filter)
{
	struct rr_fault_endpoint *endpoint = rr_fault_of(filter);
	struct rr_loop *loop = filter->base.fabric->loop;

	rr_loop_disarm(loop, &endpoint->posting);
	rr_loop_disarm(loop, &endpoint->telling);
	fault_forget(endpoint, &endpoint->posted);
	fault_forget(endpoint, &endpoint->waiting);
	fault_forget(endpoint, &endpoint->held);
}

/* The operations of the filter. Name, limits and configuration are those of the provider below. */
static const struct rr_fabric_ops fault_ops = {
	.destroy = rr_filter_destroy,
	.listen = rr_filter_listen,
	.listener_address = rr_filter_listener_address,
	.unlisten = rr_filter_unlisten,
	.connect = fault_connect,
	.accept = fault_accept,
	.reject = rr_filter_reject,
	.allow = rr_filter_allow,
	.release = rr_filter_release,
	.is_short = rr_filter_is_short,
	.post = fault_post,
	.kick = rr_filter_kick,
	.register_region = fault_register,
	.invalidate = rr_filter_invalidate,
	.revoke = rr_filter_revoke,
	.corrupt = rr_filter_corrupt,
	.disconnect = fault_disconnect,
	.close = rr_filter_close,
};

int
rr_fault_fabric_new(struct rr_fabric *below, const struct rr_fault_script *script, struct rr_fabric **fabric)
{
	struct rr_fault_fabric *new;
	struct rr_filter_fabric *filter;

	if (rr_fault_corrupts(script) && !(below->ops->corrupt && below->config.crc))
		return -RPCRDMA_ERR_NOTSUP;
	filter = rr_filter_new(below, &fault_ops, sizeof(*new));
	if (!filter)
		return -RPCRDMA_ERR_NOMEM;
	new = rr_container(filter, struct rr_fault_fabric, filter);
	new->script = *script;
	new->state = script->seed;
	filter->endpoint_size = sizeof(struct rr_fault_endpoint);
	filter->begin = fault_begin;
	filter->end = fault_end;
	filter->event = rr_fault_event;
	*fabric = &filter->base;
	return 0;
}

int
rr_fault_filter(void *script, struct rr_fabric **fabric)
{
	return rr_fault_fabric_new(*fabric, script, fabric);
}

uint64_t
rr_fault_count(struct rr_fabric *fabric)
{
	return ((const struct rr_fault_fabric *)(const void *)fabric)->total;
}
