/* SPDX-License-Identifier: BSD-3-Clause */
/* COMPOUND and sessions over a connection: RFC 8881, sections 2.10.6, 15 and 16.2. */
#include "server/nfs4/args.h"
#include "world.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "rpc/server_private.h"
#include "server/nfs4/server_private.h"

static void
another_minor_version_is_refused_without_a_result(void **state)
{
	struct peer *peer = world_peer(*state, 0, "a", 0);

	peer->minor = 0;
	assert_int_equal(RUN(peer, op_root()), NFS4ERR_MINOR_VERS_MISMATCH);
	assert_int_equal(peer->res.resarray.count, 0);
	peer->minor = 3;
	assert_int_equal(RUN(peer, op_root()), NFS4ERR_MINOR_VERS_MISMATCH);
}

static void
operations_have_their_place(void **state)
{
	struct peer *peer = world_peer(*state, 0, "a", 0);
	nfs_argop4 root = op_root(), two[2] = { { .argop = OP_DESTROY_CLIENTID }, op_root() };
	const nfs_argop4 bind = { .argop = OP_BIND_CONN_TO_SESSION,
		.u.opbind_conn_to_session.bctsa_dir = CDFC4_FORE };

	assert_int_equal(peer_raw(peer, NULL, 0), NFS4_OK);
	assert_int_equal(peer_raw(peer, &root, 1), NFS4ERR_OP_NOT_IN_SESSION);
	assert_int_equal(peer_raw(peer, two, 2), NFS4ERR_NOT_ONLY_OP);
	assert_int_equal(RUN(peer, op_plain(OP_SEQUENCE)), NFS4ERR_SEQUENCE_POS);
	assert_int_equal(RUN(peer, bind), NFS4ERR_NOT_ONLY_OP);
	assert_int_equal(RUN(peer, op_plain(OP_GETFH)), NFS4ERR_NOFILEHANDLE);
	assert_int_equal(RUN(peer, op_plain(OP_RESTOREFH)), NFS4ERR_NOFILEHANDLE);
	assert_int_equal(RUN(peer, op_plain(OP_RENEW)), NFS4ERR_NOTSUPP);
	assert_int_equal(RUN(peer, op_root(), op_plain(OP_OPENATTR)), NFS4ERR_NOTSUPP);
	peer->minor = 1;
	assert_int_equal(RUN(peer, op_root(), op_plain(OP_SEEK)), NFS4ERR_OP_ILLEGAL);
	assert_int_equal(peer->res.resarray.values[2].resop, OP_ILLEGAL);
}

static void
a_client_lives_and_ends(void **state)
{
	struct peer *peer = world_peer(*state, 0, "a", 0);
	nfs_argop4 op = { .argop = OP_DESTROY_CLIENTID, .u.opdestroy_clientid.dca_clientid = peer->clientid };

	assert_int_equal(RUN(peer, op_plain(OP_RECLAIM_COMPLETE)), NFS4ERR_COMPLETE_ALREADY);
	assert_int_equal(peer_raw(peer, &op, 1), NFS4ERR_CLIENTID_BUSY);
	assert_int_equal(RUN(peer, op), NFS4ERR_CLIENTID_BUSY);
	op.argop = OP_DESTROY_SESSION;
	memcpy(op.u.opdestroy_session.dsa_sessionid, peer->session, sizeof(peer->session));
	assert_int_equal(peer_raw(peer, &op, 1), NFS4_OK);
	assert_int_equal(peer_raw(peer, &op, 1), NFS4ERR_BADSESSION);
	assert_int_equal(RUN(peer, op_root()), NFS4ERR_BADSESSION);
	op = (nfs_argop4){ .argop = OP_DESTROY_CLIENTID,
		.u.opdestroy_clientid.dca_clientid = peer->clientid };
	assert_int_equal(peer_raw(peer, &op, 1), NFS4_OK);
	assert_int_equal(peer_raw(peer, &op, 1), NFS4ERR_STALE_CLIENTID);
}

