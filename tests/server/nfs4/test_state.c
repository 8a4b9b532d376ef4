/* SPDX-License-Identifier: BSD-3-Clause */
/* Stateids, opens and locks: RFC 8881, sections 8.2, 9 and 18.18. */
#include "../../test.h"

#include <string.h>

#include "server/nfs4/tables/lock.h"
#include "server/nfs4/tables/share.h"
#include "server/nfs4/tables/tables.h"

struct world {
	struct rr_nfs4_tables tables;
	struct rr_nfs4_client *a, *b;
};

static const struct rr_vfs_id file = { { 1, 2 }, 3, 4 };
static const struct rr_vfs_id elsewhere = { { 1, 2 }, 4, 4 };
static const struct rr_vfs_handle handle = { 4, "file" };

static struct rr_nfs4_client *
client(struct world *world, const char *name)
{
	client_owner4 owner = { .co_ownerid = { name, (uint32_t)strlen(name) } };
	static const struct rr_caller maker = { .flavor = RR_AUTH_SYS, .named = true };
	const struct rr_nfs4_exchange exchange = { &owner, &maker, false };
	struct rr_nfs4_client *made;

	assert_int_equal(rr_nfs4_exchange_id(&world->tables.clients, &exchange, 0, &made), NFS4_OK);
	rr_nfs4_client_confirm(made, 0);
	return made;
}

static int
setup(void **state)
{
	struct world *world = rr_alloc(&rr_env_system, sizeof(*world));

	assert_int_equal(
		rr_nfs4_tables_init(&world->tables, &rr_env_system, &rr_nfs4_tables_config_default), 0);
	world->a = client(world, "a");
	world->b = client(world, "b");
	*state = world;
	return 0;
}

static int
teardown(void **state)
{
	struct world *world = *state;

	rr_nfs4_tables_free(&world->tables);
	rr_free(&rr_env_system, world);
	return 0;
}

static nfsstat4
open_as(struct world *world, struct rr_nfs4_client *who, const char *owner, uint32_t access, uint32_t deny,
	struct rr_nfs4_state **made, stateid4 *stateid)
{
	const struct rr_nfs4_share share = { &file, &handle, { owner, (uint32_t)strlen(owner) }, access,
		deny };
	struct rr_nfs4_reserved reserved;
	nfsstat4 status = rr_nfs4_share(&world->tables, who, &share, &reserved);

	if (status != NFS4_OK)
		return status;
	rr_nfs4_stateid_next(reserved.state, stateid);
	rr_nfs4_state_release(reserved.state);
	*made = reserved.state;
	return NFS4_OK;
}

enum { R = OPEN4_SHARE_ACCESS_READ, W = OPEN4_SHARE_ACCESS_WRITE, ANY = RR_NFS4_OPEN | RR_NFS4_LOCK };

/* The checks of 8.2.4, in the order of that section. */
static void
a_stateid_is_checked(void **state)
{
	struct world *world = *state;
	struct rr_nfs4_state *open, *found;
	stateid4 stateid, wrong;

	assert_int_equal(open_as(world, world->a, "o", R, 0, &open, &stateid), NFS4_OK);
	assert_int_equal(stateid.seqid, 1);
	assert_int_equal(rr_nfs4_state_find(&world->tables, world->a, &stateid, &file, ANY, &found), NFS4_OK);
	assert_ptr_equal(found, open);
	assert_int_equal(rr_nfs4_state_find(&world->tables, world->b, &stateid, &file, ANY, &found),
		NFS4ERR_BAD_STATEID);
	assert_int_equal(rr_nfs4_state_find(&world->tables, world->a, &stateid, &elsewhere, ANY, &found),
		NFS4ERR_BAD_STATEID);
	assert_int_equal(rr_nfs4_state_find(&world->tables, world->a, &stateid, &file, RR_NFS4_LOCK, &found),
		NFS4ERR_BAD_STATEID);
	wrong = stateid;
	wrong.seqid = 2;
	assert_int_equal(rr_nfs4_state_find(&world->tables, world->a, &wrong, &file, ANY, &found),
		NFS4ERR_BAD_STATEID);
	wrong.seqid = 0;
	assert_int_equal(rr_nfs4_state_find(&world->tables, world->a, &wrong, &file, ANY, &found), NFS4_OK);
	assert_int_equal(open_as(world, world->a, "o", W, 0, &open, &wrong), NFS4_OK);
	assert_int_equal(wrong.seqid, 2);
	assert_memory_equal(wrong.other, stateid.other, sizeof(wrong.other));
	assert_int_equal(rr_nfs4_state_find(&world->tables, world->a, &stateid, &file, ANY, &found),
		NFS4ERR_OLD_STATEID);
	for (unsigned i = 0; i < NFS4_OTHER_SIZE; i++) {
		stateid4 other = wrong;

		other.other[i] ^= 0x10;
		assert_int_equal(rr_nfs4_state_find(&world->tables, world->a, &other, &file, ANY, &found),
			NFS4ERR_BAD_STATEID);
	}
}

