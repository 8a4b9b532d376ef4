/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * These tests call operations on one object at their edges, over the loopback: kinds of objects, handles,
 * attributes, ranges, rights. RFC 8881, sections 15 and 18. world.c looks at each status: operations answer
 * with errors that section 15.2 lists for them, and with no others.
 */
#include "world.h"

#include <string.h>
#include <unistd.h>

#include "base/endian.h"
#include "vfs/fattr4/attr.h"

enum { R = OPEN4_SHARE_ACCESS_READ, RW = OPEN4_SHARE_ACCESS_BOTH };

/* 18.16.3, 18.22.3, 18.32.3, 18.3.3, 18.24.3 */
static void
data_is_of_regular_files(void **state)
{
	static const struct {
		const char *name;
		nfsstat4 status;
	} kinds[] = { { "dir", NFS4ERR_ISDIR }, { "link", NFS4ERR_SYMLINK }, { "fifo", NFS4ERR_WRONG_TYPE },
		{ "sock", NFS4ERR_WRONG_TYPE } };
	struct peer *peer = world_kinds(*state);

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		nfs_argop4 look = op_lookup(kinds[i].name);

		assert_int_equal(
			RUN(peer, op_root(), op_open(kinds[i].name, "o", R, 0, false)), kinds[i].status);
		assert_int_equal(
			RUN(peer, op_root(), look, op_read(&stateid_anonymous, 0, 1)), kinds[i].status);
		assert_int_equal(
			RUN(peer, op_root(), look, op_read(&stateid_anonymous, 0, 0)), kinds[i].status);
		assert_int_equal(
			RUN(peer, op_root(), look, op_write(&stateid_anonymous, 0, "x")), kinds[i].status);
		assert_int_equal(RUN(peer, op_root(), look, op_plain(OP_COMMIT)), kinds[i].status);
		if (strcmp(kinds[i].name, "link") != 0)
			assert_int_equal(
				RUN(peer, op_root(), look, op_plain(OP_READLINK)), NFS4ERR_WRONG_TYPE);
		if (strcmp(kinds[i].name, "dir") != 0)
			assert_int_equal(RUN(peer, op_root(), look, op_lookup("x")),
				strcmp(kinds[i].name, "link") == 0 ? NFS4ERR_SYMLINK : NFS4ERR_NOTDIR);
	}
}

/* A SETATTR with a fattr4 of one attribute. Its value has that length, and consists of zeros up to the last
 * octet, which is `last`. */
static nfs_argop4
op_setattr(uint32_t attribute, uint32_t length, uint8_t last)
{
	static uint32_t words[8][3];
	static uint8_t values[8][16];
	static int next;
	int at = next++ % 8;

	memset(words[at], 0, sizeof(words[at]));
	memset(values[at], 0, sizeof(values[at]));
	words[at][attribute / 32] = UINT32_C(1) << attribute % 32;
	if (length > 0)
		values[at][length - 1] = last;
	return (nfs_argop4){ .argop = OP_SETATTR,
		.u.opsetattr = { .obj_attributes = { { 3, words[at] }, { values[at], length } } } };
}

static nfs_argop4
op_verify(nfs_opnum4 op, uint32_t attribute, uint32_t length, uint8_t last)
{
	const nfs_argop4 set = op_setattr(attribute, length, last);

	return (nfs_argop4){ .argop = op, .u.opverify.obj_attributes = set.u.opsetattr.obj_attributes };
}

