/* SPDX-License-Identifier: BSD-3-Clause */
#include <ctype.h>
#include <string.h>

#include "base/checked.h"
#include "base/peer_log.h"
#include "base/tls/tls.h"
#include "fabric/iwarp/protocol_private.h"

/*
 * The exchange of MPA frames. The initiator asks with revision 2 and its IRD and ORD (RFC 6581), and with
 * revision 1 where the peer does not answer that at all; the responder takes both. CRCs are used where either
 * side asks for them, markers in the direction to a side that asks for them.
 */

enum {
	/* Revision 1 does not say how many RDMA Reads a peer can take: any peer can take one. */
	UNKNOWN_DEPTH = 1,
	QUOTED_MAX = 16,   /* octets of the peer that an error message shows */
	EMSS_LEAST = 1460, /* until the connection has a socket with a known segment size */
};

/* Allocates the memory for the exchange of MPA frames, and changes the connection's state to `state`, in
 * which it waits for the peer's frame. Returns -RPCRDMA_ERR_NOMEM if there is no memory. */
static int
setup_begin(struct rr_iwarp *iwarp, enum rr_iwarp_state state)
{
	iwarp->setup = rr_alloc(iwarp->shared->env, sizeof(*iwarp->setup));
	if (!iwarp->setup)
		return -RPCRDMA_ERR_NOMEM;
	iwarp->setup->need = RR_MPA_HEADER_SIZE;
	rr_iwarp_set_state(iwarp, state);
	return 0;
}

/* Writes the MPA frame of this side, with the private data, to iwarp->frame, from which it is sent. */
static void
setup_write_frame(struct rr_iwarp *iwarp, struct rr_mpa_frame *frame, const void *private_data, size_t size)
{
	frame->private_data = private_data;
	frame->private_data_length = (uint16_t)size;
	iwarp->frame_at = 0;
	iwarp->frame_size = (uint32_t)rr_mpa_put(iwarp->frame, sizeof(iwarp->frame), frame);
}

int
rr_iwarp_initiate(struct rr_iwarp *iwarp, const void *private_data, size_t size)
{
	const struct rr_fabric_config *config = iwarp->shared->config;
	struct rr_mpa_frame frame = {
		.revision = iwarp->old ? 1 : 2,
		.enhanced = !iwarp->old,
		.markers = config->markers,
		.crc = config->crc,
		.ird = (uint16_t)config->read_max,
		.ord = (uint16_t)config->read_max,
		.peer_to_peer = config->peer_to_peer,
		.rtr_write = config->peer_to_peer,
	};
	int error = setup_begin(iwarp, RR_IWARP_REPLY);

	/* The side that connects never waits for a receive buffer (fabric/receives.h). */
	iwarp->wait.assured = true;
	if (!error)
		setup_write_frame(iwarp, &frame, private_data, size);
	return error;
}

int
rr_iwarp_initiate_again(struct rr_iwarp *iwarp)
{
	uint32_t size = iwarp->frame_size - RR_MPA_HEADER_SIZE - RR_MPA_DEPTHS_SIZE;
	uint8_t data[RR_IWARP_PRIVATE_MAX];

	/* The frame still has the first request: its private data lies behind header and depths. */
	memcpy(data, iwarp->frame + RR_MPA_HEADER_SIZE + RR_MPA_DEPTHS_SIZE, size);
	rr_free(iwarp->shared->env, iwarp->setup);
	iwarp->again = false;
	iwarp->old = true;
	return rr_iwarp_initiate(iwarp, data, size);
}

int
rr_iwarp_respond(struct rr_iwarp *iwarp)
{
	return setup_begin(iwarp, RR_IWARP_REQUEST);
}

/* Opens the connection. ird: the most RDMA Reads of the peer that may be under way at a time. ord: the most
 * RDMA Reads of this side. markers: the peer asked for markers. Returns -RPCRDMA_ERR_NOMEM if there is no
 * memory. */
