/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_NFS_PROCEDURE_H
#define RR_NFS_PROCEDURE_H

#include "ulb/nfs3.h"
#include "vfs/vfs.h"

/*
 * What the client calls. A call has the number of a procedure of version 3, or one of nfs/v4/newer.h, and
 * each version of NFS carries it out in its own way: version 3 as it stands, version 4 by a COMPOUND. Where
 * version 3 has the words for it, the arguments and results are those of version 3. But attributes of version
 * 4 are wider than those of version 3: times have 64 bits for their seconds, a file system has 128 bits for
 * its identity, and users and groups have names. So the procedures with attributes have the arguments and
 * results that are declared here, in the words of vfs.h, and each version translates them once, as it encodes
 * and decodes them (v3.c, v4/attr.c).
 *
 *   procedure            arguments                       result
 *   READDIRPLUS          READDIRPLUS3args                struct rr_nfs_list
 */

/* The attributes of an object. Of `vfs`, no NFS server sends id.birth, birth_time and block_size; version 3
 * has no change and no mounted_on: these are 0. */
struct rr_nfs_attributes {
	struct rr_vfs_attributes vfs;
	/* The names of the user and the group, of which the server sent no numbers: vfs.uid or vfs.gid is
	 * RR_VFS_NOBODY then. No octets: there is a number. At most RPCRDMA_NFS_OWNER_MAX octets. */
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
