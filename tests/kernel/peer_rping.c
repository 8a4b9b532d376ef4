/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "base/endian.h"
#include "peer.h"

/*
 * What rping, a program of rdma-core, does in each round: the client tells
 * where its data is (offset, handle and length, in network byte order); the
 * server reads it and says so by a Send of the same size, which nobody looks
 * into. Then the client tells where it wants it, the server writes it there
 * and says so again.
 */
enum { INFO = 16, DATA_MAX = 65535 };
static const char start[] = "rdma-ping-"; /* of the data that it has */

static void
send_info(struct peer *peer, const struct rr_region *region)
{
	uint8_t info[INFO];

	rr_put_be64(info, region->offset);
	rr_put_be32(info + 8, region->handle);
	rr_put_be32(info + 12, region->length);
	peer_send(peer, info, sizeof(info));
}

/* Waits for the next message and copies it. */
static void
receive_info(struct peer *peer, uint8_t info[INFO])
{
	const struct peer_message *message = peer_receive(peer);

	peer_need(message->length == INFO, "a message of %u octets", message->length);
	memcpy(info, message->data, INFO);
	peer_drop(peer);
}

static void
ping(struct peer *peer, uint8_t *source, uint8_t *sink, uint32_t size)
{
	struct rr_region from = peer_register(peer, source, size, RR_REMOTE_READ);
	struct rr_region to = peer_register(peer, sink, size, RR_REMOTE_WRITE);
	uint8_t answer[INFO];

	send_info(peer, &from);
	receive_info(peer, answer);
	send_info(peer, &to);
	receive_info(peer, answer);
	peer_need(memcmp(source, sink, size) == 0, "%u octets came back and differ", size);
	rr_endpoint_invalidate(peer->endpoint, &from);
	rr_endpoint_invalidate(peer->endpoint, &to);
}

static void
be_client(struct peer *peer)
{
	static const uint32_t sizes[] = { 64, 17, 999, 4096, DATA_MAX, 18 };
	uint8_t *source = malloc(DATA_MAX), *sink = malloc(DATA_MAX);

	peer_need(source && sink, "no memory");
	for (uint32_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		/* rping's server writes back as far as the first octet of 0. */
		for (uint32_t j = 0; j < sizes[i]; j++)
			source[j] = j + 1 < sizes[i] ? (uint8_t)('a' + (i + j + j / 251) % 26) : 0;
		memcpy(source, start, sizeof(start) - 1);
		memset(sink, 0, DATA_MAX);
		ping(peer, source, sink, sizes[i]);
	}
	peer_part(peer);
	free(source);
	free(sink);
}

static void
serve_round(struct peer *peer, uint8_t *data)
{
	static const uint8_t go_on[INFO];
	uint8_t from[INFO], to[INFO];
	uint32_t size;

	receive_info(peer, from);
	size = rr_get_be32(from + 12);
	peer_need(size >= sizeof(start) && size <= DATA_MAX, "a client with %u octets", size);
	peer_post(peer, RR_WORK_READ, data, size, rr_get_be32(from + 8), rr_get_be64(from));
	peer_complete(peer);
	peer_need(memcmp(data, start, sizeof(start) - 1) == 0, "what was read is not what rping has");
	peer_send(peer, go_on, sizeof(go_on));
	receive_info(peer, to);
	peer_need(rr_get_be32(to + 12) == size, "a sink of another size");
	peer_post(peer, RR_WORK_WRITE, data, size, rr_get_be32(to + 8), rr_get_be64(to));
	peer_send(peer, go_on, sizeof(go_on));
}

static void
be_server(struct peer *peer)
{
	uint8_t *data = malloc(DATA_MAX);
	uint32_t rounds = 0;

	peer_need(data, "no memory");
	while (!peer->ended) {
		serve_round(peer, data);
		rounds++;
		peer_until(peer, peer->ended || peer->received_count > 0);
	}
	peer_need(rounds > 1, "there was only one round");
	free(data);
}

void
peer_rping(struct peer *peer)
{
	if (peer->options.connects)
		be_client(peer);
	else
		be_server(peer);
}