static int
setup_open_with(struct rr_iwarp *iwarp, uint32_t ird, uint32_t ord, bool markers)
{
	struct rr_iwarp_tx *tx = &iwarp->tx;

	tx->markers = markers;
	tx->responses = rr_alloc_array(iwarp->shared->env, ird ? ird : 1, sizeof(*tx->responses));
	if (!tx->responses)
		return -RPCRDMA_ERR_NOMEM;
	tx->ird = ird;
	tx->ord = ord;
	rr_free(iwarp->shared->env, iwarp->setup);
	iwarp->setup = NULL;
	rr_iwarp_rx_init(&iwarp->rx);
	iwarp->rx.markers = iwarp->shared->config->markers;
	/* The largest ULPDU depends on whether there are markers, so it is computed anew. */
	if (markers)
		rr_iwarp_set_emss(iwarp, EMSS_LEAST);
	rr_iwarp_set_state(iwarp, RR_IWARP_OPEN);
	return 0;
}

/* ---- The responder ---- */

/* Returns the depth (the number of RDMA Reads at a time) that the MPA reply states: the smaller one of what
 * the peer asked for and this side's limit (own). RR_MPA_DEPTH_MAX says that the peer does not negotiate the
 * depth. RFC 6581, 9.1: the answer is then that same value. */
static uint16_t
setup_answer(uint16_t asked, uint32_t own)
{
	return asked == RR_MPA_DEPTH_MAX ? RR_MPA_DEPTH_MAX : (uint16_t)rr_min(asked, own);
}

/* Returns the number of RDMA Reads at a time that the peer's answer (answered) allows. RR_MPA_DEPTH_MAX
 * leaves the number open: then returns this side's limit (own). */
static uint32_t
setup_depth(uint16_t answered, uint32_t own)
{
	return answered == RR_MPA_DEPTH_MAX ? own : answered;
}

/*
 * Returns the MPA reply to a request, without private data, as the request and this side's configuration
 * determine it. RFC 6581, 9.2: "If Control Flag A is 1 in the MPA Request message, then the responder MUST
 * set Control Flag A to 1 in the MPA reply message". The reply also has one RTR indication: a zero-length
 * RDMA Write, or a zero-length RDMA Read if the initiator offers only that.
 */
static struct rr_mpa_frame
setup_reply_to(const struct rr_mpa_frame *request, const struct rr_fabric_config *config)
{
	struct rr_mpa_frame reply = {
		.reply = true,
		.revision = request->revision,
		.enhanced = request->enhanced,
		.markers = config->markers,
		.crc = request->crc || config->crc,
		.ird = setup_answer(request->ord, config->read_max),
		.ord = setup_answer(request->ird, config->read_max),
		.peer_to_peer = request->peer_to_peer,
	};

	reply.rtr_read = request->rtr_read && !request->rtr_write;
	reply.rtr_write = !reply.rtr_read;
	/* The initiator's zero-length RDMA Read needs a place, too. */
	if (reply.peer_to_peer && reply.rtr_read && !reply.ird)
		reply.ird = 1;
	return reply;
}

int
rr_iwarp_accept(struct rr_iwarp *iwarp, const void *private_data, size_t size)
{
	const struct rr_fabric_config *config = iwarp->shared->config;
	const struct rr_mpa_frame *request = &iwarp->setup->request;
	struct rr_mpa_frame reply = setup_reply_to(request, config);
	uint32_t ird = config->read_max, ord = UNKNOWN_DEPTH;
	int error;

	if (request->enhanced) {
		ird = setup_depth(reply.ird, config->read_max);
		ord = setup_depth(reply.ord, config->read_max);
	}
	/* The reply is written before the request is freed, as private_data may be part of the request. */
	setup_write_frame(iwarp, &reply, private_data, size);
	error = setup_open_with(iwarp, ird, ord, request->markers);
	if (error)
		return error;
	iwarp->crc = reply.crc;
	return 0;
}

