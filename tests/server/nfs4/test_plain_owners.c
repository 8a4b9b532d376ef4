/* SPDX-License-Identifier: BSD-3-Clause */
/* The owners of opens and locks in version 4.0, and the numbers of their requests, over the loopback: RFC
 * 7530, sections 9.1.7 to 9.1.11, 16.18 and 16.37. */
#include "plain.h"

#include <string.h>

#include "server/nfs4/tables/owner.h"

enum { R = OPEN4_SHARE_ACCESS_READ, W = OPEN4_SHARE_ACCESS_WRITE, RW = OPEN4_SHARE_ACCESS_BOTH };

#define LEASE (90 * RR_SECOND)

static const OPEN4resok *
open_ok(const struct peer *peer)
{
	return &plain_res(peer, 1)->u.opopen.u.resok4;
}

static nfsstat4
read_by(struct peer *peer, const char *name, const stateid4 *stateid)
{
	return PLAIN(peer, op_root(), op_lookup(name), op_read(stateid, 0, 1));
}

/* 9.1.11: "When the server observes the use of the open-owner for the first time, it will direct the client
 * to perform the OPEN_CONFIRM"; 16.18.5: until then, any other operation gets NFS4ERR_BAD_STATEID. */
static void
an_owner_is_confirmed_once(void **state)
{
	struct plain_owner owner = { "o", 0 }, late;
	struct peer *peer = plain_peer(*state, 0, "x", 0);
	stateid4 stateid, confirmed;

	assert_int_equal(PLAIN(peer, op_root(), plain_open(peer, &owner, "file", RW, 0, true)), NFS4_OK);
	assert_int_equal(open_ok(peer)->rflags, OPEN4_RESULT_LOCKTYPE_POSIX | OPEN4_RESULT_CONFIRM);
	stateid = open_ok(peer)->stateid;
	assert_int_equal(read_by(peer, "file", &stateid), NFS4ERR_BAD_STATEID);
	late = owner;
	assert_int_equal(
		PLAIN(peer, op_root(), op_lookup("file"), plain_close(&late, &stateid)), NFS4ERR_BAD_STATEID);
	assert_int_equal(
		PLAIN(peer, op_root(), op_lookup("file"), plain_open_confirm(&owner, &stateid)), NFS4_OK);
	confirmed = plain_res(peer, 2)->u.opopen_confirm.u.resok4.open_stateid;
	assert_int_equal(confirmed.seqid, stateid.seqid + 1);
	assert_memory_equal(confirmed.other, stateid.other, sizeof(stateid.other));
	assert_int_equal(read_by(peer, "file", &confirmed), NFS4_OK);
	assert_int_equal(read_by(peer, "file", &stateid), NFS4ERR_OLD_STATEID);
	/* 0 has no meaning of its own in version 4.0. */
	stateid.seqid = 0;
	assert_int_equal(read_by(peer, "file", &stateid), NFS4ERR_OLD_STATEID);
	/* A second OPEN_CONFIRM has nothing to confirm. */
	late = owner;
	assert_int_equal(PLAIN(peer, op_root(), op_lookup("file"), plain_open_confirm(&late, &confirmed)),
		NFS4ERR_BAD_STATEID);
	assert_int_equal(PLAIN(peer, op_root(), plain_open(peer, &owner, "more", RW, 0, true)), NFS4_OK);
	assert_int_equal(open_ok(peer)->rflags, OPEN4_RESULT_LOCKTYPE_POSIX);
}

/* 16.18.5: "The server cancels the OPEN state of the first OPEN request, establishes an unconfirmed OPEN
 * state for the second OPEN request"; 16.18.4: an unexpected number in OPEN_CONFIRM releases all. */
