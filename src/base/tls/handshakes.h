/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_BASE_TLS_HANDSHAKES_H
#define RR_BASE_TLS_HANDSHAKES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/list.h"
#include "base/loop.h"

/*
 * The handshakes of TLS that the accepting side has under way in one event loop, whatever transport they are
 * of. Anybody may begin handshakes, and each costs the accepting side a signature. So there is a bound on how
 * many are under way, on those of one host, on the time that each may take, and on those that go on in a turn
 * of the loop.
 */

/* How long a handshake may take, at either side. */
#define RR_TLS_HANDSHAKE_LIMIT (10 * RR_SECOND)

struct rr_tls_handshakes {
	struct rr_list under_way; /* struct rr_tls_handshake, the oldest first */
	uint64_t turn;            /* the turn of the loop in which a handshake went on last, */
	uint32_t steps;           /* and how many did in it */
};

/* A handshake, as a member of the connection that it is of. Where its list is empty, it is not under way. */
struct rr_tls_handshake {
	struct rr_list link;
	uint8_t host[16]; /* rr_address_octets() */
	/* Is called when this handshake makes room for another one: it is not under way any more, and the
	 * connection is to end. */
	void (*displaced)(struct rr_tls_handshake *handshake);
};

void rr_tls_handshakes_init(struct rr_tls_handshakes *handshakes);

/* Puts a handshake under way; its members host and displaced must be set, and its list initialised. If there
 * are as many as there may be, the oldest one is displaced: it had the longest time. Returns false if too
 * many of the same host are under way: the handshake is not. */
bool rr_tls_handshakes_begin(struct rr_tls_handshakes *handshakes, struct rr_tls_handshake *handshake);

/* Ends a handshake. Has no effect if it is not under way. */
void rr_tls_handshakes_end(struct rr_tls_handshake *handshake);

/* Tells whether one more handshake may go on in this turn of the loop (rr_loop_turns()). If not, its socket
 * stays readable, and a later turn goes on. */
bool rr_tls_handshakes_have_turn(struct rr_tls_handshakes *handshakes, uint64_t turn);

#endif
