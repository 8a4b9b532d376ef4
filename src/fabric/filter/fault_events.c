/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/filter/fault_private.h"

#include <string.h>

#include "base/checked.h"

/*
 * Events on their way to the owner. While no event is held back, an event passes at once. Else it queues
 * behind the held events, unless it may pass all of them: a delayed event keeps back everything behind it, a
 * reordered event only those that must stay in order with it.
 */

static struct rr_loop *
events_loop_of(const struct rr_fault_endpoint *endpoint)
{
	return endpoint->filter.base.fabric->loop;
}

static uint64_t
events_now(const struct rr_fault_endpoint *endpoint)
{
	return rr_now(rr_filter_fabric(&endpoint->filter)->env);
}

/* Returns the first item of a list, which must not be empty. An item is a work request or an event that the
 * filter keeps. */
static struct rr_fault_item *
events_first_of(const struct rr_list *list)
{
	return rr_container(list->next, struct rr_fault_item, link);
}

struct rr_fault_item *
rr_fault_item_new(struct rr_fault_endpoint *endpoint, size_t data)
{
	struct rr_fault_item *item =
		rr_alloc(rr_filter_fabric(&endpoint->filter)->env, sizeof(struct rr_fault_item) + data);

	if (item)
		rr_list_init(&item->link);
	return item;
}

void
rr_fault_item_free(struct rr_fault_endpoint *endpoint, struct rr_fault_item *item)
{
	rr_list_remove(&item->link);
	if (item != &endpoint->last)
		rr_free(rr_filter_fabric(&endpoint->filter)->env, item);
}

/* The streams of events: events of one stream keep their order, events of different streams need not. */
enum events_stream { STREAM_RECEIVES, STREAM_SENDS, STREAM_READS, STREAM_ALL };

/* Returns the stream of an event (receives, Sends or Reads). The events of one stream keep their order. An
 * event of STREAM_ALL keeps its order with all other events. */
static enum events_stream
events_stream_of(const struct rr_event *event)
{
	if (event->kind == RR_EVENT_RECEIVED)
		return STREAM_RECEIVES;
	if (event->kind != RR_EVENT_COMPLETED)
		return STREAM_ALL;
	return event->work == RR_WORK_READ ? STREAM_READS : STREAM_SENDS;
}

/* Whether an event may go to the owner before all the events that are held back. Each event that is held
 * back must allow this (its item has the flag alone) and be of another stream (receives, Sends or Reads). */
static bool
events_may_pass(const struct rr_fault_endpoint *endpoint, const struct rr_event *event)
{
	enum events_stream stream = events_stream_of(event);

	rr_list_for_each (link, &endpoint->held) {
		const struct rr_fault_item *item = rr_container(link, struct rr_fault_item, link);

		if (!item->alone || stream == STREAM_ALL || stream == events_stream_of(&item->event))
			return false;
	}
	return true;
}

/* Whether events of other streams (receives, Sends, Reads) may go to the owner before all the events that are
 * held back: whether all of these have the flag alone. */
static bool
events_all_are_alone(const struct rr_fault_endpoint *endpoint)
{
	rr_list_for_each (link, &endpoint->held) {
		if (!rr_container(link, const struct rr_fault_item, link)->alone)
			return false;
	}
	return true;
}

/* Calls the owner's handler with an event, except with the completion of a request that succeeded and has no
 * cookie. If the event is ESTABLISHED, also sets endpoint->up. */
static void
events_tell(struct rr_fault_endpoint *endpoint, const struct rr_event *event)
{
	if (event->kind == RR_EVENT_ESTABLISHED)
		endpoint->up = true;
	if (event->kind != RR_EVENT_COMPLETED || event->cookie || event->status)
		rr_filter_emit(&endpoint->filter, event);
}

/* Arms the timer for the time at which the first event that is held back may go to the owner. Does nothing
 * if no event is held back, or the endpoint is closed. */
static void
events_arm(struct rr_fault_endpoint *endpoint)
{
	uint64_t at, time = events_now(endpoint);

	if (endpoint->filter.closed || rr_list_empty(&endpoint->held))
		return;
	at = events_first_of(&endpoint->held)->at;
	rr_loop_arm(events_loop_of(endpoint), &endpoint->telling, at > time ? at - time : 0);
}

void
rr_fault_told(struct rr_timer *timer)
{
	struct rr_fault_endpoint *endpoint = rr_container(timer, struct rr_fault_endpoint, telling);
	uint64_t time = events_now(endpoint);

	while (!endpoint->filter.closed && !rr_list_empty(&endpoint->held)) {
		struct rr_fault_item *item = events_first_of(&endpoint->held);

		if (item->at > time)
			break;
		rr_list_remove(&item->link);
		events_tell(endpoint, &item->event);
		rr_fault_item_free(endpoint, item);
	}
	events_arm(endpoint);
}

