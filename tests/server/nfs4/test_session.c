/* SPDX-License-Identifier: BSD-3-Clause */
/* CREATE_SESSION, SEQUENCE, BIND_CONN_TO_SESSION, DESTROY_SESSION: RFC 8881,
 * sections 2.10.6, 18.34, 18.36, 18.37, 18.46.
 */
#include "../../test.h"

#include <string.h>

#include "server/nfs4/tables/tables.h"

struct world {
	struct rr_nfs4_tables tables;
	struct rr_nfs4_conn conn, other; /* of the client */
	struct rr_nfs4_conn stranger;    /* from another address */
	struct rr_nfs4_client *client;
	CREATE_SESSION4res created;
	uint64_t now;
	/* What CREATE_SESSION offers for callbacks: AUTH_NONE, unless a test changes it. */
	callback_sec_parms4 sec;
	uint32_t sec_count;
	uint32_t back_slots; /* ca_maxrequests of the backchannel; 0: that of `wanted` */
};

static const channel_attrs4 wanted = { .ca_maxrequestsize = 8192,
	.ca_maxresponsesize = 8192,
	.ca_maxresponsesize_cached = 2048,
	.ca_maxoperations = 16,
	.ca_maxrequests = 4 };
static const struct rr_nfs4_limits limits = { 1 << 20, 1 << 20, 4096, 128, 64, 4096 };

/* The user that the client's EXCHANGE_ID came from, and another user. */
static const struct rr_caller owner = { RR_AUTH_SYS, .named = true },
			      other_user = { RR_AUTH_SYS, .named = true, .uid = 5 };

static nfsstat4
create_over(struct world *world, sequenceid4 sequence, uint32_t flags, const channel_attrs4 *fore,
	const struct rr_caller *caller, struct rr_nfs4_conn *conn)
{
	CREATE_SESSION4args args = { .csa_clientid = rr_nfs4_client_id(world->client),
		.csa_sequence = sequence,
		.csa_flags = flags,
		.csa_fore_chan_attrs = *fore,
		.csa_back_chan_attrs = wanted,
		.csa_sec_parms = { world->sec_count, &world->sec } };
	const struct rr_nfs4_create create = { &args, caller, limits, conn, world->now };

	if (world->back_slots > 0)
		args.csa_back_chan_attrs.ca_maxrequests = world->back_slots;
	memset(&world->created, 0, sizeof(world->created));
	rr_nfs4_create_session(&world->tables.sessions, &world->tables.clients, &create, &world->created);
	return world->created.csr_status;
}

static nfsstat4
create_with(struct world *world, sequenceid4 sequence, uint32_t flags, const channel_attrs4 *fore)
{
	return create_over(world, sequence, flags, fore, &owner, &world->conn);
}

static nfsstat4
create(struct world *world, sequenceid4 sequence)
{
	return create_with(world, sequence, CREATE_SESSION4_FLAG_CONN_BACK_CHAN, &wanted);
}

/* Begins a connection from an address. */
static void
connect_from(struct world *world, struct rr_nfs4_conn *conn, const char *peer)
{
	rr_nfs4_conn_init(conn);
	assert_true(rr_nfs4_origin_join(&world->tables.clients.addresses, &conn->origin, peer));
}

/* Sends an EXCHANGE_ID of the owner "client" with this first octet of the verifier. */
static nfsstat4
exchange(struct world *world, const struct rr_caller *caller, struct rr_nfs4_conn *conn, uint8_t verifier,
	struct rr_nfs4_client **client)
{
	client_owner4 name = { .co_verifier = { verifier }, .co_ownerid = { "client", 6 } };
	const struct rr_nfs4_exchange args = { &name, caller, false, &conn->origin };

	return rr_nfs4_exchange_id(&world->tables.clients, &args, world->now, client);
}

static int
setup(void **state)
{
	struct world *world = rr_alloc(&rr_env_system, sizeof(*world));

	assert_int_equal(
		rr_nfs4_tables_init(&world->tables, &rr_env_system, &rr_nfs4_tables_config_default), 0);
	connect_from(world, &world->conn, "192.0.2.1:700");
	connect_from(world, &world->other, "192.0.2.1:701");
	connect_from(world, &world->stranger, "192.0.2.9:702");
	assert_int_equal(exchange(world, &owner, &world->conn, 0, &world->client), NFS4_OK);
	world->sec_count = 1;
	*state = world;
	return 0;
}

