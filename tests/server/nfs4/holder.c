/* SPDX-License-Identifier: BSD-3-Clause */
#include "holder.h"

const stateid4 *
holder_opened(const struct peer *peer, uint32_t index)
{
	return &peer_res(peer, index)->u.opopen.u.resok4.stateid;
}

const open_delegation4 *
holder_given(const struct peer *peer, uint32_t index)
{
	return &peer_res(peer, index)->u.opopen.u.resok4.delegation;
}

struct peer *
holder_caller(struct world *world, uint32_t number, const char *name)
{
	struct peer *peer = world_caller(world, number, name, 0);

	world_wait(world, &peer->answers.nulls, 1);
	while (peer_flags(peer) != 0)
		RUN(peer, op_root());
	RUN(peer, op_root());
	return peer;
}

void
holder_make_file(struct peer *peer, const char *name)
{
	stateid4 stateid;

	assert_int_equal(RUN(peer, op_root(), op_open(name, "maker", WRITE, 0, true)), NFS4_OK);
	stateid = *holder_opened(peer, 1);
	assert_int_equal(RUN(peer, op_root(), op_lookup(name), op_close(&stateid)), NFS4_OK);
}

struct held
holder_hold(struct world *world)
{
	struct held held = { holder_caller(world, 0, "holder"), world_peer(world, 1, "other", 0), { 0 } };
	stateid4 open;

	holder_make_file(held.holder, "file");
	holder_make_file(held.holder, "target");
	assert_int_equal(RUN(held.holder, op_root(), op_open("file", "o", READ, 0, false)), NFS4_OK);
	assert_int_equal(holder_given(held.holder, 1)->delegation_type, OPEN_DELEGATE_READ);
	assert_false(holder_given(held.holder, 1)->u.read.recall);
	held.stateid = holder_given(held.holder, 1)->u.read.stateid;
	open = *holder_opened(held.holder, 1);
	assert_int_equal(RUN(held.holder, op_root(), op_lookup("file"), op_close(&open)), NFS4_OK);
	return held;
}

nfs_argop4
op_delegreturn(const stateid4 *stateid)
{
	return (nfs_argop4){ .argop = OP_DELEGRETURN, .u.opdelegreturn.deleg_stateid = *stateid };
}

nfsstat4
holder_give_back(const struct held *held, const char *name)
{
	return RUN(held->holder, op_root(), op_lookup(name), op_delegreturn(&held->stateid));
}

void
holder_expect_recall(struct world *world, const struct held *held)
{
	const struct answers *answers = &held->holder->answers;
	const CB_RECALL4args *args;

	world_wait(world, &answers->compounds, 1);
	args = &answers->ops[0].u.opcbrecall;
	assert_int_equal(answers->ops[0].argop, OP_CB_RECALL);
	assert_int_equal(answers->minor, held->holder->minor);
	assert_memory_equal(&args->stateid, &held->stateid, sizeof(args->stateid));
	assert_false(args->truncate);
}

void
holder_cause_recall(struct world *world, const struct held *held)
{
	assert_int_equal(RUN(held->other, op_root(), op_open("file", "o", WRITE, 0, false)), NFS4ERR_DELAY);
	holder_expect_recall(world, held);
}
