/* SPDX-License-Identifier: BSD-3-Clause */
/* Owners as names, and groups that the server looks up: RFC 8881, 5.9. */
#include "world.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/endian.h"
#include "rpc/auth.h"

/* Users and groups are named u and g with their numbers. User 7 hangs until the gate is opened. User 100 is
 * in the groups 1 to 40, and 0. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t opened = PTHREAD_COND_INITIALIZER;
static bool is_open;
static atomic_uint hanging;

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
directory(const struct rr_env *env, const struct rr_idmap_question *question, struct rr_idmap_found *found)
{
	bool group = question->kind == RR_IDMAP_GID || question->kind == RR_IDMAP_GROUP;
	uint32_t number = question->number;

	found->status = RR_IDMAP_NONE;
	if ((question->kind == RR_IDMAP_UID || question->kind == RR_IDMAP_GID) &&
		sscanf(question->name.data, group ? "g%u" : "u%u", &number) != 1)
		return;
	if (number == 7)
		gate_pass();
	if (number == 65534)
		return;
	found->status = RR_IDMAP_FOUND;
	found->number = number;
	snprintf(found->name, sizeof(found->name), "%c%u", group ? 'g' : 'u', number);
	if (question->kind != RR_IDMAP_GROUPS || number != 100)
		return;
	found->groups = rr_alloc_array(env, 41, sizeof(uint32_t));
	found->group_count = found->groups ? 41 : 0;
	for (uint32_t i = 0; i < found->group_count; i++)
		found->groups[i] = i;
}

/* A caller with AUTH_SYS counts as one whose principal has a name, as those of RPCSEC_GSS have. */
static int
as_named_take(const struct rr_call_header *call, struct rpcrdma_request *request)
{
	int result = rr_auth_sys.take(call, request);

	request->caller.principal = "somebody@EXAMPLE.ORG";
	return result;
}

static struct rr_auth as_named;
static const struct rr_auth *const as_named_only[] = { &as_named, NULL };

static int
setup_with(void **state, bool named, const char *rule)
{
	struct world *world;

	gate_open(false);
	as_named = rr_auth_sys;
	as_named.take = as_named_take;
	world_setup(state);
	world = *state;
	world->directory = directory;
	world->manage_gids = !named;
	world->auths = named ? as_named_only : NULL;
	world->rule = rule;
	world_restart(world);
	return 0;
}

static int
setup_named(void **state)
{
	return setup_with(state, true, NULL);
}

static int
setup_sys(void **state)
{
	return setup_with(state, false, "*(rw,insecure,no_root_squash)");
}

static int
setup_squash(void **state)
{
	return setup_with(state, false, "*(rw,insecure)");
}

static int
teardown(void **state)
{
	gate_open(true);
	return world_teardown(state);
}

static nfs_argop4
op_getattr_owners(void)
{
	static uint32_t words[2] = { 0, 1 << (FATTR4_OWNER - 32) | 1 << (FATTR4_OWNER_GROUP - 32) };

	return (nfs_argop4){ .argop = OP_GETATTR, .u.opgetattr.attr_request = { 2, words } };
}

/* Reads the owner and the group from a fattr4 that has no other attributes. */
static void
check_owners(const fattr4 *fattr, const char *owner, const char *group)
{
	const uint8_t *at = fattr->attr_vals.data, *end = at + fattr->attr_vals.length;
	const char *wanted[2] = { owner, group };

	for (int i = 0; i < 2; i++) {
		uint32_t length = rr_get_be32(at);

		assert_int_equal(length, strlen(wanted[i]));
		assert_memory_equal(at + 4, wanted[i], length);
		at += 4 + (length + 3) / 4 * 4;
	}
	assert_ptr_equal(at, end);
}

