/* SPDX-License-Identifier: BSD-3-Clause */
/* Read delegations: RFC 8881, sections 10.2, 10.4, 18.6, 18.16, 18.38, 18.48 and 20.2. */
#include "holder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* 19.1.3: "the server will use CB_NULL to confirm the existence of a path for RPCs from the server to
 * client." The second session has the path of the first one. */
static void
a_session_over_a_tested_connection_gets_a_delegation_at_once(void **state)
{
	struct peer *peer = holder_caller(*state, 0, "client");
	nfs_argop4 destroy = { .argop = OP_DESTROY_SESSION };

	holder_make_file(peer, "file");
	memcpy(destroy.u.opdestroy_session.dsa_sessionid, peer->session, sizeof(peer->session));
	assert_int_equal(peer_raw(peer, &destroy, 1), NFS4_OK);
	peer->answers.silent = true;
	assert_int_equal(peer_create_session(peer), NFS4_OK);
	assert_int_equal(RUN(peer, op_root(), op_open("file", "o", READ, 0, false)), NFS4_OK);
	assert_int_equal(holder_given(peer, 1)->delegation_type, OPEN_DELEGATE_READ);
}

/* 10.4: "There must be no current OPEN conflicting with the requested delegation." */
static void
a_delegation_needs_a_backchannel_and_no_writer(void **state)
{
	struct world *world = *state;
	struct peer *peer = holder_caller(world, 0, "client"), *deaf = world_peer(world, 1, "deaf", 0);
	stateid4 open;

	holder_make_file(peer, "file");
	assert_int_equal(RUN(deaf, op_root(), op_open("file", "o", READ, 0, false)), NFS4_OK);
	assert_int_equal(holder_given(deaf, 1)->delegation_type, OPEN_DELEGATE_NONE);
	assert_int_equal(RUN(deaf, op_root(), op_open("file", "w", WRITE, 0, false)), NFS4_OK);
	open = *holder_opened(deaf, 1);
	assert_int_equal(RUN(peer, op_root(), op_open("file", "o", READ, 0, false)), NFS4_OK);
	assert_int_equal(holder_given(peer, 1)->delegation_type, OPEN_DELEGATE_NONE);
	assert_int_equal(RUN(deaf, op_root(), op_lookup("file"), op_close(&open)), NFS4_OK);
	assert_int_equal(RUN(peer, op_root(), op_open("file", "o", READ, 0, false)), NFS4_OK);
	assert_int_equal(holder_given(peer, 1)->delegation_type, OPEN_DELEGATE_READ);
	/* The client opens the file a second time, and gets no second delegation. */
	assert_int_equal(RUN(peer, op_root(), op_open("file", "p", READ, 0, false)), NFS4_OK);
	assert_int_equal(holder_given(peer, 1)->delegation_type, OPEN_DELEGATE_NONE);
}

/* A file that is made by the OPEN will be written to soon, and a share that denies writing will stop other
 * clients. The server gives a delegation for such an OPEN only when the client asks for it. */
static void
a_delegation_that_would_not_last_is_given_only_where_it_is_asked_for(void **state)
{
	enum { ASKED = READ | OPEN4_SHARE_ACCESS_WANT_READ_DELEG };
	struct peer *peer = holder_caller(*state, 0, "client");

	assert_int_equal(RUN(peer, op_root(), op_open("a", "o", READ, 0, true)), NFS4_OK);
	assert_int_equal(holder_given(peer, 1)->delegation_type, OPEN_DELEGATE_NONE);
	assert_int_equal(RUN(peer, op_root(), op_open("b", "o", ASKED, 0, true)), NFS4_OK);
	assert_int_equal(holder_given(peer, 1)->delegation_type, OPEN_DELEGATE_READ);
	assert_int_equal(
		RUN(peer, op_root(), op_open("a", "o", READ, OPEN4_SHARE_DENY_WRITE, false)), NFS4_OK);
	assert_int_equal(holder_given(peer, 1)->delegation_type, OPEN_DELEGATE_NONE);
	assert_int_equal(
		RUN(peer, op_root(), op_open("a", "o", ASKED, OPEN4_SHARE_DENY_WRITE, false)), NFS4_OK);
	assert_int_equal(holder_given(peer, 1)->delegation_type, OPEN_DELEGATE_READ);
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
	struct peer *peer = holder_caller(*state, 0, "client");

	for (uint32_t i = 0; i < sizeof(wants) / sizeof(*wants); i++) {
		const open_delegation4 *delegation;

		holder_make_file(peer, names[i]);
		if (i == 6)
			assert_int_equal(RUN(peer, op_root(), op_open("f", "w", WRITE, 0, false)), NFS4_OK);
		assert_int_equal(
			RUN(peer, op_root(), op_open(names[i], "o", wants[i].access, 0, false)), NFS4_OK);
		delegation = holder_given(peer, 1);
		assert_int_equal(delegation->delegation_type, wants[i].type);
		if (wants[i].type == OPEN_DELEGATE_NONE_EXT)
			assert_int_equal(delegation->u.od_whynone.ond_why, wants[i].why);
	}
}

