/* SPDX-License-Identifier: BSD-3-Clause */
#include "made.h"

#include "wire/rpcrdma2.h"

static struct made made;
static struct found found;

enum { XID = 77, HANDLE = 0x1234, SINK = 0x99, OFFSET = 4096 };

/* ---- Messages with a Read list or a Reply chunk ---- */

static void
send_nomsg(uint8_t from, uint32_t vers, uint32_t read_length, uint32_t reply_length)
{
	const struct rr_rdma_header header = { .xid = XID, .vers = vers, .credit = 1, .proc = RR_RDMA_NOMSG };
	struct rr_read_segment read = { 0, { HANDLE, read_length, OFFSET } };
	struct rr_segment reply = { HANDLE + 1, reply_length, OFFSET };
	struct rr_chunk_lists lists = { .reads = &read,
		.read_count = read_length ? 1 : 0,
		.reply = { &reply, 1 },
		.has_reply = reply_length > 0 };
	struct rpcrdma_xdr_writer writer;
	uint8_t out[256];

	rpcrdma_xdr_writer_init(&writer, out, sizeof(out), NULL, 0);
	rr_rdma_put_any_header(&writer, &header, &lists);
	assert_false(writer.failed);
	made_send(&made, from, out, (uint32_t)rpcrdma_xdr_length(&writer));
}

static uint32_t
put_rpc_call(uint8_t *out, size_t size)
{
	const struct rr_call_header call = { .xid = XID, .prog = 100003, .vers = 3, .proc = 7 };
	struct rpcrdma_xdr_writer writer;

	rpcrdma_xdr_writer_init(&writer, out, size, NULL, 0);
	rr_rpc_put_call(&writer, &call);
	return (uint32_t)rpcrdma_xdr_length(&writer);
}

static uint32_t
put_rpc_reply(uint8_t *out, size_t size)
{
	const struct rr_reply_header reply = { .xid = XID };
	struct rpcrdma_xdr_writer writer;

	rpcrdma_xdr_writer_init(&writer, out, size, NULL, 0);
	rr_rpc_put_reply(&writer, &reply);
	return (uint32_t)rpcrdma_xdr_length(&writer);
}

/* ---- RDMA operations ---- */

static void
read_request(uint8_t from, uint32_t size)
{
	const struct rr_ddp_header header = {
		.last = true, .opcode = RR_RDMAP_READ_REQUEST, .queue = RR_DDP_QUEUE_READ_REQUEST, .msn = 1
	};
	const struct rr_read_request request = { SINK, 0, size, HANDLE, OFFSET };
	uint8_t out[RR_READ_REQUEST_SIZE];

	rr_read_request_put(out, &request);
	made_fpdu(&made, from, &header, (struct rpcrdma_bytes){ out, sizeof(out) }, false);
}

/* Adds a tagged message, in two segments. */
static void
tagged(uint8_t from, uint8_t opcode, uint32_t stag, uint64_t to, struct rpcrdma_bytes data)
{
	const uint8_t *octets = data.data;
	struct rr_ddp_header header = { .tagged = true, .opcode = opcode, .stag = stag, .to = to };
	uint32_t half = data.length / 2;

	made_fpdu(&made, from, &header, (struct rpcrdma_bytes){ octets, half }, false);
	header.last = true;
	header.to += half;
	made_fpdu(&made, from, &header, (struct rpcrdma_bytes){ octets + half, data.length - half }, false);
}

static void
a_long_call_is_shown_with_its_procedure(void **state)
{
	uint8_t rpc[256];
	uint32_t size = put_rpc_call(rpc, sizeof(rpc));

	(void)state;
	made_begin(&made);
	made_open(&made, false, false);
	send_nomsg(0, 1, size, 0);
	read_request(1, size);
	tagged(0, RR_RDMAP_READ_RESPONSE, SINK, 0, (struct rpcrdma_bytes){ rpc, size });
	made_call(&made, 0, XID + 1);
	made_reply(&made, 1, XID);
	made_decode(&made, NULL, &found);
	assert_int_equal(found.count, 3);
	assert_int_equal(found.messages[0].xid, XID);
	assert_int_equal(found.messages[0].kind, RR_MESSAGE_CALL);
	assert_true(found.messages[0].has_procedure);
	assert_int_equal(found.messages[0].proc, 7);
	assert_int_equal(found.messages[2].proc, 7);
	assert_int_equal(found.messages[2].moved[RR_REGION_CALL], size);
	assert_int_equal(found.operations, 3);
}