/* 2.10.6.1.3 */
static void
a_retry_gets_the_cached_answer(void **state)
{
	struct peer *peer = world_peer(*state, 0, "a", 0);
	const nfs_argop4 make[] = { op_root(), op_create(NF4DIR, "dir", NULL), op_plain(OP_GETFH) };
	const nfs_argop4 look[] = { op_root(), op_plain(OP_GETFH) };
	uint8_t handle[NFS4_FHSIZE];

	peer->cache = true;
	assert_int_equal(peer_run(peer, make, 3), NFS4_OK);
	memcpy(handle, peer_res(peer, 2)->u.opgetfh.u.resok4.object.data,
		peer_res(peer, 2)->u.opgetfh.u.resok4.object.length);
	assert_int_equal(peer_again(peer, make, 3), NFS4_OK);
	assert_memory_equal(handle, peer_res(peer, 2)->u.opgetfh.u.resok4.object.data,
		peer_res(peer, 2)->u.opgetfh.u.resok4.object.length);
	assert_int_equal(peer_again(peer, look, 2), NFS4ERR_SEQ_FALSE_RETRY);
	assert_int_equal(peer_run(peer, make, 3), NFS4ERR_EXIST);
	assert_int_equal(peer_again(peer, make, 3), NFS4ERR_EXIST);
	peer->cache = false;
	assert_int_equal(peer_run(peer, look, 2), NFS4_OK);
	assert_int_equal(peer_again(peer, look, 2), NFS4ERR_RETRY_UNCACHED_REP);
	assert_int_equal(peer->res.resarray.count, 2);
	assert_int_equal(peer_run(peer, NULL, 0), NFS4_OK);
	assert_int_equal(peer_again(peer, NULL, 0), NFS4_OK);
}

/* 2.10.6.4 */
static void
sizes_of_a_session_are_kept(void **state)
{
	static const channel_attrs4 small = { .ca_maxrequestsize = 512,
		.ca_maxresponsesize = 400,
		.ca_maxresponsesize_cached = 80,
		.ca_maxoperations = 6,
		.ca_maxrequests = 2 };
	struct peer *peer = world_peer(*state, 0, "a", 0);
	uint32_t words[2] = {
		UINT32_C(1) << FATTR4_TYPE | UINT32_C(1) << FATTR4_FSID | UINT32_C(1) << FATTR4_FILEID, 0
	};
	const nfs_argop4 get = { .argop = OP_GETATTR, .u.opgetattr.attr_request = { 1, words } };
	const nfs_argop4 make = op_create(NF4DIR, "dir", NULL);
	char name[201];

	memset(name, 'x', 200);
	name[200] = 0;
	peer->fore = &small;
	assert_int_equal(peer_create_session(peer), NFS4_OK);
	assert_int_equal(RUN(peer, op_root(), get, get, get, get), NFS4_OK);
	assert_int_equal(RUN(peer, op_root(), get, get, get, get, get), NFS4ERR_TOO_MANY_OPS);
	assert_int_equal(RUN(peer, op_root(), op_lookup(name), op_lookup(name)), NFS4ERR_REQ_TOO_BIG);
	words[0] |= UINT32_C(1) << FATTR4_FILEHANDLE | UINT32_C(1) << FATTR4_SUPPORTED_ATTRS;
	assert_int_equal(RUN(peer, op_root(), get, get, get, get), NFS4ERR_REP_TOO_BIG);
	peer->cache = true;
	/* The directory is not made when the answer could not be kept. */
	assert_int_equal(RUN(peer, op_root(), make), NFS4ERR_REP_TOO_BIG_TO_CACHE);
	peer->cache = false;
	assert_int_equal(RUN(peer, op_root(), op_lookup("dir")), NFS4ERR_NOENT);
	assert_int_equal(RUN(peer, op_root(), make), NFS4_OK);
}

/* 2.10.6.4: a reply within ca_maxresponsesize comes, whatever it is made of. */
static void
a_reply_has_the_data_of_many_reads(void **state)
{
	enum { READS = 9, OCTETS = 30000 };
	static const channel_attrs4 large = { .ca_maxrequestsize = 65536,
		.ca_maxresponsesize = 1 << 19,
		.ca_maxresponsesize_cached = 4096,
		.ca_maxoperations = WORLD_OPS,
		.ca_maxrequests = 2 };
	struct world *world = *state;
	struct peer *peer = world_peer(world, 0, "a", 0);
	nfs_argop4 ops[READS + 2] = { op_root(), op_lookup("file") };
	char path[STAGE_PATH + 8];

	assert_int_equal(
		RUN(peer, op_root(), op_open("file", "o", OPEN4_SHARE_ACCESS_BOTH, 0, true)), NFS4_OK);
	snprintf(path, sizeof(path), "%s/file", world->path);
	assert_int_equal(truncate(path, OCTETS), 0);
	peer->fore = &large;
	assert_int_equal(peer_create_session(peer), NFS4_OK);
	for (uint32_t i = 0; i < READS; i++)
		ops[2 + i] = op_read(&stateid_anonymous, 0, OCTETS);
	assert_int_equal(peer_run(peer, ops, READS + 2), NFS4_OK);
	for (uint32_t i = 0; i < READS; i++)
		assert_int_equal(peer_res(peer, 2 + i)->u.opread.u.resok4.data.length, OCTETS);
}

