/* SPDX-License-Identifier: BSD-3-Clause */
/* The attributes acl, dacl and aclsupport: RFC 8881, section 6. */
#include "world.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "../../gate.h"
#include "base/endian.h"

enum { ALLOW = ACE4_ACCESS_ALLOWED_ACE_TYPE, DENY = ACE4_ACCESS_DENIED_ACE_TYPE };
enum { R = ACE4_READ_DATA, W = ACE4_WRITE_DATA | ACE4_APPEND_DATA, GROUP = ACE4_IDENTIFIER_GROUP };
enum { INHERITED = ACE4_FILE_INHERIT_ACE | ACE4_DIRECTORY_INHERIT_ACE | ACE4_INHERIT_ONLY_ACE };

static uint32_t acl_word[1] = { 1 << FATTR4_ACL };
static uint32_t dacl_words[2] = { 0, 1 << (FATTR4_DACL - 32) };
static uint8_t memory[1 << 16];

/* The value of a list in the arguments. */
static uint32_t
put_list(uint8_t *to, const nfsace4 *entries, uint32_t count)
{
	uint8_t *at = to;

	rr_put_be32(at, count);
	at += 4;
	for (uint32_t i = 0; i < count; i++) {
		uint32_t length = entries[i].who.length;

		rr_put_be32(at, entries[i].type);
		rr_put_be32(at + 4, entries[i].flag);
		rr_put_be32(at + 8, entries[i].access_mask);
		rr_put_be32(at + 12, length);
		memset(at + 16, 0, (length + 3) / 4 * 4);
		memcpy(at + 16, entries[i].who.data, length);
		at += 16 + (length + 3) / 4 * 4;
	}
	return (uint32_t)(at - to);
}

static nfs_argop4
op_setattr_acl(const nfsace4 *entries, uint32_t count)
{
	return (nfs_argop4){ .argop = OP_SETATTR,
		.u.opsetattr.obj_attributes = {
			{ 1, acl_word }, { memory, put_list(memory, entries, count) } } };
}

static nfs_argop4
op_getattr_acl(void)
{
	return (nfs_argop4){ .argop = OP_GETATTR, .u.opgetattr.attr_request = { 1, acl_word } };
}

static nfsace4
ace(uint32_t type, uint32_t flag, uint32_t mask, const char *who)
{
	return (nfsace4){ type, flag, mask, text_bytes(who) };
}

/* Finds the next entry of a list that came. */
static const uint8_t *
check_ace(const uint8_t *at, uint32_t type, uint32_t flag, uint32_t mask, const char *who)
{
	uint32_t length = rr_get_be32(at + 12);

	assert_int_equal(rr_get_be32(at), type);
	assert_int_equal(rr_get_be32(at + 4), flag);
	assert_int_equal(rr_get_be32(at + 8) & (R | W | ACE4_EXECUTE), mask);
	assert_int_equal(length, strlen(who));
	assert_memory_equal(at + 16, who, length);
	return at + 16 + (length + 3) / 4 * 4;
}

static const fattr4 *
got(const struct peer *peer, uint32_t index)
{
	return &peer_res(peer, index)->u.opgetattr.u.resok4.obj_attributes;
}

static mode_t
mode_of(const struct world *world, const char *name)
{
	char path[STAGE_PATH + 32];
	struct stat st;

	snprintf(path, sizeof(path), "%s/%s", world->path, name);
	assert_int_equal(stat(path, &st), 0);
	return st.st_mode & 0777;
}

static ssize_t
stored(const struct world *world, const char *name, const char *which)
{
	char path[STAGE_PATH + 32];

	snprintf(path, sizeof(path), "%s/%s", world->path, name);
	return getxattr(path, which, NULL, 0);
}