/* 5.5, 18.30.3 */
static void
attributes_are_set_that_can_be(void **state)
{
	struct peer *peer = world_kinds(*state);
	const nfs_argop4 file = op_lookup("file"), dir = op_lookup("dir");
	nfs_argop4 owner;

	assert_int_equal(RUN(peer, op_root(), file, op_setattr(FATTR4_TYPE, 4, NF4REG)), NFS4ERR_INVAL);
	assert_int_equal(RUN(peer, op_root(), file, op_setattr(FATTR4_CHANGE, 8, 1)), NFS4ERR_INVAL);
	assert_int_equal(RUN(peer, op_root(), file, op_setattr(FATTR4_TIME_MODIFY, 12, 1)), NFS4ERR_INVAL);
	assert_int_equal(RUN(peer, op_root(), file, op_setattr(FATTR4_ARCHIVE, 4, 1)), NFS4ERR_ATTRNOTSUPP);
	assert_int_equal(
		RUN(peer, op_root(), file, op_setattr(FATTR4_TIME_CREATE, 12, 1)), NFS4ERR_ATTRNOTSUPP);
	assert_int_equal(RUN(peer, op_root(), file, op_setattr(FATTR4_MODE, 8, 1)), NFS4ERR_BADXDR);
	assert_int_equal(RUN(peer, op_root(), file, op_setattr(FATTR4_MODE, 0, 0)), NFS4ERR_BADXDR);
	assert_int_equal(RUN(peer, op_root(), file, op_setattr(FATTR4_SIZE, 8, 7)), NFS4_OK);
	assert_int_equal(peer_res(peer, 2)->u.opsetattr.attrsset.values[0], UINT32_C(1) << FATTR4_SIZE);
	assert_int_equal(RUN(peer, op_root(), dir, op_setattr(FATTR4_SIZE, 8, 7)), NFS4ERR_INVAL);
	assert_int_equal(
		RUN(peer, op_root(), op_lookup("fifo"), op_setattr(FATTR4_SIZE, 8, 7)), NFS4ERR_INVAL);
	assert_int_equal(
		RUN(peer, op_root(), op_lookup("link"), op_setattr(FATTR4_SIZE, 8, 7)), NFS4ERR_INVAL);
	assert_int_equal(RUN(peer, op_root(), file, op_setattr(FATTR4_MODE, 4, 0111)), NFS4_OK);
	assert_int_equal(
		RUN(peer, op_root(), file, op_setattr(FATTR4_TIME_MODIFY_SET, 4, SET_TO_SERVER_TIME4)),
		NFS4_OK);
	assert_int_equal(
		RUN(peer, op_root(), file, op_setattr(FATTR4_TIME_MODIFY_SET, 4, 2)), NFS4ERR_BADXDR);
	owner = op_setattr(FATTR4_OWNER, 4, 0);
	assert_int_equal(RUN(peer, op_root(), file, owner), NFS4ERR_INVAL);
	owner = op_setattr(FATTR4_OWNER, 8, 0);
	memcpy((uint8_t *)(uintptr_t)owner.u.opsetattr.obj_attributes.attr_vals.data, "\0\0\0\4root", 8);
	assert_int_equal(RUN(peer, op_root(), file, owner), NFS4ERR_BADOWNER);
}

