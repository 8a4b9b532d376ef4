/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TESTS_TIRPC_SERVED_H
#define RR_TESTS_TIRPC_SERVED_H

#include <rpcrdma/tirpc.h>

/* Programs whose stubs, dispatch functions and XDR routines rpcgen makes of published schemas, unchanged.
 * Each of these functions registers the versions of one schema. */
void served_rpcb(SVCXPRT *transport);
void served_mount(SVCXPRT *transport);
void served_nfs(SVCXPRT *transport);

#endif
