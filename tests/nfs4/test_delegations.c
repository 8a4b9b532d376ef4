/* SPDX-License-Identifier: BSD-3-Clause */
/* Read delegations: RFC 8881, sections 10.2, 10.4, 18.6, 18.16, 18.38, 18.48 and 20.2. */
#include "world.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { READ = OPEN4_SHARE_ACCESS_READ, WRITE = OPEN4_SHARE_ACCESS_WRITE };

static const stateid4 *
opened(const struct peer *peer, uint32_t index)
{
	return &peer_res(peer, index)->u.opopen.u.resok4.stateid;
}

static const open_delegation4 *
given(const struct peer *peer, uint32_t index)
{
	return &peer_res(peer, index)->u.opopen.u.resok4.delegation;
}

/* Makes a client with a session, and waits until the server knows that the backchannel works. */
static struct peer *
working_caller(struct world *world, uint32_t number, const char *name)
{
	struct peer *peer = world_caller(world, number, name, 0);

	world_wait(world, &peer->answers.nulls, 1);
	while (peer_flags(peer) != 0)
		RUN(peer, op_root());
	RUN(peer, op_root());
	return peer;
}

static void
make_file(struct peer *peer, const char *name)
{
	stateid4 stateid;

	assert_int_equal(RUN(peer, op_root(), op_open(name, "maker", WRITE, 0, true)), NFS4_OK);
	stateid = *opened(peer, 1);
	assert_int_equal(RUN(peer, op_root(), op_lookup(name), op_close(&stateid)), NFS4_OK);
}

/* What hold() makes: a client with a delegation of "file", which the client has closed, and a second
 * client. */
struct held {
	struct peer *holder, *other;
	stateid4 stateid;
};

static struct held
hold(struct world *world)
{
	struct held held = { working_caller(world, 0, "holder"), world_peer(world, 1, "other", 0), { 0 } };
	stateid4 open;

	make_file(held.holder, "file");
	make_file(held.holder, "target");
	assert_int_equal(RUN(held.holder, op_root(), op_open("file", "o", READ, 0, false)), NFS4_OK);
	assert_int_equal(given(held.holder, 1)->delegation_type, OPEN_DELEGATE_READ);
	assert_false(given(held.holder, 1)->u.read.recall);
	held.stateid = given(held.holder, 1)->u.read.stateid;
	open = *opened(held.holder, 1);
	assert_int_equal(RUN(held.holder, op_root(), op_lookup("file"), op_close(&open)), NFS4_OK);
	return held;
}

static nfs_argop4
op_delegreturn(const stateid4 *stateid)
{
	return (nfs_argop4){ .argop = OP_DELEGRETURN, .u.opdelegreturn.deleg_stateid = *stateid };
}

static nfsstat4
give_back(const struct held *held, const char *name)
{
	return RUN(held->holder, op_root(), op_lookup(name), op_delegreturn(&held->stateid));
}

static void
expect_recall(struct world *world, const struct held *held)
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

/* Has the other client open the file for writing, which recalls the holder's delegation. */
static void
cause_recall(struct world *world, const struct held *held)
{
	assert_int_equal(RUN(held->other, op_root(), op_open("file", "o", WRITE, 0, false)), NFS4ERR_DELAY);
	expect_recall(world, held);
}

/* 19.1.3: "the server will use CB_NULL to confirm the existence of a path for RPCs from the server to
 * client." The second session has the path of the first one. */
static void
a_session_over_a_tested_connection_gets_a_delegation_at_once(void **state)
{
	struct peer *peer = working_caller(*state, 0, "client");
	nfs_argop4 destroy = { .argop = OP_DESTROY_SESSION };

	make_file(peer, "file");
	memcpy(destroy.u.opdestroy_session.dsa_sessionid, peer->session, sizeof(peer->session));
	assert_int_equal(peer_raw(peer, &destroy, 1), NFS4_OK);
	peer->answers.silent = true;
	assert_int_equal(peer_create_session(peer), NFS4_OK);
	assert_int_equal(RUN(peer, op_root(), op_open("file", "o", READ, 0, false)), NFS4_OK);
	assert_int_equal(given(peer, 1)->delegation_type, OPEN_DELEGATE_READ);
}

