/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Clients that send random operations, with names, handles, stateids and numbers that make sense together or
 * do not, to storage that answers late and fails. Nothing crashes; each answer is complete, with statuses
 * that its operations may have (world.c looks); and when the clients have gone, nothing of theirs is left.
 * RPCRDMA_SEED=N repeats one run.
 */
#include "world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HANDLES = 16, STATEIDS = 24, CALLS = 1500, OPERATIONS = 8 };

struct random {
	uint64_t state;
	struct rr_memory_dice dice;
	struct rr_memory_script script;
	uint8_t handles[HANDLES][NFS4_FHSIZE];
	uint32_t lengths[HANDLES];
	stateid4 stateids[STATEIDS];
	uint32_t next_handle, next_stateid;
};

static uint32_t
below(struct random *random, uint32_t bound)
{
	random->state = random->state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(random->state >> 33) % bound;
}

static struct rpcrdma_bytes
some_name(struct random *random)
{
	static const char *const names[] = { "a", "b", "c", "d", "dir", "link", "", ".", "..", "a/b",
		"\xff\xfe" };

	return text_bytes(names[below(random, below(random, 4) ? 6 : 11)]);
}

static stateid4
some_stateid(struct random *random)
{
	switch (below(random, 8)) {
	case 0: return stateid_anonymous;
	case 1: return stateid_current;
	case 2: {
		stateid4 bypass = { .seqid = NFS4_UINT32_MAX };

		memset(bypass.other, 0xff, sizeof(bypass.other));
		return bypass;
	}
	default: break;
	}
	return random->stateids[below(random, STATEIDS)];
}

static uint64_t
some_number(struct random *random)
{
	static const uint64_t numbers[] = { 0, 1, 5, 4096, 65536, UINT64_C(1) << 32, INT64_MAX, UINT64_MAX };

	return numbers[below(random, below(random, 3) ? 5 : 8)];
}

/* Makes attributes, one of random number and random value. The length of the values may be wrong. */
static fattr4
some_attributes(struct random *random)
{
	static uint32_t words[OPERATIONS + 1][3];
	static uint8_t values[OPERATIONS + 1][32];
	static uint32_t next;
	uint32_t at = next++ % (OPERATIONS + 1), attribute = below(random, 83);

	memset(words[at], 0, sizeof(words[at]));
	memset(values[at], 0, sizeof(values[at]));
	if (below(random, 2))
		attribute = below(random, 2) ? FATTR4_MODE : FATTR4_SIZE;
	words[at][attribute / 32] |= UINT32_C(1) << attribute % 32;
	values[at][below(random, 12)] = (uint8_t)below(random, 256);
	return (fattr4){ { 3, words[at] }, { values[at], 4 * below(random, 5) } };
}

static nfs_argop4
some_open(struct random *random)
{
	static const char *const owners[] = { "o", "p", "q" };
	nfs_argop4 op = { .argop = OP_OPEN };
	OPEN4args *args = &op.u.opopen;

	args->share_access = below(random, 5);
	args->share_deny = below(random, 8) ? 0 : below(random, 5);
	args->owner.owner = text_bytes(owners[below(random, 3)]);
	args->openhow.opentype = below(random, 2) ? OPEN4_CREATE : OPEN4_NOCREATE;
	args->openhow.u.how.mode = below(random, 2);
	args->openhow.u.how.u.createattrs = some_attributes(random);
	if (below(random, 4) == 0)
		args->openhow.u.how =
			(createhow4){ EXCLUSIVE4_1, { .ch_createboth = { .cva_verf = { 1 } } } };
	switch (below(random, 6)) {
	case 0: args->claim.claim = CLAIM_FH; break;
	case 1: args->claim.claim = CLAIM_PREVIOUS; break;
	default: args->claim = (open_claim4){ CLAIM_NULL, { .file = some_name(random) } };
	}
	return op;
}

static nfs_argop4
some_lock(struct random *random)
{
	stateid4 stateid = some_stateid(random);
	nfs_lock_type4 type = 1 + below(random, 4);
	nfs_argop4 op;

	switch (below(random, 4)) {
	case 0:
		op = (nfs_argop4){ .argop = OP_LOCKT };
		op.u.oplockt = (LOCKT4args){ type, some_number(random), some_number(random),
			{ .owner = text_bytes("l") } };
		return op;
	case 1:
		op = (nfs_argop4){ .argop = OP_LOCKU };
		op.u.oplocku = (LOCKU4args){ type, 0, stateid, some_number(random), some_number(random) };
		return op;
	case 2:
		op = op_lock(&stateid, "l", type, some_number(random), some_number(random));
		op.u.oplock.locker.new_lock_owner = false;
		op.u.oplock.locker.u.lock_owner = (exist_lock_owner4){ .lock_stateid = stateid };
		return op;
	default:
		return op_lock(&stateid, below(random, 2) ? "l" : "m", type, some_number(random),
			some_number(random));
	}
}

