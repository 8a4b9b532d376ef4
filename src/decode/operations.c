/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads the operations of COMPOUNDs: walks over those of COMPOUND, as their data may travel in chunks, and
 * decodes those of CB_COMPOUND, of which nothing travels in chunks, to see how long each is.
 */
#include "decode/operations.h"

#include "base/checked.h"
#include "base/endian.h"
#include "decode/names.h"
#include "ulb/binding.h"
#include "ulb/compound.h"
#include "ulb/nfs42.h"

/* OPERATIONS_CHUNKS: the most chunks of a message whose data the walk expects. OPERATIONS_ARENA: octets of
 * memory for the arrays of an operation of CB_COMPOUND. */
enum { OPERATIONS_CHUNKS = 64, OPERATIONS_ARENA = 4096 };

/* ---- Items ---- */

/* Lists the Read chunks of a call as items that are not in the stream, each at its place in the reduced
 * stream: RFC 8166, 3.4.5: "The Position value MUST be computed from the beginning of the unreduced Payload
 * stream". */
static uint32_t
operations_read_chunks(const struct rr_chunk_lists *lists, struct rpcrdma_item items[OPERATIONS_CHUNKS])
{
	uint32_t count = 0;
	uint64_t taken = 0, length = 0;

	for (uint32_t i = 0; i < lists->read_count && count < OPERATIONS_CHUNKS; i++) {
		const struct rr_read_segment *read = &lists->reads[i];

		length += read->target.length;
		if (i + 1 < lists->read_count && read[1].position == read->position)
			continue;
		if (read->position > taken && length <= UINT32_MAX) {
			items[count++] = (struct rpcrdma_item){ .length = (uint32_t)length,
				.offset = (uint32_t)(read->position - taken) };
			taken += length + rr_pad((uint32_t)length);
		}
		length = 0;
	}
	return count;
}

/* Lists the Write chunks of a reply as items that are not in the stream. */
static uint32_t
operations_write_chunks(const struct rr_chunk_lists *lists, struct rpcrdma_item items[OPERATIONS_CHUNKS])
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < lists->write_count && count < OPERATIONS_CHUNKS; i++) {
		uint64_t length = rr_chunk_length(&lists->writes[i]);

		if (length <= UINT32_MAX)
			items[count++] = (struct rpcrdma_item){ .length = (uint32_t)length,
				.offset = RPCRDMA_ITEM_NEXT };
	}
	return count;
}

/* ---- Operations ---- */

/* Adds the operation that is next in the stream to the list, with the status behind its number if it is one
 * of a reply. Returns false if there is no room in the list, or if not even the number was captured. */
static bool
operations_add(struct rr_operations *operations, const struct rpcrdma_xdr_reader *reader, bool is_reply)
{
	struct rr_operation *operation = &operations->list[operations->count];
	size_t left = rpcrdma_xdr_left(reader);

	if (operations->count == RR_OPERATIONS_MAX || left < 4)
		return false;
	*operation = (struct rr_operation){ .number = rr_get_be32(reader->next) };
	operation->has_status = is_reply && left >= 8;
	if (operation->has_status)
		operation->status = rr_get_be32(reader->next + 4);
	operations->count++;
	return true;
}

/* Reads the operations of a COMPOUND whose arguments or results are next in the stream. */
static bool
operations_walk(struct rr_operations *operations, const struct rpcrdma_xdr_reader *reader, bool is_reply)
{
	struct rr_walk walk;
	uint32_t count, i;

	rr_walk_begin(&walk, reader, NULL, 0);
	count = is_reply ? rr_compound_begin_reply(&walk) : rr_compound_begin_call(&walk);
	if (walk.answer != RR_WALKED)
		return false;
	for (i = 0; i < count && walk.answer == RR_WALKED; i++) {
		if (!operations_add(operations, &walk.reader, is_reply))
			break;
		if (is_reply)
			rr_compound_next_reply(&walk);
		else
			rr_compound_next_call(&walk);
	}
	operations->is_whole = i == count;
	return true;
}

