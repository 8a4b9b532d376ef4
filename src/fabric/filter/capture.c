/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/filter/capture_private.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/address.h"
#include "base/checked.h"

enum {
	CAPTURE_PORT = 49152, /* the first port that is made up for sides that connected */
	/* The most Read segments, Write chunks and segments of a message that is decoded. */
	CAPTURE_READS = 512,
	CAPTURE_WRITES = 128,
	CAPTURE_SEGMENTS = 1024
};

/* Returns the capture filter's structure of an endpoint. The structure contains base. */
static struct rr_capture_endpoint *
capture_endpoint_of(struct rr_endpoint *base)
{
	return rr_container(rr_filter_endpoint_of(base), struct rr_capture_endpoint, filter);
}

/* ---- Addresses ---- */

/* Reads an address from text, such as "192.0.2.1:20049" or "[2001:db8::1]:20049", into *address. Returns
 * false if the text is no address. */
static bool
capture_parse(const char *text, struct sockaddr_storage *address)
{
	char host[RR_ADDRESS_TEXT];
	const char *colon = strrchr(text, ':');
	bool is_six = text[0] == '[';
	size_t size = colon ? (size_t)(colon - text) : 0;

	memset(address, 0, sizeof(*address));
	if (size <= (is_six ? 2u : 0u) || size >= sizeof(host))
		return false;
	snprintf(host, sizeof(host), "%.*s", (int)(is_six ? size - 2 : size), text + is_six);
	address->ss_family = is_six ? AF_INET6 : AF_INET;
	rr_address_set_port((struct sockaddr *)address, (uint16_t)strtoul(colon + 1, NULL, 10));
	return inet_pton(address->ss_family, host,
		       is_six ? (void *)&((struct sockaddr_in6 *)address)->sin6_addr
			      : (void *)&((struct sockaddr_in *)address)->sin_addr) == 1;
}

/* Sets the addresses that the packets show for both ends of the connection. own: the number of this side, 0
 * if it opened the connection, else 1. The address of this side gets the port `port`. A peer whose address
 * is not known gets 127.0.0.1. */
static void
capture_ends(struct rr_capture_endpoint *endpoint, uint8_t own, uint16_t port)
{
	struct rr_capture_flow *flow = &endpoint->flow;
	const char *peer = endpoint->filter.base.peer;
	struct sockaddr_storage *theirs = &flow->ends[!own], *ours = &flow->ends[own];

	endpoint->own = own;
	flow->sequence[0] = 1;
	flow->sequence[1] = 1;
	if (!capture_parse(peer, theirs))
		capture_parse("127.0.0.1:0", theirs);
	if (rr_address_source((const struct sockaddr *)theirs, sizeof(*theirs), ours) < 0)
		*ours = *theirs;
	rr_address_set_port((struct sockaddr *)ours, port);
}

/* ---- Connections ---- */

/* Writes the opening of the connection to the capture. Side 0 opened the connection; its private data was
 * kept in the endpoint. second: the private data of side 1. rejected: side 1 declined the connection. */
static void
capture_open(struct rr_capture_endpoint *endpoint, struct rpcrdma_bytes second, bool rejected)
{
	const struct rpcrdma_bytes first = { endpoint->first, endpoint->first_size };

	rr_capture_opened(rr_capture_of(endpoint), &endpoint->flow, first, second, rejected);
	endpoint->is_open = !rejected;
}

/* Copies the private data of side 0, which opened the connection, into the endpoint. It is needed when the
 * answer of side 1 comes. */
static void
capture_keep_first(struct rr_capture_endpoint *endpoint, const void *data, size_t size)
{
	endpoint->first_size = (uint32_t)rr_min(size, sizeof(endpoint->first));
	if (endpoint->first_size > 0)
		memcpy(endpoint->first, data, endpoint->first_size);
}

/* Writes to the capture that side `from` closed the connection. Does nothing if the opening of the
 * connection was not written, or its end was written before. */
static void
capture_close_flow(struct rr_capture_endpoint *endpoint, uint8_t from)
{
	if (endpoint->is_open)
		rr_capture_closed(rr_capture_of(endpoint), &endpoint->flow, from);
	endpoint->is_open = false;
}

