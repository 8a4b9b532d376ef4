/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/checked.h"
#include "fabric/iwarp/protocol_private.h"

/*
 * Work requests leave in the order of their posting; an RDMA Read waits until the peer can take it (ORD), and
 * holds back the requests behind it. Read Responses alternate with work requests, message by message: a
 * message is never interrupted by another one. A short request that is copied when it is posted does not wait
 * for Read Responses.
 */

/* The most octets of a queued Send or RDMA Write that are copied into the batch rather than referred to. */
enum { SHORT_MAX = 256 };

/* Returns the Read Response with that number in the ring of responses. The oldest response has number 0. */
static struct rr_iwarp_response *
tx_response_at(const struct rr_iwarp_tx *tx, uint32_t number)
{
	return &tx->responses[(tx->response_first + number) % tx->ird];
}

/* Returns the first work request of a list, which is not empty. */
static struct rr_work_item *
tx_first_of(const struct rr_list *list)
{
	return rr_container(list->next, struct rr_work_item, link);
}

/* Whether a work request that is posted now could be put at once into the batch (the octets that TCP is to
 * take next): no other work request is waiting to leave, and the batch, if there is one, still accepts
 * octets. Read Responses that wait are overtaken, but the second half of the batch is left to them. */
static bool
tx_is_free(const struct rr_iwarp *iwarp)
{
	const struct rr_iwarp_tx *tx = &iwarp->tx;

	if (!rr_list_empty(&tx->queue) || tx->message != RR_IWARP_NO_MESSAGE || tx->kick ||
		iwarp->frame_at < iwarp->frame_size)
		return false;
	if (!tx->batch)
		return true;
	/* No Read Response waits if the next one to be sent is behind the last one. */
	return tx->batch->open &&
	       (tx->response_next == tx->response_count || !rr_iwarp_batch_is_half_full(tx->batch));
}

/* Copies a Send or an RDMA Write into the batch (the octets that TCP is to take next), as this costs less
 * than to keep the request until TCP has taken it. The request must have at most RR_IWARP_COPY_MAX octets,
 * the caller must allow the copy, nothing may wait in front of it, and neither CRCs nor markers may be in
 * use. Returns false if the request was not copied and must be queued. */
static bool
tx_copy(struct rr_iwarp *iwarp, const struct rr_work *work)
{
	size_t length = 0;

	if (!work->may_copy || work->kind > RR_WORK_WRITE || iwarp->crc || iwarp->tx.markers ||
		!iwarp->may_send || !tx_is_free(iwarp))
		return false;
	for (uint32_t i = 0; i < work->sge_count; i++)
		length += work->sges[i].length;
	if (length > rr_min(RR_IWARP_COPY_MAX, iwarp->tx.ulpdu_max - RR_DDP_UNTAGGED_SIZE))
		return false;
	return rr_iwarp_batch_open(iwarp) && rr_iwarp_batch_copy(iwarp, work, (uint32_t)length);
}

int
rr_iwarp_post(struct rr_iwarp *iwarp, const struct rr_work *work)
{
	struct rr_work_item *item;

	if (iwarp->state != RR_IWARP_OPEN || iwarp->draining)
		return -RPCRDMA_ERR_DISCONNECTED;
	/* The peer takes no RDMA Reads at all. */
	if (work->kind == RR_WORK_READ && !iwarp->tx.ord)
		return -RPCRDMA_ERR_NOTSUP;
	if (tx_copy(iwarp, work))
		return RR_POST_COPIED;
	item = rr_works_get(&iwarp->shared->works, work);
	if (!item)
		return -RPCRDMA_ERR_NOMEM;
	rr_list_append(&iwarp->tx.queue, &item->link);
	iwarp->base.outstanding++;
	return 0;
}

int
rr_iwarp_kick(struct rr_iwarp *iwarp)
{
	if (iwarp->state != RR_IWARP_OPEN || iwarp->draining)
		return -RPCRDMA_ERR_DISCONNECTED;
	iwarp->tx.kick = true;
	return 0;
}

