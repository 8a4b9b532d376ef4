/* SPDX-License-Identifier: BSD-3-Clause */
#include "gateway/items.h"

#include <string.h>

#include "base/checked.h"
#include "base/endian.h"
#include "rpc/auth.h"
#include "rpc/expect.h"
#include "ulb/estimate.h"
#include "ulb/pairing.h"

/* The most items that a walk records. Further items stay in the stream, if they are there. */
enum { FOUND_MAX = 64 };

uint32_t
rr_known_program(const struct rpcrdma_message *call)
{
	enum { AT = 12 }; /* behind the XID, the message type and the RPC version: RFC 5531, section 9 */

	return call->length >= AT + 4 ? rr_get_be32((const uint8_t *)call->stream + AT) : 0;
}

bool
rr_known_header_is_reduced(const struct rpcrdma_message *call)
{
	struct rpcrdma_xdr_reader reader;
	struct rr_call_header header;

	if (call->item_count == 0)
		return false;
	rpcrdma_xdr_reader_init(&reader, call, NULL);
	/* A header that cannot be read leaves the reader where it failed; the question is answered all the
	 * same. */
	(void)rr_rpc_get_call(&reader, &header);
	return rr_rpc_header_is_reduced(&reader);
}

/* Returns the description of this version of the program: that of the configuration, or else that of the
 * built-in bindings. Returns NULL if neither has this version. */
static const struct rpcrdma_program *
items_find_program(const struct rr_gateway_config *config, uint32_t prog, uint32_t vers)
{
	for (uint32_t i = 0; i < config->program_count; i++) {
		if (config->programs[i]->prog == prog && config->programs[i]->vers == vers)
			return config->programs[i];
	}
	return rr_ulb_find(prog, vers);
}

void
rr_known_read(
	struct rr_known *known, const struct rr_gateway_config *config, const struct rpcrdma_message *call)
{
	struct rpcrdma_xdr_reader reader;
	struct rr_call_header header = { 0 };

	rpcrdma_xdr_reader_init(&reader, call, NULL);
	*known = (struct rr_known){ .reply_header = RR_RPC_REPLY_HEADER_MAX };
	if (!rr_rpc_get_call(&reader, &header))
		return;
	known->proc = header.proc;
	if (!rr_auth_may_place(&header.cred))
		return;
	known->program = items_find_program(config, header.prog, header.vers);
	known->reply_header = RR_RPC_REPLY_FIXED + rr_auth_find(header.cred.flavor)->reply_adds;
}

/* ---- Finding ---- */

/* Prepares reader, and reads the RPC header of the message with it, so that the arguments or results are
 * next. Returns false if the message has none of these. No part of the header may travel apart from the
 * stream. RFC 8166, 8.2.2: "data items that are part of RPCSEC_GSS authentication material" "MUST NOT be
 * reduced". */
static bool
items_skip_header(
	enum rr_items_use use, const struct rpcrdma_message *message, struct rpcrdma_xdr_reader *reader)
{
	struct rr_call_header call;
	struct rr_reply_header reply;

	rpcrdma_xdr_reader_init(reader, message, NULL);
	if (use == RR_ITEMS_CALL)
		return rr_rpc_get_call(reader, &call);
	return rr_rpc_get_reply(reader, &reply) && reply.reply_stat == RR_MSG_ACCEPTED &&
	       reply.accept_stat == RR_SUCCESS;
}

/* Walks the arguments or results of a message by its program's description, and stores in *found those data
 * items that may travel apart from the stream. Returns RR_WALK_UNKNOWN if the program is not known, or if the
 * message has no arguments or results. RFC 8166, 6.1: "Senders MUST NOT reduce data items that are not
 * DDP-eligible". draft-ietf-nfsv4-rfc5667bis-01, 4: "An NFS client MUST NOT send a Read chunk that
 * corresponds with any other XDR data item". */
static enum rr_walk_answer
items_find(const struct rr_known *known, enum rr_items_use use, const struct rpcrdma_message *message,
	struct rr_ulb_items *found)
{
	struct rpcrdma_xdr_reader reader;

	if (!known->program || !items_skip_header(use, message, &reader))
		return RR_WALK_UNKNOWN;
	if (use == RR_ITEMS_CALL)
		return rr_ulb_walk_call(known->program, known->proc, &reader, found);
	return rr_ulb_walk_reply(known->program, known->proc, &reader, found);
}

/* ---- Choosing ---- */

/* The items that are to be out of the stream, in their order: items that were found, and an item of no octets
 * for each Write chunk whose result has no item. */