/* 8.2.2: "the value zero is ... reserved", so that the seqid wraps to 1. */
static void
a_seqid_wraps_to_one(void **state)
{
	struct world *world = *state;
	struct rr_nfs4_state *open, *found;
	stateid4 stateid;

	assert_int_equal(open_as(world, world->a, "o", R, 0, &open, &stateid), NFS4_OK);
	open->seqid = UINT32_MAX;
	rr_nfs4_stateid(open, &stateid);
	assert_int_equal(open_as(world, world->a, "o", R, 0, &open, &(stateid4){ 0 }), NFS4_OK);
	assert_int_equal(open->seqid, 1);
	assert_int_equal(rr_nfs4_state_find(&world->tables, world->a, &stateid, &file, ANY, &found),
		NFS4ERR_OLD_STATEID);
}

static void
special_stateids_are_known(void **state)
{
	stateid4 stateid = { 0 };

	(void)state;
	assert_int_equal(rr_nfs4_special(&stateid), RR_NFS4_ANONYMOUS);
	stateid.seqid = 1;
	assert_int_equal(rr_nfs4_special(&stateid), RR_NFS4_CURRENT);
	stateid.seqid = 2;
	assert_int_equal(rr_nfs4_special(&stateid), RR_NFS4_UNDEFINED);
	stateid.seqid = UINT32_MAX;
	assert_int_equal(rr_nfs4_special(&stateid), RR_NFS4_INVALID);
	memset(stateid.other, 0xff, sizeof(stateid.other));
	assert_int_equal(rr_nfs4_special(&stateid), RR_NFS4_BYPASS);
	stateid.seqid = 0;
	assert_int_equal(rr_nfs4_special(&stateid), RR_NFS4_UNDEFINED);
	stateid.other[0] = 1;
	assert_int_equal(rr_nfs4_special(&stateid), RR_NFS4_NOT_SPECIAL);
}

/* 9.7; 18.16.3: "with no exception for the existing OPEN held by the same open-owner" */
static void
shares_conflict(void **state)
{
	struct world *world = *state;
	struct rr_nfs4_state *open;
	stateid4 stateid;

	assert_int_equal(open_as(world, world->a, "o", R, W, &open, &stateid), NFS4_OK);
	assert_int_equal(open_as(world, world->b, "o", W, 0, &open, &stateid), NFS4ERR_SHARE_DENIED);
	assert_int_equal(open_as(world, world->a, "o", W, 0, &open, &stateid), NFS4ERR_SHARE_DENIED);
	assert_int_equal(open_as(world, world->b, "o", R, R, &open, &stateid), NFS4ERR_SHARE_DENIED);
	assert_int_equal(open_as(world, world->b, "o", R, 0, &open, &stateid), NFS4_OK);
	rr_nfs4_state_end(open);
	assert_int_equal(open_as(world, world->a, "o", R, W, &open, &stateid), NFS4_OK);
	rr_nfs4_state_end(open);
	assert_int_equal(open_as(world, world->b, "o", R | W, R | W, &open, &stateid), NFS4_OK);
}

