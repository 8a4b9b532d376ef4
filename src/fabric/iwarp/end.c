/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/checked.h"
#include "base/crc32c.h"
#include "base/peer_log.h"
#include "fabric/iwarp/protocol_private.h"

/*
 * The ways in which a connection ends:
 *
 *   fault       the peer broke the protocol: octets that are in the batch still
 *               leave, then a Terminate (CLOSING)
 *   drained     the owner disconnected, and all is done (CLOSING)
 *   over        TCP is gone, the peer terminated, or memory must not be
 *               touched any more
 *
 * CLOSING becomes OVER when the peer closes, or the owner's limit is over.
 */

/* Gives the receive buffer of the Send that was arriving back to the pool, and forgets that Send. The
 * endpoint waits for no buffer from then on. */
static void
end_stop_receiving(struct rr_iwarp *iwarp)
{
	struct rr_iwarp_rx *rx = &iwarp->rx;

	rr_receives_leave(&iwarp->shared->receives, &iwarp->wait);
	if (rx->receive)
		rr_receives_put(&iwarp->shared->receives, rx->receive);
	rx->receive = NULL;
	rx->left = 0;
	rx->blocked = false;
}

/* Keeps the status and the text that say why the connection ends, for the event DISCONNECTED. */
static void
end_set_text(struct rr_iwarp *iwarp, int status, const char *format, va_list args)
{
	iwarp->status = status;
	vsnprintf(iwarp->text.text, sizeof(iwarp->text.text), format, args);
}

/* Adds the headers of the peer's wrong FPDU to the Terminate. RFC 5040, figure 10 says which headers a
 * Terminate of this cause has. head: the octets of that FPDU, from its length on. */
static void
end_describe(struct rr_terminate *terminate, const uint8_t *head)
{
	const uint8_t *ddp = head + RR_FPDU_LENGTH_SIZE;
	uint16_t length = rr_get_be16(head);
	struct rr_ddp_header header;
	/* The upper octet of a cause is its layer and type: here RDMAP and "remote protection error". */
	bool protection = (terminate->cause & 0xff00) == RR_CAUSE_RDMAP_INVALID_STAG;

	rr_ddp_get(ddp, length, &header);
	if (length < rr_ddp_header_size(header.tagged))
		return;
	terminate->has_length = true;
	terminate->segment_length = length;
	terminate->ddp_header = ddp;
	if (protection && header.opcode == RR_RDMAP_READ_REQUEST)
		terminate->read_request = ddp + RR_DDP_UNTAGGED_SIZE;
}

/* Inserts an MPA marker at octet `at` of the FPDU, and returns the new size. The FPDU of a Terminate is so
 * small that it has one marker at most. */
static size_t
end_insert_marker(uint8_t *fpdu, size_t size, size_t at)
{
	memmove(fpdu + at + RR_MPA_MARKER_SIZE, fpdu + at, size - at);
	rr_mpa_put_marker(fpdu + at, at);
	return size + RR_MPA_MARKER_SIZE;
}

/* Writes the FPDU of a Terminate to iwarp->frame, whose octets are sent after those that are in the batch
 * already. head: the peer's wrong FPDU, or NULL if there is none to describe. */
static void
end_write_terminate(struct rr_iwarp *iwarp, uint16_t cause, const uint8_t *head)
{
	struct rr_ddp_header header = {
		.last = true, .opcode = RR_RDMAP_TERMINATE, .queue = RR_DDP_QUEUE_TERMINATE, .msn = 1
	};
	struct rr_terminate terminate = { .cause = cause };
	uint8_t *out = iwarp->frame;
	size_t ulpdu, size, at = SIZE_MAX;

	/* RFC 5040, figure 10: a Terminate for an error of the LLP (MPA) has no headers of the wrong FPDU. */
	if (head && rr_cause_layer(cause) != RR_LAYER_LLP)
		end_describe(&terminate, head);
	ulpdu = rr_ddp_put(out + RR_FPDU_LENGTH_SIZE, &header);
	ulpdu += rr_terminate_put(out + RR_FPDU_LENGTH_SIZE + ulpdu, &terminate);
	rr_put_be16(out, (uint16_t)ulpdu);
	size = RR_FPDU_LENGTH_SIZE + ulpdu;
	memset(out + size, 0, rr_fpdu_pad(ulpdu));
	size += rr_fpdu_pad(ulpdu);
	/* The Terminate begins at octet tx.gathered of the stream: the next marker is `at` octets further on.
	 */
	if (iwarp->tx.markers)
		at = -iwarp->tx.gathered % RR_MPA_MARKER_INTERVAL;
	if (at <= size)
		size = end_insert_marker(out, size, at);
	rr_fpdu_put_crc(out + size, iwarp->crc ? rr_crc32c(0, out, size) : 0);
	iwarp->frame_at = 0;
	iwarp->frame_size = (uint32_t)(size + RR_FPDU_CRC_SIZE);
}

