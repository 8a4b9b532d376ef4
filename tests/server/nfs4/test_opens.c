/* SPDX-License-Identifier: BSD-3-Clause */
/* OPEN, CLOSE, OPEN_DOWNGRADE, LOCK and stateids at their edges, over the loopback: RFC 8881, sections 8.2,
 * 9, 18.2, 18.10 to 18.12, 18.16, 18.18, 18.38 and 18.48. */
#include "world.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { R = OPEN4_SHARE_ACCESS_READ, W = OPEN4_SHARE_ACCESS_WRITE, RW = OPEN4_SHARE_ACCESS_BOTH };

static stateid4
opened(const struct peer *peer, uint32_t index)
{
	return peer_res(peer, index)->u.opopen.u.resok4.stateid;
}

static nfs_argop4
op_downgrade(const stateid4 *stateid, uint32_t access, uint32_t deny)
{
	return (nfs_argop4){ .argop = OP_OPEN_DOWNGRADE,
		.u.opopen_downgrade = { *stateid, 0, access, deny } };
}

static nfs_argop4
op_exclusive(const char *name, uint8_t verifier, uint32_t attribute)
{
	static uint32_t words[3];
	static const uint8_t value[8] = { 0 };
	nfs_argop4 op = op_open(name, "o", RW, 0, true);
	creatverfattr both = { { verifier }, { { 0, NULL }, { NULL, 0 } } };

	memset(words, 0, sizeof(words));
	words[attribute / 32] = UINT32_C(1) << attribute % 32;
	if (attribute > 0)
		both.cva_attrs = (fattr4){ { 3, words }, { value, attribute == FATTR4_MODE ? 4 : 8 } };
	op.u.opopen.openhow.u.how = (createhow4){ EXCLUSIVE4_1, { .ch_createboth = both } };
	return op;
}

/* 18.16.3 */
static void
files_are_made_in_four_ways(void **state)
{
	struct peer *peer = world_peer(*state, 0, "a", 0);
	nfs_argop4 guarded = op_open("guarded", "o", RW, 0, true);
	const OPEN4resok *ok;

	guarded.u.opopen.openhow.u.how.mode = GUARDED4;
	assert_int_equal(RUN(peer, op_root(), guarded), NFS4_OK);
	assert_int_equal(RUN(peer, op_root(), guarded), NFS4ERR_EXIST);
	assert_int_equal(RUN(peer, op_root(), op_open("guarded", "o", RW, 0, true)), NFS4_OK);
	assert_int_equal(RUN(peer, op_root(), op_exclusive("exclusive", 1, FATTR4_MODE)), NFS4_OK);
	ok = &peer_res(peer, 1)->u.opopen.u.resok4;
	assert_true(ok->cinfo.before != ok->cinfo.after);
	assert_true(ok->attrset.values[1] & 1 << (FATTR4_MODE - 32));
	assert_int_equal(ok->stateid.seqid, 1);
	/* A second OPEN with the same verifier is a retry, and succeeds. With another verifier it fails. */
	assert_int_equal(RUN(peer, op_root(), op_exclusive("exclusive", 1, FATTR4_MODE)), NFS4_OK);
	ok = &peer_res(peer, 1)->u.opopen.u.resok4;
	assert_int_equal(ok->stateid.seqid, 2);
	assert_int_equal(RUN(peer, op_root(), op_exclusive("exclusive", 2, FATTR4_MODE)), NFS4ERR_EXIST);
	/* The attributes are one that suppattr_exclcreat does not have, one that can only be read, and one
	 * that does not exist. */
	assert_int_equal(RUN(peer, op_root(), op_exclusive("x", 1, FATTR4_TIME_MODIFY_SET)), NFS4ERR_INVAL);
	assert_int_equal(RUN(peer, op_root(), op_exclusive("x", 1, FATTR4_CHANGE)), NFS4ERR_INVAL);
	assert_int_equal(RUN(peer, op_root(), op_exclusive("x", 1, FATTR4_ARCHIVE)), NFS4ERR_INVAL);
	assert_int_equal(RUN(peer, op_root(), op_lookup("x")), NFS4ERR_NOENT);
}

/* 18.16.3: "UNCHECKED4 indicates that the file should be created if a file of that name does not exist": with
 * the attributes that the client gives, its size among them. */
static void
a_new_file_has_the_size_that_was_asked_for(void **state)
{
	static const createmode4 modes[] = { UNCHECKED4, GUARDED4 };
	static const char *const names[] = { "unchecked", "guarded" };
	static uint32_t words[1] = { UINT32_C(1) << FATTR4_SIZE };
	static const uint8_t size[8] = { [7] = 9 };
	struct peer *peer = world_peer(*state, 0, "a", 0);

	for (size_t i = 0; i < 2; i++) {
		nfs_argop4 op = op_open(names[i], "o", R, 0, true);
		const OPEN4resok *ok;

		op.u.opopen.openhow.u.how.mode = modes[i];
		op.u.opopen.openhow.u.how.u.createattrs = (fattr4){ { 1, words }, { size, sizeof(size) } };
		assert_int_equal(RUN(peer, op_root(), op, op_read(&stateid_current, 0, 20)), NFS4_OK);
		ok = &peer_res(peer, 1)->u.opopen.u.resok4;
		assert_int_equal(ok->attrset.count, 1);
		assert_int_equal(ok->attrset.values[0], words[0]);
		assert_true(ok->cinfo.before != ok->cinfo.after);
		assert_int_equal(peer_res(peer, 2)->u.opread.u.resok4.data.length, 9);
	}
}

