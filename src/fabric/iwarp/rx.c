/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "base/checked.h"
#include "base/crc32c.h"
#include "fabric/iwarp/protocol_private.h"

/*
 * An FPDU passes three phases: its head (length, DDP header, and the whole of messages that have no payload
 * to be placed), its payload, its tail (pad and CRC). The octets of a long payload are read into their place,
 * which rr_iwarp_space() returned. All other octets are read into the scratch buffer that all engines share,
 * and the phases take from there what they need. Nothing is left there when rr_iwarp_received() returns.
 *
 * Most FPDUs are short and complete in the scratch buffer: rx_take_whole() takes such an FPDU in one step,
 * with the same checks, and without a copy of its head.
 */

enum {
	DIRECT_MIN = 4096, /* payload shorter than this is copied out of the scratch buffer */
	/* Behind payload longer than this, only the next head is read into the scratch buffer. */
	BULK_MIN = 16384,
};

/* Prepares rx for the next FPDU, which begins with its head. */
static void
rx_expect_head(struct rr_iwarp_rx *rx)
{
	rx->phase = RR_IWARP_HEAD;
	rx->have = 0;
	rx->need = RR_FPDU_LENGTH_SIZE + RR_DDP_CONTROL_SIZE;
	rx->crc = 0;
	rx->since = 0;
}

void
rr_iwarp_rx_init(struct rr_iwarp_rx *rx)
{
	rx->send_msn = rx->read_msn = 1;
	rx_expect_head(rx);
}

/* Whether the rest of the payload is read from the socket straight into its place. This is done for large
 * payloads without markers. All other payloads are read into shared scratch memory and copied from there. */
static bool
rx_goes_direct(const struct rr_iwarp_rx *rx)
{
	return rx->phase == RR_IWARP_PAYLOAD && rx->to && !rx->markers &&
	       (rx->left >= DIRECT_MIN || rx->payload >= BULK_MIN);
}

/* Sets the vectors to the memory into which the next octets of FPDUs are to be read. The rest of a large
 * payload is read into its place, all else into scratch memory. Returns the number of vectors: 0 while the
 * connection waits for a receive buffer. */
static int
rx_fpdu_space(struct rr_iwarp *iwarp, struct iovec vectors[2])
{
	struct rr_iwarp_rx *rx = &iwarp->rx;
	bool bulk = rx->payload >= BULK_MIN && rx->to && !rx->markers;
	size_t tail = RR_FPDU_CRC_SIZE + rr_fpdu_pad(rx->ulpdu);
	int n = 0;

	if (rx->blocked)
		return 0;
	if (rx_goes_direct(rx))
		vectors[n++] = (struct iovec){ rx->to, rx->left };
	/* No more than the next head is read with the tail, so that the next payload is read into its place,
	 * too. */
	if (bulk)
		tail += RR_FPDU_LENGTH_SIZE + RR_DDP_TAGGED_SIZE;
	vectors[n++] = (struct iovec){ iwarp->shared->scratch, bulk ? tail : RR_IWARP_SCRATCH };
	return n;
}

int
rr_iwarp_space(struct rr_iwarp *iwarp, struct iovec vectors[2])
{
	struct rr_iwarp_setup *setup = iwarp->setup;

	/* RFC 5044, 7.1.2: the MPA frame of this side comes first. A peer that sends FPDUs before it has that
	 * frame has to wait. */
	if (iwarp->state <= RR_IWARP_OPEN && iwarp->frame_at < iwarp->frame_size)
		return 0;
	switch (iwarp->state) {
	case RR_IWARP_REPLY:
	case RR_IWARP_REQUEST:
		/* Reads not an octet more than the frame has: the octets behind the frame belong to the next
		 * state. */
		vectors[0] = (struct iovec){ setup->in + setup->have, setup->need - setup->have };
		return 1;
	case RR_IWARP_OPEN: return rx_fpdu_space(iwarp, vectors);
	case RR_IWARP_CLOSING:
		vectors[0] = (struct iovec){ iwarp->shared->scratch, RR_IWARP_SCRATCH };
		return 1;
	default: return 0;
	}
}