/* 10.4: "There must be no current OPEN conflicting with the requested delegation." */
static void
a_delegation_needs_a_backchannel_and_no_writer(void **state)
{
	struct world *world = *state;
	struct peer *peer = working_caller(world, 0, "client"), *deaf = world_peer(world, 1, "deaf", 0);
	stateid4 open;

	make_file(peer, "file");
	assert_int_equal(RUN(deaf, op_root(), op_open("file", "o", READ, 0, false)), NFS4_OK);
	assert_int_equal(given(deaf, 1)->delegation_type, OPEN_DELEGATE_NONE);
	assert_int_equal(RUN(deaf, op_root(), op_open("file", "w", WRITE, 0, false)), NFS4_OK);
	open = *opened(deaf, 1);
	assert_int_equal(RUN(peer, op_root(), op_open("file", "o", READ, 0, false)), NFS4_OK);
	assert_int_equal(given(peer, 1)->delegation_type, OPEN_DELEGATE_NONE);
	assert_int_equal(RUN(deaf, op_root(), op_lookup("file"), op_close(&open)), NFS4_OK);
	assert_int_equal(RUN(peer, op_root(), op_open("file", "o", READ, 0, false)), NFS4_OK);
	assert_int_equal(given(peer, 1)->delegation_type, OPEN_DELEGATE_READ);
	/* The client opens the file a second time, and gets no second delegation. */
	assert_int_equal(RUN(peer, op_root(), op_open("file", "p", READ, 0, false)), NFS4_OK);
	assert_int_equal(given(peer, 1)->delegation_type, OPEN_DELEGATE_NONE);
}

/* A file that is made by the OPEN will be written to soon, and a share that denies writing will stop other
 * clients. The server gives a delegation for such an OPEN only when the client asks for it. */
static void
a_delegation_that_would_not_last_is_given_only_where_it_is_asked_for(void **state)
{
	enum { ASKED = READ | OPEN4_SHARE_ACCESS_WANT_READ_DELEG };
	struct peer *peer = working_caller(*state, 0, "client");

	assert_int_equal(RUN(peer, op_root(), op_open("a", "o", READ, 0, true)), NFS4_OK);
	assert_int_equal(given(peer, 1)->delegation_type, OPEN_DELEGATE_NONE);
	assert_int_equal(RUN(peer, op_root(), op_open("b", "o", ASKED, 0, true)), NFS4_OK);
	assert_int_equal(given(peer, 1)->delegation_type, OPEN_DELEGATE_READ);
	assert_int_equal(
		RUN(peer, op_root(), op_open("a", "o", READ, OPEN4_SHARE_DENY_WRITE, false)), NFS4_OK);
	assert_int_equal(given(peer, 1)->delegation_type, OPEN_DELEGATE_NONE);
	assert_int_equal(
		RUN(peer, op_root(), op_open("a", "o", ASKED, OPEN4_SHARE_DENY_WRITE, false)), NFS4_OK);
	assert_int_equal(given(peer, 1)->delegation_type, OPEN_DELEGATE_READ);
}

/* 18.16.3: the flags OPEN4_SHARE_ACCESS_WANT_*, and why there is no delegation. */
static void
a_client_says_what_it_wants(void **state)
{
	static const struct {
		uint32_t access;
		open_delegation_type4 type;
		why_no_delegation4 why;
	} wants[] = {
		{ READ | OPEN4_SHARE_ACCESS_WANT_NO_DELEG, OPEN_DELEGATE_NONE_EXT, WND4_NOT_WANTED },
		{ READ | OPEN4_SHARE_ACCESS_WANT_CANCEL, OPEN_DELEGATE_NONE_EXT, WND4_CANCELLED },
		{ READ | OPEN4_SHARE_ACCESS_WANT_WRITE_DELEG, OPEN_DELEGATE_NONE_EXT,
			WND4_WRITE_DELEG_NOT_SUPP_FTYPE },
		{ READ | OPEN4_SHARE_ACCESS_WANT_READ_DELEG, OPEN_DELEGATE_READ, 0 },
		{ READ | OPEN4_SHARE_ACCESS_WANT_ANY_DELEG, OPEN_DELEGATE_READ, 0 },
		{ READ | WRITE | OPEN4_SHARE_ACCESS_WANT_ANY_DELEG, OPEN_DELEGATE_NONE_EXT, WND4_RESOURCE },
		/* The file is still open for writing. */
		{ READ | OPEN4_SHARE_ACCESS_WANT_READ_DELEG, OPEN_DELEGATE_NONE_EXT, WND4_CONTENTION },
	};
	static const char *const names[] = { "a", "b", "c", "d", "e", "f", "f" };
	struct peer *peer = working_caller(*state, 0, "client");

	for (uint32_t i = 0; i < sizeof(wants) / sizeof(*wants); i++) {
		const open_delegation4 *delegation;

		make_file(peer, names[i]);
		if (i == 6)
			assert_int_equal(RUN(peer, op_root(), op_open("f", "w", WRITE, 0, false)), NFS4_OK);
		assert_int_equal(
			RUN(peer, op_root(), op_open(names[i], "o", wants[i].access, 0, false)), NFS4_OK);
		delegation = given(peer, 1);
		assert_int_equal(delegation->delegation_type, wants[i].type);
		if (wants[i].type == OPEN_DELEGATE_NONE_EXT)
			assert_int_equal(delegation->u.od_whynone.ond_why, wants[i].why);
	}
}