/* 18.30.3 of VERIFY, 18.15.3 of NVERIFY, 18.7.3 */
static void
attributes_are_compared(void **state)
{
	struct peer *peer = world_kinds(*state);
	const nfs_argop4 file = op_lookup("file");
	uint32_t words[3] = { 0, 1 << (FATTR4_TIME_ACCESS_SET - 32) };
	const nfs_argop4 get = { .argop = OP_GETATTR, .u.opgetattr.attr_request = { 3, words } };

	assert_int_equal(RUN(peer, op_root(), file, op_verify(OP_VERIFY, FATTR4_TYPE, 4, NF4REG)), NFS4_OK);
	assert_int_equal(
		RUN(peer, op_root(), file, op_verify(OP_VERIFY, FATTR4_TYPE, 4, NF4DIR)), NFS4ERR_NOT_SAME);
	assert_int_equal(
		RUN(peer, op_root(), file, op_verify(OP_NVERIFY, FATTR4_TYPE, 4, NF4REG)), NFS4ERR_SAME);
	assert_int_equal(RUN(peer, op_root(), file, op_verify(OP_NVERIFY, FATTR4_TYPE, 4, NF4DIR)), NFS4_OK);
	assert_int_equal(RUN(peer, op_root(), file, op_verify(OP_VERIFY, FATTR4_SIZE, 8, 0)), NFS4_OK);
	assert_int_equal(
		RUN(peer, op_root(), file, op_verify(OP_VERIFY, FATTR4_RDATTR_ERROR, 4, 0)), NFS4ERR_INVAL);
	assert_int_equal(RUN(peer, op_root(), file, op_verify(OP_VERIFY, FATTR4_TIME_ACCESS_SET, 4, 0)),
		NFS4ERR_INVAL);
	assert_int_equal(RUN(peer, op_root(), file, op_verify(OP_NVERIFY, FATTR4_TIME_ACCESS_SET, 4, 0)),
		NFS4ERR_INVAL);
	assert_int_equal(
		RUN(peer, op_root(), file, op_verify(OP_VERIFY, FATTR4_HIDDEN, 4, 0)), NFS4ERR_ATTRNOTSUPP);
	assert_int_equal(
		RUN(peer, op_root(), file, op_verify(OP_NVERIFY, FATTR4_ACL, 4, 0)), NFS4ERR_ATTRNOTSUPP);
	assert_int_equal(RUN(peer, op_verify(OP_VERIFY, FATTR4_TYPE, 4, NF4REG)), NFS4ERR_NOFILEHANDLE);
	assert_int_equal(RUN(peer, op_root(), file, get), NFS4ERR_INVAL);
	words[1] = 1 << (FATTR4_TIME_BACKUP - 32); /* not supported: the answer leaves the attribute out */
	assert_int_equal(RUN(peer, op_root(), file, get), NFS4_OK);
	assert_int_equal(peer_res(peer, 2)->u.opgetattr.u.resok4.obj_attributes.attrmask.count, 0);
	/* Nor is this one by minor version 1; minor version 2 can only set it. */
	peer->minor = 1;
	words[1] = 0;
	words[2] = UINT32_C(1) << (RR_ATTR_MODE_UMASK - 64);
	assert_int_equal(RUN(peer, op_root(), file, get), NFS4_OK);
	assert_int_equal(peer_res(peer, 2)->u.opgetattr.u.resok4.obj_attributes.attrmask.count, 0);
	peer->minor = 2;
	assert_int_equal(RUN(peer, op_root(), file, get), NFS4ERR_INVAL);
}

