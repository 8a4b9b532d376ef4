/* SPDX-License-Identifier: BSD-3-Clause */
#include "plain.h"

#include <string.h>

nfsstat4
plain_run(struct peer *peer, const nfs_argop4 *ops, uint32_t count)
{
	nfs_argop4 all[WORLD_OPS];

	assert_true(count <= WORLD_OPS);
	memcpy(all, ops, count * sizeof(*ops));
	peer->minor = 0;
	return peer_raw(peer, all, count);
}

const nfs_resop4 *
plain_res(const struct peer *peer, uint32_t index)
{
	assert_true(index < peer->res.resarray.count);
	return &peer->res.resarray.values[index];
}

struct peer *
plain_connect(struct world *world, uint32_t number, uint32_t uid)
{
	struct peer *peer = &world->peers[number];

	peer->world = world;
	peer_connect(peer, uid);
	return peer;
}

nfsstat4
plain_setclientid(struct peer *peer, const char *name, uint8_t verifier, verifier4 confirm)
{
	const nfs_argop4 op = { .argop = OP_SETCLIENTID,
		.u.opsetclientid = { .client = { { verifier }, text_bytes(name) },
			.callback = { 0x40000000, { text_bytes("tcp"), text_bytes("127.0.0.1.8.1") } },
			.callback_ident = 1 } };
	nfsstat4 status = PLAIN(peer, op);

	if (status == NFS4_OK) {
		const SETCLIENTID4resok *ok = &plain_res(peer, 0)->u.opsetclientid.u.resok4;

		peer->clientid = ok->clientid;
		memcpy(confirm, ok->setclientid_confirm, NFS4_VERIFIER_SIZE);
	}
	return status;
}

nfsstat4
plain_confirm(struct peer *peer, clientid4 id, const verifier4 confirm)
{
	nfs_argop4 op = { .argop = OP_SETCLIENTID_CONFIRM, .u.opsetclientid_confirm = { .clientid = id } };

	memcpy(op.u.opsetclientid_confirm.setclientid_confirm, confirm, NFS4_VERIFIER_SIZE);
	return PLAIN(peer, op);
}

struct peer *
plain_peer(struct world *world, uint32_t number, const char *name, uint32_t uid)
{
	struct peer *peer = plain_connect(world, number, uid);
	verifier4 confirm;

	assert_int_equal(plain_setclientid(peer, name, 1, confirm), NFS4_OK);
	assert_int_equal(plain_confirm(peer, peer->clientid, confirm), NFS4_OK);
	return peer;
}

nfs_argop4
plain_open(const struct peer *peer, struct plain_owner *owner, const char *name, uint32_t access,
	uint32_t deny, bool create)
{
	nfs_argop4 op = op_open(name, owner->name, access, deny, create);

	op.u.opopen.owner.clientid = peer->clientid;
	op.u.opopen.seqid = owner->seqid++;
	return op;
}

nfs_argop4
plain_open_confirm(struct plain_owner *owner, const stateid4 *stateid)
{
	return (nfs_argop4){ .argop = OP_OPEN_CONFIRM, .u.opopen_confirm = { *stateid, owner->seqid++ } };
}

nfs_argop4
plain_close(struct plain_owner *owner, const stateid4 *stateid)
{
	return (nfs_argop4){ .argop = OP_CLOSE, .u.opclose = { owner->seqid++, *stateid } };
}

nfs_argop4
plain_downgrade(struct plain_owner *owner, const stateid4 *stateid, uint32_t access, uint32_t deny)
{
	return (nfs_argop4){ .argop = OP_OPEN_DOWNGRADE,
		.u.opopen_downgrade = { *stateid, owner->seqid++, access, deny } };
}

nfs_argop4
plain_lock(const struct peer *peer, struct plain_owner *opener, const stateid4 *open,
	struct plain_owner *locker, nfs_lock_type4 type, uint64_t offset, uint64_t length)
{
	nfs_argop4 op = op_lock(open, locker->name, type, offset, length);
	open_to_lock_owner4 *owner = &op.u.oplock.locker.u.open_owner;

	owner->open_seqid = opener->seqid++;
	owner->lock_seqid = locker->seqid++;
	owner->lock_owner.clientid = peer->clientid;
	return op;
}

nfs_argop4
plain_lock_again(struct plain_owner *locker, const stateid4 *stateid, nfs_lock_type4 type, uint64_t offset,
	uint64_t length)
{
	return (nfs_argop4){ .argop = OP_LOCK,
		.u.oplock = { .locktype = type,
			.offset = offset,
			.length = length,
			.locker = { false, { .lock_owner = { *stateid, locker->seqid++ } } } } };
}

nfs_argop4
plain_locku(struct plain_owner *locker, const stateid4 *stateid, uint64_t offset, uint64_t length)
{
	return (nfs_argop4){ .argop = OP_LOCKU,
		.u.oplocku = { WRITE_LT, locker->seqid++, *stateid, offset, length } };
}

nfs_argop4
plain_lockt(const struct peer *peer, const char *owner, nfs_lock_type4 type, uint64_t offset, uint64_t length)
{
	return (nfs_argop4){ .argop = OP_LOCKT,
		.u.oplockt = { type, offset, length, { peer->clientid, text_bytes(owner) } } };
}

nfs_argop4
plain_release(const struct peer *peer, const char *owner)
{
	return (nfs_argop4){ .argop = OP_RELEASE_LOCKOWNER,
		.u.oprelease_lockowner.lock_owner = { peer->clientid, text_bytes(owner) } };
}

nfs_argop4
plain_renew(clientid4 id)
{
	return (nfs_argop4){ .argop = OP_RENEW, .u.oprenew.clientid = id };
}

stateid4
plain_opened(struct peer *peer, struct plain_owner *owner, const char *name, uint32_t access)
{
	const OPEN4resok *ok;
	stateid4 stateid;

	assert_int_equal(PLAIN(peer, op_root(), plain_open(peer, owner, name, access, 0, true)), NFS4_OK);
	ok = &plain_res(peer, 1)->u.opopen.u.resok4;
	stateid = ok->stateid;
	if (!(ok->rflags & OPEN4_RESULT_CONFIRM))
		return stateid;
	assert_int_equal(
		PLAIN(peer, op_root(), op_lookup(name), plain_open_confirm(owner, &stateid)), NFS4_OK);
	return plain_res(peer, 2)->u.opopen_confirm.u.resok4.open_stateid;
}