/* 18.2: a CLOSE waits for an OPEN of the same open-owner that is under way, as the stateid that the OPEN
 * returns would otherwise name a state that has ended. */
static void
a_close_waits_for_an_open_under_way(void **state)
{
	struct world *world = *state;
	struct rr_nfs4_tables *tables = &world->shared->tables;
	struct peer *peer = world_peer(world, 0, "a", 0);
	struct rr_nfs4_state *open;
	stateid4 stateid;

	assert_int_equal(RUN(peer, op_root(), op_open("file", "o", R, 0, true)), NFS4_OK);
	stateid = opened(peer, 1);
	assert_int_equal(rr_nfs4_state_find(tables, rr_nfs4_client_find(&tables->clients, peer->clientid),
				 &stateid, NULL, RR_NFS4_OPEN, &open),
		NFS4_OK);
	rr_nfs4_state_hold(open);
	assert_int_equal(RUN(peer, op_root(), op_lookup("file"), op_close(&stateid)), NFS4ERR_DELAY);
	rr_nfs4_state_release(open);
	assert_int_equal(RUN(peer, op_root(), op_lookup("file"), op_read(&stateid, 0, 1)), NFS4_OK);
	assert_int_equal(RUN(peer, op_root(), op_lookup("file"), op_close(&stateid)), NFS4_OK);
}

/* The storage lets the owner of a file truncate it by any mode, as NFS version 3 needs it; an OPEN that
 * truncates wants the right to write: 6.1. */
static void
an_owner_without_the_right_to_write_truncates_nothing(void **state)
{
	static uint32_t words[1] = { UINT32_C(1) << FATTR4_SIZE };
	static const uint8_t zero[8];
	struct peer *peer = world_peer(*state, 0, "a", 0), *owner = world_peer(*state, 1, "b", 1000);
	const nfs_argop4 dir = op_lookup("dir"), file = op_lookup("file");
	nfs_argop4 op = op_open("file", "o", R, 0, true);

	if (geteuid() != 0)
		skip();
	world_open_to_all(*state);
	assert_int_equal(RUN(peer, op_root(), op_create(NF4DIR, "dir", NULL)), NFS4_OK);
	assert_int_equal(RUN(peer, op_root(), dir, op_setattr_mode(0777)), NFS4_OK);
	assert_int_equal(RUN(owner, op_root(), dir, op_open("file", "o", RW, 0, true),
				 op_write(&stateid_current, 0, "text")),
		NFS4_OK);
	assert_int_equal(RUN(owner, op_root(), dir, file, op_setattr_mode(0444)), NFS4_OK);
	op.u.opopen.openhow.u.how.u.createattrs = (fattr4){ { 1, words }, { zero, sizeof(zero) } };
	assert_int_equal(RUN(owner, op_root(), dir, op), NFS4ERR_ACCESS);
	assert_int_equal(RUN(owner, op_root(), dir, file, op_read(&stateid_anonymous, 0, 10)), NFS4_OK);
	assert_int_equal(peer_res(owner, 3)->u.opread.u.resok4.data.length, 4);
	assert_int_equal(RUN(owner, op_root(), dir, file, op_setattr_mode(0644)), NFS4_OK);
	assert_int_equal(RUN(owner, op_root(), dir, op), NFS4_OK);
	assert_int_equal(RUN(owner, op_root(), dir, file, op_read(&stateid_anonymous, 0, 10)), NFS4_OK);
	assert_int_equal(peer_res(owner, 3)->u.opread.u.resok4.data.length, 0);
}

/* 18.16.3: "the truncation of the file ... MUST be done" by a size of 0; another size of an existing file is
 * ignored. */
/* What a client has written and closed can be executed, also after a COMMIT, which has no stateid. */
static void
a_closed_file_is_open_for_writing_no_more(void **state)
{
	struct world *world = *state;
	struct peer *peer = world_peer(world, 0, "a", 0);
	char path[STAGE_PATH + 8];
	char *const none[] = { NULL };
	stateid4 stateid;

	assert_int_equal(
		RUN(peer, op_root(), op_open("f", "o", RW, 0, true), op_setattr_mode(0755)), NFS4_OK);
	stateid = peer_res(peer, 1)->u.opopen.u.resok4.stateid;
	snprintf(path, sizeof(path), "%s/f", world->path);
	assert_int_equal(RUN(peer, op_root(), op_lookup("f"), op_write(&stateid, 0, "no program"),
				 op_plain(OP_COMMIT)),
		NFS4_OK);
	assert_int_equal(execve(path, none, none), -1);
	assert_int_equal(errno, ETXTBSY);
	assert_int_equal(RUN(peer, op_root(), op_lookup("f"), op_close(&stateid)), NFS4_OK);
	assert_int_equal(execve(path, none, none), -1);
	assert_int_equal(errno, ENOEXEC);
}

