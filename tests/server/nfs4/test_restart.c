/* SPDX-License-Identifier: BSD-3-Clause */
/* What clients reclaim after a restart of the server, and what the server still knows of them: RFC 8881,
 * sections 8.4.2 and 18.51. */
#include "world.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <rpcrdma/error.h>

#include "base/endian.h"
#include "base/log_limit.h"
#include "server/nfs4/server_private.h"
#include "server/nfs4/tables/record_file.h"

enum { R = OPEN4_SHARE_ACCESS_READ, RW = OPEN4_SHARE_ACCESS_BOTH, LEASE = 91 };

/* A file that a client has opened and locked. */
struct held {
	uint8_t data[NFS4_FHSIZE];
	struct rpcrdma_bytes handle;
	stateid4 open, lock;
};

static void
hold(struct peer *peer, struct held *held)
{
	struct rpcrdma_bytes handle;

	assert_int_equal(
		RUN(peer, op_root(), op_open("file", "o", RW, 0, true), op_plain(OP_GETFH)), NFS4_OK);
	held->open = peer_res(peer, 1)->u.opopen.u.resok4.stateid;
	handle = peer_res(peer, 2)->u.opgetfh.u.resok4.object;
	memcpy(held->data, handle.data, handle.length);
	held->handle = (struct rpcrdma_bytes){ held->data, handle.length };
	assert_int_equal(
		RUN(peer, op_putfh(held->handle), op_lock(&held->open, "l", WRITE_LT, 0, 10)), NFS4_OK);
	held->lock = peer_res(peer, 1)->u.oplock.u.resok4.lock_stateid;
}

static nfs_argop4
op_reclaim(const char *owner)
{
	nfs_argop4 op = op_open("", owner, RW, 0, false);

	op.u.opopen.claim = (open_claim4){ .claim = CLAIM_PREVIOUS };
	return op;
}

static nfs_argop4
op_reclaim_lock(const stateid4 *open, uint64_t offset)
{
	nfs_argop4 op = op_lock(open, "l", WRITE_LT, offset, 10);

	op.u.oplock.reclaim = true;
	return op;
}

static nfsstat4
reclaim_all(struct peer *peer, const struct held *held)
{
	stateid4 open;
	nfsstat4 status = RUN(peer, op_putfh(held->handle), op_reclaim("o"));

	if (status != NFS4_OK)
		return status;
	open = peer_res(peer, 1)->u.opopen.u.resok4.stateid;
	return RUN(peer, op_putfh(held->handle), op_reclaim_lock(&open, 0));
}

static void
what_a_client_held_is_its_again(void **state)
{
	struct world *world = *state;
	struct peer *peer = world_peer(world, 0, "a", 0), *other;
	struct held held;

	hold(peer, &held);
	world_restart(world);
	peer_connect(peer, 0);
	assert_int_equal(peer_run(peer, NULL, 0), NFS4ERR_BADSESSION);
	assert_int_equal(peer_create_session(peer), NFS4ERR_STALE_CLIENTID);
	rr_client_free(peer->client);
	other = world_peer(world, 1, "b", 0);
	assert_int_equal(RUN(other, op_root(), op_open("file", "o", R, 0, false)), NFS4ERR_GRACE);
	assert_int_equal(RUN(other, op_putfh(held.handle), op_reclaim("o")), NFS4ERR_NO_GRACE);
	assert_int_equal(RUN(other, op_putfh(held.handle), op_read(&stateid_anonymous, 0, 1)), NFS4ERR_GRACE);
	assert_int_equal(RUN(other, op_root(), op_remove("file")), NFS4ERR_GRACE);
	peer = world_new_peer(world, 0, "a", 0);
	assert_int_equal(reclaim_all(peer, &held), NFS4_OK);
	assert_int_equal(RUN(other, op_root(), op_open("file", "o", RW, 0, false)), NFS4ERR_GRACE);
	assert_int_equal(RUN(peer, op_plain(OP_RECLAIM_COMPLETE)), NFS4_OK);
	assert_int_equal(RUN(peer, op_putfh(held.handle), op_reclaim("o")), NFS4ERR_NO_GRACE);
	/* All clients have reclaimed: the grace period ends as soon as the old record has been removed. */
	while (RUN(other, op_root(), op_open("file", "o", RW, 0, false)) == NFS4ERR_GRACE)
		;
	assert_int_equal(other->res.status, NFS4_OK);
	held.open = peer_res(other, 1)->u.opopen.u.resok4.stateid;
	assert_int_equal(
		RUN(other, op_putfh(held.handle), op_lock(&held.open, "m", WRITE_LT, 5, 1)), NFS4ERR_DENIED);
	assert_int_equal(peer_res(other, 1)->u.oplock.u.denied.owner.clientid, peer->clientid);
}

