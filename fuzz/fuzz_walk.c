/* SPDX-License-Identifier: BSD-3-Clause */
/* Target functions: the walker and the reply-size estimates of all bindings. The first octet chooses program
 * and direction, the second the procedure, the third where an item was taken out of the rest. What the walker
 * finds in a message that decodes is what the decoder finds. */
#include "fuzz.h"
#include "ulb/binding.h"
#include "ulb/estimate.h"

enum { ARENA = 1 << 20, VALUE = 1 << 12, ITEMS = 64 };

static const struct {
	uint32_t prog, vers;
} programs[] = { { 100003, 2 }, { 100003, 3 }, { 100003, 4 }, { 100227, 3 }, { 100021, 4 }, { 100024, 1 },
	{ 100005, 3 } };

static _Alignas(16) uint8_t arena_memory[ARENA];
static _Alignas(16) uint8_t value[VALUE];
static uint8_t out[ARENA];
static struct rpcrdma_item taken[ITEMS];
static struct rr_walk_item items[ITEMS];

static void
same_as_decoded(const struct rr_ulb_items *found, const struct rpcrdma_xdr_writer *writer)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < found->count && i < ITEMS; i++) {
		if (items[i].length == 0)
			continue;
		rr_require(n == writer->item_count ? n == ITEMS : items[i].data == taken[n].data);
		rr_require(n == writer->item_count || items[i].length == taken[n].length);
		n++;
	}
}

static void
decode(const struct rpcrdma_procedure *procedure, bool reply, const struct rpcrdma_message *message,
	const struct rr_ulb_items *found)
{
	struct rpcrdma_arena arena = rpcrdma_arena(arena_memory, sizeof(arena_memory));
	struct rpcrdma_xdr_reader reader;
	struct rpcrdma_xdr_writer writer;

	if (!(reply ? procedure->get_result : procedure->get_args))
		return;
	rr_require((reply ? procedure->result_size : procedure->args_size) <= sizeof(value));
	memset(value, 0, sizeof(value));
	rpcrdma_xdr_reader_init(&reader, message, &arena);
	(reply ? procedure->get_result : procedure->get_args)(&reader, value);
	if (!rpcrdma_xdr_done(&reader))
		return;
	rpcrdma_xdr_writer_init(&writer, out, sizeof(out), taken, ITEMS);
	(reply ? procedure->put_result : procedure->put_args)(&writer, value);
	if (!writer.failed)
		same_as_decoded(found, &writer);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct rpcrdma_program *program;
	struct rr_ulb_items found = { .items = items, .max = ITEMS };
	struct rpcrdma_item item = { .data = data };
	struct rpcrdma_message message;
	struct rpcrdma_xdr_reader reader;
	struct rr_reply_size reply_size;
	enum rr_walk_answer answer;
	uint32_t choice, proc;
	bool reply;

	if (size < 3)
		return 0;
	choice = data[0] & 0x7f;
	reply = data[0] & 0x80;
	program = choice < sizeof(programs) / sizeof(*programs)
			  ? rr_ulb_find(programs[choice].prog, programs[choice].vers)
			  : rr_ulb_callback();
	proc = data[1];
	message = (struct rpcrdma_message){ .stream = data + 3, .length = (uint32_t)size - 3 };
	if (data[2] > 0) {
		item.length = 64;
		item.offset = data[2] == 255 ? RPCRDMA_ITEM_NEXT : 4u * data[2];
		message.items = &item;
		message.item_count = 1;
	}
	rpcrdma_xdr_reader_init(&reader, &message, NULL);
	answer = reply ? rr_ulb_walk_reply(program, proc, &reader, &found)
		       : rr_ulb_walk_call(program, proc, &reader, &found);
	rr_ulb_reply_size(program, proc, &reader, &reply_size);
	rr_require(reply_size.min <= reply_size.max);
	if (answer == RR_WALKED && proc < program->procedure_count)
		decode(&program->procedures[proc], reply, &message, &found);
	return 0;
}
