/* SPDX-License-Identifier: BSD-3-Clause */
/* The front door alone (door.h): a provider that notes what comes to it, for each operation of the table. */
#include "../test.h"

#include <string.h>

#include "vfs/door.h"
#include "vfs/reserve.h"

/* What came to the provider last, and what it answers. */
static struct {
	uint32_t begun, cancelled, closed, ended;
	enum rr_vfs_operation operation;
	enum rr_vfs_status refused; /* the status that the call had */
	enum rr_vfs_status answer;
} noted;

static enum rr_vfs_status
note_begin(struct rr_vfs *vfs, enum rr_vfs_operation operation, struct rr_vfs_call *call)
{
	(void)vfs;
	noted.begun++;
	noted.operation = operation;
	noted.refused = call->status;
	assert_null(call->job);
	return call->status == RR_VFS_OK || noted.answer == RR_VFS_PENDING ? noted.answer : call->status;
}

static void
note_cancel(struct rr_vfs *vfs, struct rr_vfs_call *call)
{
	(void)vfs;
	(void)call;
	noted.cancelled++;
}

static enum rr_vfs_status
note_close(struct rr_vfs *vfs, struct rr_vfs_open *open, struct rr_vfs_call *call)
{
	(void)vfs;
	(void)call;
	assert_non_null(open);
	noted.closed++;
	return noted.answer;
}

static void
note_count(const struct rr_vfs *vfs, struct rr_vfs_counters *counters)
{
	(void)vfs;
	counters->descriptors = 7;
}

static void
note_done(struct rr_vfs_call *call)
{
	(void)call;
	noted.ended++;
}

static const struct rr_vfs_ops ops = {
	.name = "noting", .count = note_count, .begin = note_begin, .cancel = note_cancel, .close = note_close
};

static struct rr_vfs vfs;
static struct rr_reserve reserve;
static struct rr_vfs_caller caller;

static int
setup(void **state)
{
	(void)state;
	memset(&noted, 0, sizeof(noted));
	reserve = (struct rr_reserve){ 0 };
	rr_reserve_init(&reserve);
	vfs = (struct rr_vfs){ .ops = &ops, .reserve = &reserve };
	caller = (struct rr_vfs_caller){ 0 };
	return 0;
}

/* Begins an operation whose outputs are all true, or not 0: none of them is as it should be by chance. */
static enum rr_vfs_status
begin(enum rr_vfs_operation operation, union rr_vfs_any *any)
{
	memset(any, 1, sizeof(*any));
	any->call.caller = &caller;
	any->call.done = note_done;
	if (operation == RR_VFS_OP_OPEN) {
		any->opening.access = RR_VFS_SHARE_READ;
		any->opening.deny = 0;
	}
	return rr_vfs_begin(&vfs, operation, &any->call);
}

/* Whether the operation changes what clients see, as the names of vfs.h say. An open may: see below. */
static bool
is_change(enum rr_vfs_operation operation)
{
	static const char *const changes[] = { "setattr", "write", "allocate", "deallocate", "copy", "clone",
		"create", "link", "remove", "rename", "setxattr", "removexattr", "setacl" };

	for (size_t i = 0; i < sizeof(changes) / sizeof(*changes); i++)
		if (strcmp(changes[i], rr_vfs_rows[operation].name) == 0)
			return true;
	return false;
}

static void
each_operation_comes_to_the_provider_once_and_is_counted(void **state)
{
	struct rr_vfs_counters counters;
	union rr_vfs_any any;

	(void)state;
	noted.answer = RR_VFS_NOENT;
	for (int i = 0; i < RR_VFS_OPERATIONS; i++) {
		assert_non_null(rr_vfs_rows[i].name);
		assert_int_equal(begin((enum rr_vfs_operation)i, &any), RR_VFS_NOENT);
		assert_int_equal(noted.begun, i + 1);
		assert_int_equal(noted.operation, i);
		assert_int_equal(noted.refused, RR_VFS_OK);
	}
	rr_vfs_counters(&vfs, &counters);
	assert_int_equal(counters.begun, RR_VFS_OPERATIONS);
	assert_int_equal(counters.later, 0);
	assert_int_equal(counters.under_way_peak, 0);
	assert_int_equal(counters.descriptors, 7);
	assert_int_equal(noted.ended, 0);
}

