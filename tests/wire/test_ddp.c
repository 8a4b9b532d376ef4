/* SPDX-License-Identifier: BSD-3-Clause */
#include "wire/ddp.h"

#include "../mutate.h"

/* Headers that Linux sent: a Send, a Send With Invalidate, an RDMA Write, and the middle of a longer Send. */
static const char linux_send[] = "4143 00000000 00000000 00000001 00000000";
static const char linux_send_invalidate[] = "4144 12e6d301 00000000 0000000b 00000000";
static const char linux_write[] = "c140 12e6d301 8a36832685b91800";
static const char middle_send[] = "0143 00000000 00000000 00000002 000005a8";
static const char read_request[] = "4141 00000000 00000001 00000001 00000000";
static const char read_response[] = "8142 00001234 0000000100000000";
static const char terminate[] = "4147 00000000 00000002 00000001 00000000";

static enum rr_ddp_result
get(const char *hex, struct rr_ddp_header *header)
{
	struct rr_octets octets = rr_hex(hex);

	return rr_ddp_get(octets.data, octets.size, header);
}

static void
reads_an_untagged_header(void **state)
{
	struct rr_ddp_header header;

	(void)state;
	assert_int_equal(get(linux_send_invalidate, &header), RR_DDP_OK);
	assert_false(header.tagged);
	assert_true(header.last);
	assert_int_equal(header.opcode, RR_RDMAP_SEND_INVALIDATE);
	assert_int_equal(header.invalidate_stag, 0x12e6d301);
	assert_int_equal(header.queue, RR_DDP_QUEUE_SEND);
	assert_int_equal(header.msn, 11);
	assert_int_equal(header.mo, 0);
	assert_int_equal(get(middle_send, &header), RR_DDP_OK);
	assert_false(header.last);
	assert_int_equal(header.mo, 1448);
}

static void
reads_a_tagged_header(void **state)
{
	struct rr_ddp_header header;

	(void)state;
	assert_int_equal(get(linux_write, &header), RR_DDP_OK);
	assert_true(header.tagged && header.last);
	assert_int_equal(header.opcode, RR_RDMAP_WRITE);
	assert_int_equal(header.stag, 0x12e6d301);
	assert_int_equal(header.to, 0x8a36832685b91800);
	assert_int_equal(get(read_response, &header), RR_DDP_OK);
	assert_false(header.last);
	assert_int_equal(header.opcode, RR_RDMAP_READ_RESPONSE);
}

/* RFC 5040, 4.1: "the Invalidate STag field MUST be set to zero on transmit and ignored by the receiver." */
static void
invalidate_stag_is_of_the_invalidating_sends_only(void **state)
{
	struct rr_ddp_header header;
	uint8_t out[RR_DDP_HEADER_MAX];
	struct rr_octets plain = rr_hex(linux_send);

	(void)state;
	assert_int_equal(get("4143 12e6d301 00000000 00000001 00000000", &header), RR_DDP_OK);
	assert_int_equal(header.invalidate_stag, 0);
	header.invalidate_stag = 7;
	assert_int_equal(rr_ddp_put(out, &header), plain.size);
	assert_memory_equal(out, plain.data, plain.size);
	assert_int_equal(get("4146 12e6d301 00000000 00000001 00000000", &header), RR_DDP_OK);
	assert_int_equal(header.invalidate_stag, 0x12e6d301);
}

static void
refusals_name_their_cause(void **state)
{
	static const struct {
		const char *hex;
		enum rr_ddp_result result;
		uint16_t cause;
	} cases[] = {
		{ "", RR_DDP_SHORT, RR_CAUSE_MPA_FRAMING },
		{ "41", RR_DDP_SHORT, RR_CAUSE_MPA_FRAMING },
		{ "4143 00000000 00000000 00000001 000000", RR_DDP_SHORT, RR_CAUSE_MPA_FRAMING },
		{ "c140 12e6d301 8a36832685b918", RR_DDP_SHORT, RR_CAUSE_MPA_FRAMING },
		{ "4043 00000000 00000000 00000001 00000000", RR_DDP_BAD_VERSION, 0x1206 },
		{ "c240", RR_DDP_BAD_VERSION, 0x1104 },
		{ "4143 00000000 00000003 00000001 00000000", RR_DDP_BAD_QUEUE, 0x1201 },
		{ "4103 00000000 00000000 00000001 00000000", RR_DDP_BAD_RDMAP_VERSION, 0x0205 },
		{ "c180 12e6d301 8a36832685b91800", RR_DDP_BAD_RDMAP_VERSION, 0x0205 },
		{ "4148 00000000 00000000 00000001 00000000", RR_DDP_BAD_OPCODE, 0x0206 },
		{ "414f 00000000 00000000 00000001 00000000", RR_DDP_BAD_OPCODE, 0x0206 },
	};
	struct rr_ddp_header header;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(get(cases[i].hex, &header), cases[i].result);
		assert_int_equal(rr_ddp_cause(cases[i].result, &header), cases[i].cause);
	}
}