/* The call is held back, but not for ever. */
static void
a_long_call_that_is_not_read_is_shown_in_the_end(void **state)
{
	(void)state;
	made_begin(&made);
	made_open(&made, false, false);
	send_nomsg(0, 1, 100, 0);
	made_call(&made, 0, XID + 1);
	made_decode(&made, NULL, &found);
	assert_int_equal(found.count, 2);
	assert_int_equal(found.messages[1].xid, XID);
	assert_int_equal(found.messages[1].kind, RR_MESSAGE_CALL);
	assert_false(found.messages[1].has_procedure);
}

static void
octets_in_a_reply_chunk_belong_to_its_call(void **state)
{
	uint8_t rpc[256], call[256];
	uint32_t size = put_rpc_reply(rpc, sizeof(rpc)), call_size = put_rpc_call(call, sizeof(call));

	(void)state;
	made_begin(&made);
	made_open(&made, false, false);
	send_nomsg(0, 1, call_size, 1000);
	read_request(1, call_size);
	tagged(0, RR_RDMAP_READ_RESPONSE, SINK, 0, (struct rpcrdma_bytes){ call, call_size });
	tagged(1, RR_RDMAP_WRITE, HANDLE + 1, OFFSET, (struct rpcrdma_bytes){ rpc, size });
	tagged(1, RR_RDMAP_WRITE, HANDLE + 1, OFFSET + 1000, (struct rpcrdma_bytes){ rpc, size });
	send_nomsg(1, 1, 0, size);
	made_decode(&made, NULL, &found);
	assert_int_equal(found.count, 2);
	assert_int_equal(found.messages[1].kind, RR_MESSAGE_REPLY);
	assert_true(found.messages[1].is_paired);
	assert_int_equal(found.messages[1].moved[RR_REGION_REPLY], size);
}

/* draft-cel-nfsv4-rpcrdma-reliable-reply-02, 4.1: in version 2 a reply may have a Read chunk, which the
 * responder provides, and RDMA_DONE says that it was pulled. */
static void
a_provided_reply_and_its_done_are_paired(void **state)
{
	const struct rr_rdma_header done = { .xid = XID, .vers = 2, .credit = 1, .proc = RR_RDMA_DONE };
	struct rpcrdma_xdr_writer writer;
	uint8_t rpc[256], out[64];
	uint32_t size = put_rpc_reply(rpc, sizeof(rpc));

	(void)state;
	made_begin(&made);
	made_open(&made, false, false);
	made_call(&made, 0, XID);
	send_nomsg(1, 2, size, 0);
	read_request(0, size);
	tagged(1, RR_RDMAP_READ_RESPONSE, SINK, 0, (struct rpcrdma_bytes){ rpc, size });
	rpcrdma_xdr_writer_init(&writer, out, sizeof(out), NULL, 0);
	rr_rdma_put_any_header(&writer, &done, NULL);
	made_send(&made, 0, out, (uint32_t)rpcrdma_xdr_length(&writer));
	made_decode(&made, NULL, &found);
	assert_int_equal(found.count, 3);
	assert_int_equal(found.messages[1].kind, RR_MESSAGE_REPLY);
	assert_int_equal(found.messages[1].moved[RR_REGION_PROVIDED], size);
	assert_int_equal(found.messages[2].kind, RR_MESSAGE_DONE);
	assert_true(found.messages[2].is_paired);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_long_call_is_shown_with_its_procedure),
		cmocka_unit_test(a_long_call_that_is_not_read_is_shown_in_the_end),
		cmocka_unit_test(octets_in_a_reply_chunk_belong_to_its_call),
		cmocka_unit_test(a_provided_reply_and_its_done_are_paired),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
