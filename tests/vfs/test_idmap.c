/* SPDX-License-Identifier: BSD-3-Clause */
#include "../stage.h"

#include <pthread.h>
#include <pwd.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "vfs/idmap/idmap_private.h"
#include "vfs/idmap/names.h"

/* The directory of these tests has the users and groups 1 to 9999, named u1 and g1 and so on. User 7 hangs
 * until the gate is opened; user 8 fails. User N has N groups. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t opened = PTHREAD_COND_INITIALIZER;
static bool is_open;
static atomic_uint asked, hanging;
static atomic_bool renamed; /* users have other names now */

enum { HANGS = 7, FAILS = 8, USERS = 9999 };

static void
gate_open(bool open)
{
	pthread_mutex_lock(&lock);
	is_open = open;
	pthread_cond_broadcast(&opened);
	pthread_mutex_unlock(&lock);
}

static void
gate_pass(void)
{
	hanging++;
	pthread_mutex_lock(&lock);
	while (!is_open)
		pthread_cond_wait(&opened, &lock);
	pthread_mutex_unlock(&lock);
	hanging--;
}

static void
directory_groups(const struct rr_env *env, uint32_t number, struct rr_idmap_found *found)
{
	found->groups = rr_alloc_array(env, number, sizeof(uint32_t));
	found->group_count = found->groups ? number : 0;
	for (uint32_t i = 0; i < found->group_count; i++)
		found->groups[i] = i;
}

static void
directory(const struct rr_env *env, const struct rr_idmap_question *question, struct rr_idmap_found *found)
{
	bool by_name = question->kind == RR_IDMAP_UID || question->kind == RR_IDMAP_GID ||
		       question->kind == RR_IDMAP_ACCOUNT;
	uint32_t number = question->number;

	asked++;
	found->status = RR_IDMAP_NONE;
	if (question->kind == RR_IDMAP_DOMAIN) {
		strcpy(found->name, "example.org");
		found->status = RR_IDMAP_FOUND;
		return;
	}
	if (by_name &&
		sscanf(question->name.data, question->kind == RR_IDMAP_GID ? "g%u" : "u%u", &number) != 1)
		return;
	if (number == HANGS || number >= USERS * 10)
		gate_pass();
	if (number == FAILS)
		found->status = RR_IDMAP_BUSY;
	if (number == 0 || number == FAILS || number > USERS)
		return;
	found->status = RR_IDMAP_FOUND;
	found->number = found->gid = number;
	snprintf(found->name, sizeof(found->name), "%c%u%s", question->kind == RR_IDMAP_GROUP ? 'g' : 'u',
		number, renamed ? "new" : "");
	if (question->kind == RR_IDMAP_GROUPS)
		directory_groups(env, number, found);
}

struct world {
	struct stage stage;
	struct rr_idmap *idmap;
	struct rr_idmap_waiter waiter;
	unsigned woken;
};

static void
wake(struct rr_idmap_waiter *waiter)
{
	rr_container(waiter, struct world, waiter)->woken++;
}

static void
world_start(struct world *world, const char *domain, rr_idmap_directory *from)
{
	const struct rr_idmap_config config = { .domain = domain, .directory = from };

	rr_idmap_free(world->idmap);
	assert_int_equal(rr_idmap_new(&world->stage.env, world->stage.loop, &config, &world->idmap), 0);
}

static int
setup(void **state)
{
	struct world *world = calloc(1, sizeof(*world));

	assert_non_null(world);
	stage_init(&world->stage);
	stage_loop(&world->stage);
	world->waiter.wake = wake;
	rr_list_init(&world->waiter.link);
	gate_open(false);
	renamed = false;
	world_start(world, "example.org", directory);
	asked = 0;
	*state = world;
	return 0;
}

static int
teardown(void **state)
{
	struct world *world = *state;

	gate_open(true);
	rr_idmap_free(world->idmap);
	stage_end(&world->stage);
	free(world);
	return 0;
}

/* Asks, and waits for the answer if there is one to wait for. */
static enum rr_idmap_status
ask(struct world *world, enum rr_idmap_kind kind, uint32_t number, const char *name,
	struct rr_idmap_answer *answer)
{
	const struct rr_idmap_question question = { kind, number, { name, name ? (uint32_t)strlen(name) : 0 },
		1 };
	unsigned woken = world->woken;
	enum rr_idmap_status status = rr_idmap_ask(world->idmap, &question, &world->waiter, answer);

	if (status != RR_IDMAP_WAIT)
		return status;
	stage_until(&world->stage, world->woken > woken);
	return rr_idmap_ask(world->idmap, &question, NULL, answer);
}