/* The server restarts a second time before the client has come back, and once more afterwards. */
static void
restarts_one_after_the_other(void **state)
{
	struct world *world = *state;
	struct held held;

	hold(world_peer(world, 0, "a", 0), &held);
	world_restart(world);
	world_restart(world);
	assert_int_equal(reclaim_all(world_new_peer(world, 0, "a", 0), &held), NFS4_OK);
	world_restart(world);
	assert_int_equal(reclaim_all(world_new_peer(world, 0, "a", 0), &held), NFS4_OK);
	assert_int_equal(RUN(&world->peers[0], op_plain(OP_RECLAIM_COMPLETE)), NFS4_OK);
	world_restart(world);
	assert_int_equal(reclaim_all(world_new_peer(world, 0, "a", 0), &held), NFS4_OK);
}

static void
a_stranger_reclaims_nothing(void **state)
{
	struct world *world = *state;
	struct held held;

	hold(world_peer(world, 0, "a", 0), &held);
	world_restart(world);
	assert_int_equal(reclaim_all(world_new_peer(world, 0, "b", 0), &held), NFS4ERR_RECLAIM_BAD);
	/* The same client owner comes back as another user. */
	assert_int_equal(reclaim_all(world_new_peer(world, 1, "a", 7), &held), NFS4ERR_RECLAIM_BAD);
}

/* 8.4.3: a client that did not come back cannot reclaim in the next grace period, because another client may
 * have got its locks meanwhile. */
static void
who_does_not_come_back_is_forgotten(void **state)
{
	struct world *world = *state;
	struct peer *other;
	struct held held, theirs;

	hold(world_peer(world, 0, "a", 0), &held);
	world_restart(world);
	other = world_peer(world, 1, "b", 0);
	assert_int_equal(RUN(other, op_root(), op_open("file", "o", R, 0, false)), NFS4ERR_GRACE);
	for (int i = 0; i < 2; i++) {
		world->stage.now += LEASE / 2 * RR_SECOND + RR_SECOND;
		assert_int_equal(peer_run(other, NULL, 0), NFS4_OK);
	}
	while (RUN(other, op_root(), op_open("file", "o", R, 0, false)) == NFS4ERR_GRACE)
		;
	hold(other, &theirs);
	world_restart(world);
	assert_int_equal(reclaim_all(world_new_peer(world, 0, "a", 0), &held), NFS4ERR_RECLAIM_BAD);
	assert_int_equal(reclaim_all(world_new_peer(world, 1, "b", 0), &theirs), NFS4_OK);
}

/* Returns the attribute lease_time. */
static uint32_t
told_lease(struct peer *peer)
{
	static uint32_t word = 1 << FATTR4_LEASE_TIME;
	const nfs_argop4 op = { .argop = OP_GETATTR, .u.opgetattr.attr_request = { 1, &word } };
	const fattr4 *got;

	assert_int_equal(RUN(peer, op_root(), op), NFS4_OK);
	got = &peer_res(peer, 1)->u.opgetattr.u.resok4.obj_attributes;
	assert_int_equal(got->attr_vals.length, 4);
	return rr_get_be32(got->attr_vals.data);
}

/* Makes another client, which gets nothing while this time passes, in steps that keep its own lease. */
static struct peer *
pass_grace(struct world *world, uint32_t seconds)
{
	struct peer *other = world_peer(world, 1, "b", 0);

	for (uint32_t passed = 0; passed < seconds; passed += 5) {
		assert_int_equal(RUN(other, op_root(), op_open("file", "o", R, 0, false)), NFS4ERR_GRACE);
		assert_false(world->shared->tables.grace.ends);
		world->stage.now += 5 * RR_SECOND;
	}
	return other;
}

