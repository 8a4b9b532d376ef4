/* SPDX-License-Identifier: BSD-3-Clause */
/* Clients that have no right to an export, or no right to change it. */
#include <string.h>

#include "../gate.h"
#include "world.h"

/* Changes the rules of both exports while the server runs. NULL: nobody may use that export. */
static void
rules(struct world *world, const char *first, const char *second)
{
	const char *const texts[] = { first, second };
	struct rr_rules *made;
	struct rr_text why;

	assert_int_equal(rr_rules_new(&rr_env_system, 2, &made), 0);
	for (uint32_t i = 0; i < 2; i++)
		if (texts[i] && rr_rules_add(made, i, texts[i], &rr_right_default, &why) < 0)
			fail_msg("%s", why.text);
	rr_gate_take(&world->gate, made);
	rr_rules_release(made);
}

static struct rpcrdma_bytes
handle_copy(const struct peer *peer, uint32_t index, uint8_t copy[NFS4_FHSIZE])
{
	struct rpcrdma_bytes handle = peer_res(peer, index)->u.opgetfh.u.resok4.object;

	memcpy(copy, handle.data, handle.length);
	return (struct rpcrdma_bytes){ copy, handle.length };
}

static void
a_handle_that_was_got_before_gives_nothing_any_more(void **state)
{
	struct world *world = *state;
	struct peer *peer = world_peer(world, 0, "a", 0);
	struct rpcrdma_bytes file;
	uint8_t copy[NFS4_FHSIZE];
	stateid4 stateid;

	assert_int_equal(
		RUN(peer, op_root(), op_lookup("a"),
			op_open("file", "owner", OPEN4_SHARE_ACCESS_BOTH, 0, true), op_plain(OP_GETFH)),
		NFS4_OK);
	file = handle_copy(peer, 3, copy);
	stateid = peer_res(peer, 2)->u.opopen.u.resok4.stateid;
	rules(world, "192.0.2.1(rw)", "*(rw,insecure)");
	assert_int_equal(RUN(peer, op_putfh(file), op_plain(OP_GETATTR)), NFS4ERR_ACCESS);
	assert_int_equal(RUN(peer, op_putfh(file), op_read(&stateid, 0, 1)), NFS4ERR_ACCESS);
	assert_int_equal(RUN(peer, op_putfh(file), op_write(&stateid, 0, "x")), NFS4ERR_ACCESS);
	/* The client has no right to "a": the LOOKUP answers as if there were no such name. */
	assert_int_equal(RUN(peer, op_root(), op_lookup("a")), NFS4ERR_NOENT);
	assert_int_equal(RUN(peer, op_root(), op_lookup("deep"), op_lookup("b")), NFS4_OK);
}

/* The open was made when writing was allowed. */
static void
who_may_only_read_from_now_on_does_not_write_by_an_open(void **state)
{
	struct world *world = *state;
	struct peer *peer = world_peer(world, 0, "a", 0);
	struct rpcrdma_bytes file;
	uint8_t copy[NFS4_FHSIZE];
	stateid4 stateid;

	assert_int_equal(
		RUN(peer, op_root(), op_lookup("a"),
			op_open("file", "owner", OPEN4_SHARE_ACCESS_BOTH, 0, true), op_plain(OP_GETFH)),
		NFS4_OK);
	file = handle_copy(peer, 3, copy);
	stateid = peer_res(peer, 2)->u.opopen.u.resok4.stateid;
	assert_int_equal(RUN(peer, op_putfh(file), op_write(&stateid, 0, "text")), NFS4_OK);
	rules(world, "*(ro,insecure)", NULL);
	assert_int_equal(RUN(peer, op_putfh(file), op_write(&stateid, 0, "x")), NFS4ERR_ROFS);
	assert_int_equal(RUN(peer, op_putfh(file), op_read(&stateid, 0, 9)), NFS4_OK);
	assert_memory_equal(peer_res(peer, 1)->u.opread.u.resok4.data.data, "text", 4);
}

static nfs_argop4
op_secinfo(const char *name)
{
	return (nfs_argop4){ .argop = OP_SECINFO, .u.opsecinfo.name = text_bytes(name) };
}

