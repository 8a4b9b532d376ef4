/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_CARRIER_RDMA_ACCEPTOR_H
#define RR_CARRIER_RDMA_ACCEPTOR_H

#include "carrier/rdma/provider.h"

/* The operations of rr_rdma_carriers that listen: see struct rr_carriers_ops. */

int rr_acceptor_rdma_listen(struct rr_carriers *carriers, const struct rr_carrier_place *at,
	struct rr_acceptor **acceptor, struct rr_text *text);
int rr_acceptor_rdma_address(struct rr_acceptor *acceptor, struct sockaddr_storage *address);
const char *rr_acceptor_rdma_providers(const struct rr_acceptor *acceptor);
void rr_acceptor_rdma_close(struct rr_acceptor *acceptor);

#endif