/* 15.1.3.6: NFS4ERR_REP_TOO_BIG, as a client that waits and tries again would not get more. */
static void
reads_of_more_than_a_compound_may_have_are_too_big(void **state)
{
	static const channel_attrs4 large = { .ca_maxrequestsize = 65536,
		.ca_maxresponsesize = 5 << 18,
		.ca_maxresponsesize_cached = 4096,
		.ca_maxoperations = WORLD_OPS,
		.ca_maxrequests = 2 };
	struct world *world = *state;
	struct peer *peer = world_peer(world, 0, "a", 0);
	const nfs_argop4 file = op_lookup("file"), read = op_read(&stateid_anonymous, 0, 1 << 20);
	char path[STAGE_PATH + 8];

	assert_int_equal(
		RUN(peer, op_root(), op_open("file", "o", OPEN4_SHARE_ACCESS_BOTH, 0, true)), NFS4_OK);
	snprintf(path, sizeof(path), "%s/file", world->path);
	assert_int_equal(truncate(path, 1 << 20), 0);
	peer->fore = &large;
	assert_int_equal(peer_create_session(peer), NFS4_OK);
	assert_int_equal(RUN(peer, op_root(), file, read, read), NFS4ERR_REP_TOO_BIG);
	assert_int_equal(peer_res(peer, 2)->u.opread.u.resok4.data.length, 1 << 20);
	assert_int_equal(RUN(peer, op_root(), file, read), NFS4_OK);
}

/* 16.2.4 */
static void
a_tag_is_utf8(void **state)
{
	static const char *const bad[] = { "\xc0\xc1", "\xe0\x8a", "\xc0\xaf", "\xed\xa0\x80", "\x80", "\xff",
		"\xdf ", "\xf5\x80\x80\x80" };
	static const char *const good[] = { "", "tag", "\xc3\xa4", "\xe2\x82\xac", "\xf0\x9f\x98\x80" };
	struct peer *peer = world_peer(*state, 0, "a", 0);

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		peer->tag = bad[i];
		assert_int_equal(peer_raw(peer, NULL, 0), NFS4ERR_INVAL);
		assert_int_equal(RUN(peer, op_root()), NFS4ERR_INVAL);
		assert_int_equal(peer->res.resarray.count, 0);
		peer->sequence--;
	}
	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
		peer->tag = good[i];
		assert_int_equal(RUN(peer, op_root()), NFS4_OK);
	}
}

/* The reply has the tag again: what a client can have the server send and keep has a bound. */
static void
a_tag_has_a_bound(void **state)
{
	static uint8_t call[RR_NFS4_TAG_MAX + 64], tag[RR_NFS4_TAG_MAX + 4];

	(void)state;
	for (uint32_t length = RR_NFS4_TAG_MAX; length <= RR_NFS4_TAG_MAX + 1; length++) {
		const COMPOUND4args sent = { .tag = { tag, length }, .minorversion = 1 };
		struct rpcrdma_arena arena = rpcrdma_arena(call + 1, 0);
		struct rpcrdma_xdr_writer writer;
		struct rpcrdma_xdr_reader reader;
		struct rpcrdma_message message;
		struct rr_nfs4_args args = { 0 };

		rpcrdma_xdr_writer_init(&writer, call, sizeof(call), NULL, 0);
		nfs42_put_COMPOUND4args(&writer, &sent);
		message = rpcrdma_xdr_written(&writer);
		rpcrdma_xdr_reader_init(&reader, &message, &arena);
		rr_nfs4_get_args(&reader, &args);
		assert_int_equal(rpcrdma_xdr_done(&reader), length == RR_NFS4_TAG_MAX);
	}
}

/* 2.10.6.1.3: "a replier MUST always cache the reply" of a SEQUENCE alone; it is made anew, with the tag of
 * the retry. */