static nfs_argop4
op_setattr_owner(const char *owner)
{
	static uint32_t words[2] = { 0, 1 << (FATTR4_OWNER - 32) };
	static uint8_t memory[600];
	uint32_t length = (uint32_t)strlen(owner), padded = (length + 3) / 4 * 4;

	memset(memory, 0, sizeof(memory));
	rr_put_be32(memory, length);
	memcpy(memory + 4, owner, length);
	return (nfs_argop4){ .argop = OP_SETATTR,
		.u.opsetattr.obj_attributes = { { 2, words }, { memory, 4 + padded } } };
}

static void
make(const struct world *world, const char *name, uint32_t uid, uint32_t gid)
{
	char path[STAGE_PATH + 32];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", world->path, name);
	file = fopen(path, "w");
	assert_non_null(file);
	fclose(file);
	assert_int_equal(chown(path, uid, gid), 0);
	assert_int_equal(chmod(path, 0660), 0);
}

static uint32_t
owner_of(const struct world *world, const char *name)
{
	char path[STAGE_PATH + 32];
	struct stat st;

	snprintf(path, sizeof(path), "%s/%s", world->path, name);
	assert_int_equal(stat(path, &st), 0);
	return st.st_uid;
}

static void
a_caller_with_a_name_gets_names(void **state)
{
	struct world *world = *state;
	struct peer *peer = world_peer(world, 0, "a", 0);

	make(world, "file", 12, 13);
	make(world, "other", 65534, 65534);
	assert_int_equal(RUN(peer, op_root(), op_lookup("file"), op_getattr_owners()), NFS4_OK);
	check_owners(&peer_res(peer, 2)->u.opgetattr.u.resok4.obj_attributes, "u12@example.org",
		"g13@example.org");
	/* RFC 8881, 5.9: "In the case where there is no translation available to the client or server, the
	 * attribute value will be constructed without the "@"." */
	assert_int_equal(RUN(peer, op_root(), op_lookup("other"), op_getattr_owners()), NFS4_OK);
	check_owners(&peer_res(peer, 2)->u.opgetattr.u.resok4.obj_attributes, "65534", "65534");
}

static void
a_caller_with_a_number_gets_numbers(void **state)
{
	struct world *world = *state;
	struct peer *peer = world_peer(world, 0, "a", 0);

	make(world, "file", 12, 13);
	assert_int_equal(RUN(peer, op_root(), op_lookup("file"), op_getattr_owners()), NFS4_OK);
	check_owners(&peer_res(peer, 2)->u.opgetattr.u.resok4.obj_attributes, "12", "13");
}

static void
check_owner_is_set(struct world *world, struct peer *peer)
{
	make(world, "file", 0, 0);
	assert_int_equal(
		RUN(peer, op_root(), op_lookup("file"), op_setattr_owner("u12@EXAMPLE.org")), NFS4_OK);
	assert_int_equal(owner_of(world, "file"), 12);
	assert_int_equal(RUN(peer, op_root(), op_lookup("file"), op_setattr_owner("13")), NFS4_OK);
	assert_int_equal(owner_of(world, "file"), 13);
	/* RFC 8881, 5.9: "SHOULD return an error (NFS4ERR_BADOWNER) when a string is presented that has no
	 * translation". */
	assert_int_equal(RUN(peer, op_root(), op_lookup("file"), op_setattr_owner("u12@example.com")),
		NFS4ERR_BADOWNER);
	assert_int_equal(RUN(peer, op_root(), op_lookup("file"), op_setattr_owner("nobody@example.org")),
		NFS4ERR_BADOWNER);
	assert_int_equal(RUN(peer, op_root(), op_lookup("file"), op_setattr_owner("u12")), NFS4ERR_BADOWNER);
	assert_int_equal(RUN(peer, op_root(), op_lookup("file"), op_setattr_owner("")), NFS4ERR_INVAL);
	assert_int_equal(owner_of(world, "file"), 13);
}

static void
names_and_numbers_are_taken_from_all(void **state)
{
	check_owner_is_set(*state, world_peer(*state, 0, "a", 0));
}