/* Moves an item to the end of the list of events that are held back, and keeps it there for delay
 * nanoseconds. alone: events of other streams (receives, Sends, Reads) may go to the owner before it. */
static void
events_hold(struct rr_fault_endpoint *endpoint, struct rr_fault_item *item, uint64_t delay, bool alone)
{
	item->at = events_now(endpoint) + delay;
	item->alone = alone;
	rr_list_remove(&item->link);
	rr_list_append(&endpoint->held, &item->link);
	if (endpoint->held.next == &item->link)
		events_arm(endpoint);
}

/* Ends the delay of all events that are held back, as another event has overtaken them. The timer then
 * passes them on at once. */
static void
events_let_go(struct rr_fault_endpoint *endpoint)
{
	rr_list_for_each (link, &endpoint->held)
		rr_container(link, struct rr_fault_item, link)->at = 0;
	events_arm(endpoint);
}

/* Makes an item, in which an event can be held back: it has a copy of event, and of the private data of
 * ESTABLISHED. Returns NULL if there is no memory; the event's receive buffer then still belongs to the
 * caller. */
static struct rr_fault_item *
events_item_of(struct rr_fault_endpoint *endpoint, const struct rr_event *event)
{
	bool private = event->kind == RR_EVENT_ESTABLISHED;
	struct rr_fault_item *item = rr_fault_item_new(endpoint, private ? event->length : 0);

	if (!item)
		return NULL;
	item->event = *event;
	if (private && event->length)
		item->event.data = memcpy(item + 1, event->data, event->length);
	return item;
}

/* Gives the receive buffer of an event, if it has one, back to the fabric below the filter. */
static void
events_release(struct rr_fault_endpoint *endpoint, const struct rr_event *event)
{
	if (event->kind == RR_EVENT_RECEIVED)
		rr_fabric_release(rr_filter_fabric(&endpoint->filter)->below, event->data);
}

/* Passes an event to the owner. Holds the event back instead if the action delays or reorders it, or if it
 * must not overtake the events that are held back already. If there is no memory to hold it back, ends the
 * connection. */
static void
events_pass(struct rr_fault_endpoint *endpoint, const struct rr_event *event, enum rr_fault_action action,
	uint64_t delay)
{
	bool keeps = action == RR_FAULT_DELAY || action == RR_FAULT_REORDER;
	struct rr_fault_item *item;

	if (!keeps && events_may_pass(endpoint, event)) {
		bool passed = !rr_list_empty(&endpoint->held);

		events_tell(endpoint, event);
		if (passed && !endpoint->filter.closed)
			events_let_go(endpoint);
		return;
	}
	item = events_item_of(endpoint, event);
	/* An event without a fault of its own may only wait for its turn behind the held events. If all of
	 * these let events of other streams overtake them, this event allows that, too. */
	if (item) {
		events_hold(endpoint, item, keeps ? delay : 0,
			action == RR_FAULT_REORDER || (!keeps && events_stream_of(event) != STREAM_ALL &&
							      events_all_are_alone(endpoint)));
		return;
	}
	events_release(endpoint, event);
	rr_fault_drop(endpoint, -RPCRDMA_ERR_NOMEM, "no memory");
}

/* Cancels the work requests of all items of a list: moves them to the held events, from where their
 * completions, with the status CANCELLED, go to the owner. */
static void
events_cancel_all(struct rr_fault_endpoint *endpoint, struct rr_list *items)
{
	while (!rr_list_empty(items)) {
		struct rr_fault_item *item = events_first_of(items);

		item->event.status = -RPCRDMA_ERR_CANCELLED;
		endpoint->filter.base.outstanding--;
		events_hold(endpoint, item, 0, false);
	}
}

/* Ends the connection for the owner: cancels all outstanding work requests, and has DISCONNECTED follow
 * their completions. Does nothing to the endpoint below the filter. */
static void
events_end_with(struct rr_fault_endpoint *endpoint, int status, const char *text)
{
	endpoint->ended = true;
	rr_loop_disarm(events_loop_of(endpoint), &endpoint->posting);
	events_cancel_all(endpoint, &endpoint->posted);
	events_cancel_all(endpoint, &endpoint->waiting);
	rr_fail(&endpoint->text, 0, "%s", text);
	endpoint->last.event = (struct rr_event){
		.kind = RR_EVENT_DISCONNECTED, .status = status, .text = endpoint->text.text
	};
	events_hold(endpoint, &endpoint->last, 0, false);
}

