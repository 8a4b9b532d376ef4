/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_FABRIC_IWARP_ENGINE_PRIVATE_H
#define RR_FABRIC_IWARP_ENGINE_PRIVATE_H

#include "fabric/iwarp/engine.h"

/* What the files of the engine call of one another. */

/* ---- setup.c ---- */

/* More octets of an MPA frame are in setup.in. */
void rr_iwarp_setup_received(struct rr_iwarp *engine, size_t octets);

/* ---- rx.c ---- */

/* The connection is open: FPDUs are awaited. */
void rr_iwarp_rx_init(struct rr_iwarp_rx *rx);

/* ---- message.c ---- */

enum rr_iwarp_outcome { RR_IWARP_GO_ON, RR_IWARP_BLOCKED, RR_IWARP_ENDED };

/* The head of an FPDU is there: checks it and sets where its payload goes. */
enum rr_iwarp_outcome rr_iwarp_place(struct rr_iwarp *engine);

/* The same for a whole Send of length octets, of which all but the length was checked: it has a receive.
 * False: the length is wrong, or there is no receive, and nothing was changed. */
bool rr_iwarp_take_send(struct rr_iwarp *engine, uint32_t length);

/* The whole FPDU is there, and its CRC is good. */
enum rr_iwarp_outcome rr_iwarp_deliver(struct rr_iwarp *engine);

/* ---- tx.c ---- */

/* Enters a Read Request of the peer, with rx.ddp still being its header. */
enum rr_iwarp_outcome rr_iwarp_enter_response(struct rr_iwarp *engine, const struct rr_read_request *request);

/* Fills a batch with as many FPDUs as are ready and fit. False: there is none. */
bool rr_iwarp_gather(struct rr_iwarp *engine);

/* Whether anything but the batch is still to be done for what was posted or asked. */
bool rr_iwarp_is_idle(const struct rr_iwarp *engine);

/* Whether a response has begun to leave, and has not left, from the region. */
bool rr_iwarp_is_being_read(const struct rr_iwarp *engine, uint32_t handle);

/* ---- batch.c ---- */

/* An FPDU being put into a batch. */
struct rr_iwarp_fpdu {
	struct rr_iwarp *engine;
	struct rr_iwarp_batch *batch;
	size_t ulpdu;
	bool plain; /* no CRC and no markers: nothing but the pieces themselves goes into the batch */
	uint32_t crc;
	uint64_t start; /* where in the stream it begins */
	size_t spoil;   /* octets up to the one that is to be damaged; SIZE_MAX: none is */
};

/* Sees to it that there is a batch. False: no memory. */
bool rr_iwarp_batch_open(struct rr_iwarp *engine);

/* Whether one more FPDU fits. */
bool rr_iwarp_batch_has_room(const struct rr_iwarp *engine);

/* Begins an FPDU with this header; payload octets follow it. */
void rr_iwarp_fpdu_begin(struct rr_iwarp_fpdu *fpdu, struct rr_iwarp *engine,
	const struct rr_ddp_header *header, uint32_t payload);

/* The next size octets of the batch lie at data. */
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

/* The same for an FPDU that is not plain: with its CRC, and markers in between. */
void rr_iwarp_fpdu_refer_marked(struct rr_iwarp_fpdu *fpdu, const uint8_t *data, uint32_t size);

/* Refers to the next octets of its payload. */
static inline void
rr_iwarp_fpdu_refer(struct rr_iwarp_fpdu *fpdu, const void *data, uint32_t size)
{
	if (fpdu->plain)
		rr_iwarp_batch_append(fpdu->batch, data, size);
	else
		rr_iwarp_fpdu_refer_marked(fpdu, data, size);
}

/* Copies them. */
void rr_iwarp_fpdu_copy(struct rr_iwarp_fpdu *fpdu, const void *data, uint32_t size);

void rr_iwarp_fpdu_end(struct rr_iwarp_fpdu *fpdu);

/* The same for an FPDU that is a whole Send, which is copied, where neither a CRC nor markers are in use.
 * There is a batch. False: it has no room. */
bool rr_iwarp_batch_copy(struct rr_iwarp *engine, const struct rr_work *work, uint32_t length);

/* Takes octets off the front of the batch. */
void rr_iwarp_batch_advance(struct rr_iwarp *engine, size_t octets);

/* Gives the batch back, sent or not. */
void rr_iwarp_batch_close(struct rr_iwarp *engine);

/* ---- end.c ---- */

/*
 * The peer broke the protocol: status and text, a Terminate with this cause, and the end. head: of the FPDU
 * in question, from its length on; or NULL. Where its CRC is still to come, it is passed over until then:
 * GO_ON.
 */
enum rr_iwarp_outcome rr_iwarp_fault(struct rr_iwarp *engine, int status, uint16_t cause, const uint8_t *head,
	const char *format, ...) __attribute__((format(printf, 5, 6)));

/* The CRC is good: what was found wrong before it came is. */
enum rr_iwarp_outcome rr_iwarp_confirm_fault(struct rr_iwarp *engine);

/* A Terminate of the peer is in rx.head. */
enum rr_iwarp_outcome rr_iwarp_terminated(struct rr_iwarp *engine);

#endif
