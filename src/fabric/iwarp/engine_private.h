/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_FABRIC_IWARP_ENGINE_PRIVATE_H
#define RR_FABRIC_IWARP_ENGINE_PRIVATE_H

#include "fabric/iwarp/engine.h"

/* The functions of the engine's files that the other files call. */

/* ---- setup.c ---- */

/* Handles further octets of an MPA frame, which are in setup->in. */
void rr_iwarp_setup_received(struct rr_iwarp *engine, size_t octets);

/* ---- rx.c ---- */

/* Prepares for the first FPDU: the connection is open. */
void rr_iwarp_rx_init(struct rr_iwarp_rx *rx);

/* ---- message.c ---- */

/* The outcome of a step of receiving. */
enum rr_iwarp_outcome { RR_IWARP_GO_ON, RR_IWARP_BLOCKED, RR_IWARP_ENDED };

/* Checks the head of an FPDU, which has come, and sets the place of its payload. */
enum rr_iwarp_outcome rr_iwarp_place(struct rr_iwarp *engine);

/* Takes a receive for a whole Send of length octets, of which all but the length was checked. False: the
 * length is wrong, or there is no receive, and nothing was changed. */
bool rr_iwarp_take_send(struct rr_iwarp *engine, uint32_t length);

/* Handles an FPDU that has come to its end, with a good CRC. */
enum rr_iwarp_outcome rr_iwarp_deliver(struct rr_iwarp *engine);

/* ---- tx.c ---- */

/* Enters a Read Request of the peer, whose header is in rx.ddp. */
enum rr_iwarp_outcome rr_iwarp_enter_response(struct rr_iwarp *engine, const struct rr_read_request *request);

/* Fills a batch with as many FPDUs as are ready and fit. False: there is no FPDU. */
bool rr_iwarp_gather(struct rr_iwarp *engine);

/* Whether all requests, those of the peer included, are done and the batch is empty. */
bool rr_iwarp_is_idle(const struct rr_iwarp *engine);

/* Whether a response with data of the region has begun to leave and has not left. */
bool rr_iwarp_is_being_read(const struct rr_iwarp *engine, uint32_t handle);

/* ---- batch.c ---- */

/* An FPDU that is being put into a batch. */
struct rr_iwarp_fpdu {
	struct rr_iwarp *engine;
	struct rr_iwarp_batch *batch;
	size_t ulpdu;
	bool plain; /* without CRC and markers: its pieces go into the batch as they are */
	uint32_t crc;
	uint64_t start; /* the octet of the stream at which it begins */
	size_t spoil;   /* octets in front of the octet that is to be damaged; SIZE_MAX: no octet is */
};

/* Makes sure that the engine has a batch. False: no memory. */
bool rr_iwarp_batch_open(struct rr_iwarp *engine);

/* Whether another FPDU fits into the batch. */
bool rr_iwarp_batch_has_room(const struct rr_iwarp *engine);

/* Begins an FPDU with this header, in front of payload octets. */
void rr_iwarp_fpdu_begin(struct rr_iwarp_fpdu *fpdu, struct rr_iwarp *engine,
	const struct rr_ddp_header *header, uint32_t payload);

/* Appends size octets at data to the batch, by reference. */
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

/* Appends the next octets of an FPDU that is not plain, with markers in between, and continues its CRC. */
void rr_iwarp_fpdu_refer_marked(struct rr_iwarp_fpdu *fpdu, const uint8_t *data, uint32_t size);

/* Appends the next octets of the FPDU, by reference. */
static inline void
rr_iwarp_fpdu_refer(struct rr_iwarp_fpdu *fpdu, const void *data, uint32_t size)
{
	if (fpdu->plain)
		rr_iwarp_batch_append(fpdu->batch, data, size);
	else
		rr_iwarp_fpdu_refer_marked(fpdu, data, size);
}

/* Appends the next octets of the FPDU, by copying them. */
void rr_iwarp_fpdu_copy(struct rr_iwarp_fpdu *fpdu, const void *data, uint32_t size);

void rr_iwarp_fpdu_end(struct rr_iwarp_fpdu *fpdu);

/* Appends a whole Send as an FPDU, by copying it, where neither CRCs nor markers are in use. The engine has a
 * batch. False: the batch has no room. */
bool rr_iwarp_batch_copy(struct rr_iwarp *engine, const struct rr_work *work, uint32_t length);

/* Takes octets, which have left, off the front of the batch. */
void rr_iwarp_batch_advance(struct rr_iwarp *engine, size_t octets);

/* Gives the batch back, whether its octets have left or not. */
void rr_iwarp_batch_close(struct rr_iwarp *engine);

/* ---- end.c ---- */

/*
 * Ends the connection, as the peer broke the protocol, with status and text, and a Terminate with this cause.
 * head: the FPDU in question, from its length on; or NULL. Where the CRC of that FPDU is still to come, the
 * rest of the FPDU is skipped first: GO_ON.
 */
enum rr_iwarp_outcome rr_iwarp_fault(struct rr_iwarp *engine, int status, uint16_t cause, const uint8_t *head,
	const char *format, ...) __attribute__((format(printf, 5, 6)));

/* Ends the connection for the fault that was found before the CRC came: the CRC is good. */
enum rr_iwarp_outcome rr_iwarp_confirm_fault(struct rr_iwarp *engine);

/* Ends the connection, as the peer sent the Terminate that is in rx.head. */
enum rr_iwarp_outcome rr_iwarp_terminated(struct rr_iwarp *engine);

#endif
