/* SPDX-License-Identifier: BSD-3-Clause */
/* These tests call operations on directories and their names at their edges, over the loopback. RFC 8881,
 * sections 15 and 18. world.c looks at each status, as for test_edges.c. */
#include "world.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/endian.h"

enum { R = OPEN4_SHARE_ACCESS_READ, RW = OPEN4_SHARE_ACCESS_BOTH };

/* 18.4.3 */
static void
create_makes_what_is_no_file(void **state)
{
	struct peer *peer = world_kinds(*state);

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

/* 18.30.3: "On either success or failure of the operation, the server will return the attrsset bitmask to
 * represent what (if any) attributes were successfully set." A symbolic link has no mode of its own. */
static void
a_mode_that_a_link_does_not_take_is_not_said_to_be_set(void **state)
{
	static uint32_t words[2] = { 0, UINT32_C(1) << (FATTR4_MODE - 32) };
	static const uint8_t mode[4] = { [2] = 1, [3] = 0x80 };
	struct peer *peer = world_kinds(*state);
	nfs_argop4 create = op_create(NF4LNK, "other", "target");
	const bitmap4 *set;

	create.u.opcreate.createattrs = (fattr4){ { 2, words }, { mode, sizeof(mode) } };
	assert_int_equal(RUN(peer, op_root(), create), NFS4_OK);
	set = &peer_res(peer, 1)->u.opcreate.u.resok4.attrset;
	for (uint32_t i = 0; i < set->count; i++)
		assert_int_equal(set->values[i], 0);
	assert_int_equal(RUN(peer, op_root(), op_lookup("link"), op_setattr_mode(0600)), NFS4_OK);
	set = &peer_res(peer, 2)->u.opsetattr.attrsset;
	for (uint32_t i = 0; i < set->count; i++)
		assert_int_equal(set->values[i], 0);
	assert_int_equal(RUN(peer, op_root(), op_lookup("file"), op_setattr_mode(0600)), NFS4_OK);
	assert_int_equal(peer_res(peer, 2)->u.opsetattr.attrsset.values[1], words[1]);
}

/* 18.26.3, 18.9.3, 18.25.3 */
static void
names_are_moved_linked_and_removed(void **state)
{
	struct peer *peer = world_kinds(*state);
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
	struct peer *peer = world_kinds(*state);
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

/* 18.23.3 */
static void
a_directory_is_read_by_cookies(void **state)
{
	struct peer *peer = world_kinds(*state);
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
			/* Clients may keep it in a signed number, as Linux programs do (off_t). */
			assert_true(entry->cookie > 2 && entry->cookie <= INT64_MAX);
			cookie = entry->cookie;
			count++;
		}
		eof = list->eof;
	}
	assert_int_equal(count, 5);
	/* A verifier that this server has never given. */
	assert_int_equal(RUN(peer, op_root(), op_readdir(cookie, 1, 4096)), NFS4ERR_NOT_SAME);
}

static const struct rr_vfs_ops *posix_ops;
static struct rr_vfs_readdir_room room; /* what the storage was asked for */

static enum rr_vfs_status
note_limit(struct rr_vfs *vfs, enum rr_vfs_operation operation, struct rr_vfs_call *call)
{
	if (operation == RR_VFS_OP_READDIR)
		room = rr_container(call, struct rr_vfs_readdir, call)->room;
	return posix_ops->begin(vfs, operation, call);
}

/* 18.23.4: "If dircount is zero, the server bounds the reply's size based on the request's maxcount field."
 * The octets of "." and "..", which are left out, use up nothing of a small one: else a list could be empty
 * without being at its end. */