/* RFC 8881, 6.4.2: "the server SHOULD return an ACL that does not conflict with the mode". */
static void
an_object_without_a_list_has_one_by_its_mode(void **state)
{
	struct world *world = *state;
	struct peer *peer = world_kinds(world);
	const uint8_t *at;

	assert_int_equal(
		RUN(peer, op_root(), op_lookup("file"), op_setattr_mode(0640), op_getattr_acl()), NFS4_OK);
	assert_int_equal(got(peer, 3)->attrmask.count, 1);
	assert_int_equal(got(peer, 3)->attrmask.values[0], acl_word[0]);
	at = got(peer, 3)->attr_vals.data;
	assert_int_equal(rr_get_be32(at), 3);
	at = check_ace(at + 4, ALLOW, 0, R | W, "OWNER@");
	at = check_ace(at, ALLOW, GROUP, R, "GROUP@");
	at = check_ace(at, ALLOW, 0, 0, "EVERYONE@");
	/* A list is read of every object that has a mode. */
	assert_int_equal(RUN(peer, op_root(), op_getattr_acl()), NFS4_OK);
	assert_int_equal(RUN(peer, op_root(), op_lookup("fifo"), op_getattr_acl()), NFS4_OK);
}

static void
a_list_is_set_and_read(void **state)
{
	struct world *world = *state;
	struct peer *peer = world_kinds(world);
	const nfsace4 list[] = { ace(ALLOW, 0, R | W, "OWNER@"), ace(ALLOW, 0, R | W, "1234"),
		ace(ALLOW, GROUP, R, "GROUP@"), ace(ALLOW, GROUP, R, "77"), ace(ALLOW, 0, 0, "EVERYONE@") };
	const uint8_t *at;

	assert_int_equal(
		RUN(peer, op_root(), op_lookup("file"), op_setattr_acl(list, 5), op_getattr_acl()), NFS4_OK);
	assert_int_equal(peer_res(peer, 2)->u.opsetattr.attrsset.values[0], acl_word[0]);
	assert_int_equal(mode_of(world, "file"), 0660); /* the mask */
	assert_int_equal(stored(world, "file", "system.posix_acl_access"), 4 + 6 * 8);
	at = got(peer, 3)->attr_vals.data;
	assert_int_equal(rr_get_be32(at), 5);
	at = check_ace(at + 4, ALLOW, 0, R | W, "OWNER@");
	at = check_ace(at, ALLOW, 0, R | W, "1234");
	at = check_ace(at, ALLOW, GROUP, R, "GROUP@");
	at = check_ace(at, ALLOW, GROUP, R, "77");
	check_ace(at, ALLOW, 0, 0, "EVERYONE@");
}

/* The list of a directory is its own and the one that is inherited, in one. */
static void
a_list_that_is_inherited_is_set_and_read(void **state)
{
	struct world *world = *state;
	struct peer *peer = world_kinds(world);
	const nfsace4 list[] = { ace(ALLOW, 0, R | W | ACE4_DELETE_CHILD, "OWNER@"),
		ace(ALLOW, INHERITED, R, "1234"), ace(ALLOW, GROUP, R, "GROUP@"),
		ace(ALLOW, 0, 0, "EVERYONE@") };

	assert_int_equal(RUN(peer, op_root(), op_lookup("dir"), op_setattr_acl(list, 4)), NFS4_OK);
	assert_int_equal(stored(world, "dir", "system.posix_acl_default"), 4 + 5 * 8);
	assert_int_equal(
		RUN(peer, op_root(), op_lookup("dir"), op_create(NF4DIR, "inner", NULL), op_getattr_acl()),
		NFS4_OK);
	assert_int_equal(stored(world, "dir/inner", "system.posix_acl_default"), 4 + 5 * 8);
	assert_true(rr_get_be32(got(peer, 3)->attr_vals.data) > 6);
	/* A list of which nothing is inherited takes that away. */
	assert_int_equal(RUN(peer, op_root(), op_lookup("dir"), op_setattr_acl(list, 1)), NFS4_OK);
	assert_int_equal(stored(world, "dir", "system.posix_acl_default"), -1);
	/* Only directories have such lists. */
	assert_int_equal(RUN(peer, op_root(), op_lookup("file"), op_setattr_acl(list, 4)), NFS4ERR_INVAL);
}

