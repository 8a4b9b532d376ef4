/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TESTS_NFS4_WORLD_H
#define RR_TESTS_NFS4_WORLD_H

#include "../../stage.h"

#include "../../vfs/memory/memory.h"
#include "rpc/client.h"
#include "rpc/server.h"
#include "server/nfs4/errors.h"
#include "server/nfs4/server.h"
#include "server/nlm/server.h"
#include "ulb/nfs42.h"
#include "vfs/posix/posix.h"

/* A server of version 4 for a directory and its clients, all in one engine. They talk over the loopback. */

enum { WORLD_CLIENTS = 3, WORLD_OPS = 24, WORLD_CALLBACKS = 16 };

#define WORLD_NOBODY UINT32_MAX

struct world;

/* How a client answers callbacks, and which callbacks it got. */
struct answers {
	struct rpcrdma_server *server; /* NULL: the client serves no callbacks */
	uint32_t nulls, compounds;     /* number of CB_NULL and CB_COMPOUND calls that came */
	nfsstat4 sequence, status;     /* of the next CB_SEQUENCE, and of the operation after it */
	bool silent;                   /* the client answers no callback */
	bool replays;                  /* the client takes a repeated sequence ID for a retry */
	uint32_t retries;
	sequenceid4 last[16]; /* sequence ID of each slot */
	uint32_t minor;
	/* The second operation of each CB_COMPOUND. Its pointers are not valid any more. */
	nfs_cb_argop4 ops[WORLD_CALLBACKS];
	/* The user ID of the credential of each CB_COMPOUND; WORLD_NOBODY: it is no AUTH_SYS credential. */
	uint32_t uids[WORLD_CALLBACKS];
	/* Of the last CB_COMPOUND: the number of its octets, and the referring call of its CB_SEQUENCE. */
	uint32_t size;
	bool refers;
	sessionid4 referring_session;
	referring_call4 referring;
	uint8_t handle[128]; /* file handle of the last callback */
	uint32_t handle_length;
};

/* A client with a session. Its calls use slot 0. */
struct peer {
	struct world *world;
	struct rpcrdma_client *client;
	clientid4 clientid;
	sequenceid4 create_sequence;
	sessionid4 session;
	uint32_t sequence, minor;
	bool cache;                        /* sa_cachethis of the next calls */
	const channel_attrs4 *fore, *back; /* NULL: attributes with generous limits */
	const char *tag;                   /* tag of each COMPOUND; NULL: "tag" */
	bool calls_back; /* its sessions have a backchannel, and the client serves callbacks */
	struct answers answers;
	/* The answer to the last COMPOUND. */
	COMPOUND4res res;
	uint8_t memory[1 << 17], keep[5 << 18];
};

struct world {
	struct stage stage;
	char path[STAGE_PATH], records[STAGE_PATH];
	bool has_records;
	uint32_t minors; /* RR_NFS4_MINOR_*; 0: as by default */
	uint32_t lease;  /* of the next start, in seconds; 0: as by default */
	struct rr_tree_export exports[2];
	uint32_t export_count;
	struct rr_posix_shared *posix;
	bool in_memory;
	bool storage_fails; /* the storage fails on purpose, so NFS4ERR_SERVERFAULT is a valid status */
	struct rr_memory *memory;
	struct rr_vfs *vfs;
	struct rr_gate gate;
	const char *rule;              /* rule for all exports; NULL: TEST_GATE_OPEN */
	rr_idmap_directory *directory; /* of users; NULL: the server has no names and no groups of users */
	bool manage_gids;
	const struct rr_auth *const *auths; /* NULL: as by default */
	struct rr_idmap *idmap;
	struct rr_nfs4_shared *shared;
	struct rr_nfs4_server *nfs4;
	/* The locks of version 3, which are served beside version 4 if has_nlm is set; rpcbind: the port of
	 * the hosts' rpcbind. */
	bool has_nlm;
	uint16_t rpcbind;
	uint32_t claims; /* the most of all hosts; 0: many */
	struct rr_locks *locks;
	struct rr_nlm_shared *nlm_shared;
	struct rr_nlm_server *nlm;
	struct rpcrdma_server *server;
	struct sockaddr_in address;
	bool rdma;
	struct peer peers[WORLD_CLIENTS];
};

/* Makes a server with one export "/", or with two exports "/a" and "/deep/b". */
int world_setup(void **state);
int world_setup_two_exports(void **state);
/* Makes a server with one export "/", and with a directory for the records of clients. */
int world_setup_records(void **state);
/* The same, and version 4.0 is served, too. */
int world_setup_plain(void **state);
/* Makes a server with one export "/", whose files are in memory. */
int world_setup_memory(void **state);
/* Makes a server with one export "/", with a directory for records, and with the locks of version 3. */
int world_setup_nlm(void **state);
int world_teardown(void **state);