static void
an_unconfirmed_owner_begins_anew(void **state)
{
	struct world *world = *state;
	struct plain_owner owner = { "o", 7 };
	struct peer *peer = plain_peer(world, 0, "x", 0);
	stateid4 first, second;

	assert_int_equal(PLAIN(peer, op_root(), plain_open(peer, &owner, "file", RW, 0, true)), NFS4_OK);
	first = open_ok(peer)->stateid;
	owner.seqid = 100;
	assert_int_equal(PLAIN(peer, op_root(), plain_open(peer, &owner, "file", R, 0, true)), NFS4_OK);
	second = open_ok(peer)->stateid;
	assert_int_equal(world->shared->tables.opens, 1);
	assert_int_equal(PLAIN(peer, op_root(), op_lookup("file"), plain_open_confirm(&owner, &first)),
		NFS4ERR_BAD_STATEID);
	owner.seqid = 5;
	assert_int_equal(PLAIN(peer, op_root(), op_lookup("file"), plain_open_confirm(&owner, &second)),
		NFS4ERR_BAD_SEQID);
	assert_int_equal(world->shared->tables.opens, 0);
}

/* 9.1.7: "If a duplicate of last request (r == L) is received, the stored response is returned." After an
 * OPEN, the current filehandle is that of the file: GETFH follows. */
static void
a_repeated_open_gets_its_answer_and_its_file(void **state)
{
	struct world *world = *state;
	struct plain_owner owner = { "o", 0 };
	struct peer *peer = plain_peer(world, 0, "x", 0);
	nfs_argop4 op;
	stateid4 stateid;
	uint8_t handle[128];
	uint32_t length;

	plain_opened(peer, &owner, "first", R);
	op = plain_open(peer, &owner, "file", RW, 0, true);
	op.u.opopen.openhow.u.how.mode = GUARDED4;
	assert_int_equal(PLAIN(peer, op_root(), op, op_plain(OP_GETFH)), NFS4_OK);
	stateid = open_ok(peer)->stateid;
	length = plain_res(peer, 2)->u.opgetfh.u.resok4.object.length;
	memcpy(handle, plain_res(peer, 2)->u.opgetfh.u.resok4.object.data, length);
	/* It would be NFS4ERR_EXIST if it were executed once more. */
	assert_int_equal(PLAIN(peer, op_root(), op, op_plain(OP_GETFH)), NFS4_OK);
	assert_memory_equal(&open_ok(peer)->stateid, &stateid, sizeof(stateid));
	assert_int_equal(plain_res(peer, 2)->u.opgetfh.u.resok4.object.length, length);
	assert_memory_equal(plain_res(peer, 2)->u.opgetfh.u.resok4.object.data, handle, length);
	assert_int_equal(world->shared->tables.opens, 2);
	/* An error is repeated, too, although it would not come any more. */
	op = plain_open(peer, &owner, "none", R, 0, false);
	assert_int_equal(PLAIN(peer, op_root(), op), NFS4ERR_NOENT);
	assert_int_equal(PLAIN(peer, op_root(), op_create(NF4DIR, "none", NULL)), NFS4_OK);
	assert_int_equal(PLAIN(peer, op_root(), op), NFS4ERR_NOENT);
	assert_int_equal(
		PLAIN(peer, op_root(), plain_open(peer, &owner, "none", R, 0, false)), NFS4ERR_ISDIR);
	/* 9.1.9: "When the type of the operation does not match that originally used, NFS4ERR_BAD_SEQID is
	 * returned." */
	owner.seqid--;
	assert_int_equal(
		PLAIN(peer, op_root(), op_lookup("file"), plain_close(&owner, &stateid)), NFS4ERR_BAD_SEQID);
	assert_int_equal(PLAIN(peer, op_root(), op_lookup("file"), plain_close(&owner, &stateid)), NFS4_OK);
}

/* The first OPEN of an owner is repeated, with OPEN4_RESULT_CONFIRM. */
static void
a_repeated_first_open_is_to_be_confirmed(void **state)
{
	struct plain_owner owner = { "o", 0 };
	struct peer *peer = plain_peer(*state, 0, "x", 0);
	nfs_argop4 op = plain_open(peer, &owner, "file", RW, 0, true);
	stateid4 stateid;

	assert_int_equal(PLAIN(peer, op_root(), op), NFS4_OK);
	stateid = open_ok(peer)->stateid;
	assert_int_equal(PLAIN(peer, op_root(), op), NFS4_OK);
	assert_memory_equal(&open_ok(peer)->stateid, &stateid, sizeof(stateid));
	assert_true(open_ok(peer)->rflags & OPEN4_RESULT_CONFIRM);
	assert_int_equal(
		PLAIN(peer, op_root(), op_lookup("file"), plain_open_confirm(&owner, &stateid)), NFS4_OK);
	owner.seqid--;
	assert_int_equal(
		PLAIN(peer, op_root(), op_lookup("file"), plain_open_confirm(&owner, &stateid)), NFS4_OK);
}

