/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists of version 4 and of POSIX are compared by what they let callers do. The oracles are the two texts:
 * acl(5), "ACCESS CHECK ALGORITHM", and RFC 8881, 6.2.1. */
#include "../test.h"

#include <stdio.h>
#include <string.h>

#include "vfs/acl/nfs4.h"

enum { USERS = 4, GROUPS = 4, OWNER = 0, GROUP = 0, ROUNDS = 20000, ENTRIES = 12 };

/* A caller: a user, and a set of groups. */
struct who {
	uint32_t uid, groups;
};

static uint32_t
dice(uint32_t sides)
{
	static uint64_t state = 88172645463325252;

	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (uint32_t)(state >> 20) % sides;
}

static bool
in_group(const struct who *who, uint32_t gid)
{
	return who->groups >> gid & 1;
}

/* acl(5): the first class that fits counts; among groups, the right of any that fits. */
static uint32_t
posix_rights(const struct rr_vfs_acl *acl, const struct who *who)
{
	uint32_t mask = 7, groups = 0, other = 0;
	bool fits = false;

	for (uint32_t i = 0; i < acl->count; i++)
		if (acl->entries[i].tag == RR_VFS_ACL_MASK)
			mask = acl->entries[i].perm;
	for (uint32_t i = 0; i < acl->count; i++) {
		const struct rr_vfs_ace *ace = &acl->entries[i];

		if (ace->tag == RR_VFS_ACL_USER_OBJ && who->uid == OWNER)
			return ace->perm;
		if (ace->tag == RR_VFS_ACL_USER && who->uid == ace->id)
			return ace->perm & mask;
		if ((ace->tag == RR_VFS_ACL_GROUP_OBJ && in_group(who, GROUP)) ||
			(ace->tag == RR_VFS_ACL_GROUP && in_group(who, ace->id))) {
			groups |= ace->perm & mask;
			fits = true;
		}
		if (ace->tag == RR_VFS_ACL_OTHER)
			other = ace->perm;
	}
	return fits ? groups : other;
}

struct list4 {
	struct rr_acl4_entry entries[200];
	uint32_t count;
};

/* RFC 8881, 6.2.1: "Each ACE is processed until all of the bits of the requester's access have been ALLOWED.
 * Once a bit has been ALLOWED by an ACCESS_ALLOWED_ACE, it is no longer considered in the processing of later
 * ACEs." The directory's own rights: entries that are inherited only do not count. */
static uint32_t
rights4(const struct list4 *list, const struct who *who, bool inherited)
{
	uint32_t allowed = 0, decided = 0;

	for (uint32_t i = 0; i < list->count; i++) {
		const struct rr_acl4_entry *entry = &list->entries[i];
		bool group = entry->flag & ACE4_IDENTIFIER_GROUP;
		bool fits = entry->who == RR_ACL4_EVERYONE ||
			    (entry->who == RR_ACL4_OWNER && who->uid == OWNER) ||
			    (entry->who == RR_ACL4_GROUP && in_group(who, GROUP)) ||
			    (entry->who == RR_ACL4_NAMED &&
				    (group ? in_group(who, entry->id) : who->uid == entry->id));
		bool counts = inherited ? (entry->flag & ACE4_FILE_INHERIT_ACE) != 0
					: !(entry->flag & ACE4_INHERIT_ONLY_ACE);

		if (!fits || !counts)
			continue;
		if (entry->type == ACE4_ACCESS_ALLOWED_ACE_TYPE)
			allowed |= entry->mask & ~decided;
		decided |= entry->mask;
	}
	return (allowed & ACE4_READ_DATA ? 4 : 0) |
	       ((allowed & (ACE4_WRITE_DATA | ACE4_APPEND_DATA)) == (ACE4_WRITE_DATA | ACE4_APPEND_DATA)
			       ? 2
			       : 0) |
	       (allowed & ACE4_EXECUTE ? 1 : 0);
}

static void
put(void *ctx, const struct rr_acl4_entry *entry)
{
	struct list4 *list = ctx;

	assert_true(list->count < sizeof(list->entries) / sizeof(list->entries[0]));
	list->entries[list->count++] = *entry;
}