static int
teardown(void **state)
{
	struct world *world = *state;

	rr_nfs4_conn_end(&world->conn);
	rr_nfs4_conn_end(&world->other);
	rr_nfs4_conn_end(&world->stranger);
	rr_nfs4_tables_free(&world->tables);
	rr_free(&rr_env_system, world);
	return 0;
}

struct ask {
	uint32_t slot, sequence, highest, operations, size;
	uint64_t digest;
	bool cache;
};

static nfsstat4
sequence_over(
	struct world *world, const struct ask *ask, struct rr_nfs4_conn *conn, struct rr_nfs4_turn *turn)
{
	SEQUENCE4args args = { .sa_slotid = ask->slot,
		.sa_sequenceid = ask->sequence,
		.sa_highest_slotid = ask->highest,
		.sa_cachethis = ask->cache };
	const struct rr_nfs4_call call = { &args, ask->digest, ask->operations ? ask->operations : 2,
		ask->size ? ask->size : 100, 0, conn, world->now };

	memcpy(args.sa_sessionid, world->created.u.csr_resok4.csr_sessionid, sizeof(args.sa_sessionid));
	return rr_nfs4_sequence_begin(&world->tables.sessions, &call, turn);
}

static nfsstat4
sequence(struct world *world, struct ask ask, struct rr_nfs4_turn *turn)
{
	return sequence_over(world, &ask, &world->conn, turn);
}

/* "records a contrived CREATE_SESSION result with a "cached" result of NFS4ERR_SEQ_MISORDERED" */
static void
create_session_has_a_reply_cache_of_one_slot(void **state)
{
	struct world *world = *state;
	sessionid4 id;

	assert_int_equal(create(world, 0), NFS4ERR_SEQ_MISORDERED);
	assert_int_equal(create(world, 2), NFS4ERR_SEQ_MISORDERED);
	assert_int_equal(create(world, 1), NFS4_OK);
	memcpy(id, world->created.u.csr_resok4.csr_sessionid, sizeof(id));
	assert_int_equal(create(world, 1), NFS4_OK);
	assert_memory_equal(world->created.u.csr_resok4.csr_sessionid, id, sizeof(id));
	assert_int_equal(world->client->session_count, 1);
	assert_int_equal(create(world, 0), NFS4ERR_SEQ_MISORDERED);
	assert_int_equal(create(world, 3), NFS4ERR_SEQ_MISORDERED);
	assert_int_equal(create(world, 2), NFS4_OK);
	assert_int_equal(world->client->session_count, 2);
}

/* 18.36.4, phase 3, of a record of another principal: "the server returns NFS4ERR_CLID_INUSE". A retry gets
 * no session either, nor does anybody from an address that the client has not come from. */
static void
nobody_else_gets_a_session_of_the_client(void **state)
{
	struct world *world = *state;

	for (sequenceid4 sequence = 1; sequence <= 2; sequence++) {
		assert_int_equal(
			create_over(world, 1, 0, &wanted, &other_user, &world->conn), NFS4ERR_CLID_INUSE);
		assert_int_equal(
			create_over(world, 1, 0, &wanted, &owner, &world->stranger), NFS4ERR_CLID_INUSE);
		assert_int_equal(
			create_over(world, 2, 0, &wanted, &other_user, &world->conn), NFS4ERR_CLID_INUSE);
		assert_int_equal(
			create_over(world, 2, 0, &wanted, &owner, &world->stranger), NFS4ERR_CLID_INUSE);
		assert_int_equal(create(world, sequence), NFS4_OK);
		assert_int_equal(world->client->session_count, sequence);
	}
}

/* A client that comes from a further address proves itself by its owner, verifier and principal; then it may
 * do there what it may do at its first address. */
static void
a_client_that_proves_itself_may_come_from_another_address(void **state)
{
	struct world *world = *state;
	struct rr_nfs4_client *client;
	uint32_t addresses;

	assert_int_equal(create(world, 1), NFS4_OK);
	assert_int_equal(exchange(world, &owner, &world->stranger, 0, &client), NFS4_OK);
	assert_ptr_equal(client, world->client);
	assert_int_equal(create_over(world, 2, 0, &wanted, &owner, &world->stranger), NFS4_OK);
	assert_int_equal(create(world, 3), NFS4_OK);
	/* Each address is noted once. */
	addresses = client->address_count;
	assert_int_equal(exchange(world, &owner, &world->stranger, 0, &client), NFS4_OK);
	assert_int_equal(exchange(world, &owner, &world->other, 0, &client), NFS4_OK);
	assert_int_equal(client->address_count, addresses);
}