static void
the_functions_begin_the_operations_of_their_names(void **state)
{
	union rr_vfs_any any;

	(void)state;
#define BEGINS(function)                                                                                     \
	do {                                                                                                 \
		memset(&any, 0, sizeof(any));                                                                \
		any.call.caller = &caller;                                                                   \
		any.call.done = note_done;                                                                   \
		rr_vfs_##function(&vfs, (void *)&any);                                                       \
		assert_string_equal(rr_vfs_rows[noted.operation].name, #function);                           \
	} while (0)
	BEGINS(getattr);
	BEGINS(setattr);
	BEGINS(access);
	BEGINS(readlink);
	BEGINS(read);
	BEGINS(write);
	BEGINS(commit);
	BEGINS(seek);
	BEGINS(allocate);
	BEGINS(deallocate);
	BEGINS(copy);
	BEGINS(clone);
	BEGINS(open);
	BEGINS(lock);
	BEGINS(lease);
	BEGINS(lookup);
	BEGINS(create);
	BEGINS(link);
	BEGINS(remove);
	BEGINS(rename);
	BEGINS(readdir);
	BEGINS(getxattr);
	BEGINS(setxattr);
	BEGINS(listxattr);
	BEGINS(removexattr);
	BEGINS(getacl);
	BEGINS(setacl);
	BEGINS(statfs);
	BEGINS(quota);
	BEGINS(limits);
	assert_int_equal(noted.begun, RR_VFS_OPERATIONS);
}

#define AT(type, member) offsetof(struct rr_vfs_##type, member)

/* Where the outputs of each operation say that they are valid. Here this does not come from the table. */
static const struct {
	enum rr_vfs_operation operation;
	uint16_t valid[4];
} outputs[] = {
	{ RR_VFS_OP_SETATTR, { AT(setattr, change.exact), AT(setattr, change.after.valid) } },
	{ RR_VFS_OP_ACCESS, { AT(access, object_after.valid) } },
	{ RR_VFS_OP_READLINK, { AT(readlink, object_after.valid) } },
	{ RR_VFS_OP_READ, { AT(read, object_after.valid) } },
	{ RR_VFS_OP_WRITE, { AT(write, change.exact), AT(write, change.after.valid) } },
	{ RR_VFS_OP_COMMIT, { AT(commit, change.exact), AT(commit, change.after.valid) } },
	{ RR_VFS_OP_ALLOCATE, { AT(space, change.exact), AT(space, change.after.valid) } },
	{ RR_VFS_OP_DEALLOCATE, { AT(space, change.exact), AT(space, change.after.valid) } },
	{ RR_VFS_OP_COPY, { AT(copy, change.exact), AT(copy, change.after.valid) } },
	{ RR_VFS_OP_CLONE, { AT(copy, change.exact), AT(copy, change.after.valid) } },
	{ RR_VFS_OP_OPEN, { AT(opening, object_after.valid) } },
	{ RR_VFS_OP_LOOKUP, { AT(lookup, directory_after.valid) } },
	{ RR_VFS_OP_CREATE,
		{ AT(create, object_after.valid), AT(create, created), AT(create, directory_change.exact),
			AT(create, directory_change.after.valid) } },
	{ RR_VFS_OP_LINK, { AT(link, file_after.valid), AT(link, directory_change.exact),
				  AT(link, directory_change.after.valid) } },
	{ RR_VFS_OP_REMOVE,
		{ AT(remove, directory_change.exact), AT(remove, directory_change.after.valid) } },
	{ RR_VFS_OP_RENAME, { AT(rename, from_change.exact), AT(rename, from_change.after.valid),
				    AT(rename, to_change.exact), AT(rename, to_change.after.valid) } },
	{ RR_VFS_OP_READDIR, { AT(readdir, directory_after.valid), AT(readdir, eof) } },
	{ RR_VFS_OP_SETXATTR, { AT(xattr, change.exact), AT(xattr, change.after.valid) } },
	{ RR_VFS_OP_GETACL, { AT(getacl, access.count), AT(getacl, inherited.count), AT(getacl, is_supported),
				    AT(getacl, object_after.valid) } },
	{ RR_VFS_OP_SETACL, { AT(setacl, change.exact), AT(setacl, change.after.valid) } },
	{ RR_VFS_OP_REMOVEXATTR, { AT(xattr, change.exact), AT(xattr, change.after.valid) } },
	{ RR_VFS_OP_STATFS, { AT(statfs, object_after.valid) } },
	{ RR_VFS_OP_LIMITS, { AT(limits, object_after.valid) } },
};

/* vfs.h: "After a failure, only these outputs are set: each struct rr_vfs_known and struct rr_vfs_change". */
static void
outputs_are_not_valid_after_an_early_failure(void **state)
{
	union rr_vfs_any any;

	(void)state;
	noted.answer = RR_VFS_STALE;
	for (size_t i = 0; i < sizeof(outputs) / sizeof(*outputs); i++) {
		assert_int_equal(begin(outputs[i].operation, &any), RR_VFS_STALE);
		for (int j = 0; j < 4 && outputs[i].valid[j]; j++)
			assert_int_equal(((const uint8_t *)&any)[outputs[i].valid[j]], false);
	}
	begin(RR_VFS_OP_SETATTR, &any);
	assert_int_equal(any.setattr.applied, 0);
	begin(RR_VFS_OP_CREATE, &any);
	assert_int_equal(any.create.applied, 0);
	begin(RR_VFS_OP_READDIR, &any);
	assert_int_equal(any.readdir.count, 0);
	begin(RR_VFS_OP_OPEN, &any);
	assert_null(any.opening.open);
}

/* A caller who is not to see access lists neither reads nor sets any, and does all else. */
static void
lists_are_refused_for_a_caller_who_is_not_to_see_them(void **state)
{
	union rr_vfs_any any;

	(void)state;
	caller.no_acl = true;
	for (int i = 0; i < RR_VFS_OPERATIONS; i++) {
		bool lists = i == RR_VFS_OP_GETACL || i == RR_VFS_OP_SETACL;

		assert_int_equal(begin((enum rr_vfs_operation)i, &any), lists ? RR_VFS_NOTSUPP : RR_VFS_OK);
		assert_int_equal(noted.refused, lists ? RR_VFS_NOTSUPP : RR_VFS_OK);
	}
}

/* Whatever changes anything is refused, and nothing else, by a provider and for a caller that are
 * read-only. */
static void
changes_are_refused_where_all_is_read_only(void **state)
{
	union rr_vfs_any any;

	(void)state;
	for (int who = 0; who < 3; who++) {
		vfs.read_only = who == 1;
		caller.read_only = who == 2;
		for (int i = 0; i < RR_VFS_OPERATIONS; i++) {
			enum rr_vfs_status expected =
				who > 0 && is_change((enum rr_vfs_operation)i) ? RR_VFS_ROFS : RR_VFS_OK;

			assert_int_equal(begin((enum rr_vfs_operation)i, &any), expected);
			/* The provider knows, and fills in the attributes. */
			assert_int_equal(noted.operation, i);
			assert_int_equal(noted.refused, expected);
		}
	}
}

static void
an_open_for_writing_is_refused_where_all_is_read_only(void **state)
{
	struct rr_vfs_opening opening = { .call = { .caller = &caller, .done = note_done } };

	(void)state;
	caller.read_only = true;
	for (uint32_t access = 0; access < 5; access++) {
		opening.access = access;
		assert_int_equal(rr_vfs_open(&vfs, &opening), access == 0 || access == 4 ? RR_VFS_INVAL
							      : access == 1              ? RR_VFS_OK
											 : RR_VFS_ROFS);
	}
	opening.access = RR_VFS_SHARE_READ;
	opening.deny = 4;
	assert_int_equal(rr_vfs_open(&vfs, &opening), RR_VFS_INVAL);
}

static void
what_is_under_way_is_counted_until_it_ends(void **state)
{
	union rr_vfs_any any[RR_VFS_OPERATIONS];
	struct rr_vfs_counters counters;

	(void)state;
	noted.answer = RR_VFS_PENDING;
	for (int i = 0; i < RR_VFS_OPERATIONS; i++)
		assert_int_equal(begin((enum rr_vfs_operation)i, &any[i]), RR_VFS_PENDING);
	rr_vfs_goes_on(&vfs);
	rr_vfs_counters(&vfs, &counters);
	assert_int_equal(counters.later, RR_VFS_OPERATIONS + 1);
	assert_int_equal(counters.under_way, RR_VFS_OPERATIONS + 1);
	for (int i = 0; i < RR_VFS_OPERATIONS; i++) {
		rr_vfs_ended(&vfs, &any[i].call, i == 0 ? RR_VFS_CANCELLED : RR_VFS_IO);
		assert_int_equal(any[i].call.status, i == 0 ? RR_VFS_CANCELLED : RR_VFS_IO);
		assert_int_equal(noted.ended, i + 1);
	}
	rr_vfs_ended(&vfs, NULL, RR_VFS_OK);
	rr_vfs_counters(&vfs, &counters);
	assert_int_equal(counters.under_way, 0);
	assert_int_equal(counters.under_way_peak, RR_VFS_OPERATIONS + 1);
	assert_int_equal(counters.cancelled, 1);
}

static void
only_what_the_provider_has_a_job_for_is_cancelled(void **state)
{
	union rr_vfs_any any;

	(void)state;
	noted.answer = RR_VFS_PENDING;
	begin(RR_VFS_OP_READ, &any);
	rr_vfs_cancel(&vfs, &any.call);
	assert_int_equal(noted.cancelled, 0);
	any.call.job = &any;
	rr_vfs_cancel(&vfs, &any.call);
	assert_int_equal(noted.cancelled, 1);
}

static void
a_close_is_counted_like_an_operation_and_ends_a_reservation(void **state)
{
	struct rr_vfs_call call = { .done = note_done, .job = &call };
	struct rr_reservation reservations[2];
	struct rr_vfs_open *open = (void *)&reservations[0], *other = (void *)&reservations[1];
	const struct rr_vfs_opening opening = { .access = RR_VFS_SHARE_READ, .deny = RR_VFS_SHARE_WRITE };
	const struct rr_reserve_file file = { 1, 2 };
	struct rr_vfs_counters counters;

	(void)state;
	for (int i = 0; i < 2; i++)
		assert_int_equal(rr_reserve_open(&reserve, &opening, file, &reservations[i]), RR_VFS_OK);
	rr_vfs_counters(&vfs, &counters);
	assert_int_equal(counters.opens, 2);
	assert_int_equal(rr_vfs_close(&vfs, NULL, &call), RR_VFS_OK);
	assert_int_equal(noted.closed, 0);
	noted.answer = RR_VFS_PENDING;
	assert_int_equal(rr_vfs_close(&vfs, open, &call), RR_VFS_PENDING);
	assert_null(call.job);
	assert_true(rr_reserve_denies(&reserve, file, RR_VFS_SHARE_WRITE));
	assert_int_equal(rr_vfs_close(&vfs, other, NULL), RR_VFS_PENDING);
	assert_false(rr_reserve_denies(&reserve, file, RR_VFS_SHARE_WRITE));
	assert_int_equal(noted.closed, 2);
	rr_vfs_counters(&vfs, &counters);
	assert_int_equal(counters.opens, 0);
	assert_int_equal(counters.under_way, 2);
	rr_vfs_ended(&vfs, &call, RR_VFS_OK);
	rr_vfs_ended(&vfs, NULL, RR_VFS_OK);
	assert_int_equal(noted.ended, 1);
	assert_int_equal(vfs.counters.under_way, 0);
}

#define TEST(function) cmocka_unit_test_setup(function, setup)

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST(each_operation_comes_to_the_provider_once_and_is_counted),
		TEST(the_functions_begin_the_operations_of_their_names),
		TEST(outputs_are_not_valid_after_an_early_failure),
		TEST(lists_are_refused_for_a_caller_who_is_not_to_see_them),
		TEST(changes_are_refused_where_all_is_read_only),
		TEST(an_open_for_writing_is_refused_where_all_is_read_only),
		TEST(what_is_under_way_is_counted_until_it_ends),
		TEST(only_what_the_provider_has_a_job_for_is_cancelled),
		TEST(a_close_is_counted_like_an_operation_and_ends_a_reservation),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