void
rr_fault_drop(struct rr_fault_endpoint *endpoint, int status, const char *text)
{
	struct rr_endpoint *below = endpoint->filter.below;

	if (endpoint->ended || endpoint->filter.closed)
		return;
	/* The count of octets outlives the endpoint that counted them. */
	endpoint->filter.base.moved = rr_endpoint_moved(&endpoint->filter.base);
	endpoint->filter.below = NULL;
	if (below)
		rr_endpoint_close(below);
	events_end_with(endpoint, status, text);
}

/* Ends the connection as if it were lost: closes the endpoint below the filter, and cancels all outstanding
 * work requests. Then the owner of the filter's endpoint gets DISCONNECTED. */
static void
events_lose(struct rr_fault_endpoint *endpoint)
{
	rr_fault_drop(endpoint, -RPCRDMA_ERR_DISCONNECTED, "the connection was lost (by a fault script)");
}

/* Called when a work request has completed at the endpoint below the filter: frees its item, and passes the
 * completion to the owner, with the fault that the script has for it. Some faults also end the
 * connection. */
static void
events_completed(struct rr_fault_endpoint *endpoint, const struct rr_event *event)
{
	struct rr_fault_item *item = event->cookie;
	struct rr_event own = *event;
	bool drops = item->drops;
	uint64_t delay = 0;
	enum rr_fault_action action = RR_FAULT_NONE;

	own.cookie = item->event.cookie;
	endpoint->filter.base.outstanding--;
	rr_fault_item_free(endpoint, item);
	if (!own.status)
		action = rr_fault_decide(rr_filter_fabric(&endpoint->filter), RR_FAULT_COMPLETE, 0, &delay);
	if (action == RR_FAULT_FAIL)
		own.status = -RPCRDMA_ERR_TIMEDOUT;
	if (action == RR_FAULT_FLUSH || drops)
		own.status = -RPCRDMA_ERR_CANCELLED;
	events_pass(endpoint, &own, action, delay);
	if (action == RR_FAULT_FAIL || action == RR_FAULT_FLUSH || action == RR_FAULT_DROP || drops)
		events_lose(endpoint);
}

/* Called when a Send of the peer came: passes its receive buffer to the owner, with the fault that the
 * script has for it. If the fault is that the receive fails or the connection drops, gives the buffer back
 * and ends the connection. */
static void
events_received(struct rr_fault_endpoint *endpoint, const struct rr_event *event)
{
	uint64_t delay = 0;
	enum rr_fault_action action =
		rr_fault_decide(rr_filter_fabric(&endpoint->filter), RR_FAULT_RECEIVE, event->length, &delay);

	if (action != RR_FAULT_FAIL && action != RR_FAULT_DROP) {
		events_pass(endpoint, event, action, delay);
		return;
	}
	events_release(endpoint, event);
	if (action == RR_FAULT_FAIL)
		rr_fault_drop(endpoint, -RPCRDMA_ERR_PEER, "a receive failed (by a fault script)");
	else
		events_lose(endpoint);
}

/* Copies the private data of a rejection into the endpoint, for the event DISCONNECTED that the owner gets
 * later. The data of the event itself is valid during the handler only. */
static void
events_keep_reason(struct rr_fault_endpoint *endpoint, const struct rr_event *event)
{
	uint32_t length = (uint32_t)rr_min(event->length, RR_FAULT_REASON);

	if (length)
		memcpy(endpoint->reason, event->data, length);
	endpoint->last.event.data = endpoint->reason;
	endpoint->last.event.length = length;
}

void
rr_fault_event(struct rr_filter_endpoint *filter, const struct rr_event *event)
{
	struct rr_fault_endpoint *endpoint = rr_fault_of(filter);

	switch (event->kind) {
	case RR_EVENT_ESTABLISHED:
		if (endpoint->drops_at_start)
			events_lose(endpoint);
		else
			events_pass(endpoint, event, endpoint->start_delay ? RR_FAULT_DELAY : RR_FAULT_NONE,
				endpoint->start_delay);
		return;
	case RR_EVENT_COMPLETED: events_completed(endpoint, event); return;
	case RR_EVENT_RECEIVED: events_received(endpoint, event); return;
	case RR_EVENT_DISCONNECTED:
		/* events_end_with() makes endpoint->last, the DISCONNECTED that the owner gets later.
		 * events_keep_reason() then adds the private data to it. */
		events_end_with(endpoint, event->status, event->text);
		events_keep_reason(endpoint, event);
		return;
	}
}