static void
a_retry_of_a_lone_sequence_gets_its_result(void **state)
{
	struct peer *peer = world_peer(*state, 0, "a", 0);
	SEQUENCE4resok first;

	peer->tag = "first";
	assert_int_equal(peer_run(peer, NULL, 0), NFS4_OK);
	first = peer->res.resarray.values[0].u.opsequence.u.sr_resok4;
	peer->sequence--;
	assert_int_equal(peer_run(peer, NULL, 0), NFS4_OK);
	assert_int_equal(peer->res.resarray.count, 1);
	assert_memory_equal(&peer->res.resarray.values[0].u.opsequence.u.sr_resok4, &first, sizeof(first));
}

/* 18.36.3 */
static void
a_session_that_could_carry_nothing_is_not_made(void **state)
{
	static const channel_attrs4 usual = { 0, 8192, 8192, 8192, 128, 8, { 0, NULL } };
	struct peer *peer = world_peer(*state, 0, "a", 0);
	channel_attrs4 small = usual;

	peer->fore = &small;
	small.ca_maxrequestsize = 20;
	assert_int_equal(peer_create_session(peer), NFS4ERR_TOOSMALL);
	peer->create_sequence++;
	small = usual;
	small.ca_maxresponsesize = 0;
	assert_int_equal(peer_create_session(peer), NFS4ERR_TOOSMALL);
	peer->create_sequence++;
	small = usual;
	peer->back = &small;
	peer->fore = &usual;
	small.ca_maxrequestsize = 10;
	assert_int_equal(peer_create_session(peer), NFS4ERR_TOOSMALL);
	/* The same call again is a retry, and gets the same answer. A call with other sizes is a new one. */
	assert_int_equal(peer_create_session(peer), NFS4ERR_TOOSMALL);
	small = usual;
	assert_int_equal(peer_create_session(peer), NFS4_OK);
}

/* 2.10.6.4: when not even the result of SEQUENCE can be kept, SEQUENCE itself fails. */
static void
a_reply_that_cannot_be_cached_is_refused_by_sequence(void **state)
{
	static const channel_attrs4 small = { 0, 8192, 8192, 10, 128, 8, { 0, NULL } };
	struct peer *peer = world_peer(*state, 0, "a", 0);

	peer->fore = &small;
	assert_int_equal(peer_create_session(peer), NFS4_OK);
	peer->cache = true;
	assert_int_equal(peer_run(peer, NULL, 0), NFS4ERR_REP_TOO_BIG_TO_CACHE);
	assert_int_equal(peer->res.resarray.count, 1);
	peer->cache = false;
	assert_int_equal(peer_run(peer, NULL, 0), NFS4_OK);
}

/* 18.35.4 */
static void
an_unconfirmed_client_goes_after_a_lease(void **state)
{
	struct world *world = *state;
	struct peer *peer = world_peer(world, 0, "a", 0), *other = &world->peers[1];

	other->world = world;
	other->minor = 2;
	peer_connect(other, 0);
	assert_int_equal(peer_exchange(other, "b", 1, 0), NFS4_OK);
	world->stage.now += 91 * RR_SECOND;
	assert_int_equal(peer_create_session(other), NFS4ERR_STALE_CLIENTID);
	(void)peer;
}

/* 18.47.3; RFC 7862, 15.8 and 15.9 */
static void
what_no_client_has_cannot_be_used(void **state)
{
	struct peer *peer = world_peer(*state, 0, "a", 0);
	nfs_argop4 ssv = { .argop = OP_SET_SSV, .u.opset_ssv = { text_bytes("x"), text_bytes("y") } };

	assert_int_equal(RUN(peer, ssv), NFS4ERR_INVAL);
	assert_int_equal(RUN(peer, op_root(), op_plain(OP_OFFLOAD_STATUS)), NFS4ERR_BAD_STATEID);
	assert_int_equal(RUN(peer, op_root(), op_plain(OP_OFFLOAD_CANCEL)), NFS4ERR_BAD_STATEID);
	assert_int_equal(RUN(peer, op_plain(OP_OFFLOAD_STATUS)), NFS4ERR_BAD_STATEID);
	assert_int_equal(RUN(peer, op_plain(OP_OFFLOAD_CANCEL)), NFS4ERR_BAD_STATEID);
}

static void
hold_getattr(void *ctx, enum rr_vfs_operation operation, const struct rr_vfs_call *call,
	struct rr_memory_fate *fate)
{
	(void)ctx, (void)call;
	fate->held = operation == RR_VFS_OP_GETATTR;
}