struct items_chosen {
	uint32_t count;
	const struct rr_walk_item *items[RR_MESSAGE_ITEMS]; /* NULL: an item of no octets */
};

/* Returns how many of the data items that were found are outside the stream already. */
static uint32_t
items_count_reduced(const struct rr_ulb_items *found)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < found->count; i++)
		count += found->items[i].reduced;
	return count;
}

/* Chooses the data items of a call that are to be out of the stream: all that are out of it already, and as
 * many of the others, from the first one on, as RR_CALL_ITEMS leaves room for. */
static void
items_choose_for_call(const struct rr_ulb_items *found, struct items_chosen *chosen)
{
	uint32_t reduced = items_count_reduced(found);
	uint32_t max = reduced > RR_CALL_ITEMS ? reduced : RR_CALL_ITEMS;

	for (uint32_t i = 0; i < found->count && chosen->count < max; i++) {
		const struct rr_walk_item *item = &found->items[i];

		/* From here on, reduced counts only the items behind this one that are out of the stream
		 * already: places must be left for them. */
		reduced -= item->reduced;
		if (item->reduced || chosen->count + reduced < max)
			chosen->items[chosen->count++] = item;
	}
}

/* Adds the data item to the chosen ones, for the Write chunk with the number `place`. Each chunk before it
 * that has no item yet gets NULL, which stands for an item without octets. */
static void
items_choose_at(struct items_chosen *chosen, uint32_t place, const struct rr_walk_item *item)
{
	while (chosen->count < place)
		chosen->items[chosen->count++] = NULL;
	chosen->items[chosen->count++] = item;
}

/* Chooses a data item for each Write chunk, in the order of the results: chunk i gets the first item of
 * result i. If result i has no eligible item but a later result has one, chunk i gets an item without octets.
 * Items of results beyond the Write chunks stay in the stream if they are in it; those that are out of it
 * follow behind the items of the chunks. RFC 8267, 6.4.1: "The first chunk in the Write list MUST be used by
 * the first READ operation in an NFS version 4 COMPOUND procedure. The next Write chunk is used by the next
 * READ operation, and so on." And: a server "MUST return an empty Write chunk in that Write list position"
 * (RFC 8166, 4.3.2.2: with the segments that it had). */
static void
items_choose_by_result(const struct rr_ulb_items *found, uint32_t write_chunks, struct items_chosen *chosen)
{
	for (uint32_t i = 0; i < found->count && chosen->count < RR_MESSAGE_ITEMS; i++) {
		const struct rr_walk_item *item = &found->items[i];

		if (item->result < write_chunks && item->result < RR_MESSAGE_ITEMS) {
			/* Only the first item of a result goes into the chunk; its other items stay in the
			 * stream. */
			if (item->result >= chosen->count)
				items_choose_at(chosen, item->result, item);
		} else if (item->reduced) {
			items_choose_at(chosen, (uint32_t)rr_min(write_chunks, RR_MESSAGE_ITEMS - 1), item);
		}
	}
}

/* Chooses, for a reply over TCP, only the data items that are out of the stream already. Further items stay
 * in the stream, as TCP has no chunks. At most RR_MESSAGE_ITEMS items are chosen; rr_items_take() notices if
 * that is too few. */
static void
items_choose_reduced(const struct rr_ulb_items *found, struct items_chosen *chosen)
{
	for (uint32_t i = 0; i < found->count && chosen->count < RR_MESSAGE_ITEMS; i++)
		if (found->items[i].reduced)
			chosen->items[chosen->count++] = &found->items[i];
}

/* Chooses the data items that are to be out of the stream: the rule depends on whether the message is a
 * call, a reply over RDMA or a reply over TCP. */
static void
items_choose(const struct rr_known *known, enum rr_items_use use, const struct rr_ulb_items *found,
	struct items_chosen *chosen)
{
	chosen->count = 0;
	switch (use) {
	case RR_ITEMS_CALL: items_choose_for_call(found, chosen); break;
	case RR_ITEMS_REPLY_RDMA: items_choose_by_result(found, known->write_chunks, chosen); break;
	case RR_ITEMS_REPLY_TCP: items_choose_reduced(found, chosen); break;
	}
}

/* ---- Taking out ---- */

/* Returns how many octets a data item takes in the stream, with padding. Returns 0 for an item that is out of
 * the stream, and for NULL. */
static uint32_t
items_in_stream(const struct rr_walk_item *item)
{
	return item && !item->reduced ? item->length + rr_pad(item->length) : 0;
}