static void
names_and_numbers_are_taken_by_auth_sys(void **state)
{
	check_owner_is_set(*state, world_peer(*state, 0, "a", 0));
}

static uint32_t
count_entries(const READDIR4resok *ok)
{
	uint32_t count = 0;

	for (const entry4 *entry = ok->reply.entries; entry; entry = entry->nextentry)
		count++;
	return count;
}

/* A list ends in front of an entry whose owner is not known yet, and never has a number for a name. */
static void
a_list_has_names_too(void **state)
{
	static uint32_t words[2] = { 0, 1 << (FATTR4_OWNER - 32) | 1 << (FATTR4_OWNER_GROUP - 32) };
	struct world *world = *state;
	struct peer *peer = world_peer(world, 0, "a", 0);
	nfs_argop4 list = { .argop = OP_READDIR,
		.u.opreaddir = { .maxcount = 8192, .attr_request = { 2, words } } };
	uint32_t seen = 0;
	bool eof = false;

	for (uint32_t i = 0; i < 5; i++) {
		char name[16];

		snprintf(name, sizeof(name), "f%u", i);
		make(world, name, 20 + i, 30 + i);
	}
	while (!eof) {
		const READDIR4resok *ok;

		assert_int_equal(RUN(peer, op_root(), list), NFS4_OK);
		ok = &peer_res(peer, 1)->u.opreaddir.u.resok4;
		assert_true(count_entries(ok) > 0 || ok->reply.eof);
		for (const entry4 *entry = ok->reply.entries; entry; entry = entry->nextentry) {
			uint32_t number = (uint32_t)(((const char *)entry->name.data)[1] - '0');
			char owner[32], group[32];

			snprintf(owner, sizeof(owner), "u%u@example.org", 20 + number);
			snprintf(group, sizeof(group), "g%u@example.org", 30 + number);
			check_owners(&entry->attrs, owner, group);
			list.u.opreaddir.cookie = entry->cookie;
			seen++;
		}
		eof = ok->reply.eof;
	}
	assert_int_equal(seen, 5);
}

/* A directory of users that hangs delays those who need it alone. */
static void
a_directory_that_hangs_delays_those_who_need_it(void **state)
{
	struct world *world = *state;
	struct peer *peer = world_peer(world, 0, "a", 0), *other = world_peer(world, 1, "b", 0);
	nfs_argop4 ops[3] = { op_root(), op_lookup("slow"), op_getattr_owners() };
	struct started started;

	make(world, "slow", 7, 1);
	make(world, "fast", 12, 13);
	peer->sequence++;
	peer_start_all(peer, ops, 3, &started);
	stage_until(&world->stage, hanging == 1);
	assert_int_equal(RUN(other, op_root(), op_lookup("fast"), op_getattr_owners()), NFS4_OK);
	assert_false(started.done);
	world->stage.now += 6 * RR_SECOND;
	stage_until(&world->stage, started.done);
	assert_int_equal(peer->res.status, NFS4ERR_DELAY);
	gate_open(true);
	stage_until(&world->stage, rr_idmap_under_way(world->idmap) == 0);
	assert_int_equal(RUN(peer, op_root(), op_lookup("slow"), op_getattr_owners()), NFS4_OK);
	check_owners(
		&peer_res(peer, 2)->u.opgetattr.u.resok4.obj_attributes, "u7@example.org", "g1@example.org");
}

/* A server ends while an operation waits for a name. */
static void
a_server_ends_while_names_are_asked_for(void **state)
{
	struct world *world = *state;
	struct peer *peer = world_peer(world, 0, "a", 0);
	nfs_argop4 ops[3] = { op_root(), op_lookup("slow"), op_getattr_owners() };
	struct started started;

	make(world, "slow", 7, 1);
	peer->sequence++;
	peer_start_all(peer, ops, 3, &started);
	stage_until(&world->stage, hanging == 1);
	peer_disconnect(peer);
	gate_open(true);
}

