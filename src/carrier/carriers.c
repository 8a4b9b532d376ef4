/* SPDX-License-Identifier: BSD-3-Clause */
#include "carrier/rdma/rdma.h"
#include "carrier/tcp/tcp.h"
#include "carrier/udp/udp.h"

/* The table of the kinds of carriers. No other file names the kinds. */

const struct rr_carriers_ops *const rr_carriers_known[] = { &rr_rdma_carriers, &rr_tcp_carriers,
	&rr_udp_carriers, NULL };