/* The state of taking items out of a stream. */
struct items_reduction {
	const uint8_t *from; /* the old stream */
	uint8_t *to; /* memory of the new stream; NULL: it is the front of the old one, without a copy */
	uint32_t done, length; /* octets of the old stream that were handled, and octets of the new stream */
};

/* Moves on in the old stream to the position `until`. The octets on the way become a part of the new stream,
 * and are copied if the new stream has memory of its own. */
static void
items_pass(struct items_reduction *reduction, uint32_t until)
{
	uint32_t octets = until - reduction->done;

	if (reduction->to)
		memcpy(reduction->to + reduction->length, reduction->from + reduction->done, octets);
	reduction->done += octets;
	reduction->length += octets;
}

/* Sets *out to the message `in` with a stream that lacks the chosen data items, and fills in `items` with the
 * place and the data of each chosen item. Copies the rest of the stream to `to`. If `to` is NULL, copies
 * nothing: the new stream is then the front of the old stream. */
static void
items_reduce(const struct rpcrdma_message *in, const struct items_chosen *chosen, uint8_t *to,
	struct rpcrdma_item items[RR_MESSAGE_ITEMS], struct rpcrdma_message *out)
{
	struct items_reduction reduction = { .from = in->stream, .to = to };

	for (uint32_t i = 0; i < chosen->count; i++) {
		const struct rr_walk_item *item = chosen->items[i];

		if (item)
			items_pass(&reduction, item->offset);
		items[i] = (struct rpcrdma_item){ .offset = reduction.length };
		if (!item)
			continue;
		items[i].data = item->data;
		items[i].length = item->length;
		reduction.done += items_in_stream(item);
	}
	items_pass(&reduction, in->length);
	*out = (struct rpcrdma_message){ to ? to : in->stream, reduction.length, chosen->count, items };
}

/* Tells whether the new stream, the one without the chosen data items, is just the front of the old stream,
 * so that no copy is needed. taken is the number of octets that the chosen items have in the old stream. */
static bool
items_is_front(const struct rpcrdma_message *in, const struct items_chosen *chosen, uint32_t taken)
{
	const struct rr_walk_item *last = chosen->count > 0 ? chosen->items[chosen->count - 1] : NULL;

	return taken == 0 || (last && items_in_stream(last) == taken && last->offset + taken == in->length);
}

enum rr_walk_answer
rr_items_take(const struct rr_known *known, enum rr_items_use use, const struct rpcrdma_message *in,
	const struct rr_items_room *room, struct rpcrdma_message *out)
{
	struct rr_walk_item memory[FOUND_MAX];
	struct rr_ulb_items found = { .items = memory, .max = FOUND_MAX };
	struct items_chosen chosen;
	enum rr_walk_answer answer = items_find(known, use, in, &found);
	uint32_t reduced = 0, taken = 0;

	if (answer == RR_WALK_MISPLACED)
		return answer;
	*out = *in;
	if (answer == RR_WALK_UNKNOWN)
		return answer;
	/* The walk counts all items, and records only the first FOUND_MAX of them. */
	found.count = (uint32_t)rr_min(found.count, FOUND_MAX);
	if (use != RR_ITEMS_CALL &&
		!rr_results_are_paired(found.items, found.count, known->sinks, known->chunk_count))
		return RR_WALK_MISPLACED;
	items_choose(known, use, &found, &chosen);
	for (uint32_t i = 0; i < chosen.count; i++) {
		reduced += chosen.items[i] && chosen.items[i]->reduced;
		taken += items_in_stream(chosen.items[i]);
	}
	/* An item that is out of the stream already, and was not chosen, would be lost. */
	if (reduced < in->item_count)
		return RR_WALK_UNKNOWN;
	if (!items_is_front(in, &chosen, taken) && in->length - taken > room->size)
		return RR_WALK_UNKNOWN;
	items_reduce(
		in, &chosen, items_is_front(in, &chosen, taken) ? NULL : room->scratch, room->items, out);
	return RR_WALKED;
}

/* ---- What a reply can need ---- */

/* Sets *size to the estimate of the reply's size that the program's description and the arguments of the call
 * give. If there is no description, the size is unbounded. */
static void
items_estimate(const struct rr_known *known, const struct rpcrdma_message *call, struct rr_reply_size *size)
{
	struct rpcrdma_xdr_reader reader;

	*size = (struct rr_reply_size){ .max = RPCRDMA_XDR_UNBOUNDED };
	if (known->program && items_skip_header(RR_ITEMS_CALL, call, &reader))
		rr_ulb_reply_size(known->program, known->proc, &reader, size);
}

/* Returns how many octets a result takes, with padding, in the stream or in a sink (memory for one
 * result). `most` is the largest size of the result; share is the size that the result may have at
 * most. A result of unknown size is the path of a symbolic link, and counts as LINK octets, as such a
 * path is never that long. */
