/* SPDX-License-Identifier: BSD-3-Clause */
/* Clients of version 4.0 over the loopback: RFC 7530, sections 9.1, 9.5, 16.29, 16.33 and 16.34. */
#include "plain.h"

#include <string.h>

#include "server/nfs4/compound.h"

enum { R = OPEN4_SHARE_ACCESS_READ, W = OPEN4_SHARE_ACCESS_WRITE, RW = OPEN4_SHARE_ACCESS_BOTH };

#define LEASE (90 * RR_SECOND)

/* Tells whether a client ID is that of a confirmed client whose lease has not been taken away. */
static nfsstat4
renew(struct peer *peer, clientid4 id)
{
	return PLAIN(peer, plain_renew(id));
}

/* 16.33.5, the last case: "The server has no confirmed { *, x, *, *, * } for x." */
static void
an_unconfirmed_record_is_replaced(void **state)
{
	struct peer *peer = plain_connect(*state, 0, 0);
	verifier4 first, second;
	clientid4 id;

	assert_int_equal(plain_setclientid(peer, "x", 1, first), NFS4_OK);
	id = peer->clientid;
	assert_int_equal(renew(peer, id), NFS4ERR_STALE_CLIENTID);
	assert_int_equal(plain_setclientid(peer, "x", 1, second), NFS4_OK);
	assert_true(peer->clientid != id);
	assert_memory_not_equal(first, second, sizeof(first));
	assert_int_equal(plain_confirm(peer, id, first), NFS4ERR_STALE_CLIENTID);
	assert_int_equal(plain_confirm(peer, peer->clientid, first), NFS4ERR_STALE_CLIENTID);
	assert_int_equal(plain_confirm(peer, peer->clientid, second), NFS4_OK);
	assert_int_equal(renew(peer, peer->clientid), NFS4_OK);
	/* 16.34.5: "what has likely happened is that the client never got the response" */
	assert_int_equal(plain_confirm(peer, peer->clientid, second), NFS4_OK);
}

/* 16.33.5, the second case: "the server treats this as a probable callback information update"; 16.34.5: "The
 * server does not remove any relevant leased client state." */
static void
the_same_verifier_changes_the_callback_alone(void **state)
{
	struct plain_owner owner = { "o", 0 };
	struct peer *peer = plain_peer(*state, 0, "x", 0);
	stateid4 stateid = plain_opened(peer, &owner, "file", R);
	clientid4 id = peer->clientid;
	verifier4 first, second;

	assert_int_equal(plain_setclientid(peer, "x", 1, first), NFS4_OK);
	assert_int_equal(peer->clientid, id);
	assert_int_equal(plain_setclientid(peer, "x", 1, second), NFS4_OK);
	assert_int_equal(peer->clientid, id);
	/* "Any pre-existing unconfirmed { v, x, c, *, * } is removed." */
	assert_int_equal(plain_confirm(peer, id, first), NFS4ERR_STALE_CLIENTID);
	assert_int_equal(plain_confirm(peer, id, second), NFS4_OK);
	assert_int_equal(plain_confirm(peer, id, second), NFS4_OK);
	assert_int_equal(PLAIN(peer, op_root(), op_lookup("file"), op_read(&stateid, 0, 1)), NFS4_OK);
}

/* 16.33.5, the third and the fourth case: "records an unconfirmed { v, x, d, k, t }", and "does NOT remove
 * client (lock/share/delegation) state"; 16.34.5: "the server MUST remove client x's relevant leased client
 * state". */
static void
another_verifier_ends_the_state_when_it_is_confirmed(void **state)
{
	struct plain_owner owner = { "o", 0 };
	struct peer *peer = plain_peer(*state, 0, "x", 0);
	stateid4 stateid = plain_opened(peer, &owner, "file", R);
	clientid4 old = peer->clientid, dropped;
	verifier4 first, second;

	assert_int_equal(plain_setclientid(peer, "x", 2, first), NFS4_OK);
	dropped = peer->clientid;
	assert_true(dropped != old);
	assert_int_equal(plain_setclientid(peer, "x", 3, second), NFS4_OK);
	assert_true(peer->clientid != old && peer->clientid != dropped);
	assert_int_equal(plain_confirm(peer, dropped, first), NFS4ERR_STALE_CLIENTID);
	assert_int_equal(PLAIN(peer, op_root(), op_lookup("file"), op_read(&stateid, 0, 1)), NFS4_OK);
	assert_int_equal(plain_confirm(peer, peer->clientid, second), NFS4_OK);
	assert_int_equal(PLAIN(peer, op_root(), op_lookup("file"), op_read(&stateid, 0, 1)), NFS4ERR_EXPIRED);
	assert_int_equal(renew(peer, old), NFS4ERR_EXPIRED);
}