/* Ends the connection for a fault of the peer: logs iwarp->text, which describes the fault, gives the
 * receive buffer back, and writes a Terminate with this cause. head: the peer's wrong FPDU, or NULL if there
 * is none to describe. Returns ENDED. */
static enum rr_iwarp_outcome
end_for(struct rr_iwarp *iwarp, uint16_t cause, const uint8_t *head)
{
	/* A peer that cannot know yet that its access was ended did nothing wrong: there is no warning. */
	if (!iwarp->revoked)
		rr_log_peer(
			iwarp->shared->log, iwarp->base.peer, "%s: %s", iwarp->base.peer, iwarp->text.text);
	end_stop_receiving(iwarp);
	rr_iwarp_set_state(iwarp, RR_IWARP_CLOSING);
	/* RFC 5044, 7.1.2 lets a responder send once an FPDU has come, and the wrong FPDU has come. */
	end_write_terminate(iwarp, cause, head);
	return RR_IWARP_ENDED;
}

enum rr_iwarp_outcome
rr_iwarp_fault(
	struct rr_iwarp *iwarp, int status, uint16_t cause, const uint8_t *head, const char *format, ...)
{
	struct rr_iwarp_rx *rx = &iwarp->rx;
	va_list args;

	va_start(args, format);
	end_set_text(iwarp, status, format, args);
	va_end(args);
	if (!head || rx->checked)
		return end_for(iwarp, cause, head);
	/* RFC 5044, 6: "An MPA receiver MUST first verify the FPDU before passing the ULPDU to DDP." */
	rx->doubted = true;
	rx->cause = cause;
	rx->to = NULL;
	return RR_IWARP_GO_ON;
}

enum rr_iwarp_outcome
rr_iwarp_confirm_fault(struct rr_iwarp *iwarp)
{
	return end_for(iwarp, iwarp->rx.cause, iwarp->rx.head);
}

/* Whether the peer sent the Terminate because this side tried to access memory of the peer without the right
 * to do so. */
static bool
end_is_about_access(const struct rr_terminate *terminate)
{
	uint16_t cause = rr_terminate_meaning(terminate);

	switch (cause) {
	case RR_CAUSE_RDMAP_INVALIDATE:
	case RR_CAUSE_DDP_INVALID_STAG:
	case RR_CAUSE_DDP_BOUNDS:
	case RR_CAUSE_DDP_STREAM:
	case RR_CAUSE_DDP_TO_WRAP: return true;
	/* Any other "remote protection error" of RDMAP: the upper octet of a cause is its layer and type. */
	default: return (cause & 0xff00) == RR_CAUSE_RDMAP_INVALID_STAG;
	}
}

enum rr_iwarp_outcome
rr_iwarp_terminated(struct rr_iwarp *iwarp)
{
	const size_t before = RR_FPDU_LENGTH_SIZE + RR_DDP_UNTAGGED_SIZE;
	/* A Terminate that is longer than any can be is read as far as the buffer goes. */
	size_t size = rr_min(RR_FPDU_LENGTH_SIZE + (size_t)iwarp->rx.ulpdu, RR_IWARP_HEAD_MAX);
	struct rr_terminate terminate;
	char text[160] = "no cause given";
	int status = -RPCRDMA_ERR_DISCONNECTED;

	if (rr_terminate_get(iwarp->rx.head + before, size - before, &terminate)) {
		rr_terminate_text(text, sizeof(text), &terminate);
		if (end_is_about_access(&terminate))
			status = -RPCRDMA_ERR_ACCESS;
	}
	rr_iwarp_over(iwarp, status, "the peer terminated the connection: %s", text);
	rr_log_peer(iwarp->shared->log, iwarp->base.peer, "%s: %s", iwarp->base.peer, iwarp->text.text);
	return RR_IWARP_ENDED;
}

