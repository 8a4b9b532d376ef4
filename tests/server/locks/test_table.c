/* SPDX-License-Identifier: BSD-3-Clause */
#include "../../test.h"

#include <string.h>

#include "server/locks/table.h"

/* The table of locks of all protocols: owners of two protocols in one file, and those who wait. */

/* An owner of ranges, of one protocol or the other. */
struct owner {
	struct rr_ranges ranges;
	enum rr_locks_yield yields;
	int ended;
};

/* A waiter, with the place that it had among those who were told. */
struct waiter {
	struct rr_locks_wait wait;
	struct owner *owner;
	int told;
};

static struct rr_locks *locks;
static struct rr_locks_file *file;
static const struct rr_vfs_id id = { { 1, 2 }, 3, 4 }, younger = { { 1, 2 }, 3, 5 };
static int told;

static enum rr_locks_yield
owner_yields(struct rr_ranges *ranges, const void *asker)
{
	struct owner *owner = rr_container(ranges, struct owner, ranges);

	return asker == owner ? RR_LOCKS_STAYS : owner->yields;
}

static void
owner_end(struct rr_ranges *ranges)
{
	struct owner *owner = rr_container(ranges, struct owner, ranges);

	owner->ended++;
	rr_ranges_free(ranges, &rr_env_system, UINT32_MAX);
}

static void
owner_describe_one(struct rr_ranges *ranges, struct rr_locks_holder *holder)
{
	(void)ranges;
	holder->client = 77;
	holder->owner_length = 0;
}

static void
owner_describe_other(struct rr_ranges *ranges, struct rr_locks_holder *holder)
{
	(void)ranges;
	holder->svid = 88;
	holder->owner_length = 0;
}

static const struct rr_locks_kind one = { owner_yields, owner_end, owner_describe_one },
				  other = { owner_yields, owner_end, owner_describe_other };

static const struct rr_ranges *
waiter_own(struct rr_locks_wait *wait)
{
	struct owner *owner = rr_container(wait, struct waiter, wait)->owner;

	return owner ? &owner->ranges : NULL;
}

static void
waiter_is_free(struct rr_locks_wait *wait)
{
	rr_container(wait, struct waiter, wait)->told = ++told;
}

static const struct rr_locks_wait_kind waits_one = { waiter_own, waiter_is_free },
				       waits_other = { waiter_own, waiter_is_free };

static struct owner a, b;

static void
own(struct owner *owner, const struct rr_locks_kind *kind)
{
	*owner = (struct owner){ .yields = RR_LOCKS_STAYS };
	rr_ranges_init(&owner->ranges, &file->locked);
	owner->ranges.kind = kind;
}

static int
setup(void **state)
{
	(void)state;
	assert_int_equal(rr_locks_new(&rr_env_system, &locks), 0);
	file = rr_locks_use(locks, &id);
	own(&a, &one);
	own(&b, &other);
	told = 0;
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	rr_ranges_free(&a.ranges, &rr_env_system, UINT32_MAX);
	rr_ranges_free(&b.ranges, &rr_env_system, UINT32_MAX);
	rr_locks_leave(file);
	assert_int_equal(locks->files.count, 0);
	rr_locks_free(locks);
	return 0;
}

static enum rr_locks_answer
ask(const struct owner *owner, uint64_t first, uint64_t last, struct rr_locks_holder *holder)
{
	const struct rr_range_wanted wanted = { { first, last }, true, &owner->ranges };

	memset(holder, 0, sizeof(*holder));
	return rr_locks_ask(locks, &id, &wanted, owner, holder);
}

static void
lock(struct owner *owner, uint64_t first, uint64_t last)
{
	assert_int_equal(
		rr_range_lock(&owner->ranges, &rr_env_system, (struct rr_span){ first, last }, true), 0);
}

static void
unlock(struct owner *owner, uint64_t first, uint64_t last)
{
	assert_int_equal(rr_range_unlock(&owner->ranges, &rr_env_system, (struct rr_span){ first, last }), 0);
	rr_locks_look(file);
}

static void
begin(struct waiter *waiter, const struct rr_locks_wait_kind *kind, struct owner *owner, uint64_t first,
	uint64_t last)
{
	*waiter = (struct waiter){ .wait = { .kind = kind, .span = { first, last }, .write = true },
		.owner = owner };
	rr_locks_wait_begin(&waiter->wait, file);
}