static void
the_list_of_version_41_is_the_same(void **state)
{
	struct world *world = *state;
	struct peer *peer = world_kinds(world);
	const nfsace4 list[] = { ace(ALLOW, 0, R, "OWNER@"), ace(ALLOW, 0, R, "1234"),
		ace(ALLOW, 0, 0, "EVERYONE@") };
	nfs_argop4 set = { .argop = OP_SETATTR };
	nfs_argop4 get = { .argop = OP_GETATTR, .u.opgetattr.attr_request = { 2, dacl_words } };

	rr_put_be32(memory, 0);
	set.u.opsetattr.obj_attributes =
		(fattr4){ { 2, dacl_words }, { memory, 4 + put_list(memory + 4, list, 3) } };
	assert_int_equal(RUN(peer, op_root(), op_lookup("file"), set, get), NFS4_OK);
	assert_int_equal(rr_get_be32(got(peer, 3)->attr_vals.data), 0);
	assert_int_equal(rr_get_be32((const uint8_t *)got(peer, 3)->attr_vals.data + 4), 4);
	assert_int_equal(stored(world, "file", "system.posix_acl_access"), 4 + 5 * 8);
	rr_put_be32(memory, ACL4_PROTECTED);
	assert_int_equal(RUN(peer, op_root(), op_lookup("file"), set), NFS4ERR_ATTRNOTSUPP);
}

static void
lists_that_posix_does_not_have_are_refused(void **state)
{
	struct world *world = *state;
	struct peer *peer = world_kinds(world);
	const nfsace4 audit = ace(ACE4_SYSTEM_AUDIT_ACE_TYPE, 0, R, "EVERYONE@");
	const nfsace4 stranger = ace(ALLOW, 0, R, "alice@example.com");
	const nfsace4 special = ace(ALLOW, 0, R, "INTERACTIVE@");
	const nfsace4 octets = { ALLOW, 0, R, { "\0\xff@\n", 4 } };
	const nfsace4 nothing = ace(ALLOW, 0, R, "");
	const nfsace4 ours = ace(ALLOW, 0, R, "OWNER@");
	nfs_argop4 verify;

	assert_int_equal(
		RUN(peer, op_root(), op_lookup("file"), op_setattr_acl(&audit, 1)), NFS4ERR_ATTRNOTSUPP);
	assert_int_equal(
		RUN(peer, op_root(), op_lookup("file"), op_setattr_acl(&stranger, 1)), NFS4ERR_BADOWNER);
	assert_int_equal(
		RUN(peer, op_root(), op_lookup("file"), op_setattr_acl(&special, 1)), NFS4ERR_BADOWNER);
	assert_int_equal(
		RUN(peer, op_root(), op_lookup("file"), op_setattr_acl(&octets, 1)), NFS4ERR_BADOWNER);
	assert_int_equal(
		RUN(peer, op_root(), op_lookup("file"), op_setattr_acl(&nothing, 1)), NFS4ERR_BADOWNER);
	/* A symbolic link has no list. */
	assert_int_equal(
		RUN(peer, op_root(), op_lookup("link"), op_setattr_acl(&ours, 1)), NFS4ERR_ATTRNOTSUPP);
	assert_int_equal(mode_of(world, "file"), 0644);
	verify = op_setattr_acl(&ours, 1);
	verify.argop = OP_VERIFY;
	verify.u.opverify.obj_attributes = (fattr4){ { 1, acl_word }, { memory, 32 } };
	assert_int_equal(RUN(peer, op_root(), op_lookup("file"), verify), NFS4ERR_ATTRNOTSUPP);
}