/* What is no proof: the owner with another verifier or principal. The record that is confirmed stays as it
 * is, and an unconfirmed record of the same owner from another address does not end that of the client. */
static void
the_name_of_an_owner_is_no_proof(void **state)
{
	struct world *world = *state;
	struct rr_nfs4_client *early, *late;

	assert_int_equal(exchange(world, &other_user, &world->stranger, 0, &early), NFS4_OK);
	assert_ptr_not_equal(early, world->client);
	assert_int_equal(create(world, 1), NFS4_OK);
	assert_int_equal(exchange(world, &owner, &world->stranger, 7, &late), NFS4_OK);
	assert_ptr_not_equal(late, world->client);
	assert_int_equal(exchange(world, &other_user, &world->conn, 0, &late), NFS4ERR_CLID_INUSE);
	assert_int_equal(create_over(world, 2, 0, &wanted, &owner, &world->stranger), NFS4ERR_CLID_INUSE);
	assert_int_equal(create(world, 2), NFS4_OK);
}

/* A record of the same owner that another principal made before the client was confirmed is not confirmed
 * while the client has sessions. */
static void
another_principal_cannot_take_the_place_of_a_confirmed_client(void **state)
{
	struct world *world = *state;
	struct rr_nfs4_client *victim = world->client, *other;

	assert_int_equal(exchange(world, &other_user, &world->stranger, 0, &other), NFS4_OK);
	assert_int_equal(create(world, 1), NFS4_OK);
	world->client = other;
	assert_int_equal(
		create_over(world, 1, 0, &wanted, &other_user, &world->stranger), NFS4ERR_CLID_INUSE);
	world->client = victim;
	assert_int_equal(create(world, 2), NFS4_OK);
}

/* Client IDs and the ends of session IDs, by which sessions are found, do not follow each other. */
static void
no_identifier_can_be_guessed_from_another(void **state)
{
	struct world *world = *state;
	struct rr_nfs4_client *before = world->client, *next;
	uint64_t ends[2];

	for (sequenceid4 i = 0; i < 2; i++) {
		assert_int_equal(create(world, i + 1), NFS4_OK);
		memcpy(&ends[i], &world->created.u.csr_resok4.csr_sessionid[8], sizeof(ends[i]));
	}
	assert_true(ends[1] - ends[0] > UINT32_MAX && ends[0] - ends[1] > UINT32_MAX);
	for (uint8_t i = 1; i < 100; i++) {
		clientid4 id = rr_nfs4_client_id(before);

		assert_int_equal(exchange(world, &owner, &world->conn, i, &next), NFS4_OK);
		assert_true(rr_nfs4_client_id(next) - id > UINT16_MAX &&
			    id - rr_nfs4_client_id(next) > UINT16_MAX);
		before = next;
	}
}

/* Callbacks go where the client wants them, and its sessions end when it says so. */
static void
a_session_is_bound_and_destroyed_by_its_client_alone(void **state)
{
	struct world *world = *state;
	BIND_CONN_TO_SESSION4args bind = { .bctsa_dir = CDFC4_FORE_OR_BOTH };
	BIND_CONN_TO_SESSION4res bound;
	struct rr_nfs4_sessions *sessions = &world->tables.sessions;
	struct rr_nfs4_turn turn;

	create(world, 1);
	memcpy(bind.bctsa_sessid, world->created.u.csr_resok4.csr_sessionid, sizeof(sessionid4));
	rr_nfs4_bind_conn_to_session(sessions, &owner, &world->stranger, &bind, &bound);
	assert_int_equal(bound.bctsr_status, NFS4ERR_BADSESSION);
	rr_nfs4_bind_conn_to_session(sessions, &other_user, &world->other, &bind, &bound);
	assert_int_equal(bound.bctsr_status, NFS4ERR_BADSESSION);
	rr_nfs4_bind_conn_to_session(sessions, &owner, &world->other, &bind, &bound);
	assert_int_equal(bound.bctsr_status, NFS4_OK);
	assert_int_equal(
		rr_nfs4_destroy_session(sessions, bind.bctsa_sessid, NULL, &other_user, &world->other),
		NFS4ERR_WRONG_CRED);
	/* SEQUENCE binds a connection from any address: it has the session ID. Then BIND_CONN_TO_SESSION may
	 * add the backchannel. */
	assert_int_equal(
		sequence_over(world, &(struct ask){ .sequence = 1 }, &world->stranger, &turn), NFS4_OK);
	rr_nfs4_sequence_end(&turn, NULL, 0);
	rr_nfs4_bind_conn_to_session(sessions, &owner, &world->stranger, &bind, &bound);
	assert_int_equal(bound.bctsr_status, NFS4_OK);
	assert_int_equal(
		rr_nfs4_destroy_session(sessions, bind.bctsa_sessid, NULL, &owner, &world->other), NFS4_OK);
}

