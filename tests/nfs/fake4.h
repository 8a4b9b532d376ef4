/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TESTS_NFS_FAKE4_H
#define RR_TESTS_NFS_FAKE4_H

#include "../stage.h"

#include "nfs/client.h"
#include "rpc/server.h"
#include "ulb/nfs42.h"

/* This is a server of NFS version 4 for tests: one directory with one file, served in the engine of the
 * client, and settings for what real servers do now and then and for what hostile servers do. The clock
 * belongs to the test: it goes on by a millisecond in each turn. */

enum { FAKE4_OPS = 96, FAKE4_SIZE = 100000, FAKE4_SLOTS = 4, FAKE4_SLOTS_MAX = 64, FAKE4_ENTRIES = 3 };

enum fake4_lie {
	FAKE4_HONEST,
	FAKE4_WRONG_SLOT,
	FAKE4_WRONG_SEQUENCE,
	FAKE4_WRONG_SESSION,
	FAKE4_TOO_MANY_RESULTS,
	FAKE4_TOO_FEW_RESULTS,
	FAKE4_OTHER_OPERATION,
	FAKE4_ERROR_IN_THE_MIDDLE,
	FAKE4_ATTRIBUTE_NOT_ASKED_FOR,
	FAKE4_ATTRIBUTES_TOO_SHORT,
	FAKE4_ATTRIBUTES_TOO_LONG,
	FAKE4_EMPTY_HANDLE,
	FAKE4_DEAD_SESSIONS, /* each session ends as soon as it is made */
	FAKE4_NO_SLOTS,
	FAKE4_LIES
};

struct fake4 {
	struct stage stage;
	struct rpcrdma_server *server;
	struct sockaddr_storage address;

	/* The state of the server. */
	uint32_t clientid, session; /* the present ones; 0: there is no client ID or session */
	uint32_t sequence[FAKE4_SLOTS_MAX];
	uint32_t opens;            /* OPENs less CLOSEs */
	uint32_t stateid;          /* the stateid that READ and WRITE must have */
	bool grace, fresh;         /* of the time before RECLAIM_COMPLETE */
	uint32_t calls[FAKE4_OPS]; /* how often each operation was executed */
	uint32_t reclaims;         /* OPENs by CLAIM_PREVIOUS */
	uint32_t owner;            /* octets of the last open-owner */
	uint32_t highest;          /* the highest slot that was used */
	uint32_t beside;           /* calls that say that a slot higher than their own is in use */
	uint32_t under_way, most;  /* calls that are kept now, and at most */
	uint8_t data[FAKE4_SIZE];
	COPY4args copied;   /* the last COPY */
	CLONE4args cloned;  /* the last CLONE */
	uint64_t copied_to; /* the offset at which the next COPY must begin, if the last COPY was short */

	/* The settings of the test. */
	uint32_t minor_max, slots; /* slots: FAKE4_SLOTS, or up to FAKE4_SLOTS_MAX */
	uint32_t operations;       /* of a COMPOUND; 0: as many as the client asked for */
	nfsstat4 refusal;          /* the status of the operation "refused", this many times */
	uint32_t refused, times;
	enum fake4_lie lie;
	bool delegates, silent;
	bool one_slot;              /* the client is to use slot 0 alone */
	bool lost;                  /* the next COMPOUND finds the server restarted */
	const char *major;          /* ID of the server's owner; NULL: empty */
	struct rpcrdma_bytes user;  /* the owner of each object; no octets: "1000" */
	seek_res4 seek;             /* the answer to SEEK */
	uint64_t copy_most;         /* octets of one COPY, at most; 0: all */
	LISTXATTRS4resok names;     /* the answer to LISTXATTRS */
	struct rpcrdma_bytes value; /* the answer to GETXATTR */
	bool copy_nothing, copy_more, copy_later, copy_anyhow;
	uint8_t verifier_step; /* added to the verifier by each COPY */
	const char *path;      /* the path that fake4_open() opens */

	/* Memory for the results of one COMPOUND. */
	nfs_resop4 results[32];
	uint8_t values[4096];
	entry4 entries[FAKE4_ENTRIES];
};

struct fake4 *fake4_new(void);
void fake4_free(struct fake4 *fake);

/* Lets the server forget all sessions, clients and opens; files that were open can be reclaimed. */
void fake4_restart(struct fake4 *fake);

/* Lets the server refuse the operation with that status, so many times. */
void fake4_refuse(struct fake4 *fake, uint32_t op, nfsstat4 status, uint32_t times);

int fake4_open(
	struct fake4 *fake, enum rr_nfs_version version, struct rpcrdma_nfs **nfs, struct rr_text *text);
struct rpcrdma_nfs *fake4_must_open(struct fake4 *fake);

#endif
