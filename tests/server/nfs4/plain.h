/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TESTS_NFS4_PLAIN_H
#define RR_TESTS_NFS4_PLAIN_H

#include "world.h"

/* Clients of version 4.0, in the world of version 4. */

/* An owner of opens or locks, with the number of its next request. */
struct plain_owner {
	const char *name;
	uint32_t seqid;
};

/* Sends operations as a COMPOUND of version 4.0, and returns its status. */
nfsstat4 plain_run(struct peer *peer, const nfs_argop4 *ops, uint32_t count);
#define PLAIN(peer, ...)                                                                                     \
	plain_run(peer, (const nfs_argop4[]){ __VA_ARGS__ },                                                 \
		sizeof((const nfs_argop4[]){ __VA_ARGS__ }) / sizeof(nfs_argop4))
/* The result of an operation of the last COMPOUND. */
const nfs_resop4 *plain_res(const struct peer *peer, uint32_t index);

/* Makes client `number` of the world: connects it. */
struct peer *plain_connect(struct world *world, uint32_t number, uint32_t uid);
/* Sends SETCLIENTID; stores the client ID in peer->clientid, and what is to be confirmed. */
nfsstat4 plain_setclientid(struct peer *peer, const char *name, uint8_t verifier, verifier4 confirm);
nfsstat4 plain_confirm(struct peer *peer, clientid4 id, const verifier4 confirm);
/* Makes a client with a confirmed client ID. */
struct peer *plain_peer(struct world *world, uint32_t number, const char *name, uint32_t uid);

/* Operations with the next number of their owner, which is counted up. */
nfs_argop4 plain_open(const struct peer *peer, struct plain_owner *owner, const char *name, uint32_t access,
	uint32_t deny, bool create);
nfs_argop4 plain_open_confirm(struct plain_owner *owner, const stateid4 *stateid);
nfs_argop4 plain_close(struct plain_owner *owner, const stateid4 *stateid);
nfs_argop4 plain_downgrade(
	struct plain_owner *owner, const stateid4 *stateid, uint32_t access, uint32_t deny);
/* A LOCK by an open, of a lock-owner, and by the stateid of the lock-owner. */
nfs_argop4 plain_lock(const struct peer *peer, struct plain_owner *opener, const stateid4 *open,
	struct plain_owner *locker, nfs_lock_type4 type, uint64_t offset, uint64_t length);
nfs_argop4 plain_lock_again(struct plain_owner *locker, const stateid4 *stateid, nfs_lock_type4 type,
	uint64_t offset, uint64_t length);
nfs_argop4 plain_locku(struct plain_owner *locker, const stateid4 *stateid, uint64_t offset, uint64_t length);
nfs_argop4 plain_lockt(
	const struct peer *peer, const char *owner, nfs_lock_type4 type, uint64_t offset, uint64_t length);
nfs_argop4 plain_release(const struct peer *peer, const char *owner);
nfs_argop4 plain_renew(clientid4 id);

/* Opens a file, confirms its owner if that is asked for, and returns the stateid. The file is made if it is
 * not there. */
stateid4 plain_opened(struct peer *peer, struct plain_owner *owner, const char *name, uint32_t access);

#endif