/* Returns the number of the last operation in the answer. */
static nfs_opnum4
last_op(const struct peer *peer)
{
	return peer->res.resarray.values[peer->res.resarray.count - 1].resop;
}

/* Connects a client with AUTH_SYS, opens a file, and then changes the rule of the export to AUTH_NONE alone.
 * Gives the handle of the file. */
static struct peer *
wrong_flavor(struct world *world, struct rpcrdma_bytes *file, uint8_t copy[NFS4_FHSIZE])
{
	struct peer *peer = world_peer(world, 0, "a", 0);

	assert_int_equal(
		RUN(peer, op_root(), op_lookup("a"),
			op_open("file", "owner", OPEN4_SHARE_ACCESS_READ, 0, true), op_plain(OP_GETFH)),
		NFS4_OK);
	*file = handle_copy(peer, 3, copy);
	rules(world, "*(rw,insecure,sec=none)", "*(rw,insecure,sec=sys)");
	return peer;
}

/* 2.6.3.1.1.7: "the put filehandle operation MUST return NFS4ERR_WRONGSEC when there is a security tuple
 * mismatch. This avoids the complexity of adding NFS4ERR_WRONGSEC as an allowable error to every other
 * operation." 2.6.3.1.1.3: "Instead, it should be returned from the LOOKUP". */
static void
a_flavor_that_the_rule_does_not_name_is_refused(void **state)
{
	nfs_argop4 by_handle = op_open("", "owner", OPEN4_SHARE_ACCESS_READ, 0, false);
	struct rpcrdma_bytes file;
	uint8_t copy[NFS4_FHSIZE];
	struct peer *peer = wrong_flavor(*state, &file, copy);

	by_handle.u.opopen.claim.claim = CLAIM_FH;
	assert_int_equal(RUN(peer, op_root(), op_lookup("a"), op_plain(OP_GETATTR)), NFS4ERR_WRONGSEC);
	assert_int_equal(last_op(peer), OP_LOOKUP);
	assert_int_equal(RUN(peer, op_putfh(file), op_plain(OP_GETATTR)), NFS4ERR_WRONGSEC);
	assert_int_equal(last_op(peer), OP_PUTFH);
	assert_int_equal(RUN(peer, op_putfh(file), by_handle), NFS4ERR_WRONGSEC);
	assert_int_equal(last_op(peer), OP_PUTFH);
	assert_int_equal(
		RUN(peer, op_putfh(file), op_plain(OP_SAVEFH), op_plain(OP_GETFH)), NFS4ERR_WRONGSEC);
	assert_int_equal(last_op(peer), OP_PUTFH);
	assert_int_equal(RUN(peer, op_putfh(file), op_plain(OP_SAVEFH), op_root(), op_plain(OP_RESTOREFH),
				 op_plain(OP_GETATTR)),
		NFS4ERR_WRONGSEC);
	assert_int_equal(last_op(peer), OP_RESTOREFH);
}

/* 2.6.3.1.1.2 to 2.6.3.1.1.6 */
static void
putting_a_filehandle_leaves_a_wrong_flavor_to_what_follows(void **state)
{
	struct rpcrdma_bytes file;
	uint8_t copy[NFS4_FHSIZE];
	struct peer *peer = wrong_flavor(*state, &file, copy);

	assert_int_equal(RUN(peer, op_putfh(file)), NFS4_OK);
	assert_int_equal(RUN(peer, op_putfh(file), op_plain(OP_SAVEFH)), NFS4_OK);
	assert_int_equal(RUN(peer, op_putfh(file), op_root(), op_plain(OP_GETATTR)), NFS4_OK);
	assert_int_equal(RUN(peer, op_putfh(file), op_plain(OP_SECINFO_NO_NAME)), NFS4_OK);
	assert_int_equal(RUN(peer, op_putfh(file), op_lookup("name")), NFS4ERR_WRONGSEC);
	assert_int_equal(last_op(peer), OP_LOOKUP);
	assert_int_equal(RUN(peer, op_putfh(file), op_plain(OP_LOOKUPP)), NFS4ERR_WRONGSEC);
	assert_int_equal(last_op(peer), OP_LOOKUPP);
	assert_int_equal(
		RUN(peer, op_putfh(file), op_open("name", "owner", OPEN4_SHARE_ACCESS_READ, 0, false)),
		NFS4ERR_WRONGSEC);
	assert_int_equal(last_op(peer), OP_OPEN);
}

