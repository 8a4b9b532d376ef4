/* SPDX-License-Identifier: BSD-3-Clause */
/* The provider of another server's directories by NFS version 3: its locks, by NLM, over restarts, and what a
 * server that lies makes of them. */
#include "behind.h"

#include <unistd.h>

#include "suite.h"
#include "vfs/nfs/v3/v3_private.h"

enum { BOTH = RR_VFS_SHARE_READ | RR_VFS_SHARE_WRITE, CALLS = 32 };

/* A call of NLM that the played server was sent. */
struct call {
	uint32_t proc;
	bool reclaim;
	uint64_t offset, length;
};

/* An NLM that answers as the test has it. */
struct played {
	struct rpcrdma_server *server;
	struct sockaddr_in address;
	nlm4_stats first, others; /* to the next LOCK or UNLOCK, and to those behind it; a TEST: GRANTED */
	bool grace;               /* LOCK without reclaim gets NLM4_DENIED_GRACE_PERIOD */
	bool lies;                /* cookies are wrong */
	struct call calls[CALLS];
	uint32_t count;
};

/* A server behind, and a provider of it, by the server's NLM or a played one. */
struct scene {
	struct suite suite;
	struct behind *behind;
	struct played played;
	struct rr_vfs_open *open;
	struct rr_vfs_handle file;
};

/* ---- The played NLM ---- */

static enum rpcrdma_handled
played_answer(void *ctx, struct rpcrdma_request *request, const void *args, void *result)
{
	struct played *played = ctx;
	const nlm4_lockargs *lock = args;
	const nlm4_unlockargs *unlock = args;
	bool is_lock = request->proc == NLMPROC4_LOCK;
	const nlm4_lock *alock = is_lock ? &lock->alock : &unlock->alock;
	nlm4_res *res = result;

	assert_true(played->count < CALLS);
	played->calls[played->count++] =
		(struct call){ request->proc, is_lock && lock->reclaim, alock->l_offset, alock->l_len };
	*res = (nlm4_res){ *(const netobj *)args, { played->first } };
	if (is_lock && played->grace && !lock->reclaim)
		res->stat.stat = NLM4_DENIED_GRACE_PERIOD;
	played->first = played->others;
	if (played->lies)
		res->cookie.length--;
	return RPCRDMA_HANDLED;
}

static enum rpcrdma_handled
played_test(void *ctx, struct rpcrdma_request *request, const void *args, void *result)
{
	(void)ctx, (void)request;
	*(nlm4_testres *)result = (nlm4_testres){ *(const netobj *)args, { .stat = NLM4_GRANTED } };
	return RPCRDMA_HANDLED;
}

static void
played_begin(struct scene *scene)
{
	static rpcrdma_handler *const nlm4[NLMPROC4_FREE_ALL + 1] = { [NLMPROC4_LOCK] = played_answer,
		[NLMPROC4_UNLOCK] = played_answer,
		[NLMPROC4_TEST] = played_test };
	struct played *played = &scene->played;
	struct rr_service service = { .program = &nlm4_NLM4_VERS_program, .handlers = nlm4, .ctx = played };
	struct rr_text text = { "" };

	assert_int_equal(rr_server_new(scene->behind->stage.engine, &rr_server_config_default, &service, 1,
				 &played->server),
		0);
	if (rr_server_listen(played->server, RR_TRANSPORT_TCP, (struct sockaddr *)&played->address,
		    sizeof(played->address), NULL, &text) < 0)
		fail_msg("%s", text.text);
}

/* The played server ends, and begins again. */
static void
played_restart(struct scene *scene)
{
	rr_server_free(scene->played.server);
	scene->played.count = 0;
	played_begin(scene);
}

/* ---- The scene ---- */

