/* SPDX-License-Identifier: BSD-3-Clause */
#include "../mutate.h"
#include "wire/ddp.h"

#define UNTAGGED     "4141 00000000 00000001 00000009 00000000"
#define TAGGED       "c140 0000beef 0000000000001000"
#define READ_REQUEST "00000102 0304050607080910 00100000 11121314 1516171819202122"

static struct rr_octets octets;

static bool
get(const char *hex, struct rr_terminate *terminate)
{
	octets = rr_hex(hex);
	return rr_terminate_get(octets.data, octets.size, terminate);
}

/* RFC 5040, 4.8: Layer, EType, Error Code, then M, D and R from bit 16 on. */
static void
reads_control_field_and_headers(void **state)
{
	struct rr_terminate terminate;

	(void)state;
	assert_true(get("0101 e000 002e" UNTAGGED READ_REQUEST, &terminate));
	assert_int_equal(terminate.cause, RR_CAUSE_RDMAP_BOUNDS);
	assert_true(terminate.has_length);
	assert_false(terminate.swapped);
	assert_int_equal(terminate.segment_length, 46);
	assert_ptr_equal(terminate.ddp_header, octets.data + 6);
	assert_ptr_equal(terminate.read_request, octets.data + 24);
	assert_true(get("1101 c000 000e" TAGGED, &terminate));
	assert_int_equal(rr_cause_layer(terminate.cause), RR_LAYER_DDP);
	assert_ptr_equal(terminate.ddp_header, octets.data + 6);
	assert_null(terminate.read_request);
}

/* "DDP Segment Length ... MUST be present when the D bit is set", also where M says that it is not valid. */
static void
segment_length_is_there_with_d_alone(void **state)
{
	struct rr_terminate terminate;

	(void)state;
	assert_true(get("1101 4000 ffff" TAGGED, &terminate));
	assert_false(terminate.has_length);
	assert_int_equal(terminate.segment_length, 0);
	assert_ptr_equal(terminate.ddp_header, octets.data + 6);
}

static void
a_header_that_is_not_whole_is_not_there(void **state)
{
	struct rr_terminate terminate;

	(void)state;
	assert_false(get("110100", &terminate));
	assert_true(get("1101 c000 00", &terminate));
	assert_false(terminate.has_length);
	assert_true(get("1101 c000 000e c140 0000beef 00000000000010", &terminate));
	assert_int_equal(terminate.segment_length, 14);
	assert_null(terminate.ddp_header);
	assert_true(get("0100 e000 002e" UNTAGGED "00000102", &terminate));
	assert_non_null(terminate.ddp_header);
	assert_null(terminate.read_request);
}

static void
writes_what_it_reads(void **state)
{
	static const char *const good[] = { "0000 0000", "0206 8000 0012",
		"0101 e000 002e" UNTAGGED READ_REQUEST, "1101 c000 000e" TAGGED, "1201 4000 0000" UNTAGGED };
	struct rr_terminate terminate;
	uint8_t out[RR_TERMINATE_MAX];

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		assert_true(get(good[i], &terminate));
		assert_int_equal(rr_terminate_put(out, &terminate), octets.size);
		assert_memory_equal(out, octets.data, octets.size);
	}
}

static void
text_is(const char *hex, const char *expected)
{
	struct rr_terminate terminate;
	char text[200];

	assert_true(get(hex, &terminate));
	assert_string_equal(rr_terminate_text(text, sizeof(text), &terminate), expected);
}

static void
words_follow_the_specification(void **state)
{
	(void)state;
	text_is("1202 c000 0012" UNTAGGED,
		"DDP: no buffer available (more messages than posted Receives) (1/2/2)");
	text_is("2006 8000 0012", "MPA: insufficient IRD resources (2/0/6)");
	text_is("0042 0000", "RDMAP: local catastrophic error (0/0/66)");
	text_is("1107 8000 0000", "unknown error (1/1/7)");
	text_is("ffff 0000", "unknown error (15/15/255)");
}

/* The siw driver of Linux exchanges layer and error type, and puts M and D at the other end of their octet.
 */
static void
words_see_through_swapped_order(void **state)
{
	struct rr_terminate terminate;

	(void)state;
	assert_true(get("2103 0300 0012" UNTAGGED, &terminate));
	assert_true(terminate.swapped);
	assert_int_equal(terminate.cause, 0x2103);
	assert_null(terminate.ddp_header);
	text_is("2103 0300 0012" UNTAGGED,
		"DDP: message sequence number out of range (1/2/3, written in swapped order)");
	text_is("2007 0300", "RDMAP: catastrophic error of the stream (0/2/7, written in swapped order)");
	text_is("2009 0000", "RDMAP: STag cannot be invalidated (0/2/9, written in swapped order)");
	text_is("1100 0300", "DDP: invalid STag (1/1/0)");
}

static void
words_name_both_meanings_where_nothing_decides(void **state)
{
	(void)state;
	text_is("2006 0000",
		"MPA: insufficient IRD resources (2/0/6; or, in swapped order, RDMAP: unexpected opcode)");
}

static const char *
terminate_holds(const uint8_t *data, size_t size, void *context)
{
	struct rr_terminate terminate, again;
	uint8_t out[RR_TERMINATE_MAX];
	char text[20];

	(void)context;
	if (!rr_terminate_get(data, size, &terminate))
		return size < RR_TERMINATE_CONTROL_SIZE ? NULL : "refused";
	memset(text, 'x', sizeof(text));
	rr_terminate_text(text, sizeof(text), &terminate);
	if (!memchr(text, 0, sizeof(text)))
		return "the text has no end";
	if (terminate.read_request && terminate.read_request + RR_READ_REQUEST_SIZE > data + size)
		return "a Read Request that is not whole";
	if (!rr_terminate_get(out, rr_terminate_put(out, &terminate), &again))
		return "what was written cannot be read";
	if (again.cause != terminate.cause || !again.ddp_header != !terminate.ddp_header ||
		!again.read_request != !terminate.read_request ||
		again.segment_length != terminate.segment_length)
		return "written again, the message is another one";
	return NULL;
}

static void
mutations_hold(void **state)
{
	static const char *const messages[] = { "0101 e000 002e" UNTAGGED READ_REQUEST,
		"1101 c000 000e" TAGGED, "2103 0300 0012" UNTAGGED };

	(void)state;
	for (size_t i = 0; i < sizeof(messages) / sizeof(messages[0]); i++) {
		struct rr_octets message = rr_hex(messages[i]);

		rr_mutate(message.data, message.size, terminate_holds, NULL);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_control_field_and_headers),
		cmocka_unit_test(segment_length_is_there_with_d_alone),
		cmocka_unit_test(a_header_that_is_not_whole_is_not_there),
		cmocka_unit_test(writes_what_it_reads),
		cmocka_unit_test(words_follow_the_specification),
		cmocka_unit_test(words_see_through_swapped_order),
		cmocka_unit_test(words_name_both_meanings_where_nothing_decides),
		cmocka_unit_test(mutations_hold),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