static void
sizes_are_lowered_or_refused(void **state)
{
	struct world *world = *state;
	channel_attrs4 fore = wanted;

	fore.ca_maxresponsesize = 0;
	assert_int_equal(create_with(world, 1, 0, &fore), NFS4ERR_TOOSMALL);
	fore = wanted;
	fore.ca_maxrequests = 500;
	fore.ca_maxresponsesize_cached = 1 << 20;
	fore.ca_maxresponsesize = UINT32_MAX;
	assert_int_equal(create_with(world, 2, 0, &fore), NFS4_OK);
	fore = world->created.u.csr_resok4.csr_fore_chan_attrs;
	assert_int_equal(fore.ca_maxrequests, 64);
	assert_int_equal(fore.ca_maxresponsesize_cached, 4096);
	assert_int_equal(fore.ca_maxresponsesize, 1 << 20);
	assert_int_equal(fore.ca_maxoperations, wanted.ca_maxoperations);
	assert_int_equal(create_with(world, 3, 0xf, &wanted), NFS4ERR_INVAL);
}

/* 18.36.3, of ca_maxrequests: "For the backchannel, the server MUST NOT change the value the client offers."
 */
static void
the_backchannel_has_the_slots_that_the_client_offers(void **state)
{
	struct world *world = *state;

	world->back_slots = 500;
	assert_int_equal(create(world, 1), NFS4_OK);
	assert_int_equal(world->created.u.csr_resok4.csr_back_chan_attrs.ca_maxrequests, 500);
	assert_int_equal(
		rr_nfs4_session_find(&world->tables.sessions, world->created.u.csr_resok4.csr_sessionid)
			->back_slot_count,
		RR_NFS4_BACK_SLOTS);
}

/* 18.36.4 keeps the answer, so that a session is made once. A refusal that only depends on the arguments is
 * repeated for the same arguments, and does not prevent a call with other arguments under the same sequence
 * ID. */
static void
a_refusal_of_sizes_does_not_use_the_sequence_up(void **state)
{
	struct world *world = *state;
	channel_attrs4 fore = wanted;

	fore.ca_maxrequestsize = 20;
	assert_int_equal(create_with(world, 1, 0, &fore), NFS4ERR_TOOSMALL);
	assert_int_equal(create_with(world, 1, 0, &fore), NFS4ERR_TOOSMALL);
	assert_int_equal(create_with(world, 1, 0xf, &wanted), NFS4ERR_INVAL);
	assert_int_equal(create(world, 1), NFS4_OK);
	assert_int_equal(create_with(world, 1, 0, &fore), NFS4_OK);
	assert_int_equal(world->client->session_count, 1);
	/* After a refusal, a call with the next sequence ID is accepted, too. */
	assert_int_equal(create_with(world, 2, 0, &fore), NFS4ERR_TOOSMALL);
	assert_int_equal(create(world, 3), NFS4_OK);
	assert_int_equal(create(world, 2), NFS4ERR_SEQ_MISORDERED);
	assert_int_equal(world->client->session_count, 2);
}

/* 18.46.3 and 2.10.6.1: which calls a slot accepts. */
static void
a_slot_takes_the_next_call_and_repeats_the_last_answer(void **state)
{
	struct world *world = *state;
	struct rr_nfs4_turn turn, retry;

	create(world, 1);
	assert_int_equal(sequence(world, (struct ask){ .sequence = 0 }, &turn), NFS4ERR_SEQ_MISORDERED);
	assert_int_equal(sequence(world, (struct ask){ .sequence = 2 }, &turn), NFS4ERR_SEQ_MISORDERED);
	assert_int_equal(
		sequence(world, (struct ask){ .sequence = 1, .cache = true, .digest = 7 }, &turn), NFS4_OK);
	assert_int_equal(turn.kind, RR_NFS4_NEW);
	assert_int_equal(sequence(world, (struct ask){ .sequence = 1, .digest = 7 }, &retry), NFS4ERR_DELAY);
	assert_int_equal(sequence(world, (struct ask){ .sequence = 2 }, &retry), NFS4ERR_SEQ_MISORDERED);
	rr_nfs4_sequence_end(&turn, "answer", 6);
	assert_int_equal(
		sequence(world, (struct ask){ .sequence = 1, .digest = 8 }, &retry), NFS4ERR_SEQ_FALSE_RETRY);
	assert_int_equal(sequence(world, (struct ask){ .sequence = 1, .digest = 7 }, &retry), NFS4_OK);
	assert_int_equal(retry.kind, RR_NFS4_REPLAY);
	assert_memory_equal(retry.reply, "answer", retry.reply_length);
	assert_int_equal(sequence(world, (struct ask){ .sequence = 2 }, &turn), NFS4_OK);
	rr_nfs4_sequence_end(&turn, NULL, 0);
	assert_int_equal(sequence(world, (struct ask){ .sequence = 2 }, &retry), NFS4_OK);
	assert_int_equal(retry.kind, RR_NFS4_UNCACHED);
	assert_null(retry.session);
}