static enum rr_idmap_status
ask_at_once(struct world *world, uint32_t number, uint64_t host)
{
	const struct rr_idmap_question question = { .kind = RR_IDMAP_USER, .number = number, .host = host };
	struct rr_idmap_answer answer;

	return rr_idmap_ask(world->idmap, &question, NULL, &answer);
}

static void
an_answer_is_asked_for_once(void **state)
{
	struct world *world = *state;
	struct rr_idmap_answer answer;

	assert_int_equal(ask(world, RR_IDMAP_USER, 5, NULL, &answer), RR_IDMAP_FOUND);
	assert_memory_equal(answer.name.data, "u5", 3);
	assert_int_equal(ask(world, RR_IDMAP_UID, 0, "u5", &answer), RR_IDMAP_FOUND);
	assert_int_equal(answer.number, 5);
	assert_int_equal(ask(world, RR_IDMAP_GID, 0, "g6", &answer), RR_IDMAP_FOUND);
	assert_int_equal(answer.number, 6);
	assert_int_equal(asked, 3);
	assert_int_equal(ask(world, RR_IDMAP_USER, 5, NULL, &answer), RR_IDMAP_FOUND);
	assert_int_equal(ask(world, RR_IDMAP_UID, 0, "u5", &answer), RR_IDMAP_FOUND);
	assert_int_equal(asked, 3);
}

static void
that_there_is_nobody_is_kept_for_a_shorter_time(void **state)
{
	struct world *world = *state;
	struct rr_idmap_answer answer;

	assert_int_equal(ask(world, RR_IDMAP_UID, 0, "nobody", &answer), RR_IDMAP_NONE);
	assert_int_equal(ask(world, RR_IDMAP_USER, 5, NULL, &answer), RR_IDMAP_FOUND);
	stage_pass(&world->stage, 130 * RR_SECOND);
	assert_int_equal(asked, 2);
	assert_int_equal(ask(world, RR_IDMAP_UID, 0, "nobody", &answer), RR_IDMAP_NONE);
	assert_int_equal(ask(world, RR_IDMAP_USER, 5, NULL, &answer), RR_IDMAP_FOUND);
	assert_int_equal(asked, 3);
	/* No octets that a peer sends are anybody's name. */
	assert_int_equal(rr_idmap_ask(world->idmap,
				 &(const struct rr_idmap_question){ RR_IDMAP_UID, 0, { "u5\0x", 4 }, 0 },
				 NULL, &answer),
		RR_IDMAP_NONE);
}

static void
an_old_answer_counts_while_the_directory_is_asked_anew(void **state)
{
	struct world *world = *state;
	struct rr_idmap_answer answer;

	assert_int_equal(ask(world, RR_IDMAP_USER, 5, NULL, &answer), RR_IDMAP_FOUND);
	renamed = true;
	stage_pass(&world->stage, 601 * RR_SECOND);
	assert_int_equal(ask(world, RR_IDMAP_USER, 5, NULL, &answer), RR_IDMAP_FOUND);
	assert_memory_equal(answer.name.data, "u5", 3);
	stage_until(&world->stage, rr_idmap_under_way(world->idmap) == 0);
	assert_int_equal(ask(world, RR_IDMAP_USER, 5, NULL, &answer), RR_IDMAP_FOUND);
	assert_memory_equal(answer.name.data, "u5new", 6);
	assert_int_equal(asked, 2);
}

/* A directory that hangs delays those who need it alone. */
static void
a_directory_that_hangs_stops_nobody_else(void **state)
{
	struct world *world = *state;
	struct rr_idmap_answer answer;

	assert_int_equal(ask_at_once(world, HANGS, 1), RR_IDMAP_WAIT);
	stage_until(&world->stage, hanging == 1);
	assert_int_equal(ask(world, RR_IDMAP_USER, 5, NULL, &answer), RR_IDMAP_FOUND);
	assert_int_equal(rr_idmap_under_way(world->idmap), 1);
	/* Those who wait are woken when their patience ends, and the next ones need not wait for that. */
	assert_int_equal(rr_idmap_ask(world->idmap,
				 &(const struct rr_idmap_question){ .kind = RR_IDMAP_USER, .number = HANGS },
				 &world->waiter, &answer),
		RR_IDMAP_WAIT);
	world->woken = 0;
	stage_pass(&world->stage, 4 * RR_SECOND);
	assert_int_equal(world->woken, 0);
	stage_pass(&world->stage, 2 * RR_SECOND);
	assert_int_equal(world->woken, 1);
	assert_int_equal(ask_at_once(world, HANGS, 1), RR_IDMAP_BUSY);
	gate_open(true);
	stage_until(&world->stage, rr_idmap_under_way(world->idmap) == 0);
	assert_int_equal(ask_at_once(world, HANGS, 1), RR_IDMAP_FOUND);
}