static int
under_way(const struct world *world)
{
	int count = 0;

	rr_list_for_each (link, &world->nfs4->compounds)
		count++;
	return count;
}

/* 2.10.6.2: a retry, over another connection, of a call that is under way gets that call's answer. */
static void
a_retry_waits_for_the_call_that_it_repeats(void **state)
{
	static const struct rr_memory_script script = { hold_getattr, NULL };
	struct world *world = *state;
	struct peer *peer = world_peer(world, 0, "a", 0), *again = &world->peers[1];
	struct started first, retry;
	uint8_t copy[NFS4_FHSIZE];
	nfs_argop4 op;

	assert_int_equal(RUN(peer, op_root(), op_plain(OP_GETFH)), NFS4_OK);
	op = op_putfh(peer_res(peer, 1)->u.opgetfh.u.resok4.object);
	memcpy(copy, op.u.opputfh.object.data, op.u.opputfh.object.length);
	op.u.opputfh.object.data = copy;
	peer->sequence++;
	peer->cache = true;
	*again = (struct peer){ .world = world, .minor = 2, .sequence = peer->sequence, .cache = true };
	memcpy(again->session, peer->session, sizeof(peer->session));
	peer_connect(again, 0);
	rr_memory_steer(world->memory, &script);
	peer_start(peer, &op, &first);
	while (rr_memory_held(world->memory) == 0)
		rr_loop_turn(world->stage.engine->loop, -1);
	peer_start(again, &op, &retry);
	while (!retry.done && under_way(world) < 2)
		rr_loop_turn(world->stage.engine->loop, -1);
	assert_false(retry.done);
	rr_memory_release(world->memory);
	while (!first.done || !retry.done)
		rr_loop_turn(world->stage.engine->loop, -1);
	assert_int_equal(peer->res.status, NFS4_OK);
	assert_int_equal(again->res.status, NFS4_OK);
	assert_int_equal(again->res.resarray.count, 2);
}

/* Sends a COMPOUND of a SEQUENCE and these operations, none of which waits for storage, and returns whether
 * the server paused in it. */
static bool
pauses_in(struct peer *peer, const nfs_argop4 *ops, uint32_t count)
{
	struct world *world = peer->world;
	struct started started;
	bool paused = false;

	peer->sequence++;
	for (peer_start_all(peer, ops, count, &started); !started.done; paused |= under_way(world) > 0)
		rr_loop_turn(world->stage.engine->loop, -1);
	assert_int_equal(peer->res.status, NFS4_OK);
	assert_int_equal(peer->res.resarray.count, count + 1);
	return paused;
}

/* A COMPOUND that takes longer than a turn of the loop pauses. */
static void
a_long_compound_pauses(void **state)
{
	enum { MANY = WORLD_OPS - 2 };
	struct world *world = *state;
	struct peer *peer = world_peer(world, 0, "a", 0);
	nfs_argop4 many[MANY] = { op_root() };

	for (int i = 1; i < MANY; i++)
		many[i] = op_plain(OP_ACCESS);
	assert_false(pauses_in(peer, many, MANY));
	world->stage.step = RR_SERVER_TURN;
	assert_true(pauses_in(peer, many, MANY));
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)
	const struct CMUnitTest tests[] = {
		TEST(another_minor_version_is_refused_without_a_result),
		TEST(operations_have_their_place),
		TEST(a_client_lives_and_ends),
		TEST(a_retry_gets_the_cached_answer),
		TEST(sizes_of_a_session_are_kept),
		TEST(a_reply_has_the_data_of_many_reads),
		TEST(reads_of_more_than_a_compound_may_have_are_too_big),
		TEST(a_tag_is_utf8),
		TEST(a_tag_has_a_bound),
		TEST(a_retry_of_a_lone_sequence_gets_its_result),
		TEST(a_session_that_could_carry_nothing_is_not_made),
		TEST(a_reply_that_cannot_be_cached_is_refused_by_sequence),
		TEST(an_unconfirmed_client_goes_after_a_lease),
		TEST(what_no_client_has_cannot_be_used),
		cmocka_unit_test_setup_teardown(
			a_retry_waits_for_the_call_that_it_repeats, world_setup_memory, world_teardown),
		cmocka_unit_test_setup_teardown(a_long_compound_pauses, world_setup_memory, world_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