static void
an_existing_file_is_truncated_by_a_size_of_zero_alone(void **state)
{
	static uint32_t words[1] = { UINT32_C(1) << FATTR4_SIZE };
	static uint8_t size[8];
	struct peer *peer = world_peer(*state, 0, "a", 0);
	nfs_argop4 op = op_open("file", "o", RW, 0, true);

	assert_int_equal(RUN(peer, op_root(), op, op_write(&stateid_current, 0, "text")), NFS4_OK);
	op.u.opopen.openhow.u.how.u.createattrs = (fattr4){ { 1, words }, { size, sizeof(size) } };
	size[7] = 2;
	assert_int_equal(RUN(peer, op_root(), op, op_read(&stateid_current, 0, 10)), NFS4_OK);
	assert_int_equal(peer_res(peer, 2)->u.opread.u.resok4.data.length, 4);
	size[7] = 0;
	assert_int_equal(RUN(peer, op_root(), op, op_read(&stateid_current, 0, 10)), NFS4_OK);
	assert_int_equal(peer_res(peer, 2)->u.opread.u.resok4.data.length, 0);
}

/* 18.16.3: an OPEN that truncates writes once, whatever access it asks for. What others deny it does not get;
 * what it denies itself is no matter. */
static void
truncating_is_writing(void **state)
{
	static uint32_t words[1] = { UINT32_C(1) << FATTR4_SIZE };
	static const uint8_t zero[8];
	struct peer *peer = world_peer(*state, 0, "a", 0), *other = world_peer(*state, 1, "b", 0);
	const nfs_argop4 file = op_lookup("file");
	nfs_argop4 op = op_open("file", "o", R, OPEN4_SHARE_DENY_WRITE, true);
	stateid4 stateid;

	assert_int_equal(RUN(peer, op_root(), op_open("file", "w", RW, 0, true),
				 op_write(&stateid_current, 0, "text")),
		NFS4_OK);
	stateid = opened(peer, 1);
	assert_int_equal(RUN(peer, op_root(), file, op_close(&stateid)), NFS4_OK);
	op.u.opopen.openhow.u.how.u.createattrs = (fattr4){ { 1, words }, { zero, sizeof(zero) } };
	assert_int_equal(
		RUN(other, op_root(), op_open("file", "d", R, OPEN4_SHARE_DENY_WRITE, false)), NFS4_OK);
	stateid = opened(other, 1);
	op.u.opopen.share_deny = 0;
	assert_int_equal(RUN(peer, op_root(), op), NFS4ERR_SHARE_DENIED);
	assert_int_equal(RUN(peer, op_root(), file, op_read(&stateid_anonymous, 0, 10)), NFS4_OK);
	assert_int_equal(peer_res(peer, 2)->u.opread.u.resok4.data.length, 4);
	assert_int_equal(RUN(other, op_root(), file, op_close(&stateid)), NFS4_OK);
	op.u.opopen.share_deny = OPEN4_SHARE_DENY_WRITE;
	assert_int_equal(RUN(peer, op_root(), op, op_read(&stateid_current, 0, 10)), NFS4_OK);
	assert_int_equal(peer_res(peer, 2)->u.opread.u.resok4.data.length, 0);
}

/* 18.16.3: claims. */
static void
claims_are_made_as_they_can_be(void **state)
{
	struct peer *peer = world_peer(*state, 0, "a", 0);
	nfs_argop4 op = op_open("file", "o", RW, 0, true);

	assert_int_equal(RUN(peer, op_root(), op), NFS4_OK);
	op.u.opopen.openhow.opentype = OPEN4_NOCREATE;
	op.u.opopen.claim = (open_claim4){ .claim = CLAIM_FH };
	assert_int_equal(RUN(peer, op_root(), op), NFS4ERR_ISDIR);
	assert_int_equal(RUN(peer, op_root(), op_lookup("file"), op), NFS4_OK);
	assert_int_equal(opened(peer, 2).seqid, 2);
	op.u.opopen.claim = (open_claim4){ .claim = CLAIM_PREVIOUS };
	assert_int_equal(RUN(peer, op_root(), op_lookup("file"), op), NFS4ERR_NO_GRACE);
	op.u.opopen.claim = (open_claim4){ .claim = CLAIM_DELEG_CUR_FH };
	assert_int_equal(RUN(peer, op_root(), op_lookup("file"), op), NFS4ERR_BAD_STATEID);
	op.u.opopen.claim =
		(open_claim4){ CLAIM_DELEGATE_CUR, { .delegate_cur_info = { .file = text_bytes("file") } } };
	assert_int_equal(RUN(peer, op_root(), op), NFS4ERR_BAD_STATEID);
	op = op_open("file", "o", RW | OPEN4_SHARE_ACCESS_WANT_NO_DELEG, 0, false);
	assert_int_equal(RUN(peer, op_root(), op), NFS4_OK);
	assert_int_equal(
		peer_res(peer, 1)->u.opopen.u.resok4.delegation.delegation_type, OPEN_DELEGATE_NONE_EXT);
	assert_int_equal(
		peer_res(peer, 1)->u.opopen.u.resok4.delegation.u.od_whynone.ond_why, WND4_NOT_WANTED);
	op.u.opopen.share_access = RW | 0x40000;
	assert_int_equal(RUN(peer, op_root(), op), NFS4ERR_INVAL);
}

