/* SPDX-License-Identifier: BSD-3-Clause */
#include "rpc/expect.h"

#include <rpcrdma/xdr.h>

/* Returns how many octets the results are expected to have at least: the maximum if a large reply is likely,
 * so that a Reply chunk is offered, else the minimum. draft-cel-nfsv4-rpcrdma-reliable-reply-02, 5.2.2:
 * "There are a few particular situations where the frequency of large replies is high": flavors that forbid
 * placement (expected->whole), and READDIR (expected->often_large). "In these two cases, using a Reply chunk
 * could be the more efficient default choice." But 5.3.1 of the same draft: if "the requester cannot
 * calculate the maximum size of the reply", it "does not provide a Reply chunk".
 *
 * A large reply is also likely if the last reply of the procedure took more than half of the maximum. A Reply
 * chunk spares the round trip in which a Read chunk is pulled, and is at most twice as large as that
 * reply. */
uint32_t
rr_expect_least(const struct rr_expected *expected)
{
	if (expected->max == RPCRDMA_XDR_UNBOUNDED)
		return expected->min;
	return expected->often_large || expected->whole || expected->last > expected->max / 2 ? expected->max
											      : expected->min;
}