/* Begins to connect, and keeps a copy of the private data. Prepares the endpoint to write packets as side 0,
 * the side that opens the connection. */
static int
capture_connect(struct rr_fabric *base, const struct rr_connect *how, struct rr_endpoint **endpoint,
	struct rr_text *text)
{
	struct rr_filter_fabric *filter = rr_filter_fabric_of(base);
	struct rr_capture_fabric *fabric = rr_container(filter, struct rr_capture_fabric, filter);
	int error = rr_filter_connect(base, how, endpoint, text);

	if (error)
		return error;
	/* Each endpoint that connects shows another port, so that the connections can be distinguished. */
	capture_ends(capture_endpoint_of(*endpoint), 0,
		(uint16_t)(CAPTURE_PORT + fabric->endpoints++ % (UINT16_MAX - CAPTURE_PORT)));
	capture_keep_first(capture_endpoint_of(*endpoint), how->private_data, how->private_size);
	return 0;
}

/* Listens, and keeps the port of the listener: the packets of accepted connections show this port. */
static int
capture_listen(struct rr_fabric *base, const struct rr_listen *how, struct rr_listener **listener,
	struct rr_text *text)
{
	struct rr_filter_fabric *filter = rr_filter_fabric_of(base);
	int error = rr_filter_listen(base, how, listener, text);
	struct sockaddr_storage chosen;

	if (!error && rr_filter_listener_address(*listener, &chosen) == 0)
		rr_container(filter, struct rr_capture_fabric, filter)->listened =
			rr_address_port((const struct sockaddr *)&chosen);
	return error;
}

/* Called when a connection request came: prepares the endpoint to write packets as side 1, the side that
 * accepts, with the port of the fabric's listener. Keeps the private data of the request. */
static void
capture_request(struct rr_filter_endpoint *filter, const void *private_data, size_t size)
{
	struct rr_capture_endpoint *endpoint = rr_container(filter, struct rr_capture_endpoint, filter);

	capture_ends(endpoint, 1, rr_capture_fabric_of(filter)->listened);
	capture_keep_first(endpoint, private_data, size);
}

/* Accepts a connection request. If this succeeds, writes the opening of the connection to the capture. */
static int
capture_accept(struct rr_endpoint *base, const void *private_data, size_t private_size)
{
	int error = rr_filter_accept(base, private_data, private_size);

	if (!error)
		capture_open(capture_endpoint_of(base),
			(struct rpcrdma_bytes){ private_data, (uint32_t)private_size }, false);
	return error;
}

/* Rejects a connection request. First writes to the capture that the connection was opened and declined. */
static void
capture_reject(struct rr_endpoint *base, const void *private_data, size_t private_size)
{
	capture_open(capture_endpoint_of(base),
		(struct rpcrdma_bytes){ private_data, (uint32_t)private_size }, true);
	rr_filter_reject(base, private_data, private_size);
}

/* ---- Work ---- */

/* Writes the request of an RDMA Read of this side to the capture, and remembers the Read until it completes.
 * If too many Reads are under way, or there is no memory, the Read is left out of the capture. */
static void
capture_begin_read(struct rr_capture_endpoint *endpoint, const struct rr_work *work)
{
	const struct rr_sge *sge = &work->sges[0];
	struct rr_capture_read *read =
		endpoint->read_count < RR_CAPTURE_EXPOSED ? malloc(sizeof(*read)) : NULL;

	if (!read)
		return;
	*read = (struct rr_capture_read){ .cookie = work->cookie, .addr = sge->addr, .length = sge->length };
	read->sink = rr_capture_read_request(rr_capture_of(endpoint), &endpoint->flow, endpoint->own,
		work->remote_handle, work->remote_offset, sge->length);
	rr_list_append(&endpoint->reads, &read->link);
	endpoint->read_count++;
}

/* Called when an RDMA Read of this side has completed: writes its response, with the octets that came, to
 * the capture, and forgets the Read. A Read that failed gets no response. */
static void
capture_end_read(struct rr_capture_endpoint *endpoint, const struct rr_event *event)
{
	rr_list_for_each (link, &endpoint->reads) {
		struct rr_capture_read *read = rr_container(link, struct rr_capture_read, link);

		if (read->cookie != event->cookie)
			continue;
		if (event->status == 0)
			rr_capture_read_response(rr_capture_of(endpoint), &endpoint->flow, !endpoint->own,
				read->sink, read->addr, read->length);
		rr_list_remove(&read->link);
		free(read);
		endpoint->read_count--;
		return;
	}
}

