/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_CARRIER_UDP_UDP_H
#define RR_CARRIER_UDP_UDP_H

#include "carrier/carrier.h"

/*
 * RPC over UDP (RFC 5531, section 10) as carriers, for the small protocols beside NFS alone whose clients
 * speak nothing else: a datagram is a call or a reply. This side only answers: it connects to nobody.
 *
 * Who sends a datagram may have written any address into it. So an answer goes to the address and port of its
 * call, from the address that was called, and is at most RR_UDP_FACTOR times as large as the call: a larger
 * one is not sent. A listener keeps few peers and calls, however many there seem to be.
 */
extern const struct rr_carriers_ops rr_udp_carriers;

enum {
	RR_UDP_MAX = 8192 + 512, /* octets of a datagram; a larger one is dropped */
	RR_UDP_PEERS = 64,       /* peers of a listener at a time */
	RR_UDP_CALLS = 256,      /* calls of all of them that are being answered; further ones are dropped */
	RR_UDP_FACTOR = 3
};

#endif