/* Listens at another address, too. */
void world_listen(struct world *world, enum rr_transport transport, struct sockaddr *address, socklen_t size);
/* Ends the server, and starts it again at another port. The peers are not connected afterwards. */
void world_restart(struct world *world);

/* Connects a client, and makes its client ID and session. */
struct peer *world_new_peer(struct world *world, uint32_t number, const char *name, uint32_t uid);
/* Makes a client like world_new_peer(), and calls RECLAIM_COMPLETE. */
struct peer *world_peer(struct world *world, uint32_t number, const char *name, uint32_t uid);
/* Makes client 0 like world_peer(), of user 0, and an object of each kind in the export, named after the
 * kind. */
struct peer *world_kinds(struct world *world);
/* Lets all users into the export's directory. */
void world_open_to_all(const struct world *world);
void peer_connect(struct peer *peer, uint32_t uid);
nfsstat4 peer_exchange(struct peer *peer, const char *name, uint8_t verifier, uint32_t flags);
nfsstat4 peer_create_session(struct peer *peer);

/* Returns the flags in the last SEQUENCE result. */
uint32_t peer_flags(const struct peer *peer);
/* Makes a client like world_peer(), whose session has a backchannel, and that answers callbacks. */
struct peer *world_caller(struct world *world, uint32_t number, const char *name, uint32_t uid);
/* Runs the loop until the number is at least `least`. */
void world_wait(struct world *world, const uint32_t *number, uint32_t least);
void peer_disconnect(struct peer *peer);
/* Binds a connection to both channels of the session by BIND_CONN_TO_SESSION. Connects when there is no
 * connection. */
nfsstat4 peer_bind(struct peer *peer, uint32_t uid);

/* Checks the results of a COMPOUND: the status of each is one that its operation may have, no status is
 * NFS4ERR_SERVERFAULT (with which the server replaces a status that the operation may not have), and the
 * COMPOUND ends at its first error. */
void world_check_results(const struct world *world, uint32_t minor, const COMPOUND4res *res);
/* Sends a COMPOUND with these operations and no others, and returns its status. */
nfsstat4 peer_raw(struct peer *peer, nfs_argop4 *ops, uint32_t count);
/* A call of one operation after a SEQUENCE, as peer_again() makes it, which has been begun. `done` is set
 * when the answer has come. */
struct started {
	COMPOUND4args args;
	nfs_argop4 ops[WORLD_OPS];
	struct rr_call call;
	bool done;
};
void peer_start(struct peer *peer, const nfs_argop4 *op, struct started *started);
/* Begins the COMPOUND in started->args. */
void peer_start_raw(struct peer *peer, struct started *started);
/* The same for up to WORLD_OPS - 1 operations. */
void peer_start_all(struct peer *peer, const nfs_argop4 *ops, uint32_t count, struct started *started);

/* Sends a COMPOUND of a SEQUENCE and these operations, and returns its status. The result of ops[i] is
 * peer_res(peer, i). */
nfsstat4 peer_run(struct peer *peer, const nfs_argop4 *ops, uint32_t count);
const nfs_resop4 *peer_res(const struct peer *peer, uint32_t index);
/* Sends these operations with the slot and the sequence ID of the last call: a retry. */
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

static inline nfs_argop4
op_remove(const char *name)
{
	return (nfs_argop4){ .argop = OP_REMOVE, .u.opremove.target = text_bytes(name) };
}

static inline nfs_argop4
op_rename(const char *from, const char *to)
{
	return (nfs_argop4){ .argop = OP_RENAME, .u.oprename = { text_bytes(from), text_bytes(to) } };
}

static inline nfs_argop4
op_link(const char *name)
{
	return (nfs_argop4){ .argop = OP_LINK, .u.oplink.newname = text_bytes(name) };
}

/* A CREATE of an object that is no file, without attributes; `target` is that of a symbolic link, or NULL. */
nfs_argop4 op_create(nfs_ftype4 type, const char *name, const char *target);
nfs_argop4 op_setattr_mode(uint32_t mode);

/* An OPEN by name; `access` and `deny` are sent unchanged. A new file gets mode 0644. */
nfs_argop4 op_open(const char *name, const char *owner, uint32_t access, uint32_t deny, bool create);
nfs_argop4 op_close(const stateid4 *stateid);
nfs_argop4 op_write(const stateid4 *stateid, uint64_t offset, const char *data);
nfs_argop4 op_read(const stateid4 *stateid, uint64_t offset, uint32_t count);
nfs_argop4 op_readdir(uint64_t cookie, uint8_t verifier, uint32_t maxcount);
nfs_argop4 op_lock(
	const stateid4 *open, const char *owner, nfs_lock_type4 type, uint64_t offset, uint64_t length);

extern const stateid4 stateid_anonymous, stateid_current;

#endif
