/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "peer.h"

/* Each begins with a message each way, so that both sides may send. */

enum { NO_HANDLE = 0x7654321, SOME = 100 };

static void
greet(struct peer *peer)
{
	if (peer->options.connects)
		peer_send(peer, "hello", 5);
	peer_need(peer_receive(peer)->length == 5, "that is no greeting");
	/* Its completion may come with the end already: that follows the answer at once. */
	if (!peer->options.connects)
		peer_post(peer, RR_WORK_SEND, "hello", 5, 0, 0);
	if (!peer->keeps)
		peer_drop(peer);
}

static void
meet_the_end(struct peer *peer)
{
	const char *expect = peer->options.expect;

	peer_until(peer, peer->ended);
	peer_need(peer->status, "the connection ended as if all were well");
	peer_need(!expect || strstr(peer->text, expect), "the end was explained otherwise: %s", peer->text);
}

static void
access_astray(struct peer *peer, enum rr_work_kind kind)
{
	uint8_t memory[SOME];

	memset(memory, 0x55, sizeof(memory));
	greet(peer);
	if (peer->options.connects)
		peer_post(peer, kind, memory, sizeof(memory), NO_HANDLE, 0);
	meet_the_end(peer);
}

void
peer_write_astray(struct peer *peer)
{
	access_astray(peer, RR_WORK_WRITE);
}

void
peer_read_astray(struct peer *peer)
{
	access_astray(peer, RR_WORK_READ);
}

void
peer_damage(struct peer *peer)
{
	static const uint8_t more[2 * UINT16_MAX];
	uint64_t soon;

	greet(peer);
	if (peer->options.connects) {
		peer_need(rr_endpoint_corrupt(peer->endpoint) == 0, "there is no CRC");
		peer_post(peer, RR_WORK_SEND, "damaged", 7, 0, 0);
	}
	soon = rr_now(&rr_env_system) + RR_SECOND;
	while (peer->options.connects && !peer->ended && rr_now(&rr_env_system) < soon)
		peer_turn(peer, peer_limit(), "damage");
	/* It may have made the frame longer: then the CRC is looked for in what follows. */
	if (peer->options.connects && !peer->ended)
		peer_post(peer, RR_WORK_SEND, more, sizeof(more), 0, 0);
	meet_the_end(peer);
	peer_need(!peer->received_count, "what was damaged has arrived");
}

void
peer_overrun(struct peer *peer)
{
	peer->keeps = true;
	greet(peer);
	for (uint32_t i = 0; i < PEER_RECEIVES && peer->options.connects; i++)
		peer_post(peer, RR_WORK_SEND, "one more", 8, 0, 0);
	meet_the_end(peer);
	peer_need(peer->options.connects || peer->received_count == PEER_RECEIVES, "%u messages arrived",
		peer->received_count);
}