/* RFC 5040, figure 4: each opcode has one buffer model and one queue. */
static void
each_opcode_has_one_place(void **state)
{
	static const int queues[] = { -1, 1, -1, 0, 0, 0, 0, 2 };

	(void)state;
	for (uint8_t opcode = 0; opcode < 16; opcode++) {
		for (int queue = -1; queue < 3; queue++) {
			struct rr_ddp_header header = { .tagged = queue < 0,
				.opcode = opcode,
				.queue = queue < 0 ? 0 : (uint32_t)queue };
			uint8_t out[RR_DDP_HEADER_MAX];
			size_t size = rr_ddp_put(out, &header);
			bool right = opcode < 8 && queues[opcode] == queue;

			assert_int_equal(
				rr_ddp_get(out, size, &header), right ? RR_DDP_OK : RR_DDP_BAD_OPCODE);
		}
	}
}

static void
read_requests_go_there_and_back(void **state)
{
	struct rr_octets octets = rr_hex("00000102 0304050607080910 00100000 11121314 1516171819202122");
	struct rr_read_request request;
	uint8_t out[RR_READ_REQUEST_SIZE];

	(void)state;
	assert_int_equal(octets.size, RR_READ_REQUEST_SIZE);
	rr_read_request_get(octets.data, &request);
	assert_int_equal(request.sink_stag, 0x00000102);
	assert_int_equal(request.sink_to, 0x0304050607080910);
	assert_int_equal(request.size, 0x00100000);
	assert_int_equal(request.source_stag, 0x11121314);
	assert_int_equal(request.source_to, 0x1516171819202122);
	rr_read_request_put(out, &request);
	assert_memory_equal(out, octets.data, sizeof(out));
}

static const char *
header_holds(const uint8_t *data, size_t size, void *context)
{
	struct rr_ddp_header header;
	uint8_t out[RR_DDP_HEADER_MAX], expected[RR_DDP_HEADER_MAX];
	enum rr_ddp_result result = rr_ddp_get(data, size, &header);

	(void)context;
	if (result != RR_DDP_OK)
		return rr_cause_name(rr_ddp_cause(result, &header)) ? NULL : "a refusal without a name";
	if (size < rr_ddp_header_size(header.tagged))
		return "a header that is not whole was taken";
	memcpy(expected, data, rr_ddp_header_size(header.tagged));
	expected[0] &= 0xc3;
	expected[1] &= 0xcf;
	if (!header.tagged && !rr_rdmap_invalidates(header.opcode))
		memset(expected + 2, 0, 4);
	if (memcmp(out, expected, rr_ddp_put(out, &header)) != 0)
		return "written again, the header is another one";
	return NULL;
}

static void
mutations_of_headers_hold(void **state)
{
	static const char *const headers[] = { linux_send, linux_send_invalidate, linux_write, middle_send,
		read_request, read_response, terminate };

	(void)state;
	for (size_t i = 0; i < sizeof(headers) / sizeof(headers[0]); i++) {
		struct rr_octets octets = rr_hex(headers[i]);

		rr_mutate(octets.data, octets.size, header_holds, NULL);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_an_untagged_header),
		cmocka_unit_test(reads_a_tagged_header),
		cmocka_unit_test(invalidate_stag_is_of_the_invalidating_sends_only),
		cmocka_unit_test(refusals_name_their_cause),
		cmocka_unit_test(each_opcode_has_one_place),
		cmocka_unit_test(read_requests_go_there_and_back),
		cmocka_unit_test(mutations_of_headers_hold),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
