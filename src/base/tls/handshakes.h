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
 *
 * A handshake beyond these bounds waits for a place, and is not ended: a peer whose connection ends at once
 * makes another one at once, so that a flood of them would be as quick as it can be. Those that wait cost
 * memory alone. The oldest handshake under way gives its place up after a quarter of a second, where another
 * one wants it: honest ones need less. Of those that wait, the next is one of the host with the fewest
 * places, the newest of these, as the older ones may have been given up by their clients. Where more wait
 * than may, the oldest goes, of the newcomer's own host if it has any.
 */

/* How long a handshake may take, at either side. */
#define RR_TLS_HANDSHAKE_LIMIT (10 * RR_SECOND)

struct rr_tls_handshakes {
	struct rr_loop *loop;
	struct rr_list under_way; /* struct rr_tls_handshake, the oldest first */
	struct rr_list waiting;   /* struct rr_tls_handshake without a place, the oldest first */
	uint32_t count, waiting_count;
	struct rr_timer tick; /* armed while some wait: looks for places */
	uint64_t turn;        /* the turn of the loop in which a handshake went on last, */
	uint32_t steps;       /* and how many did in it */
};

/* A handshake, as a member of the connection that it is of. Where its list is empty, it is not under way. */
struct rr_tls_handshake {
	struct rr_list link;
	struct rr_tls_handshakes *of; /* NULL: it is not under way, and does not wait */
	bool is_under_way;            /* else it waits */
	uint64_t since;               /* the time at which it was put under way */
	uint8_t host[16];             /* rr_address_octets() */
	/* Is called when this handshake is put under way. */
	void (*placed)(struct rr_tls_handshake *handshake);
	/* Is called when this handshake makes room for another one: it is not under way any more, and the
	 * connection is to end. */
	void (*displaced)(struct rr_tls_handshake *handshake);
};

void rr_tls_handshakes_init(struct rr_tls_handshakes *handshakes, struct rr_loop *loop);

/* Puts a handshake under way, at once, or later if too many are; its members host, placed and displaced must
 * be set, its list initialised, and the rest zeroed. */
void rr_tls_handshakes_begin(struct rr_tls_handshakes *handshakes, struct rr_tls_handshake *handshake);

/* Ends a handshake, which is under way or waits. Has no effect if it does neither. */
void rr_tls_handshakes_end(struct rr_tls_handshake *handshake);

/* Tells whether one more handshake may go on in this turn of the loop (rr_loop_turns()). If not, its socket
 * stays readable, and a later turn goes on. */
bool rr_tls_handshakes_have_turn(struct rr_tls_handshakes *handshakes, uint64_t turn);

#endif
