/* SPDX-License-Identifier: BSD-3-Clause */
/* The way of a recall to its end: it is sent, names the OPEN that it may overtake, is sent again, is
 * answered, or is not. RFC 8881, sections 2.10.6.3, 10.4, 18.46, 20.2 and 20.9. */
#include "holder.h"

#include <string.h>

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
	struct held held = holder_hold(*state);
	nfs_argop4 test = { .argop = OP_TEST_STATEID, .u.optest_stateid.ts_stateids = { 1, &held.stateid } };

	assert_int_equal(RUN(held.other, op_root(), op_open("file", "o", WRITE, 0, false)), NFS4ERR_DELAY);
	holder_expect_recall(*state, &held);
	pass_a_lease(*state, &held);
	while (RUN(held.other, op_root(), op_open("file", "o", WRITE, 0, false)) == NFS4ERR_DELAY)
		continue;
	assert_int_equal(RUN(held.holder, test), NFS4_OK);
	assert_int_equal(peer_flags(held.holder), SEQ4_STATUS_RECALLABLE_STATE_REVOKED);
	assert_int_equal(peer_res(held.holder, 0)->u.optest_stateid.u.tsr_resok4.tsr_status_codes.values[0],
		NFS4ERR_DELEG_REVOKED);
	assert_int_equal(RUN(held.holder, op_root(), op_lookup("file"), op_read(&held.stateid, 0, 10)),
		NFS4ERR_DELEG_REVOKED);
	assert_int_equal(holder_give_back(&held, "file"), NFS4ERR_DELEG_REVOKED);
	/* The holder gets no new delegation before it has freed the revoked one. */
	assert_int_equal(RUN(held.holder, op_root(), op_open("target", "o", READ, 0, false)), NFS4_OK);
	assert_int_equal(holder_given(held.holder, 1)->delegation_type, OPEN_DELEGATE_NONE);
	assert_int_equal(RUN(held.holder, op_free(&held.stateid)), NFS4_OK);
	assert_int_equal(RUN(held.holder, op_free(&held.stateid)), NFS4ERR_BAD_STATEID);
	assert_int_equal(peer_flags(held.holder), 0);
	assert_int_equal(RUN(held.holder, op_root(), op_open("target", "p", READ, 0, false)), NFS4_OK);
	assert_int_equal(holder_given(held.holder, 1)->delegation_type, OPEN_DELEGATE_READ);
}

/* 2.10.6.1: a callback whose connection is lost is sent again in its slot, with its sequence ID. */
static void
a_recall_goes_out_again_over_the_next_connection(void **state)
{
	struct world *world = *state;
	struct held held = holder_hold(world);

	held.holder->answers.silent = held.holder->answers.replays = true;
	holder_cause_recall(world, &held);
	peer_disconnect(held.holder);
	held.holder->answers.silent = false;
	assert_int_equal(peer_bind(held.holder, 0), NFS4_OK);
	world_wait(world, &held.holder->answers.compounds, 2);
	assert_int_equal(held.holder->answers.retries, 1);
	assert_memory_equal(
		&held.holder->answers.ops[1].u.opcbrecall.stateid, &held.stateid, sizeof(stateid4));
	assert_int_equal(holder_give_back(&held, "file"), NFS4_OK);
	assert_int_equal(RUN(held.other, op_root(), op_open("file", "o", WRITE, 0, false)), NFS4_OK);
}

/* 20.2: a recall may reach the client before the answer to the OPEN does. The client does not know the
 * stateid yet, and refuses the recall. */
static void
a_recall_that_comes_too_early_is_repeated(void **state)
{
	struct world *world = *state;
	struct held held = holder_hold(world);

	held.holder->answers.status = NFS4ERR_BAD_STATEID;
	holder_cause_recall(world, &held);
	held.holder->answers.status = NFS4_OK;
	world->stage.now += 6 * RR_SECOND;
	world_wait(world, &held.holder->answers.compounds, 2);
	assert_int_equal(holder_give_back(&held, "file"), NFS4_OK);
}