/* 9.1.7: "The client MUST advance the sequence number" after each result but those that are listed. */
static void
errors_are_counted_as_listed(void **state)
{
	struct plain_owner owner = { "o", 0 };
	struct peer *peer = plain_peer(*state, 0, "x", 0);
	stateid4 stateid = plain_opened(peer, &owner, "file", RW), wrong = stateid;
	struct plain_owner same;

	/* Not counted: NFS4ERR_NOFILEHANDLE, NFS4ERR_BAD_STATEID, NFS4ERR_BAD_SEQID. */
	same = owner;
	assert_int_equal(PLAIN(peer, plain_close(&same, &stateid)), NFS4ERR_NOFILEHANDLE);
	same = owner;
	wrong.seqid += 5;
	assert_int_equal(
		PLAIN(peer, op_root(), op_lookup("file"), plain_close(&same, &wrong)), NFS4ERR_BAD_STATEID);
	same.seqid = owner.seqid + 1;
	assert_int_equal(
		PLAIN(peer, op_root(), op_lookup("file"), plain_close(&same, &stateid)), NFS4ERR_BAD_SEQID);
	/* 9.1.9: "NFS4ERR_BAD_SEQID has priority." */
	same.seqid = owner.seqid + 1;
	assert_int_equal(
		PLAIN(peer, op_root(), op_lookup("file"), plain_close(&same, &wrong)), NFS4ERR_BAD_SEQID);
	/* Counted: NFS4ERR_OLD_STATEID, NFS4ERR_INVAL, NFS4ERR_ISDIR, NFS4ERR_SHARE_DENIED. */
	wrong.seqid = stateid.seqid - 1;
	assert_int_equal(
		PLAIN(peer, op_root(), op_lookup("file"), plain_close(&owner, &wrong)), NFS4ERR_OLD_STATEID);
	assert_int_equal(PLAIN(peer, op_root(), op_lookup("file"), plain_downgrade(&owner, &stateid, 0, 0)),
		NFS4ERR_INVAL);
	assert_int_equal(
		PLAIN(peer, op_root(), plain_open(peer, &owner, "file", R, W, false)), NFS4ERR_SHARE_DENIED);
	assert_int_equal(PLAIN(peer, op_root(), plain_open(peer, &owner, "", R, 0, false)), NFS4ERR_INVAL);
	assert_int_equal(PLAIN(peer, op_root(), op_lookup("file"), plain_close(&owner, &stateid)), NFS4_OK);
}

/* A CLOSE is repeated although its state has gone, until the owner does something else. */
static void
a_repeated_close_gets_its_answer(void **state)
{
	struct plain_owner owner = { "o", 0 }, again;
	struct peer *peer = plain_peer(*state, 0, "x", 0);
	stateid4 stateid = plain_opened(peer, &owner, "file", RW);

	again = owner;
	assert_int_equal(PLAIN(peer, op_root(), op_lookup("file"), plain_close(&owner, &stateid)), NFS4_OK);
	for (int i = 0; i < 2; i++) {
		struct plain_owner same = again;

		assert_int_equal(
			PLAIN(peer, op_root(), op_lookup("file"), plain_close(&same, &stateid)), NFS4_OK);
	}
	assert_int_equal(read_by(peer, "file", &stateid), NFS4ERR_BAD_STATEID);
	again = owner;
	assert_int_equal(PLAIN(peer, op_root(), op_lookup("file"), plain_close(&again, &stateid)),
		NFS4ERR_BAD_STATEID);
	plain_opened(peer, &owner, "file", RW);
	again.seqid = owner.seqid - 2;
	assert_int_equal(PLAIN(peer, op_root(), op_lookup("file"), plain_close(&again, &stateid)),
		NFS4ERR_BAD_STATEID);
}

