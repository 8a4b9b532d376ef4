/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_DECODE_HANDSHAKE_H
#define RR_DECODE_HANDSHAKE_H

#include "decode/cm.h"
#include "wire/mpa.h"

/* A handshake is a side's part in opening a connection: an MPA frame, or a message of the connection
 * manager. */

enum rr_handshake_kind { RR_HANDSHAKE_REQUEST, RR_HANDSHAKE_REPLY, RR_HANDSHAKE_REJECT };

struct rr_handshake {
	enum rr_handshake_kind kind;
	const struct rr_mpa_frame *mpa; /* of iWARP; NULL: cm is set */
	const struct rr_cm *cm;         /* of RoCE; NULL: mpa is set */
	bool has_depths;                /* ird and ord are set */
	uint16_t ird, ord;              /* RDMA Reads at a time that the sender answers, and that it sends */
	struct rpcrdma_bytes private_data; /* sent by the side; may be empty */
};

#endif