/* Writes a Send or an RDMA Write of this side to the capture. If the message in a Send has Read chunks,
 * remembers their memory, which the peer may read from now on. */
static void
capture_sent(struct rr_capture_endpoint *endpoint, const struct rr_work *work)
{
	bool invalidates = work->kind == RR_WORK_SEND_INVALIDATE, is_write = work->kind == RR_WORK_WRITE;
	const struct rr_ddp_header header = { .tagged = is_write,
		.opcode = is_write      ? RR_RDMAP_WRITE
			  : invalidates ? RR_RDMAP_SEND_INVALIDATE
					: RR_RDMAP_SEND,
		.invalidate_stag = invalidates ? work->remote_handle : 0,
		.stag = is_write ? work->remote_handle : 0,
		.to = is_write ? work->remote_offset : 0 };

	if (!is_write)
		rr_capture_expose(endpoint, work->sges, work->sge_count);
	rr_capture_message(
		rr_capture_of(endpoint), &endpoint->flow, endpoint->own, header, work->sges, work->sge_count);
}

/* Posts a work request, and writes its packets to the capture if this succeeds. */
static int
capture_post(struct rr_endpoint *base, const struct rr_work *work)
{
	int error = rr_filter_post(base, work);

	if (error)
		return error;
	if (work->kind == RR_WORK_READ)
		capture_begin_read(capture_endpoint_of(base), work);
	else
		capture_sent(capture_endpoint_of(base), work);
	return 0;
}

/* ---- Regions ---- */

/* Registers a region, and remembers its memory: the capture takes from it the octets that the peer reads or
 * writes by RDMA. Returns the result of the registration, even if there is no memory to remember the
 * region. */
static int
capture_register(
	struct rr_endpoint *base, void *addr, uint32_t length, unsigned access, struct rr_region *region)
{
	struct rr_capture_endpoint *endpoint = capture_endpoint_of(base);
	int error = rr_filter_register(base, addr, length, access, region);
	struct rr_capture_region *known = error ? NULL : malloc(sizeof(*known));

	if (!known)
		return error;
	*known = (struct rr_capture_region){
		.handle = region->handle, .addr = addr, .length = length, .offset = region->offset
	};
	rr_list_prepend(&endpoint->regions, &known->link);
	return error;
}

/* Forgets the memory of the region with that handle, as the peer cannot reach it any more. */
static void
capture_forget(struct rr_capture_endpoint *endpoint, uint32_t handle)
{
	struct rr_capture_region *region = rr_capture_find(endpoint, handle);

	if (!region)
		return;
	rr_list_remove(&region->link);
	free(region);
}

/* Invalidates a region, after the filter has forgotten its memory. */
static int
capture_invalidate(struct rr_endpoint *base, struct rr_region *region)
{
	capture_forget(capture_endpoint_of(base), region->handle);
	return rr_filter_invalidate(base, region);
}

/* Ends the peer's access to a region, after the filter has forgotten the region's memory. */
static int
capture_revoke(struct rr_endpoint *base, struct rr_region *region)
{
	capture_forget(capture_endpoint_of(base), region->handle);
	return rr_filter_revoke(base, region);
}

/* ---- Events ---- */

/* Writes to the capture what an event of the endpoint below the filter says, and passes the event to the
 * owner of the filter's endpoint. If the connection ended with an error of the protocol, also calls the
 * capture's function for failures. */
