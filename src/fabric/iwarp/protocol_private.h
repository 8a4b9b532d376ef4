/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_FABRIC_IWARP_PROTOCOL_PRIVATE_H
#define RR_FABRIC_IWARP_PROTOCOL_PRIVATE_H

#include <string.h>

#include "fabric/iwarp/protocol.h"

/* The functions of the protocol's files that the other files call. */

/* ---- setup.c ---- */

/* Handles further octets of the peer's MPA frame, which were read into setup->in; when the frame is
 * complete, handles the frame. */
void rr_iwarp_setup_received(struct rr_iwarp *iwarp, size_t octets);

/* ---- rx.c ---- */

/* Prepares rx for the first FPDU, as the connection is open. */
void rr_iwarp_rx_init(struct rr_iwarp_rx *rx);

/* ---- message.c ---- */

/* The outcome of a step of receiving: it can go on; it must wait for a receive buffer; or the connection has
 * ended, closes or was released. */
enum rr_iwarp_outcome { RR_IWARP_GO_ON, RR_IWARP_BLOCKED, RR_IWARP_ENDED };

/* Checks the head of an FPDU (length and DDP header), which has come, and sets rx->to to the memory for its
 * payload. Returns BLOCKED if the payload needs a receive buffer and none is free. If the head is wrong,
 * ends the connection and returns ENDED. */
enum rr_iwarp_outcome rr_iwarp_place(struct rr_iwarp *iwarp);

/* Takes a receive buffer for a Send of length octets in one segment, whose header was checked: rx->ddp has
 * its opcode and the STag to be invalidated. Returns false, and changes nothing, if the Send is too long, or
 * the endpoint cannot have a buffer now. */
bool rr_iwarp_take_send(struct rr_iwarp *iwarp, uint32_t length);

/* Handles a complete FPDU whose CRC is good: delivers a Send or a Read Response, queues the answer to a Read
 * Request, or ends the connection for a Terminate. */
enum rr_iwarp_outcome rr_iwarp_deliver(struct rr_iwarp *iwarp);

/* ---- tx.c ---- */

/* Queues the Read Response to a Read Request of the peer.
 * Ends the connection if the peer has too many Read Requests under way; the Terminate then quotes the Read
 * Request, whose head is in rx.head. */
enum rr_iwarp_outcome rr_iwarp_enter_response(struct rr_iwarp *iwarp, const struct rr_read_request *request);

/* Fills the batch, which it opens if there is none, with as many FPDUs as are ready and fit. Returns false if
 * there is no FPDU to send. Ends the connection if there is no memory. */
bool rr_iwarp_gather(struct rr_iwarp *iwarp);

/* Whether all work requests and all RDMA Reads of the peer are done, and TCP has taken all octets of the
 * batch. */
bool rr_iwarp_is_idle(const struct rr_iwarp *iwarp);

/* Whether a Read Response with data of the region with that handle has begun to leave and has not left
 * completely. */
bool rr_iwarp_is_being_read(const struct rr_iwarp *iwarp, uint32_t handle);

/* ---- batch.c ---- */

/* An FPDU that is being put into a batch. */
struct rr_iwarp_fpdu {
	struct rr_iwarp *iwarp;
	struct rr_iwarp_batch *batch;
	size_t ulpdu; /* octets of DDP header and payload */
	bool plain;   /* without CRC and markers: its pieces go into the batch as they are */
	/* Only of an FPDU that is not plain. */
	uint32_t crc;   /* of the pieces so far */
	uint64_t start; /* the octet of the stream at which it begins */
	size_t spoil;   /* octets in front of the octet that is to be damaged; SIZE_MAX: no octet is */
};

/* Makes sure that the iWARP connection has a batch to put FPDUs into. Returns false if there is no memory. */
bool rr_iwarp_batch_open(struct rr_iwarp *iwarp);

/* Whether the batch has room for another FPDU, even the largest. */
static inline bool
rr_iwarp_batch_has_room(const struct rr_iwarp_batch *batch)
{
	return batch->count <= batch->count_most && batch->meta <= batch->meta_most &&
	       batch->octets <= batch->octets_most;
}

/* Whether half of the room of the batch is taken. */
static inline bool
rr_iwarp_batch_is_half_full(const struct rr_iwarp_batch *batch)
{
	return batch->count > batch->count_most / 2 || batch->meta > batch->meta_most / 2 ||
	       batch->octets > batch->octets_most / 2;
}

/* Begins an FPDU in the iWARP connection's batch, with this header. payload: the number of octets that the
 * caller is to append after the header. */
void rr_iwarp_fpdu_begin(struct rr_iwarp_fpdu *fpdu, struct rr_iwarp *iwarp,
	const struct rr_ddp_header *header, uint32_t payload);

/* Appends size octets at data to the batch, by reference: they are not copied, and must stay as they are
 * until TCP has taken them. Octets that lie behind those of the last vector lengthen that vector. */
