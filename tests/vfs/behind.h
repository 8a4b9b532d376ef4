/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TESTS_VFS_BEHIND_H
#define RR_TESTS_VFS_BEHIND_H

#include "../gate.h"
#include "../stage.h"

#include "nfs/client.h"
#include "server/nfs3/server.h"
#include "server/nfs4/server.h"
#include "server/nlm/server.h"
#include "vfs/nfs/remote/remote.h"
#include "vfs/posix/posix.h"

/* Another NFS server, one of this project, in the same process and loop, over a directory in memory; and
 * providers of its directory. */
struct behind {
	enum rr_nfs_version version; /* by which the providers call it */
	uint32_t lease;
	struct stage stage;
	char path[64];
	/* The server. */
	struct rr_tree_export tree;
	struct rr_posix_shared *shared;
	struct rr_vfs *vfs;
	struct rr_gate gate;
	struct rr_nfs_server *nfs;
	struct rr_nfs4_shared *shared4;
	struct rr_nfs4_server *nfs4;
	struct rr_locks *locks;
	struct rr_nlm_shared *nlm_shared;
	struct rr_nlm_server *nlm;
	struct rpcrdma_server *server;
	struct sockaddr_in address;
	/* The providers. */
	struct rr_remote_export export;
	struct rr_remote_config config;
	struct rr_remote_shared *provided;
};

/* Begins a server, and finds its directory. lease: seconds; 0: as `rpcrdma serve` has it. */
struct behind *behind_new(enum rr_nfs_version version, uint32_t lease);
void behind_free(struct behind *behind);
/* Ends the server, with all that it knows of its clients, and begins another at its address. */
void behind_restart(struct behind *behind);

/* What the providers share, and a provider. */
void behind_share(struct behind *behind);
void behind_unshare(struct behind *behind);
struct rr_vfs *behind_provide(struct behind *behind);

#endif