/* Returns the size of an FPDU's head (length and DDP header), which the first octets of the head determine.
 * If the FPDU is too short for such a head, returns the size up to the end of its ULPDU. */
static uint32_t
rx_head_size(const uint8_t *head)
{
	size_t size = rr_ddp_head_size(head + RR_FPDU_LENGTH_SIZE);

	return RR_FPDU_LENGTH_SIZE + (uint32_t)rr_min(size, rr_get_be16(head));
}

/* Prepares rx for the tail of the FPDU: pad and CRC. */
static void
rx_expect_tail(struct rr_iwarp_rx *rx)
{
	rx->phase = RR_IWARP_TAIL;
	rx->have = 0;
	rx->need = (uint32_t)rr_fpdu_pad(rx->ulpdu) + RR_FPDU_CRC_SIZE;
}

/* Checks the head of an FPDU, whose size octets are at rx->head, and finds the place of the payload, with the
 * outcomes of rr_iwarp_place(). checked: the CRC of the FPDU is good, or CRCs are not in use. */
static inline enum rr_iwarp_outcome
rx_place(struct rr_iwarp *iwarp, uint32_t size, bool checked)
{
	struct rr_iwarp_rx *rx = &iwarp->rx;
	uint32_t end;

	rx->ulpdu = rr_get_be16(rx->head);
	/* An FPDU that is too short even for the octets that were read is refused for its length. */
	end = RR_FPDU_LENGTH_SIZE + (uint32_t)rx->ulpdu;
	rx->left = rx->payload = end > size ? end - size : 0;
	/* The CRC of such an FPDU is among the octets that were read. */
	rx->checked = checked || end < size;
	rx->doubted = false;
	return rr_iwarp_place(iwarp);
}

/* Called when the expected octets of the head have come to rx->kept. If they say that the head is longer,
 * waits for the rest of the head. Else checks the head and prepares rx for the payload or, if there is none,
 * for the tail. */
static enum rr_iwarp_outcome
end_head(struct rr_iwarp *iwarp)
{
	struct rr_iwarp_rx *rx = &iwarp->rx;
	enum rr_iwarp_outcome outcome;
	uint32_t need = rx_head_size(rx->kept);

	if (rx->need < need) {
		rx->need = need;
		if (rx->have < rx->need)
			return RR_IWARP_GO_ON;
	}
	rx->head = rx->kept;
	outcome = rx_place(iwarp, rx->need, !iwarp->crc);
	if (outcome != RR_IWARP_GO_ON)
		return outcome;
	rx->phase = RR_IWARP_PAYLOAD;
	if (!rx->left)
		rx_expect_tail(rx);
	return RR_IWARP_GO_ON;
}

/* Counts size octets of payload that have come and, if the payload has a place, were put there. Continues
 * the CRC over them. After the last octet of the payload, prepares rx for the FPDU's tail. */
static void
rx_advance(struct rr_iwarp *iwarp, const uint8_t *data, uint32_t size)
{
	struct rr_iwarp_rx *rx = &iwarp->rx;

	if (iwarp->crc)
		rx->crc = rr_crc32c(rx->crc, data, size);
	if (rx->to)
		rx->to += size;
	rx->left -= size;
	rx->since += size;
	if (!rx->left)
		rx_expect_tail(rx);
}

/* Ends the connection, as the CRC of an FPDU is wrong. */
static enum rr_iwarp_outcome
rx_refuse_crc(struct rr_iwarp *iwarp)
{
	return rr_iwarp_fault(iwarp, -RPCRDMA_ERR_PEER, RR_CAUSE_MPA_CRC, NULL,
		"an FPDU of %u octets came with a wrong CRC", iwarp->rx.ulpdu);
}

/* Called at the end of an FPDU: compares the computed CRC with the one that came, which is at crc, and
 * handles the FPDU. Ends the connection if the CRC is wrong, or if a fault was found in the head before. */
static enum rr_iwarp_outcome
end_tail(struct rr_iwarp *iwarp, const uint8_t *crc)
{
	struct rr_iwarp_rx *rx = &iwarp->rx;

	if (iwarp->crc && rx->crc != rr_fpdu_get_crc(crc))
		return rx_refuse_crc(iwarp);
	/* RFC 5044, 7.1.2: responders "MUST receive and validate at least one FPDU before sending any". */
	iwarp->may_send = true;
	rx->count++;
	rx->checked = true;
	rx_expect_head(rx);
	return rx->doubted ? rr_iwarp_confirm_fault(iwarp) : rr_iwarp_deliver(iwarp);
}