static nfsstat4
opens(struct peer *peer, const char *name)
{
	return RUN(peer, op_root(), op_open(name, "o", OPEN4_SHARE_ACCESS_READ, 0, false));
}

/* User 100 is in 41 groups at the server. Its credential names none of them, or others. */
static void
groups_are_those_that_the_server_knows(void **state)
{
	struct world *world = *state;
	struct peer *peer;

	if (geteuid() != 0)
		skip();
	world_open_to_all(world);
	make(world, "mine", 0, 40);
	make(world, "first", 0, 0);
	make(world, "others", 0, 41);
	peer = world_peer(world, 0, "a", 100);
	assert_int_equal(opens(peer, "mine"), NFS4_OK);
	assert_int_equal(opens(peer, "first"), NFS4_OK);
	assert_int_equal(opens(peer, "others"), NFS4ERR_ACCESS);
}

/* Where root is squashed, the group of root is nobody's, whatever the directory says. */
static void
the_group_of_root_is_squashed(void **state)
{
	struct world *world = *state;
	struct peer *peer;

	if (geteuid() != 0)
		skip();
	world_open_to_all(world);
	make(world, "mine", 0, 40);
	make(world, "first", 0, 0);
	peer = world_peer(world, 0, "a", 100);
	assert_int_equal(opens(peer, "mine"), NFS4_OK);
	assert_int_equal(opens(peer, "first"), NFS4ERR_ACCESS);
	peer = world_peer(world, 1, "b", 0);
	assert_int_equal(opens(peer, "first"), NFS4ERR_ACCESS);
	assert_int_equal(opens(peer, "mine"), NFS4ERR_ACCESS);
}

/* A user whose groups are not known yet is told to come later, and its call has not begun. */
static void
a_caller_whose_groups_hang_is_delayed(void **state)
{
	struct world *world = *state;
	struct peer *peer = world_peer(world, 0, "a", 0), *slow = &world->peers[1];
	nfs_argop4 op = { .argop = OP_EXCHANGE_ID,
		.u.opexchange_id.eia_clientowner = { { 1 }, text_bytes("b") } };
	const COMPOUND4args args = { .minorversion = 2, .argarray = { 1, &op } };
	struct started started = { .args = args };

	(void)peer;
	slow->world = world;
	slow->minor = 2;
	peer_connect(slow, 7);
	started.args.argarray.values = started.ops;
	started.ops[0] = op;
	peer_start_raw(slow, &started);
	stage_until(&world->stage, hanging == 1);
	assert_int_equal(RUN(peer, op_root()), NFS4_OK);
	world->stage.now += 6 * RR_SECOND;
	stage_until(&world->stage, started.done);
	assert_int_equal(slow->res.status, NFS4ERR_DELAY);
	gate_open(true);
	stage_until(&world->stage, rr_idmap_under_way(world->idmap) == 0);
	assert_int_equal(peer_exchange(slow, "b", 1, 0), NFS4_OK);
}

#define owners_test(name, setup) cmocka_unit_test_setup_teardown(name, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		owners_test(a_caller_with_a_name_gets_names, setup_named),
		owners_test(a_caller_with_a_number_gets_numbers, setup_sys),
		owners_test(names_and_numbers_are_taken_from_all, setup_named),
		owners_test(names_and_numbers_are_taken_by_auth_sys, setup_sys),
		owners_test(a_list_has_names_too, setup_named),
		owners_test(a_directory_that_hangs_delays_those_who_need_it, setup_named),
		owners_test(a_server_ends_while_names_are_asked_for, setup_named),
		owners_test(groups_are_those_that_the_server_knows, setup_sys),
		owners_test(the_group_of_root_is_squashed, setup_squash),
		owners_test(a_caller_whose_groups_hang_is_delayed, setup_sys),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
