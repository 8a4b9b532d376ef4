/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_CARRIER_TCP_TCP_H
#define RR_CARRIER_TCP_TCP_H

#include "carrier/carrier.h"

/* RPC over TCP with record marking (RFC 5531, section 11) as carriers. Marked items travel in the stream. */
extern const struct rr_carriers_ops rr_tcp_carriers;

#endif