/* Copies the next octets of the FPDU's head or tail to part, and returns the number of octets that it copied.
 * Continues the CRC over them, but only over the first `covered` octets of part: the CRC covers the head and
 * the pad, not the CRC field itself. */
static uint32_t
rx_take(struct rr_iwarp *iwarp, uint8_t *part, uint32_t covered, const uint8_t *data, size_t size)
{
	struct rr_iwarp_rx *rx = &iwarp->rx;
	uint32_t taken = (uint32_t)rr_min(size, rx->need - rx->have);

	memcpy(part + rx->have, data, taken);
	if (iwarp->crc && rx->have < covered)
		rx->crc = rr_crc32c(rx->crc, data, rr_min(taken, covered - rx->have));
	rx->have += taken;
	rx->since += taken;
	return taken;
}

/* Whether data begins with the first octet of an FPDU and has all octets of it, so that the FPDU can be
 * handled in one step. */
static inline bool
rx_is_whole(const struct rr_iwarp_rx *rx, const uint8_t *data, size_t size)
{
	return rx->phase == RR_IWARP_HEAD && !rx->have && !rx->markers && size > RR_FPDU_LENGTH_SIZE &&
	       size >= rr_fpdu_size(rr_get_be16(data));
}

/* Handles the complete FPDU at data, if it is a Send (maybe with Invalidate) in one segment that comes in
 * sequence, and CRCs are not in use. This is a short cut, as most FPDUs are such Sends; it makes the checks
 * of rr_iwarp_place(). Returns the size of the FPDU, or 0 if rx_take_whole() is to handle it: it is no such
 * Send, or no receive buffer is free. */
static size_t
rx_take_send(struct rr_iwarp *iwarp, const uint8_t *data, enum rr_iwarp_outcome *outcome)
{
	struct rr_iwarp_rx *rx = &iwarp->rx;
	const uint8_t *head = data + RR_FPDU_LENGTH_SIZE, *payload = head + RR_DDP_UNTAGGED_SIZE;
	uint32_t length = rr_get_be16(data);

	/* rx->receive is set while a Send of several segments is arriving. */
	if (iwarp->crc || !rr_ddp_is_last_of_send(head) || length < RR_DDP_UNTAGGED_SIZE || rx->receive)
		return 0;
	if (!rr_ddp_is_first_of(head, RR_DDP_QUEUE_SEND, rx->send_msn))
		return 0;
	rx->head = data;
	rx->ulpdu = (uint16_t)length;
	rx->ddp.opcode = head[1] & RR_RDMAP_OPCODE_MASK;
	rx->ddp.invalidate_stag = rr_get_be32(head + RR_DDP_CONTROL_SIZE);
	length -= RR_DDP_UNTAGGED_SIZE;
	if (!rr_iwarp_take_send(iwarp, length))
		return 0;
	memcpy(rx->receive, payload, length);
	iwarp->may_send = true;
	rx->count++;
	*outcome = rr_iwarp_deliver(iwarp);
	return rr_fpdu_size(RR_DDP_UNTAGGED_SIZE + (size_t)length);
}

/* Keeps a copy of the head at data, as its FPDU must wait for a receive buffer: rx is then as if only the
 * head had come. */
static void
rx_keep_head(struct rr_iwarp *iwarp, const uint8_t *data, uint32_t size)
{
	struct rr_iwarp_rx *rx = &iwarp->rx;

	memcpy(rx->kept, data, size);
	rx->have = rx->need = size;
	if (iwarp->crc)
		rx->crc = rr_crc32c(0, data, size);
}

/* Handles the complete FPDU at data in one step, and returns its size. If the FPDU must wait for a receive
 * buffer, returns the size of its head. */