static nfs_argop4
some_data(struct random *random)
{
	nfs_argop4 op = { .argop = OP_SEEK };

	switch (below(random, 9)) {
	case 0:
		op.u.opseek = (SEEK4args){ some_stateid(random), some_number(random), below(random, 2) };
		return op;
	case 1:
		op.argop = below(random, 2) ? OP_ALLOCATE : OP_DEALLOCATE;
		op.u.opallocate =
			(ALLOCATE4args){ some_stateid(random), some_number(random), some_number(random) };
		return op;
	case 2:
		op.argop = OP_READ_PLUS;
		op.u.opread_plus = (READ_PLUS4args){ some_stateid(random), some_number(random),
			(count4)some_number(random) };
		return op;
	case 3:
		op.argop = OP_COPY;
		op.u.opcopy = (COPY4args){ some_stateid(random), some_stateid(random), some_number(random),
			some_number(random), some_number(random), true, true, { 0, NULL } };
		return op;
	case 4:
		op.argop = OP_CLONE;
		op.u.opclone = (CLONE4args){ some_stateid(random), some_stateid(random), some_number(random),
			some_number(random), some_number(random) };
		return op;
	case 5:
		op.argop = OP_WRITE;
		op.u.opwrite = (WRITE4args){ some_stateid(random), some_number(random), below(random, 3),
			text_bytes("data") };
		return op;
	case 6:
		op.argop = OP_COMMIT;
		op.u.opcommit = (COMMIT4args){ some_number(random), (count4)some_number(random) };
		return op;
	default:
		op.argop = OP_READ;
		op.u.opread = (READ4args){ some_stateid(random), some_number(random),
			(count4)some_number(random) % 8192 };
		return op;
	}
}

static nfs_argop4
some_entry(struct random *random)
{
	nfs_argop4 op = { .argop = OP_LOOKUP };

	switch (below(random, 9)) {
	case 0:
		op.argop = OP_REMOVE;
		op.u.opremove.target = some_name(random);
		return op;
	case 1:
		op.argop = OP_LINK;
		op.u.oplink.newname = some_name(random);
		return op;
	case 2:
		op.argop = OP_RENAME;
		op.u.oprename = (RENAME4args){ some_name(random), some_name(random) };
		return op;
	case 3:
		op.argop = OP_CREATE;
		op.u.opcreate = (CREATE4args){ { .type = 1 + below(random, 9) }, some_name(random),
			some_attributes(random) };
		if (op.u.opcreate.objtype.type == NF4LNK)
			op.u.opcreate.objtype.u.linkdata = some_name(random);
		return op;
	case 4:
		op.argop = OP_READDIR;
		op.u.opreaddir = (READDIR4args){ some_number(random), { 0 }, 512, (count4)some_number(random),
			some_attributes(random).attrmask };
		return op;
	case 5:
		op.argop = OP_SECINFO;
		op.u.opsecinfo.name = some_name(random);
		return op;
	case 6:
		op.argop = OP_SETXATTR;
		op.u.opsetxattr = (SETXATTR4args){ below(random, 3), some_name(random), text_bytes("value") };
		return op;
	case 7:
		op.argop = below(random, 2) ? OP_GETXATTR : OP_REMOVEXATTR;
		op.u.opgetxattr.gxa_name = some_name(random);
		return op;
	default: op.u.oplookup.objname = some_name(random); return op;
	}
}

static nfs_argop4
some_other(struct random *random)
{
	static const nfs_opnum4 plain[] = { OP_GETFH, OP_SAVEFH, OP_RESTOREFH, OP_LOOKUPP, OP_READLINK,
		OP_PUTROOTFH, OP_LISTXATTRS, OP_SECINFO_NO_NAME, OP_OPENATTR, OP_PUTPUBFH,
		OP_RECLAIM_COMPLETE };
	nfs_argop4 op = { .argop = plain[below(random, sizeof(plain) / sizeof(*plain))] };

	switch (below(random, 10)) {
	case 0:
		op.argop = OP_CLOSE;
		op.u.opclose.open_stateid = some_stateid(random);
		return op;
	case 1:
		op.argop = OP_OPEN_DOWNGRADE;
		op.u.opopen_downgrade =
			(OPEN_DOWNGRADE4args){ some_stateid(random), 0, below(random, 4), below(random, 4) };
		return op;
	case 2:
		op.argop = OP_FREE_STATEID;
		op.u.opfree_stateid.fsa_stateid = some_stateid(random);
		return op;
	case 3:
		op.argop = OP_TEST_STATEID;
		op.u.optest_stateid.ts_stateids.count = STATEIDS;
		op.u.optest_stateid.ts_stateids.values = random->stateids;
		return op;
	case 4:
		op.argop = OP_SETATTR;
		op.u.opsetattr = (SETATTR4args){ some_stateid(random), some_attributes(random) };
		return op;
	case 5:
		op.argop = OP_GETATTR;
		op.u.opgetattr.attr_request = some_attributes(random).attrmask;
		return op;
	case 6:
		op.argop = below(random, 2) ? OP_VERIFY : OP_NVERIFY;
		op.u.opverify.obj_attributes = some_attributes(random);
		return op;
	case 7:
		op.argop = OP_ACCESS;
		op.u.opaccess.access = below(random, 1024);
		return op;
	default:
		if (op.argop == OP_LISTXATTRS)
			op.u.oplistxattrs.lxa_maxcount = (count4)some_number(random);
		return op;
	}
}