/* OPEN_DOWNGRADE has a number, and is repeated. */
static void
a_repeated_downgrade_gets_its_answer(void **state)
{
	struct plain_owner owner = { "o", 0 };
	struct peer *peer = plain_peer(*state, 0, "x", 0);
	stateid4 stateid = plain_opened(peer, &owner, "file", R), first, second;
	nfs_argop4 op;

	stateid = plain_opened(peer, &owner, "file", RW);
	op = plain_downgrade(&owner, &stateid, R, 0);
	assert_int_equal(PLAIN(peer, op_root(), op_lookup("file"), op), NFS4_OK);
	first = plain_res(peer, 2)->u.opopen_downgrade.u.resok4.open_stateid;
	assert_int_equal(PLAIN(peer, op_root(), op_lookup("file"), op), NFS4_OK);
	second = plain_res(peer, 2)->u.opopen_downgrade.u.resok4.open_stateid;
	assert_memory_equal(&first, &second, sizeof(first));
	assert_int_equal(
		PLAIN(peer, op_root(), op_lookup("file"), op_write(&first, 0, "x")), NFS4ERR_OPENMODE);
}

/* 16.10: LOCK by a new lock-owner is a request of two owners; a known lock-owner comes with its next number.
 */
static void
locks_have_numbers(void **state)
{
	struct plain_owner owner = { "o", 0 }, locker = { "l", 0 }, other = { "m", 9 };
	struct peer *peer = plain_peer(*state, 0, "x", 0);
	stateid4 open = plain_opened(peer, &owner, "file", RW), lock;
	nfs_argop4 first = plain_lock(peer, &owner, &open, &locker, WRITE_LT, 0, 10), op;

	assert_int_equal(PLAIN(peer, op_root(), op_lookup("file"), first), NFS4_OK);
	lock = plain_res(peer, 2)->u.oplock.u.resok4.lock_stateid;
	assert_int_equal(PLAIN(peer, op_root(), op_lookup("file"), first), NFS4_OK);
	assert_memory_equal(&plain_res(peer, 2)->u.oplock.u.resok4.lock_stateid, &lock, sizeof(lock));
	/* The lock-owner is known, and its number is not the next one. */
	op = plain_lock(peer, &owner, &open, &(struct plain_owner){ "l", 0 }, WRITE_LT, 20, 1);
	assert_int_equal(PLAIN(peer, op_root(), op_lookup("file"), op), NFS4ERR_BAD_SEQID);
	owner.seqid--;
	op = plain_lock(peer, &owner, &open, &(struct plain_owner){ "l", 2 }, WRITE_LT, 20, 1);
	assert_int_equal(PLAIN(peer, op_root(), op_lookup("file"), op), NFS4ERR_BAD_SEQID);
	owner.seqid--;
	op = plain_lock_again(&locker, &lock, WRITE_LT, 20, 1);
	assert_int_equal(PLAIN(peer, op_root(), op_lookup("file"), op), NFS4_OK);
	lock = plain_res(peer, 2)->u.oplock.u.resok4.lock_stateid;
	assert_int_equal(lock.seqid, 2);
	assert_int_equal(PLAIN(peer, op_root(), op_lookup("file"), op), NFS4_OK);
	assert_int_equal(plain_res(peer, 2)->u.oplock.u.resok4.lock_stateid.seqid, 2);
	/* NFS4ERR_DENIED is repeated with the lock that was in the way. */
	op = plain_lock(peer, &owner, &open, &other, WRITE_LT, 5, 1);
	assert_int_equal(PLAIN(peer, op_root(), op_lookup("file"), op), NFS4ERR_DENIED);
	assert_int_equal(
		PLAIN(peer, op_root(), op_lookup("file"), plain_locku(&locker, &lock, 0, NFS4_UINT64_MAX)),
		NFS4_OK);
	assert_int_equal(PLAIN(peer, op_root(), op_lookup("file"), op), NFS4ERR_DENIED);
	assert_int_equal(plain_res(peer, 2)->u.oplock.u.denied.owner.clientid, peer->clientid);
	assert_int_equal(plain_res(peer, 2)->u.oplock.u.denied.owner.owner.length, 1);
	assert_int_equal(PLAIN(peer, op_root(), op_lookup("file"),
				 plain_lock(peer, &owner, &open, &other, WRITE_LT, 5, 1)),
		NFS4_OK);
}