int
rr_iwarp_corrupt(struct rr_iwarp *iwarp)
{
	if (iwarp->state == RR_IWARP_OPEN && !iwarp->crc)
		return -RPCRDMA_ERR_NOTSUP;
	iwarp->tx.corrupt = true;
	return 0;
}

void
rr_iwarp_set_emss(struct rr_iwarp *iwarp, uint32_t emss)
{
	/* RFC 5044, 4.5: "MULPDU = EMSS - (6 + EMSS mod 4)", and not below 128. */
	uint32_t overhead = RR_FPDU_LENGTH_SIZE + RR_FPDU_CRC_SIZE + emss % 4;
	uint32_t ulpdu;

	/* With markers, "EMSS - (6 + 4 * Ceiling(EMSS / 512) + EMSS mod 4)". */
	if (iwarp->tx.markers)
		overhead += RR_MPA_MARKER_SIZE *
			    (emss / RR_MPA_MARKER_INTERVAL + (emss % RR_MPA_MARKER_INTERVAL != 0));
	/* A ULPDU of 128 + 2 octets needs no pad. */
	ulpdu = emss > overhead + 128 ? emss - overhead : 128 + 2;
	iwarp->tx.ulpdu_max =
		(uint32_t)rr_min(ulpdu, iwarp->tx.markers ? RR_IWARP_MARKED_MAX : RR_IWARP_ULPDU_MAX);
}

enum rr_iwarp_outcome
rr_iwarp_enter_response(struct rr_iwarp *iwarp, const struct rr_read_request *request)
{
	struct rr_iwarp_tx *tx = &iwarp->tx;

	/* RFC 5040, 5.2.1: each request "MUST consume one Untagged Buffer", and there are as many as IRD
	 * says. */
	if (tx->response_count == tx->ird)
		return rr_iwarp_fault(iwarp, -RPCRDMA_ERR_PEER, RR_CAUSE_DDP_NO_BUFFER, iwarp->rx.head,
			"the peer sent more RDMA Reads at a time than the %u that it was allowed", tx->ird);
	*tx_response_at(tx, tx->response_count) = (struct rr_iwarp_response){ .request = *request };
	tx->response_count++;
	return RR_IWARP_GO_ON;
}

/* Begins to send the next Read Response. If the region was invalidated since the Read Request came, ends the
 * connection and returns false. The STag of a zero-length RDMA Read is not checked (RFC 5040, 5.2.1). */
static bool
tx_begin_response(struct rr_iwarp *iwarp)
{
	struct rr_iwarp_response *response = tx_response_at(&iwarp->tx, iwarp->tx.response_next);
	const struct rr_read_request *request = &response->request;
	enum rr_region_fault fault = RR_REGION_FINE;

	if (request->size)
		fault = rr_regions_find(&iwarp->regions, request->source_stag, request->source_to,
			request->size, RR_REMOTE_READ, &response->from);
	if (fault) {
		iwarp->revoked = fault == RR_REGION_REVOKED;
		rr_iwarp_fault(iwarp, -RPCRDMA_ERR_ACCESS, RR_CAUSE_RDMAP_INVALID_STAG, NULL,
			"the peer's RDMA Read was refused: handle 0x%08x was invalidated before its data "
			"left",
			request->source_stag);
		return false;
	}
	iwarp->tx.message = RR_IWARP_RESPONSE;
	iwarp->tx.work_last = false;
	return true;
}

/* Whether the queue has a work request and the first one may be sent now. An RDMA Read must wait while as
 * many Reads are under way as the peer allows (ORD). */
static bool
tx_work_is_ready(const struct rr_iwarp_tx *tx)
{
	if (rr_list_empty(&tx->queue))
		return false;
	return tx_first_of(&tx->queue)->kind != RR_WORK_READ || tx->read_count < tx->ord;
}

/* Whether an FPDU can be sent now. */
static bool
tx_has_next(const struct rr_iwarp_tx *tx)
{
	return tx->message != RR_IWARP_NO_MESSAGE || tx->kick || tx->response_next < tx->response_count ||
	       tx_work_is_ready(tx);
}

