/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TESTS_WORDS_H
#define RR_TESTS_WORDS_H

#include <rpcrdma/xdr.h>

/* Writes the octets that a test composes word by word, into memory of the test. */
static struct rpcrdma_xdr_writer writer;

static inline void
put(uint32_t word)
{
	rpcrdma_put_u32(&writer, word);
}

static inline void
put_zeroes(unsigned words)
{
	while (words-- > 0)
		put(0);
}

#endif
