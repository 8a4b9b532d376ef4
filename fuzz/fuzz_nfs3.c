/* SPDX-License-Identifier: BSD-3-Clause */
/* Target functions: all generated decoders of NFS version 3, MOUNT and RQUOTA. The first octet chooses
 * procedure and direction. What decodes encodes again to the same octets. */
#include <rpcrdma/xdr.h>

#include "../tests/padding.h"
#include "fuzz.h"
#include "ulb/mount3.h"
#include "ulb/nfs3.h"
#include "ulb/rquota.h"

enum { ARENA = 1 << 16, VALUE = 1 << 12 };

static _Alignas(16) uint8_t arena_memory[ARENA];
static _Alignas(16) uint8_t value[VALUE];
static uint8_t out[ARENA];

static void
try(const uint8_t *data, size_t size, size_t value_size, void (*get)(struct rpcrdma_xdr_reader *, void *),
	void (*put)(struct rpcrdma_xdr_writer *, const void *))
{
	struct rpcrdma_arena arena = rpcrdma_arena(arena_memory, sizeof(arena_memory));
	struct rpcrdma_message message = { .stream = data, .length = (uint32_t)size };
	struct rpcrdma_xdr_reader reader;
	struct rpcrdma_xdr_writer writer;

	if (!get || size > sizeof(out))
		return;
	rr_require(value_size <= sizeof(value));
	memset(value, 0, value_size);
	rpcrdma_xdr_reader_init(&reader, &message, &arena);
	get(&reader, value);
	if (!rpcrdma_xdr_done(&reader))
		return;
	rpcrdma_xdr_writer_init(&writer, out, sizeof(out), NULL, 0);
	put(&writer, value);
	rr_require(!writer.failed && rpcrdma_xdr_length(&writer) == size &&
		   rr_same_but_for_padding(out, data, size));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct rpcrdma_program *program;
	const struct rpcrdma_procedure *procedure;

	if (size == 0)
		return 0;
	program = data[0] & 0x80 ? &MOUNT_V3_program : &NFS_V3_program;
	if ((data[0] & 0xa0) == 0xa0)
		program = &EXT_RQUOTAVERS_program;
	else if (data[0] & 0x20)
		program = &RQUOTAVERS_program;
	procedure = &program->procedures[(data[0] & 0x1f) % program->procedure_count];
	if (data[0] & 0x40)
		try(data + 1, size - 1, procedure->result_size, procedure->get_result, procedure->put_result);
	else
		try(data + 1, size - 1, procedure->args_size, procedure->get_args, procedure->put_args);
	return 0;
}
