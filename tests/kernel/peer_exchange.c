/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "base/endian.h"
#include "peer.h"

/*
 * For each size, one side gives: it offers memory to read from and memory to
 * write to. The other one takes: it reads the first, writes the second, and
 * then Sends as much again, upon which the giver looks at all that has come.
 * After the connector has given each size, the listener does.
 */
static const uint32_t sizes[] = { 1, 2, 3, 4, 1447, 4095, 65536, (1 << 20) + 1, PEER_SEND_MAX };
enum { SIZES = sizeof(sizes) / sizeof(sizes[0]), OFFER = 28, GUARD = 64, GUARD_OCTET = 0xee };

enum content { SOURCE, SINK, SENT, CONTENTS };

/* Octets that depend on what they are for. */
static uint8_t *
filled(uint32_t size, uint32_t round, enum content content)
{
	uint32_t x = round * CONTENTS + content + 1;
	uint8_t *memory = malloc(size + sizeof(x));

	peer_need(memory, "no memory");
	for (uint32_t i = 0; i < size; i += sizeof(x)) {
		x = x * 1664525 + 1013904223;
		rr_put_be32(memory + i, x ^ x >> 16);
	}
	return memory;
}

static void
compare(const uint8_t *memory, uint32_t size, uint32_t round, enum content content, const char *what)
{
	uint8_t *want = filled(size, round, content);

	peer_need(memcmp(memory, want, size) == 0, "%s: %u octets differ", what, size);
	free(want);
}

static void
guards_are_untouched(const uint8_t *memory, uint32_t size)
{
	for (uint32_t i = 0; i < GUARD; i++)
		peer_need(memory[i] == GUARD_OCTET && memory[GUARD + size + i] == GUARD_OCTET,
			"RDMA Write of %u octets: one beside them was written", size);
}

static void
send_offer(struct peer *peer, uint32_t size, const struct rr_region *source, const struct rr_region *sink)
{
	uint8_t offer[OFFER];

	rr_put_be32(offer, size);
	rr_put_be32(offer + 4, source->handle);
	rr_put_be64(offer + 8, source->offset);
	rr_put_be32(offer + 16, sink->handle);
	rr_put_be64(offer + 20, sink->offset);
	peer_send(peer, offer, sizeof(offer));
}

static void
give(struct peer *peer, uint32_t round)
{
	uint32_t size = sizes[round % SIZES];
	uint8_t *source_memory = filled(size, round, SOURCE), *sink_memory = malloc(size + 2 * GUARD);
	const struct peer_message *message;
	struct rr_region source, sink;

	peer_need(sink_memory, "no memory");
	memset(sink_memory, GUARD_OCTET, size + 2 * GUARD);
	source = peer_register(peer, source_memory, size, RR_REMOTE_READ);
	sink = peer_register(peer, sink_memory + GUARD, size, RR_REMOTE_WRITE);
	send_offer(peer, size, &source, &sink);
	message = peer_receive(peer);
	peer_need(message->length == size, "a Send of %u octets came with %u", size, message->length);
	compare(message->data, size, round, SENT, "Send");
	compare(sink_memory + GUARD, size, round, SINK, "RDMA Write");
	guards_are_untouched(sink_memory, size);
	rr_endpoint_invalidate(peer->endpoint, &source);
	rr_endpoint_invalidate(peer->endpoint, &sink);
	peer_drop(peer);
	peer_send(peer, "good", 4);
	free(source_memory);
	free(sink_memory);
}

static void
take(struct peer *peer, uint32_t round)
{
	const struct peer_message *offer = peer_receive(peer);
	uint32_t size = sizes[round % SIZES];
	uint8_t *read = malloc(size), *written = filled(size, round, SINK), *sent = filled(size, round, SENT);

	peer_need(read, "no memory");
	peer_need(offer->length == OFFER && rr_get_be32(offer->data) == size, "that is no offer");
	peer_post(peer, RR_WORK_READ, read, size, rr_get_be32(offer->data + 4), rr_get_be64(offer->data + 8));
	peer_complete(peer);
	compare(read, size, round, SOURCE, "RDMA Read");
	peer_post(peer, RR_WORK_WRITE, written, size, rr_get_be32(offer->data + 16),
		rr_get_be64(offer->data + 20));
	peer_drop(peer);
	peer_send(peer, sent, size);
	peer_need(peer_receive(peer)->length == 4, "that is no answer");
	peer_drop(peer);
	free(read);
	free(written);
	free(sent);
}

/* What damages a frame below its CRC says whether there is one: nothing leaves any more that it could damage.
 */
static void
crc_is_as_wanted(struct peer *peer)
{
	int damage = rr_endpoint_corrupt(peer->endpoint);

	peer_need(peer->options.verbs || damage == (peer->options.crc ? 0 : -RPCRDMA_ERR_NOTSUP),
		"CRCs are %sused", damage ? "not " : "");
}

void
peer_exchange(struct peer *peer)
{
	for (uint32_t round = 0; round < 2 * SIZES; round++) {
		if (peer->options.connects == (round < SIZES))
			give(peer, round);
		else
			take(peer, round);
	}
	crc_is_as_wanted(peer);
	peer_part(peer);
}
