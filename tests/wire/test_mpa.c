/* SPDX-License-Identifier: BSD-3-Clause */
#include "wire/mpa.h"

#include "../mutate.h"
#include "base/crc32c.h"

#define REQUEST_KEY "4d504120 49442052 65712046 72616d65"
#define REPLY_KEY   "4d504120 49442052 65702046 72616d65"

/* The frames of a Linux client and a Linux server. */
static const char linux_request[] = REQUEST_KEY "1002000c 00800000 f6ab0e18 01010303";
static const char linux_reply[] = REPLY_KEY "1002000c 00000080 f6ab0e18 01000303";

static enum rr_mpa_result
get(const char *hex, bool reply, struct rr_mpa_frame *frame)
{
	static struct rr_octets octets;
	size_t used;

	octets = rr_hex(hex);
	return rr_mpa_get(octets.data, octets.size, reply, frame, &used);
}

static void
reads_and_writes_what_linux_says(void **state)
{
	struct rr_octets octets = rr_hex(linux_request);
	struct rr_mpa_frame frame;
	uint8_t out[RR_MPA_FRAME_MAX];
	size_t used;

	(void)state;
	assert_int_equal(rr_mpa_get(octets.data, octets.size, false, &frame, &used), RR_MPA_OK);
	assert_int_equal(used, 32);
	assert_false(frame.reply || frame.markers || frame.crc || frame.reject || frame.peer_to_peer);
	assert_true(frame.enhanced);
	assert_int_equal(frame.revision, 2);
	assert_int_equal(frame.ird, 128);
	assert_int_equal(frame.ord, 0);
	assert_int_equal(frame.private_data_length, 8);
	assert_ptr_equal(frame.private_data, octets.data + 24);
	assert_int_equal(rr_mpa_put(out, sizeof(out), &frame), octets.size);
	assert_memory_equal(out, octets.data, octets.size);
}

static void
tells_request_from_reply(void **state)
{
	struct rr_mpa_frame frame;

	(void)state;
	/* RFC 5044, 7.1.2: "MUST use the difference between the MPA Request Frame and the MPA Reply Frame".
	 */
	assert_int_equal(get(linux_request, true, &frame), RR_MPA_BAD_KEY);
	assert_int_equal(get(linux_reply, false, &frame), RR_MPA_BAD_KEY);
	assert_int_equal(get(linux_reply, true, &frame), RR_MPA_OK);
	assert_true(frame.reply);
	assert_int_equal(frame.ird, 0);
	assert_int_equal(frame.ord, 128);
}

static void
a_wrong_key_shows_at_its_first_wrong_octet(void **state)
{
	struct rr_octets octets = rr_hex(linux_request);
	struct rr_mpa_frame frame;
	size_t used;

	(void)state;
	for (size_t size = 0; size < octets.size; size++)
		assert_int_equal(rr_mpa_get(octets.data, size, false, &frame, &used), RR_MPA_MORE);
	for (size_t size = 0; size <= octets.size; size++) /* the keys differ in their tenth octet */
		assert_int_equal(rr_mpa_get(octets.data, size, true, &frame, &used),
			size < 10 ? RR_MPA_MORE : RR_MPA_BAD_KEY);
}

static void
says_how_much_more_it_needs(void **state)
{
	struct rr_octets octets = rr_hex(linux_request);
	struct rr_mpa_frame frame;
	size_t used;

	(void)state;
	assert_int_equal(rr_mpa_get(octets.data, 19, false, &frame, &used), RR_MPA_MORE);
	assert_int_equal(used, RR_MPA_HEADER_SIZE);
	assert_int_equal(rr_mpa_get(octets.data, 20, false, &frame, &used), RR_MPA_MORE);
	assert_int_equal(used, 32);
}

/* Revision 1 has no IRD and ORD (RFC 5044); the bit that became S is in its Res field, which is "not checked
 * on reception". */