/* 10.2: "The conflicting request will not be acted on until the recall is complete." */
static void
an_open_for_writing_waits_until_it_is_returned(void **state)
{
	struct held held = hold(*state);

	assert_int_equal(RUN(held.other, op_root(), op_open("file", "o", WRITE, 0, false)), NFS4ERR_DELAY);
	expect_recall(*state, &held);
	assert_int_equal(RUN(held.other, op_root(), op_open("file", "o", WRITE, 0, false)), NFS4ERR_DELAY);
	/* Meanwhile the holder reads with its delegation, and the other client may open the file for
	 * reading. */
	assert_int_equal(
		RUN(held.holder, op_root(), op_lookup("file"), op_read(&held.stateid, 0, 10)), NFS4_OK);
	assert_int_equal(RUN(held.other, op_root(), op_open("file", "r", READ, 0, false)), NFS4_OK);
	assert_int_equal(give_back(&held, "file"), NFS4_OK);
	assert_int_equal(RUN(held.other, op_root(), op_open("file", "o", WRITE, 0, false)), NFS4_OK);
	assert_int_equal(held.holder->answers.compounds, 1);
	/* The delegation has ended with the first DELEGRETURN. */
	assert_int_equal(give_back(&held, "file"), NFS4ERR_BAD_STATEID);
}

/* Runs operations of another client that conflict with a delegation. Checks that they get NFS4ERR_DELAY, and
 * NFS4_OK when the delegation has been returned. */
static void
expect_conflict(void **state, const nfs_argop4 *ops, uint32_t count)
{
	struct held held = hold(*state);

	assert_int_equal(peer_run(held.other, ops, count), NFS4ERR_DELAY);
	expect_recall(*state, &held);
	assert_int_equal(give_back(&held, "file"), NFS4_OK);
	assert_int_equal(peer_run(held.other, ops, count), NFS4_OK);
	assert_int_equal(held.holder->answers.compounds, 1);
}

#define EXPECT_CONFLICT(state, ...)                                                                          \
	expect_conflict(state, (const nfs_argop4[]){ __VA_ARGS__ },                                          \
		sizeof((const nfs_argop4[]){ __VA_ARGS__ }) / sizeof(nfs_argop4))

static nfs_argop4
op_setattr(uint32_t attribute)
{
	static uint32_t size[1] = { 1 << FATTR4_SIZE }, mode[2] = { 0, 1 << (FATTR4_MODE - 32) };
	static const uint8_t octets[8] = { 0 };
	nfs_argop4 op = { .argop = OP_SETATTR };
	fattr4 *attributes = &op.u.opsetattr.obj_attributes;

	if (attribute == FATTR4_SIZE)
		*attributes = (fattr4){ { 1, size }, { octets, 8 } };
	else
		*attributes = (fattr4){ { 2, mode }, { octets, 4 } };
	return op;
}

static void
setting_the_size_recalls(void **state)
{
	EXPECT_CONFLICT(state, op_root(), op_lookup("file"), op_setattr(FATTR4_SIZE));
}

static void
setting_an_attribute_recalls(void **state)
{
	EXPECT_CONFLICT(state, op_root(), op_lookup("file"), op_setattr(FATTR4_MODE));
}

static void
writing_without_an_open_recalls(void **state)
{
	EXPECT_CONFLICT(state, op_root(), op_lookup("file"), op_write(&stateid_anonymous, 0, "data"));
}

static void
removing_recalls(void **state)
{
	EXPECT_CONFLICT(state, op_root(), op_remove("file"));
}

static void
renaming_recalls(void **state)
{
	EXPECT_CONFLICT(state, op_root(), op_plain(OP_SAVEFH), op_rename("file", "new"));
}

static void
renaming_another_file_over_it_recalls(void **state)
{
	EXPECT_CONFLICT(state, op_root(), op_plain(OP_SAVEFH), op_rename("target", "file"));
}

static void
linking_recalls(void **state)
{
	EXPECT_CONFLICT(state, op_root(), op_lookup("file"), op_plain(OP_SAVEFH), op_root(), op_link("link"));
}

static void
denying_others_to_read_recalls(void **state)
{
	EXPECT_CONFLICT(state, op_root(), op_open("file", "o", READ, OPEN4_SHARE_DENY_READ, false));
}