/* Waits until the other client gets what it wants, as the grace period is over by now. */
static void
end_grace(struct peer *other)
{
	while (RUN(other, op_root(), op_open("file", "o", R, 0, false)) == NFS4ERR_GRACE)
		;
	assert_int_equal(other->res.status, NFS4_OK);
}

/* 8.4.2.1: "the server must establish, for this restart event, a grace period at least as long as the lease
 * period for the previous server instantiation." */
static void
the_grace_period_has_the_lease_that_clients_were_told(void **state)
{
	struct world *world = *state;
	struct peer *peer = world_peer(world, 0, "a", 0), *other;
	struct held held;

	assert_int_equal(told_lease(peer), LEASE - 1);
	hold(peer, &held);
	world->lease = 10;
	/* The client comes back after neither of these starts: its lease is still that of the first start. */
	world_restart(world);
	pass_grace(world, 10);
	world_restart(world);
	other = pass_grace(world, LEASE - 1);
	assert_int_equal(told_lease(other), 10);
	end_grace(other);
	peer = world_new_peer(world, 0, "a", 0);
	assert_int_equal(reclaim_all(peer, &held), NFS4ERR_NO_GRACE);
}

/* The same client comes back, is told the lease of 10 seconds, and has these after the next restart. */
static void
the_grace_period_follows_a_shorter_lease(void **state)
{
	struct world *world = *state;
	struct peer *other;
	struct held held;

	hold(world_peer(world, 0, "a", 0), &held);
	world->lease = 10;
	world_restart(world);
	other = pass_grace(world, LEASE - 6);
	assert_int_equal(reclaim_all(world_new_peer(world, 0, "a", 0), &held), NFS4_OK);
	assert_int_equal(RUN(&world->peers[0], op_plain(OP_RECLAIM_COMPLETE)), NFS4_OK);
	end_grace(other);
	world_restart(world);
	end_grace(pass_grace(world, 10));
	assert_int_equal(reclaim_all(world_new_peer(world, 0, "a", 0), &held), NFS4ERR_NO_GRACE);
}

static void
a_lease_that_is_over_cannot_be_reclaimed(void **state)
{
	struct world *world = *state;
	struct held held, theirs;
	struct peer *other;

	hold(world_peer(world, 0, "a", 0), &held);
	world->stage.now += LEASE * RR_SECOND;
	other = world_peer(world, 1, "b", 0);
	assert_int_equal(RUN(other, op_root(), op_open("file", "o", RW, 0, false)), NFS4_OK);
	theirs.open = peer_res(other, 1)->u.opopen.u.resok4.stateid;
	while (RUN(other, op_putfh(held.handle), op_lock(&theirs.open, "m", WRITE_LT, 0, 10)) ==
		NFS4ERR_DENIED)
		;
	assert_int_equal(other->res.status, NFS4_OK);
	world_restart(world);
	assert_int_equal(reclaim_all(world_new_peer(world, 0, "a", 0), &held), NFS4ERR_RECLAIM_BAD);
	assert_int_equal(reclaim_all(world_new_peer(world, 1, "b", 0), &held), NFS4_OK);
}

static void
nobody_waits_for_clients_that_said_goodbye(void **state)
{
	struct world *world = *state;
	struct peer *peer = world_peer(world, 0, "a", 0);
	nfs_argop4 op = { .argop = OP_DESTROY_SESSION };

	memcpy(op.u.opdestroy_session.dsa_sessionid, peer->session, sizeof(peer->session));
	assert_int_equal(peer_raw(peer, &op, 1), NFS4_OK);
	op = (nfs_argop4){ .argop = OP_DESTROY_CLIENTID,
		.u.opdestroy_clientid.dca_clientid = peer->clientid };
	assert_int_equal(peer_raw(peer, &op, 1), NFS4_OK);
	world_restart(world);
	peer = world_peer(world, 0, "b", 0);
	assert_int_equal(RUN(peer, op_root(), op_open("file", "o", RW, 0, true)), NFS4_OK);
}

