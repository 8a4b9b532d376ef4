/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_SERVER_NFS4_UTF8_H
#define RR_SERVER_NFS4_UTF8_H

#include <stdbool.h>

#include <rpcrdma/xdr.h>

/* Tells whether the octets are UTF-8 by RFC 3629. */
bool rr_utf8(struct rpcrdma_bytes text);

#endif