/* 18.1.3, 18.19.3, 18.29.3 */
static void
handles_and_rights(void **state)
{
	struct peer *peer = world_kinds(*state);
	nfs_argop4 access = { .argop = OP_ACCESS, .u.opaccess.access = 0x1000 };
	nfs_argop4 secinfo = { .argop = OP_SECINFO, .u.opsecinfo.name = text_bytes("file") };
	uint8_t handle[NFS4_FHSIZE] = { 0 };
	stateid4 stateid;

	assert_int_equal(RUN(peer, op_root(), access), NFS4ERR_INVAL);
	access.u.opaccess.access = ACCESS4_READ | ACCESS4_LOOKUP | ACCESS4_EXECUTE;
	assert_int_equal(RUN(peer, op_root(), access), NFS4_OK);
	assert_int_equal(peer_res(peer, 1)->u.opaccess.u.resok4.supported & ACCESS4_EXECUTE, 0);
	assert_int_equal(RUN(peer, op_root(), op_lookup("file"), access), NFS4_OK);
	assert_int_equal(peer_res(peer, 2)->u.opaccess.u.resok4.supported & ACCESS4_LOOKUP, 0);
	for (uint32_t length = 0; length <= NFS4_FHSIZE; length += 16)
		assert_int_equal(
			RUN(peer, op_putfh((struct rpcrdma_bytes){ handle, length })), NFS4ERR_BADHANDLE);
	/* 15.1.2.1: PUTFH itself says so, also in front of an operation that compares the filehandle. */
	assert_int_equal(
		RUN(peer, op_putfh((struct rpcrdma_bytes){ handle, 16 }), op_read(&stateid_anonymous, 0, 1)),
		NFS4ERR_BADHANDLE);
	assert_int_equal(RUN(peer, op_root(), op_open("file", "o", RW, 0, false)), NFS4_OK);
	stateid = peer_res(peer, 1)->u.opopen.u.resok4.stateid;
	assert_int_equal(RUN(peer, op_putfh((struct rpcrdma_bytes){ handle, 16 }), op_read(&stateid, 0, 1)),
		NFS4ERR_BADHANDLE);
	assert_int_equal(RUN(peer, op_putfh((struct rpcrdma_bytes){ handle, 16 }), op_close(&stateid)),
		NFS4ERR_BADHANDLE);
	assert_int_equal(RUN(peer, op_root(), secinfo), NFS4_OK);
	assert_int_equal(RUN(peer, op_root(), secinfo, op_plain(OP_GETFH)), NFS4ERR_NOFILEHANDLE);
	assert_int_equal(RUN(peer, op_root(), op_lookup("file"), secinfo), NFS4ERR_NOTDIR);
	assert_int_equal(RUN(peer, op_root(), op_lookup("link"), secinfo), NFS4ERR_NOTDIR);
	secinfo.u.opsecinfo.name = text_bytes("");
	assert_int_equal(RUN(peer, op_root(), secinfo), NFS4ERR_INVAL);
	secinfo.u.opsecinfo.name = text_bytes("..");
	assert_int_equal(RUN(peer, op_root(), secinfo), NFS4ERR_BADNAME);
	secinfo.u.opsecinfo.name = text_bytes("none");
	assert_int_equal(RUN(peer, op_root(), secinfo), NFS4ERR_NOENT);
}

/* 18.16.3: "UNCHECKED4 means that the file should be created if a file of that name does not exist and
 * encountering an existing regular file of that name is not an error." */
static void
an_unchecked_create_says_what_is_there_instead(void **state)
{
	struct peer *peer = world_kinds(*state);

	assert_int_equal(RUN(peer, op_root(), op_open("file", "o", R, 0, true)), NFS4_OK);
	assert_int_equal(RUN(peer, op_root(), op_open("dir", "o", R, 0, true)), NFS4ERR_ISDIR);
	assert_int_equal(RUN(peer, op_root(), op_open("link", "o", R, 0, true)), NFS4ERR_SYMLINK);
	assert_int_equal(RUN(peer, op_root(), op_open("fifo", "o", R, 0, true)), NFS4ERR_WRONG_TYPE);
	assert_int_equal(RUN(peer, op_root(), op_open("sock", "o", R, 0, true)), NFS4ERR_WRONG_TYPE);
}

/* The storage says of a file what it has become when it was changed. It need not be asked again. */
static void
attributes_are_those_that_the_change_left(void **state)
{
	struct peer *peer = world_kinds(*state);
	struct rr_vfs *vfs = peer->world->vfs;
	nfs_argop4 mode = op_setattr_mode(0077);
	struct rr_vfs_counters before, after;

	mode.u.opsetattr.stateid = stateid_current;
	rr_vfs_counters(vfs, &before);
	assert_int_equal(
		RUN(peer, op_root(), op_open("new", "o", RW, 0, true), op_write(&stateid_current, 0, "four"),
			op_verify(OP_VERIFY, FATTR4_SIZE, 8, 4), mode,
			op_verify(OP_VERIFY, FATTR4_MODE, 4, 0077)),
		NFS4_OK);
	rr_vfs_counters(vfs, &after);
	assert_int_equal(after.begun - before.begun, 4); /* create, open, write and setattr */
	assert_int_equal(RUN(peer, op_root(), op_lookup("new"), op_verify(OP_VERIFY, FATTR4_SIZE, 8, 4),
				 op_verify(OP_VERIFY, FATTR4_MODE, 4, 0077)),
		NFS4_OK);
}

