/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "base/endian.h"
#include "decode/cm.h"
#include "decode/roce/roce.h"
#include "made.h"
#include "mutate.h"

static struct made made;
static struct found found;

enum {
	SEND_FIRST = 0,
	SEND_LAST = 2,
	SEND_ONLY = 4,
	READ_REQUEST = 12,
	RESPONSE_FIRST = 13,
	RESPONSE_MIDDLE,
	RESPONSE_LAST,
	RESPONSE_ONLY,
	ACKNOWLEDGE,
	SEND_ONLY_INVALIDATE = 23,
	CLIENT_QP = MADE_CLIENT_QP,
	SERVER_QP = MADE_SERVER_QP,
	XID = 77,
	MTU = 256
};

static const uint8_t positive[4], remote_access_error[4] = { 0x62 };

static struct rpcrdma_bytes
rpc_call(uint8_t out[256], uint32_t xid)
{
	const struct rr_rdma_header header = { .xid = xid, .vers = 1, .credit = 1, .proc = RR_RDMA_MSG };
	const struct rr_call_header call = { .xid = xid, .prog = 100003, .vers = 3 };
	struct rpcrdma_xdr_writer writer;

	rpcrdma_xdr_writer_init(&writer, out, 256, NULL, 0);
	rr_rdma_put_any_header(&writer, &header, NULL);
	rr_rpc_put_call(&writer, &call);
	return (struct rpcrdma_bytes){ out, (uint32_t)rpcrdma_xdr_length(&writer) };
}

static void
send_call(uint32_t psn, uint32_t xid)
{
	uint8_t out[256];

	made_roce(&made, 0, SEND_ONLY, SERVER_QP, psn, rpc_call(out, xid));
}

static void
acknowledge(uint8_t from, uint32_t psn, const uint8_t syndrome[4])
{
	made_roce(&made, from, ACKNOWLEDGE, from ? CLIENT_QP : SERVER_QP, psn,
		(struct rpcrdma_bytes){ syndrome, 4 });
}

static void
a_send_in_two_packets_is_one_message(void **state)
{
	uint8_t out[256];
	struct rpcrdma_bytes call = rpc_call(out, XID);

	(void)state;
	made_begin(&made);
	made_roce(&made, 0, SEND_FIRST, SERVER_QP, 0xffffff, (struct rpcrdma_bytes){ out, 20 });
	made_roce(&made, 0, SEND_LAST, SERVER_QP, 0, (struct rpcrdma_bytes){ out + 20, call.length - 20 });
	made_decode(&made, NULL, &found);
	assert_int_equal(found.count, 1);
	assert_int_equal(found.messages[0].kind, RR_MESSAGE_CALL);
	assert_int_equal(found.messages[0].xid, XID);
}

static void
packets_that_are_early_wait_and_late_ones_are_ignored(void **state)
{
	static const uint32_t order[] = { 1, 3, 2, 2, 1, 5, 4, 3, 6 };

	(void)state;
	made_begin(&made);
	for (size_t i = 0; i < sizeof(order) / sizeof(*order); i++)
		send_call(order[i], order[i]);
	made_decode(&made, NULL, &found);
	assert_int_equal(found.count, 6);
	for (uint32_t i = 0; i < 6; i++)
		assert_int_equal(found.messages[i].xid, i + 1);
	assert_int_equal(found.notes, 0);
}

/* The peer acknowledges packets that came to it and were not captured. */
static void
packets_that_are_acknowledged_and_missing_are_given_up(void **state)
{
	(void)state;
	made_begin(&made);
	send_call(1, 1);
	for (uint32_t psn = 3; psn < 8; psn++) {
		send_call(psn, psn);
		acknowledge(1, psn, positive);
	}
	made.count--;
	made_decode(&made, NULL, &found);
	assert_int_equal(found.count, 6);
	assert_string_equal(found.note, "packets are missing in the capture");
	assert_int_equal(found.counters.lost_packets, 1);
}