/* 9.7 to 9.9, 18.18.3 */
static void
shares_are_denied_and_given_back(void **state)
{
	struct peer *peer = world_peer(*state, 0, "a", 0), *other = world_peer(*state, 1, "b", 0);
	stateid4 stateid, old;

	assert_int_equal(RUN(peer, op_root(), op_open("file", "o", R, 0, true)), NFS4_OK);
	assert_int_equal(RUN(peer, op_root(), op_open("file", "o", RW, W, false)), NFS4_OK);
	stateid = opened(peer, 1);
	assert_int_equal(stateid.seqid, 2);
	/* A second owner of the same client is denied as another client is; the owner's own share denies its
	 * second OPEN, too. */
	assert_int_equal(RUN(peer, op_root(), op_open("file", "p", W, 0, false)), NFS4ERR_SHARE_DENIED);
	assert_int_equal(RUN(peer, op_root(), op_open("file", "o", W, 0, false)), NFS4ERR_SHARE_DENIED);
	assert_int_equal(RUN(other, op_root(), op_open("file", "o", W, 0, false)), NFS4ERR_SHARE_DENIED);
	assert_int_equal(RUN(other, op_root(), op_open("file", "o", R, W, false)), NFS4ERR_SHARE_DENIED);
	assert_int_equal(RUN(other, op_root(), op_open("file", "o", R, 0, false)), NFS4_OK);
	assert_int_equal(
		RUN(peer, op_root(), op_lookup("file"), op_downgrade(&stateid, 0, 0)), NFS4ERR_INVAL);
	assert_int_equal(
		RUN(peer, op_root(), op_lookup("file"), op_downgrade(&stateid, W, 0)), NFS4ERR_INVAL);
	assert_int_equal(
		RUN(peer, op_root(), op_lookup("file"), op_downgrade(&stateid, RW, R)), NFS4ERR_INVAL);
	assert_int_equal(RUN(peer, op_root(), op_lookup("file"), op_downgrade(&stateid, R, 0)), NFS4_OK);
	old = stateid;
	stateid = peer_res(peer, 2)->u.opopen_downgrade.u.resok4.open_stateid;
	assert_int_equal(stateid.seqid, 3);
	assert_int_equal(
		RUN(peer, op_root(), op_lookup("file"), op_downgrade(&old, R, 0)), NFS4ERR_OLD_STATEID);
	assert_int_equal(RUN(other, op_root(), op_open("file", "o", W, 0, false)), NFS4_OK);
	assert_int_equal(
		RUN(peer, op_root(), op_lookup("file"), op_write(&stateid, 0, "x")), NFS4ERR_OPENMODE);
	old.seqid = 9;
	assert_int_equal(RUN(peer, op_root(), op_lookup("file"), op_close(&old)), NFS4ERR_BAD_STATEID);
	assert_int_equal(RUN(peer, op_root(), op_close(&stateid)), NFS4ERR_BAD_STATEID);
	stateid.seqid = 0;
	assert_int_equal(RUN(peer, op_root(), op_lookup("file"), op_close(&stateid)), NFS4_OK);
	assert_int_equal(peer_res(peer, 2)->u.opclose.u.open_stateid.seqid, NFS4_UINT32_MAX);
}

static nfs_argop4
op_lock_again(const stateid4 *lock, nfs_lock_type4 type, uint64_t offset, uint64_t length)
{
	nfs_argop4 op = op_lock(lock, "", type, offset, length);

	op.u.oplock.locker = (locker4){ false, { .lock_owner = { .lock_stateid = *lock } } };
	return op;
}

static nfs_argop4
op_unlock(const stateid4 *lock, uint64_t offset, uint64_t length)
{
	return (nfs_argop4){ .argop = OP_LOCKU, .u.oplocku = { WRITE_LT, 0, *lock, offset, length } };
}

