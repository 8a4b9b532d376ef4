/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/iwarp/protocol_private.h"

/*
 * The messages of RDMAP. Placement happens for each FPDU, before its payload is read; delivery when the FPDU
 * is complete. A message that breaks the protocol ends the connection with the layer, type and code of RFC
 * 5040, 4.8 and RFC 5041, 7.2.
 */

/* Ends the connection with a Terminate of this cause, as the peer sent something wrong. why: a description
 * of what the peer sent ("a Send out of sequence"). If the CRC of the FPDU has not come yet, returns GO_ON,
 * and the connection ends once the CRC has come. */
static enum rr_iwarp_outcome
message_refuse(struct rr_iwarp *iwarp, uint16_t cause, const char *why)
{
	return rr_iwarp_fault(iwarp, -RPCRDMA_ERR_PEER, cause, iwarp->rx.head, "the peer sent %s", why);
}

/* Returns the cause that a Terminate gives for an access of the peer that was refused. read: true if the
 * access was an RDMA Read, false if it was an RDMA Write. */
static uint16_t
message_cause_of(enum rr_region_fault fault, bool read)
{
	switch (fault) {
	case RR_REGION_BOUNDS: return read ? RR_CAUSE_RDMAP_BOUNDS : RR_CAUSE_DDP_BOUNDS;
	case RR_REGION_WRAP: return read ? RR_CAUSE_RDMAP_TO_WRAP : RR_CAUSE_DDP_TO_WRAP;
	/* DDP has no code for rights: to an RDMA Write the STag is not valid. */
	case RR_REGION_RIGHTS: return read ? RR_CAUSE_RDMAP_ACCESS : RR_CAUSE_DDP_INVALID_STAG;
	default: return read ? RR_CAUSE_RDMAP_INVALID_STAG : RR_CAUSE_DDP_INVALID_STAG;
	}
}

/* Sets *addr to the memory of this side that the handle, offset and length name, if the peer may access that
 * memory. Else ends the connection: returns ENDED or, if the CRC of the FPDU has not come yet, GO_ON. Also
 * notes in iwarp->revoked whether the access is refused only because this side has ended it: no warning is
 * logged then. */
static enum rr_iwarp_outcome
message_check_access(struct rr_iwarp *iwarp, uint32_t handle, uint64_t offset, uint32_t length,
	unsigned access, uint8_t **addr)
{
	const struct rr_regions *regions = &iwarp->regions;
	enum rr_region_fault fault = rr_regions_find(regions, handle, offset, length, access, addr);
	bool read = access == RR_REMOTE_READ;
	struct rr_text text;

	if (!fault)
		return RR_IWARP_GO_ON;
	iwarp->revoked = fault == RR_REGION_REVOKED;
	return rr_iwarp_fault(iwarp, -RPCRDMA_ERR_ACCESS, message_cause_of(fault, read), iwarp->rx.head,
		"the peer's RDMA %s was refused: %s", read ? "Read" : "Write",
		rr_regions_explain(regions, handle, offset, length, fault, &text));
}

/* Sets rx->to to the memory into which the payload of the peer's RDMA Write is copied. Ends the connection
 * if the peer may not write there. */
static enum rr_iwarp_outcome
message_place_write(struct rr_iwarp *iwarp)
{
	struct rr_iwarp_rx *rx = &iwarp->rx;

	/* RFC 5040, 5.1: a zero-length RDMA Write touches no buffer, and its STag is not checked. */
	if (!rx->payload)
		return RR_IWARP_GO_ON;
	return message_check_access(iwarp, rx->ddp.stag, rx->ddp.to, rx->payload, RR_REMOTE_WRITE, &rx->to);
}

/* Returns the RDMA Read of this side that has waited longest for its data, or NULL if no Read waits. */
static struct rr_work_item *
message_oldest_read(struct rr_iwarp *iwarp)
{
	struct rr_list *reads = &iwarp->tx.reads;

	return rr_list_empty(reads) ? NULL : rr_container(reads->next, struct rr_work_item, link);
}

/* Sets rx->to to the place of a Read Response's payload in the memory of the oldest RDMA Read. Ends the
 * connection if the response does not continue that Read. RFC 5040, 5.2.2: the responses come in the order
 * of the requests, with as many octets as were asked for. */
static enum rr_iwarp_outcome
message_place_response(struct rr_iwarp *iwarp)
{
	struct rr_iwarp_rx *rx = &iwarp->rx;
	const struct rr_work_item *read = message_oldest_read(iwarp);

	if (!read || rx->ddp.stag != read->sink)
		return message_refuse(
			iwarp, RR_CAUSE_DDP_INVALID_STAG, "a Read Response that nobody waits for");
	if (rx->ddp.to != read->at || rx->payload > read->length - read->at)
		return message_refuse(
			iwarp, RR_CAUSE_DDP_BOUNDS, "a Read Response that is out of place or too long");
	if (rx->ddp.last != (read->at + rx->payload == read->length))
		return message_refuse(
			iwarp, RR_CAUSE_DDP_BOUNDS, "a Read Response that ends too early or too late");
	rx->to = rx->payload ? (uint8_t *)(uintptr_t)read->sges[0].addr + read->at : NULL;
	return RR_IWARP_GO_ON;
}