/* Counts that lie, and lists without end. */
static void
counts_are_not_believed(void **state)
{
	struct world *world = *state;
	struct peer *peer = world_kinds(world);
	const nfsace4 one = ace(ALLOW, 0, R, "OWNER@");
	static nfsace4 many[513];
	nfs_argop4 op = op_setattr_acl(&one, 1);
	uint32_t length = op.u.opsetattr.obj_attributes.attr_vals.length;

	for (uint32_t count = 2; count < 40; count += 3) {
		rr_put_be32(memory, count > 30 ? UINT32_MAX - count : count);
		assert_int_equal(RUN(peer, op_root(), op_lookup("file"), op), NFS4ERR_BADXDR);
	}
	rr_put_be32(memory, 1000000);
	assert_int_equal(RUN(peer, op_root(), op_lookup("file"), op), NFS4ERR_BADXDR);
	rr_put_be32(memory, 1);
	rr_put_be32(memory + 16, UINT32_MAX);
	assert_int_equal(RUN(peer, op_root(), op_lookup("file"), op), NFS4ERR_BADXDR);
	for (uint32_t cut = 0; cut < length; cut += 4) {
		op = op_setattr_acl(&one, 1);
		op.u.opsetattr.obj_attributes.attr_vals.length = cut;
		assert_int_equal(RUN(peer, op_root(), op_lookup("file"), op), NFS4ERR_BADXDR);
	}
	for (uint32_t i = 0; i < 513; i++)
		many[i] = ace(i % 2 ? DENY : ALLOW, 0, R, "1234567");
	assert_int_equal(RUN(peer, op_root(), op_lookup("file"), op_setattr_acl(many, 513)), NFS4ERR_FBIG);
	assert_int_equal(RUN(peer, op_root(), op_lookup("file"), op_setattr_acl(many, 512)), NFS4_OK);
	assert_int_equal(RUN(peer, op_root(), op_lookup("file"), op_setattr_acl(many, 0)), NFS4_OK);
	assert_int_equal(mode_of(world, "file"), 0);
}

static void
aclsupport_and_supported_attrs_name_what_there_is(void **state)
{
	static uint32_t words[1] = { 1 << FATTR4_SUPPORTED_ATTRS | 1 << FATTR4_ACLSUPPORT };
	struct world *world = *state;
	struct peer *peer = world_peer(world, 0, "a", 0);
	const nfs_argop4 get = { .argop = OP_GETATTR, .u.opgetattr.attr_request = { 1, words } };
	const uint8_t *at;
	bool supported = !world->in_memory;

	assert_int_equal(RUN(peer, op_root(), get), NFS4_OK);
	at = got(peer, 1)->attr_vals.data;
	assert_int_equal(rr_get_be32(at), 3);
	assert_int_equal(rr_get_be32(at + 4) >> FATTR4_ACL & 1, supported);
	assert_int_equal(rr_get_be32(at + 8) >> (FATTR4_DACL - 32) & 1, supported);
	assert_int_equal(
		rr_get_be32(at + 16), supported ? ACL4_SUPPORT_ALLOW_ACL | ACL4_SUPPORT_DENY_ACL : 0);
	/* Where there are no lists, none is read, and none is set. */
	assert_int_equal(RUN(peer, op_root(), op_getattr_acl()), NFS4_OK);
	assert_int_equal(got(peer, 1)->attrmask.count, supported ? 1 : 0);
}

static void
storage_without_lists_sets_none(void **state)
{
	const nfsace4 one = ace(ALLOW, 0, R, "OWNER@");
	struct world *world = *state;
	struct peer *peer = world_peer(world, 0, "a", 0);

	assert_int_equal(RUN(peer, op_root(), op_setattr_acl(&one, 1)), NFS4ERR_ATTRNOTSUPP);
}

/* Callers whose rule has no_acl find that there are no lists. RFC 8881, 5.8.1.1: supported_attrs is "The bit
 * vector that would retrieve all REQUIRED and RECOMMENDED attributes that are supported for this object". */
