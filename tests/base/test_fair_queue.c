/* SPDX-License-Identifier: BSD-3-Clause */
#include "../test.h"

#include "base/fair_queue.h"

enum { MEMBERS = 3 };

struct line {
	struct rr_fair_queue queue;
	struct rr_fair_member members[MEMBERS];
};

static void
begin(struct line *line)
{
	*line = (struct line){ .members[0].tag = 0 };
	rr_fair_queue_init(&line->queue, 0);
}

/* Takes the member whose turn it is, charges it with the cost that belongs to it, and has it wait again.
 * Returns its index. */
static int
serve(struct line *line, const uint64_t *costs)
{
	struct rr_fair_member *member = rr_fair_queue_take(&line->queue);
	int index;

	assert_non_null(member);
	index = (int)(member - line->members);
	rr_fair_queue_charge(&line->queue, member, costs[index]);
	rr_fair_queue_wait(&line->queue, member);
	return index;
}

static void
members_of_equal_cost_take_turns(void **state)
{
	static const uint64_t costs[MEMBERS] = { 10, 10, 10 };
	struct line line;

	(void)state;
	begin(&line);
	assert_true(rr_fair_queue_empty(&line.queue));
	assert_null(rr_fair_queue_take(&line.queue));
	for (int i = 0; i < MEMBERS; i++) {
		rr_fair_queue_wait(&line.queue, &line.members[i]);
		rr_fair_queue_wait(&line.queue, &line.members[i]);
	}
	for (int i = 0; i < 4 * MEMBERS; i++)
		assert_int_equal(serve(&line, costs), i % MEMBERS);
	for (int i = 0; i < MEMBERS; i++) {
		rr_fair_queue_leave(&line.queue, &line.members[i]);
		rr_fair_queue_leave(&line.queue, &line.members[i]);
	}
	assert_true(rr_fair_queue_empty(&line.queue));
}

static void
members_share_the_cost_and_not_the_turns(void **state)
{
	static const uint64_t costs[MEMBERS] = { 1000, 100, 100 };
	int turns[MEMBERS] = { 0 };
	struct line line;

	(void)state;
	begin(&line);
	for (int i = 0; i < MEMBERS; i++)
		rr_fair_queue_wait(&line.queue, &line.members[i]);
	for (int i = 0; i < 210; i++)
		turns[serve(&line, costs)]++;
	assert_in_range(turns[0], 8, 12);
	assert_in_range(turns[1], 95, 105);
}

/* A member that comes after a long time goes first, once: without a credit, it has saved nothing up. */
static void
an_idle_member_saves_nothing_up(void **state)
{
	static const uint64_t costs[MEMBERS] = { 10, 10, 10 };
	struct line line;

	(void)state;
	begin(&line);
	rr_fair_queue_wait(&line.queue, &line.members[0]);
	rr_fair_queue_wait(&line.queue, &line.members[1]);
	for (int i = 0; i < 100; i++)
		serve(&line, costs);
	rr_fair_queue_wait(&line.queue, &line.members[2]);
	for (int i = 0; i < 4 * MEMBERS; i += MEMBERS) {
		int seen = 0;

		for (int j = 0; j < MEMBERS; j++)
			seen |= 1 << serve(&line, costs);
		assert_int_equal(seen, (1 << MEMBERS) - 1);
	}
}

/* A member that is charged while it waits goes behind those that have used less by then. One whose turn was
 * begun without waiting is charged, too. */
static void
a_charge_counts_at_once(void **state)
{
	static const uint64_t costs[MEMBERS] = { 10, 10, 10 };
	struct line line;

	(void)state;
	begin(&line);
	for (int i = 0; i < MEMBERS; i++)
		rr_fair_queue_wait(&line.queue, &line.members[i]);
	rr_fair_queue_charge(&line.queue, &line.members[0], 100);
	assert_int_equal(serve(&line, costs), 1);
	assert_int_equal(serve(&line, costs), 2);
	assert_int_equal(serve(&line, costs), 1);
	begin(&line);
	rr_fair_queue_begin(&line.queue, &line.members[0]);
	rr_fair_queue_charge(&line.queue, &line.members[0], 100);
	rr_fair_queue_wait(&line.queue, &line.members[0]);
	rr_fair_queue_wait(&line.queue, &line.members[1]);
	assert_int_equal(serve(&line, costs), 1);
}

/* A member that was alone for long owes nothing for that time to members that come later. */
static void
who_was_alone_owes_little(void **state)
{
	static const uint64_t costs[MEMBERS] = { 10, 10, 10 };
	int turns[MEMBERS] = { 0 };
	struct line line;

	(void)state;
	begin(&line);
	for (int i = 0; i < 100; i++) {
		rr_fair_queue_begin(&line.queue, &line.members[0]);
		rr_fair_queue_charge(&line.queue, &line.members[0], 1000);
	}
	rr_fair_queue_wait(&line.queue, &line.members[0]);
	rr_fair_queue_wait(&line.queue, &line.members[1]);
	for (int i = 0; i < 300; i++)
		turns[serve(&line, costs)]++;
	assert_in_range(turns[0], 90, 150);
}

/* With a credit, it goes first as often as it can pay. */
static void
an_idle_member_saves_the_credit_up(void **state)
{
	static const uint64_t costs[MEMBERS] = { 10, 10, 10 };
	struct line line;
	int first = 0;

	(void)state;
	begin(&line);
	line.queue.credit = 35;
	rr_fair_queue_wait(&line.queue, &line.members[0]);
	rr_fair_queue_wait(&line.queue, &line.members[1]);
	for (int i = 0; i < 100; i++)
		serve(&line, costs);
	rr_fair_queue_wait(&line.queue, &line.members[2]);
	while (serve(&line, costs) == 2)
		first++;
	assert_in_range(first, 4, 5);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(members_of_equal_cost_take_turns),
		cmocka_unit_test(members_share_the_cost_and_not_the_turns),
		cmocka_unit_test(an_idle_member_saves_nothing_up),
		cmocka_unit_test(an_idle_member_saves_the_credit_up),
		cmocka_unit_test(a_charge_counts_at_once),
		cmocka_unit_test(who_was_alone_owes_little),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
