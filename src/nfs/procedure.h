/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_NFS_PROCEDURE_H
#define RR_NFS_PROCEDURE_H

#include "ulb/nfs3.h"
#include "vfs/vfs.h"

/*
 * What the client calls beside works (README.md): READ, WRITE, READDIR, READDIRPLUS and FSINFO of version 3,
 * by their numbers, with the arguments and results of version 3; and what nfs/v4/newer.h has. Version 4
 * carries them out by COMPOUNDs. READDIRPLUS alone has a result of its own, struct rr_nfs_list: attributes of
 * version 4 are wider than those of version 3.
 */

/* The attributes of an object. Of `vfs`, no NFS server sends id.birth, birth_time and block_size; version 3
 * has no change and no mounted_on: these are 0. */
struct rr_nfs_attributes {
	struct rr_vfs_attributes vfs;
	/* The names of the user and the group, of which the server sent no numbers: vfs.uid or vfs.gid is
	 * RR_VFS_NOBODY then. No octets: there is a number. */
	struct rpcrdma_bytes owner, group;
};

/* An entry of a directory. */
struct rr_nfs_listed {
	uint64_t cookie, number; /* number: 0 if the server did not send it */
	struct rpcrdma_bytes name;
	bool known;                  /* the server sent the attributes */
	struct rpcrdma_bytes handle; /* no octets: the server sent none */
	struct rr_nfs_attributes attributes;
	struct rr_nfs_listed *next;
};

struct rr_nfs_list {
	nfsstat3 status;
	bool eof; /* the directory ends here */
	uint8_t verifier[NFS3_COOKIEVERFSIZE];
	struct rr_nfs_listed *entries;
};

#endif