static void
revision_1_has_private_data_only(void **state)
{
	struct rr_mpa_frame frame;

	(void)state;
	assert_int_equal(get(REQUEST_KEY "d0010004 80018002", false, &frame), RR_MPA_OK);
	assert_int_equal(frame.revision, 1);
	assert_true(frame.markers && frame.crc);
	assert_false(frame.enhanced || frame.peer_to_peer);
	assert_int_equal(frame.private_data_length, 4);
	assert_int_equal(get(REQUEST_KEY "00010000", false, &frame), RR_MPA_OK);
	assert_int_equal(frame.private_data_length, 0);
}

/* RFC 5044, 7.1.1, R: "set to zero, and not checked on reception in the MPA Request Frame". */
static void
only_a_reply_rejects(void **state)
{
	struct rr_mpa_frame frame;

	(void)state;
	assert_int_equal(get(REQUEST_KEY "20010000", false, &frame), RR_MPA_OK);
	assert_false(frame.reject);
	assert_int_equal(get(REPLY_KEY "20010000", true, &frame), RR_MPA_OK);
	assert_true(frame.reject);
}

static void
other_revisions_are_refused_and_told(void **state)
{
	struct rr_mpa_frame frame;

	(void)state;
	assert_int_equal(get(REQUEST_KEY "00000000", false, &frame), RR_MPA_BAD_REVISION);
	assert_int_equal(get(REQUEST_KEY "10030004 00000000", false, &frame), RR_MPA_BAD_REVISION);
	assert_int_equal(frame.revision, 3);
}

/* RFC 5044, 7.1.1: "if the length of the Private Data field exceeds 512 octets, the receiver MUST close". */
static void
private_data_is_bounded(void **state)
{
	struct rr_mpa_frame frame;

	(void)state;
	assert_int_equal(get(REQUEST_KEY "00010200", false, &frame), RR_MPA_MORE);
	assert_int_equal(get(REQUEST_KEY "00010201", false, &frame), RR_MPA_BAD_LENGTH);
	assert_int_equal(get(REQUEST_KEY "1002ffff", false, &frame), RR_MPA_BAD_LENGTH);
	assert_int_equal(get(REQUEST_KEY "10020003 000000", false, &frame), RR_MPA_BAD_LENGTH);
	assert_int_equal(get(REQUEST_KEY "10020004 00000000", false, &frame), RR_MPA_OK);
}

/* RFC 6581, 9: |A|B|IRD|C|D|ORD|. */
static void
rtr_flags_are_in_their_places(void **state)
{
	struct rr_mpa_frame frame;

	(void)state;
	assert_int_equal(get(REQUEST_KEY "10020004 bfff0000", false, &frame), RR_MPA_OK);
	assert_true(frame.peer_to_peer && !frame.rtr_send && !frame.rtr_write && !frame.rtr_read);
	assert_int_equal(frame.ird, RR_MPA_DEPTH_MAX);
	assert_int_equal(get(REQUEST_KEY "10020004 c0000000", false, &frame), RR_MPA_OK);
	assert_true(frame.peer_to_peer && frame.rtr_send && !frame.rtr_write && !frame.rtr_read);
	assert_int_equal(get(REQUEST_KEY "10020004 80008000", false, &frame), RR_MPA_OK);
	assert_true(frame.peer_to_peer && !frame.rtr_send && frame.rtr_write && !frame.rtr_read);
	assert_int_equal(get(REQUEST_KEY "10020004 80007fff", false, &frame), RR_MPA_OK);
	assert_true(frame.peer_to_peer && !frame.rtr_send && !frame.rtr_write && frame.rtr_read);
	assert_int_equal(frame.ord, RR_MPA_DEPTH_MAX);
	/* "On reception, if Control Flag A is set to 0, then Control Flags B, C, and D MUST be ignored." */
	assert_int_equal(get(REQUEST_KEY "10020004 4000c000", false, &frame), RR_MPA_OK);
	assert_false(frame.peer_to_peer || frame.rtr_send || frame.rtr_write || frame.rtr_read);
}