/* One client whose users hang leaves threads, and questions, to the others. */
static void
a_client_has_a_share_of_the_questions(void **state)
{
	struct world *world = *state;
	uint32_t number = USERS * 10, under_way = 0;
	struct rr_idmap_answer answer;

	while (ask_at_once(world, number, 99) == RR_IDMAP_WAIT) {
		number++;
		under_way++;
	}
	assert_int_equal(under_way, 64);
	assert_int_equal(rr_idmap_under_way(world->idmap), 64);
	assert_int_equal(ask(world, RR_IDMAP_USER, 5, NULL, &answer), RR_IDMAP_FOUND);
	for (uint64_t host = 100; host < 200; host++)
		for (uint32_t i = 0; i < 64; i++)
			ask_at_once(world, ++number, host);
	assert_int_equal(rr_idmap_under_way(world->idmap), 256);
}

static void
entries_are_bounded(void **state)
{
	struct world *world = *state;
	struct rr_idmap_answer answer;

	for (uint32_t i = 9; i < 9 + 6000; i++)
		assert_int_equal(ask(world, RR_IDMAP_USER, i, NULL, &answer), RR_IDMAP_FOUND);
	assert_in_range(world->idmap->count, 4000, 4096);
	/* 2500 users with thousands of groups would need 50 MB. */
	for (uint32_t i = 4000; i < 6500; i++)
		assert_int_equal(ask(world, RR_IDMAP_GROUPS, i, NULL, &answer), RR_IDMAP_FOUND);
	assert_true(world->idmap->octets <= 8 << 20);
	assert_int_equal(answer.group_count, 6499);
}

static void
a_directory_that_fails_is_asked_again_soon(void **state)
{
	struct world *world = *state;
	struct rr_idmap_answer answer;

	assert_int_equal(ask(world, RR_IDMAP_USER, FAILS, NULL, &answer), RR_IDMAP_BUSY);
	assert_int_equal(ask(world, RR_IDMAP_USER, FAILS, NULL, &answer), RR_IDMAP_BUSY);
	assert_int_equal(asked, 1);
	stage_pass(&world->stage, 3 * RR_SECOND);
	assert_int_equal(ask(world, RR_IDMAP_USER, FAILS, NULL, &answer), RR_IDMAP_BUSY);
	assert_int_equal(asked, 2);
}

/* RFC 8881, 5.9: "owner and group strings that consist of decimal numeric values with no leading zeros". */
static void
numbers_are_told_from_names(void **state)
{
	static const struct {
		const char *text;
		bool good;
		uint32_t number;
	} rows[] = { { "0", true, 0 }, { "65534", true, 65534 }, { "4294967294", true, 4294967294 },
		{ "4294967295", false, 0 }, { "99999999999999999999999", false, 0 }, { "", false, 0 },
		{ "007", false, 0 }, { "00", false, 0 }, { "1000@example.org", false, 0 }, { "-1", false, 0 },
		{ "12 ", false, 0 }, { "root", false, 0 } };

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint32_t number = 0;

		assert_int_equal(rr_idmap_is_number((struct rpcrdma_bytes){ rows[i].text,
							    (uint32_t)strlen(rows[i].text) },
					 &number),
			rows[i].good);
		assert_int_equal(number, rows[i].number);
	}
}

static enum rr_idmap_status
number_of(struct world *world, const char *owner, bool group, uint32_t *number)
{
	const struct rr_idmap_asking asking = { world->idmap, 1, &world->waiter };
	const struct rpcrdma_bytes text = { owner, (uint32_t)strlen(owner) };
	enum rr_idmap_status status;

	while ((status = rr_idmap_number(&asking, text, group, number)) == RR_IDMAP_WAIT) {
		unsigned woken = world->woken;

		stage_until(&world->stage, world->woken > woken);
	}
	return status;
}

static enum rr_idmap_status
owner_of(struct world *world, uint32_t number, bool group, char owner[RR_IDMAP_OWNER + 1])
{
	const struct rr_idmap_asking asking = { world->idmap, 1, &world->waiter };
	enum rr_idmap_status status;

	while ((status = rr_idmap_owner(&asking, number, group, owner)) == RR_IDMAP_WAIT) {
		unsigned woken = world->woken;

		stage_until(&world->stage, world->woken > woken);
	}
	return status;
}