static void
capture_event(struct rr_filter_endpoint *filter, const struct rr_event *event)
{
	struct rr_capture_endpoint *endpoint = rr_container(filter, struct rr_capture_endpoint, filter);
	const struct rpcrdma_bytes data = { event->data, event->length };

	switch (event->kind) {
	case RR_EVENT_ESTABLISHED:
		/* The side that accepts has written the opening already, in capture_accept(). */
		if (endpoint->own == 0)
			capture_open(endpoint, data, false);
		break;
	case RR_EVENT_DISCONNECTED:
		/* Private data means that the peer rejected the connection. */
		if (endpoint->own == 0 && !endpoint->is_open && event->length > 0)
			capture_open(endpoint, data, true);
		/* Without an error, this side has asked for the end. Else the peer counts as the side that
		 * closed. */
		capture_close_flow(endpoint, event->status == 0 ? endpoint->own : !endpoint->own);
		if (event->status == -RPCRDMA_ERR_PEER || event->status == -RPCRDMA_ERR_ACCESS)
			rr_capture_failed(rr_capture_of(endpoint));
		break;
	case RR_EVENT_COMPLETED:
		if (event->work == RR_WORK_READ)
			capture_end_read(endpoint, event);
		break;
	case RR_EVENT_RECEIVED: rr_capture_received(endpoint, event); break;
	}
	rr_filter_emit(filter, event);
}

/* ---- The filter ---- */

/* Initialises the lists of a new endpoint as empty lists. */
static void
capture_begin(struct rr_filter_endpoint *filter)
{
	struct rr_capture_endpoint *endpoint = rr_container(filter, struct rr_capture_endpoint, filter);

	rr_list_init(&endpoint->regions);
	rr_list_init(&endpoint->exposed);
	rr_list_init(&endpoint->reads);
}

/* Called when an endpoint is closed: writes the end of its connection to the capture, and frees all that is
 * in the endpoint's lists. */
static void
capture_end(struct rr_filter_endpoint *filter)
{
	struct rr_capture_endpoint *endpoint = rr_container(filter, struct rr_capture_endpoint, filter);
	struct rr_list *link;

	capture_close_flow(endpoint, endpoint->own);
	while ((link = rr_list_pop(&endpoint->regions)))
		free(rr_container(link, struct rr_capture_region, link));
	while ((link = rr_list_pop(&endpoint->exposed)))
		free(rr_container(link, struct rr_capture_exposed, link));
	while ((link = rr_list_pop(&endpoint->reads)))
		free(rr_container(link, struct rr_capture_read, link));
}

/* Destroys the filter's fabric. Its arrays for decoding are one block of memory, which begins with the array
 * of segments (rr_rdma_place_lists()). */
static void
capture_destroy(struct rr_fabric *base)
{
	struct rr_filter_fabric *filter = rr_filter_fabric_of(base);

	free(rr_container(filter, struct rr_capture_fabric, filter)->lists.segments);
	rr_filter_destroy(base);
}

static const struct rr_fabric_ops capture_ops = {
	.destroy = capture_destroy,
	.listen = capture_listen,
	.listener_address = rr_filter_listener_address,
	.unlisten = rr_filter_unlisten,
	.connect = capture_connect,
	.accept = capture_accept,
	.reject = capture_reject,
	.allow = rr_filter_allow,
	.release = rr_filter_release,
	.is_short = rr_filter_is_short,
	.post = capture_post,
	.kick = rr_filter_kick,
	.register_region = capture_register,
	.invalidate = capture_invalidate,
	.revoke = capture_revoke,
	.corrupt = rr_filter_corrupt,
	.disconnect = rr_filter_disconnect,
	.close = rr_filter_close,
};

int
rr_capture_fabric_new(struct rr_fabric *below, struct rr_capture *capture, struct rr_fabric **fabric)
{
	void *lists = malloc(rr_rdma_lists_size(CAPTURE_READS, CAPTURE_WRITES, CAPTURE_SEGMENTS));
	struct rr_filter_fabric *filter =
		lists ? rr_filter_new(below, &capture_ops, sizeof(struct rr_capture_fabric)) : NULL;
	struct rr_capture_fabric *new;

	if (!filter) {
		free(lists);
		return -RPCRDMA_ERR_NOMEM;
	}
	new = rr_container(filter, struct rr_capture_fabric, filter);
	*fabric = &filter->base;
	new->capture = capture;
	rr_rdma_place_lists(&new->lists, lists, CAPTURE_READS, CAPTURE_WRITES, CAPTURE_SEGMENTS);
	new->filter.endpoint_size = sizeof(struct rr_capture_endpoint);
	new->filter.begin = capture_begin;
	new->filter.end = capture_end;
	new->filter.event = capture_event;
	new->filter.request = capture_request;
	return 0;
}