static int
scene_begin(void **state, bool play)
{
	struct scene *scene = calloc(1, sizeof(*scene));
	struct suite *suite = &scene->suite;

	assert_non_null(scene);
	scene->behind = behind_new(RR_NFS_VERSION_3, 0);
	if (play) {
		scene->played.address = stage_loopback();
		played_begin(scene);
		memcpy(&scene->behind->config.nlm.address, &scene->played.address,
			sizeof(scene->played.address));
		scene->behind->config.nlm.transport = RR_TRANSPORT_TCP;
	}
	behind_share(scene->behind);
	suite->super = (struct rr_vfs_caller){ .uid = geteuid(), .gid = getegid() };
	suite->caller = &suite->super;
	suite->loop = scene->behind->stage.engine->loop;
	suite->vfs = behind_provide(scene->behind);
	rr_vfs_root(suite->vfs, 0, &suite->root);
	scene->file = suite_file(suite, "file", "text");
	scene->open = suite_open(suite, &scene->file, BOTH, 0);
	*state = scene;
	return 0;
}

static int
setup(void **state)
{
	return scene_begin(state, false);
}

static int
setup_played(void **state)
{
	return scene_begin(state, true);
}

static int
teardown(void **state)
{
	struct scene *scene = *state;

	if (scene->open)
		suite_close(&scene->suite, scene->open);
	rr_vfs_destroy(scene->suite.vfs);
	behind_unshare(scene->behind);
	if (scene->played.server)
		rr_server_free(scene->played.server);
	behind_free(scene->behind);
	free(scene);
	return 0;
}

static enum rr_vfs_status
lock_at(struct suite *suite, struct rr_vfs_open *open, enum rr_vfs_lock_kind kind, uint64_t offset)
{
	struct rr_vfs_lock lock = { .open = open, .kind = kind, .offset = offset, .length = 10 };

	return suite_do(suite, lock, &lock);
}

/* Lets the watch look at the connection. */
static void
watch(struct scene *scene)
{
	scene->behind->stage.now += RR_V3_WATCH;
	stage_settle(&scene->behind->stage);
}

/* ---- Tests ---- */

static void
locks_are_there_again_after_a_restart(void **state)
{
	struct scene *scene = *state;
	struct suite *suite = &scene->suite;
	struct rr_vfs *first = suite->vfs, *second;
	struct rr_vfs_open *other;

	assert_int_equal(lock_at(suite, scene->open, RR_VFS_LOCK_WRITE, 0), RR_VFS_OK);
	assert_int_equal(lock_at(suite, scene->open, RR_VFS_LOCK_READ, 20), RR_VFS_OK);
	behind_restart(scene->behind);
	watch(scene);
	stage_until(&scene->behind->stage, !((struct rr_v3_vfs *)first)->locks.asked);
	second = suite->vfs = behind_provide(scene->behind);
	other = suite_open(suite, &scene->file, BOTH, 0);
	assert_int_equal(lock_at(suite, other, RR_VFS_LOCK_READ, 0), RR_VFS_LOCK);
	assert_int_equal(lock_at(suite, other, RR_VFS_LOCK_READ, 20), RR_VFS_OK);
	assert_int_equal(lock_at(suite, other, RR_VFS_LOCK_WRITE, 20), RR_VFS_LOCK);
	suite->vfs = first;
	suite_close(suite, scene->open);
	scene->open = NULL;
	stage_until(&scene->behind->stage, rr_list_empty(&((struct rr_v3_vfs *)first)->locks.closings));
	suite->vfs = second;
	assert_int_equal(lock_at(suite, other, RR_VFS_LOCK_WRITE, 0), RR_VFS_OK);
	suite_close(suite, other);
	rr_vfs_destroy(second);
	suite->vfs = first;
}

/* A server in its grace period takes reclaims alone. */
static void
in_the_grace_period_each_range_is_reclaimed(void **state)
{
	struct scene *scene = *state;
	struct played *played = &scene->played;

	assert_int_equal(lock_at(&scene->suite, scene->open, RR_VFS_LOCK_WRITE, 0), RR_VFS_OK);
	assert_int_equal(lock_at(&scene->suite, scene->open, RR_VFS_LOCK_WRITE, 20), RR_VFS_OK);
	played_restart(scene);
	played->grace = true;
	watch(scene);
	stage_until(&scene->behind->stage, played->count >= 3);
	watch(scene);
	assert_true(!played->calls[0].reclaim && played->calls[0].offset == 0);
	assert_true(
		played->calls[1].reclaim && played->calls[1].offset == 0 && played->calls[1].length == 10);
	assert_true(played->calls[2].offset == 20);
	stage_until(&scene->behind->stage, !((struct rr_v3_vfs *)scene->suite.vfs)->locks.asked);
	assert_true(
		played->calls[played->count - 1].reclaim && played->calls[played->count - 1].offset == 20);
	/* A new lock is to wait for the end of the period. */
	assert_int_equal(lock_at(&scene->suite, scene->open, RR_VFS_LOCK_WRITE, 40), RR_VFS_BUSY);
	assert_int_equal(lock_at(&scene->suite, scene->open, RR_VFS_UNLOCK, 20), RR_VFS_OK);
}

