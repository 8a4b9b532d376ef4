/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What operations answer at their edges, over the loopback: kinds of objects, names, handles, attributes,
 * cookies. RFC 8881, sections 15 and 18. world.c looks at each status: operations answer with errors that
 * section 15.2 lists for them, and with no others.
 */
#include "world.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/endian.h"

enum { R = OPEN4_SHARE_ACCESS_READ, W = OPEN4_SHARE_ACCESS_WRITE, RW = OPEN4_SHARE_ACCESS_BOTH };

static nfs_argop4
op_create(nfs_ftype4 type, const char *name, const char *target)
{
	nfs_argop4 op = { .argop = OP_CREATE,
		.u.opcreate = { { .type = type }, text_bytes(name), { .attrmask = { .count = 0 } } } };

	if (target)
		op.u.opcreate.objtype.u.linkdata = text_bytes(target);
	return op;
}

static nfs_argop4
op_rename(const char *from, const char *to)
{
	return (nfs_argop4){ .argop = OP_RENAME, .u.oprename = { text_bytes(from), text_bytes(to) } };
}

static nfs_argop4
op_link(const char *name)
{
	return (nfs_argop4){ .argop = OP_LINK, .u.oplink.newname = text_bytes(name) };
}

static nfs_argop4
op_remove(const char *name)
{
	return (nfs_argop4){ .argop = OP_REMOVE, .u.opremove.target = text_bytes(name) };
}

/* Makes a client, and an object of each kind in the export. */
static struct peer *
peer_with_kinds(void **state)
{
	struct peer *peer = world_peer(*state, 0, "a", 0);

	assert_int_equal(RUN(peer, op_root(), op_open("file", "o", RW, 0, true)), NFS4_OK);
	assert_int_equal(RUN(peer, op_root(), op_create(NF4DIR, "dir", NULL)), NFS4_OK);
	assert_int_equal(RUN(peer, op_root(), op_create(NF4LNK, "link", "file")), NFS4_OK);
	assert_int_equal(RUN(peer, op_root(), op_lookup("link"), op_lookup("x")), NFS4ERR_SYMLINK);
	assert_int_equal(RUN(peer, op_root(), op_lookup("link"), op_plain(OP_LOOKUPP)), NFS4ERR_SYMLINK);
	assert_int_equal(RUN(peer, op_root(), op_create(NF4FIFO, "fifo", NULL)), NFS4_OK);
	assert_int_equal(RUN(peer, op_root(), op_create(NF4SOCK, "sock", NULL)), NFS4_OK);
	return peer;
}

/* 18.4.3 */
static void
create_makes_what_is_no_file(void **state)
{
	struct peer *peer = peer_with_kinds(state);

	assert_int_equal(RUN(peer, op_root(), op_create(NF4REG, "x", NULL)), NFS4ERR_BADTYPE);
	assert_int_equal(RUN(peer, op_root(), op_create(NF4ATTRDIR, "x", NULL)), NFS4ERR_BADTYPE);
	assert_int_equal(RUN(peer, op_root(), op_create(NF4NAMEDATTR, "x", NULL)), NFS4ERR_BADTYPE);
	assert_int_equal(RUN(peer, op_root(), op_create(NF4LNK, "x", "")), NFS4ERR_INVAL);
	assert_int_equal(RUN(peer, op_root(), op_create(NF4DIR, "", NULL)), NFS4ERR_INVAL);
	assert_int_equal(RUN(peer, op_root(), op_create(NF4DIR, ".", NULL)), NFS4ERR_BADNAME);
	assert_int_equal(RUN(peer, op_root(), op_create(NF4DIR, "..", NULL)), NFS4ERR_BADNAME);
	assert_int_equal(RUN(peer, op_root(), op_create(NF4DIR, "dir", NULL)), NFS4ERR_EXIST);
	assert_int_equal(
		RUN(peer, op_root(), op_lookup("file"), op_create(NF4DIR, "x", NULL)), NFS4ERR_NOTDIR);
	assert_int_equal(
		RUN(peer, op_root(), op_lookup("link"), op_create(NF4DIR, "x", NULL)), NFS4ERR_NOTDIR);
}