/* "If SEQUENCE returns an error, then the state of the slot (sequence ID, cached reply) MUST NOT change" */
static void
an_error_of_sequence_leaves_the_slot_alone(void **state)
{
	struct world *world = *state;
	struct rr_nfs4_turn turn;

	create(world, 1);
	assert_int_equal(sequence(world, (struct ask){ .sequence = 1, .slot = 4 }, &turn), NFS4ERR_BADSLOT);
	assert_int_equal(
		sequence(world, (struct ask){ .sequence = 1, .highest = 4 }, &turn), NFS4ERR_BAD_HIGH_SLOT);
	assert_int_equal(sequence(world, (struct ask){ .sequence = 1, .operations = 17 }, &turn),
		NFS4ERR_TOO_MANY_OPS);
	assert_int_equal(
		sequence(world, (struct ask){ .sequence = 1, .size = 8193 }, &turn), NFS4ERR_REQ_TOO_BIG);
	assert_int_equal(sequence(world, (struct ask){ .sequence = 1 }, &turn), NFS4_OK);
	rr_nfs4_sequence_end(&turn, NULL, 0);
}

static void
a_session_with_calls_under_way_is_not_destroyed(void **state)
{
	static const struct rr_nfs4_session another;
	struct world *world = *state;
	struct rr_nfs4_turn turn;
	sessionid4 id;

	create(world, 1);
	memcpy(id, world->created.u.csr_resok4.csr_sessionid, sizeof(id));
	assert_int_equal(sequence(world, (struct ask){ .sequence = 1 }, &turn), NFS4_OK);
	assert_int_equal(rr_nfs4_destroy_session(&world->tables.sessions, id, NULL, &owner, &world->conn),
		NFS4ERR_DELAY);
	assert_int_equal(rr_nfs4_destroy_session(&world->tables.sessions, id, NULL, &owner, &world->other),
		NFS4ERR_CONN_NOT_BOUND_TO_SESSION);
	/* The SEQUENCE of another session has not associated the connection with this one. */
	assert_int_equal(
		rr_nfs4_destroy_session(&world->tables.sessions, id, &another, &owner, &world->other),
		NFS4ERR_CONN_NOT_BOUND_TO_SESSION);
	assert_int_equal(
		rr_nfs4_destroy_session(&world->tables.sessions, id, turn.session, &owner, &world->conn),
		NFS4_OK);
	rr_nfs4_sequence_end(&turn, NULL, 0);
	assert_int_equal(rr_nfs4_destroy_session(&world->tables.sessions, id, NULL, &owner, &world->conn),
		NFS4ERR_BADSESSION);
}

/* 18.36.3, ca_maxresponsesize_cached: no slot keeps more, as no more was reserved for it. */
static void
a_reply_larger_than_agreed_is_not_kept(void **state)
{
	static const uint8_t reply[2049];
	struct world *world = *state;
	struct rr_nfs4_turn turn;

	create(world, 1);
	for (uint32_t length = 2048; length <= 2049; length++) {
		const struct ask ask = { .sequence = length - 2047, .cache = true };

		assert_int_equal(sequence(world, ask, &turn), NFS4_OK);
		rr_nfs4_sequence_end(&turn, reply, length);
		assert_int_equal(sequence(world, ask, &turn), NFS4_OK);
		assert_int_equal(turn.kind, length == 2048 ? RR_NFS4_REPLAY : RR_NFS4_UNCACHED);
	}
}