static void
names_are_bound_by_dircount(void **state)
{
	static const uint32_t counts[][2] = { { 0, UINT32_MAX }, { 1, 9 }, { 512, 520 },
		{ UINT32_MAX, UINT32_MAX } };
	struct world *world = *state;
	struct peer *peer = world_kinds(world);
	struct rr_vfs_ops noting = *world->vfs->ops;

	posix_ops = world->vfs->ops;
	noting.begin = note_limit;
	world->vfs->ops = &noting;
	for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++) {
		nfs_argop4 list = op_readdir(0, 0, 4096);

		list.u.opreaddir.dircount = counts[i][0];
		assert_int_equal(RUN(peer, op_root(), list), NFS4_OK);
		assert_non_null(peer_res(peer, 1)->u.opreaddir.u.resok4.reply.entries);
		assert_int_equal(room.names.octets, counts[i][1]);
	}
	world->vfs->ops = posix_ops;
}

/* What the storage is asked for is what the reply then has room for: less would be pages that are not full,
 * more would be entries that are looked up for nothing. */
static void
the_storage_is_asked_for_what_fits(void **state)
{
	struct world *world = *state;
	struct peer *peer = world_kinds(world);
	uint32_t words[2] = { 1 << FATTR4_TYPE | 1 << FATTR4_SIZE | 1 << FATTR4_FILEHANDLE |
				      1 << FATTR4_FILEID,
		1 << (FATTR4_OWNER - 32) | 1 << (FATTR4_TIME_MODIFY - 32) };
	struct rr_vfs_ops noting = *world->vfs->ops;
	nfs_argop4 get = op_readdir(0, 0, 4096);
	uint32_t fits = 0, taken = 0;

	for (uint32_t i = 0; i < 60; i++) {
		char name[8];

		snprintf(name, sizeof(name), "n%02u", i);
		assert_int_equal(RUN(peer, op_root(), op_create(NF4DIR, name, NULL)), NFS4_OK);
	}
	posix_ops = world->vfs->ops;
	noting.begin = note_limit;
	world->vfs->ops = &noting;
	get.u.opreaddir.dircount = 0;
	get.u.opreaddir.attr_request = (bitmap4){ 2, words };
	assert_int_equal(RUN(peer, op_root(), get), NFS4_OK);
	world->vfs->ops = posix_ops;
	for (const entry4 *entry = peer_res(peer, 1)->u.opreaddir.u.resok4.reply.entries; entry;
		entry = entry->nextentry)
		taken++;
	assert_false(peer_res(peer, 1)->u.opreaddir.u.resok4.reply.eof);
	while (rr_vfs_readdir_wants(&room, 3))
		fits++;
	assert_in_range(fits, taken + 2, taken + 4); /* "." and ".." are among them */
}

/* 14.4: FSCHARSET_CAP4_CONTAINS_NON_UTF8, "if set to one, tells the client that the file system contains
 * non-UTF-8 characters, and the server will not convert non-UTF characters to UTF-8 if the client reads a
 * symbolic link or directory, neither will operations with component names". */