/* Makes "file", and has the holder get a delegation of it by its last call. */
static struct held
hold_by_the_last_call_of(struct peer *holder, struct peer *other)
{
	struct held held = { holder, other, { 0 } };

	holder_make_file(holder, "file");
	assert_int_equal(RUN(holder, op_root(), op_open("file", "o", READ, 0, false)), NFS4_OK);
	assert_int_equal(holder_given(holder, 1)->delegation_type, OPEN_DELEGATE_READ);
	held.stateid = holder_given(holder, 1)->u.read.stateid;
	return held;
}

/* The same with a holder and another client that it makes. */
static struct held
hold_by_the_last_call(struct world *world)
{
	return hold_by_the_last_call_of(holder_caller(world, 0, "holder"), world_peer(world, 1, "other", 0));
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

	holder_cause_recall(world, &held);
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
	holder_cause_recall(world, &held);
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
	holder_cause_recall(world, &held);
	assert_true(answers->refers);
	world->stage.now += 6 * RR_SECOND;
	world_wait(world, &answers->compounds, 2);
	assert_true(answers->refers);
	held.holder->answers.sequence = NFS4_OK;
	assert_int_equal(RUN(held.holder, op_root()), NFS4_OK);
	world->stage.now += 6 * RR_SECOND;
	world_wait(world, &answers->compounds, 3);
	assert_false(answers->refers);
	assert_int_equal(holder_give_back(&held, "file"), NFS4_OK);
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
	holder_cause_recall(world, &held);
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
	held.holder = holder_caller(world, 0, "holder");
	assert_int_equal(RUN(held.holder, change), NFS4_OK);
	held = hold_by_the_last_call_of(held.holder, world_peer(world, 1, "other", 0));
	holder_cause_recall(world, &held);
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
	struct held held = holder_hold(world);

	held.holder->answers.sequence = NFS4ERR_SEQ_MISORDERED;
	assert_int_equal(RUN(held.other, op_root(), op_open("file", "o", WRITE, 0, false)), NFS4ERR_DELAY);
	world_wait(world, &held.holder->answers.compounds, 1);
	while (RUN(held.holder, op_root()) == NFS4_OK && peer_flags(held.holder) == 0)
		continue;
	assert_int_equal(peer_flags(held.holder), SEQ4_STATUS_BACKCHANNEL_FAULT);
	assert_int_equal(holder_give_back(&held, "file"), NFS4_OK);
}

/* 2.10.6.3: "It is possible for server callbacks to arrive at the client before the reply from related fore
 * channel operations", and so before it knows the session. That is no fault: the callback is sent again. */
static void
a_session_that_the_client_does_not_know_yet_is_tried_again(void **state)
{
	struct world *world = *state;
	struct held held = holder_hold(world);
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
	assert_int_equal(holder_give_back(&held, "file"), NFS4_OK);
	assert_int_equal(peer_flags(held.holder), 0);
	assert_true(session->used);
}

/* A client whose lease is over does not make an OPEN of another client wait: its delegation ends. */
static void
a_client_without_a_lease_is_not_waited_for(void **state)
{
	struct world *world = *state;
	struct held held = holder_hold(world);

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
	struct held held = holder_hold(world);
	const nfs_argop4 writes = op_open("file", "o", WRITE, 0, false);
	const struct rr_nfs4_session *session =
		rr_nfs4_session_find(&world->shared->tables.sessions, held.holder->session);

	world->stage.now += 46 * RR_SECOND;
	assert_int_equal(RUN(held.other, op_root(), writes), NFS4ERR_DELAY);
	holder_expect_recall(world, &held);
	while (session->back_slots[0].callback)
		RUN(held.other, op_root());
	world->stage.now += 46 * RR_SECOND;
	for (int i = 0; i < 10; i++)
		assert_int_equal(RUN(held.other, op_root(), writes), NFS4ERR_DELAY);
	assert_int_equal(holder_give_back(&held, "file"), NFS4_OK);
	assert_int_equal(RUN(held.other, op_root(), writes), NFS4_OK);
}

#define WITH_MEMORY(test) cmocka_unit_test_setup_teardown(test, world_setup_memory, world_teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
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
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