/* Decodes the operation of a CB_COMPOUND that is next in the stream, in order to find its end. */
static void
operations_pass_callback(struct rpcrdma_xdr_reader *reader, bool is_reply)
{
	uint64_t memory[OPERATIONS_ARENA / sizeof(uint64_t)];
	struct rpcrdma_arena arena = rpcrdma_arena(memory, sizeof(memory));
	nfs_cb_argop4 call;
	nfs_cb_resop4 result;

	reader->arena = &arena;
	if (is_reply)
		nfs42_get_nfs_cb_resop4(reader, &result);
	else
		nfs42_get_nfs_cb_argop4(reader, &call);
	reader->arena = NULL;
}

/* Reads the operations of a CB_COMPOUND whose arguments or results are next in the stream. RFC 8881, 20.2:
 * the arguments begin with the tag, the minor version and callback_ident, the results with the status and the
 * tag. */
static bool
operations_read_callback(struct rr_operations *operations, struct rpcrdma_xdr_reader *reader, bool is_reply)
{
	uint32_t count, i;

	if (is_reply)
		rpcrdma_get_u32(reader);
	rpcrdma_get_bytes(reader, RPCRDMA_XDR_UNBOUNDED);
	if (!is_reply) {
		rpcrdma_get_u32(reader);
		rpcrdma_get_u32(reader);
	}
	count = rpcrdma_get_u32(reader);
	if (reader->failed)
		return false;
	for (i = 0; i < count && !reader->failed; i++) {
		if (!operations_add(operations, reader, is_reply))
			break;
		operations_pass_callback(reader, is_reply);
	}
	operations->is_whole = i == count;
	return true;
}

/* Moves the reader over the RPC header. Returns false if the message has neither arguments nor results, or if
 * they may be wrapped: RFC 2203, 5.3.2.2 and 5.3.2.3. */
static bool
operations_skip_header(const struct rr_message *message, struct rpcrdma_xdr_reader *reader)
{
	struct rr_call_header call;
	struct rr_reply_header reply;

	if (message->has_call)
		return rr_rpc_get_call(reader, &call) && call.cred.flavor != RR_RPCSEC_GSS;
	return rr_rpc_get_reply(reader, &reply) && reply.reply_stat == RR_MSG_ACCEPTED &&
	       reply.accept_stat == RR_SUCCESS && reply.verf.flavor != RR_RPCSEC_GSS;
}

bool
rr_operations_read(const struct rr_message *message, struct rr_operations *operations)
{
	const struct rpcrdma_program *program = rr_decode_program(message->prog, message->vers);
	struct rpcrdma_item items[OPERATIONS_CHUNKS];
	struct rpcrdma_message stream = { message->rpc.data, message->rpc.length, 0, items };
	struct rpcrdma_xdr_reader reader;
	bool is_callback;

	if ((!message->has_call && !message->has_reply) || !message->has_procedure || !program)
		return false;
	is_callback = program == rr_ulb_callback() && message->proc == CB_COMPOUND;
	if (!is_callback && !rr_compound_is(program, message->proc))
		return false;
	stream.item_count = message->has_call ? operations_read_chunks(&message->lists, items)
					      : operations_write_chunks(&message->lists, items);
	rpcrdma_xdr_reader_init(&reader, &stream, NULL);
	if (!operations_skip_header(message, &reader))
		return false;
	operations->is_callback = is_callback;
	operations->count = 0;
	return is_callback ? operations_read_callback(operations, &reader, message->has_reply)
			   : operations_walk(operations, &reader, message->has_reply);
}

const char *
rr_operation_name(const struct rr_operations *operations, uint32_t index)
{
	uint32_t number = operations->list[index].number;

	return operations->is_callback ? rr_compound_callback_name(number) : rr_compound_name(number);
}

const char *
rr_operation_status_name(const struct rr_operations *operations, uint32_t index)
{
	return rr_compound_status_name(operations->list[index].status);
}