/* 18.18.3: the access and deny that remain must be those of some of the OPENs. */
static void
a_downgrade_goes_back_to_opens_that_there_were(void **state)
{
	struct world *world = *state;
	struct rr_nfs4_state *open;
	stateid4 stateid;

	assert_int_equal(open_as(world, world->a, "o", R | W, 0, &open, &stateid), NFS4_OK);
	assert_int_equal(rr_nfs4_downgrade(open, R, 0), NFS4ERR_INVAL);
	assert_int_equal(open_as(world, world->a, "o", R, 0, &open, &stateid), NFS4_OK);
	assert_int_equal(rr_nfs4_downgrade(open, R, W), NFS4ERR_INVAL);
	assert_int_equal(rr_nfs4_downgrade(open, W, 0), NFS4ERR_INVAL);
	assert_int_equal(rr_nfs4_downgrade(open, R, 0), NFS4_OK);
	assert_int_equal(rr_nfs4_downgrade(open, R | W, 0), NFS4ERR_INVAL);
	assert_int_equal(open_as(world, world->b, "o", R, W, &open, &stateid), NFS4_OK);
}

static void
an_open_that_failed_leaves_no_trace(void **state)
{
	struct world *world = *state;
	const struct rr_nfs4_share share = { &file, &handle, { "o", 1 }, R | W, R };
	struct rr_nfs4_reserved reserved;
	struct rr_nfs4_state *open;
	stateid4 stateid;

	assert_int_equal(rr_nfs4_share(&world->tables, world->a, &share, &reserved), NFS4_OK);
	assert_int_equal(open_as(world, world->b, "o", R, 0, &open, &stateid), NFS4ERR_SHARE_DENIED);
	rr_nfs4_share_undo(&reserved);
	assert_int_equal(world->tables.count, 0);
	assert_null(rr_nfs4_file_find(&world->tables, &file));
	assert_int_equal(open_as(world, world->a, "o", R, 0, &open, &stateid), NFS4_OK);
	assert_int_equal(rr_nfs4_share(&world->tables, world->a,
				 &(struct rr_nfs4_share){ &file, &handle, { "o", 1 }, W, 0 }, &reserved),
		NFS4_OK);
	rr_nfs4_share_undo(&reserved);
	assert_int_equal(open->access, R);
	assert_int_equal(rr_nfs4_downgrade(open, R, 0), NFS4_OK);
}

static bool
conflicts(struct world *world, struct rr_nfs4_client *who, const char *owner, uint64_t first, uint64_t last,
	bool write, struct rr_locks_holder *conflict)
{
	return NFS4_OK != rr_nfs4_lock_conflict(&world->tables, who, &file,
				  (struct rpcrdma_bytes){ owner, (uint32_t)strlen(owner) },
				  (struct rr_span){ first, last }, write, conflict);
}

static void
locks_conflict_between_owners(void **state)
{
	struct world *world = *state;
	struct rr_nfs4_state *open, *lock;
	struct rr_locks_holder conflict;
	stateid4 stateid, freed;

	assert_int_equal(open_as(world, world->a, "o", R | W, 0, &open, &stateid), NFS4_OK);
	lock = rr_nfs4_lock_state(&world->tables, open, (struct rpcrdma_bytes){ "l", 1 });
	assert_ptr_equal(rr_nfs4_lock_state(&world->tables, open, (struct rpcrdma_bytes){ "l", 1 }), lock);
	rr_nfs4_stateid_next(lock, &freed);
	assert_int_equal(rr_nfs4_lock(lock, (struct rr_span){ 10, 19 }, false), NFS4_OK);
	assert_false(conflicts(world, world->a, "l", 10, 19, true, &conflict));
	assert_false(conflicts(world, world->b, "l", 10, 19, false, &conflict));
	assert_true(conflicts(world, world->a, "m", 0, 10, true, &conflict));
	assert_true(conflicts(world, world->b, "l", 19, 30, true, &conflict));
	assert_int_equal(conflict.span.first, 10);
	assert_int_equal(conflict.client, rr_nfs4_client_id(world->a));
	assert_int_equal(rr_nfs4_free_stateid(&world->tables, world->a, &stateid), NFS4ERR_LOCKS_HELD);
	assert_int_equal(rr_nfs4_free_stateid(&world->tables, world->a, &freed), NFS4ERR_LOCKS_HELD);
	assert_int_equal(rr_nfs4_unlock(lock, (struct rr_span){ 0, UINT64_MAX }), NFS4_OK);
	assert_int_equal(rr_nfs4_test_stateid(&world->tables, world->a, &freed), NFS4_OK);
	/* A LOCK of the lock-owner is under way. */
	rr_nfs4_state_hold(lock);
	assert_int_equal(rr_nfs4_free_stateid(&world->tables, world->a, &freed), NFS4ERR_DELAY);
	rr_nfs4_state_release(lock);
	assert_int_equal(rr_nfs4_free_stateid(&world->tables, world->a, &freed), NFS4_OK);
	assert_int_equal(rr_nfs4_test_stateid(&world->tables, world->a, &freed), NFS4ERR_BAD_STATEID);
}