static void
a_negative_acknowledgement_is_shown(void **state)
{
	(void)state;
	made_begin(&made);
	send_call(1, 1);
	acknowledge(1, 1, remote_access_error);
	made_decode(&made, NULL, &found);
	assert_string_equal(found.note, "NAK: remote access error");
	assert_int_equal(found.counters.connections, 1);
}

/* Two connections between the same hosts were opened before the capture began. Their answers show which queue
 * pairs belong together. */
static void
queue_pairs_are_paired_by_their_answers(void **state)
{
	(void)state;
	made_begin(&made);
	send_call(1000, 1);
	made_roce(&made, 0, SEND_ONLY, 0x201, 500000, rpc_call((uint8_t[256]){ 0 }, 2));
	made_roce(&made, 1, ACKNOWLEDGE, 0x200, 500000, (struct rpcrdma_bytes){ positive, 4 });
	acknowledge(1, 1000, positive);
	made_decode(&made, NULL, &found);
	assert_int_equal(found.counters.connections, 2);
	assert_int_equal(found.count, 2);
}

/* ---- RDMA Reads: an argument of three packets, in a Read chunk ---- */

enum { HANDLE = 0x1234, SIZE = 2 * MTU + 40 };

static void
send_long_call(uint32_t psn)
{
	const struct rr_rdma_header header = { .xid = XID, .vers = 1, .credit = 1, .proc = RR_RDMA_NOMSG };
	struct rr_read_segment read = { 0, { HANDLE, SIZE, 4096 } };
	struct rr_chunk_lists lists = { .reads = &read, .read_count = 1 };
	struct rpcrdma_xdr_writer writer;
	uint8_t out[256];

	rpcrdma_xdr_writer_init(&writer, out, sizeof(out), NULL, 0);
	rr_rdma_put_any_header(&writer, &header, &lists);
	made_roce(&made, 0, SEND_ONLY, SERVER_QP, psn,
		(struct rpcrdma_bytes){ out, (uint32_t)rpcrdma_xdr_length(&writer) });
}

static void
read_request(uint32_t psn)
{
	uint8_t header[16] = { 0 };

	rr_put_be64(header, 4096);
	rr_put_be32(header + 8, HANDLE);
	rr_put_be32(header + 12, SIZE);
	made_roce(&made, 1, READ_REQUEST, CLIENT_QP, psn, (struct rpcrdma_bytes){ header, sizeof(header) });
}

/* Adds the packet of this index of the response to the request with this PSN. */
static void
read_response(uint32_t psn, uint32_t index)
{
	const struct rr_call_header call = { .xid = XID, .prog = 100003, .vers = 3, .proc = 7 };
	uint8_t data[4 + SIZE] = { 0 }, packet[4 + MTU] = { 0 };
	uint32_t header = index == 1 ? 0 : 4, size = index == 2 ? 40 : MTU;
	struct rpcrdma_xdr_writer writer;

	rpcrdma_xdr_writer_init(&writer, data, SIZE, NULL, 0);
	rr_rpc_put_call(&writer, &call);
	memcpy(packet + header, data + (size_t)index * MTU, size);
	made_roce(&made, 0, (uint8_t)(RESPONSE_FIRST + index), SERVER_QP, psn + index,
		(struct rpcrdma_bytes){ packet, header + size });
}

static void
read_responses_may_come_in_any_order_and_again(void **state)
{
	static const uint32_t orders[][5] = { { 0, 1, 2 }, { 0, 2, 1 }, { 0, 1, 0, 1, 2 },
		{ 0, 2, 2, 0, 1 } };
	static const uint32_t counts[] = { 3, 3, 5, 5 };

	(void)state;
	for (size_t i = 0; i < sizeof(orders) / sizeof(*orders); i++) {
		made_begin(&made);
		send_long_call(9);
		acknowledge(1, 9, positive);
		read_request(50);
		for (uint32_t j = 0; j < counts[i]; j++)
			read_response(50, orders[i][j]);
		made_roce(&made, 1, ACKNOWLEDGE, CLIENT_QP, 9, (struct rpcrdma_bytes){ positive, 4 });
		made_decode(&made, NULL, &found);
		assert_int_equal(found.count, 1);
		assert_int_equal(found.messages[0].proc, 7);
		assert_int_equal(found.operations, 4);
	}
}

