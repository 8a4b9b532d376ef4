/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_CARRIER_RDMA_RDMA_H
#define RR_CARRIER_RDMA_RDMA_H

#include "carrier/carrier.h"

/* RPC-over-RDMA connections (RFC 8166, RFC 8797) as carriers. */
extern const struct rr_carriers_ops rr_rdma_carriers;

#endif