/* 18.16.3: "The server MAY support CLAIM_DELEGATE_PREV and/or CLAIM_DELEG_PREV_FH". */
static void
no_delegation_outlives_its_client(void **state)
{
	struct peer *peer = world_kinds(*state);
	nfs_argop4 open = op_open("file", "o", R, 0, false);

	open.u.opopen.claim =
		(open_claim4){ .claim = CLAIM_DELEGATE_PREV, .u.file_delegate_prev = text_bytes("file") };
	assert_int_equal(RUN(peer, op_root(), open), NFS4ERR_RECLAIM_BAD);
	open.u.opopen.claim = (open_claim4){ .claim = CLAIM_DELEG_PREV_FH };
	assert_int_equal(RUN(peer, op_root(), op_lookup("file"), open), NFS4ERR_RECLAIM_BAD);
}

/* 18.10.3: "any range of bytes" up to octet 2^64 - 2 by its length, and to the last by NFS4_UINT64_MAX. The
 * files of the storage, and its locks, end at 2^63. */
static void
ranges_beyond_what_storage_can_lock_are_locked(void **state)
{
	struct peer *peer = world_kinds(*state), *other = world_peer(*state, 1, "b", 0);
	static const uint64_t ranges[][2] = { { UINT64_MAX - 1, 1 }, { UINT64_C(1) << 63, 100 },
		{ (UINT64_C(1) << 63) - 5, 10 }, { UINT64_MAX, UINT64_MAX } };

	assert_int_equal(RUN(other, op_root(), op_open("file", "p", RW, 0, false)), NFS4_OK);
	for (size_t i = 0; i < sizeof(ranges) / sizeof(*ranges); i++) {
		const nfs_argop4 lockt = { .argop = OP_LOCKT,
			.u.oplockt = { WRITE_LT, ranges[i][0], ranges[i][1], { 0, text_bytes("m") } } };
		nfs_argop4 locku = { .argop = OP_LOCKU,
			.u.oplocku = { .locktype = WRITE_LT,
				.lock_stateid = stateid_current,
				.offset = ranges[i][0],
				.length = ranges[i][1] } };

		assert_int_equal(
			RUN(peer, op_root(), op_open("file", "o", RW, 0, false),
				op_lock(&stateid_current, "l", WRITE_LT, ranges[i][0], ranges[i][1])),
			NFS4_OK);
		locku.u.oplocku.lock_stateid = peer_res(peer, 2)->u.oplock.u.resok4.lock_stateid;
		assert_int_equal(RUN(other, op_root(), op_lookup("file"), lockt), NFS4ERR_DENIED);
		assert_int_equal(RUN(peer, op_root(), op_lookup("file"), locku), NFS4_OK);
		assert_int_equal(RUN(other, op_root(), op_lookup("file"), lockt), NFS4_OK);
	}
}

/* 15.2: the storage has errors that are not listed for each operation. The server answers with the nearest
 * error that is listed. */