void
rr_iwarp_reject(struct rr_iwarp *iwarp, const void *private_data, size_t size)
{
	struct rr_mpa_frame reply = setup_reply_to(&iwarp->setup->request, iwarp->shared->config);

	reply.reject = true;
	setup_write_frame(iwarp, &reply, private_data, size);
	iwarp->status = -RPCRDMA_ERR_CANCELLED;
	rr_iwarp_set_state(iwarp, RR_IWARP_CLOSING);
}

/* Keeps the peer's MPA request, and changes the state to ASKED, in which the owner is to accept or reject
 * the request. */
static void
setup_request_received(struct rr_iwarp *iwarp, const struct rr_mpa_frame *request)
{
	iwarp->setup->request = *request;
	rr_iwarp_set_state(iwarp, RR_IWARP_ASKED);
}

/* ---- The initiator ---- */

/* Opens the connection with the numbers of RDMA Reads that the peer's MPA reply allows. A reply of revision
 * 1 states no numbers: the peer's Reads then have this side's limit, and this side sends UNKNOWN_DEPTH Reads
 * at a time. Returns -RPCRDMA_ERR_NOMEM if there is no memory. */
static int
setup_open_as_answered(struct rr_iwarp *iwarp, const struct rr_mpa_frame *reply)
{
	uint32_t own = iwarp->shared->config->read_max;

	if (!reply->enhanced)
		return setup_open_with(iwarp, own, UNKNOWN_DEPTH, reply->markers);
	/* The Reads that the peer sends (its ORD) are those that this side answers (IRD), and the reverse. */
	return setup_open_with(iwarp, setup_depth((uint16_t)rr_min(reply->ord, own), own),
		(uint32_t)rr_min(setup_depth(reply->ird, own), own), reply->markers);
}

/* Whether the MPA reply asks for something that this side cannot do: more RDMA Reads at a time than were
 * offered, or another RTR indication than a zero-length RDMA Write. If it asks for such a thing, also ends
 * the connection with a Terminate. */
static bool
setup_reply_is_too_much(struct rr_iwarp *iwarp, const struct rr_mpa_frame *reply)
{
	const struct rr_fabric_config *config = iwarp->shared->config;

	/* RFC 6581, 9.1: an initiator that cannot take what the responder wants to read "MUST send a TERM".
	 */
	if (reply->enhanced && reply->ord > config->read_max && reply->ord != RR_MPA_DEPTH_MAX)
		rr_iwarp_fault(iwarp, -RPCRDMA_ERR_PEER, RR_CAUSE_MPA_IRD, NULL,
			"the peer wants %u RDMA Reads at a time where %u were offered", reply->ord,
			config->read_max);
	/* RFC 6581, 9.2: the responder chooses among the RTR indications that it was offered. */
	else if (reply->peer_to_peer && config->peer_to_peer && !reply->rtr_write)
		rr_iwarp_fault(iwarp, -RPCRDMA_ERR_PEER, RR_CAUSE_MPA_RTR, NULL,
			"the peer wants another RTR indication than a zero-length RDMA Write");
	return iwarp->state != RR_IWARP_OPEN;
}

/* Ends the connection, as the peer's MPA reply rejected it. The owner gets the private data of the reply. */
static void
setup_refused(struct rr_iwarp *iwarp, const struct rr_mpa_frame *reply)
{
	/* The address of the private data, computed so because reply->private_data is const. */
	iwarp->reason = iwarp->setup->in + (reply->private_data - iwarp->setup->in);
	iwarp->reason_size = reply->private_data_length;
	rr_iwarp_over(iwarp, -RPCRDMA_ERR_REJECTED, "it rejected the connection");
}

/* Handles the peer's MPA reply: opens the connection and calls the owner's handler with ESTABLISHED. Ends
 * the connection if the reply rejects it or asks for too much, or there is no memory. */