/* Chooses the message that is sent next. If both a work request and a Read Response wait, they take turns.
 * Returns false if no message can be sent now, or if the connection has ended. */
static bool
tx_begin_message(struct rr_iwarp *iwarp)
{
	struct rr_iwarp_tx *tx = &iwarp->tx;
	bool work = tx_work_is_ready(tx), response = tx->response_next < tx->response_count;

	tx->at = tx->sge = tx->sge_at = 0;
	if (response && (tx->work_last || !work))
		return tx_begin_response(iwarp);
	if (!work)
		return false;
	tx->message = RR_IWARP_WORK;
	tx->work_last = true;
	return true;
}

/* Appends the next size octets of a work request to the FPDU, by reference. They begin at the place in the
 * request's sges (pieces of memory) that tx->sge and tx->sge_at say. Moves that place behind these
 * octets. */
static void
tx_refer_to_sges(
	struct rr_iwarp_fpdu *fpdu, struct rr_iwarp_tx *tx, const struct rr_work_item *item, uint32_t size)
{
	while (size) {
		const struct rr_sge *sge = &item->sges[tx->sge];
		uint32_t part = (uint32_t)rr_min(size, sge->length - tx->sge_at);

		if (part) /* an empty sge may have no address */
			rr_iwarp_fpdu_refer(fpdu, (const uint8_t *)sge->addr + tx->sge_at, part);
		size -= part;
		tx->sge_at += part;
		if (tx->sge_at == sge->length) {
			tx->sge++;
			tx->sge_at = 0;
		}
	}
}

/* Appends to the batch (the octets that TCP is to take next) the next FPDU of the Read Response that is
 * being sent. With its last FPDU, the response counts as sent. */
static void
tx_gather_response(struct rr_iwarp *iwarp)
{
	struct rr_iwarp_tx *tx = &iwarp->tx;
	struct rr_iwarp_response *response = tx_response_at(tx, tx->response_next);
	uint32_t size = (uint32_t)rr_min(response->request.size - tx->at, tx->ulpdu_max - RR_DDP_TAGGED_SIZE);
	struct rr_ddp_header header = {
		.tagged = true,
		.last = tx->at + size == response->request.size,
		.opcode = RR_RDMAP_READ_RESPONSE,
		.stag = response->request.sink_stag,
		.to = response->request.sink_to + tx->at,
	};
	struct rr_iwarp_fpdu fpdu;

	rr_iwarp_fpdu_begin(&fpdu, iwarp, &header, size);
	if (size)
		rr_iwarp_fpdu_refer(&fpdu, response->from + tx->at, size);
	rr_iwarp_fpdu_end(&fpdu);
	tx->at += size;
	if (!header.last)
		return;
	response->end = tx->gathered;
	tx->response_next++;
	tx->message = RR_IWARP_NO_MESSAGE;
}

/* Appends a whole FPDU of few octets to the batch (the octets that TCP is to take next), and returns the
 * place at which the caller is to write its payload: to copy so few octets costs less than to refer to them.
 * Returns NULL for other FPDUs, and if CRCs or markers are in use: they are put into the batch piece by
 * piece. */
static uint8_t *
tx_put_short(struct rr_iwarp *iwarp, const struct rr_ddp_header *header, uint32_t payload)
{
	uint8_t *ulpdu;

	if (payload > SHORT_MAX || iwarp->crc || iwarp->tx.markers)
		return NULL;
	ulpdu = rr_iwarp_batch_claim(iwarp, rr_ddp_header_size(header->tagged) + payload);
	return ulpdu ? ulpdu + rr_ddp_put(ulpdu, header) : NULL;
}

/* Appends the FPDU of a Read Request with these headers to the batch. */
static void
tx_put_read_request(
	struct rr_iwarp *iwarp, const struct rr_ddp_header *header, const struct rr_read_request *request)
{
	uint8_t *place = tx_put_short(iwarp, header, RR_READ_REQUEST_SIZE), data[RR_READ_REQUEST_SIZE];
	struct rr_iwarp_fpdu fpdu;