static void
where_lists_are_hidden_there_are_none(void **state)
{
	static uint32_t words[1] = { 1 << FATTR4_SUPPORTED_ATTRS | 1 << FATTR4_ACLSUPPORT };
	const nfs_argop4 get = { .argop = OP_GETATTR, .u.opgetattr.attr_request = { 1, words } };
	const nfsace4 one = ace(ALLOW, 0, R, "OWNER@");
	struct world *world = *state;
	struct peer *peer = world_kinds(world);
	struct rr_gate gate;
	const uint8_t *at;

	test_gate_init(&gate, world->vfs, "*(rw,no_root_squash,insecure,no_acl)");
	rr_gate_take(&world->gate, gate.rules);
	rr_gate_end(&gate);
	assert_int_equal(RUN(peer, op_root(), op_lookup("file"), get), NFS4_OK);
	at = got(peer, 2)->attr_vals.data;
	assert_int_equal(rr_get_be32(at + 4) >> FATTR4_ACL & 1, 0);
	assert_int_equal(rr_get_be32(at + 8) >> (FATTR4_DACL - 32) & 1, 0);
	assert_int_equal(rr_get_be32(at + 16), 0);
	assert_int_equal(RUN(peer, op_root(), op_lookup("file"), op_getattr_acl()), NFS4_OK);
	assert_int_equal(got(peer, 2)->attrmask.count, 0);
	assert_int_equal(
		RUN(peer, op_root(), op_lookup("file"), op_setattr_acl(&one, 1)), NFS4ERR_ATTRNOTSUPP);
	assert_int_equal(mode_of(world, "file"), 0644);
}

/* What a user gets of a file by these rights: ACCESS, and a READ without an open. */
static void
check_reads(struct peer *user, bool may)
{
	const nfs_argop4 access = { .argop = OP_ACCESS, .u.opaccess.access = ACCESS4_READ };
	const nfs_argop4 read = { .argop = OP_READ, .u.opread.count = 1 };

	assert_int_equal(RUN(user, op_root(), op_lookup("file"), access), NFS4_OK);
	assert_int_equal(peer_res(user, 2)->u.opaccess.u.resok4.access, may ? ACCESS4_READ : 0);
	assert_int_equal(RUN(user, op_root(), op_lookup("file"), read), may ? NFS4_OK : NFS4ERR_ACCESS);
}

/* A right that a list gives to a user is had, and one that it denies is not, in both minor versions. RFC
 * 8881, 6.2.1: "If an ACCESS_DENIED_ACE is encountered where the requester's access still has unALLOWED bits
 * in common with the "access_mask" of the ACE, the request is denied." */
static void
lists_decide_who_may_read(void **state)
{
	const nfsace4 gives[] = { ace(ALLOW, 0, R | W, "OWNER@"), ace(ALLOW, 0, R, "1234"),
		ace(DENY, 0, R | W, "EVERYONE@") };
	const nfsace4 denies[] = { ace(ALLOW, 0, R | W, "OWNER@"), ace(DENY, 0, R, "1234"),
		ace(ALLOW, 0, R, "EVERYONE@") };
	struct world *world = *state;
	struct peer *peer, *user, *other;

	if (geteuid() != 0)
		skip();
	peer = world_kinds(world);
	user = world_peer(world, 1, "user", 1234);
	other = world_peer(world, 2, "other", 1235);
	world_open_to_all(world);
	for (uint32_t minor = 1; minor <= 2; minor++) {
		peer->minor = user->minor = other->minor = minor;
		assert_int_equal(RUN(peer, op_root(), op_lookup("file"), op_setattr_acl(gives, 3)), NFS4_OK);
		check_reads(user, true);
		check_reads(other, false);
		assert_int_equal(RUN(peer, op_root(), op_lookup("file"), op_setattr_acl(denies, 3)), NFS4_OK);
		check_reads(user, false);
		check_reads(other, true);
	}
}

#define acl_test(name, setup) cmocka_unit_test_setup_teardown(name, setup, world_teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		acl_test(an_object_without_a_list_has_one_by_its_mode, world_setup),
		acl_test(a_list_is_set_and_read, world_setup),
		acl_test(a_list_that_is_inherited_is_set_and_read, world_setup),
		acl_test(the_list_of_version_41_is_the_same, world_setup),
		acl_test(lists_that_posix_does_not_have_are_refused, world_setup),
		acl_test(counts_are_not_believed, world_setup),
		acl_test(aclsupport_and_supported_attrs_name_what_there_is, world_setup),
		acl_test(aclsupport_and_supported_attrs_name_what_there_is, world_setup_memory),
		acl_test(storage_without_lists_sets_none, world_setup_memory),
		acl_test(where_lists_are_hidden_there_are_none, world_setup),
		acl_test(lists_decide_who_may_read, world_setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
