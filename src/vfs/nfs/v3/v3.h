/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_VFS_NFS_V3_V3_H
#define RR_VFS_NFS_V3_V3_H

#include "rpc/client.h"
#include "vfs/vfs.h"

/*
 * This is the provider of directories of another server, by NFS version 3 (RFC 1813).
 *
 * A handle contains that of the other server, with a check made with the key, if it is short enough; else a
 * name for it in a table of this process, which keeps the RR_V3_LONG_HANDLES that were used last. So handles
 * of up to RR_V3_HANDLE_MAX octets stay valid over restarts.
 *
 * The provider acts as its callers do, with AUTH_SYS: the other server must believe it. Version 3 has no
 * opens: share reservations (of opens alone) and locks hold within this server, and an opened file that
 * another client removes is gone. There are no leases, holes, copies or extended attributes (RR_VFS_NOTSUPP).
 */

enum { RR_V3_HANDLE_MAX = 51, RR_V3_LONG_HANDLES = 65536, RR_V3_KEY = 32 };

struct rr_v3_export {
	const char *name; /* what clients mount */
	/* The handle of its root at the other server, as MOUNT gives it. */
	uint8_t root[64];
	uint32_t root_length;
};

struct rr_v3_config {
	const struct rr_v3_export *exports; /* they must stay as long as what is made of this */
	uint32_t export_count;              /* at most 64 */
	uint8_t key[RR_V3_KEY];
	bool read_only;
	uint32_t read_max, write_max; /* octets of a READ and of a WRITE, as FSINFO says (RFC 1813, 3.3.19) */
	struct rr_client_config rpc;  /* of the NFS service of the other server */
};

/* What the providers of all threads have in common. */
struct rr_v3_shared;

/* Errors: INVAL (two exports have the same name), NOMEM; with text. */
int rr_v3_shared_new(const struct rr_env *env, const struct rr_v3_config *config,
	struct rr_v3_shared **shared, struct rr_text *text);
/* Frees what the providers have in common, when they are destroyed. shared may be NULL. */
void rr_v3_shared_free(struct rr_v3_shared *shared);

/* Makes a provider for the loop of the engine, and begins to connect. While there is no connection,
 * operations wait for it. Errors: NOMEM, and those of rr_client_new(); with text. */
int rr_v3_new(struct rpcrdma_engine *engine, struct rr_v3_shared *shared, struct rr_vfs **vfs,
	struct rr_text *text);

#endif