static inline void
rr_iwarp_batch_append(struct rr_iwarp_batch *batch, const void *data, size_t size)
{
	struct iovec *next = &batch->vectors[batch->count];

	batch->octets += size;
	if (batch->count > 0 && (const uint8_t *)next[-1].iov_base + next[-1].iov_len == data) {
		next[-1].iov_len += size;
		return;
	}
	*next = (struct iovec){ (void *)(uintptr_t)data, size };
	batch->count++;
}

/* Appends the next size octets of an FPDU to the batch by reference, with markers in between where the peer
 * asked for them, and continues the FPDU's CRC over them. */
void rr_iwarp_fpdu_refer_marked(struct rr_iwarp_fpdu *fpdu, const uint8_t *data, uint32_t size);

/* Appends the next size octets of the FPDU to the batch, by reference: they are not copied. */
static inline void
rr_iwarp_fpdu_refer(struct rr_iwarp_fpdu *fpdu, const void *data, uint32_t size)
{
	if (fpdu->plain)
		rr_iwarp_batch_append(fpdu->batch, data, size);
	else
		rr_iwarp_fpdu_refer_marked(fpdu, data, size);
}

/* Appends a copy of the next size octets of the FPDU to the batch. */
void rr_iwarp_fpdu_copy(struct rr_iwarp_fpdu *fpdu, const void *data, uint32_t size);

/* Appends the end of the FPDU to the batch: pad and CRC, with a marker where one is due. */
void rr_iwarp_fpdu_end(struct rr_iwarp_fpdu *fpdu);

/* Copies the octets of the sges to the place `to`. */
static inline void
rr_iwarp_copy_sges(uint8_t *to, const struct rr_sge *sges, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		if (sges[i].length > 0) /* an empty sge may have no address */
			memcpy(to, sges[i].addr, sges[i].length);
		to += sges[i].length;
	}
}

/* Appends a whole FPDU to the iWARP connection's batch, and returns the place at which the caller is to write
 * its ULPDU, of ulpdu octets. Must only be called if neither CRCs nor markers are in use. Returns NULL if the
 * batch has no room. */
static inline uint8_t *
rr_iwarp_batch_claim(struct rr_iwarp *iwarp, size_t ulpdu)
{
	struct rr_iwarp_batch *batch = iwarp->tx.batch;
	uint8_t *fpdu = batch->metas + batch->meta;
	size_t size = rr_fpdu_size(ulpdu);

	if (batch->meta + size > batch->meta_size - RR_IWARP_TAIL_MAX ||
		batch->count == RR_IWARP_BATCH_VECTORS)
		return NULL;
	rr_put_be16(fpdu, (uint16_t)ulpdu);
	/* Pad and CRC; it may reach past the end of the FPDU. */
	memset(fpdu + RR_FPDU_LENGTH_SIZE + ulpdu, 0, RR_IWARP_TAIL_MAX);
	batch->meta += (uint32_t)size;
	iwarp->tx.gathered += size;
	rr_iwarp_batch_append(batch, fpdu, size);
	return fpdu + RR_FPDU_LENGTH_SIZE;
}

/* Appends a copy of a whole Send or RDMA Write of length octets, as one FPDU, to the iWARP connection's
 * batch. Must only be called if neither CRCs nor markers are in use. Returns false if the batch has no room.
 */
bool rr_iwarp_batch_copy(struct rr_iwarp *iwarp, const struct rr_work *work, uint32_t length);

/* Removes the given number of octets, which TCP has taken, from the front of the batch. If TCP has taken all
 * of its octets, closes the batch. */
void rr_iwarp_batch_advance(struct rr_iwarp *iwarp, size_t octets);

/* Takes the batch away from the iWARP connection, if there is one, and keeps its memory for reuse or frees
 * it. Octets of the batch that TCP has not taken are dropped. */
void rr_iwarp_batch_close(struct rr_iwarp *iwarp);

/* ---- end.c ---- */

/*
 * Ends the connection, as the peer broke the protocol: keeps status and text for the owner, sends a Terminate
 * with this cause, and returns ENDED. head: the wrong FPDU from its length on, or NULL if there is none. If
 * the CRC of that FPDU has not come yet, the function returns GO_ON: the rest of the FPDU is skipped, and the
 * connection ends when the CRC has come.
 */
enum rr_iwarp_outcome rr_iwarp_fault(struct rr_iwarp *iwarp, int status, uint16_t cause, const uint8_t *head,
	const char *format, ...) __attribute__((format(printf, 5, 6)));

/* Ends the connection for a fault in the head of an FPDU, which was found before the CRC of the FPDU came.
 * The CRC is good, so that the fault is the peer's. rr_iwarp_fault() has kept the status and the text. */
enum rr_iwarp_outcome rr_iwarp_confirm_fault(struct rr_iwarp *iwarp);

/* Ends the connection, as the peer sent a Terminate, which is in rx.head. The log and the owner get a text
 * with the cause that the Terminate gives. */
enum rr_iwarp_outcome rr_iwarp_terminated(struct rr_iwarp *iwarp);

#endif