	rr_read_request_put(place ? place : data, request);
	if (place)
		return;
	rr_iwarp_fpdu_begin(&fpdu, iwarp, header, sizeof(data));
	rr_iwarp_fpdu_copy(&fpdu, data, sizeof(data));
	rr_iwarp_fpdu_end(&fpdu);
}

/* Appends the FPDU of a Read Request to the batch (the octets that TCP is to take next), with a new STag for
 * the Read Response. Moves the work request to the list of Reads that wait for their data. */
static void
tx_gather_read_request(struct rr_iwarp *iwarp, struct rr_work_item *item)
{
	struct rr_iwarp_tx *tx = &iwarp->tx;
	struct rr_ddp_header header = { .last = true,
		.opcode = RR_RDMAP_READ_REQUEST,
		.queue = RR_DDP_QUEUE_READ_REQUEST,
		.msn = ++tx->read_msn };
	struct rr_read_request request = {
		.size = item->length, .source_stag = item->remote_handle, .source_to = item->remote_offset
	};
	/* Each Read has an STag of its own, never 0, so that only its Read Response can be placed there. */
	request.sink_stag = item->sink = ++tx->sink ? tx->sink : ++tx->sink;
	tx_put_read_request(iwarp, &header, &request);
	rr_list_remove(&item->link);
	rr_list_append(&tx->reads, &item->link);
	tx->read_count++;
	tx->message = RR_IWARP_NO_MESSAGE;
}

/* Sets *header to the DDP header of the next FPDU of a Send or an RDMA Write. The caller sets the member
 * `last`. */
static void
tx_describe(const struct rr_iwarp_tx *tx, const struct rr_work_item *item, struct rr_ddp_header *header)
{
	*header = (struct rr_ddp_header){ .tagged = item->kind == RR_WORK_WRITE };
	if (header->tagged) {
		header->opcode = RR_RDMAP_WRITE;
		header->stag = item->remote_handle;
		header->to = item->remote_offset + tx->at;
		return;
	}
	header->opcode = RR_RDMAP_SEND;
	header->queue = RR_DDP_QUEUE_SEND;
	header->msn = tx->send_msn + 1;
	header->mo = tx->at;
	if (item->kind == RR_WORK_SEND_INVALIDATE) {
		header->opcode = RR_RDMAP_SEND_INVALIDATE;
		header->invalidate_stag = item->remote_handle;
	}
}

/* Appends to the batch (the octets that TCP is to take next) the next FPDU of the first work request in the
 * queue. With its last FPDU, the request moves to the list of requests that were sent; an RDMA Read moves to
 * the list of Reads that wait for their data. */
static void
tx_gather_work(struct rr_iwarp *iwarp)
{
	struct rr_iwarp_tx *tx = &iwarp->tx;
	struct rr_work_item *item = tx_first_of(&tx->queue);
	struct rr_ddp_header header;
	struct rr_iwarp_fpdu fpdu;
	uint8_t *place;
	uint32_t size;

	if (item->kind == RR_WORK_READ) {
		tx_gather_read_request(iwarp, item);
		return;
	}
	tx_describe(tx, item, &header);
	size = (uint32_t)rr_min(item->length - tx->at, tx->ulpdu_max - rr_ddp_header_size(header.tagged));
	header.last = tx->at + size == item->length;
	place = size == item->length ? tx_put_short(iwarp, &header, size) : NULL;
	if (place) {
		rr_iwarp_copy_sges(place, item->sges, item->sge_count);
	} else {
		rr_iwarp_fpdu_begin(&fpdu, iwarp, &header, size);
		tx_refer_to_sges(&fpdu, tx, item, size);
		rr_iwarp_fpdu_end(&fpdu);
	}
	tx->at += size;
	if (!header.last)
		return;
	tx->send_msn += !header.tagged;
	item->end = tx->gathered;
	rr_list_remove(&item->link);
	rr_list_append(&tx->sent, &item->link);
	tx->message = RR_IWARP_NO_MESSAGE;
}