/* A file that a crash left half written, or that another program has put there, is not taken for a record. */
static void
files_that_are_no_records_do_no_harm(void **state)
{
	static const char *const names[] = { "0123456789abcdef", "0123456789abcdef.new", "readme",
		"0123456789abcdeg" };
	struct world *world = *state;
	struct held held;
	char path[128];

	hold(world_peer(world, 0, "a", 0), &held);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		FILE *file;

		snprintf(path, sizeof(path), "%s/%s", world->records, names[i]);
		file = fopen(path, "w");
		assert_non_null(file);
		fputs("rr4 and some more octets that are no record of a client", file);
		fclose(file);
	}
	world_restart(world);
	snprintf(path, sizeof(path), "%s/%s", world->records, names[1]);
	assert_int_not_equal(access(path, F_OK), 0);
	assert_int_equal(reclaim_all(world_new_peer(world, 0, "a", 0), &held), NFS4_OK);
}

/* Memory that has run out: what there is can still be freed. */
static void *
no_memory(void *ctx, void *old, size_t size)
{
	return size == 0 ? rr_env_system.realloc(ctx, old, 0) : NULL;
}

/* An OPEN whose record cannot be written for lack of memory is answered, and a later one succeeds. */
static void
a_record_without_memory_is_not_waited_for(void **state)
{
	struct world *world = *state;
	struct peer *peer = world_peer(world, 0, "a", 0);
	const struct rr_env *env = world->nfs4->env;
	const nfs_argop4 ops[] = { op_root(), op_open("file", "o", RW, 0, true) };
	struct rr_env poor = *env;
	struct started started;

	poor.realloc = no_memory;
	world->nfs4->env = &poor;
	peer->sequence++;
	peer_start_all(peer, ops, 2, &started);
	stage_until(&world->stage, started.done);
	world->nfs4->env = env;
	assert_int_equal(peer->res.status, NFS4ERR_DELAY);
	assert_int_equal(RUN(peer, ops[0], ops[1]), NFS4_OK);
}

/* 8.4.2.1: the record is made "the first time after a server boot or reboot the client acquires record
 * locking, share reservation, or delegation state". A client that only mounts waits for no disk. */
static void
a_client_is_recorded_by_its_first_open(void **state)
{
	struct world *world = *state;
	struct peer *peer = world_peer(world, 0, "a", 0);
	const struct rr_nfs4_records *records = &world->shared->tables.records;
	struct held held;

	assert_int_equal(records->count, 0);
	hold(peer, &held);
	assert_int_equal(records->count, 1);
	world_restart(world);
	records = &world->shared->tables.records;
	assert_int_equal(records->count, 1);
	/* It has reclaimed: the record of this start is on the disk before the one of the last start goes. */
	assert_int_equal(reclaim_all(world_new_peer(world, 0, "a", 0), &held), NFS4_OK);
	assert_int_equal(RUN(&world->peers[0], op_plain(OP_RECLAIM_COMPLETE)), NFS4_OK);
	world_restart(world);
	assert_int_equal(reclaim_all(world_new_peer(world, 0, "a", 0), &held), NFS4_OK);
}

/* Two OPENs of a client at once, in two sessions: both wait for the one record. */
static void
opens_wait_for_the_same_record(void **state)
{
	struct world *world = *state;
	struct peer *one = world_peer(world, 0, "a", 0), *two = world_new_peer(world, 1, "a", 0);
	const nfs_argop4 ops[] = { op_root(), op_open("file", "o", RW, 0, true) };
	struct started first, second;

	assert_int_equal(one->clientid, two->clientid);
	one->sequence++;
	two->sequence++;
	peer_start_all(one, ops, 2, &first);
	peer_start_all(two, ops, 2, &second);
	stage_until(&world->stage, first.done && second.done);
	assert_int_equal(one->res.status, NFS4_OK);
	assert_int_equal(two->res.status, NFS4_OK);
	assert_int_equal(world->shared->tables.records.count, 1);
}

static void
count_line(void *ctx, enum rr_log_level level, const char *line)
{
	int *counts = ctx;

	(void)level;
	counts[strncmp(line, "84 more lines", 13) == 0]++;
}