/* A list that is valid, with some users and groups, the owner and the group of the object among them. */
static void
any_posix(struct rr_vfs_acl *acl)
{
	uint32_t users = dice(1 << USERS), groups = dice(1 << GROUPS);

	acl->count = 0;
	acl->entries[acl->count++] = (struct rr_vfs_ace){ RR_VFS_ACL_USER_OBJ, (uint8_t)dice(8), 0 };
	acl->entries[acl->count++] = (struct rr_vfs_ace){ RR_VFS_ACL_GROUP_OBJ, (uint8_t)dice(8), 0 };
	acl->entries[acl->count++] = (struct rr_vfs_ace){ RR_VFS_ACL_OTHER, (uint8_t)dice(8), 0 };
	for (uint32_t i = 0; i < USERS; i++)
		if (users >> i & 1)
			acl->entries[acl->count++] =
				(struct rr_vfs_ace){ RR_VFS_ACL_USER, (uint8_t)dice(8), i };
	for (uint32_t i = 0; i < GROUPS; i++)
		if (groups >> i & 1)
			acl->entries[acl->count++] =
				(struct rr_vfs_ace){ RR_VFS_ACL_GROUP, (uint8_t)dice(8), i };
	if (users || groups || dice(2))
		acl->entries[acl->count++] = (struct rr_vfs_ace){ RR_VFS_ACL_MASK, (uint8_t)dice(8), 0 };
	assert_int_equal(rr_acl_check(acl, false), RR_VFS_OK);
}

static void
a_list_of_posix_says_the_same_in_version_4(void **state)
{
	(void)state;
	for (int round = 0; round < ROUNDS; round++) {
		struct rr_vfs_ace entries[2][16];
		struct rr_vfs_acl access = { 0, entries[0] }, inherited = { 0, entries[1] };
		struct list4 list = { .count = 0 };
		bool directory = dice(2);

		any_posix(&access);
		if (directory && dice(2))
			any_posix(&inherited);
		rr_acl4_from_posix(&access, &inherited, directory, put, &list);
		for (uint32_t uid = 0; uid <= USERS; uid++) {
			for (uint32_t groups = 0; groups < 1 << GROUPS; groups++) {
				const struct who who = { uid, groups };

				assert_int_equal(rights4(&list, &who, false), posix_rights(&access, &who));
				if (inherited.count > 0)
					assert_int_equal(
						rights4(&list, &who, true), posix_rights(&inherited, &who));
			}
		}
	}
}

static void
and_comes_back_without_more_rights(void **state)
{
	(void)state;
	for (int round = 0; round < ROUNDS; round++) {
		struct rr_vfs_ace entries[4][200];
		struct rr_vfs_acl access = { 0, entries[0] }, inherited = { 0, entries[1] };
		struct rr_vfs_acl access_back = { 0, entries[2] }, inherited_back = { 0, entries[3] };
		struct rr_acl4_right rights[200];
		struct list4 list = { .count = 0 };
		bool directory = dice(2);

		any_posix(&access);
		if (directory && dice(2))
			any_posix(&inherited);
		rr_acl4_from_posix(&access, &inherited, directory, put, &list);
		assert_int_equal(rr_acl4_to_posix(list.entries, list.count, directory, rights, &access_back,
					 &inherited_back),
			RR_VFS_OK);
		assert_int_equal(inherited_back.count > 0, inherited.count > 0);
		for (uint32_t uid = 0; uid <= USERS; uid++) {
			for (uint32_t groups = 0; groups < 1 << GROUPS; groups++) {
				const struct who who = { uid, groups };

				assert_int_equal(
					posix_rights(&access_back, &who) & ~posix_rights(&access, &who), 0);
			}
		}
	}
}

static void
any_list4(struct list4 *list, bool directory)
{
	list->count = dice(ENTRIES);
	for (uint32_t i = 0; i < list->count; i++) {
		enum rr_acl4_who who = (enum rr_acl4_who)dice(4);

		list->entries[i] = (struct rr_acl4_entry){ dice(2),
			(who == RR_ACL4_NAMED && dice(2) ? ACE4_IDENTIFIER_GROUP : 0) |
				(directory && dice(4) == 0
						? ACE4_FILE_INHERIT_ACE | ACE4_DIRECTORY_INHERIT_ACE
						: 0),
			dice(0x80), who, dice(USERS) };
		if (list->entries[i].flag & ACE4_FILE_INHERIT_ACE && dice(2))
			list->entries[i].flag |= ACE4_INHERIT_ONLY_ACE;
	}
}