/* The owner of a LOCK is one of the client that has the open. */
static void
a_lock_owner_is_of_the_client_of_the_open(void **state)
{
	struct plain_owner owner = { "o", 0 }, locker = { "l", 0 };
	struct peer *peer = plain_peer(*state, 0, "x", 0), *other = plain_peer(*state, 1, "y", 0);
	stateid4 open = plain_opened(peer, &owner, "file", RW);
	nfs_argop4 op = plain_lock(other, &owner, &open, &locker, WRITE_LT, 0, 10);

	assert_int_equal(PLAIN(peer, op_root(), op_lookup("file"), op), NFS4ERR_BAD_STATEID);
	op.u.oplock.locker.u.open_owner.lock_owner.clientid ^= 1;
	assert_int_equal(PLAIN(peer, op_root(), op_lookup("file"), op), NFS4ERR_STALE_CLIENTID);
	op.u.oplock.locker.u.open_owner.lock_owner.clientid = peer->clientid;
	assert_int_equal(PLAIN(peer, op_root(), op_lookup("file"), op), NFS4_OK);
}

/* LOCKT is of the client that its client ID names. */
static void
a_test_names_the_lock_in_the_way(void **state)
{
	struct plain_owner owner = { "o", 0 }, locker = { "l", 0 };
	struct peer *peer = plain_peer(*state, 0, "x", 0), *other = plain_peer(*state, 1, "y", 0);
	stateid4 open = plain_opened(peer, &owner, "file", RW);

	assert_int_equal(PLAIN(peer, op_root(), op_lookup("file"),
				 plain_lock(peer, &owner, &open, &locker, WRITE_LT, 3, 10)),
		NFS4_OK);
	assert_int_equal(
		PLAIN(peer, op_root(), op_lookup("file"), plain_lockt(peer, "l", WRITE_LT, 0, 99)), NFS4_OK);
	assert_int_equal(PLAIN(other, op_root(), op_lookup("file"), plain_lockt(other, "l", READ_LT, 0, 99)),
		NFS4ERR_DENIED);
	assert_int_equal(plain_res(other, 2)->u.oplockt.u.denied.offset, 3);
	assert_int_equal(plain_res(other, 2)->u.oplockt.u.denied.owner.clientid, peer->clientid);
	other->clientid ^= 1;
	assert_int_equal(PLAIN(other, op_root(), op_lookup("file"), plain_lockt(other, "l", READ_LT, 0, 99)),
		NFS4ERR_STALE_CLIENTID);
}

/* 16.37.4: "If file locks associated with the lock_owner are held at the server, the error NFS4ERR_LOCKS_HELD
 * will be returned"; 16.37.5: else "any lock stateids associated with that lock-owner" go. */
