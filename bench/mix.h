/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_BENCH_MIX_H
#define RR_BENCH_MIX_H

#include "carrier/carrier.h"

/*
 * A mix of a thousand NFS version 4.1 calls, mostly of metadata, each with
 * its reply: the same ones, of the same sizes, in the same order, every time.
 */

enum { MIX_CALLS = 1000, MIX_ITEM_MAX = 4096 };

struct mix_entry {
	const char *kind;
	struct rpcrdma_message call, reply;
	struct rpcrdma_item item; /* of the reply, where it has one */
	uint32_t reply_min,
		reply_max; /* what the binding says of the reply's stream before the call is made */
	uint32_t item_max; /* of its marked result; 0: there is none */
};

/* The XID of entry i is i + 1. The memory is the mix's. */
extern struct mix_entry mix[MIX_CALLS];

void mix_make(void);

#endif