static void
setup_reply_received(struct rr_iwarp *iwarp, const struct rr_mpa_frame *reply)
{
	uint8_t data[RR_MPA_PRIVATE_MAX];
	struct rr_event event = {
		.kind = RR_EVENT_ESTABLISHED, .data = data, .length = reply->private_data_length
	};

	if (reply->reject) {
		setup_refused(iwarp, reply);
		return;
	}
	if (!reply->enhanced && !iwarp->old) {
		rr_iwarp_over(iwarp, -RPCRDMA_ERR_PEER, "it does not answer with IRD and ORD (RFC 6581)");
		return;
	}
	iwarp->crc = reply->crc || iwarp->shared->config->crc;
	iwarp->may_send = true;
	/* RFC 6581, 9.2: the initiator sends the RTR indication before all else. */
	iwarp->tx.kick = reply->peer_to_peer;
	/* setup_open_as_answered() frees the memory in which the private data lies. */
	memcpy(data, reply->private_data, reply->private_data_length);
	/* RFC 6581, 9.3: "MUST generate the TERM message that contains Layer 2, Error Type 0, Error Code 5
	 * when it encounters any error locally". */
	if (setup_open_as_answered(iwarp, reply)) {
		rr_iwarp_fault(iwarp, -RPCRDMA_ERR_NOMEM, RR_CAUSE_MPA_CATASTROPHIC, NULL, "no memory");
		return;
	}
	if (!setup_reply_is_too_much(iwarp, reply))
		iwarp->base.handler(iwarp->base.ctx, &event);
}

/* ---- Both ---- */

/* Copies to text, for an error message, at most QUOTED_MAX of the octets that the peer sent in place of an
 * MPA frame. Octets that cannot be shown become dots. */
static void
setup_quote(char *text, const uint8_t *data, size_t size)
{
	size = rr_min(size, QUOTED_MAX);
	for (size_t i = 0; i < size; i++)
		text[i] = isprint(data[i]) ? (char)data[i] : '.';
	text[size] = 0;
}

/* Ends the connection, as the peer began TLS, which this side does not have. */
static void
setup_is_tls(struct rr_iwarp *iwarp)
{
	rr_iwarp_over(iwarp, -RPCRDMA_ERR_PEER,
		"it asks for TLS, but there is none for RDMA here: it takes a certificate (--tls-cert)");
	rr_log_peer(iwarp->shared->log, iwarp->base.peer, "%s: %s", iwarp->base.peer, iwarp->text.text);
}

/* Ends the connection, as the peer sent a wrong MPA frame. result says what is wrong with the frame; the
 * text of the error says it in words. */
static void
setup_frame_is_bad(struct rr_iwarp *iwarp, enum rr_mpa_result result, unsigned revision)
{
	char quoted[QUOTED_MAX + 1];

	setup_quote(quoted, iwarp->setup->in, iwarp->setup->have);
	if (result == RR_MPA_BAD_KEY && iwarp->setup->in[0] == RR_TLS_FIRST_OCTET)
		setup_is_tls(iwarp);
	else if (result == RR_MPA_BAD_KEY)
		rr_iwarp_over(iwarp, -RPCRDMA_ERR_PEER,
			"it does not speak iWARP (MPA): it %s \"%s\"; is this the port of NFS/RDMA?",
			iwarp->state == RR_IWARP_REPLY ? "answered" : "began with", quoted);
	else if (result == RR_MPA_BAD_REVISION)
		rr_iwarp_over(iwarp, -RPCRDMA_ERR_PEER, "it speaks revision %u of MPA, not 1 or 2", revision);
	else
		rr_iwarp_over(iwarp, -RPCRDMA_ERR_PEER, "it sent an MPA frame of a wrong length");
}

void
rr_iwarp_setup_received(struct rr_iwarp *iwarp, size_t octets)
{
	struct rr_iwarp_setup *setup = iwarp->setup;
	bool initiator = iwarp->state == RR_IWARP_REPLY;
	struct rr_mpa_frame frame = { 0 };
	enum rr_mpa_result result;

	setup->have += octets;
	result = rr_mpa_get(setup->in, setup->have, initiator, &frame, &setup->need);
	if (result == RR_MPA_MORE)
		return;
	if (result != RR_MPA_OK)
		setup_frame_is_bad(iwarp, result, frame.revision);
	else if (initiator)
		setup_reply_received(iwarp, &frame);
	else
		setup_request_received(iwarp, &frame);
}