/* 10.4: a delegation protects against other clients. An operation of the holder itself is done at once. */
static void
the_holder_waits_for_nothing(void **state)
{
	struct held held = hold(*state);

	assert_int_equal(RUN(held.holder, op_root(), op_lookup("file"), op_setattr(FATTR4_MODE)), NFS4_OK);
	assert_int_equal(RUN(held.holder, op_root(), op_plain(OP_SAVEFH), op_rename("file", "new")), NFS4_OK);
	assert_int_equal(held.holder->answers.compounds, 0);
	/* To open the file for writing, the server gives up the lease of the storage, and recalls the
	 * delegation. The OPEN succeeds meanwhile. */
	assert_int_equal(RUN(held.holder, op_root(), op_open("new", "o", WRITE, 0, false)), NFS4_OK);
	expect_recall(*state, &held);
	assert_int_equal(
		RUN(held.holder, op_root(), op_lookup("new"), op_read(&held.stateid, 0, 10)), NFS4_OK);
	assert_int_equal(give_back(&held, "new"), NFS4_OK);
}

static nfs_argop4
op_claim(const stateid4 *delegation, const char *name, uint32_t access)
{
	nfs_argop4 op = op_open(name, "claimer", access, 0, false);

	op.u.opopen.claim = (open_claim4){ CLAIM_DELEGATE_CUR,
		{ .delegate_cur_info = { *delegation, text_bytes(name) } } };
	return op;
}

/* 10.2.1: before the client returns a delegation, it opens with CLAIM_DELEGATE_CUR what it has opened
 * locally. */
static void
what_is_open_by_a_delegation_is_opened_during_a_recall(void **state)
{
	struct held held = hold(*state);

	assert_int_equal(RUN(held.other, op_root(), op_open("file", "o", WRITE, 0, false)), NFS4ERR_DELAY);
	expect_recall(*state, &held);
	assert_int_equal(
		RUN(held.holder, op_root(), op_claim(&held.stateid, "target", READ)), NFS4ERR_BAD_STATEID);
	assert_int_equal(RUN(held.holder, op_root(), op_claim(&held.stateid, "file", WRITE)), NFS4ERR_INVAL);
	assert_int_equal(RUN(held.holder, op_root(), op_claim(&held.stateid, "file", READ)), NFS4_OK);
	assert_int_equal(given(held.holder, 1)->delegation_type, OPEN_DELEGATE_NONE);
	assert_int_equal(give_back(&held, "file"), NFS4_OK);
}

static nfs_argop4
op_free(const stateid4 *stateid)
{
	return (nfs_argop4){ .argop = OP_FREE_STATEID, .u.opfree_stateid.fsa_stateid = *stateid };
}

/* Lets 92 seconds pass, which is longer than a lease. Both clients renew their leases halfway and at the
 * end. */
static void
pass_a_lease(struct world *world, const struct held *held)
{
	for (int i = 0; i < 2; i++) {
		world->stage.now += 46 * RR_SECOND;
		RUN(held->holder, op_root());
		RUN(held->other, op_root());
	}
}

/* 10.4.5: "servers SHOULD revoke delegations that are not returned in a period of time equal to the lease
 * period." */
static void
what_is_not_returned_is_revoked(void **state)
{
	struct held held = hold(*state);
	nfs_argop4 test = { .argop = OP_TEST_STATEID, .u.optest_stateid.ts_stateids = { 1, &held.stateid } };

	assert_int_equal(RUN(held.other, op_root(), op_open("file", "o", WRITE, 0, false)), NFS4ERR_DELAY);
	expect_recall(*state, &held);
	pass_a_lease(*state, &held);
	while (RUN(held.other, op_root(), op_open("file", "o", WRITE, 0, false)) == NFS4ERR_DELAY)
		continue;
	assert_int_equal(RUN(held.holder, test), NFS4_OK);
	assert_int_equal(peer_flags(held.holder), SEQ4_STATUS_RECALLABLE_STATE_REVOKED);
	assert_int_equal(peer_res(held.holder, 0)->u.optest_stateid.u.tsr_resok4.tsr_status_codes.values[0],
		NFS4ERR_DELEG_REVOKED);
	assert_int_equal(RUN(held.holder, op_root(), op_lookup("file"), op_read(&held.stateid, 0, 10)),
		NFS4ERR_DELEG_REVOKED);
	assert_int_equal(give_back(&held, "file"), NFS4ERR_DELEG_REVOKED);
	/* The holder gets no new delegation before it has freed the revoked one. */
	assert_int_equal(RUN(held.holder, op_root(), op_open("target", "o", READ, 0, false)), NFS4_OK);
	assert_int_equal(given(held.holder, 1)->delegation_type, OPEN_DELEGATE_NONE);
	assert_int_equal(RUN(held.holder, op_free(&held.stateid)), NFS4_OK);
	assert_int_equal(RUN(held.holder, op_free(&held.stateid)), NFS4ERR_BAD_STATEID);
	assert_int_equal(peer_flags(held.holder), 0);
	assert_int_equal(RUN(held.holder, op_root(), op_open("target", "p", READ, 0, false)), NFS4_OK);
	assert_int_equal(given(held.holder, 1)->delegation_type, OPEN_DELEGATE_READ);
}