void
rr_iwarp_over(struct rr_iwarp *iwarp, int status, const char *format, ...)
{
	va_list args;

	if (iwarp->state < RR_IWARP_CLOSING) {
		va_start(args, format);
		end_set_text(iwarp, status, format, args);
		va_end(args);
		end_stop_receiving(iwarp);
	}
	rr_iwarp_batch_close(iwarp);
	iwarp->frame_at = iwarp->frame_size;
	if (iwarp->state < RR_IWARP_OVER)
		rr_iwarp_set_state(iwarp, RR_IWARP_OVER);
}

void
rr_iwarp_eof(struct rr_iwarp *iwarp)
{
	const struct rr_iwarp_rx *rx = &iwarp->rx;

	/* A peer that knows revision 1 only may close the connection rather than answer. */
	iwarp->again = iwarp->state == RR_IWARP_REPLY && !iwarp->setup->have && !iwarp->old;
	if (iwarp->state == RR_IWARP_REPLY)
		rr_iwarp_over(iwarp, -RPCRDMA_ERR_PEER,
			"it does not speak iWARP (MPA): it closed the connection %s; is this the port of "
			"NFS/RDMA?",
			iwarp->setup->have ? "in the middle of a reply" : "without a reply");
	else if (iwarp->state == RR_IWARP_OPEN && (rx->phase != RR_IWARP_HEAD || rx->have))
		rr_iwarp_over(iwarp, -RPCRDMA_ERR_DISCONNECTED,
			"the peer closed the connection in the middle of a message");
	else
		rr_iwarp_over(iwarp, -RPCRDMA_ERR_DISCONNECTED, "the peer closed the connection");
}

/* Ends the connection if the peer is writing to or reading from the region with that handle, to which it has
 * no access any more. */
static void
end_check_use(struct rr_iwarp *iwarp, uint32_t handle)
{
	const struct rr_iwarp_rx *rx = &iwarp->rx;
	bool written = iwarp->state == RR_IWARP_OPEN && rx->phase == RR_IWARP_PAYLOAD && rx->to &&
		       rx->ddp.tagged && rx->ddp.opcode == RR_RDMAP_WRITE && rx->ddp.stag == handle;

	/* While the connection closes, octets of the batch may still leave; they may refer to the region's
	 * memory. */
	if (!written && !((iwarp->state == RR_IWARP_OPEN || iwarp->tx.batch) &&
				rr_iwarp_is_being_read(iwarp, handle)))
		return;
	rr_iwarp_over(iwarp, -RPCRDMA_ERR_CANCELLED, "handle 0x%08x was invalidated while the peer was %s it",
		handle, written ? "writing to" : "reading from");
}

void
rr_iwarp_revoke(struct rr_iwarp *iwarp, uint32_t handle)
{
	rr_regions_revoke(&iwarp->regions, handle);
	end_check_use(iwarp, handle);
}

void
rr_iwarp_invalidate(struct rr_iwarp *iwarp, uint32_t handle)
{
	rr_regions_remove(&iwarp->regions, handle);
	end_check_use(iwarp, handle);
}

void
rr_iwarp_drain(struct rr_iwarp *iwarp)
{
	iwarp->draining = true;
}

/* Completes all work requests of a list with the status CANCELLED, which calls the owner's handler. */
static void
end_cancel_all(struct rr_iwarp *iwarp, struct rr_list *works)
{
	while (!rr_list_empty(works))
		rr_works_complete(&iwarp->shared->works, rr_container(works->next, struct rr_work_item, link),
			&iwarp->base, -RPCRDMA_ERR_CANCELLED);
}

void
rr_iwarp_flush(struct rr_iwarp *iwarp)
{
	end_cancel_all(iwarp, &iwarp->tx.sent);
	end_cancel_all(iwarp, &iwarp->tx.reads);
	end_cancel_all(iwarp, &iwarp->tx.queue);
}