static inline size_t
rx_take_whole(struct rr_iwarp *iwarp, const uint8_t *data, enum rr_iwarp_outcome *outcome)
{
	struct rr_iwarp_rx *rx = &iwarp->rx;
	uint32_t head = rx_head_size(data);
	size_t size = rr_fpdu_size(rr_get_be16(data)), covered = size - RR_FPDU_CRC_SIZE;

	rx->head = data;
	rx->ulpdu = rr_get_be16(data);
	/* RFC 5044, 6: "An MPA receiver MUST first verify the FPDU before passing the ULPDU to DDP." */
	if (iwarp->crc && rr_crc32c(0, data, covered) != rr_fpdu_get_crc(data + covered)) {
		*outcome = rx_refuse_crc(iwarp);
		return size;
	}
	*outcome = rx_place(iwarp, head, true);
	if (*outcome != RR_IWARP_GO_ON) {
		rx_keep_head(iwarp, data, head);
		return head;
	}
	if (rx->left && rx->to)
		memcpy(rx->to, data + head, rx->left);
	iwarp->may_send = true;
	rx->count++;
	*outcome = rr_iwarp_deliver(iwarp);
	return size;
}

/* Handles the next octets of an FPDU that comes in pieces, as far as its present phase goes, and returns how
 * many it used. */
static size_t
rx_take_piece(struct rr_iwarp *iwarp, const uint8_t *data, size_t size, enum rr_iwarp_outcome *outcome)
{
	struct rr_iwarp_rx *rx = &iwarp->rx;
	uint32_t part = 0;

	switch (rx->phase) {
	case RR_IWARP_HEAD:
		part = rx_take(iwarp, rx->kept, rx->need, data, size);
		if (rx->have == rx->need)
			*outcome = end_head(iwarp);
		break;
	case RR_IWARP_PAYLOAD:
		part = (uint32_t)rr_min(size, rx->left);
		if (rx->to)
			memcpy(rx->to, data, part);
		rx_advance(iwarp, data, part);
		break;
	case RR_IWARP_TAIL:
		part = rx_take(iwarp, rx->tail, rx->need - RR_FPDU_CRC_SIZE, data, size);
		if (rx->have == rx->need)
			*outcome = end_tail(iwarp, rx->tail + rx->need - RR_FPDU_CRC_SIZE);
		break;
	}
	return part;
}

/* Handles octets without markers: one FPDU after the other. Returns how many octets were used. These are
 * fewer than size if the connection ended, or if an FPDU must wait for a receive buffer (rx->blocked is then
 * set). */
static size_t
rx_consume(struct rr_iwarp *iwarp, const uint8_t *data, size_t size)
{
	struct rr_iwarp_rx *rx = &iwarp->rx;
	enum rr_iwarp_outcome outcome = RR_IWARP_GO_ON;
	size_t used = 0;

	while (used < size && outcome == RR_IWARP_GO_ON) {
		size_t taken;

		if (!rx_is_whole(rx, data + used, size - used)) {
			used += rx_take_piece(iwarp, data + used, size - used, &outcome);
			continue;
		}
		/* rx_take_send() returns 0 for an FPDU that is not the common kind of Send. */
		taken = rx_take_send(iwarp, data + used, &outcome);
		used += taken > 0 ? taken : rx_take_whole(iwarp, data + used, &outcome);
	}
	rx->blocked = outcome == RR_IWARP_BLOCKED;
	return used;
}

/* Checks the MPA marker that has come, and continues the CRC over it. A wrong marker ends the connection. */
static void
end_marker(struct rr_iwarp *iwarp)
{
	struct rr_iwarp_rx *rx = &iwarp->rx;

	if (!rr_mpa_marker_is(rx->marker, rx->since))
		rr_iwarp_fault(iwarp, -RPCRDMA_ERR_PEER, RR_CAUSE_MPA_FRAMING, NULL,
			"a marker is not where the FPDU's length puts it");
	if (iwarp->crc)
		rx->crc = rr_crc32c(rx->crc, rx->marker, RR_MPA_MARKER_SIZE);
	/* A marker counts as a part of the FPDU only if the FPDU has begun in front of it. */
	if (rx->since)
		rx->since += RR_MPA_MARKER_SIZE;
}

/* Handles octets with markers: collects and checks each marker, and passes the octets in between to
 * rx_consume(). Returns how many octets were used. */