/* 2.10.6.1: a callback whose connection is lost is sent again in its slot, with its sequence ID. */
static void
a_recall_goes_out_again_over_the_next_connection(void **state)
{
	struct world *world = *state;
	struct held held = hold(world);

	held.holder->answers.silent = held.holder->answers.replays = true;
	cause_recall(world, &held);
	peer_disconnect(held.holder);
	held.holder->answers.silent = false;
	assert_int_equal(peer_bind(held.holder, 0), NFS4_OK);
	world_wait(world, &held.holder->answers.compounds, 2);
	assert_int_equal(held.holder->answers.retries, 1);
	assert_memory_equal(
		&held.holder->answers.ops[1].u.opcbrecall.stateid, &held.stateid, sizeof(stateid4));
	assert_int_equal(give_back(&held, "file"), NFS4_OK);
	assert_int_equal(RUN(held.other, op_root(), op_open("file", "o", WRITE, 0, false)), NFS4_OK);
}

/* 20.2: a recall may reach the client before the answer to the OPEN does. The client does not know the
 * stateid yet, and refuses the recall. */
static void
a_recall_that_comes_too_early_is_repeated(void **state)
{
	struct world *world = *state;
	struct held held = hold(world);

	held.holder->answers.status = NFS4ERR_BAD_STATEID;
	cause_recall(world, &held);
	held.holder->answers.status = NFS4_OK;
	world->stage.now += 6 * RR_SECOND;
	world_wait(world, &held.holder->answers.compounds, 2);
	assert_int_equal(give_back(&held, "file"), NFS4_OK);
}

/* Makes "file", and has the holder get a delegation of it by its last call. */
static struct held
hold_by_the_last_call_of(struct peer *holder, struct peer *other)
{
	struct held held = { holder, other, { 0 } };

	make_file(holder, "file");
	assert_int_equal(RUN(holder, op_root(), op_open("file", "o", READ, 0, false)), NFS4_OK);
	assert_int_equal(given(holder, 1)->delegation_type, OPEN_DELEGATE_READ);
	held.stateid = given(holder, 1)->u.read.stateid;
	return held;
}

/* The same with a holder and another client that it makes. */
static struct held
hold_by_the_last_call(struct world *world)
{
	return hold_by_the_last_call_of(working_caller(world, 0, "holder"), world_peer(world, 1, "other", 0));
}

/* 2.10.6.3: "Until the time the { session ID, slot ID, sequence ID } request triple can be retired, any
 * recalls of the associated object MUST carry an array of these referring identifiers (in the CB_SEQUENCE
 * operation's arguments)". */
static void
a_recall_that_may_overtake_the_answer_names_the_open(void **state)
{
	struct world *world = *state;
	struct held held = hold_by_the_last_call(world);
	const struct answers *answers = &held.holder->answers;

	cause_recall(world, &held);
	assert_true(answers->refers);
	assert_memory_equal(answers->referring_session, held.holder->session, sizeof(sessionid4));
	assert_int_equal(answers->referring.rc_slotid, 0);
	assert_int_equal(answers->referring.rc_sequenceid, held.holder->sequence);
}

/* 2.10.6.3: "After this time, it is not necessary for the server to provide this information in related
 * callbacks". The client does not use a slot again before it has seen the answer. */
static void
a_recall_after_the_next_call_of_the_slot_names_no_call(void **state)
{
	struct world *world = *state;
	struct held held = hold_by_the_last_call(world);

	assert_int_equal(RUN(held.holder, op_root()), NFS4_OK);
	cause_recall(world, &held);
	assert_false(held.holder->answers.refers);
}

/* A recall that is sent again does not name the OPEN any more, if the client has used the slot meanwhile. */
static void
a_repeated_recall_names_the_open_as_long_as_it_must(void **state)
{
	struct world *world = *state;
	struct held held = hold_by_the_last_call(world);
	const struct answers *answers = &held.holder->answers;

	held.holder->answers.sequence = NFS4ERR_DELAY;
	cause_recall(world, &held);
	assert_true(answers->refers);
	world->stage.now += 6 * RR_SECOND;
	world_wait(world, &answers->compounds, 2);
	assert_true(answers->refers);
	held.holder->answers.sequence = NFS4_OK;
	assert_int_equal(RUN(held.holder, op_root()), NFS4_OK);
	world->stage.now += 6 * RR_SECOND;
	world_wait(world, &answers->compounds, 3);
	assert_false(answers->refers);
	assert_int_equal(give_back(&held, "file"), NFS4_OK);
}