/* 10.2: "The conflicting request will not be acted on until the recall is complete." */
static void
an_open_for_writing_waits_until_it_is_returned(void **state)
{
	struct held held = holder_hold(*state);

	assert_int_equal(RUN(held.other, op_root(), op_open("file", "o", WRITE, 0, false)), NFS4ERR_DELAY);
	holder_expect_recall(*state, &held);
	assert_int_equal(RUN(held.other, op_root(), op_open("file", "o", WRITE, 0, false)), NFS4ERR_DELAY);
	/* Meanwhile the holder reads with its delegation, and the other client may open the file for
	 * reading. */
	assert_int_equal(
		RUN(held.holder, op_root(), op_lookup("file"), op_read(&held.stateid, 0, 10)), NFS4_OK);
	assert_int_equal(RUN(held.other, op_root(), op_open("file", "r", READ, 0, false)), NFS4_OK);
	assert_int_equal(holder_give_back(&held, "file"), NFS4_OK);
	assert_int_equal(RUN(held.other, op_root(), op_open("file", "o", WRITE, 0, false)), NFS4_OK);
	assert_int_equal(held.holder->answers.compounds, 1);
	/* The delegation has ended with the first DELEGRETURN. */
	assert_int_equal(holder_give_back(&held, "file"), NFS4ERR_BAD_STATEID);
}

/* Runs operations of another client that conflict with a delegation. Checks that they get NFS4ERR_DELAY, and
 * NFS4_OK when the delegation has been returned. */
static void
expect_conflict(void **state, const nfs_argop4 *ops, uint32_t count)
{
	struct held held = holder_hold(*state);

	assert_int_equal(peer_run(held.other, ops, count), NFS4ERR_DELAY);
	holder_expect_recall(*state, &held);
	assert_int_equal(holder_give_back(&held, "file"), NFS4_OK);
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
	struct held held = holder_hold(*state);

	assert_int_equal(RUN(held.holder, op_root(), op_lookup("file"), op_setattr(FATTR4_MODE)), NFS4_OK);
	assert_int_equal(RUN(held.holder, op_root(), op_plain(OP_SAVEFH), op_rename("file", "new")), NFS4_OK);
	assert_int_equal(held.holder->answers.compounds, 0);
	/* To open the file for writing, the server gives up the lease of the storage, and recalls the
	 * delegation. The OPEN succeeds meanwhile. */
	assert_int_equal(RUN(held.holder, op_root(), op_open("new", "o", WRITE, 0, false)), NFS4_OK);
	holder_expect_recall(*state, &held);
	assert_int_equal(
		RUN(held.holder, op_root(), op_lookup("new"), op_read(&held.stateid, 0, 10)), NFS4_OK);
	assert_int_equal(holder_give_back(&held, "new"), NFS4_OK);
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
	struct held held = holder_hold(*state);

	assert_int_equal(RUN(held.other, op_root(), op_open("file", "o", WRITE, 0, false)), NFS4ERR_DELAY);
	holder_expect_recall(*state, &held);
	assert_int_equal(
		RUN(held.holder, op_root(), op_claim(&held.stateid, "target", READ)), NFS4ERR_BAD_STATEID);
	assert_int_equal(RUN(held.holder, op_root(), op_claim(&held.stateid, "file", WRITE)), NFS4ERR_INVAL);
	assert_int_equal(RUN(held.holder, op_root(), op_claim(&held.stateid, "file", READ)), NFS4_OK);
	assert_int_equal(holder_given(held.holder, 1)->delegation_type, OPEN_DELEGATE_NONE);
	assert_int_equal(holder_give_back(&held, "file"), NFS4_OK);
}

/* 18.16.3: an OPEN that a share reservation refuses is NFS4ERR_SHARE_DENIED; it changes nothing. */
static void
an_open_that_is_denied_recalls_nothing(void **state)
{
	const struct held held = holder_hold(*state);
	const nfs_argop4 denies = op_open("file", "o", READ, OPEN4_SHARE_DENY_WRITE, false);
	const nfs_argop4 writes = op_open("file", "o", WRITE, 0, false);

	assert_int_equal(RUN(held.holder, op_root(), denies), NFS4_OK);
	assert_int_equal(RUN(held.other, op_root(), writes), NFS4ERR_SHARE_DENIED);
	assert_int_equal(RUN(held.holder, op_root()), NFS4_OK);
	assert_int_equal(RUN(held.other, op_root()), NFS4_OK);
	assert_int_equal(held.holder->answers.compounds, 0);
	assert_int_equal(holder_give_back(&held, "file"), NFS4_OK);
}

