/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TESTS_NLM_LOCKD_H
#define RR_TESTS_NLM_LOCKD_H

#include "../nfs4/world.h"
#include "ulb/nlm4.h"
#include "ulb/nsm1.h"

/* A host of NLM: its calls to the server of the world, and its own rpcbind, lockd and statd, which the server
 * calls. All hosts of an address share these. */

enum { LOCKD_KEPT = 64 };

/* The services of an address, and what they were called with. */
struct lockd_services {
	struct rpcrdma_server *server;
	uint16_t port;
	bool silent, unregistered; /* answers no GRANTED; has no port for anybody */
	bool mute;                 /* its rpcbind answers nothing */
	uint16_t elsewhere;        /* the port that rpcbind names; 0: that of the services */
	nlm4_stats answer;         /* to GRANTED */
	uint32_t lookups, granted, messages, results, notices;
	/* The last GRANTED or GRANTED_MSG. */
	nlm4_testargs args;
	uint8_t octets[4][1024];
	uint32_t vers;
	nlm4_stats stat; /* of the last TEST_RES to UNLOCK_RES, */
	uint32_t proc;   /* its procedure, */
	uint8_t cookie;  /* and the first octet of its cookie */
	int32_t state;   /* of the last SM_NOTIFY */
};

struct lockd {
	struct world *world;
	const char *name;
	struct rpcrdma_client *client;
	uint32_t vers;
	int32_t state;
	struct rpcrdma_bytes fh;
	nlm4_testres test; /* of the last TEST; its owner is in keep */
	uint8_t keep[4096];
};

/* Begins the services at 127.0.0.1 and, where there is IPv6, at ::1, at one port, and restarts the world so
 * that it knows this port. */
void services_begin(struct world *world, struct lockd_services *services);
void services_end(struct lockd_services *services);

/* Connects a host of this name, which locks the file. address: NULL: that of the world. */
void lockd_begin(struct lockd *lockd, struct world *world, const char *name, struct rpcrdma_bytes fh);
void lockd_begin_at(struct lockd *lockd, struct world *world, const char *name, struct rpcrdma_bytes fh,
	const struct sockaddr *address, socklen_t size);
void lockd_end(struct lockd *lockd);

/* An owner, and a range. */
struct lockd_range {
	int32_t svid;
	const char *oh;
	uint64_t offset, length;
	bool exclusive, block, reclaim;
};

/* Calls the procedure and returns the status of its result; of an asynchronous one, or one without a result:
 * NLM4_GRANTED. */
nlm4_stats lockd_call(struct lockd *lockd, uint32_t proc, const struct lockd_range *range);
nlm4_stats lockd_share(struct lockd *lockd, uint32_t proc, const char *oh, uint32_t mode, uint32_t access);
/* A range of the owner "oh"; LOCK and UNLOCK of it. */
struct lockd_range lockd_range(int32_t svid, uint64_t offset, uint64_t length, bool exclusive);
nlm4_stats lockd_lock(struct lockd *lockd, int32_t svid, uint64_t offset, uint64_t length, bool exclusive);
nlm4_stats lockd_block(struct lockd *lockd, int32_t svid, uint64_t offset, uint64_t length, bool exclusive);
nlm4_stats lockd_unlock(struct lockd *lockd, int32_t svid, uint64_t offset, uint64_t length);
void lockd_free_all(struct lockd *lockd, const char *name);
void lockd_notify(struct lockd *lockd, const char *name, int32_t state);

/* Calls a procedure with these octets as its arguments. Returns the error of the call: the server may refuse
 * what is no arguments. */
int lockd_raw(struct lockd *lockd, const struct rpcrdma_program *program, uint32_t proc,
	const uint8_t *octets, uint32_t length);

/* What each test has: a file "f" that all may use, its handle, two hosts of one address, and a client of
 * version 4. */
struct lockd_scene {
	struct world *world;
	struct peer *peer;
	struct lockd hosts[2];          /* "a" and "b" */
	struct lockd_services services; /* of the hosts' address, if services_begin() was called */
	uint8_t handle[64];
	struct rpcrdma_bytes fh;
	int local; /* an open of the file by this process, as a local program has it */
};

int scene_begin(void **state, struct lockd_scene *scene);
/* The same with the services of the hosts. */
int scene_begin_services(void **state, struct lockd_scene *scene);
/* The same with hosts whose rpcbind does not answer. */
int scene_begin_deaf(void **state, struct lockd_scene *scene);
int scene_end(void **state, struct lockd_scene *scene);
/* Ends the server and begins it again, as after a crash if nothing was unlocked; the hosts are connected
 * anew. */
void scene_restart(struct lockd_scene *scene);
struct rr_nlm_held scene_held(const struct lockd_scene *scene);

#endif