/* Appends a zero-length RDMA Write to the batch (the octets that TCP is to take next). Its STag is 0, as
 * receivers do not check the STag of a Write without octets. */
static void
tx_gather_kick(struct rr_iwarp *iwarp)
{
	struct rr_ddp_header header = { .tagged = true, .last = true, .opcode = RR_RDMAP_WRITE };
	struct rr_iwarp_fpdu fpdu;

	rr_iwarp_fpdu_begin(&fpdu, iwarp, &header, 0);
	rr_iwarp_fpdu_end(&fpdu);
	iwarp->tx.kick = false;
}

/* Appends one FPDU to the batch (the octets that TCP is to take next). It is an RDMA Write without octets,
 * or belongs to a Read Response or a work request. Returns false if no FPDU can be sent now. */
static bool
tx_gather_next(struct rr_iwarp *iwarp)
{
	struct rr_iwarp_tx *tx = &iwarp->tx;

	if (tx->message == RR_IWARP_NO_MESSAGE && tx->kick) {
		tx_gather_kick(iwarp);
		return true;
	}
	if (tx->message == RR_IWARP_NO_MESSAGE && !tx_begin_message(iwarp))
		return false;
	if (tx->message == RR_IWARP_RESPONSE)
		tx_gather_response(iwarp);
	else
		tx_gather_work(iwarp);
	return true;
}

bool
rr_iwarp_gather(struct rr_iwarp *iwarp)
{
	if (!iwarp->tx.batch && !tx_has_next(&iwarp->tx))
		return false;
	if (!rr_iwarp_batch_open(iwarp))
		rr_iwarp_over(iwarp, -RPCRDMA_ERR_NOMEM, "no memory");
	while (iwarp->state == RR_IWARP_OPEN && rr_iwarp_batch_has_room(iwarp->tx.batch) &&
		tx_gather_next(iwarp))
		;
	if (iwarp->tx.batch && !iwarp->tx.batch->count)
		rr_iwarp_batch_close(iwarp);
	return iwarp->tx.batch;
}

/* Removes from the ring those Read Responses whose octets TCP has taken in full, which makes room for
 * further Read Requests of the peer. */
static void
tx_retire_responses(struct rr_iwarp_tx *tx)
{
	while (tx->response_next && tx_response_at(tx, 0)->end <= tx->taken) {
		tx->response_first = (tx->response_first + 1) % tx->ird;
		tx->response_next--;
		tx->response_count--;
	}
}

void
rr_iwarp_taken(struct rr_iwarp *iwarp, size_t octets)
{
	struct rr_iwarp_tx *tx = &iwarp->tx;

	/* rr_iwarp_output() offers the octets of the batch before those of the frame (an MPA frame or a
	 * Terminate). */
	if (iwarp->frame_at < iwarp->frame_size && !tx->batch) {
		iwarp->frame_at += (uint32_t)octets;
		return;
	}
	tx->taken += octets;
	rr_iwarp_batch_advance(iwarp, octets);
	tx_retire_responses(tx);
	while (!rr_list_empty(&tx->sent) && tx_first_of(&tx->sent)->end <= tx->taken)
		rr_works_complete(&iwarp->shared->works, tx_first_of(&tx->sent), &iwarp->base, 0);
}

bool
rr_iwarp_is_idle(const struct rr_iwarp *iwarp)
{
	const struct rr_iwarp_tx *tx = &iwarp->tx;

	return rr_list_empty(&tx->queue) && rr_list_empty(&tx->sent) && rr_list_empty(&tx->reads) &&
	       !tx->response_count && !tx->batch && !tx->kick;
}

bool
rr_iwarp_is_being_read(const struct rr_iwarp *iwarp, uint32_t handle)
{
	const struct rr_iwarp_tx *tx = &iwarp->tx;
	uint32_t begun = tx->response_next + (tx->message == RR_IWARP_RESPONSE);

	for (uint32_t i = 0; i < begun; i++)
		if (tx_response_at(tx, i)->request.source_stag == handle &&
			tx_response_at(tx, i)->request.size)
			return true;
	return false;
}