static uint64_t
items_room_of(uint32_t most, uint32_t share)
{
	enum { LINK = 65536 };
	uint64_t length = rr_min(most == RPCRDMA_XDR_UNBOUNDED ? LINK : most, share);

	return length + rr_pad((uint32_t)length);
}

/* Returns how many octets the first count results take together, if each may have at most share octets. */
static uint64_t
items_room_of_all(const struct rr_reply_size *size, uint32_t count, uint32_t share)
{
	uint64_t room = 0;

	for (uint32_t i = 0; i < count; i++)
		room += items_room_of(size->results[i], share);
	return room;
}

/* Returns the largest number of octets, a multiple of 4, that each of the first count results may have, so
 * that all of them fit into room; searches for it by bisection. Small results take what they need, and large
 * results share the rest equally: each result has room, as a result without room could not be returned at
 * all, not even shortened. */
static uint32_t
items_share_of(const struct rr_reply_size *size, uint32_t count, uint32_t room)
{
	uint32_t share, low = 0, high = UINT32_MAX & ~UINT32_C(3);

	if (items_room_of_all(size, count, high) <= room)
		return high;
	while (high - low > 4) {
		share = (low + (high - low) / 2) & ~UINT32_C(3);
		if (items_room_of_all(size, count, share) <= room)
			low = share;
		else
			high = share;
	}
	return low;
}

/* Adds to the transaction a sink (memory for one result) for each result whose size the call bounds. As sinks
 * pair with results in order, no sink is added from the first unbounded result on, or once there are
 * RPCRDMA_SINKS_MAX sinks: these results go to the stream, and their octets are added to *stream. (An
 * unbounded result is the path of a symbolic link. Some servers place such paths wrongly.) The octets of all
 * results are subtracted from *left. Returns false if the stream may need more octets than is known. */
static bool
items_add_sinks(const struct rr_reply_size *size, uint32_t *left, uint32_t *stream, struct rr_known *known,
	struct rr_transaction *transaction)
{
	uint32_t count = (uint32_t)rr_min(size->result_count, RR_ESTIMATE_RESULTS);
	uint32_t share = items_share_of(size, count, *left);
	bool bounded = count == size->result_count;

	for (uint32_t i = 0; i < count; i++) {
		uint32_t length = (uint32_t)rr_min(size->results[i], share);
		uint32_t room = (uint32_t)items_room_of(size->results[i], share);

		bounded &= size->results[i] != RPCRDMA_XDR_UNBOUNDED;
		*left -= room;
		if (!bounded || i >= RPCRDMA_SINKS_MAX) {
			*stream += room;
			continue;
		}
		transaction->sinks[i].length = known->sinks[i] = length;
		transaction->sink_count++;
	}
	return bounded;
}

/* Returns how many octets the stream of a reply can have at most, without the results that sinks take, but no
 * more than max. Returns 0 if that is not known. */
static uint32_t
items_stream_of(const struct rr_known *known, const struct rr_reply_size *size, uint32_t max)
{
	/* RFC 8267, 4.1 and 6.2, have the requester rely on the counts in READDIR. Without this slack, the
	 * answer of a server that exceeds them would become ERR_CHUNK. */
	enum { SLACK = 65536 };
	uint64_t stream = (uint64_t)size->max + known->reply_header + (size->often_large ? SLACK : 0);

	return size->max == RPCRDMA_XDR_UNBOUNDED ? 0 : (uint32_t)rr_min(stream, max);
}

void
rr_items_expect(struct rr_known *known, const struct rr_exchange *exchange, uint32_t max,
	struct rr_transaction *transaction)
{
	struct rr_reply_size size;
	uint32_t stream, left;
	uint64_t least;
	bool bounded;

	items_estimate(known, &exchange->call, &size);
	least = rr_expect_least(
		&(struct rr_expected){ .min = size.min, .max = size.max, .often_large = size.often_large });
	stream = items_stream_of(known, &size, max);
	/* Results share what the stream leaves of max. If the reply is not bounded, the stream may also need
	 * all that the results leave. */
	left = max - stream;
	bounded = items_add_sinks(&size, &left, &stream, known, transaction) &&
		  size.max != RPCRDMA_XDR_UNBOUNDED;
	transaction->reply_min = (uint32_t)rr_min(least + RR_RPC_REPLY_FIXED + RR_AUTH_FIXED, max);
	transaction->reply_max = (uint32_t)rr_min(bounded ? stream : stream + left, exchange->stream_room);
}