/* 16.33.5: "if the recorded principal does not match that of the SETCLIENTID call, then the server returns an
 * NFS4ERR_CLID_INUSE error", with the address of the client; 16.34.5: the same. */
static void
another_principal_may_not_have_the_owner(void **state)
{
	struct plain_owner owner = { "o", 0 };
	struct peer *peer = plain_peer(*state, 0, "x", 0), *other = plain_connect(*state, 1, 7);
	const clientaddr4 *address;
	verifier4 confirm;

	plain_opened(peer, &owner, "file", R);
	assert_int_equal(plain_setclientid(other, "x", 1, confirm), NFS4ERR_CLID_INUSE);
	address = &plain_res(other, 0)->u.opsetclientid.u.client_using;
	assert_int_equal(address->na_r_netid.length, 3);
	assert_memory_equal(address->na_r_netid.data, "tcp", 3);
	assert_int_equal(address->na_r_addr.length, 13);
	assert_memory_equal(address->na_r_addr.data, "127.0.0.1.8.1", 13);
	/* Nobody else confirms what a client is to confirm. */
	assert_int_equal(plain_setclientid(peer, "x", 2, confirm), NFS4_OK);
	assert_int_equal(plain_confirm(other, peer->clientid, confirm), NFS4ERR_CLID_INUSE);
	assert_int_equal(plain_confirm(peer, peer->clientid, confirm), NFS4_OK);
}

/* A record that holds nothing is in nobody's way, but lives until the new one is confirmed. */
static void
an_empty_record_gives_way_to_another_principal(void **state)
{
	struct peer *peer = plain_peer(*state, 0, "x", 0), *other = plain_connect(*state, 1, 7);
	verifier4 confirm;

	assert_int_equal(plain_setclientid(other, "x", 1, confirm), NFS4_OK);
	assert_int_equal(renew(peer, peer->clientid), NFS4_OK);
	assert_int_equal(plain_confirm(other, other->clientid, confirm), NFS4_OK);
	assert_int_equal(renew(peer, peer->clientid), NFS4ERR_EXPIRED);
}

/* A host that has both versions is two clients, whatever it is named. */
static void
clients_of_both_versions_do_not_meet(void **state)
{
	struct plain_owner owner = { "o", 0 };
	struct peer *plain = plain_peer(*state, 0, "same", 0), *peer = world_peer(*state, 1, "same", 0);
	stateid4 stateid = plain_opened(plain, &owner, "file", R), other;
	nfs_argop4 op = { .argop = OP_DESTROY_CLIENTID,
		.u.opdestroy_clientid.dca_clientid = plain->clientid };

	assert_int_equal(RUN(peer, op_root(), op_open("file", "o", R, 0, false)), NFS4_OK);
	other = peer_res(peer, 1)->u.opopen.u.resok4.stateid;
	assert_int_equal(
		RUN(peer, op_root(), op_lookup("file"), op_read(&stateid, 0, 1)), NFS4ERR_BAD_STATEID);
	assert_int_equal(
		PLAIN(plain, op_root(), op_lookup("file"), op_read(&other, 0, 1)), NFS4ERR_BAD_STATEID);
	assert_int_equal(renew(plain, peer->clientid), NFS4ERR_STALE_CLIENTID);
	assert_int_equal(peer_raw(peer, &op, 1), NFS4ERR_STALE_CLIENTID);
	assert_int_equal(renew(plain, plain->clientid), NFS4_OK);
}

