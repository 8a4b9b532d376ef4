/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "../hex.h"
#include "../test.h"
#include "node.h"

/* Markers (RFC 5044, 4.3) in both directions. Markers in any segmentation are in test_segments.c. */

enum { FIRST = 464 }; /* octets of a Send whose FPDU ends at octet 492 */

static struct node *initiator, *responder;
static const uint8_t zeros[8000];

static int
setup(void **state)
{
	struct rr_fabric_config config = rr_fabric_config_default;

	(void)state;
	config.crc = config.markers = true;
	config.receive_size = sizeof(zeros);
	initiator = node_new(&config);
	responder = node_new(&config);
	node_connect(initiator, responder);
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	node_free(initiator);
	node_free(responder);
	return 0;
}

static void
sent_is(size_t from, const char *digits)
{
	struct rr_octets expected = rr_hex(digits);

	assert_int_equal(initiator->out_size, from + expected.size);
	assert_memory_equal(initiator->out + from, expected.data, expected.size);
}

#define SIX_ZEROS "000000000000"

/* RFC 5044, figure 5. */
static void
the_first_fpdu_of_the_rfc(void **state)
{
	(void)state;
	node_post(initiator, RR_WORK_SEND, zeros, 24, 0, 0, 0);
	node_collect(initiator);
	sent_is(0, "00000000 002a 4143 00000000 00000000 00000001 00000000" SIX_ZEROS SIX_ZEROS SIX_ZEROS
			   SIX_ZEROS "52239983");
}

/* RFC 5044, figure 6: "the second FPDU of the stream where the first FPDU ... had a length of 492 octets". */
static void
the_second_fpdu_of_the_rfc(void **state)
{
	(void)state;
	node_post(initiator, RR_WORK_SEND, zeros, FIRST, 0, 0, 0);
	node_collect(initiator);
	assert_int_equal(initiator->out_size, 0x1ec);
	node_post(initiator, RR_WORK_SEND, zeros, 24, 0, 0, 0);
	node_collect(initiator);
	sent_is(0x1ec, "002a 4143 00000000 00000000 00000002 00000000 00000014" SIX_ZEROS SIX_ZEROS SIX_ZEROS
			       SIX_ZEROS "84925898");
}

static void
a_marker_between_fpdus_is_in_the_second(void **state)
{
	(void)state;
	node_post(initiator, RR_WORK_SEND, zeros, FIRST + 20, 0, 0, 0);
	node_collect(initiator);
	assert_int_equal(initiator->out_size, 512);
	node_post(initiator, RR_WORK_SEND, zeros, 24, 0, 0, 0);
	node_collect(initiator);
	assert_memory_equal(initiator->out + 512, "\0\0\0\0\0\x2a", 6);
	node_exchange(initiator, responder);
	assert_int_equal(responder->iwarp.state, RR_IWARP_OPEN);
	assert_int_equal(responder->iwarp.rx.count, 2);
}

/* Returns the octets of the FPDU at this place in the octets that were sent, its markers included. */
static size_t
size_at(size_t at)
{
	size_t length_at = at + (at % RR_MPA_MARKER_INTERVAL ? 0 : RR_MPA_MARKER_SIZE), end = at;

	for (size_t left = rr_fpdu_size(rr_get_be16(initiator->out + length_at)); left; left--) {
		if (end % RR_MPA_MARKER_INTERVAL == 0)
			end += RR_MPA_MARKER_SIZE;
		end++;
	}
	return end - at;
}

/* RFC 5044, 4.5: the MULPDU with markers is "EMSS - (6 + 4 * Ceiling(EMSS / 512) + EMSS mod 4)". */
static void
an_fpdu_with_its_markers_fits_a_tcp_segment(void **state)
{
	size_t at = 0;

	(void)state;
	for (uint32_t emss = 1400; emss < 1600; emss += 9) {
		rr_iwarp_set_emss(&initiator->iwarp, emss);
		node_post(initiator, RR_WORK_WRITE, zeros, sizeof(zeros), 1, 0, 0);
		node_collect(initiator);
		while (at < initiator->out_size) {
			size_t size = size_at(at);

			assert_true(size <= emss);
			at += size;
		}
		assert_int_equal(at, initiator->out_size);
	}
}

/* Markers come at each place of a message, and of a Terminate. */
static void
markers_fall_anywhere(void **state)
{
	(void)state;
	for (uint32_t size = 0; size < 600; size += 3) {
		struct rr_region region;

		teardown(NULL);
		setup(NULL);
		region = node_register(responder, 0, 8000, RR_REMOTE_WRITE);
		node_post(initiator, RR_WORK_SEND, zeros, size, 0, 0, 0);
		node_post(initiator, RR_WORK_WRITE, zeros, 5000, region.handle, region.offset, 0);
		node_post(initiator, RR_WORK_SEND, zeros, 3, 0, 0, 0);
		node_exchange(initiator, responder);
		assert_int_equal(responder->iwarp.state, RR_IWARP_OPEN);
		assert_int_equal(responder->iwarp.rx.send_msn, 3);
		node_post(responder, RR_WORK_SEND, zeros, size, 0, 0, 0);
		node_exchange(initiator, responder);
		/* The Send is refused: the Terminate has markers, too. */
		node_post(initiator, RR_WORK_SEND_INVALIDATE, zeros, 1, 1, 0, 0);
		node_exchange(initiator, responder);
		assert_int_equal(responder->iwarp.state, RR_IWARP_CLOSING);
		assert_int_equal(initiator->iwarp.state, RR_IWARP_OVER);
		assert_int_equal(initiator->iwarp.status, -RPCRDMA_ERR_ACCESS);
	}
}

/* RFC 5044, 8: "MPA Marker and ULPDU Length fields do not agree on the start of an FPDU". */
static void
a_marker_that_points_elsewhere_ends_the_connection(void **state)
{
	(void)state;
	node_post(initiator, RR_WORK_SEND, zeros, 1000, 0, 0, 0);
	node_collect(initiator);
	initiator->out[512 + 3] ^= 8;
	node_feed(responder, initiator->out, initiator->out_size, 100, NULL);
	assert_int_equal(responder->iwarp.status, -RPCRDMA_ERR_PEER);
	assert_non_null(strstr(responder->iwarp.text.text, "marker"));
}

static void
damage_in_a_marker_is_under_the_crc(void **state)
{
	(void)state;
	node_post(initiator, RR_WORK_SEND, zeros, 1000, 0, 0, 0);
	node_collect(initiator);
	initiator->out[512] ^= 8;
	node_feed(responder, initiator->out, initiator->out_size, 100, NULL);
	assert_int_equal(responder->iwarp.status, -RPCRDMA_ERR_PEER);
	assert_non_null(strstr(responder->iwarp.text.text, "CRC"));
}

int
main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(the_first_fpdu_of_the_rfc),
		TEST(the_second_fpdu_of_the_rfc),
		TEST(a_marker_between_fpdus_is_in_the_second),
		TEST(an_fpdu_with_its_markers_fits_a_tcp_segment),
		TEST(markers_fall_anywhere),
		TEST(a_marker_that_points_elsewhere_ends_the_connection),
		TEST(damage_in_a_marker_is_under_the_crc),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
