/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_NFS_V4_NEWER_H
#define RR_NFS_V4_NEWER_H

#include "nfs/procedure.h"
#include "nfs/sec_offer.h"

/*
 * These are procedures of rr_v4_call() that version 3 does not have. Their numbers follow those of version 3,
 * and their arguments and results have the same shape: the arguments begin with the handle of a file or a
 * directory, and the results begin with the status.
 */
enum rr_v4_newer {
	RR_V4_PUT = NFSPROC3_COMMIT + 1, /* makes a whole file, where rr_v4_can_put() is true */
	RR_V4_SECINFO, /* asks for the flavors that a name, or a directory itself, may be used with */
	RR_V4_GETACL,  /* by version 3, a procedure of NFSACL; so is the next */
	RR_V4_SETACL,
	RR_V4_PROCEDURES,
	RR_V4_OPERATION = UINT16_MAX /* an operation of vfs.h: the call's ctx is a struct rr_v4_job */
};

/* Names that one LOOKUP may have, at most. */
enum { RR_V4_NAMES = 8 };

/* A new file of RR_V4_PUT: it is made under a temporary name, written to stable storage, and renamed when all
 * of that was done. */
struct rr_v4_put_args {
	nfs_fh3 directory;
	struct rpcrdma_bytes temporary, name;
	struct rr_vfs_set set; /* including attributes that writing changes */
	struct rpcrdma_bytes data;
	bool *made; /* set to true if the call failed after it had made the temporary name */
};

/* name: in the directory; no octets: the directory itself is meant. */
struct rr_v4_sec_args {
	nfs_fh3 directory;
	struct rpcrdma_bytes name;
};

struct rr_v4_sec_result {
	nfsstat3 status;
	struct rr_sec_offer offer;
};

/* Arguments of GETACL and SETACL by version 4, with the list in memory of the caller. */
struct rr_attr_lists;
struct rr_v4_acl_args {
	nfs_fh3 file;
	struct rr_attr_lists *lists;
	bool guarded;     /* SETACL: only if the object still has the number of change in guard */
	uint8_t guard[8]; /* as VERIFY has it */
};

struct rr_v4_acl_result {
	nfsstat3 status;
	bool has; /* of GETACL, as the rest: the server keeps a list */
	bool is_directory;
	uint32_t mode;
	uint64_t change;
};

struct rr_call;
struct rr_v4;
struct rr_v4_work;

/* The work of a READ that opens and closes the file itself, as the file is read only once. */
extern const struct rr_v4_work rr_v4_read_once;

/* Returns the work of a procedure, for struct rr_v4_config; NULL: version 4 has no such procedure. */
const struct rr_v4_work *rr_v4_procedure(const struct rr_call *call);

/* Returns how many names one LOOKUP may have in this session: at least 1. */
uint32_t rr_v4_names_max(const struct rr_v4 *v4);

/* Tells whether a COMPOUND may have as many operations as RR_V4_PUT has. */
bool rr_v4_can_put(const struct rr_v4 *v4);

#endif