/* The state of a courtesy client stays until another client needs what conflicts with it. Then the whole
 * client ends. */
static void
courtesy_ends_with_a_conflict(void **state)
{
	struct world *world = *state;
	clientid4 id = rr_nfs4_client_id(world->a);
	struct rr_nfs4_state *open;
	stateid4 stateid;

	assert_int_equal(open_as(world, world->a, "o", R, W, &open, &stateid), NFS4_OK);
	rr_nfs4_clients_expire(&world->tables.clients, rr_nfs4_tables_config_default.lease);
	assert_int_equal(world->a->phase, RR_NFS4_COURTESY);
	world->b = client(world, "c");
	assert_int_equal(open_as(world, world->b, "o", R, 0, &open, &stateid), NFS4_OK);
	assert_non_null(rr_nfs4_client_find(&world->tables.clients, id));
	assert_int_equal(open_as(world, world->b, "o", W, 0, &open, &stateid), NFS4_OK);
	assert_null(rr_nfs4_client_find(&world->tables.clients, id));
}

/* The lease of a client may run out while its OPEN waits for the storage. If the client's own open conflicts
 * with the OPEN, the OPEN is refused, and the client does not end. */
static void
an_open_does_not_end_its_own_client(void **state)
{
	struct world *world = *state;
	clientid4 id = rr_nfs4_client_id(world->a);
	struct rr_nfs4_state *open;
	stateid4 stateid;

	assert_int_equal(open_as(world, world->a, "o", R, W, &open, &stateid), NFS4_OK);
	rr_nfs4_clients_expire(&world->tables.clients, rr_nfs4_tables_config_default.lease);
	assert_int_equal(world->a->phase, RR_NFS4_COURTESY);
	assert_int_equal(open_as(world, world->a, "o", W, 0, &open, &stateid), NFS4ERR_SHARE_DENIED);
	assert_ptr_equal(rr_nfs4_client_find(&world->tables.clients, id), world->a);
	assert_int_equal(world->a->state_count, 1);
}

/* 8.2.4 and 18.46.3: a revoked stateid, and the flag that goes with it, stay until FREE_STATEID. */
static void
what_is_revoked_is_known_until_it_is_freed(void **state)
{
	struct world *world = *state;
	struct rr_nfs4_state *open;
	stateid4 stateid, other;

	assert_int_equal(open_as(world, world->a, "o", R, R | W, &open, &stateid), NFS4_OK);
	rr_nfs4_state_revoke(open, RR_NFS4_ADMIN_REVOKED);
	assert_int_equal(world->a->status_flags, SEQ4_STATUS_ADMIN_STATE_REVOKED);
	assert_int_equal(rr_nfs4_test_stateid(&world->tables, world->a, &stateid), NFS4ERR_ADMIN_REVOKED);
	assert_int_equal(open_as(world, world->b, "o", R, 0, &open, &other), NFS4_OK);
	assert_int_equal(rr_nfs4_free_stateid(&world->tables, world->a, &stateid), NFS4_OK);
	assert_int_equal(world->a->status_flags, 0);
}

static void
a_client_leaves_room_for_others(void **state)
{
	struct world *world = *state;
	struct rr_nfs4_state *open;
	stateid4 stateid;
	char owner[2] = "a";

	rr_nfs4_quota_init(&world->tables.states_quota, RR_NFS4_STATES, 8, 1000);
	for (int i = 0; i < 4; i++, owner[0]++)
		assert_int_equal(open_as(world, world->a, owner, R, 0, &open, &stateid), NFS4_OK);
	assert_int_equal(open_as(world, world->a, "more", R, 0, &open, &stateid), NFS4ERR_DELAY);
	assert_int_equal(open_as(world, world->b, "o", R, 0, &open, &stateid), NFS4_OK);
}