/* A client may end while a call of its session is in progress: the call can still finish. */
static void
a_call_outlives_its_session(void **state)
{
	struct world *world = *state;
	struct rr_nfs4_turn turn;

	create(world, 1);
	assert_int_equal(sequence(world, (struct ask){ .sequence = 1, .cache = true }, &turn), NFS4_OK);
	rr_nfs4_client_end(world->client);
	rr_nfs4_sequence_end(&turn, "answer", 6);
	assert_int_equal(sequence(world, (struct ask){ .sequence = 2 }, &turn), NFS4ERR_BADSESSION);
}

/* 2.10.8.2: the server "MUST NOT use unoffered combinations" of a flavor and a principal: it sends no
 * callbacks without credentials to a client that does not offer AUTH_NONE. */
static void
callbacks_have_a_credential_that_was_offered(void **state)
{
	struct world *world = *state;
	BIND_CONN_TO_SESSION4args bind = { .bctsa_dir = CDFC4_FORE_OR_BOTH };
	BIND_CONN_TO_SESSION4res bound;

	/* 18.36.3: "If the RPCSEC_GSS handle identified by gcbp_handle_from_server does not exist on the
	 * server, the server will return NFS4ERR_NOENT." */
	world->sec.cb_secflavor = RPCSEC_GSS;
	assert_int_equal(create(world, 1), NFS4ERR_NOENT);
	assert_int_equal(world->client->session_count, 0);
	world->sec_count = 0;
	assert_int_equal(create(world, 2), NFS4_OK);
	assert_int_equal(world->created.u.csr_resok4.csr_flags, 0);
	memcpy(bind.bctsa_sessid, world->created.u.csr_resok4.csr_sessionid, sizeof(sessionid4));
	rr_nfs4_bind_conn_to_session(&world->tables.sessions, &owner, &world->other, &bind, &bound);
	assert_int_equal(bound.bctsr_status, NFS4_OK);
	assert_int_equal(bound.u.bctsr_resok4.bctsr_dir, CDFS4_FORE);
	bind.bctsa_dir = CDFC4_BACK;
	rr_nfs4_bind_conn_to_session(&world->tables.sessions, &owner, &world->other, &bind, &bound);
	assert_int_equal(bound.bctsr_status, NFS4ERR_INVAL);
}

/* A callback that a test answers itself. */
static void
note_put(struct rr_nfs4_callback *callback, nfs_cb_argop4 *op)
{
	(void)callback;
	(void)op;
}

static bool
note_answered(struct rr_nfs4_callback *callback, nfsstat4 status)
{
	(void)callback;
	(void)status;
	return false;
}

static void
note_ended(struct rr_nfs4_callback *callback)
{
	(void)callback;
}

static void
note_send(struct rr_nfs4_callback *callback)
{
	assert_int_equal(callback->phase, RR_NFS4_CALLBACK_OUT);
}

/* Sends a callback, lets `wait` pass, calls between(), and answers the callback: its CB_SEQUENCE with the
 * status. */
static void
call_back(struct world *world, nfsstat4 status, uint64_t wait, void (*between)(struct world *world))
{
	static const struct rr_nfs4_callback_kind kind = { note_put, note_answered, note_ended };
	struct rr_nfs4_callback callback = { .kind = NULL };
	nfs_cb_resop4 ops[2] = { { .resop = OP_CB_SEQUENCE }, { .resop = OP_CB_RECALL } };
	const CB_COMPOUND4res res = { .status = status, .resarray = { 2, ops } };
	CB_SEQUENCE4resok *ok = &ops[0].u.opcbsequence.u.csr_resok4;
	struct rr_nfs4_referring referring;
	CB_SEQUENCE4args args;

	rr_list_init(&callback.link);
	world->tables.sessions.send = note_send;
	rr_nfs4_callback_queue(&callback, &kind, &world->tables.sessions, world->client);
	rr_nfs4_callbacks_go(&world->tables.sessions, world->now);
	assert_int_equal(callback.phase, RR_NFS4_CALLBACK_OUT);
	rr_nfs4_callback_sequence(&callback, &referring, &args);
	ops[0].u.opcbsequence.csr_status = status;
	memcpy(ok->csr_sessionid, args.csa_sessionid, sizeof(ok->csr_sessionid));
	ok->csr_sequenceid = args.csa_sequenceid;
	ok->csr_slotid = args.csa_slotid;
	world->now += wait;
	if (between)
		between(world);
	rr_nfs4_callback_answered(&callback, &res, world->now);
	/* After an error the callback waits for another session. */
	rr_nfs4_callback_cancel(&callback);
	assert_int_equal(callback.phase, RR_NFS4_CALLBACK_IDLE);
}

static void
expire(struct world *world)
{
	rr_nfs4_clients_expire(&world->tables.clients, world->now);
	assert_int_equal(world->client->phase, RR_NFS4_COURTESY);
}