/* What an owner of one protocol has locked is in the way of the other's owners, who are told whose it is. */
static void
owners_of_two_protocols_meet(void **state)
{
	struct rr_locks_holder holder;

	(void)state;
	lock(&a, 0, 9);
	assert_int_equal(ask(&a, 0, 9, &holder), RR_LOCKS_FREE);
	assert_int_equal(ask(&b, 5, 20, &holder), RR_LOCKS_HELD);
	assert_int_equal(holder.client, 77);
	assert_true(holder.write && holder.span.first == 0 && holder.span.last == 9);
	assert_int_equal(ask(&b, 10, 20, &holder), RR_LOCKS_FREE);
	lock(&b, 10, 20);
	assert_int_equal(ask(&a, 20, 20, &holder), RR_LOCKS_HELD);
	assert_int_equal(holder.svid, 88);
}

/* An owner who gives way ends, and one who is ending is waited for. */
static void
owners_give_way(void **state)
{
	struct rr_locks_holder holder;

	(void)state;
	lock(&a, 0, 9);
	a.yields = RR_LOCKS_ENDS;
	assert_int_equal(ask(&b, 0, 0, &holder), RR_LOCKS_SOON);
	assert_int_equal(a.ended, 0);
	a.yields = RR_LOCKS_CEDES;
	assert_int_equal(ask(&b, 0, 0, &holder), RR_LOCKS_FREE);
	assert_int_equal(a.ended, 1);
}

/* A number that was used before is another file. */
static void
files_differ_by_their_birth(void **state)
{
	struct rr_locks_file *second = rr_locks_use(locks, &younger);

	(void)state;
	assert_ptr_not_equal(second, file);
	assert_ptr_equal(rr_locks_find(locks, &younger), second);
	assert_ptr_equal(rr_locks_use(locks, &younger), second);
	rr_locks_leave(second);
	rr_locks_leave(second);
	assert_null(rr_locks_find(locks, &younger));
}

/* After an unlock, those who wait are looked at in their order, of whatever protocol they are, and each only
 * where its own range is free. */
static void
waiters_of_two_protocols_have_turns(void **state)
{
	struct waiter waiters[4];

	(void)state;
	lock(&a, 0, 9);
	lock(&b, 20, 29);
	begin(&waiters[0], &waits_one, NULL, 0, 4);
	begin(&waiters[1], &waits_other, NULL, 5, 25);
	begin(&waiters[2], &waits_other, &b, 5, 25);
	begin(&waiters[3], &waits_one, NULL, 9, 9);
	unlock(&a, 0, 9);
	while (rr_locks_go(locks, 1) == 0)
		continue;
	assert_int_equal(waiters[0].told, 1);
	assert_int_equal(waiters[1].told, 0);
	assert_int_equal(waiters[2].told, 2);
	assert_int_equal(waiters[3].told, 3);
	rr_locks_wait_leave(&waiters[0].wait);
	rr_locks_wait_leave(&waiters[1].wait);
	assert_int_equal(file->wait_count, 0);
}

/* A wait keeps the entry of its file, and looks that are due end with the file. */
static void
a_wait_keeps_its_file(void **state)
{
	struct waiter waiter;

	(void)state;
	begin(&waiter, &waits_one, NULL, 0, 4);
	rr_locks_leave(file);
	assert_ptr_equal(rr_locks_find(locks, &id), file);
	rr_locks_look(file);
	rr_locks_wait_leave(&waiter.wait);
	assert_null(rr_locks_find(locks, &id));
	assert_int_equal(rr_locks_go(locks, 8), 8);
	file = rr_locks_use(locks, &id);
	own(&a, &one);
	own(&b, &other);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(owners_of_two_protocols_meet, setup, teardown),
		cmocka_unit_test_setup_teardown(owners_give_way, setup, teardown),
		cmocka_unit_test_setup_teardown(files_differ_by_their_birth, setup, teardown),
		cmocka_unit_test_setup_teardown(waiters_of_two_protocols_have_turns, setup, teardown),
		cmocka_unit_test_setup_teardown(a_wait_keeps_its_file, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