static void
an_open_whose_locks_others_have_is_of_no_use(void **state)
{
	struct scene *scene = *state;
	struct suite *suite = &scene->suite;
	char data[4];
	struct rr_vfs_read read = { .object = { .open = scene->open }, .size = 4, .data = data };

	assert_int_equal(lock_at(suite, scene->open, RR_VFS_LOCK_WRITE, 0), RR_VFS_OK);
	assert_int_equal(suite_do(suite, read, &read), RR_VFS_OK);
	played_restart(scene);
	scene->played.first = NLM4_DENIED;
	watch(scene);
	stage_until(&scene->behind->stage, scene->played.count > 0);
	stage_until(&scene->behind->stage, !((struct rr_v3_vfs *)suite->vfs)->locks.asked);
	assert_int_equal(suite_do(suite, read, &read), RR_VFS_IO);
	assert_int_equal(lock_at(suite, scene->open, RR_VFS_UNLOCK, 0), RR_VFS_IO);
}

static void
an_open_that_is_closed_unlocks_all(void **state)
{
	struct scene *scene = *state;
	struct played *played = &scene->played;

	/* A lock that was refused may have been granted in a lost answer. */
	played->first = NLM4_DENIED;
	assert_int_equal(lock_at(&scene->suite, scene->open, RR_VFS_LOCK_WRITE, 30), RR_VFS_LOCK);
	suite_close(&scene->suite, scene->open);
	scene->open = NULL;
	stage_until(&scene->behind->stage, played->count == 2);
	assert_true(played->calls[1].proc == NLMPROC4_UNLOCK && played->calls[1].offset == 0 &&
		    played->calls[1].length == 0);
}

static void
answers_that_lie_are_errors(void **state)
{
	struct scene *scene = *state;
	struct suite *suite = &scene->suite;
	struct played *played = &scene->played;

	played->first = NLM4_BLOCKED;
	assert_int_equal(lock_at(suite, scene->open, RR_VFS_LOCK_WRITE, 0), RR_VFS_IO);
	played->first = NLM4_DENIED_NOLOCKS;
	assert_int_equal(lock_at(suite, scene->open, RR_VFS_LOCK_WRITE, 0), RR_VFS_BUSY);
	assert_int_equal(lock_at(suite, scene->open, RR_VFS_LOCK_WRITE, 0), RR_VFS_OK);
	played->first = NLM4_DENIED;
	assert_int_equal(lock_at(suite, scene->open, RR_VFS_UNLOCK, 0), RR_VFS_IO);
	played->lies = true;
	assert_int_equal(lock_at(suite, scene->open, RR_VFS_LOCK_WRITE, 50), RR_VFS_IO);
	assert_int_equal(lock_at(suite, scene->open, RR_VFS_UNLOCK, 0), RR_VFS_IO);
	played->lies = false;
	assert_int_equal(lock_at(suite, scene->open, RR_VFS_UNLOCK, 0), RR_VFS_OK);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(locks_are_there_again_after_a_restart, setup, teardown),
		cmocka_unit_test_setup_teardown(
			in_the_grace_period_each_range_is_reclaimed, setup_played, teardown),
		cmocka_unit_test_setup_teardown(
			an_open_whose_locks_others_have_is_of_no_use, setup_played, teardown),
		cmocka_unit_test_setup_teardown(an_open_that_is_closed_unlocks_all, setup_played, teardown),
		cmocka_unit_test_setup_teardown(answers_that_lie_are_errors, setup_played, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
