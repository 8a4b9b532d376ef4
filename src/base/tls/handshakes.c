/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/tls/handshakes.h"

#include <string.h>

enum { HANDSHAKES_MAX = 64, HANDSHAKES_OF_HOST = 24, HANDSHAKES_IN_TURN = 4 };

void
rr_tls_handshakes_init(struct rr_tls_handshakes *handshakes)
{
	rr_list_init(&handshakes->under_way);
	handshakes->turn = 0;
	handshakes->steps = 0;
}

bool
rr_tls_handshakes_begin(struct rr_tls_handshakes *handshakes, struct rr_tls_handshake *handshake)
{
	struct rr_tls_handshake *oldest;
	uint32_t all = 0, of_host = 0;

	rr_list_for_each (link, &handshakes->under_way) {
		const struct rr_tls_handshake *other = rr_container(link, struct rr_tls_handshake, link);

		all++;
		of_host += memcmp(other->host, handshake->host, sizeof(other->host)) == 0;
	}
	if (of_host >= HANDSHAKES_OF_HOST)
		return false;
	if (all >= HANDSHAKES_MAX) {
		oldest = rr_container(handshakes->under_way.next, struct rr_tls_handshake, link);
		rr_tls_handshakes_end(oldest);
		oldest->displaced(oldest);
	}
	rr_list_append(&handshakes->under_way, &handshake->link);
	return true;
}

void
rr_tls_handshakes_end(struct rr_tls_handshake *handshake)
{
	rr_list_remove(&handshake->link);
}

bool
rr_tls_handshakes_have_turn(struct rr_tls_handshakes *handshakes, uint64_t turn)
{
	if (handshakes->turn != turn)
		handshakes->steps = 0;
	handshakes->turn = turn;
	return handshakes->steps++ < HANDSHAKES_IN_TURN;
}