/* 13.1.10.2 and 13.1.5.3: a client ID of another start is stale, one whose client has ended has expired. */
static void
client_ids_are_stale_or_have_expired(void **state)
{
	struct world *world = *state;
	struct peer *peer = plain_peer(world, 0, "x", 0);
	clientid4 id = peer->clientid;

	assert_int_equal(renew(peer, 0), NFS4ERR_STALE_CLIENTID);
	assert_int_equal(renew(peer, id + 1), NFS4ERR_STALE_CLIENTID);
	assert_int_equal(renew(peer, UINT64_MAX), NFS4ERR_STALE_CLIENTID);
	world->stage.now += LEASE + RR_SECOND;
	/* The look at the leases comes with this SETCLIENTID. A client without state has nothing to keep. */
	plain_peer(world, 1, "y", 0);
	assert_int_equal(renew(peer, id), NFS4ERR_EXPIRED);
}

/* 9.5: a valid stateid renews the lease, and special stateids do not; a client that is late keeps its opens
 * until somebody wants what they deny. */
static void
leases_are_renewed_by_stateids(void **state)
{
	struct world *world = *state;
	struct plain_owner owner = { "o", 0 }, other = { "p", 0 };
	struct peer *peer = plain_peer(world, 0, "x", 0), *wants = plain_peer(world, 1, "y", 0);
	struct rr_nfs4_client *client;
	stateid4 stateid;

	plain_opened(peer, &owner, "other", RW);
	plain_opened(wants, &other, "other", RW);
	assert_int_equal(PLAIN(peer, op_root(), plain_open(peer, &owner, "file", RW, R, true)), NFS4_OK);
	stateid = plain_res(peer, 1)->u.opopen.u.resok4.stateid;
	for (int i = 0; i < 3; i++) {
		world->stage.now += LEASE / 2 + RR_SECOND;
		assert_int_equal(
			PLAIN(peer, op_root(), op_lookup("file"), op_write(&stateid, 0, "a")), NFS4_OK);
		assert_int_equal(renew(wants, wants->clientid), NFS4_OK);
	}
	assert_int_equal(PLAIN(wants, op_root(), plain_open(wants, &other, "file", R, 0, false)),
		NFS4ERR_SHARE_DENIED);
	world->stage.now += LEASE / 2 + RR_SECOND;
	assert_int_equal(renew(wants, wants->clientid), NFS4_OK);
	assert_int_equal(
		PLAIN(peer, op_root(), op_lookup("file"), op_read(&stateid_anonymous, 0, 1)), NFS4ERR_LOCKED);
	world->stage.now += LEASE / 2 + RR_SECOND;
	assert_int_equal(renew(wants, wants->clientid), NFS4_OK);
	rr_nfs4_look(&world->shared->tables, rr_now(&world->stage.env));
	/* Its record on the disk is removed first. */
	assert_int_equal(
		rr_nfs4_client_known(&world->shared->tables.clients, peer->clientid, &client), NFS4_OK);
	while (client->phase != RR_NFS4_COURTESY)
		assert_true(rr_loop_turn(world->stage.engine->loop, RR_SECOND) >= 0);
	assert_int_equal(PLAIN(wants, op_root(), plain_open(wants, &other, "file", R, 0, false)), NFS4_OK);
	assert_int_equal(renew(peer, peer->clientid), NFS4ERR_EXPIRED);
	assert_int_equal(PLAIN(peer, op_root(), op_lookup("file"), op_read(&stateid, 0, 1)), NFS4ERR_EXPIRED);
}

/* 9.1.4.3: READ, WRITE and SETATTR without any state are of no client. */
static void
special_stateids_are_of_no_client(void **state)
{
	static uint32_t words[1] = { UINT32_C(1) << FATTR4_SIZE };
	static const uint8_t size[8] = { [7] = 2 };
	const stateid4 bypass = { UINT32_MAX,
		{ 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255 } };
	const nfs_argop4 cut = { .argop = OP_SETATTR,
		.u.opsetattr.obj_attributes = { { 1, words }, { size, sizeof(size) } } };
	struct plain_owner owner = { "o", 0 };
	struct peer *peer = plain_peer(*state, 0, "x", 0);

	plain_opened(peer, &owner, "file", RW);
	assert_int_equal(
		PLAIN(peer, op_root(), op_lookup("file"), op_write(&stateid_anonymous, 0, "text")), NFS4_OK);
	assert_int_equal(PLAIN(peer, op_root(), op_lookup("file"), cut), NFS4_OK);
	assert_int_equal(PLAIN(peer, op_root(), op_lookup("file"), op_read(&bypass, 0, 9)), NFS4_OK);
	assert_int_equal(plain_res(peer, 2)->u.opread.u.resok4.data.length, 2);
	assert_int_equal(PLAIN(peer, op_root(), op_lookup("file"), op_read(&stateid_current, 0, 9)),
		NFS4ERR_BAD_STATEID);
	assert_int_equal(
		PLAIN(peer, op_root(), op_rename("file", "other"), op_remove("other")), NFS4ERR_NOFILEHANDLE);
	assert_int_equal(
		PLAIN(peer, op_root(), op_plain(OP_SAVEFH), op_rename("file", "other"), op_remove("other")),
		NFS4_OK);
}