/* A response of one packet, to the second of two Reads, comes before the last packet of the first Read's
 * response. */
static void
responses_to_several_reads_may_change_places(void **state)
{
	static const uint8_t only[4 + 8];

	(void)state;
	made_begin(&made);
	send_long_call(9);
	read_request(50);
	read_request(53);
	made.packets[made.count - 1].data[20 + 8 + 12 + 15] = 8;
	made.packets[made.count - 1].data[20 + 8 + 12 + 14] = 0;
	read_response(50, 0);
	read_response(50, 1);
	made_roce(&made, 0, RESPONSE_ONLY, SERVER_QP, 53, (struct rpcrdma_bytes){ only, sizeof(only) });
	read_response(50, 2);
	made_decode(&made, NULL, &found);
	assert_int_equal(found.count, 1);
	assert_int_equal(found.operations, 2 + 4);
}

/* The second packet of a response is missing, and more packets follow than can wait for it. */
static void
a_response_goes_on_after_a_packet_that_is_given_up(void **state)
{
	enum { PACKETS = 70 };
	static const uint8_t data[4 + MTU];

	(void)state;
	made_begin(&made);
	send_long_call(9);
	read_request(50);
	rr_put_be32(made.packets[made.count - 1].data + 20 + 8 + 12 + 12, PACKETS * MTU);
	for (uint32_t i = 0; i < PACKETS; i++) {
		bool is_first = i == 0, is_last = i == PACKETS - 1;
		uint8_t opcode = is_first ? RESPONSE_FIRST : is_last ? RESPONSE_LAST : RESPONSE_MIDDLE;

		if (i != 1)
			made_roce(&made, 0, opcode, SERVER_QP, 50 + i,
				(struct rpcrdma_bytes){ data, is_first || is_last ? 4 + MTU : MTU });
	}
	made_decode(&made, NULL, &found);
	assert_int_equal(found.operations, 1 + PACKETS - 1);
}

/* A Read takes as many PSNs as its response has packets, also where their number is not known yet. */
static void
a_request_behind_a_read_is_next(void **state)
{
	(void)state;
	made_begin(&made);
	read_request(50);
	made_roce(&made, 1, SEND_ONLY, CLIENT_QP, 53, rpc_call((uint8_t[256]){ 0 }, 5));
	made_decode(&made, NULL, &found);
	assert_int_equal(found.count, 1);
	assert_int_equal(found.notes, 0);
}

/* ---- The connection managers' messages ---- */

static void
a_connection_begins_with_its_managers_messages(void **state)
{
	(void)state;
	made_begin(&made);
	made_connect_request(&made, 3, 10);
	made_connect_request(&made, 3, 10);
	made_connect_reply(&made, 0x13, 3);
	made_connect_reply(&made, 0x13, 4);
	send_call(11, 2);
	send_call(10, 1);
	made_decode(&made, NULL, &found);
	assert_int_equal(found.opened, 2);
	assert_int_equal(found.counters.connections, 1);
	assert_int_equal(found.messages[0].xid, 1);
	assert_int_equal(found.messages[1].xid, 2);
}

static void
a_rejection_has_its_reason(void **state)
{
	struct rr_cm cm;

	(void)state;
	made_begin(&made);
	made_connect_request(&made, 3, 10);
	made_connect_reply(&made, 0x12, 3);
	made_decode(&made, NULL, &found);
	assert_int_equal(found.opened, 2);
	assert_true(rr_cm_parse(made.packets[1].data + 48, 256, &cm));
	assert_int_equal(cm.kind, RR_CM_REJECT);
	assert_string_equal(rr_cm_reason_name(cm.reason), "rejected by the consumer");
	assert_false(rr_cm_parse(made.packets[1].data + 48, 255, &cm));
}