/* 18.16.3, 18.22.3, 18.32.3, 18.3.3, 18.24.3 */
static void
data_is_of_regular_files(void **state)
{
	static const struct {
		const char *name;
		nfsstat4 status;
	} kinds[] = { { "dir", NFS4ERR_ISDIR }, { "link", NFS4ERR_SYMLINK }, { "fifo", NFS4ERR_WRONG_TYPE },
		{ "sock", NFS4ERR_WRONG_TYPE } };
	struct peer *peer = peer_with_kinds(state);

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

/* 18.26.3, 18.9.3, 18.25.3 */
static void
names_are_moved_linked_and_removed(void **state)
{
	struct peer *peer = peer_with_kinds(state);
	const nfs_argop4 save = op_plain(OP_SAVEFH);

	assert_int_equal(RUN(peer, op_root(), op_lookup("dir"), op_create(NF4DIR, "sub", NULL)), NFS4_OK);
	assert_int_equal(RUN(peer, op_root(), op_rename("file", "x")), NFS4ERR_NOFILEHANDLE);
	assert_int_equal(RUN(peer, op_root(), save, op_rename("none", "x")), NFS4ERR_NOENT);
	assert_int_equal(RUN(peer, op_root(), save, op_rename("", "x")), NFS4ERR_INVAL);
	assert_int_equal(RUN(peer, op_root(), save, op_rename("file", "")), NFS4ERR_INVAL);
	assert_int_equal(RUN(peer, op_root(), save, op_rename(".", "x")), NFS4ERR_BADNAME);
	assert_int_equal(RUN(peer, op_root(), save, op_rename("file", "..")), NFS4ERR_BADNAME);
	assert_int_equal(RUN(peer, op_root(), save, op_rename("file", "dir")), NFS4ERR_EXIST);
	assert_int_equal(RUN(peer, op_root(), save, op_rename("dir", "file")), NFS4ERR_EXIST);
	assert_int_equal(RUN(peer, op_root(), op_lookup("file"), save, op_root(), op_rename("x", "y")),
		NFS4ERR_NOTDIR);
	assert_int_equal(
		RUN(peer, op_root(), save, op_lookup("fifo"), op_rename("file", "y")), NFS4ERR_NOTDIR);
	assert_int_equal(RUN(peer, op_root(), op_create(NF4DIR, "other", NULL)), NFS4_OK);
	assert_int_equal(RUN(peer, op_root(), save, op_rename("other", "dir")), NFS4ERR_NOTEMPTY);
	assert_int_equal(
		RUN(peer, op_root(), save, op_lookup("dir"), op_lookup("sub"), op_rename("dir", "x")),
		NFS4ERR_INVAL);
	assert_int_equal(RUN(peer, op_root(), op_remove("dir")), NFS4ERR_NOTEMPTY);
	assert_int_equal(RUN(peer, op_root(), op_remove("")), NFS4ERR_INVAL);
	assert_int_equal(RUN(peer, op_root(), op_remove("..")), NFS4ERR_BADNAME);
	assert_int_equal(RUN(peer, op_root(), op_remove("none")), NFS4ERR_NOENT);
	assert_int_equal(RUN(peer, op_root(), op_lookup("file"), op_remove("x")), NFS4ERR_NOTDIR);
	assert_int_equal(
		RUN(peer, op_root(), op_lookup("dir"), save, op_root(), op_link("x")), NFS4ERR_ISDIR);
	assert_int_equal(
		RUN(peer, op_root(), op_lookup("file"), save, op_root(), op_link("dir")), NFS4ERR_EXIST);
	assert_int_equal(
		RUN(peer, op_root(), op_lookup("file"), save, op_root(), op_link(".")), NFS4ERR_BADNAME);
	assert_int_equal(RUN(peer, op_root(), op_lookup("file"), save, op_lookup("x")), NFS4ERR_NOTDIR);
	assert_int_equal(RUN(peer, op_root(), op_lookup("file"), save, op_link("x")), NFS4ERR_NOTDIR);
}

/* 18.26.3: "If oldname and newname both refer to the same file ..., then RENAME should perform no action and
 * return NFS4_OK", by which no directory changes. */
static void
a_rename_to_the_same_file_changes_nothing(void **state)
{
	struct peer *peer = peer_with_kinds(state);
	const nfs_argop4 save = op_plain(OP_SAVEFH);
	static const char *const pairs[][2] = { { "dir", "dir" }, { "file", "file" }, { "file", "hard" } };

	assert_int_equal(RUN(peer, op_root(), op_lookup("file"), save, op_root(), op_link("hard")), NFS4_OK);
	for (size_t i = 0; i < sizeof(pairs) / sizeof(*pairs); i++) {
		const RENAME4resok *ok;

		assert_int_equal(RUN(peer, op_root(), save, op_rename(pairs[i][0], pairs[i][1])), NFS4_OK);
		ok = &peer_res(peer, 2)->u.oprename.u.resok4;
		assert_int_equal(ok->source_cinfo.before, ok->source_cinfo.after);
		assert_int_equal(ok->target_cinfo.before, ok->target_cinfo.after);
	}
	assert_int_equal(RUN(peer, op_root(), op_lookup("file")), NFS4_OK);
	assert_int_equal(RUN(peer, op_root(), op_lookup("hard")), NFS4_OK);
}

static nfs_argop4
op_readdir(uint64_t cookie, uint8_t verifier, uint32_t maxcount)
{
	return (nfs_argop4){ .argop = OP_READDIR,
		.u.opreaddir = { .cookie = cookie,
			.cookieverf = { verifier },
			.dircount = 512,
			.maxcount = maxcount } };
}

/* 18.23.3 */
static void
a_directory_is_read_by_cookies(void **state)
{
	struct peer *peer = peer_with_kinds(state);
	uint64_t cookie = 0;
	uint32_t count = 0;
	bool eof = false;

	assert_int_equal(RUN(peer, op_root(), op_readdir(1, 0, 4096)), NFS4ERR_BAD_COOKIE);
	assert_int_equal(RUN(peer, op_root(), op_readdir(2, 0, 4096)), NFS4ERR_BAD_COOKIE);
	assert_int_equal(RUN(peer, op_root(), op_readdir(0, 1, 4096)), NFS4ERR_NOT_SAME);
	assert_int_equal(RUN(peer, op_root(), op_readdir(0, 0, 0)), NFS4ERR_TOOSMALL);
	assert_int_equal(RUN(peer, op_root(), op_readdir(0, 0, 20)), NFS4ERR_TOOSMALL);
	assert_int_equal(RUN(peer, op_root(), op_lookup("file"), op_readdir(0, 0, 4096)), NFS4ERR_NOTDIR);
	assert_int_equal(RUN(peer, op_root(), op_lookup("link"), op_readdir(0, 0, 4096)), NFS4ERR_NOTDIR);
	while (!eof) {
		const dirlist4 *list;

		assert_int_equal(RUN(peer, op_root(), op_readdir(cookie, 0, 64)), NFS4_OK);
		list = &peer_res(peer, 1)->u.opreaddir.u.resok4.reply;
		for (const entry4 *entry = list->entries; entry; entry = entry->nextentry) {
			assert_true(entry->cookie > 2);
			cookie = entry->cookie;
			count++;
		}
		eof = list->eof;
	}
	assert_int_equal(count, 5);
	/* A verifier that this server has never given. */
	assert_int_equal(RUN(peer, op_root(), op_readdir(cookie, 1, 4096)), NFS4ERR_NOT_SAME);
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
op_setattr_mode(uint32_t mode)
{
	static const uint32_t words[2] = { 0, 1 << (FATTR4_MODE - 32) };
	static uint8_t values[4];

	rr_put_be32(values, mode);
	return (nfs_argop4){ .argop = OP_SETATTR,
		.u.opsetattr.obj_attributes = { { 2, (uint32_t *)(uintptr_t)words }, { values, 4 } } };
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
	struct peer *peer = peer_with_kinds(state);
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
	struct peer *peer = peer_with_kinds(state);
	const nfs_argop4 file = op_lookup("file");
	uint32_t words[2] = { 0, 1 << (FATTR4_TIME_ACCESS_SET - 32) };
	const nfs_argop4 get = { .argop = OP_GETATTR, .u.opgetattr.attr_request = { 2, words } };

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
}

/* 14.4: FSCHARSET_CAP4_CONTAINS_NON_UTF8, "if set to one, tells the client that the file system contains
 * non-UTF-8 characters, and the server will not convert non-UTF characters to UTF-8 if the client reads a
 * symbolic link or directory, neither will operations with component names". */
static void
names_are_any_octets_and_the_client_can_know(void **state)
{
	struct peer *peer = peer_with_kinds(state);
	uint32_t words[3] = { 0, 0, 1 << (FATTR4_FS_CHARSET_CAP - 64) };
	const nfs_argop4 get = { .argop = OP_GETATTR, .u.opgetattr.attr_request = { 3, words } };
	const fattr4 *got;

	assert_int_equal(RUN(peer, op_root(), get), NFS4_OK);
	got = &peer_res(peer, 1)->u.opgetattr.u.resok4.obj_attributes;
	assert_int_equal(got->attr_vals.length, 4);
	assert_int_equal(rr_get_be32(got->attr_vals.data), FSCHARSET_CAP4_CONTAINS_NON_UTF8);
	assert_int_equal(RUN(peer, op_root(), op_open("\xc0\xaf", "o", RW, 0, true)), NFS4_OK);
	assert_int_equal(RUN(peer, op_root(), op_lookup("\xc0\xaf")), NFS4_OK);
}

/* 18.1.3, 18.19.3, 18.29.3 */
static void
handles_and_rights(void **state)
{
	struct peer *peer = peer_with_kinds(state);
	nfs_argop4 access = { .argop = OP_ACCESS, .u.opaccess.access = 0x1000 };
	nfs_argop4 secinfo = { .argop = OP_SECINFO, .u.opsecinfo.name = text_bytes("file") };
	uint8_t handle[NFS4_FHSIZE] = { 0 };

	assert_int_equal(RUN(peer, op_root(), access), NFS4ERR_INVAL);
	access.u.opaccess.access = ACCESS4_READ | ACCESS4_LOOKUP | ACCESS4_EXECUTE;
	assert_int_equal(RUN(peer, op_root(), access), NFS4_OK);
	assert_int_equal(peer_res(peer, 1)->u.opaccess.u.resok4.supported & ACCESS4_EXECUTE, 0);
	assert_int_equal(RUN(peer, op_root(), op_lookup("file"), access), NFS4_OK);
	assert_int_equal(peer_res(peer, 2)->u.opaccess.u.resok4.supported & ACCESS4_LOOKUP, 0);
	for (uint32_t length = 0; length <= NFS4_FHSIZE; length += 16)
		assert_int_equal(
			RUN(peer, op_putfh((struct rpcrdma_bytes){ handle, length })), NFS4ERR_BADHANDLE);
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
	struct peer *peer = peer_with_kinds(state);

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
	struct peer *peer = peer_with_kinds(state);
	struct rr_vfs *vfs = peer->world->vfs;
	nfs_argop4 mode = op_setattr_mode(0077);
	struct rr_vfs_counters before, after;

	mode.u.opsetattr.stateid = stateid_current;
	vfs->ops->counters(vfs, &before);
	assert_int_equal(
		RUN(peer, op_root(), op_open("new", "o", RW, 0, true), op_write(&stateid_current, 0, "four"),
			op_verify(OP_VERIFY, FATTR4_SIZE, 8, 4), mode,
			op_verify(OP_VERIFY, FATTR4_MODE, 4, 0077)),
		NFS4_OK);
	vfs->ops->counters(vfs, &after);
	assert_int_equal(after.begun - before.begun, 4); /* create, open, write and setattr */
	assert_int_equal(RUN(peer, op_root(), op_lookup("new"), op_verify(OP_VERIFY, FATTR4_SIZE, 8, 4),
				 op_verify(OP_VERIFY, FATTR4_MODE, 4, 0077)),
		NFS4_OK);
}

/* An OPEN of a name says why the object of the filehandle has no names. */
static void
a_file_is_opened_in_a_directory_alone(void **state)
{
	struct peer *peer = peer_with_kinds(state);

	for (int create = 0; create < 2; create++) {
		assert_int_equal(RUN(peer, op_root(), op_lookup("file"), op_open("x", "o", R, 0, create)),
			NFS4ERR_NOTDIR);
		assert_int_equal(RUN(peer, op_root(), op_lookup("fifo"), op_open("x", "o", R, 0, create)),
			NFS4ERR_NOTDIR);
		assert_int_equal(RUN(peer, op_root(), op_lookup("link"), op_open("x", "o", R, 0, create)),
			NFS4ERR_SYMLINK);
	}
}

/* 18.16.3: "The server MAY support CLAIM_DELEGATE_PREV and/or CLAIM_DELEG_PREV_FH". */
static void
no_delegation_outlives_its_client(void **state)
{
	struct peer *peer = peer_with_kinds(state);
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
	struct peer *peer = peer_with_kinds(state), *other = world_peer(*state, 1, "b", 0);
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
	assert_int_equal(rr_nfs4_status_for(OP_REMOVE, NFS4ERR_PERM), NFS4ERR_ACCESS);
	assert_int_equal(rr_nfs4_status_for(OP_RENAME, NFS4ERR_PERM), NFS4ERR_ACCESS);
	assert_int_equal(rr_nfs4_status_for(OP_LINK, NFS4ERR_PERM), NFS4ERR_ACCESS);
	assert_int_equal(rr_nfs4_status_for(OP_WRITE, NFS4ERR_PERM), NFS4ERR_ACCESS);
	assert_int_equal(rr_nfs4_status_for(OP_SETATTR, NFS4ERR_PERM), NFS4ERR_PERM);
	assert_int_equal(rr_nfs4_status_for(OP_COMMIT, NFS4ERR_NOSPC), NFS4ERR_IO);
	assert_int_equal(rr_nfs4_status_for(OP_COMMIT, NFS4ERR_DQUOT), NFS4ERR_IO);
	assert_int_equal(rr_nfs4_status_for(OP_ALLOCATE, NFS4ERR_PERM), NFS4ERR_ACCESS);
	assert_int_equal(rr_nfs4_status_for(OP_SECINFO, NFS4ERR_SYMLINK), NFS4ERR_NOTDIR);
	assert_int_equal(rr_nfs4_status_for(OP_READLINK, NFS4ERR_ISDIR), NFS4ERR_WRONG_TYPE);
}

static void
world_open_to_all(const struct world *world)
{
	assert_int_equal(chmod(world->path, 0755), 0);
}

/* The directory has the sticky bit, so the storage fails with EPERM. */
static void
a_file_of_another_user_is_not_removed_from_a_sticky_directory(void **state)
{
	struct peer *peer = peer_with_kinds(state), *user = world_peer(*state, 1, "b", 1000);
	const nfs_argop4 dir = op_lookup("dir"), save = op_plain(OP_SAVEFH);

	if (geteuid() != 0)
		skip();
	world_open_to_all(*state);
	assert_int_equal(RUN(peer, op_root(), dir, op_open("x", "o", RW, 0, true)), NFS4_OK);
	assert_int_equal(RUN(peer, op_root(), dir, op_setattr_mode(01777)), NFS4_OK);
	assert_int_equal(RUN(user, op_root(), dir, op_remove("x")), NFS4ERR_ACCESS);
	assert_int_equal(RUN(user, op_root(), dir, save, op_rename("x", "y")), NFS4ERR_ACCESS);
}

/* 18.22.3: "the READ succeeds and returns zero bytes of data again subject to access permissions checking" */
static void
reading_nothing_needs_the_right_to_read(void **state)
{
	struct peer *peer = peer_with_kinds(state), *user = world_peer(*state, 1, "b", 1000);
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
	struct peer *peer = peer_with_kinds(state);
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
	assert_int_equal(peer_bind(peer, 1000), NFS4_OK);
	assert_int_equal(RUN(peer, op_root(), file, op_read(&stateid, 0, 4)), NFS4ERR_ACCESS);
	assert_int_equal(RUN(peer, op_root(), file, op_read(&stateid, 0, 0)), NFS4ERR_ACCESS);
	assert_int_equal(RUN(peer, op_root(), file, op_write(&stateid, 0, "x")), NFS4ERR_ACCESS);
	downgrade.u.opopen_downgrade.open_stateid = stateid;
	assert_int_equal(RUN(peer, op_root(), file, downgrade), NFS4_OK);
	stateid = peer_res(peer, 2)->u.opopen_downgrade.u.resok4.open_stateid;
	assert_int_equal(RUN(peer, op_root(), file, op_read(&stateid, 0, 4)), NFS4ERR_ACCESS);
	peer_disconnect(peer);
	assert_int_equal(peer_bind(peer, 0), NFS4_OK);
	assert_int_equal(RUN(peer, op_root(), file, op_read(&stateid, 0, 4)), NFS4_OK);
	assert_memory_equal(peer_res(peer, 2)->u.opread.u.resok4.data.data, "text", 4);
}

/* A directory above the exports has only the names of its exports and directories. */
static void
the_root_of_several_exports_is_a_directory(void **state)
{
	static const nfs_opnum4 numbers[] = { OP_READ, OP_WRITE, OP_COMMIT, OP_READLINK, OP_CLOSE, OP_LOCK,
		OP_LOCKT, OP_LOCKU, OP_DELEGRETURN, OP_OPEN_DOWNGRADE, OP_SETATTR, OP_SEEK, OP_ALLOCATE,
		OP_DEALLOCATE, OP_READ_PLUS, OP_IO_ADVISE, OP_GETXATTR, OP_SETXATTR, OP_LISTXATTRS,
		OP_REMOVEXATTR };
	struct peer *peer = world_peer(*state, 0, "a", 0);

	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
		nfs_argop4 op = op_plain(numbers[i]);

		if (numbers[i] == OP_LOCKT)
			op.u.oplockt.locktype = READ_LT;
		if (numbers[i] == OP_LOCKU)
			op.u.oplocku.locktype = READ_LT;
		if (numbers[i] == OP_LOCK)
			op = op_lock(&stateid_anonymous, "l", READ_LT, 0, 1);
		assert_int_not_equal(RUN(peer, op_root(), op), NFS4_OK);
	}
	assert_int_equal(RUN(peer, op_root(), op_create(NF4DIR, "x", NULL)), NFS4ERR_ROFS);
	assert_int_equal(RUN(peer, op_root(), op_remove("a")), NFS4ERR_ROFS);
	assert_int_equal(RUN(peer, op_root(), op_plain(OP_SAVEFH), op_rename("a", "b")), NFS4ERR_ROFS);
	assert_int_equal(RUN(peer, op_root(), op_lookup("a"), op_plain(OP_SAVEFH), op_root(), op_link("x")),
		NFS4ERR_ROFS);
	assert_int_equal(RUN(peer, op_root(), op_lookup("a"), op_plain(OP_SAVEFH), op_root(),
				 op_lookup("deep"), op_lookup("b"), op_rename("x", "y")),
		NFS4ERR_XDEV);
}

/* 18.23.3: "If the client does not request the attribute, the server has no choice but to return failure for
 * the entire READDIR operation." */
static void
entries_that_may_not_be_looked_at_are_not_left_out(void **state)
{
	static uint32_t type = UINT32_C(1) << FATTR4_TYPE,
			both = UINT32_C(1) << FATTR4_TYPE | UINT32_C(1) << FATTR4_RDATTR_ERROR;
	struct peer *peer = peer_with_kinds(state), *user = world_peer(*state, 1, "b", 1000);
	const nfs_argop4 dir = op_lookup("dir");
	nfs_argop4 names = op_readdir(0, 0, 4096), types = names, errors = names;
	const dirlist4 *list;

	types.u.opreaddir.attr_request = (bitmap4){ 1, &type };
	errors.u.opreaddir.attr_request = (bitmap4){ 1, &both };
	assert_int_equal(RUN(peer, op_root(), op_setattr_mode(0755)), NFS4_OK);
	assert_int_equal(RUN(peer, op_root(), dir, op_create(NF4DIR, "inner", NULL)), NFS4_OK);
	assert_int_equal(RUN(peer, op_root(), dir, op_setattr_mode(0744)), NFS4_OK);
	assert_int_equal(RUN(user, op_root(), dir, types), NFS4ERR_ACCESS);
	assert_int_equal(RUN(user, op_root(), dir, names), NFS4_OK);
	assert_non_null(peer_res(user, 2)->u.opreaddir.u.resok4.reply.entries);
	assert_int_equal(RUN(user, op_root(), dir, errors), NFS4_OK);
	list = &peer_res(user, 2)->u.opreaddir.u.resok4.reply;
	assert_non_null(list->entries);
	assert_int_equal(list->entries->attrs.attrmask.values[0], UINT32_C(1) << FATTR4_RDATTR_ERROR);
	assert_int_equal(rr_get_be32(list->entries->attrs.attr_vals.data), NFS4ERR_ACCESS);
	assert_true(list->eof);
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)
	const struct CMUnitTest tests[] = {
		TEST(create_makes_what_is_no_file),
		TEST(data_is_of_regular_files),
		TEST(names_are_moved_linked_and_removed),
		TEST(a_rename_to_the_same_file_changes_nothing),
		TEST(a_directory_is_read_by_cookies),
		TEST(attributes_are_set_that_can_be),
		TEST(attributes_are_compared),
		TEST(names_are_any_octets_and_the_client_can_know),
		TEST(handles_and_rights),
		TEST(an_unchecked_create_says_what_is_there_instead),
		TEST(attributes_are_those_that_the_change_left),
		TEST(a_file_is_opened_in_a_directory_alone),
		TEST(no_delegation_outlives_its_client),
		TEST(ranges_beyond_what_storage_can_lock_are_locked),
		cmocka_unit_test(the_nearest_error_stands_for_one_that_is_not_listed),
		TEST(a_file_of_another_user_is_not_removed_from_a_sticky_directory),
		TEST(reading_nothing_needs_the_right_to_read),
		TEST(the_open_of_another_user_gives_no_rights),
		cmocka_unit_test_setup_teardown(entries_that_may_not_be_looked_at_are_not_left_out,
			world_setup_memory, world_teardown),
		cmocka_unit_test_setup_teardown(
			the_root_of_several_exports_is_a_directory, world_setup_two_exports, world_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
