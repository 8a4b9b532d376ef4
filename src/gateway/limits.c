/* SPDX-License-Identifier: BSD-3-Clause */
/* Lowers the sizes that messages of NFS name, such as the largest READ or the largest callback of a session
 * (ulb/limits.h), so that no peer sends a message that is larger than the gateway carries. */
#include "ulb/limits.h"

#include "base/checked.h"
#include "gateway/gateway_private.h"
#include "wire/rpc.h"

enum {
	BESIDE_DATA = 65536, /* octets of a message that are left for its parts other than data */
	DATA_MULTIPLE = 4096,
	INLINE_HEADER = 28 /* octets of RPC-over-RDMA header without chunks */
};

/* Returns the most octets of file data that a READ or WRITE may move, so that its message has at most
 * message_max octets. */
static uint32_t
limits_data_max(uint32_t message_max)
{
	if (message_max < 2 * BESIDE_DATA)
		return message_max / 2;
	return (message_max - BESIDE_DATA) / DATA_MULTIPLE * DATA_MULTIPLE;
}

/* Lowers the limits for callbacks and their replies to the sizes that the connection of the carrier conveys
 * inline: a callback goes in the direction of replies, and its reply in the direction of calls. Does nothing
 * over TCP, and if there is no connection. RFC 8267, 6.5.2: without Long Calls in the backchannel, "an NFS
 * version 4 server MUST use only Short messages to convey backchannel operations": the backchannel's
 * ca_maxrequestsize shows the server how large callbacks can be. */
static void
limit_callbacks(struct rr_limits *limits, const struct rr_carrier *carrier, enum rr_transport transport)
{
	struct rpcrdma_negotiated negotiated;

	if (!rr_transport_has_chunks(transport) || !carrier)
		return;
	rr_carrier_negotiated(carrier, &negotiated);
	limits->callback = (uint32_t)rr_min(limits->callback, negotiated.inline_reply - INLINE_HEADER);
	limits->callback_reply =
		(uint32_t)rr_min(limits->callback_reply, negotiated.inline_call - INLINE_HEADER);
}

/* Returns the largest sizes of messages that can pass between the pair's client and the server of
 * upstream. */
static struct rr_limits
limits_of(const struct rr_upstream *upstream)
{
	const struct rr_gateway_pair *pair = upstream->pair;
	uint32_t message_max = pair->gateway->engine->config.message_max;
	struct rr_limits limits = { .message = message_max,
		.data = limits_data_max(message_max),
		.callback = message_max,
		.callback_reply = message_max };

	limit_callbacks(&limits, pair->client, pair->transport);
	limit_callbacks(&limits, upstream->carrier, upstream->target->transport);
	return limits;
}

void
rr_relay_limit_call(struct rr_relay *relay)
{
	const struct rr_known *known = &relay->known;
	struct rpcrdma_xdr_reader reader;
	struct rr_call_header header;
	struct rr_limits limits;

	relay->limited = false;
	/* Callbacks name no such sizes, and messages of an unknown program are not searched. */
	if (relay->callback || !known->program)
		return;
	rpcrdma_xdr_reader_init(&reader, &relay->exchange->call, NULL);
	if (!rr_rpc_get_call(&reader, &header) || !rr_limits_concern(known->program, known->proc, &reader))
		return;
	limits = limits_of(relay->upstream);
	relay->limited = true;
	relay->callback_reply = rr_limits_lower_call(&limits, known->program, known->proc, &reader);
}

void
rr_relay_limit_reply(const struct rr_relay *relay, const struct rpcrdma_message *reply)
{
	const struct rr_known *known = &relay->known;
	struct rpcrdma_xdr_reader reader;
	struct rr_reply_header header;
	struct rr_limits limits;

	if (!relay->limited)
		return;
	rpcrdma_xdr_reader_init(&reader, reply, NULL);
	if (!rr_rpc_get_reply(&reader, &header) || header.reply_stat != RR_MSG_ACCEPTED ||
		header.accept_stat != RR_SUCCESS)
		return;
	limits = limits_of(relay->upstream);
	rr_limits_lower_reply(&limits, relay->callback_reply, known->program, known->proc, &reader);
}