/* Takes a buffer from the pool of receive buffers for the Send that begins to arrive. Returns BLOCKED if the
 * endpoint must wait for a buffer. Ends the connection if the peer was not allowed another Send, or there is
 * no memory. */
static enum rr_iwarp_outcome
message_take_receive(struct rr_iwarp *iwarp)
{
	struct rr_receives *pool = &iwarp->shared->receives;
	bool full;

	if (!iwarp->allowed)
		return message_refuse(iwarp, RR_CAUSE_DDP_NO_BUFFER, "a Send for which no receive is posted");
	iwarp->wait.reads = iwarp->tx.read_count > 0;
	iwarp->rx.receive = rr_receives_get(pool, &iwarp->wait, &full);
	if (iwarp->rx.receive)
		return RR_IWARP_GO_ON;
	if (full) {
		rr_receives_wait(pool, &iwarp->wait);
		return RR_IWARP_BLOCKED;
	}
	rr_iwarp_over(iwarp, -RPCRDMA_ERR_NOMEM, "no memory for a receive");
	return RR_IWARP_ENDED;
}

/* Checks that a segment of a Send is the next one and fits into a receive buffer, and sets rx->to to the
 * payload's place in that buffer. For the first segment, takes a buffer from the pool, or returns BLOCKED if
 * the endpoint must wait for one. */
static enum rr_iwarp_outcome
message_place_send(struct rr_iwarp *iwarp)
{
	struct rr_iwarp_rx *rx = &iwarp->rx;
	enum rr_iwarp_outcome outcome = RR_IWARP_GO_ON;

	if (rx->ddp.msn != rx->send_msn)
		return message_refuse(iwarp, RR_CAUSE_DDP_MSN, "a Send out of sequence");
	if (rx->ddp.mo != rx->message)
		return message_refuse(iwarp, RR_CAUSE_DDP_MO, "a segment of a Send at the wrong offset");
	if (rx->payload > iwarp->shared->config->receive_size - rx->message)
		return message_refuse(iwarp, RR_CAUSE_DDP_TOO_LONG, "a Send that is longer than a receive");
	if (!rx->receive)
		outcome = message_take_receive(iwarp);
	if (rx->receive)
		rx->to = rx->receive + rx->message;
	return outcome;
}

bool
rr_iwarp_take_send(struct rr_iwarp *iwarp, uint32_t length)
{
	struct rr_iwarp_rx *rx = &iwarp->rx;
	bool full;

	if (!iwarp->allowed || length > iwarp->shared->config->receive_size)
		return false;
	iwarp->wait.reads = iwarp->tx.read_count > 0;
	rx->receive = rr_receives_get(&iwarp->shared->receives, &iwarp->wait, &full);
	if (!rx->receive)
		return false;
	/* rr_iwarp_deliver() reads these members, and those that the caller has set. */
	rx->ddp.last = true;
	rx->payload = length;
	rx->left = 0;
	rx->doubted = false;
	rx->checked = true;
	return true;
}

/* Checks the length and the numbers of a Read Request of the peer. Sets no place for a payload: the contents
 * of a Read Request are part of the head of its FPDU. */
static enum rr_iwarp_outcome
message_place_read_request(struct rr_iwarp *iwarp)
{
	const struct rr_iwarp_rx *rx = &iwarp->rx;

	if (rx->ulpdu != RR_DDP_UNTAGGED_SIZE + RR_READ_REQUEST_SIZE || !rx->ddp.last)
		return message_refuse(iwarp, RR_CAUSE_DDP_TOO_LONG, "a Read Request of the wrong length");
	if (rx->ddp.msn != rx->read_msn)
		return message_refuse(iwarp, RR_CAUSE_DDP_MSN, "a Read Request out of sequence");
	if (rx->ddp.mo)
		return message_refuse(iwarp, RR_CAUSE_DDP_MO, "a Read Request with a message offset");
	return RR_IWARP_GO_ON;
}

enum rr_iwarp_outcome
rr_iwarp_place(struct rr_iwarp *iwarp)
{
	struct rr_iwarp_rx *rx = &iwarp->rx;
	enum rr_ddp_result result = rr_ddp_get(rx->head + RR_FPDU_LENGTH_SIZE, rx->ulpdu, &rx->ddp);

	if (result != RR_DDP_OK)
		return message_refuse(
			iwarp, rr_ddp_cause(result, &rx->ddp), "an FPDU that is no RDMAP message");
	switch ((enum rr_rdmap_opcode)rx->ddp.opcode) {
	case RR_RDMAP_WRITE: return message_place_write(iwarp);
	case RR_RDMAP_READ_RESPONSE: return message_place_response(iwarp);
	case RR_RDMAP_READ_REQUEST: return message_place_read_request(iwarp);
	case RR_RDMAP_TERMINATE: rx->to = NULL; return RR_IWARP_GO_ON;
	default: return message_place_send(iwarp);
	}
}