/* ---- Bounds ---- */

static void
connections_are_bounded(void **state)
{
	const struct rr_decode_limits limits = { .memory = 4 << 20, .connections = 4, .transactions = 8 };

	(void)state;
	made_begin(&made);
	for (uint32_t i = 0; i < 40; i++)
		made_roce(&made, 0, SEND_ONLY, 0x1000 + i, i * 100000, rpc_call((uint8_t[256]){ 0 }, i));
	made_decode(&made, &limits, &found);
	assert_int_equal(found.counters.connections, 40);
	assert_int_equal(found.counters.evicted_connections, 36);
	assert_int_equal(found.count, 40);
}

static void
packets_that_wait_are_bounded(void **state)
{
	(void)state;
	made_begin(&made);
	send_call(1, 1);
	for (uint32_t i = 0; i < 200; i++)
		send_call(10 + 3 * i, 10 + i);
	made_decode(&made, NULL, &found);
	assert_int_equal(found.count, 201);
	assert_int_equal(found.counters.refused, 0);
}

static void
without_memory_nothing_breaks(void **state)
{
	(void)state;
	made_begin(&made);
	for (uint32_t i = 0; i < 100; i++)
		send_call(1 + 2 * i, i);
	for (size_t memory = 110000; memory < 200000; memory += 497) {
		const struct rr_decode_limits limits = { memory, 4, 8 };
		struct rr_decode_sink sink = made_sink(&found);
		struct rr_decoder *decoder;

		if (rr_decoder_new(&rr_env_system, &limits, &sink, &decoder) < 0)
			continue;
		rr_decoder_free(decoder);
		made_decode(&made, &limits, &found);
	}
}

static const char *
decode_changed(const uint8_t *data, size_t size, void *context)
{
	uint32_t *index = context;

	if (size > MADE_PACKET)
		return "too large";
	memcpy(made.packets[*index].data, data, size);
	made.packets[*index].size = (uint32_t)size;
	made_decode(&made, NULL, &found);
	return found.count > 20 ? "there are more messages than were sent" : NULL;
}

static void
no_change_of_a_packet_breaks_anything(void **state)
{
	(void)state;
	for (uint32_t index = 0; index < 7; index++) {
		struct made_packet packet;

		made_begin(&made);
		made_connect_request(&made, 3, 10);
		made_connect_reply(&made, 0x13, 3);
		send_long_call(10);
		read_request(0);
		for (uint32_t i = 0; i < 3; i++)
			read_response(0, i);
		packet = made.packets[index];
		rr_mutate(packet.data, packet.size, decode_changed, &index);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_send_in_two_packets_is_one_message),
		cmocka_unit_test(packets_that_are_early_wait_and_late_ones_are_ignored),
		cmocka_unit_test(packets_that_are_acknowledged_and_missing_are_given_up),
		cmocka_unit_test(a_negative_acknowledgement_is_shown),
		cmocka_unit_test(queue_pairs_are_paired_by_their_answers),
		cmocka_unit_test(read_responses_may_come_in_any_order_and_again),
		cmocka_unit_test(responses_to_several_reads_may_change_places),
		cmocka_unit_test(a_response_goes_on_after_a_packet_that_is_given_up),
		cmocka_unit_test(a_request_behind_a_read_is_next),
		cmocka_unit_test(a_connection_begins_with_its_managers_messages),
		cmocka_unit_test(a_rejection_has_its_reason),
		cmocka_unit_test(connections_are_bounded),
		cmocka_unit_test(packets_that_wait_are_bounded),
		cmocka_unit_test(without_memory_nothing_breaks),
		cmocka_unit_test(no_change_of_a_packet_breaks_anything),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
