/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TESTS_NFS4_WORLD_H
#define RR_TESTS_NFS4_WORLD_H

#include "../stage.h"

#include "nfs4/errors.h"
#include "nfs4/server.h"
#include "rpc/client.h"
#include "rpc/server.h"
#include "ulb/nfs42.h"
#include "vfs/memory/memory.h"
#include "vfs/posix/posix.h"

/* A server of version 4 for a directory, and clients of it, in one engine: what they say goes over the
 * loopback. */

enum { WORLD_CLIENTS = 3, WORLD_OPS = 24, WORLD_CALLBACKS = 16 };

struct world;

/* How a client answers callbacks, and those that came. */
struct answers {
	struct rpcrdma_server *server; /* NULL: it serves no callbacks */
	uint32_t nulls, compounds;     /* that came */
	nfsstat4 sequence, status;     /* of the next ones: NFS4_OK: as it should be */
	bool silent;                   /* none is answered */
	bool replays;                  /* a sequence ID that came before is taken for a retry */
	uint32_t retries;
	sequenceid4 last[16]; /* of each slot */
	uint32_t minor;
	/* The second operation of each COMPOUND; pointers in it are not valid. */
	nfs_cb_argop4 ops[WORLD_CALLBACKS];
	uint8_t handle[128]; /* of the last */
	uint32_t handle_length;
};

/* A client with a session, which uses slot 0. */
struct peer {
	struct world *world;
	struct rpcrdma_client *client;
	clientid4 clientid;
	sequenceid4 create_sequence;
	sessionid4 session;
	uint32_t sequence, minor;
	bool cache;                        /* of its next calls */
	const channel_attrs4 *fore, *back; /* NULL: generous ones */
	const char *tag;                   /* NULL: "tag" */
	bool calls_back;                   /* its sessions have a backchannel, and it serves callbacks */
	struct answers answers;
	/* The last answer. */
	COMPOUND4res res;
	uint8_t memory[1 << 17], keep[1 << 18];
};

struct world {
	struct stage stage;
	char path[STAGE_PATH], records[STAGE_PATH];
	bool has_records;
	struct rr_tree_export exports[2];
	uint32_t export_count;
	struct rr_posix_shared *posix;
	bool in_memory;
	bool storage_fails; /* in ways of its own: NFS4ERR_SERVERFAULT is no wonder */
	struct rr_memory *memory;
	struct rr_vfs *vfs;
	struct rr_gate gate;
	const char *rule; /* for all exports; NULL: TEST_GATE_OPEN */
	struct rr_nfs4_shared *shared;
	struct rr_nfs4_server *nfs4;
	struct rpcrdma_server *server;
	struct sockaddr_in address;
	bool rdma;
	struct peer peers[WORLD_CLIENTS];
};

/* With one export "/", or two, "/a" and "/deep/b". */
int world_setup(void **state);
int world_setup_two_exports(void **state);
/* With one export "/", and a directory for the records of clients. */
int world_setup_records(void **state);
/* With one export "/" that lies in memory. */
int world_setup_memory(void **state);
int world_teardown(void **state);

/* The server ends and starts again at another port; peers are not connected after that. */
void world_restart(struct world *world);

/* Connects, and makes a client and a session. */
struct peer *world_new_peer(struct world *world, uint32_t number, const char *name, uint32_t uid);
/* The same, and is done with reclaiming. */
struct peer *world_peer(struct world *world, uint32_t number, const char *name, uint32_t uid);
void peer_connect(struct peer *peer, uint32_t uid);
nfsstat4 peer_exchange(struct peer *peer, const char *name, uint8_t verifier, uint32_t flags);
nfsstat4 peer_create_session(struct peer *peer);

/* The flags of the last SEQUENCE. */
uint32_t peer_flags(const struct peer *peer);
/* A client that serves callbacks, connected, with a session, done with reclaiming. */
struct peer *world_caller(struct world *world, uint32_t number, const char *name, uint32_t uid);
/* Turns of the loop until the number is at least that. */
void world_wait(struct world *world, const uint32_t *number, uint32_t least);
void peer_disconnect(struct peer *peer);
/* BIND_CONN_TO_SESSION to both channels, over a connection that is made for it where there is none. */
nfsstat4 peer_bind(struct peer *peer, uint32_t uid);

/* Each result has a status that its operation may have, none has NFS4ERR_SERVERFAULT, by which the server
 * stands in for a status that the operation may not have, and a COMPOUND ends with its first error. */
void world_check_results(const struct world *world, const COMPOUND4res *res);
/* One COMPOUND as it is; its status. */
nfsstat4 peer_raw(struct peer *peer, nfs_argop4 *ops, uint32_t count);
/* Begins a call of one operation behind a SEQUENCE, as peer_again() makes it; done is set when its answer is
 * there. */
struct started {
	COMPOUND4args args;
	nfs_argop4 ops[2];
	struct rr_call call;
	bool done;
};
void peer_start(struct peer *peer, const nfs_argop4 *op, struct started *started);

/* Behind a SEQUENCE. The result of ops[i] is peer_res(peer, i). */
nfsstat4 peer_run(struct peer *peer, const nfs_argop4 *ops, uint32_t count);
const nfs_resop4 *peer_res(const struct peer *peer, uint32_t index);
/* The same call again: slot, sequence and octets. */
nfsstat4 peer_again(struct peer *peer, const nfs_argop4 *ops, uint32_t count);

#define RUN(peer, ...)                                                                                       \
	peer_run(peer, (const nfs_argop4[]){ __VA_ARGS__ },                                                  \
		sizeof((const nfs_argop4[]){ __VA_ARGS__ }) / sizeof(nfs_argop4))

static inline struct rpcrdma_bytes
text_bytes(const char *text)
{
	return (struct rpcrdma_bytes){ text, (uint32_t)__builtin_strlen(text) };
}

static inline nfs_argop4
op_root(void)
{
	return (nfs_argop4){ .argop = OP_PUTROOTFH };
}

static inline nfs_argop4
op_plain(nfs_opnum4 op)
{
	return (nfs_argop4){ .argop = op };
}

static inline nfs_argop4
op_lookup(const char *name)
{
	return (nfs_argop4){ .argop = OP_LOOKUP, .u.oplookup.objname = text_bytes(name) };
}

static inline nfs_argop4
op_putfh(struct rpcrdma_bytes handle)
{
	return (nfs_argop4){ .argop = OP_PUTFH, .u.opputfh.object = handle };
}

/* OPEN by name: access and deny as they go over. A file that is made has mode 0644. */
nfs_argop4 op_open(const char *name, const char *owner, uint32_t access, uint32_t deny, bool create);
nfs_argop4 op_close(const stateid4 *stateid);
nfs_argop4 op_write(const stateid4 *stateid, uint64_t offset, const char *data);
nfs_argop4 op_read(const stateid4 *stateid, uint64_t offset, uint32_t count);
nfs_argop4 op_lock(
	const stateid4 *open, const char *owner, nfs_lock_type4 type, uint64_t offset, uint64_t length);

extern const stateid4 stateid_anonymous, stateid_current;

#endif