static void
a_lock_owner_is_released(void **state)
{
	struct plain_owner owner = { "o", 0 }, locker = { "l", 0 };
	struct peer *peer = plain_peer(*state, 0, "x", 0);
	stateid4 open = plain_opened(peer, &owner, "file", RW), lock;

	assert_int_equal(PLAIN(peer, plain_release(peer, "l")), NFS4_OK);
	assert_int_equal(PLAIN(peer, op_root(), op_lookup("file"),
				 plain_lock(peer, &owner, &open, &locker, WRITE_LT, 3, 10)),
		NFS4_OK);
	lock = plain_res(peer, 2)->u.oplock.u.resok4.lock_stateid;
	assert_int_equal(PLAIN(peer, plain_release(peer, "l")), NFS4ERR_LOCKS_HELD);
	assert_int_equal(
		PLAIN(peer, op_root(), op_lookup("file"), plain_locku(&locker, &lock, 0, 50)), NFS4_OK);
	lock = plain_res(peer, 2)->u.oplocku.u.lock_stateid;
	assert_int_equal(read_by(peer, "file", &lock), NFS4_OK);
	assert_int_equal(PLAIN(peer, plain_release(peer, "l")), NFS4_OK);
	assert_int_equal(read_by(peer, "file", &lock), NFS4ERR_BAD_STATEID);
	/* The owner begins anew, with any number. */
	locker.seqid = 77;
	assert_int_equal(PLAIN(peer, op_root(), op_lookup("file"),
				 plain_lock(peer, &owner, &open, &locker, WRITE_LT, 3, 10)),
		NFS4_OK);
	/* CLOSE ends the locks of its open, and so of the owner. */
	assert_int_equal(PLAIN(peer, op_root(), op_lookup("file"), plain_close(&owner, &open)), NFS4_OK);
	assert_int_equal(PLAIN(peer, plain_release(peer, "l")), NFS4_OK);
}

/* 9.1.10: the server may release a state-owner that holds nothing. Linux names another owner as one whose
 * first LOCK was refused, and begins with 0. */
static void
a_lock_owner_that_got_nothing_begins_anew(void **state)
{
	struct world *world = *state;
	struct plain_owner owner = { "o", 0 }, locker = { "l", 0 }, refused = { "r", 0 };
	struct peer *peer = plain_peer(world, 0, "x", 0);
	stateid4 open = plain_opened(peer, &owner, "file", RW), lock;

	assert_int_equal(PLAIN(peer, op_root(), op_lookup("file"),
				 plain_lock(peer, &owner, &open, &locker, WRITE_LT, 3, 10)),
		NFS4_OK);
	lock = plain_res(peer, 2)->u.oplock.u.resok4.lock_stateid;
	assert_int_equal(PLAIN(peer, op_root(), op_lookup("file"),
				 plain_lock(peer, &owner, &open, &refused, WRITE_LT, 3, 10)),
		NFS4ERR_DENIED);
	assert_int_equal(world->shared->tables.names.count, 2);
	assert_int_equal(
		PLAIN(peer, op_root(), op_lookup("file"), plain_locku(&locker, &lock, 0, 50)), NFS4_OK);
	refused.seqid = 0;
	assert_int_equal(PLAIN(peer, op_root(), op_lookup("file"),
				 plain_lock(peer, &owner, &open, &refused, WRITE_LT, 3, 10)),
		NFS4_OK);
	assert_int_equal(world->shared->tables.names.count, 3);
	assert_int_equal(PLAIN(peer, op_root(), op_lookup("file"), plain_close(&owner, &open)), NFS4_OK);
	assert_int_equal(world->shared->tables.names.count, 1);
}

/* While a request of an owner is under way, the next one waits. */
static void
requests_of_an_owner_wait_for_each_other(void **state)
{
	struct world *world = *state;
	struct rr_nfs4_tables *tables = &world->shared->tables;
	struct plain_owner owner = { "o", 0 };
	struct peer *peer = plain_peer(world, 0, "x", 0);
	const struct rr_nfs4_owner_done done = { .status = NFS4ERR_RESOURCE };
	struct rr_nfs4_owner *found;
	stateid4 stateid = plain_opened(peer, &owner, "file", RW);
	struct started started = { .ops = { op_root(), op_lookup("file"), plain_close(&owner, &stateid) } };
	struct rr_nfs4_client *client;

	assert_int_equal(rr_nfs4_client_known(&tables->clients, peer->clientid, &client), NFS4_OK);
	found = rr_nfs4_owner_find(tables, client, RR_NFS4_OPEN, text_bytes("o"));
	rr_nfs4_owner_begin(found);
	started.args = (COMPOUND4args){ .minorversion = 0, .argarray = { 3, started.ops } };
	peer_start_raw(peer, &started);
	for (int i = 0; i < 20; i++)
		assert_true(rr_loop_turn(world->stage.engine->loop, RR_MILLISECOND) >= 0);
	assert_false(started.done);
	rr_nfs4_owner_end(found, &done);
	while (!started.done)
		assert_true(rr_loop_turn(world->stage.engine->loop, RR_SECOND) >= 0);
	assert_int_equal(peer->res.status, NFS4_OK);
}