static uint64_t
stand_still(void *ctx)
{
	(void)ctx;
	return RR_SECOND;
}

/* Clients come as often as they like while the file system of the records is broken. */
static void
records_that_fail_do_not_fill_the_log(void **state)
{
	struct world *world = *state;
	const struct rr_nfs4_recorded recorded = { .name = 7, .owner = { (const uint8_t *)"a", 1 } };
	int counts[2] = { 0 };
	const struct rr_env env = { .realloc = rr_env_system.realloc,
		.now = stand_still,
		.log = count_line,
		.ctx = counts,
		.log_level = RR_LOG_WARNING };
	struct rr_nfs4_record_dir *dir;
	struct rr_text text;
	char path[128];

	snprintf(path, sizeof(path), "%s/gone", world->records);
	assert_int_equal(rr_nfs4_record_dir_open(&env, path, &dir, &text), 0);
	assert_int_equal(rmdir(path), 0);
	for (int i = 0; i < 100; i++)
		assert_false(rr_nfs4_record_write(dir, &recorded));
	assert_int_equal(counts[0], RR_LOG_LIMIT_LINES);
	rr_nfs4_record_dir_close(dir);
	assert_int_equal(counts[1], 1);
}

/* 2.10.4 */
static void
the_server_is_the_same_one(void **state)
{
	struct world *world = *state;
	uint8_t identity[RR_NFS4_IDENTITY];

	memcpy(identity, world->shared->identity, sizeof(identity));
	world_restart(world);
	assert_memory_equal(identity, world->shared->identity, sizeof(identity));
}