/* 18.10.3, 18.12.3 */
static void
ranges_are_locked_and_unlocked(void **state)
{
	struct peer *peer = world_peer(*state, 0, "a", 0);
	const nfs_argop4 file = op_lookup("file");
	stateid4 open, lock, read;
	nfs_argop4 reclaim;

	assert_int_equal(RUN(peer, op_root(), op_open("file", "o", RW, 0, true)), NFS4_OK);
	open = opened(peer, 1);
	assert_int_equal(RUN(peer, op_root(), op_open("file", "r", R, 0, false)), NFS4_OK);
	read = opened(peer, 1);
	assert_int_equal(RUN(peer, op_root(), op_lock(&open, "l", WRITE_LT, 0, 1)), NFS4ERR_ISDIR);
	assert_int_equal(RUN(peer, op_root(), file, op_lock(&open, "l", WRITE_LT, 0, 0)), NFS4ERR_INVAL);
	assert_int_equal(
		RUN(peer, op_root(), file, op_lock(&open, "l", WRITE_LT, 2, UINT64_MAX - 1)), NFS4ERR_INVAL);
	assert_int_equal(RUN(peer, op_root(), file, op_lock(&read, "l", WRITE_LT, 0, 1)), NFS4ERR_OPENMODE);
	assert_int_equal(RUN(peer, op_root(), file, op_lock(&stateid_anonymous, "l", WRITE_LT, 0, 1)),
		NFS4ERR_BAD_STATEID);
	assert_int_equal(
		RUN(peer, op_root(), file, op_lock_again(&open, WRITE_LT, 0, 1)), NFS4ERR_BAD_STATEID);
	assert_int_equal(RUN(peer, op_root(), file, op_lock(&open, "l", WRITE_LT, 0, 100)), NFS4_OK);
	lock = peer_res(peer, 2)->u.oplock.u.resok4.lock_stateid;
	/* Two lock-owners of one client conflict like those of two clients. */
	assert_int_equal(RUN(peer, op_root(), file, op_lock(&read, "m", READ_LT, 50, 1)), NFS4ERR_DENIED);
	assert_int_equal(RUN(peer, op_root(), file, op_lock_again(&lock, READ_LT, 50, 10)), NFS4_OK);
	assert_int_equal(
		RUN(peer, op_root(), file, op_lock_again(&lock, READ_LT, 50, 10)), NFS4ERR_OLD_STATEID);
	lock.seqid = 0;
	assert_int_equal(RUN(peer, op_root(), file, op_lock(&read, "m", READ_LT, 50, 10)), NFS4_OK);
	assert_int_equal(RUN(peer, op_root(), file, op_lock(&read, "n", READ_LT, 49, 2)), NFS4ERR_DENIED);
	assert_int_equal(peer_res(peer, 2)->u.oplock.u.denied.offset, 0);
	assert_int_equal(peer_res(peer, 2)->u.oplock.u.denied.length, 50);
	assert_int_equal(RUN(peer, op_root(), file, op_unlock(&lock, 0, 0)), NFS4ERR_INVAL);
	assert_int_equal(RUN(peer, op_root(), file, op_unlock(&open, 0, 1)), NFS4ERR_BAD_STATEID);
	/* Unlocking a range that is not locked succeeds. */
	assert_int_equal(RUN(peer, op_root(), file, op_unlock(&lock, 1000, 1)), NFS4_OK);
	assert_int_equal(RUN(peer, op_root(), file, op_unlock(&lock, 0, UINT64_MAX)), NFS4_OK);
	assert_int_equal(RUN(peer, op_root(), file, op_lock(&open, "n", WRITE_LT, 100, UINT64_MAX)), NFS4_OK);
	reclaim = op_lock_again(&lock, WRITE_LT, 0, 1);
	reclaim.u.oplock.reclaim = true;
	assert_int_equal(RUN(peer, op_root(), file, reclaim), NFS4ERR_NO_GRACE);
}

/* 18.38.3, 18.48.3 */
static void
stateids_are_tested_and_freed(void **state)
{
	struct peer *peer = world_peer(*state, 0, "a", 0), *other = world_peer(*state, 1, "b", 0);
	nfs_argop4 test = { .argop = OP_TEST_STATEID }, free_it = { .argop = OP_FREE_STATEID };
	stateid4 ids[5] = { stateid_anonymous, stateid_current };
	const nfsstat4 *codes;

	assert_int_equal(RUN(peer, op_root(), op_open("file", "o", RW, 0, true)), NFS4_OK);
	ids[2] = ids[3] = opened(peer, 1);
	assert_int_equal(
		RUN(peer, op_root(), op_lookup("file"), op_lock(&ids[2], "l", WRITE_LT, 0, 1)), NFS4_OK);
	ids[4] = peer_res(peer, 2)->u.oplock.u.resok4.lock_stateid;
	ids[3].seqid = 7;
	test.u.optest_stateid.ts_stateids.count = 5;
	test.u.optest_stateid.ts_stateids.values = ids;
	assert_int_equal(RUN(peer, test), NFS4_OK);
	codes = peer_res(peer, 0)->u.optest_stateid.u.tsr_resok4.tsr_status_codes.values;
	assert_int_equal(codes[0], NFS4ERR_BAD_STATEID);
	assert_int_equal(codes[1], NFS4ERR_BAD_STATEID);
	assert_int_equal(codes[2], NFS4_OK);
	assert_int_equal(codes[3], NFS4ERR_BAD_STATEID);
	assert_int_equal(codes[4], NFS4_OK);
	assert_int_equal(RUN(other, test), NFS4_OK);
	codes = peer_res(other, 0)->u.optest_stateid.u.tsr_resok4.tsr_status_codes.values;
	assert_int_equal(codes[2], NFS4ERR_BAD_STATEID);
	free_it.u.opfree_stateid.fsa_stateid = ids[2];
	assert_int_equal(RUN(peer, free_it), NFS4ERR_LOCKS_HELD);
	assert_int_equal(RUN(other, free_it), NFS4ERR_BAD_STATEID);
	free_it.u.opfree_stateid.fsa_stateid = ids[4];
	assert_int_equal(RUN(peer, free_it), NFS4ERR_LOCKS_HELD);
	ids[4].seqid = 0;
	assert_int_equal(RUN(peer, op_root(), op_lookup("file"), op_unlock(&ids[4], 0, 1)), NFS4_OK);
	free_it.u.opfree_stateid.fsa_stateid.seqid = 0;
	assert_int_equal(RUN(peer, free_it), NFS4_OK);
	assert_int_equal(RUN(peer, free_it), NFS4ERR_BAD_STATEID);
	free_it.u.opfree_stateid.fsa_stateid = stateid_anonymous;
	assert_int_equal(RUN(peer, free_it), NFS4ERR_BAD_STATEID);
}