static void
names_are_any_octets_and_the_client_can_know(void **state)
{
	struct peer *peer = world_kinds(*state);
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

/* An OPEN of a name says why the object of the filehandle has no names. */
static void
a_file_is_opened_in_a_directory_alone(void **state)
{
	struct peer *peer = world_kinds(*state);

	for (int create = 0; create < 2; create++) {
		assert_int_equal(RUN(peer, op_root(), op_lookup("file"), op_open("x", "o", R, 0, create)),
			NFS4ERR_NOTDIR);
		assert_int_equal(RUN(peer, op_root(), op_lookup("fifo"), op_open("x", "o", R, 0, create)),
			NFS4ERR_NOTDIR);
		assert_int_equal(RUN(peer, op_root(), op_lookup("link"), op_open("x", "o", R, 0, create)),
			NFS4ERR_SYMLINK);
	}
}

/* The memory of an attribute that an operation sets. */
struct owned {
	uint32_t words[2];
	uint8_t value[8]; /* a string of at most four digits */
};

/* Returns a CREATE of a directory, or an OPEN that makes a file, with this owner or group as the only
 * attribute. */
static nfs_argop4
op_create_owned(nfs_opnum4 op, uint32_t attribute, const char *id, struct owned *owned)
{
	nfs_argop4 made = op == OP_OPEN ? op_open("new", "o", RW, 0, true) : op_create(NF4DIR, "new", NULL);
	fattr4 attrs = { { 2, owned->words }, { owned->value, (uint32_t)(4 + (strlen(id) + 3) / 4 * 4) } };

	*owned = (struct owned){ { 0, UINT32_C(1) << (attribute - 32) }, { 0 } };
	rr_put_be32(owned->value, (uint32_t)strlen(id));
	memcpy(owned->value + 4, id, strlen(id));
	if (op == OP_OPEN)
		made.u.opopen.openhow.u.how = (createhow4){ GUARDED4, { .createattrs = attrs } };
	else
		made.u.opcreate.createattrs = attrs;
	return made;
}

/* Checks the status of a CREATE and an OPEN in the directory "dir" with this owner or group. They make an
 * object only if the status is NFS4_OK. */
static void
check_owned(struct peer *peer, uint32_t attribute, const char *id, nfsstat4 status)
{
	static const nfs_opnum4 ops[] = { OP_CREATE, OP_OPEN };
	const nfs_argop4 dir = op_lookup("dir");

	for (size_t i = 0; i < sizeof(ops) / sizeof(*ops); i++) {
		struct owned owned;
		const nfs_argop4 create = op_create_owned(ops[i], attribute, id, &owned);

		assert_int_equal(RUN(peer, op_root(), dir, create), status);
		assert_int_equal(RUN(peer, op_root(), dir, op_remove("new")),
			status == NFS4_OK ? NFS4_OK : NFS4ERR_NOENT);
	}
}

/* 18.4.3: "it is possible that the client will specify in createattrs an owner attribute, group attribute, or
 * ACL that the principal indicated the RPC call's credentials does not have permissions to create files for.
 * The error to be returned in this instance is NFS4ERR_PERM. This applies to the OPEN operation too." */
static void
nothing_is_made_for_another_owner(void **state)
{
	struct world *world = *state;
	struct peer *peer = world_peer(world, 0, "a", 0), *user = world_peer(world, 1, "b", 1000);

	if (!world->in_memory && geteuid() != 0)
		skip();
	world_open_to_all(world);
	assert_int_equal(RUN(peer, op_root(), op_setattr_mode(0755)), NFS4_OK);
	assert_int_equal(RUN(peer, op_root(), op_create(NF4DIR, "dir", NULL)), NFS4_OK);
	assert_int_equal(RUN(peer, op_root(), op_lookup("dir"), op_setattr_mode(0777)), NFS4_OK);
	check_owned(user, FATTR4_OWNER, "2000", NFS4ERR_PERM);
	check_owned(user, FATTR4_OWNER_GROUP, "2000", NFS4ERR_PERM);
	check_owned(user, FATTR4_OWNER, "1000", NFS4_OK);
	check_owned(user, FATTR4_OWNER_GROUP, "1000", NFS4_OK);
	check_owned(peer, FATTR4_OWNER, "2000", NFS4_OK);
	check_owned(peer, FATTR4_OWNER_GROUP, "2000", NFS4_OK);
	/* Some clients name their own user with each creation. This one is another user in the export. */
	world->rule = "*(rw,root_squash,insecure)";
	world_restart(world);
	peer = world_peer(world, 0, "a", 0);
	check_owned(peer, FATTR4_OWNER, "0", NFS4_OK);
	check_owned(peer, FATTR4_OWNER_GROUP, "0", NFS4_OK);
	check_owned(peer, FATTR4_OWNER, "2000", NFS4ERR_PERM);
}

/* The directory has the sticky bit, so the storage fails with EPERM. */
static void
a_file_of_another_user_is_not_removed_from_a_sticky_directory(void **state)
{
	struct peer *peer = world_kinds(*state), *user = world_peer(*state, 1, "b", 1000);
	const nfs_argop4 dir = op_lookup("dir"), save = op_plain(OP_SAVEFH);

	if (geteuid() != 0)
		skip();
	world_open_to_all(*state);
	assert_int_equal(RUN(peer, op_root(), dir, op_open("x", "o", RW, 0, true)), NFS4_OK);
	assert_int_equal(RUN(peer, op_root(), dir, op_setattr_mode(01777)), NFS4_OK);
	assert_int_equal(RUN(user, op_root(), dir, op_remove("x")), NFS4ERR_ACCESS);
	assert_int_equal(RUN(user, op_root(), dir, save, op_rename("x", "y")), NFS4ERR_ACCESS);
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

/* 18.23.3: the attributes of an entry are those of its object, here of the root of an export: a client that
 * has the filehandle from READDIR finds by GETATTR what READDIR said. */
static void
an_export_has_its_own_attributes_in_the_list(void **state)
{
	static uint32_t words[2] = { UINT32_C(1) << FATTR4_TYPE | UINT32_C(1) << FATTR4_CHANGE |
					     UINT32_C(1) << FATTR4_FSID | UINT32_C(1) << FATTR4_FILEHANDLE |
					     UINT32_C(1) << FATTR4_FILEID,
		UINT32_C(1) << (FATTR4_MODE - 32) | UINT32_C(1) << (FATTR4_MOUNTED_ON_FILEID - 32) };
	struct peer *peer = world_peer(*state, 0, "a", 0);
	const nfs_argop4 get = { .argop = OP_GETATTR, .u.opgetattr.attr_request = { 2, words } };
	nfs_argop4 list = op_readdir(0, 0, 4096);
	const entry4 *entry;
	const fattr4 *got;
	uint8_t values[256];
	uint32_t length;

	list.u.opreaddir.attr_request = (bitmap4){ 2, words };
	assert_int_equal(RUN(peer, op_root(), list), NFS4_OK);
	entry = peer_res(peer, 1)->u.opreaddir.u.resok4.reply.entries;
	assert_non_null(entry);
	assert_int_equal(entry->name.length, 1);
	assert_memory_equal(entry->name.data, "a", 1);
	assert_non_null(entry->nextentry);
	assert_null(entry->nextentry->nextentry);
	length = entry->attrs.attr_vals.length;
	assert_in_range(length, 1, sizeof(values));
	memcpy(values, entry->attrs.attr_vals.data, length);
	assert_int_equal(RUN(peer, op_root(), op_lookup("a"), get), NFS4_OK);
	got = &peer_res(peer, 2)->u.opgetattr.u.resok4.obj_attributes;
	assert_int_equal(got->attr_vals.length, length);
	assert_memory_equal(got->attr_vals.data, values, length);
}

/* 18.23.3: "If the client does not request the attribute, the server has no choice but to return failure for
 * the entire READDIR operation." */
static void
entries_that_may_not_be_looked_at_are_not_left_out(void **state)
{
	static uint32_t type = UINT32_C(1) << FATTR4_TYPE,
			both = UINT32_C(1) << FATTR4_TYPE | UINT32_C(1) << FATTR4_RDATTR_ERROR;
	struct peer *peer = world_kinds(*state), *user = world_peer(*state, 1, "b", 1000);
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
		TEST(a_mode_that_a_link_does_not_take_is_not_said_to_be_set),
		TEST(names_are_moved_linked_and_removed),
		TEST(a_rename_to_the_same_file_changes_nothing),
		TEST(a_directory_is_read_by_cookies),
		TEST(names_are_bound_by_dircount),
		TEST(the_storage_is_asked_for_what_fits),
		TEST(names_are_any_octets_and_the_client_can_know),
		TEST(a_file_is_opened_in_a_directory_alone),
		TEST(a_file_of_another_user_is_not_removed_from_a_sticky_directory),
		TEST(nothing_is_made_for_another_owner),
		cmocka_unit_test_setup_teardown(
			nothing_is_made_for_another_owner, world_setup_memory, world_teardown),
		cmocka_unit_test_setup_teardown(entries_that_may_not_be_looked_at_are_not_left_out,
			world_setup_memory, world_teardown),
		cmocka_unit_test_setup_teardown(an_export_has_its_own_attributes_in_the_list,
			world_setup_two_exports, world_teardown),
		cmocka_unit_test_setup_teardown(
			the_root_of_several_exports_is_a_directory, world_setup_two_exports, world_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