/* Nobody gets a right that a list of version 4 does not give. */
static void
no_list_of_version_4_gives_more_in_posix(void **state)
{
	(void)state;
	for (int round = 0; round < 5 * ROUNDS; round++) {
		struct rr_vfs_ace entries[2][ENTRIES + 4];
		struct rr_vfs_acl access = { 0, entries[0] }, inherited = { 0, entries[1] };
		struct rr_acl4_right rights[ENTRIES];
		bool directory = dice(2);
		struct list4 list;

		any_list4(&list, directory);
		assert_int_equal(
			rr_acl4_to_posix(list.entries, list.count, directory, rights, &access, &inherited),
			RR_VFS_OK);
		for (uint32_t uid = 0; uid <= USERS; uid++) {
			for (uint32_t groups = 0; groups < 1 << GROUPS; groups++) {
				const struct who who = { uid, groups };

				assert_int_equal(
					posix_rights(&access, &who) & ~rights4(&list, &who, false), 0);
			}
		}
	}
}

/* draft-ietf-nfsv4-acl-mapping: a list of rw-r-x--x, word for word. */
static void
a_mode_is_these_entries(void **state)
{
	static const uint32_t all = ACE4_READ_ATTRIBUTES | ACE4_READ_ACL | ACE4_SYNCHRONIZE;
	struct rr_vfs_ace entries[RR_ACL_LEAST];
	struct rr_vfs_acl access = { 0, entries }, none = { 0, NULL };
	struct list4 list = { .count = 0 };

	(void)state;
	rr_acl_from_mode(0651, &access);
	rr_acl4_from_posix(&access, &none, false, put, &list);
	assert_int_equal(list.count, 4);
	assert_int_equal(list.entries[0].type, ACE4_ACCESS_DENIED_ACE_TYPE);
	assert_int_equal(list.entries[0].who, RR_ACL4_OWNER);
	assert_int_equal(list.entries[0].mask, ACE4_EXECUTE);
	assert_int_equal(list.entries[1].mask, ACE4_READ_DATA | ACE4_WRITE_DATA | ACE4_APPEND_DATA | all |
						       ACE4_WRITE_ATTRIBUTES | ACE4_WRITE_ACL);
	assert_int_equal(list.entries[2].who, RR_ACL4_GROUP);
	assert_int_equal(list.entries[2].flag, ACE4_IDENTIFIER_GROUP);
	assert_int_equal(list.entries[2].mask, ACE4_READ_DATA | ACE4_EXECUTE | all);
	assert_int_equal(list.entries[3].who, RR_ACL4_EVERYONE);
	assert_int_equal(list.entries[3].mask, ACE4_EXECUTE | all);
}

static void
what_posix_does_not_have_is_refused(void **state)
{
	static const struct {
		struct rr_acl4_entry entry;
		bool directory;
		enum rr_vfs_status status;
	} rows[] = {
		{ { ACE4_SYSTEM_AUDIT_ACE_TYPE, 0, 1, RR_ACL4_EVERYONE, 0 }, false, RR_VFS_NOTSUPP },
		{ { ACE4_SYSTEM_ALARM_ACE_TYPE, 0, 1, RR_ACL4_EVERYONE, 0 }, false, RR_VFS_NOTSUPP },
		{ { 77, 0, 1, RR_ACL4_EVERYONE, 0 }, false, RR_VFS_NOTSUPP },
		{ { 0, ACE4_NO_PROPAGATE_INHERIT_ACE, 1, RR_ACL4_EVERYONE, 0 }, true, RR_VFS_NOTSUPP },
		{ { 0, ACE4_FILE_INHERIT_ACE, 1, RR_ACL4_EVERYONE, 0 }, false, RR_VFS_INVAL },
		{ { 0, ACE4_FILE_INHERIT_ACE, 1, RR_ACL4_EVERYONE, 0 }, true, RR_VFS_OK },
	};
	struct rr_vfs_ace entries[2][5];
	struct rr_vfs_acl access = { 0, entries[0] }, inherited = { 0, entries[1] };
	struct rr_acl4_right right;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_int_equal(
			rr_acl4_to_posix(&rows[i].entry, 1, rows[i].directory, &right, &access, &inherited),
			rows[i].status);
	/* What the list that is inherited does not say, it says as the list of the object: here, nothing. */
	assert_int_equal(inherited.count, 3);
	assert_int_equal(inherited.entries[0].perm, 4);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_list_of_posix_says_the_same_in_version_4),
		cmocka_unit_test(and_comes_back_without_more_rights),
		cmocka_unit_test(no_list_of_version_4_gives_more_in_posix),
		cmocka_unit_test(a_mode_is_these_entries),
		cmocka_unit_test(what_posix_does_not_have_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
