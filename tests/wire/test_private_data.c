/* SPDX-License-Identifier: BSD-3-Clause */
#include "wire/private_data.h"

#include "../mutate.h"

/* The messages of a Linux client and a Linux server. */
static const char linux_client[] = "f6ab0e18 01010303";
static const char linux_server[] = "f6ab0e18 01000303";

static bool
get(const char *hex, struct rr_private_data *peer)
{
	struct rr_octets octets = rr_hex(hex);

	return rr_private_data_get(octets.data, octets.size, peer);
}

static void
assert_defaults(const struct rr_private_data *peer)
{
	assert_int_equal(peer->send_size, 1024);
	assert_int_equal(peer->receive_size, 1024);
	assert_false(peer->remote_invalidation);
}

static void
reads_what_linux_says(void **state)
{
	struct rr_private_data peer;

	(void)state;
	assert_true(get(linux_client, &peer));
	assert_int_equal(peer.send_size, 4096);
	assert_int_equal(peer.receive_size, 4096);
	assert_true(peer.remote_invalidation);
	assert_true(get(linux_server, &peer));
	assert_false(peer.remote_invalidation);
}

static void
send_size_comes_before_receive_size(void **state)
{
	struct rr_private_data peer;

	(void)state;
	assert_true(get("f6ab0e18 010000ff", &peer));
	assert_int_equal(peer.send_size, 1024);
	assert_int_equal(peer.receive_size, 262144);
}

/* RFC 8797, 4.2: the sizes are "the unsigned number of additional kilo-octets ... beyond the first 1024
 * octets". */
static void
sizes_are_rounded_down_into_their_range(void **state)
{
	static const struct {
		uint32_t size;
		uint8_t code;
	} cases[] = { { 0, 0 }, { 1023, 0 }, { 1024, 0 }, { 2047, 0 }, { 2048, 1 }, { 4096, 3 },
		{ 262143, 254 }, { 262144, 255 }, { 263168, 255 }, { UINT32_MAX, 255 } };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct rr_private_data own = { .send_size = cases[i].size, .receive_size = 4096 };
		uint8_t out[RR_PRIVATE_DATA_SIZE];

		rr_private_data_put(out, &own);
		assert_int_equal(out[6], cases[i].code);
		assert_int_equal(out[7], 3);
	}
}

static void
writes_what_linux_writes(void **state)
{
	struct rr_private_data own = { .send_size = 4096, .receive_size = 4096, .remote_invalidation = true };
	struct rr_octets expected = rr_hex(linux_client);
	uint8_t out[RR_PRIVATE_DATA_SIZE];

	(void)state;
	rr_private_data_put(out, &own);
	assert_memory_equal(out, expected.data, sizeof(out));
}

/* RFC 8797, 5.2: "The offset of the Format Identifier is not restricted to any alignment." */
static void
is_found_at_any_offset(void **state)
{
	struct rr_octets message = rr_hex(linux_client);
	uint8_t data[64];

	(void)state;
	for (size_t offset = 0; offset <= sizeof(data) - RR_PRIVATE_DATA_SIZE; offset++) {
		struct rr_private_data peer;

		memset(data, 0xf6, sizeof(data));
		memcpy(data + offset, message.data, message.size);
		assert_true(rr_private_data_get(data, sizeof(data), &peer));
		assert_int_equal(peer.receive_size, 4096);
		assert_true(rr_private_data_get(data, offset + RR_PRIVATE_DATA_SIZE, &peer));
		/* "the size of the content does not overrun the length of the buffer" */
		assert_false(rr_private_data_get(data, offset + RR_PRIVATE_DATA_SIZE - 1, &peer));
		assert_defaults(&peer);
	}
}

/* RFC 8797, 5.1: "needs to act as if the remote peer supports only the default RPC-over-RDMA version 1
 * settings". */
/* RFC 8797, 5.2: it "MUST behave as if no RPC-over-RDMA version 1 CM Private Data has been provided." */
static void
without_it_the_defaults_hold(void **state)
{
	struct rr_private_data peer;

	(void)state;
	memset(&peer, 0xff, sizeof(peer));
	assert_false(get("", &peer));
	assert_defaults(&peer);
	assert_false(rr_private_data_get(NULL, 0, &peer));
	memset(&peer, 0xff, sizeof(peer));
	assert_false(get("00010203 04050607 08090a0b", &peer));
	assert_defaults(&peer);
}

/* "should check that the format version number field contains a valid and recognized version number" */
static void
another_version_is_not_read(void **state)
{
	struct rr_private_data peer;

	(void)state;
	assert_false(get("f6ab0e18 00010303", &peer));
	assert_defaults(&peer);
	assert_false(get("f6ab0e18 02010303", &peer));
	assert_defaults(&peer);
}

static void
what_only_looks_like_it_does_not_hide_it(void **state)
{
	struct rr_private_data peer;

	(void)state;
	assert_true(get("f6ab0e18 f6ab0e18 01010707", &peer));
	assert_int_equal(peer.send_size, 8192);
}

/* RFC 8797, 4: "Senders MUST set these bits to zero, and receivers MUST ignore their value." */
static void
reserved_bits_are_ignored(void **state)
{
	struct rr_private_data peer;

	(void)state;
	assert_true(get("f6ab0e18 01fe0303", &peer));
	assert_false(peer.remote_invalidation);
	assert_true(get("f6ab0e18 01ff0303", &peer));
	assert_true(peer.remote_invalidation);
}

static const char *
message_holds(const uint8_t *data, size_t size, void *context)
{
	struct rr_private_data peer, again;
	uint8_t out[RR_PRIVATE_DATA_SIZE];
	bool found = rr_private_data_get(data, size, &peer);

	(void)context;
	if (found && size < RR_PRIVATE_DATA_SIZE)
		return "found where it has no room";
	if (peer.send_size < 1024 || peer.send_size > 262144 || peer.send_size % 1024 != 0)
		return "a send size that cannot be";
	if (peer.receive_size < 1024 || peer.receive_size > 262144 || peer.receive_size % 1024 != 0)
		return "a receive size that cannot be";
	rr_private_data_put(out, &peer);
	if (!rr_private_data_get(out, sizeof(out), &again))
		return "what was written is not found";
	if (again.send_size != peer.send_size || again.receive_size != peer.receive_size ||
		again.remote_invalidation != peer.remote_invalidation)
		return "written again, the message is another one";
	return NULL;
}

static void
mutations_hold(void **state)
{
	static const char *const messages[] = { linux_client, linux_server,
		"00800000 f6ab0e18 01010303 0000" };

	(void)state;
	for (size_t i = 0; i < sizeof(messages) / sizeof(messages[0]); i++) {
		struct rr_octets message = rr_hex(messages[i]);

		rr_mutate(message.data, message.size, message_holds, NULL);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_what_linux_says),
		cmocka_unit_test(send_size_comes_before_receive_size),
		cmocka_unit_test(sizes_are_rounded_down_into_their_range),
		cmocka_unit_test(writes_what_linux_writes),
		cmocka_unit_test(is_found_at_any_offset),
		cmocka_unit_test(without_it_the_defaults_hold),
		cmocka_unit_test(another_version_is_not_read),
		cmocka_unit_test(what_only_looks_like_it_does_not_hide_it),
		cmocka_unit_test(reserved_bits_are_ignored),
		cmocka_unit_test(mutations_hold),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