/* 2.10.6.3: with "a session ID referring to a destroyed session", "there is no race". The recall comes over
 * the second session. */
static void
a_recall_names_no_call_of_a_session_that_has_ended(void **state)
{
	struct world *world = *state;
	struct held held = hold_by_the_last_call(world);
	nfs_argop4 destroy = { .argop = OP_DESTROY_SESSION };

	memcpy(destroy.u.opdestroy_session.dsa_sessionid, held.holder->session, sizeof(sessionid4));
	assert_int_equal(peer_create_session(held.holder), NFS4_OK);
	assert_int_equal(peer_raw(held.holder, &destroy, 1), NFS4_OK);
	cause_recall(world, &held);
	assert_false(held.holder->answers.refers);
}

/* 2.10.6.4: "If a request exceeds ca_maxrequestsize, the reply will have the status NFS4ERR_REQ_TOO_BIG." The
 * smallest backchannel that the server agrees to takes a recall with a referring call, a credential, and the
 * longest filehandle. */
static void
the_largest_recall_fits_into_the_smallest_backchannel(void **state)
{
	static const channel_attrs4 least = { .ca_maxrequestsize = 256,
		.ca_maxresponsesize = 128,
		.ca_maxoperations = 2,
		.ca_maxrequests = 1 };
	struct world *world = *state;
	callback_sec_parms4 sec = { .cb_secflavor = AUTH_SYS, .u.cbsp_sys_cred.uid = 7 };
	const nfs_argop4 change = { .argop = OP_BACKCHANNEL_CTL,
		.u.opbackchannel_ctl = { .bca_cb_program = 0x40000000, .bca_sec_parms = { 1, &sec } } };
	const struct answers *answers = &world->peers[0].answers;
	struct held held;
	uint32_t longest;

	world->peers[0].back = &least;
	held.holder = working_caller(world, 0, "holder");
	assert_int_equal(RUN(held.holder, change), NFS4_OK);
	held = hold_by_the_last_call_of(held.holder, world_peer(world, 1, "other", 0));
	cause_recall(world, &held);
	assert_true(answers->refers);
	assert_int_equal(answers->uids[0], 7);
	longest = answers->size - (answers->handle_length + 3) / 4 * 4 + RR_VFS_HANDLE_MAX;
	assert_int_equal(longest, 236);
	assert_true(longest <= least.ca_maxrequestsize);
}

/* 18.46.3: SEQ4_STATUS_BACKCHANNEL_FAULT: the sequence of a slot is lost. */
static void
a_lost_sequence_is_a_fault_of_the_backchannel(void **state)
{
	struct world *world = *state;
	struct held held = hold(world);

	held.holder->answers.sequence = NFS4ERR_SEQ_MISORDERED;
	assert_int_equal(RUN(held.other, op_root(), op_open("file", "o", WRITE, 0, false)), NFS4ERR_DELAY);
	world_wait(world, &held.holder->answers.compounds, 1);
	while (RUN(held.holder, op_root()) == NFS4_OK && peer_flags(held.holder) == 0)
		continue;
	assert_int_equal(peer_flags(held.holder), SEQ4_STATUS_BACKCHANNEL_FAULT);
	assert_int_equal(give_back(&held, "file"), NFS4_OK);
}

/* 2.10.6.3: "It is possible for server callbacks to arrive at the client before the reply from related fore
 * channel operations", and so before it knows the session. That is no fault: the callback is sent again. */
static void
a_session_that_the_client_does_not_know_yet_is_tried_again(void **state)
{
	struct world *world = *state;
	struct held held = hold(world);
	struct rr_nfs4_session *session =
		rr_nfs4_session_find(&world->shared->tables.sessions, held.holder->session);

	assert_true(session->used);
	session->used = false;
	held.holder->answers.sequence = NFS4ERR_BADSESSION;
	assert_int_equal(RUN(held.other, op_root(), op_open("file", "o", WRITE, 0, false)), NFS4ERR_DELAY);
	world_wait(world, &held.holder->answers.compounds, 1);
	held.holder->answers.sequence = NFS4_OK;
	world->stage.now += 6 * RR_SECOND;
	world_wait(world, &held.holder->answers.compounds, 2);
	assert_int_equal(held.holder->answers.ops[0].argop, OP_CB_RECALL);
	assert_int_equal(give_back(&held, "file"), NFS4_OK);
	assert_int_equal(peer_flags(held.holder), 0);
	assert_true(session->used);
}

