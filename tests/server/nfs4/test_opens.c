/* SPDX-License-Identifier: BSD-3-Clause */
/* OPEN, CLOSE and OPEN_DOWNGRADE at their edges, over the loopback: RFC 8881, sections 8.2, 9, 18.2, 18.16
 * and 18.18. */
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
		TEST(the_current_stateid_is_used_without_its_seqid),
		cmocka_unit_test_setup_teardown(
			the_mode_decides_for_the_owner_too_unless_the_open_makes_the_file, world_setup_memory,
			world_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