static void
the_nearest_error_stands_for_one_that_is_not_listed(void **state)
{
	(void)state;
	assert_int_equal(rr_nfs4_status_for(1, OP_REMOVE, NFS4ERR_PERM), NFS4ERR_ACCESS);
	assert_int_equal(rr_nfs4_status_for(1, OP_RENAME, NFS4ERR_PERM), NFS4ERR_ACCESS);
	assert_int_equal(rr_nfs4_status_for(1, OP_LINK, NFS4ERR_PERM), NFS4ERR_ACCESS);
	assert_int_equal(rr_nfs4_status_for(1, OP_WRITE, NFS4ERR_PERM), NFS4ERR_ACCESS);
	assert_int_equal(rr_nfs4_status_for(1, OP_SETATTR, NFS4ERR_PERM), NFS4ERR_PERM);
	assert_int_equal(rr_nfs4_status_for(1, OP_COMMIT, NFS4ERR_NOSPC), NFS4ERR_IO);
	assert_int_equal(rr_nfs4_status_for(1, OP_COMMIT, NFS4ERR_DQUOT), NFS4ERR_IO);
	assert_int_equal(rr_nfs4_status_for(1, OP_ALLOCATE, NFS4ERR_PERM), NFS4ERR_ACCESS);
	assert_int_equal(rr_nfs4_status_for(1, OP_SECINFO, NFS4ERR_SYMLINK), NFS4ERR_NOTDIR);
	assert_int_equal(rr_nfs4_status_for(1, OP_READLINK, NFS4ERR_ISDIR), NFS4ERR_WRONG_TYPE);
	/* RFC 7530, 13.2 */
	assert_int_equal(rr_nfs4_status_for(0, OP_READLINK, NFS4ERR_ISDIR), NFS4ERR_ISDIR);
	assert_int_equal(rr_nfs4_status_for(0, OP_OPEN, NFS4ERR_WRONG_TYPE), NFS4ERR_INVAL);
	assert_int_equal(rr_nfs4_status_for(0, OP_RENEW, NFS4ERR_DELAY), NFS4ERR_RESOURCE);
	assert_int_equal(rr_nfs4_status_for(0, OP_GETATTR, NFS4ERR_REP_TOO_BIG), NFS4ERR_RESOURCE);
	assert_int_equal(rr_nfs4_status_for(0, OP_RESTOREFH, NFS4ERR_NOFILEHANDLE), NFS4ERR_RESTOREFH);
	assert_int_equal(rr_nfs4_status_for(0, OP_READ, NFS4ERR_DELEG_REVOKED), NFS4ERR_EXPIRED);
}

/* 18.22.3: "the READ succeeds and returns zero bytes of data again subject to access permissions checking" */
static void
reading_nothing_needs_the_right_to_read(void **state)
{
	struct peer *peer = world_kinds(*state), *user = world_peer(*state, 1, "b", 1000);
	const nfs_argop4 file = op_lookup("file");
	nfs_argop4 plus = { .argop = OP_READ_PLUS };

	if (geteuid() != 0)
		skip();
	world_open_to_all(*state);
	user->minor = 2;
	assert_int_equal(RUN(peer, op_root(), file, op_setattr_mode(0600)), NFS4_OK);
	assert_int_equal(RUN(user, op_root(), file, op_read(&stateid_anonymous, 0, 0)), NFS4ERR_ACCESS);
	assert_int_equal(
		RUN(user, op_root(), file, op_read(&stateid_anonymous, UINT64_MAX, 1)), NFS4ERR_ACCESS);
	assert_int_equal(RUN(user, op_root(), file, plus), NFS4ERR_ACCESS);
	plus.u.opread_plus.rpa_count = 1;
	assert_int_equal(RUN(user, op_root(), file, plus), NFS4ERR_ACCESS);
	assert_int_equal(RUN(peer, op_root(), file, op_read(&stateid_anonymous, 0, 0)), NFS4_OK);
	assert_true(peer_res(peer, 2)->u.opread.u.resok4.eof);
}

/* 18.22.3: "The READ is subject to access permissions checking." The stateid is that of an open of another
 * user. */