/* 10.4: "Operations done outside the NFSv4.1 protocol, due to, for example, access by other protocols, or by
 * local access, also need to result in delegation recall". */
static void
a_local_program_that_writes_recalls(void **state)
{
	struct world *world = *state;
	struct held held = holder_hold(world);
	char path[100];
	int fd;

	snprintf(path, sizeof(path), "%s/file", world->path);
	fd = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
	assert_int_equal(fd, -1);
	assert_int_equal(errno, EWOULDBLOCK);
	holder_expect_recall(world, &held);
	assert_int_equal(holder_give_back(&held, "file"), NFS4_OK);
	fd = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
	assert_true(fd >= 0);
	/* The server gives no delegation of a file that a local program has open for writing. */
	assert_int_equal(RUN(held.holder, op_root(), op_open("file", "o", READ, 0, false)), NFS4_OK);
	assert_int_equal(holder_given(held.holder, 1)->delegation_type, OPEN_DELEGATE_NONE);
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
	struct held held = holder_hold(world);
	struct peer *holder;
	stateid4 stateid;

	world_restart(world);
	holder = &world->peers[0];
	peer_connect(holder, 0);
	assert_int_equal(peer_exchange(holder, "holder", 1, 0), NFS4_OK);
	assert_int_equal(peer_create_session(holder), NFS4_OK);
	assert_int_equal(
		RUN(holder, op_root(), op_lookup("file"), op_reclaim(READ, OPEN_DELEGATE_READ)), NFS4_OK);
	assert_int_equal(holder_given(holder, 2)->delegation_type, OPEN_DELEGATE_READ);
	assert_false(holder_given(holder, 2)->u.read.recall);
	stateid = holder_given(holder, 2)->u.read.stateid;
	assert_int_equal(RUN(holder, op_root(), op_lookup("file"), op_read(&stateid, 0, 10)), NFS4_OK);
	held.stateid = stateid;
	assert_int_equal(holder_give_back(&held, "file"), NFS4_OK);
}

#define WITH_MEMORY(test) cmocka_unit_test_setup_teardown(test, world_setup_memory, world_teardown)

static const struct rr_vfs_ops *with_leases;

static enum rr_vfs_status
no_lease(struct rr_vfs *vfs, enum rr_vfs_operation operation, struct rr_vfs_call *call)
{
	return operation == RR_VFS_OP_LEASE ? RR_VFS_NOTSUPP : with_leases->begin(vfs, operation, call);
}

/* An export whose file system has no leases takes no delegations from the files of another export. */
static void
leases_are_missing_in_one_file_system_alone(void **state)
{
	struct world *world = *state;
	struct peer *peer = holder_caller(world, 0, "client");
	struct rr_vfs_ops without = *world->vfs->ops;

	with_leases = world->vfs->ops;
	assert_int_equal(RUN(peer, op_root(), op_lookup("a"), op_open("file", "m", WRITE, 0, true),
				 op_close(&stateid_current)),
		NFS4_OK);
	assert_int_equal(RUN(peer, op_root(), op_lookup("deep"), op_lookup("b"),
				 op_open("file", "m", WRITE, 0, true), op_close(&stateid_current)),
		NFS4_OK);
	without.begin = no_lease;
	world->vfs->ops = &without;
	assert_int_equal(RUN(peer, op_root(), op_lookup("a"), op_open("file", "o", READ, 0, false)), NFS4_OK);
	assert_int_equal(holder_given(peer, 2)->delegation_type, OPEN_DELEGATE_NONE);
	world->vfs->ops = with_leases;
	/* The server knows by now that the first export has no leases. */
	assert_int_equal(RUN(peer, op_root(), op_lookup("a"), op_open("file", "p", READ, 0, false)), NFS4_OK);
	assert_int_equal(holder_given(peer, 2)->delegation_type, OPEN_DELEGATE_NONE);
	assert_int_equal(
		RUN(peer, op_root(), op_lookup("deep"), op_lookup("b"), op_open("file", "o", READ, 0, false)),
		NFS4_OK);
	assert_int_equal(holder_given(peer, 3)->delegation_type, OPEN_DELEGATE_READ);
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