/* 16.2.3.1.2: SAVEFH and RESTOREFH keep the current stateid, too; what sets another filehandle leaves none.
 */
static void
the_current_stateid_goes_with_the_filehandle(void **state)
{
	struct peer *peer = world_peer(*state, 0, "a", 0);
	const nfs_argop4 save = op_plain(OP_SAVEFH), restore = op_plain(OP_RESTOREFH);

	assert_int_equal(RUN(peer, op_root(), op_open("file", "o", RW, 0, true), save, op_root(), restore,
				 op_write(&stateid_current, 0, "x"), op_close(&stateid_current)),
		NFS4_OK);
	assert_int_equal(RUN(peer, op_root(), op_open("file", "o", RW, 0, false), op_root(),
				 op_lookup("file"), op_read(&stateid_current, 0, 1)),
		NFS4ERR_BAD_STATEID);
	assert_int_equal(RUN(peer, op_root(), op_lookup("file"), op_read(&stateid_current, 0, 1)),
		NFS4ERR_BAD_STATEID);
	assert_int_equal(RUN(peer, op_root(), op_open("file", "o", RW, 0, false),
				 op_lock(&stateid_current, "l", WRITE_LT, 0, 1),
				 op_write(&stateid_current, 0, "y"), op_unlock(&stateid_current, 0, 1)),
		NFS4_OK);
}

/* 8.2.3: "The stateid passed to the operation in place of the special value has its "seqid" value set to
 * zero, except when the current stateid is used by the operation CLOSE or OPEN_DOWNGRADE." RESTOREFH brings
 * back the stateid that the first OPEN has returned; its seqid is old then, as the second OPEN is of the same
 * owner. */
static void
the_current_stateid_is_used_without_its_seqid(void **state)
{
	struct peer *peer = world_peer(*state, 0, "a", 0);
	const nfs_argop4 save = op_plain(OP_SAVEFH), restore = op_plain(OP_RESTOREFH);
	const nfs_argop4 first = op_open("file", "o", RW, 0, true), next = op_open("file", "o", RW, 0, false);

	assert_int_equal(RUN(peer, op_root(), first, save, op_root(), next, restore,
				 op_write(&stateid_current, 0, "x"), op_read(&stateid_current, 0, 1)),
		NFS4_OK);
	assert_int_equal(RUN(peer, op_root(), first, save, op_root(), next, restore,
				 op_downgrade(&stateid_current, RW, 0)),
		NFS4ERR_OLD_STATEID);
	assert_int_equal(
		RUN(peer, op_root(), first, save, op_root(), next, restore, op_close(&stateid_current)),
		NFS4ERR_OLD_STATEID);
	/* The invalid stateid that CLOSE returns does not become another special stateid. */
	assert_int_equal(
		RUN(peer, op_root(), next, op_close(&stateid_current), op_read(&stateid_current, 0, 1)),
		NFS4ERR_BAD_STATEID);
}

static nfs_argop4
op_mode(const uint8_t mode[4])
{
	static uint32_t words[2] = { 0, 1 << (FATTR4_MODE - 32) };

	return (nfs_argop4){ .argop = OP_SETATTR,
		.u.opsetattr.obj_attributes = { { 2, words }, { mode, 4 } } };
}

static nfs_argop4
op_open_fh(uint32_t access)
{
	nfs_argop4 op = op_open("", "o", access, 0, false);

	op.u.opopen.claim.claim = CLAIM_FH;
	return op;
}

/* 6.4: "setting a mode of 000 should be enough to ensure that future OPEN operations for
 * OPEN4_SHARE_ACCESS_READ or OPEN4_SHARE_ACCESS_WRITE by any principal fail". What is open stays so. */