/* 18.16.3: an OPEN that a share reservation refuses is NFS4ERR_SHARE_DENIED; it changes nothing. */
static void
an_open_that_is_denied_recalls_nothing(void **state)
{
	const struct held held = hold(*state);
	const nfs_argop4 denies = op_open("file", "o", READ, OPEN4_SHARE_DENY_WRITE, false);
	const nfs_argop4 writes = op_open("file", "o", WRITE, 0, false);

	assert_int_equal(RUN(held.holder, op_root(), denies), NFS4_OK);
	assert_int_equal(RUN(held.other, op_root(), writes), NFS4ERR_SHARE_DENIED);
	assert_int_equal(RUN(held.holder, op_root()), NFS4_OK);
	assert_int_equal(RUN(held.other, op_root()), NFS4_OK);
	assert_int_equal(held.holder->answers.compounds, 0);
	assert_int_equal(give_back(&held, "file"), NFS4_OK);
}

/* A client whose lease is over does not make an OPEN of another client wait: its delegation ends. */
static void
a_client_without_a_lease_is_not_waited_for(void **state)
{
	struct world *world = *state;
	struct held held = hold(world);

	for (int i = 0; i < 2; i++) {
		world->stage.now += 46 * RR_SECOND;
		RUN(held.other, op_root());
	}
	while (RUN(held.other, op_root(), op_open("file", "o", WRITE, 0, false)) == NFS4ERR_DELAY)
		continue;
	assert_int_equal(held.other->res.status, NFS4_OK);
	assert_int_equal(RUN(held.holder, op_root()), NFS4ERR_BADSESSION);
}

/* 20.9.3: "when the server receives the CB_SEQUENCE reply, renew the lease of state related to the client
 * ID." So the delegation of a client that answers CB_RECALL does not end with the lease that its last call
 * has renewed. */
static void
a_client_that_answers_a_recall_keeps_its_lease(void **state)
{
	struct world *world = *state;
	struct held held = hold(world);
	const nfs_argop4 writes = op_open("file", "o", WRITE, 0, false);
	const struct rr_nfs4_session *session =
		rr_nfs4_session_find(&world->shared->tables.sessions, held.holder->session);

	world->stage.now += 46 * RR_SECOND;
	assert_int_equal(RUN(held.other, op_root(), writes), NFS4ERR_DELAY);
	expect_recall(world, &held);
	while (session->back_slots[0].busy)
		RUN(held.other, op_root());
	world->stage.now += 46 * RR_SECOND;
	for (int i = 0; i < 10; i++)
		assert_int_equal(RUN(held.other, op_root(), writes), NFS4ERR_DELAY);
	assert_int_equal(give_back(&held, "file"), NFS4_OK);
	assert_int_equal(RUN(held.other, op_root(), writes), NFS4_OK);
}

/* 10.4: "Operations done outside the NFSv4.1 protocol, due to, for example, access by other protocols, or by
 * local access, also need to result in delegation recall". */
static void
a_local_program_that_writes_recalls(void **state)
{
	struct world *world = *state;
	struct held held = hold(world);
	char path[100];
	int fd;

	snprintf(path, sizeof(path), "%s/file", world->path);
	fd = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
	assert_int_equal(fd, -1);
	assert_int_equal(errno, EWOULDBLOCK);
	expect_recall(world, &held);
	assert_int_equal(give_back(&held, "file"), NFS4_OK);
	fd = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
	assert_true(fd >= 0);
	/* The server gives no delegation of a file that a local program has open for writing. */
	assert_int_equal(RUN(held.holder, op_root(), op_open("file", "o", READ, 0, false)), NFS4_OK);
	assert_int_equal(given(held.holder, 1)->delegation_type, OPEN_DELEGATE_NONE);
	close(fd);
}

static nfs_argop4
op_reclaim(uint32_t access, open_delegation_type4 type)
{
	nfs_argop4 op = op_open("", "o", access, 0, false);

	op.u.opopen.claim = (open_claim4){ CLAIM_PREVIOUS, { .delegate_type = type } };
	return op;
}

/* 10.2.1: after a restart of the server, the client says by CLAIM_PREVIOUS which delegation it had. */
static void
a_delegation_is_reclaimed_after_a_restart(void **state)
{
	struct world *world = *state;
	struct held held = hold(world);
	struct peer *holder;
	stateid4 stateid;

	world_restart(world);
	holder = &world->peers[0];
	peer_connect(holder, 0);
	assert_int_equal(peer_exchange(holder, "holder", 1, 0), NFS4_OK);
	assert_int_equal(peer_create_session(holder), NFS4_OK);
	assert_int_equal(
		RUN(holder, op_root(), op_lookup("file"), op_reclaim(READ, OPEN_DELEGATE_READ)), NFS4_OK);
	assert_int_equal(given(holder, 2)->delegation_type, OPEN_DELEGATE_READ);
	assert_false(given(holder, 2)->u.read.recall);
	stateid = given(holder, 2)->u.read.stateid;
	assert_int_equal(RUN(holder, op_root(), op_lookup("file"), op_read(&stateid, 0, 10)), NFS4_OK);
	held.stateid = stateid;
	assert_int_equal(give_back(&held, "file"), NFS4_OK);
}

