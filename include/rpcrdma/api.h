/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RPCRDMA_API_H
#define RPCRDMA_API_H

/*
 * This is common to all public headers.
 *
 * Structures that begin with `size_t size` may get more members at their end
 * in later versions. The caller sets size to sizeof the structure as its
 * compiler knows it, and everything else that it does not care for to zero:
 *
 *     struct rpcrdma_engine_config config = { .size = sizeof(config), .credits = 16 };
 *
 * In what a caller passes in, zero always means the default. A size below
 * that of the structure's first version is -RPCRDMA_ERR_INVAL. A larger one
 * than this library knows comes from a program built against a later version:
 * it is taken as long as what is beyond is zero, else -RPCRDMA_ERR_NOTSUP.
 *
 * Times are in nanoseconds, sizes in octets.
 */

/* The library is built with hidden visibility: these are the functions that its shared object exports. */
#define RPCRDMA_API __attribute__((visibility("default")))

#endif