static size_t
rx_consume_marked(struct rr_iwarp *iwarp, const uint8_t *data, size_t size)
{
	struct rr_iwarp_rx *rx = &iwarp->rx;
	size_t used = 0;

	while (used < size && iwarp->state == RR_IWARP_OPEN && !rx->blocked) {
		uint32_t at = rx->position % RR_MPA_MARKER_INTERVAL;
		size_t part = 1;

		if (at < RR_MPA_MARKER_SIZE)
			rx->marker[at] = data[used];
		else
			part = rx_consume(
				iwarp, data + used, rr_min(size - used, RR_MPA_MARKER_INTERVAL - at));
		used += part;
		rx->position += part;
		if (at == RR_MPA_MARKER_SIZE - 1)
			end_marker(iwarp);
	}
	return used;
}

/* Handles octets of FPDUs, with or without markers, and returns how many were used. */
static size_t
rx_consume_stream(struct rr_iwarp *iwarp, const uint8_t *data, size_t size)
{
	return iwarp->rx.markers ? rx_consume_marked(iwarp, data, size) : rx_consume(iwarp, data, size);
}

/* Keeps a copy of the octets that came after the head of an FPDU for which no receive buffer was free. Ends
 * the connection if there is no memory for the copy. */
static void
rx_stash(struct rr_iwarp *iwarp, const uint8_t *data, size_t size)
{
	struct rr_iwarp_rx *rx = &iwarp->rx;
	const struct rr_env *env = iwarp->shared->env;

	if (!size)
		return;
	rx->stash = env->realloc(env->ctx, NULL, size);
	if (!rx->stash) {
		rr_iwarp_over(iwarp, -RPCRDMA_ERR_NOMEM, "no memory");
		return;
	}
	memcpy(rx->stash, data, size);
	rx->stash_at = 0;
	rx->stash_size = (uint32_t)size;
}

void
rr_iwarp_received(struct rr_iwarp *iwarp, size_t octets)
{
	struct rr_iwarp_rx *rx = &iwarp->rx;
	const uint8_t *scratch = iwarp->shared->scratch;
	size_t used;

	if (iwarp->state == RR_IWARP_REPLY || iwarp->state == RR_IWARP_REQUEST)
		rr_iwarp_setup_received(iwarp, octets);
	else if (iwarp->state == RR_IWARP_OPEN) {
		if (rx_goes_direct(rx)) {
			/* The first octets were read into the place of the payload, only the others into
			 * scratch. */
			used = rr_min(octets, rx->left);
			rx_advance(iwarp, rx->to, (uint32_t)used);
			octets -= used;
		}
		used = rx_consume_stream(iwarp, scratch, octets);
		if (iwarp->state == RR_IWARP_OPEN && rx->blocked)
			rx_stash(iwarp, scratch + used, octets - used);
	}
}

bool
rr_iwarp_is_owed(const struct rr_iwarp *iwarp)
{
	const struct rr_iwarp_rx *rx = &iwarp->rx;

	if (iwarp->state != RR_IWARP_OPEN || rx->blocked)
		return false;
	return rx->phase != RR_IWARP_HEAD || rx->have || rx->receive;
}

/* Tries again to find a place for the FPDU for which no receive buffer was free. If this succeeds, handles
 * the octets that came after the head of that FPDU and were kept. */
void
rr_iwarp_resume(struct rr_iwarp *iwarp)
{
	struct rr_iwarp_rx *rx = &iwarp->rx;
	enum rr_iwarp_outcome outcome;

	if (iwarp->state != RR_IWARP_OPEN || !rx->blocked)
		return;
	outcome = end_head(iwarp);
	rx->blocked = outcome == RR_IWARP_BLOCKED;
	if (outcome != RR_IWARP_GO_ON || !rx->stash)
		return;
	rx->stash_at +=
		(uint32_t)rx_consume_stream(iwarp, rx->stash + rx->stash_at, rx->stash_size - rx->stash_at);
	if (iwarp->state != RR_IWARP_OPEN || rx->blocked)
		return;
	rr_free(iwarp->shared->env, rx->stash);
	rx->stash = NULL;
}