/* The clients know the server by its identity. If it cannot be read, which may pass, it is not replaced. */
static void
an_identity_that_cannot_be_read_stays(void **state)
{
	struct rr_nfs4_record_dir *dir;
	uint8_t identity[RR_NFS4_IDENTITY];
	char path[STAGE_PATH], file[STAGE_PATH + 16];
	struct rr_text text = { "" };
	struct stat st;

	(void)state;
	stage_directory(path);
	assert_int_equal(rr_nfs4_record_dir_open(&rr_env_system, path, &dir, &text), 0);
	snprintf(file, sizeof(file), "%s/identity", path);
	/* O_NOFOLLOW makes open() fail, as a disk with an error would. */
	assert_int_equal(symlink("elsewhere", file), 0);
	assert_int_equal(rr_nfs4_record_dir_identity(dir, identity, &text), -RPCRDMA_ERR_SYSTEM);
	assert_non_null(strstr(text.text, "the server's identity cannot be read"));
	assert_int_equal(lstat(file, &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	rr_nfs4_record_dir_close(dir);
	stage_remove(path);
}

/* What take_one() was given, with the octets that its pointers point to. */
struct taken {
	uint32_t count;
	struct rr_nfs4_recorded recorded;
	char owner[16], name[16];
};

static int
take_one(void *ctx, const struct rr_nfs4_recorded *recorded)
{
	struct taken *taken = ctx;

	taken->count++;
	taken->recorded = *recorded;
	memcpy(taken->owner, recorded->owner.data, recorded->owner.length);
	snprintf(taken->name, sizeof(taken->name), "%s",
		recorded->principal.principal ? recorded->principal.principal : "-");
	return 0;
}

/* Writes the octets into the only record of the directory. */
static void
overwrite(const char *path, const uint8_t *data, size_t length)
{
	char name[STAGE_PATH + 32];
	FILE *file;

	snprintf(name, sizeof(name), "%s/0000000000000001", path);
	file = fopen(name, "w");
	assert_non_null(file);
	assert_int_equal(fwrite(data, 1, length, file), length);
	fclose(file);
}

/* 8.4.2.1: the principal is part of a record. Its name comes back with it, and no bit of it can change. */
static void
a_record_keeps_the_name_of_its_principal(void **state)
{
	static const struct rr_caller alice = { RR_RPCSEC_GSS, RR_CALLER_OPEN, true, 7,
		.principal = "alice@HERE" };
	const struct rr_nfs4_recorded recorded = { 1, alice, 90, { "client", 6 } };
	struct rr_nfs4_record_dir *dir;
	struct taken taken = { 0 };
	struct rr_text text = { "" };
	char path[STAGE_PATH], name[STAGE_PATH + 32];
	struct rr_env quiet = rr_env_system;
	uint8_t data[128];
	size_t length;
	FILE *file;

	(void)state;
	quiet.log = NULL;
	stage_directory(path);
	assert_int_equal(rr_nfs4_record_dir_open(&quiet, path, &dir, &text), 0);
	assert_true(rr_nfs4_record_write(dir, &recorded));
	assert_int_equal(rr_nfs4_record_dir_read(dir, take_one, &taken, &text), 0);
	assert_int_equal(taken.count, 1);
	assert_int_equal(taken.recorded.principal.flavor, RR_RPCSEC_GSS);
	assert_string_equal(taken.name, "alice@HERE");
	assert_int_equal(taken.recorded.owner.length, 6);
	assert_memory_equal(taken.owner, "client", 6);
	snprintf(name, sizeof(name), "%s/0000000000000001", path);
	file = fopen(name, "r");
	assert_non_null(file);
	length = fread(data, 1, sizeof(data), file);
	fclose(file);
	assert_int_equal(length, 20 + 6 + 10 + 4);
	for (size_t bit = 0; bit < 8 * length; bit++) {
		data[bit / 8] ^= (uint8_t)(1u << bit % 8);
		overwrite(path, data, length);
		assert_int_equal(rr_nfs4_record_dir_read(dir, take_one, &taken, &text), 0);
		data[bit / 8] ^= (uint8_t)(1u << bit % 8);
	}
	for (size_t less = 0; less < length; less++) {
		overwrite(path, data, less);
		assert_int_equal(rr_nfs4_record_dir_read(dir, take_one, &taken, &text), 0);
	}
	assert_int_equal(taken.count, 1);
	rr_nfs4_record_dir_close(dir);
	stage_remove(path);
}

static int
take_none(void *ctx, const struct rr_nfs4_recorded *recorded)
{
	(void)ctx;
	(void)recorded;
	return -RPCRDMA_ERR_NOMEM;
}

static void
records_without_memory_are_an_error_with_a_text(void **state)
{
	static uint8_t owner[] = "client";
	const struct rr_nfs4_recorded recorded = { 1, { .flavor = RR_AUTH_SYS, .named = true }, 90,
		{ owner, 6 } };
	struct rr_nfs4_record_dir *dir;
	struct rr_text text = { "" };
	char path[STAGE_PATH];

	(void)state;
	stage_directory(path);
	assert_int_equal(rr_nfs4_record_dir_open(&rr_env_system, path, &dir, &text), 0);
	assert_true(rr_nfs4_record_write(dir, &recorded));
	assert_int_equal(rr_nfs4_record_dir_read(dir, take_none, NULL, &text), -RPCRDMA_ERR_NOMEM);
	assert_non_null(strstr(text.text, "no memory for the records of clients"));
	rr_nfs4_record_dir_close(dir);
	stage_remove(path);
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, world_setup_records, world_teardown)
	const struct CMUnitTest tests[] = {
		TEST(what_a_client_held_is_its_again),
		TEST(restarts_one_after_the_other),
		TEST(a_stranger_reclaims_nothing),
		TEST(who_does_not_come_back_is_forgotten),
		TEST(the_grace_period_has_the_lease_that_clients_were_told),
		TEST(the_grace_period_follows_a_shorter_lease),
		TEST(a_lease_that_is_over_cannot_be_reclaimed),
		TEST(nobody_waits_for_clients_that_said_goodbye),
		TEST(files_that_are_no_records_do_no_harm),
		TEST(a_record_without_memory_is_not_waited_for),
		TEST(a_client_is_recorded_by_its_first_open),
		TEST(opens_wait_for_the_same_record),
		TEST(records_that_fail_do_not_fill_the_log),
		TEST(the_server_is_the_same_one),
		cmocka_unit_test(an_identity_that_cannot_be_read_stays),
		cmocka_unit_test(a_record_keeps_the_name_of_its_principal),
		cmocka_unit_test(records_without_memory_are_an_error_with_a_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