static void
end_client(struct world *world)
{
	rr_nfs4_client_end(world->client);
}

/* 20.9.3: "when the server receives the CB_SEQUENCE reply, renew the lease of state related to the client
 * ID." A lease that is over stays so. */
static void
an_answer_to_a_callback_renews_the_lease(void **state)
{
	struct world *world = *state;
	const uint64_t lease = world->tables.clients.lease;

	create(world, 1);
	world->client->state_count = 1;
	call_back(world, NFS4_OK, lease - 1, NULL);
	assert_true(world->client->renewed == lease - 1);
	call_back(world, NFS4_OK, lease, NULL);
	assert_true(world->client->renewed == lease - 1);
	assert_int_equal(world->client->phase, RR_NFS4_CONFIRMED);
	call_back(world, NFS4_OK, 0, expire);
	assert_int_equal(world->client->phase, RR_NFS4_COURTESY);
	assert_true(world->client->renewed == lease - 1);
	/* A call of the client renews the lease. */
	rr_nfs4_client_renew(world->client, world->now);
	assert_int_equal(world->client->phase, RR_NFS4_CONFIRMED);
	world->client->state_count = 0;
	rr_nfs4_client_hold(world->client);
	call_back(world, NFS4_OK, 1, end_client);
	assert_true(world->client->renewed == world->now - 1);
	rr_nfs4_client_release(world->client);
}

/* An answer that is an error of CB_SEQUENCE renews nothing. */
static void
an_error_of_a_callback_renews_no_lease(void **state)
{
	struct world *world = *state;

	create(world, 1);
	rr_nfs4_client_hold(world->client);
	call_back(world, NFS4ERR_SEQ_MISORDERED, 1, NULL);
	assert_true(world->client->renewed == 0);
	rr_nfs4_client_release(world->client);
}

/* 18.34.3. SEQ4_STATUS_CB_PATH_DOWN is set exactly as long as the session has no connection for callbacks. */
static void
connections_come_and_go(void **state)
{
	struct world *world = *state;
	const uint32_t down = SEQ4_STATUS_CB_PATH_DOWN | SEQ4_STATUS_CB_PATH_DOWN_SESSION;
	BIND_CONN_TO_SESSION4args bind = { .bctsa_dir = CDFC4_FORE_OR_BOTH };
	BIND_CONN_TO_SESSION4res bound;
	struct rr_nfs4_turn turn;

	create(world, 1);
	memcpy(bind.bctsa_sessid, world->created.u.csr_resok4.csr_sessionid, sizeof(sessionid4));
	assert_int_equal(sequence(world, (struct ask){ .sequence = 1 }, &turn), NFS4_OK);
	assert_int_equal(turn.ok.sr_status_flags, 0);
	rr_nfs4_sequence_end(&turn, NULL, 0);
	rr_nfs4_conn_end(&world->conn);
	assert_int_equal(sequence_over(world, &(struct ask){ .sequence = 2 }, &world->other, &turn), NFS4_OK);
	assert_int_equal(turn.ok.sr_status_flags, down);
	assert_int_equal(rr_nfs4_bound(turn.session, &world->other), RR_NFS4_FORE);
	rr_nfs4_sequence_end(&turn, NULL, 0);
	rr_nfs4_bind_conn_to_session(&world->tables.sessions, &owner, &world->other, &bind, &bound);
	assert_int_equal(bound.bctsr_status, NFS4_OK);
	assert_int_equal(bound.u.bctsr_resok4.bctsr_dir, CDFS4_BOTH);
	assert_int_equal(sequence_over(world, &(struct ask){ .sequence = 3 }, &world->other, &turn), NFS4_OK);
	assert_int_equal(turn.ok.sr_status_flags, 0);
	rr_nfs4_sequence_end(&turn, NULL, 0);
	bind.bctsa_dir = CDFC4_FORE;
	rr_nfs4_bind_conn_to_session(&world->tables.sessions, &owner, &world->other, &bind, &bound);
	assert_int_equal(bound.bctsr_status, NFS4ERR_INVAL);
}

/* Memory that has run out. */
static void *
no_memory(void *ctx, void *old, size_t size)
{
	(void)ctx;
	(void)old;
	(void)size;
	return NULL;
}

/* 18.34.3: "The server replies in bctsr_dir which channel(s) the connection is associated with." A connection
 * that could not be bound is not called bound. */