/* 8.4.3: the state of a client without a lease conflicts with others until its record has been removed from
 * the disk, because the client could reclaim it after a crash. */
static void
a_lapsed_client_keeps_what_it_has_until_its_record_has_gone(void **state)
{
	struct world *world = *state;
	struct rr_nfs4_records *records = &world->tables.records;
	struct rr_nfs4_record *record;
	struct rr_nfs4_state *open;
	stateid4 stateid;

	records->kept = true;
	world->a->record = rr_nfs4_record_new(records, world->a);
	rr_nfs4_record_want(records, world->a->record, true);
	record = rr_nfs4_records_next(records);
	assert_ptr_equal(record, world->a->record);
	rr_nfs4_recorded(&world->tables, record, true);
	assert_int_equal(open_as(world, world->a, "o", W, R, &open, &stateid), NFS4_OK);
	rr_nfs4_client_renew(world->b, 60 * RR_SECOND);
	rr_nfs4_look(&world->tables, 100 * RR_SECOND);
	assert_int_equal(world->a->phase, RR_NFS4_LAPSING);
	assert_int_equal(open_as(world, world->b, "o", R, 0, &open, &stateid), NFS4ERR_SHARE_DENIED);
	record = rr_nfs4_records_next(records);
	assert_int_equal(record->phase, RR_NFS4_RECORD_REMOVING);
	assert_int_equal(open_as(world, world->b, "o", R, 0, &open, &stateid), NFS4ERR_SHARE_DENIED);
	rr_nfs4_recorded(&world->tables, record, true);
	assert_int_equal(open_as(world, world->b, "o", R, 0, &open, &stateid), NFS4_OK);
}

/* A client that comes back while its record is being removed is recorded again, after the removal has
 * ended. */
static void
a_client_that_comes_back_is_recorded_again(void **state)
{
	struct world *world = *state;
	struct rr_nfs4_records *records = &world->tables.records;
	struct rr_nfs4_record *record;
	struct rr_nfs4_state *open;
	stateid4 stateid;

	world->a->record = record = rr_nfs4_record_new(records, world->a);
	rr_nfs4_record_want(records, record, true);
	rr_nfs4_recorded(&world->tables, rr_nfs4_records_next(records), true);
	assert_int_equal(open_as(world, world->a, "o", W, R, &open, &stateid), NFS4_OK);
	rr_nfs4_look(&world->tables, 100 * RR_SECOND);
	assert_ptr_equal(rr_nfs4_records_next(records), record);
	rr_nfs4_client_renew(world->a, 100 * RR_SECOND);
	assert_int_equal(record->phase, RR_NFS4_RECORD_REMOVING_WANTED);
	assert_null(rr_nfs4_records_next(records));
	rr_nfs4_recorded(&world->tables, record, true);
	assert_ptr_equal(rr_nfs4_records_next(records), record);
	assert_int_equal(record->phase, RR_NFS4_RECORD_WRITING);
	rr_nfs4_recorded(&world->tables, record, true);
	assert_int_equal(record->phase, RR_NFS4_RECORD_PRESENT);
	assert_int_equal(world->a->phase, RR_NFS4_CONFIRMED);
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(a_stateid_is_checked),
		TEST(a_seqid_wraps_to_one),
		TEST(special_stateids_are_known),
		TEST(shares_conflict),
		TEST(a_downgrade_goes_back_to_opens_that_there_were),
		TEST(an_open_that_failed_leaves_no_trace),
		TEST(locks_conflict_between_owners),
		TEST(courtesy_ends_with_a_conflict),
		TEST(an_open_does_not_end_its_own_client),
		TEST(what_is_revoked_is_known_until_it_is_freed),
		TEST(a_client_leaves_room_for_others),
		TEST(a_lapsed_client_keeps_what_it_has_until_its_record_has_gone),
		TEST(a_client_that_comes_back_is_recorded_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