static void
writes_each_flag_where_it_belongs(void **state)
{
	struct rr_mpa_frame frame = { .reply = true,
		.markers = true,
		.crc = true,
		.reject = true,
		.enhanced = true,
		.revision = 2,
		.ird = 1,
		.ord = 2,
		.peer_to_peer = true,
		.rtr_send = true,
		.rtr_write = true,
		.rtr_read = true };
	struct rr_octets octets = rr_hex(REPLY_KEY "f0020004 c001c002");
	uint8_t out[24];

	(void)state;
	assert_int_equal(rr_mpa_put(out, sizeof(out), &frame), sizeof(out));
	assert_memory_equal(out, octets.data, sizeof(out));
}

/* RFC 5044, 7.1.1, R: "set to zero ... in the MPA Request Frame"; RFC 6581, 9.2: B, C and D are set only with
 * A. */
static void
does_not_write_what_the_frame_cannot_have(void **state)
{
	struct rr_mpa_frame frame = { .reject = true,
		.enhanced = true,
		.revision = 2,
		.rtr_send = true,
		.rtr_write = true,
		.rtr_read = true };
	struct rr_octets octets = rr_hex(REQUEST_KEY "10020004 00000000");
	uint8_t out[24];

	(void)state;
	assert_int_equal(rr_mpa_put(out, sizeof(out), &frame), sizeof(out));
	assert_memory_equal(out, octets.data, sizeof(out));
}

static void
refuses_to_write_what_breaks_a_limit(void **state)
{
	static const uint8_t data[RR_MPA_PRIVATE_MAX + 1];
	uint8_t out[RR_MPA_FRAME_MAX + 8];
	struct rr_mpa_frame frame = {
		.revision = 1, .private_data = data, .private_data_length = RR_MPA_PRIVATE_MAX
	};

	(void)state;
	assert_int_equal(rr_mpa_put(out, sizeof(out), &frame), RR_MPA_FRAME_MAX);
	assert_int_equal(rr_mpa_put(out, RR_MPA_FRAME_MAX - 1, &frame), 0);
	frame.private_data_length++;
	assert_int_equal(rr_mpa_put(out, sizeof(out), &frame), 0);
	frame.private_data_length = RR_MPA_PRIVATE_MAX - RR_MPA_DEPTHS_SIZE;
	frame.enhanced = true;
	assert_int_equal(rr_mpa_put(out, sizeof(out), &frame), 0); /* revision 1 is never enhanced */
	frame.revision = 2;
	assert_int_equal(rr_mpa_put(out, sizeof(out), &frame), RR_MPA_FRAME_MAX);
	frame.private_data_length++;
	assert_int_equal(rr_mpa_put(out, sizeof(out), &frame), 0);
	frame.private_data_length = 0;
	frame.ird = RR_MPA_DEPTH_MAX + 1;
	assert_int_equal(rr_mpa_put(out, sizeof(out), &frame), 0);
	frame.ird = 0;
	frame.revision = 3;
	assert_int_equal(rr_mpa_put(out, sizeof(out), &frame), 0);
}

/* Sets the bits that a reader must ignore to the values that a sender must write. */
static void
clear_ignored_bits(uint8_t *data, const struct rr_mpa_frame *frame)
{
	data[16] &= frame->revision == 1 ? 0xe0 : 0xf0;
	if (!frame->reply)
		data[16] &= (uint8_t)~0x20;
	if (frame->enhanced && !frame->peer_to_peer) {
		data[20] &= 0x3f;
		data[22] &= 0x3f;
	}
}

