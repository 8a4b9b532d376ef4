/* SPDX-License-Identifier: BSD-3-Clause */
/* Target functions: rr_rpc_get_call, rr_rpc_get_reply, rr_auth_sys_get, and their writers. */
#include "../tests/padding.h"
#include "fuzz.h"
#include "wire/rpc.h"

enum { OUT = RR_RPC_CALL_HEADER_MAX };

static void
try_call(const struct rpcrdma_message *message)
{
	struct rpcrdma_xdr_reader reader;
	struct rpcrdma_xdr_writer writer;
	struct rr_call_header call;
	struct rr_auth_sys sys;
	uint8_t out[OUT];

	rpcrdma_xdr_reader_init(&reader, message, NULL);
	if (!rr_rpc_get_call(&reader, &call))
		return;
	rr_require(call.cred.body.length <= RR_AUTH_BODY_MAX && call.verf.body.length <= RR_AUTH_BODY_MAX);
	rpcrdma_xdr_writer_init(&writer, out, sizeof(out), NULL, 0);
	rr_rpc_put_call(&writer, &call);
	rr_require(
		!writer.failed && rr_same_but_for_padding(out, message->stream, rpcrdma_xdr_length(&writer)));
	if (call.cred.flavor != RR_AUTH_SYS || !rr_auth_sys_get(call.cred.body, &sys))
		return;
	rr_require(sys.gid_count <= RR_AUTH_SYS_GIDS && sys.machine.length <= RR_AUTH_SYS_NAME);
}

static void
try_reply(const struct rpcrdma_message *message)
{
	struct rpcrdma_xdr_reader reader;
	struct rpcrdma_xdr_writer writer;
	struct rr_reply_header reply;
	uint8_t out[OUT];

	rpcrdma_xdr_reader_init(&reader, message, NULL);
	if (!rr_rpc_get_reply(&reader, &reply))
		return;
	rpcrdma_xdr_writer_init(&writer, out, sizeof(out), NULL, 0);
	rr_rpc_put_reply(&writer, &reply);
	rr_require(
		!writer.failed && rr_same_but_for_padding(out, message->stream, rpcrdma_xdr_length(&writer)));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct rpcrdma_message message = { .stream = data, .length = (uint32_t)size };

	try_call(&message);
	try_reply(&message);
	return 0;
}
