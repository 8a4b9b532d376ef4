/* SPDX-License-Identifier: BSD-3-Clause */
/* What `rpcrdma serve` registers with rpcbind: its programs, at all its addresses. */
#include "base/address.h"
#include "tool/serve.h"
#include "ulb/mount3.h"
#include "ulb/nfs3.h"

enum { VERSION_4 = 4 };

static void
rpcbind_add_programs(struct rr_serve *serve, bool tcp, const struct sockaddr_storage *address)
{
	const struct sockaddr *at = (const struct sockaddr *)address;

	if (serve->version3) {
		rr_rpcbind_add(&serve->rpcbind, NFS_V3_program.prog, NFS_V3_program.vers, tcp, at);
		rr_rpcbind_add(&serve->rpcbind, MOUNT_V3_program.prog, MOUNT_V3_program.vers, tcp, at);
	}
	if (serve->version4)
		rr_rpcbind_add(&serve->rpcbind, NFS_V3_program.prog, VERSION_4, tcp, at);
}

void
rr_serve_register(const struct rr_tool *tool, struct rr_serve *serve)
{
	if (!serve->rpcbind.socket)
		return;
	for (uint32_t i = 0; i < serve->address_count; i++) {
		struct sockaddr_storage tcp = serve->addresses[i].rdma;

		if (serve->rpcbind_rdma)
			rpcbind_add_programs(serve, false, &serve->addresses[i].rdma);
		rr_address_set_port((struct sockaddr *)&tcp, (uint16_t)serve->tcp_port);
		if (serve->tcp_port)
			rpcbind_add_programs(serve, true, &tcp);
	}
	rr_rpcbind_register(tool, &serve->rpcbind);
}

void
rr_serve_withdraw(const struct rr_tool *tool, struct rr_serve *serve)
{
	bool registered = false;

	for (size_t i = 0; i < serve->rpcbind.count; i++)
		registered |= serve->rpcbind.entries[i].registered;
	if (registered)
		rr_rpcbind_withdraw(tool, &serve->rpcbind);
}