/* 15.2: what later versions have added is not there. */
static void
later_operations_and_values_are_unknown(void **state)
{
	struct plain_owner owner = { "o", 0 };
	struct peer *peer = plain_peer(*state, 0, "x", 0);
	nfs_argop4 op = plain_open(peer, &owner, "file", R, 0, true);
	const GETATTR4resok *ok;
	uint32_t all[3] = { UINT32_MAX, UINT32_MAX & ~(1u << 16 | 1u << 22), UINT32_MAX };
	const nfs_argop4 getattr = { .argop = OP_GETATTR, .u.opgetattr.attr_request = { 3, all } };

	assert_int_equal(PLAIN(peer, op_root(), op_plain(OP_RECLAIM_COMPLETE)), NFS4ERR_OP_ILLEGAL);
	assert_int_equal(PLAIN(peer, { .argop = OP_SEQUENCE }), NFS4ERR_OP_ILLEGAL);
	op.u.opopen.openhow.u.how =
		(createhow4){ EXCLUSIVE4_1, { .ch_createboth = { { 1 }, { { 0, NULL }, { NULL, 0 } } } } };
	assert_int_equal(PLAIN(peer, op_root(), op), NFS4ERR_BADXDR);
	op = plain_open(peer, &owner, "file", R, 0, false);
	op.u.opopen.claim.claim = CLAIM_FH;
	assert_int_equal(PLAIN(peer, op_root(), op), NFS4ERR_BADXDR);
	op = plain_open(peer, &owner, "file", R, 0, false);
	op.u.opopen.claim =
		(open_claim4){ CLAIM_DELEGATE_PREV, { .file_delegate_prev = text_bytes("file") } };
	assert_int_equal(PLAIN(peer, op_root(), op), NFS4ERR_NOTSUPP);
	op = plain_open(peer, &owner, "file", R | OPEN4_SHARE_ACCESS_WANT_NO_DELEG, 0, true);
	assert_int_equal(PLAIN(peer, op_root(), op), NFS4ERR_INVAL);
	assert_int_equal(PLAIN(peer, { .argop = OP_DELEGPURGE }), NFS4ERR_NOTSUPP);
	assert_int_equal(PLAIN(peer, op_root(), { .argop = OP_OPENATTR }), NFS4ERR_NOTSUPP);
	assert_int_equal(PLAIN(peer, op_plain(OP_RESTOREFH)), NFS4ERR_RESTOREFH);
	assert_int_equal(PLAIN(peer, op_root(), getattr), NFS4_OK);
	ok = &plain_res(peer, 1)->u.opgetattr.u.resok4;
	/* The last attribute of version 4.0 is mounted_on_fileid. */
	assert_int_equal(ok->obj_attributes.attrmask.count, 2);
	assert_int_equal(ok->obj_attributes.attrmask.values[1] >> (FATTR4_MOUNTED_ON_FILEID - 32), 1);
}

/* Version 4.0's operations are not those of sessions: RFC 8881, 8.8. */
static void
sessions_have_no_operations_of_version_40(void **state)
{
	struct peer *peer = world_peer(*state, 0, "x", 0);

	assert_int_equal(RUN(peer, plain_renew(peer->clientid)), NFS4ERR_NOTSUPP);
	assert_int_equal(RUN(peer, { .argop = OP_SETCLIENTID }), NFS4ERR_NOTSUPP);
	assert_int_equal(RUN(peer, { .argop = OP_RELEASE_LOCKOWNER }), NFS4ERR_NOTSUPP);
}