#define WITH_MEMORY(test) cmocka_unit_test_setup_teardown(test, world_setup_memory, world_teardown)

static enum rr_vfs_status
no_lease(struct rr_vfs *vfs, struct rr_vfs_lease *lease)
{
	(void)vfs;
	(void)lease;
	return RR_VFS_NOTSUPP;
}

/* An export whose file system has no leases takes no delegations from the files of another export. */
static void
leases_are_missing_in_one_file_system_alone(void **state)
{
	struct world *world = *state;
	struct peer *peer = working_caller(world, 0, "client");
	const struct rr_vfs_ops *ops = world->vfs->ops;
	struct rr_vfs_ops without = *ops;

	assert_int_equal(RUN(peer, op_root(), op_lookup("a"), op_open("file", "m", WRITE, 0, true),
				 op_close(&stateid_current)),
		NFS4_OK);
	assert_int_equal(RUN(peer, op_root(), op_lookup("deep"), op_lookup("b"),
				 op_open("file", "m", WRITE, 0, true), op_close(&stateid_current)),
		NFS4_OK);
	without.lease = no_lease;
	world->vfs->ops = &without;
	assert_int_equal(RUN(peer, op_root(), op_lookup("a"), op_open("file", "o", READ, 0, false)), NFS4_OK);
	assert_int_equal(given(peer, 2)->delegation_type, OPEN_DELEGATE_NONE);
	world->vfs->ops = ops;
	/* The server knows by now that the first export has no leases. */
	assert_int_equal(RUN(peer, op_root(), op_lookup("a"), op_open("file", "p", READ, 0, false)), NFS4_OK);
	assert_int_equal(given(peer, 2)->delegation_type, OPEN_DELEGATE_NONE);
	assert_int_equal(
		RUN(peer, op_root(), op_lookup("deep"), op_lookup("b"), op_open("file", "o", READ, 0, false)),
		NFS4_OK);
	assert_int_equal(given(peer, 3)->delegation_type, OPEN_DELEGATE_READ);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_MEMORY(a_delegation_needs_a_backchannel_and_no_writer),
		WITH_MEMORY(a_session_over_a_tested_connection_gets_a_delegation_at_once),
		WITH_MEMORY(a_delegation_that_would_not_last_is_given_only_where_it_is_asked_for),
		WITH_MEMORY(a_client_says_what_it_wants),
		WITH_MEMORY(an_open_for_writing_waits_until_it_is_returned),
		WITH_MEMORY(setting_the_size_recalls),
		WITH_MEMORY(setting_an_attribute_recalls),
		WITH_MEMORY(writing_without_an_open_recalls),
		WITH_MEMORY(removing_recalls),
		WITH_MEMORY(renaming_recalls),
		WITH_MEMORY(renaming_another_file_over_it_recalls),
		WITH_MEMORY(linking_recalls),
		WITH_MEMORY(denying_others_to_read_recalls),
		WITH_MEMORY(the_holder_waits_for_nothing),
		WITH_MEMORY(what_is_open_by_a_delegation_is_opened_during_a_recall),
		WITH_MEMORY(an_open_that_is_denied_recalls_nothing),
		WITH_MEMORY(what_is_not_returned_is_revoked),
		WITH_MEMORY(a_recall_goes_out_again_over_the_next_connection),
		WITH_MEMORY(a_recall_that_comes_too_early_is_repeated),
		WITH_MEMORY(a_recall_that_may_overtake_the_answer_names_the_open),
		WITH_MEMORY(a_recall_after_the_next_call_of_the_slot_names_no_call),
		WITH_MEMORY(a_repeated_recall_names_the_open_as_long_as_it_must),
		WITH_MEMORY(a_recall_names_no_call_of_a_session_that_has_ended),
		WITH_MEMORY(the_largest_recall_fits_into_the_smallest_backchannel),
		WITH_MEMORY(a_lost_sequence_is_a_fault_of_the_backchannel),
		WITH_MEMORY(a_session_that_the_client_does_not_know_yet_is_tried_again),
		WITH_MEMORY(a_client_without_a_lease_is_not_waited_for),
		WITH_MEMORY(a_client_that_answers_a_recall_keeps_its_lease),
		cmocka_unit_test_setup_teardown(
			a_local_program_that_writes_recalls, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(
			an_open_for_writing_waits_until_it_is_returned, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(the_holder_waits_for_nothing, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(
			leases_are_missing_in_one_file_system_alone, world_setup_two_exports, world_teardown),
		cmocka_unit_test_setup_teardown(
			a_delegation_is_reclaimed_after_a_restart, world_setup_records, world_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