static const char *
frame_holds(const uint8_t *data, size_t size, void *context)
{
	const bool *reply = context;
	uint8_t out[RR_MPA_FRAME_MAX], expected[RR_MPA_FRAME_MAX];
	struct rr_mpa_frame frame;
	size_t used;

	switch (rr_mpa_get(data, size, *reply, &frame, &used)) {
	case RR_MPA_OK: break;
	case RR_MPA_MORE: return used > size && used <= RR_MPA_FRAME_MAX ? NULL : "needs more, but not more";
	default: return NULL;
	}
	if (used > size || frame.private_data + frame.private_data_length != data + used)
		return "what was used is not what there is";
	if (frame.ird > RR_MPA_DEPTH_MAX || frame.ord > RR_MPA_DEPTH_MAX)
		return "a depth above 14 bits";
	memcpy(expected, data, used);
	clear_ignored_bits(expected, &frame);
	if (rr_mpa_put(out, sizeof(out), &frame) != used || memcmp(out, expected, used) != 0)
		return "written again, the frame is another one";
	return NULL;
}

static void
mutations_of_frames_hold(void **state)
{
	static const struct {
		const char *hex;
		bool reply;
	} frames[] = {
		{ linux_request, false },
		{ linux_reply, true },
		{ REQUEST_KEY "c0010005 0102030405", false },
		{ REPLY_KEY "f0020006 c001c002 abcd", true },
		{ REPLY_KEY "00010000", true },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(frames) / sizeof(frames[0]); i++) {
		struct rr_octets octets = rr_hex(frames[i].hex);
		bool reply = frames[i].reply;

		rr_mutate(octets.data, octets.size, frame_holds, &reply);
	}
}

/* RFC 5044, 4.1: "make the size of the FPDU an integral multiple of four"; "adds a minimum of 6 octets". */
static void
fpdus_are_multiples_of_four(void **state)
{
	(void)state;
	for (size_t ulpdu = 0; ulpdu <= RR_FPDU_ULPDU_MAX; ulpdu++) {
		assert_true(rr_fpdu_pad(ulpdu) <= 3);
		assert_int_equal(rr_fpdu_size(ulpdu) % 4, 0);
		assert_int_equal(rr_fpdu_size(ulpdu), ulpdu + 6 + rr_fpdu_pad(ulpdu));
	}
	assert_int_equal(rr_fpdu_size(14), 20);
	assert_int_equal(rr_fpdu_size(18), 24);
}

/* RFC 5044, figure 5: where the Marker in front is counted, the CRC field is 52 23 99 83. */
static void
crc_lies_as_in_rfc_5044(void **state)
{
	struct rr_octets fpdu = rr_hex("00000000 002a4143 00000000 00000000 00000001 00000000"
				       "00000000 00000000 00000000 00000000 00000000 00000000 52239983");
	uint8_t field[RR_FPDU_CRC_SIZE];
	size_t covered = fpdu.size - RR_FPDU_CRC_SIZE;

	(void)state;
	rr_fpdu_put_crc(field, rr_crc32c(0, fpdu.data, covered));
	assert_memory_equal(field, fpdu.data + covered, RR_FPDU_CRC_SIZE);
	assert_int_equal(rr_fpdu_get_crc(field), rr_crc32c(0, fpdu.data, covered));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_and_writes_what_linux_says),
		cmocka_unit_test(tells_request_from_reply),
		cmocka_unit_test(a_wrong_key_shows_at_its_first_wrong_octet),
		cmocka_unit_test(says_how_much_more_it_needs),
		cmocka_unit_test(revision_1_has_private_data_only),
		cmocka_unit_test(only_a_reply_rejects),
		cmocka_unit_test(other_revisions_are_refused_and_told),
		cmocka_unit_test(private_data_is_bounded),
		cmocka_unit_test(rtr_flags_are_in_their_places),
		cmocka_unit_test(writes_each_flag_where_it_belongs),
		cmocka_unit_test(does_not_write_what_the_frame_cannot_have),
		cmocka_unit_test(refuses_to_write_what_breaks_a_limit),
		cmocka_unit_test(mutations_of_frames_hold),
		cmocka_unit_test(fpdus_are_multiples_of_four),
		cmocka_unit_test(crc_lies_as_in_rfc_5044),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