/* 16.31: SECINFO leaves the current filehandle. */
static void
secinfo_leaves_the_filehandle(void **state)
{
	struct plain_owner owner = { "o", 0 };
	struct peer *peer = plain_peer(*state, 0, "x", 0);

	plain_opened(peer, &owner, "file", R);
	assert_int_equal(
		PLAIN(peer, op_root(), { .argop = OP_SECINFO, .u.opsecinfo.name = text_bytes("file") },
			op_plain(OP_GETFH)),
		NFS4_OK);
}

/* 13.1.3.4: a COMPOUND that cannot be carried out as a whole is not begun. */
static void
too_many_operations_are_not_begun(void **state)
{
	enum { MANY = RR_NFS4_OPERATIONS + 1 };
	struct peer *peer = plain_peer(*state, 0, "x", 0);
	nfs_argop4 ops[MANY];

	for (int i = 0; i < MANY; i++)
		ops[i] = op_root();
	ops[1] = op_create(NF4DIR, "dir", NULL);
	assert_int_equal(peer_raw(peer, ops, MANY), NFS4ERR_RESOURCE);
	assert_int_equal(peer->res.resarray.count, 1);
	assert_int_equal(PLAIN(peer, op_root(), op_lookup("dir")), NFS4ERR_NOENT);
	assert_int_equal(peer_raw(peer, ops, MANY - 1), NFS4_OK);
}

/* A repetition of what changes something is for the duplicate request cache: 16.33.5. */
static void
what_changes_something_is_executed_once(void **state)
{
	nfs_argop4 ops[] = { op_root(), op_remove("x") };
	struct rr_nfs4_args args = { .minor = rr_nfs4_minor(0), .count = 2, .decoded = 2, .ops = ops };

	(void)state;
	assert_true(rr_nfs4_is_once(&args));
	args.minor = rr_nfs4_minor(1);
	assert_false(rr_nfs4_is_once(&args));
	args.minor = rr_nfs4_minor(0);
	ops[1] = op_write(&stateid_anonymous, 0, "x");
	assert_false(rr_nfs4_is_once(&args));
	ops[1] = (nfs_argop4){ .argop = OP_SETCLIENTID };
	assert_true(rr_nfs4_is_once(&args));
	args.decoded = 1;
	assert_false(rr_nfs4_is_once(&args));
}

/* Nobody fills the table by SETCLIENTID: unconfirmed records of an address give way. */
static void
a_flood_of_setclientid_leaves_room_for_others(void **state)
{
	struct world *world = *state;
	const struct rr_nfs4_clients *clients = &world->shared->tables.clients;
	struct peer *peer = plain_peer(world, 0, "x", 0), *flood = plain_connect(world, 1, 0);
	verifier4 confirm;
	char name[] = "flood0000";

	for (uint32_t i = 0; i < clients->max + 100; i++) {
		for (uint32_t digit = 0, rest = i; digit < 4; digit++, rest /= 16)
			name[8 - digit] = (char)('a' + rest % 16);
		assert_int_equal(plain_setclientid(flood, name, 1, confirm), NFS4_OK);
	}
	assert_int_equal(clients->count, clients->max);
	assert_int_equal(renew(peer, peer->clientid), NFS4_OK);
	assert_int_equal(plain_confirm(flood, flood->clientid, confirm), NFS4_OK);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, world_setup_plain, world_teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(an_unconfirmed_record_is_replaced),
		TEST(the_same_verifier_changes_the_callback_alone),
		TEST(another_verifier_ends_the_state_when_it_is_confirmed),
		TEST(another_principal_may_not_have_the_owner),
		TEST(an_empty_record_gives_way_to_another_principal),
		TEST(clients_of_both_versions_do_not_meet),
		TEST(client_ids_are_stale_or_have_expired),
		TEST(leases_are_renewed_by_stateids),
		TEST(special_stateids_are_of_no_client),
		TEST(later_operations_and_values_are_unknown),
		TEST(sessions_have_no_operations_of_version_40),
		TEST(secinfo_leaves_the_filehandle),
		TEST(too_many_operations_are_not_begun),
		TEST(what_changes_something_is_executed_once),
		TEST(a_flood_of_setclientid_leaves_room_for_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