static nfs_argop4
some_operation(struct random *random)
{
	uint32_t handle = below(random, HANDLES);

	switch (below(random, 8)) {
	case 0: return op_putfh((struct rpcrdma_bytes){ random->handles[handle], random->lengths[handle] });
	case 1:
	case 2: return some_open(random);
	case 3: return some_lock(random);
	case 4: return some_data(random);
	case 5: return some_entry(random);
	default: return some_other(random);
	}
}

static void
keep_stateid(struct random *random, const stateid4 *stateid)
{
	random->stateids[random->next_stateid++ % STATEIDS] = *stateid;
}

/* Remembers the handles and stateids in the answer for later calls. */
static void
learn(struct random *random, const struct peer *peer)
{
	for (uint32_t i = 1; i < peer->res.resarray.count; i++) {
		const nfs_resop4 *res = &peer->res.resarray.values[i];
		nfsstat4 status;

		memcpy(&status, &res->u, sizeof(status));
		if (status != NFS4_OK)
			return;
		if (res->resop == OP_OPEN)
			keep_stateid(random, &res->u.opopen.u.resok4.stateid);
		if (res->resop == OP_LOCK)
			keep_stateid(random, &res->u.oplock.u.resok4.lock_stateid);
		if (res->resop == OP_GETFH) {
			struct rpcrdma_bytes handle = res->u.opgetfh.u.resok4.object;
			uint32_t at = random->next_handle++ % HANDLES;

			memcpy(random->handles[at], handle.data, handle.length);
			random->lengths[at] = handle.length;
		}
	}
}

static void
call(struct random *random, struct peer *peer)
{
	nfs_argop4 ops[OPERATIONS];
	uint32_t count = 1 + below(random, OPERATIONS);

	for (uint32_t i = 0; i < count; i++)
		ops[i] = some_operation(random);
	if (below(random, 3))
		ops[0] = op_root();
	peer->cache = below(random, 2);
	peer_run(peer, ops, count);
	learn(random, peer);
	if (below(random, 8) == 0)
		peer_again(peer, ops, count);
}

static void
end_client(struct peer *peer)
{
	nfsstat4 status = peer_exchange(peer, peer == peer->world->peers ? "a" : "b", 2, 0);

	assert_int_equal(status, NFS4_OK);
	/* A client that restarts loses its state. */
	assert_int_equal(peer_create_session(peer), NFS4_OK);
}

static void
run(struct world *world, uint64_t seed, uint32_t fail)
{
	struct random random = { .state = seed, .dice = { seed, 300, fail, 3 } };
	struct peer *peers[] = { world_peer(world, 0, "a", 0), world_peer(world, 1, "b", 1000) };

	world->storage_fails = fail > 0;
	random.script = (struct rr_memory_script){ rr_memory_dice, &random.dice };
	rr_memory_steer(world->memory, &random.script);
	for (uint32_t i = 0; i < CALLS; i++)
		call(&random, peers[below(&random, 2)]);
	rr_memory_steer(world->memory, NULL);
	end_client(peers[0]);
	end_client(peers[1]);
	assert_int_equal(world->shared->tables.count, 0);
	assert_int_equal(world->shared->tables.ranges, 0);
	assert_int_equal(world->shared->tables.files.count, 0);
	assert_int_equal(world->shared->tables.owners.count, 0);
}

static uint64_t
seed_of(uint64_t usual)
{
	const char *text = getenv("RPCRDMA_SEED");

	return text ? strtoull(text, NULL, 0) : usual;
}

static void
random_operations(void **state)
{
	run(*state, seed_of(1), 0);
}

static void
random_operations_on_storage_that_fails(void **state)
{
	run(*state, seed_of(2), 50);
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, world_setup_memory, world_teardown)
	const struct CMUnitTest tests[] = {
		TEST(random_operations),
		TEST(random_operations_on_storage_that_fails),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