/* 9.1.10: "When a particular state-owner no longer holds open or file locking state at the server, the server
 * may choose to release the sequence number state": after a lease; 16.18.5: and so it does with an OPEN that
 * was not confirmed. */
static void
idle_owners_are_forgotten_after_a_lease(void **state)
{
	struct world *world = *state;
	struct rr_nfs4_tables *tables = &world->shared->tables;
	struct plain_owner owner = { "o", 0 }, unconfirmed = { "u", 0 };
	struct peer *peer = plain_peer(world, 0, "x", 0);
	stateid4 stateid = plain_opened(peer, &owner, "file", RW);

	assert_int_equal(
		PLAIN(peer, op_root(), plain_open(peer, &unconfirmed, "file", R, 0, false)), NFS4_OK);
	assert_int_equal(tables->opens, 2);
	for (int i = 0; i < 3; i++) {
		rr_nfs4_owners_look(tables, rr_now(&world->stage.env));
		world->stage.now += LEASE - RR_SECOND;
		assert_int_equal(PLAIN(peer, plain_renew(peer->clientid)), NFS4_OK);
		world->stage.now += 2 * RR_SECOND;
	}
	assert_int_equal(tables->names.count, 1);
	assert_int_equal(tables->opens, 1);
	assert_int_equal(PLAIN(peer, op_root(), op_lookup("file"), plain_close(&owner, &stateid)), NFS4_OK);
	for (int i = 0; i < 3; i++) {
		rr_nfs4_owners_look(tables, rr_now(&world->stage.env));
		world->stage.now += LEASE + RR_SECOND;
	}
	assert_int_equal(tables->names.count, 0);
	assert_int_equal(tables->closed.count, 0);
}

/* A client that makes owners without end has as many as its quota allows, and those of others stay. */
static void
a_flood_of_owners_replaces_its_own(void **state)
{
	struct world *world = *state;
	struct rr_nfs4_tables *tables = &world->shared->tables;
	struct plain_owner owner = { "o", 0 };
	struct peer *peer = plain_peer(world, 0, "x", 0), *flood = plain_peer(world, 1, "y", 0);
	stateid4 stateid = plain_opened(peer, &owner, "file", RW);
	uint64_t kept;
	char name[] = "flood0000";

	tables->owners_quota.free = 100;
	kept = tables->owners_quota.least + 100;
	for (uint32_t i = 0; i < kept + 200; i++) {
		struct plain_owner many = { name, 0 };

		for (uint32_t digit = 0, rest = i; digit < 4; digit++, rest /= 16)
			name[8 - digit] = (char)('a' + rest % 16);
		assert_int_equal(PLAIN(flood, op_root(), plain_open(flood, &many, "none", R, 0, false)),
			NFS4ERR_NOENT);
	}
	assert_true(tables->names.count <= kept + 1);
	assert_int_equal(read_by(peer, "file", &stateid), NFS4_OK);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, world_setup_plain, world_teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(an_owner_is_confirmed_once),
		TEST(an_unconfirmed_owner_begins_anew),
		TEST(a_repeated_open_gets_its_answer_and_its_file),
		TEST(a_repeated_first_open_is_to_be_confirmed),
		TEST(errors_are_counted_as_listed),
		TEST(a_repeated_close_gets_its_answer),
		TEST(a_repeated_downgrade_gets_its_answer),
		TEST(locks_have_numbers),
		TEST(a_lock_owner_is_of_the_client_of_the_open),
		TEST(a_test_names_the_lock_in_the_way),
		TEST(a_lock_owner_is_released),
		TEST(a_lock_owner_that_got_nothing_begins_anew),
		TEST(requests_of_an_owner_wait_for_each_other),
		TEST(idle_owners_are_forgotten_after_a_lease),
		TEST(a_flood_of_owners_replaces_its_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