/* Returns GO_ON if the connection is still open, else ENDED. It is called after the owner's handler, which
 * may have ended or closed the connection. */
static enum rr_iwarp_outcome
message_outcome_of(const struct rr_iwarp *iwarp)
{
	return iwarp->state == RR_IWARP_OPEN ? RR_IWARP_GO_ON : RR_IWARP_ENDED;
}

/* Counts the octets of a Read Response that have come. With the last of them, completes the RDMA Read of
 * this side, which calls the owner's handler. */
static enum rr_iwarp_outcome
message_deliver_response(struct rr_iwarp *iwarp)
{
	struct rr_work_item *read = message_oldest_read(iwarp);

	/* message_place_response() has made sure that there is such a Read. */
	read->at += iwarp->rx.payload;
	if (!iwarp->rx.ddp.last)
		return RR_IWARP_GO_ON;
	iwarp->tx.read_count--;
	rr_works_complete(&iwarp->shared->works, read, &iwarp->base, 0);
	return message_outcome_of(iwarp);
}

/* Invalidates the region that the peer's Send With Invalidate names. Ends the connection if there is no such
 * region, or if octets of that region are being sent to the peer at this moment. */
static enum rr_iwarp_outcome
message_check_invalidation(struct rr_iwarp *iwarp, uint32_t handle)
{
	if (!rr_regions_has(&iwarp->regions, handle))
		return rr_iwarp_fault(iwarp, -RPCRDMA_ERR_ACCESS, RR_CAUSE_RDMAP_INVALIDATE, iwarp->rx.head,
			"the peer's Send With Invalidate was refused: no region has handle 0x%08x", handle);
	if (rr_iwarp_is_being_read(iwarp, handle)) {
		rr_iwarp_over(iwarp, -RPCRDMA_ERR_PEER,
			"the peer invalidated handle 0x%08x while it was reading from it", handle);
		return RR_IWARP_ENDED;
	}
	rr_regions_invalidate(&iwarp->regions, handle);
	return RR_IWARP_GO_ON;
}

/* Counts the octets of the Send that have come. With the last segment, invalidates the region that a Send
 * With Invalidate names, and calls the owner's handler with RECEIVED. After every RR_IWARP_FLUSH_EACH Sends,
 * also sends the work requests that the owner has posted. */
static enum rr_iwarp_outcome
message_deliver_send(struct rr_iwarp *iwarp)
{
	struct rr_iwarp_rx *rx = &iwarp->rx;
	struct rr_event event = { .kind = RR_EVENT_RECEIVED, .data = rx->receive };

	rx->message += rx->payload;
	if (!rx->ddp.last)
		return RR_IWARP_GO_ON;
	if (rr_rdmap_invalidates(rx->ddp.opcode)) {
		event.invalidated = true;
		event.invalidated_handle = rx->ddp.invalidate_stag;
		if (message_check_invalidation(iwarp, rx->ddp.invalidate_stag) != RR_IWARP_GO_ON)
			return RR_IWARP_ENDED;
	}
	event.length = rx->message;
	rx->receive = NULL;
	rx->message = 0;
	rx->send_msn++;
	iwarp->allowed--;
	iwarp->base.handler(iwarp->base.ctx, &event);
	if (rx->send_msn % RR_IWARP_FLUSH_EACH == 0 && iwarp->flush && iwarp->state == RR_IWARP_OPEN)
		iwarp->flush(iwarp);
	return message_outcome_of(iwarp);
}

/* Checks that the peer may read the memory that its Read Request names, and queues the Read Response. If the
 * peer may not read that memory, ends the connection. */
static enum rr_iwarp_outcome
message_deliver_read_request(struct rr_iwarp *iwarp)
{
	struct rr_read_request request;
	uint8_t *from;

	iwarp->rx.read_msn++;
	rr_read_request_get(iwarp->rx.head + RR_FPDU_LENGTH_SIZE + RR_DDP_UNTAGGED_SIZE, &request);
	if (request.size && message_check_access(iwarp, request.source_stag, request.source_to, request.size,
				    RR_REMOTE_READ, &from) != RR_IWARP_GO_ON)
		return RR_IWARP_ENDED;
	return rr_iwarp_enter_response(iwarp, &request);
}

enum rr_iwarp_outcome
rr_iwarp_deliver(struct rr_iwarp *iwarp)
{
	struct rr_iwarp_rx *rx = &iwarp->rx;

	switch ((enum rr_rdmap_opcode)rx->ddp.opcode) {
	case RR_RDMAP_WRITE: return RR_IWARP_GO_ON;
	case RR_RDMAP_READ_RESPONSE: return message_deliver_response(iwarp);
	case RR_RDMAP_READ_REQUEST: return message_deliver_read_request(iwarp);
	case RR_RDMAP_TERMINATE: return rr_iwarp_terminated(iwarp);
	default: return message_deliver_send(iwarp);
	}
}
