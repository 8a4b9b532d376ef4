/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_BENCH_MIX_H
#define RR_BENCH_MIX_H

#include "carrier/carrier.h"

/*
 * A mix of a thousand NFS version 4.1 calls, mostly of metadata, each with its reply: every time the same
 * calls, of the same sizes, in the same order.
 */

enum { MIX_CALLS = 1000, MIX_ITEM_MAX = 4096 };

struct mix_entry {
	const char *kind;
	struct rpcrdma_message call, reply;
	struct rpcrdma_item item; /* of the reply, if it has an item */
	uint32_t reply_min,
		reply_max; /* the binding's estimate of the reply's stream, before the call is made */
	uint32_t item_max; /* octets of the marked result; 0: the reply has none */
};

/* The calls, made by mix_make(). The XID of entry i is i + 1. The memory belongs to the mix. */
extern struct mix_entry mix[MIX_CALLS];

void mix_make(void);

#endif