static void
the_open_of_another_user_gives_no_rights(void **state)
{
	struct peer *peer = world_kinds(*state);
	const nfs_argop4 file = op_lookup("file");
	nfs_argop4 downgrade = { .argop = OP_OPEN_DOWNGRADE,
		.u.opopen_downgrade.share_access = OPEN4_SHARE_ACCESS_READ };
	stateid4 stateid;

	if (geteuid() != 0)
		skip();
	world_open_to_all(*state);
	assert_int_equal(
		RUN(peer, op_root(), op_open("file", "p", OPEN4_SHARE_ACCESS_READ, 0, false)), NFS4_OK);
	assert_int_equal(RUN(peer, op_root(), op_open("file", "p", RW, 0, false)), NFS4_OK);
	stateid = peer_res(peer, 1)->u.opopen.u.resok4.stateid;
	assert_int_equal(RUN(peer, op_root(), file, op_write(&stateid, 0, "text")), NFS4_OK);
	assert_int_equal(RUN(peer, op_root(), file, op_setattr_mode(0600)), NFS4_OK);
	peer_disconnect(peer);
	peer_connect(peer, 1000);
	assert_int_equal(RUN(peer, op_root(), file, op_read(&stateid, 0, 4)), NFS4ERR_ACCESS);
	assert_int_equal(RUN(peer, op_root(), file, op_read(&stateid, 0, 0)), NFS4ERR_ACCESS);
	assert_int_equal(RUN(peer, op_root(), file, op_write(&stateid, 0, "x")), NFS4ERR_ACCESS);
	downgrade.u.opopen_downgrade.open_stateid = stateid;
	assert_int_equal(RUN(peer, op_root(), file, downgrade), NFS4_OK);
	stateid = peer_res(peer, 2)->u.opopen_downgrade.u.resok4.open_stateid;
	assert_int_equal(RUN(peer, op_root(), file, op_read(&stateid, 0, 4)), NFS4ERR_ACCESS);
	peer_disconnect(peer);
	peer_connect(peer, 0);
	assert_int_equal(RUN(peer, op_root(), file, op_read(&stateid, 0, 4)), NFS4_OK);
	assert_memory_equal(peer_res(peer, 2)->u.opread.u.resok4.data.data, "text", 4);
}

/* 18.16.4: "the server MUST NOT impose any requirement that READs and WRITEs sent for an open file have the
 * same credentials as the OPEN itself": what an open denies to others it does not deny to a user of its
 * client. */
static void
an_open_denies_nothing_to_other_users_of_its_client(void **state)
{
	struct peer *peer = world_peer(*state, 0, "a", 0);
	const nfs_argop4 file = op_lookup("file");
	stateid4 stateid;

	if (geteuid() != 0)
		skip();
	world_open_to_all(*state);
	assert_int_equal(
		RUN(peer, op_root(), op_open("file", "p", RW, OPEN4_SHARE_DENY_BOTH, true)), NFS4_OK);
	stateid = peer_res(peer, 1)->u.opopen.u.resok4.stateid;
	assert_int_equal(RUN(peer, op_root(), file, op_setattr_mode(0666)), NFS4_OK);
	peer_disconnect(peer);
	peer_connect(peer, 1000);
	assert_int_equal(RUN(peer, op_root(), file, op_write(&stateid, 0, "text")), NFS4_OK);
	assert_int_equal(RUN(peer, op_root(), file, op_read(&stateid, 0, 4)), NFS4_OK);
	assert_memory_equal(peer_res(peer, 2)->u.opread.u.resok4.data.data, "text", 4);
	/* An operation of the same compound that names no stateid has no part in the open. */
	assert_int_equal(
		RUN(peer, op_root(), file, op_read(&stateid, 0, 4), op_read(&stateid_anonymous, 0, 4)),
		NFS4ERR_LOCKED);
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)
	const struct CMUnitTest tests[] = {
		TEST(data_is_of_regular_files),
		TEST(attributes_are_set_that_can_be),
		TEST(attributes_are_compared),
		TEST(handles_and_rights),
		TEST(an_unchecked_create_says_what_is_there_instead),
		TEST(attributes_are_those_that_the_change_left),
		TEST(no_delegation_outlives_its_client),
		TEST(ranges_beyond_what_storage_can_lock_are_locked),
		cmocka_unit_test(the_nearest_error_stands_for_one_that_is_not_listed),
		TEST(reading_nothing_needs_the_right_to_read),
		TEST(the_open_of_another_user_gives_no_rights),
		TEST(an_open_denies_nothing_to_other_users_of_its_client),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