static void
assert_flavors(const struct peer *peer, uint32_t index, uint32_t first, uint32_t count)
{
	const SECINFO4resok *ok = &peer_res(peer, index)->u.opsecinfo.u.resok4;

	assert_int_equal(ok->count, count);
	assert_int_equal(ok->values[0].flavor, first);
}

/* 18.29.3: "a list of valid RPC authentication flavors for a specific directory filehandle, file name pair"
 */
static void
an_export_says_which_flavors_it_may_be_used_with(void **state)
{
	struct rpcrdma_bytes file;
	uint8_t copy[NFS4_FHSIZE];
	struct peer *peer = wrong_flavor(*state, &file, copy);

	assert_int_equal(RUN(peer, op_root(), op_secinfo("a")), NFS4_OK);
	assert_flavors(peer, 1, AUTH_NONE, 1);
	assert_int_equal(RUN(peer, op_root(), op_lookup("deep"), op_secinfo("b")), NFS4_OK);
	assert_flavors(peer, 2, AUTH_SYS, 1);
	assert_int_equal(RUN(peer, op_putfh(file), op_plain(OP_SECINFO_NO_NAME)), NFS4_OK);
	assert_flavors(peer, 1, AUTH_NONE, 1);
	assert_int_equal(RUN(peer, op_root(), op_plain(OP_SECINFO_NO_NAME)), NFS4_OK);
	assert_flavors(peer, 1, AUTH_SYS, 2);
	rules(*state, "*(rw,insecure,sec=sys:none)", NULL);
	assert_int_equal(RUN(peer, op_root(), op_secinfo("a")), NFS4_OK);
	assert_flavors(peer, 1, AUTH_SYS, 2);
}

static void
handles_of_two_exports_in_one_call_are_both_looked_at(void **state)
{
	struct world *world = *state;
	struct peer *peer = world_peer(world, 0, "a", 0);
	struct rpcrdma_bytes a, b;
	uint8_t copies[2][NFS4_FHSIZE];

	assert_int_equal(RUN(peer, op_root(), op_lookup("a"), op_plain(OP_GETFH)), NFS4_OK);
	a = handle_copy(peer, 2, copies[0]);
	assert_int_equal(
		RUN(peer, op_root(), op_lookup("deep"), op_lookup("b"), op_plain(OP_GETFH)), NFS4_OK);
	b = handle_copy(peer, 3, copies[1]);
	rules(world, NULL, "*(rw,insecure)");
	assert_int_equal(RUN(peer, op_putfh(a), op_plain(OP_SAVEFH), op_putfh(b), op_plain(OP_RESTOREFH),
				 op_plain(OP_GETATTR)),
		NFS4ERR_ACCESS);
	assert_int_equal(RUN(peer, op_putfh(a), op_plain(OP_SAVEFH), op_putfh(b), op_rename("file", "new")),
		NFS4ERR_ACCESS);
	assert_int_equal(RUN(peer, op_putfh(b), op_plain(OP_SAVEFH), op_putfh(a), op_rename("file", "new")),
		NFS4ERR_ACCESS);
	assert_int_equal(RUN(peer, op_putfh(b), op_plain(OP_GETATTR)), NFS4_OK);
}

#define two_exports(function)                                                                                \
	cmocka_unit_test_setup_teardown(function, world_setup_two_exports, world_teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		two_exports(a_handle_that_was_got_before_gives_nothing_any_more),
		two_exports(who_may_only_read_from_now_on_does_not_write_by_an_open),
		two_exports(a_flavor_that_the_rule_does_not_name_is_refused),
		two_exports(putting_a_filehandle_leaves_a_wrong_flavor_to_what_follows),
		two_exports(an_export_says_which_flavors_it_may_be_used_with),
		two_exports(handles_of_two_exports_in_one_call_are_both_looked_at),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