static void
the_mode_decides_for_the_owner_too_unless_the_open_makes_the_file(void **state)
{
	static const uint8_t all[4] = { 0, 0, 1, 0377 }, none[4] = { 0 }, read[4] = { 0, 0, 1, 0 },
			     execute[4] = { 0, 0, 0, 0100 };
	struct peer *super = world_peer(*state, 0, "a", 0), *owner = world_peer(*state, 1, "b", 7);
	nfs_argop4 make = op_open("file", "o", RW, 0, true);
	stateid4 stateid;

	make.u.opopen.openhow.u.how.u.createattrs.attr_vals = (struct rpcrdma_bytes){ none, 4 };
	assert_int_equal(RUN(super, op_root(), op_mode(all)), NFS4_OK);
	assert_int_equal(RUN(owner, op_root(), make), NFS4_OK);
	stateid = opened(owner, 1);
	for (uint32_t access = R; access <= RW; access++) {
		assert_int_equal(
			RUN(owner, op_root(), op_open("file", "o", access, 0, false)), NFS4ERR_ACCESS);
		assert_int_equal(
			RUN(owner, op_root(), op_lookup("file"), op_open_fh(access)), NFS4ERR_ACCESS);
	}
	assert_int_equal(RUN(owner, op_root(), make), NFS4ERR_ACCESS);
	assert_int_equal(RUN(owner, op_root(), op_lookup("file"), op_write(&stateid, 0, "text"),
				 op_read(&stateid, 0, 4), op_close(&stateid)),
		NFS4_OK);
	assert_int_equal(RUN(super, op_root(), op_open("file", "o", RW, 0, false)), NFS4_OK);
	assert_int_equal(RUN(owner, op_root(), op_lookup("file"), op_mode(read), op_open_fh(R)), NFS4_OK);
	assert_int_equal(RUN(owner, op_root(), op_open("file", "o", W, 0, false)), NFS4ERR_ACCESS);
	assert_int_equal(RUN(owner, op_root(), op_lookup("file"), op_mode(execute), op_open_fh(R)), NFS4_OK);
	assert_int_equal(RUN(owner, op_root(), op_lookup("file"), op_open_fh(W)), NFS4ERR_ACCESS);
}

static void
hold_open(void *ctx, enum rr_vfs_operation operation, const struct rr_vfs_call *call,
	struct rr_memory_fate *fate)
{
	const bool *fails = ctx;

	(void)call;
	fate->held = operation == RR_VFS_OP_OPEN;
	if (fate->held && *fails)
		fate->status = RR_VFS_IO;
}

/* Connects peers[1] with a second session of the client, for calls beside those of `peer`. */
static struct peer *
second_session(struct world *world, const struct peer *peer)
{
	struct peer *beside = &world->peers[1];

	*beside = (struct peer){ .world = world,
		.minor = 2,
		.clientid = peer->clientid,
		.create_sequence = peer->create_sequence };
	peer_connect(beside, 0);
	assert_int_equal(peer_create_session(beside), NFS4_OK);
	return beside;
}

/* Starts the operations by `beside`. While the storage holds its open, `peer` gets `expected` for `op`. Then
 * lets the storage go on, and returns the status that `beside` got. */
static nfsstat4
cross_expecting(struct peer *beside, const nfs_argop4 *ops, struct peer *peer, nfs_argop4 op, bool fails,
	nfsstat4 expected)
{
	const struct rr_memory_script script = { hold_open, &fails };
	struct world *world = peer->world;
	struct started first;

	rr_memory_steer(world->memory, &script);
	beside->sequence++;
	peer_start_all(beside, ops, 3, &first);
	while (rr_memory_held(world->memory) == 0)
		rr_loop_turn(world->stage.engine->loop, -1);
	rr_memory_steer(world->memory, NULL);
	assert_int_equal(RUN(peer, ops[0], ops[1], op), expected);
	rr_memory_release(world->memory);
	while (!first.done)
		rr_loop_turn(world->stage.engine->loop, -1);
	return beside->res.status;
}

/* The same where `op` is put off. */
static nfsstat4
cross(struct peer *beside, const nfs_argop4 *ops, struct peer *peer, nfs_argop4 op, bool fails)
{
	return cross_expecting(beside, ops, peer, op, fails, NFS4ERR_DELAY);
}

/* While the storage opens the file for an OPEN, another OPEN of the same open-owner is put off. So none takes
 * from what the other has, and a failure undoes nothing that an answer has named. */
static void
opens_of_an_owner_do_not_cross(void **state)
{
	struct world *world = *state;
	struct peer *peer = world_peer(world, 0, "a", 0), *beside = second_session(world, peer);
	const nfs_argop4 save = op_plain(OP_SAVEFH), both = op_open("file", "o", RW, 0, false);
	const nfs_argop4 ops[] = { op_root(), save, op_open("file", "o", R, 0, false) };
	stateid4 stateid;

	assert_int_equal(
		RUN(peer, op_root(), op_open("file", "p", RW, 0, true), op_close(&stateid_current)), NFS4_OK);
	for (int fails = 0; fails < 2; fails++) {
		assert_int_equal(cross(beside, ops, peer, both, fails), fails ? NFS4ERR_IO : NFS4_OK);
		assert_int_equal(RUN(peer, op_root(), both), NFS4_OK);
		stateid = opened(peer, 1);
		assert_int_equal(RUN(peer, op_root(), op_lookup("file"), op_write(&stateid, 0, "x"),
					 op_close(&stateid)),
			NFS4_OK);
	}
}