/* RFC 8881, 5.9: "translated to a syntax of the form "user@dns_domain"". */
static void
check_names(struct world *world)
{
	char owner[RR_IDMAP_OWNER + 1];
	uint32_t number = 0;

	assert_int_equal(number_of(world, "u12@Example.ORG", false, &number), RR_IDMAP_FOUND);
	assert_int_equal(number, 12);
	assert_int_equal(number_of(world, "g13@example.org", true, &number), RR_IDMAP_FOUND);
	assert_int_equal(number, 13);
	assert_int_equal(number_of(world, "14", true, &number), RR_IDMAP_FOUND);
	assert_int_equal(number, 14);
	assert_int_equal(number_of(world, "u12@example.com", false, &number), RR_IDMAP_NONE);
	assert_int_equal(number_of(world, "u12", false, &number), RR_IDMAP_NONE);
	assert_int_equal(number_of(world, "@example.org", false, &number), RR_IDMAP_NONE);
	assert_int_equal(number_of(world, "u12@", false, &number), RR_IDMAP_NONE);
	assert_int_equal(number_of(world, "x@y@example.org", false, &number), RR_IDMAP_NONE);
	assert_int_equal(owner_of(world, 12, false, owner), RR_IDMAP_FOUND);
	assert_string_equal(owner, "u12@example.org");
	assert_int_equal(owner_of(world, 13, true, owner), RR_IDMAP_FOUND);
	assert_string_equal(owner, "g13@example.org");
	assert_int_equal(owner_of(world, USERS + 1, true, owner), RR_IDMAP_NONE);
}

static void
names_have_the_domain_of_the_configuration(void **state)
{
	check_names(*state);
}

static void
names_have_the_domain_of_this_machine(void **state)
{
	struct world *world = *state;

	world_start(world, NULL, directory);
	world->idmap->domain[0] = '\0'; /* whatever /etc/idmapd.conf says here */
	check_names(world);
}

static void
the_domain_is_read_from_a_file(void **state)
{
	static const struct {
		const char *text, *domain;
	} rows[] = {
		{ "[General]\nDomain = lab.example\n", "lab.example" },
		{ "Domain=early\n[general]\n # Domain = no\n\tdomain=Two.Example \t\n[X]\nDomain=late\n",
			"Two.Example" },
		{ "[General]\nDomain\n", "" },
		{ "", "" },
	};
	char path[STAGE_PATH], name[STAGE_PATH + 16], domain[RR_IDMAP_NAME + 1];

	(void)state;
	stage_directory(path);
	snprintf(name, sizeof(name), "%s/idmapd.conf", path);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		FILE *file = fopen(name, "w");

		assert_non_null(file);
		fputs(rows[i].text, file);
		fclose(file);
		rr_idmap_read_domain(name, domain);
		assert_string_equal(domain, rows[i].domain);
	}
	unlink(name);
	rr_idmap_read_domain(name, domain);
	assert_string_equal(domain, "");
	stage_remove(path);
}

/* The directory of this machine has root, as every machine does. */
static void
the_directory_of_this_machine_is_asked(void **state)
{
	const struct passwd *root = getpwuid(0);
	struct world *world = *state;
	struct rr_idmap_answer answer;

	world_start(world, "example.org", NULL);
	assert_int_equal(ask(world, RR_IDMAP_USER, 0, NULL, &answer), RR_IDMAP_FOUND);
	assert_string_equal(answer.name.data, root->pw_name);
	assert_int_equal(ask(world, RR_IDMAP_ACCOUNT, 0, root->pw_name, &answer), RR_IDMAP_FOUND);
	assert_int_equal(answer.number, 0);
	assert_int_equal(answer.gid, root->pw_gid);
	assert_true(answer.group_count >= 1);
	for (uint32_t i = 1; i < answer.group_count; i++)
		assert_true(answer.groups[i - 1] < answer.groups[i]);
	assert_int_equal(ask(world, RR_IDMAP_GID, 0, "no such group", &answer), RR_IDMAP_NONE);
	assert_int_equal(ask(world, RR_IDMAP_GROUPS, 0, NULL, &answer), RR_IDMAP_FOUND);
	assert_int_equal(ask(world, RR_IDMAP_GROUP, 0, NULL, &answer), RR_IDMAP_FOUND);
}

#define idmap_test(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		idmap_test(an_answer_is_asked_for_once),
		idmap_test(that_there_is_nobody_is_kept_for_a_shorter_time),
		idmap_test(an_old_answer_counts_while_the_directory_is_asked_anew),
		idmap_test(a_directory_that_hangs_stops_nobody_else),
		idmap_test(a_client_has_a_share_of_the_questions),
		idmap_test(entries_are_bounded),
		idmap_test(a_directory_that_fails_is_asked_again_soon),
		cmocka_unit_test(numbers_are_told_from_names),
		idmap_test(names_have_the_domain_of_the_configuration),
		idmap_test(names_have_the_domain_of_this_machine),
		cmocka_unit_test(the_domain_is_read_from_a_file),
		idmap_test(the_directory_of_this_machine_is_asked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
