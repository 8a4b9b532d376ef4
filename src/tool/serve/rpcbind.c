/* SPDX-License-Identifier: BSD-3-Clause */
/* Registers `rpcrdma serve` with rpcbind: its programs, at all its addresses. */
#include "base/address.h"
#include "tool/serve/serve.h"

/* Adds the versions of NFS that are served, at this address, to the entries for rpcbind. */
static void
rpcbind_add_programs(struct rr_serve *serve, bool tcp, const struct sockaddr_storage *address)
{
	rr_rpcbind_add_nfs(
		&serve->rpcbind, serve->version3, serve->version4, tcp, (const struct sockaddr *)address);
	if (serve->version3)
		rr_rpcbind_add_beside(&serve->rpcbind, tcp, (const struct sockaddr *)address);
}

void
rr_serve_register(const struct rr_tool *tool, struct rr_serve *serve)
{
	for (uint32_t i = 0; i < serve->address_count; i++) {
		struct sockaddr_storage tcp = serve->addresses[i].rdma;

		if (serve->rpcbind.rdma)
			rpcbind_add_programs(serve, false, &serve->addresses[i].rdma);
		rr_address_set_port((struct sockaddr *)&tcp, (uint16_t)serve->tcp_port);
		if (serve->tcp_port)
			rpcbind_add_programs(serve, true, &tcp);
		if (serve->tcp_port && serve->version3)
			rr_rpcbind_add_datagrams(&serve->rpcbind, (const struct sockaddr *)&tcp);
	}
	rr_rpcbind_register(tool, &serve->rpcbind);
}

void
rr_serve_withdraw(const struct rr_tool *tool, struct rr_serve *serve)
{
	rr_rpcbind_withdraw(tool, &serve->rpcbind);
}