/* The same for the first LOCKs of a lock-owner. */
static void
first_locks_of_an_owner_do_not_cross(void **state)
{
	struct world *world = *state;
	struct peer *peer = world_peer(world, 0, "a", 0), *beside = second_session(world, peer);
	nfs_argop4 ops[] = { op_root(), op_lookup("file"), op_plain(OP_LOCK) }, other;
	stateid4 stateid;

	assert_int_equal(RUN(peer, op_root(), op_open("file", "o", RW, 0, true)), NFS4_OK);
	stateid = opened(peer, 1);
	ops[2] = op_lock(&stateid, "l", WRITE_LT, 0, 1);
	other = op_lock(&stateid, "l", WRITE_LT, 5, 1);
	assert_int_equal(cross(beside, ops, peer, other, false), NFS4_OK);
	assert_int_equal(RUN(peer, ops[0], ops[1], other), NFS4_OK);
}

/* While the storage opens the file once more, as a lock-owner begins to write, a LOCKU of the lock-owner is
 * put off: it would unlock by the open that is replaced. If the storage fails, the lock state keeps that
 * open, and the next LOCK tries again. */
static void
a_lock_owner_that_begins_to_write_does_not_unlock_meanwhile(void **state)
{
	struct world *world = *state;
	struct peer *peer = world_peer(world, 0, "a", 0), *beside = second_session(world, peer);
	nfs_argop4 ops[] = { op_root(), op_lookup("file"), op_plain(OP_LOCK) };
	stateid4 open, lock;

	assert_int_equal(RUN(peer, op_root(), op_open("file", "o", R, 0, true),
				 op_lock(&stateid_current, "l", READ_LT, 0, 10)),
		NFS4_OK);
	lock = peer_res(peer, 2)->u.oplock.u.resok4.lock_stateid;
	lock.seqid = 0;
	assert_int_equal(RUN(peer, op_root(), op_open("file", "o", RW, 0, false)), NFS4_OK);
	open = opened(peer, 1);
	ops[2] = op_lock_again(&lock, WRITE_LT, 5, 1);
	assert_int_equal(cross(beside, ops, peer, op_unlock(&lock, 0, 10), true), NFS4ERR_SERVERFAULT);
	assert_int_equal(cross(beside, ops, peer, op_unlock(&lock, 0, 10), false), NFS4_OK);
	assert_int_equal(RUN(peer, ops[0], ops[1], op_lock(&open, "m", READ_LT, 5, 1)), NFS4ERR_DENIED);
	assert_int_equal(RUN(peer, ops[0], ops[1], op_unlock(&lock, 0, 10)), NFS4_OK);
	assert_int_equal(RUN(peer, ops[0], ops[1], op_lock(&open, "m", WRITE_LT, 0, 20)), NFS4_OK);
}

/* The same. If the client closes the file meanwhile, the LOCK fails, and leaves no open in the storage. */
static void
a_lock_owner_that_begins_to_write_may_end_meanwhile(void **state)
{
	struct world *world = *state;
	struct peer *peer = world_peer(world, 0, "a", 0), *beside = second_session(world, peer);
	nfs_argop4 ops[] = { op_root(), op_lookup("file"), op_plain(OP_LOCK) }, deny;
	stateid4 open;

	assert_int_equal(RUN(peer, op_root(), op_open("file", "o", R, 0, true),
				 op_lock(&stateid_current, "l", READ_LT, 0, 10)),
		NFS4_OK);
	assert_int_equal(RUN(peer, op_root(), op_open("file", "o", RW, 0, false)), NFS4_OK);
	open = opened(peer, 1);
	ops[2] = op_lock(&open, "l", WRITE_LT, 5, 1);
	assert_int_equal(cross_expecting(beside, ops, peer, op_close(&open), false, NFS4_OK), NFS4ERR_DELAY);
	deny = op_open("file", "p", RW, RW, false);
	assert_int_equal(RUN(peer, ops[0], deny), NFS4_OK);
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)
	const struct CMUnitTest tests[] = {
		TEST(files_are_made_in_four_ways),
		TEST(a_new_file_has_the_size_that_was_asked_for),
		TEST(a_close_waits_for_an_open_under_way),
		TEST(an_owner_without_the_right_to_write_truncates_nothing),
		TEST(a_closed_file_is_open_for_writing_no_more),
		TEST(an_existing_file_is_truncated_by_a_size_of_zero_alone),
		TEST(truncating_is_writing),
		TEST(claims_are_made_as_they_can_be),
		TEST(shares_are_denied_and_given_back),
		TEST(ranges_are_locked_and_unlocked),
		TEST(stateids_are_tested_and_freed),
		TEST(the_current_stateid_goes_with_the_filehandle),
		TEST(the_current_stateid_is_used_without_its_seqid),
		cmocka_unit_test_setup_teardown(
			the_mode_decides_for_the_owner_too_unless_the_open_makes_the_file, world_setup_memory,
			world_teardown),
		cmocka_unit_test_setup_teardown(
			opens_of_an_owner_do_not_cross, world_setup_memory, world_teardown),
		cmocka_unit_test_setup_teardown(
			first_locks_of_an_owner_do_not_cross, world_setup_memory, world_teardown),
		cmocka_unit_test_setup_teardown(a_lock_owner_that_begins_to_write_does_not_unlock_meanwhile,
			world_setup_memory, world_teardown),
		cmocka_unit_test_setup_teardown(a_lock_owner_that_begins_to_write_may_end_meanwhile,
			world_setup_memory, world_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