static void
a_connection_that_is_not_bound_is_not_called_bound(void **state)
{
	struct world *world = *state;
	struct rr_env poor = rr_env_system;
	BIND_CONN_TO_SESSION4args bind = { .bctsa_dir = CDFC4_FORE_OR_BOTH };
	BIND_CONN_TO_SESSION4res bound;
	struct rr_nfs4_session *session;

	create(world, 1);
	memcpy(bind.bctsa_sessid, world->created.u.csr_resok4.csr_sessionid, sizeof(sessionid4));
	poor.realloc = no_memory;
	world->tables.sessions.env = &poor;
	rr_nfs4_bind_conn_to_session(&world->tables.sessions, &owner, &world->other, &bind, &bound);
	world->tables.sessions.env = &rr_env_system;
	assert_int_equal(bound.bctsr_status, NFS4ERR_DELAY);
	session = rr_nfs4_session_find(&world->tables.sessions, bind.bctsa_sessid);
	assert_int_equal(rr_nfs4_bound(session, &world->other), 0);
	rr_nfs4_bind_conn_to_session(&world->tables.sessions, &owner, &world->other, &bind, &bound);
	assert_int_equal(bound.bctsr_status, NFS4_OK);
	assert_int_equal(rr_nfs4_bound(session, &world->other), RR_NFS4_FORE | RR_NFS4_BACK);
}

/* 15.1.11.6: NFS4ERR_CONN_NOT_BOUND_TO_SESSION, "where the client specified that connection association was
 * to be enforced with SP4_MACH_CRED": no call counts over a connection that the machine has not bound itself,
 * from whatever address it comes. */
static void
a_protected_session_takes_connections_that_were_bound(void **state)
{
	static const struct rr_caller machine = { RR_AUTH_SYS, RR_CALLER_INTEGRITY, .named = true };
	struct world *world = *state;
	const struct ask first = { .sequence = 1 };
	BIND_CONN_TO_SESSION4args bind = { .bctsa_dir = CDFC4_FORE };
	BIND_CONN_TO_SESSION4res bound;
	struct rr_nfs4_turn turn;

	assert_int_equal(create(world, 1), NFS4_OK);
	memcpy(bind.bctsa_sessid, world->created.u.csr_resok4.csr_sessionid, sizeof(bind.bctsa_sessid));
	world->client->machine = true;
	assert_int_equal(
		sequence_over(world, &first, &world->stranger, &turn), NFS4ERR_CONN_NOT_BOUND_TO_SESSION);
	rr_nfs4_bind_conn_to_session(&world->tables.sessions, &owner, &world->stranger, &bind, &bound);
	assert_int_not_equal(bound.bctsr_status, NFS4_OK);
	assert_int_equal(
		sequence_over(world, &first, &world->stranger, &turn), NFS4ERR_CONN_NOT_BOUND_TO_SESSION);
	rr_nfs4_bind_conn_to_session(&world->tables.sessions, &machine, &world->stranger, &bind, &bound);
	assert_int_equal(bound.bctsr_status, NFS4_OK);
	assert_int_equal(sequence_over(world, &first, &world->stranger, &turn), NFS4_OK);
	rr_nfs4_sequence_end(&turn, NULL, 0);
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(create_session_has_a_reply_cache_of_one_slot),
		TEST(nobody_else_gets_a_session_of_the_client),
		TEST(a_client_that_proves_itself_may_come_from_another_address),
		TEST(a_protected_session_takes_connections_that_were_bound),
		TEST(the_name_of_an_owner_is_no_proof),
		TEST(another_principal_cannot_take_the_place_of_a_confirmed_client),
		TEST(no_identifier_can_be_guessed_from_another),
		TEST(a_session_is_bound_and_destroyed_by_its_client_alone),
		TEST(sizes_are_lowered_or_refused),
		TEST(the_backchannel_has_the_slots_that_the_client_offers),
		TEST(a_refusal_of_sizes_does_not_use_the_sequence_up),
		TEST(a_slot_takes_the_next_call_and_repeats_the_last_answer),
		TEST(an_error_of_sequence_leaves_the_slot_alone),
		TEST(a_session_with_calls_under_way_is_not_destroyed),
		TEST(a_reply_larger_than_agreed_is_not_kept),
		TEST(a_call_outlives_its_session),
		TEST(callbacks_have_a_credential_that_was_offered),
		TEST(an_answer_to_a_callback_renews_the_lease),
		TEST(an_error_of_a_callback_renews_no_lease),
		TEST(connections_come_and_go),
		TEST(a_connection_that_is_not_bound_is_not_called_bound),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
