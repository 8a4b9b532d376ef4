/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST, LOCK, UNLOCK, SHARE and UNSHARE over TCP, against each other, NFS version 4 and local programs. */
#include "lockd.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct lockd_scene scene;
static struct lockd *const a = &scene.hosts[0], *const b = &scene.hosts[1];

static int
setup(void **state)
{
	return scene_begin(state, &scene);
}

static int
teardown(void **state)
{
	return scene_end(state, &scene);
}

static nlm4_stats
lock(struct lockd *lockd, int32_t svid, uint64_t offset, uint64_t length, bool exclusive)
{
	return lockd_lock(lockd, svid, offset, length, exclusive);
}

static nlm4_stats
unlock(struct lockd *lockd, int32_t svid, uint64_t offset, uint64_t length)
{
	return lockd_unlock(lockd, svid, offset, length);
}

static nlm4_stats
test(struct lockd *lockd, int32_t svid, uint64_t offset, uint64_t length)
{
	const struct lockd_range wanted = lockd_range(svid, offset, length, true);

	return lockd_call(lockd, NLMPROC4_TEST, &wanted);
}

static struct rr_nlm_held
held(void)
{
	return scene_held(&scene);
}

/* RFC 8267, 5.1: NLM is served over TCP. XNFS, 10: LOCK is GRANTED where no other owner has a conflicting
 * lock, else DENIED; TEST names the holder.
 */
static void
a_lock_is_in_the_way_of_other_owners(void **state)
{
	const nlm4_holder *holder = &a->test.stat.u.holder;

	(void)state;
	assert_int_equal(lock(a, 1, 10, 10, true), NLM4_GRANTED);
	/* The same once more changes nothing. */
	assert_int_equal(lock(a, 1, 10, 10, true), NLM4_GRANTED);
	assert_int_equal(held().ranges, 1);
	assert_int_equal(test(a, 1, 10, 10), NLM4_GRANTED);
	assert_int_equal(lock(a, 2, 19, 1, false), NLM4_DENIED);
	assert_int_equal(lock(b, 1, 0, 0, false), NLM4_DENIED);
	assert_int_equal(test(a, 2, 5, 6), NLM4_DENIED);
	assert_true(holder->exclusive);
	assert_int_equal(holder->svid, 1);
	assert_int_equal(holder->l_offset, 10);
	assert_int_equal(holder->l_len, 10);
	assert_int_equal(holder->oh.length, 2);
	assert_memory_equal(holder->oh.data, "oh", 2);
	assert_int_equal(lock(a, 2, 20, 5, true), NLM4_GRANTED);
	assert_int_equal(unlock(a, 1, 0, 0), NLM4_GRANTED);
	assert_int_equal(lock(b, 1, 10, 10, true), NLM4_GRANTED);
}

/* A claim ends with its last range, and its open with it. */
static void
nothing_is_left_of_what_was_unlocked(void **state)
{
	struct rr_vfs_counters counters;

	(void)state;
	assert_int_equal(lock(a, 1, 0, 10, true), NLM4_GRANTED);
	assert_int_equal(unlock(a, 1, 0, 10), NLM4_GRANTED);
	assert_int_equal(unlock(a, 1, 0, 10), NLM4_GRANTED);
	assert_int_equal(unlock(b, 7, 0, 10), NLM4_GRANTED);
	stage_settle(&scene.world->stage);
	rr_vfs_counters(scene.world->vfs, &counters);
	assert_int_equal(counters.opens, 0);
	assert_int_equal(held().claims, 0);
	assert_int_equal(held().ranges, 0);
}

/* An owner is svid and oh together: some clients have one oh for all processes, others count svid by itself.
 */
static void
an_owner_is_svid_and_oh(void **state)
{
	struct lockd_range wanted = lockd_range(1, 0, 10, true);

	(void)state;
	assert_int_equal(lockd_call(a, NLMPROC4_LOCK, &wanted), NLM4_GRANTED);
	wanted.oh = "another";
	assert_int_equal(lockd_call(a, NLMPROC4_LOCK, &wanted), NLM4_DENIED);
	wanted.oh = "oh";
	wanted.svid = 2;
	assert_int_equal(lockd_call(a, NLMPROC4_LOCK, &wanted), NLM4_DENIED);
}

/* A name proves nothing: at another address, the same name is another host, whose calls change nothing. */
static void
a_name_at_another_address_is_another_host(void **state)
{
	struct sockaddr_in6 in6 = { .sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT };
	struct rr_text text;
	struct lockd stranger;

	(void)state;
	if (rr_server_listen(scene.world->server, RR_TRANSPORT_TCP, (struct sockaddr *)&in6, sizeof(in6),
		    NULL, &text) < 0)
		skip();
	lockd_begin_at(&stranger, scene.world, "a", scene.fh, (struct sockaddr *)&in6, sizeof(in6));
	assert_int_equal(lock(a, 1, 0, 10, true), NLM4_GRANTED);
	assert_int_equal(lock(&stranger, 1, 0, 10, true), NLM4_DENIED);
	assert_int_equal(unlock(&stranger, 1, 0, 10), NLM4_GRANTED);
	lockd_free_all(&stranger, "a");
	lockd_notify(&stranger, "a", 99);
	stage_settle(&scene.world->stage);
	assert_int_equal(lock(b, 1, 0, 10, true), NLM4_DENIED);
	assert_int_equal(unlock(a, 1, 0, 10), NLM4_GRANTED);
	assert_int_equal(lock(&stranger, 1, 0, 10, true), NLM4_GRANTED);
	lockd_end(&stranger);
}

/* XNFS, 10: a length of 0 reaches to the end of the file. RFC 1813, appendix II, NLM4_FBIG: the offset, or
 * the end, is beyond what can be locked. */
static void
ranges_end_at_the_end_of_the_file_or_before_2_63(void **state)
{
	(void)state;
	assert_int_equal(lock(a, 1, 100, 0, true), NLM4_GRANTED);
	assert_int_equal(lock(b, 1, INT64_MAX, 1, true), NLM4_DENIED);
	assert_int_equal(unlock(a, 1, 0, UINT64_MAX), NLM4_GRANTED);
	assert_int_equal(lock(b, 1, INT64_MAX, 1, true), NLM4_GRANTED);
	assert_int_equal(lock(a, 1, 0, (uint64_t)INT64_MAX, true), NLM4_GRANTED);
	assert_int_equal(lock(a, 2, (uint64_t)INT64_MAX + 1, 1, true), NLM4_FBIG);
	assert_int_equal(lock(a, 2, 10, INT64_MAX, true), NLM4_FBIG);
	assert_int_equal(lock(a, 2, UINT64_MAX, 2, true), NLM4_FBIG);
}

/* A lock to read becomes one to write only where no other has a lock: and the open of the claim, which was
 * made for reading, is replaced, with the locks that it had. */
static void
a_lock_to_read_becomes_a_lock_to_write(void **state)
{
	struct flock wanted = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 0, .l_len = 0 };

	(void)state;
	assert_int_equal(lock(a, 1, 0, 10, false), NLM4_GRANTED);
	assert_int_equal(lock(a, 1, 50, 10, false), NLM4_GRANTED);
	assert_int_equal(lock(b, 1, 5, 1, false), NLM4_GRANTED);
	assert_int_equal(lock(a, 1, 0, 10, true), NLM4_DENIED);
	assert_int_equal(unlock(b, 1, 5, 1), NLM4_GRANTED);
	assert_int_equal(lock(a, 1, 0, 10, true), NLM4_GRANTED);
	assert_int_equal(lock(b, 1, 5, 1, false), NLM4_DENIED);
	assert_int_equal(lock(b, 1, 55, 1, false), NLM4_GRANTED);
	wanted.l_start = 50;
	assert_int_equal(fcntl(scene.local, F_OFD_GETLK, &wanted), 0);
	assert_int_equal(wanted.l_type, F_RDLCK);
	/* And the other way round: a claim that was made for writing reads, too. */
	assert_int_equal(lock(b, 2, 100, 10, true), NLM4_GRANTED);
	assert_int_equal(lock(b, 2, 200, 10, false), NLM4_GRANTED);
	wanted = (struct flock){ .l_type = F_RDLCK, .l_whence = SEEK_SET, .l_start = 100, .l_len = 10 };
	assert_int_equal(fcntl(scene.local, F_OFD_GETLK, &wanted), 0);
	assert_int_equal(wanted.l_type, F_WRLCK);
}

/* Random locks and unlocks of three owners, against an array of octets. */
static void
ranges_split_and_merge_as_in_a_model(void **state)
{
	enum { OWNERS = 3, OCTETS = 40, STEPS = 600 };
	uint8_t model[OWNERS][OCTETS] = { { 0 } };
	uint32_t seed = 1;

	(void)state;
	for (int step = 0; step < STEPS; step++) {
		uint32_t random = seed = seed * 1103515245u + 12345u;
		uint32_t owner = random >> 8 & 3, first = (random >> 10) % OCTETS;
		uint32_t length = 1 + (random >> 18) % (OCTETS - first), kind = (random >> 16) % 3;
		nlm4_stats expected = NLM4_GRANTED;

		owner %= OWNERS;
		for (uint32_t i = 0; i < OWNERS && kind > 0; i++)
			for (uint32_t at = first; at < first + length; at++)
				if (i != owner && model[i][at] && (kind == 2 || model[i][at] == 2))
					expected = NLM4_DENIED;
		if (kind == 0)
			assert_int_equal(unlock(a, (int32_t)owner, first, length), NLM4_GRANTED);
		else
			assert_int_equal(lock(a, (int32_t)owner, first, length, kind == 2), expected);
		if (expected == NLM4_GRANTED)
			memset(model[owner] + first, (int)kind, length);
	}
}

/* Version 3 has 32 bits; its locks and those of version 4 are the same. */
static void
version_3_has_32_bits(void **state)
{
	const struct lockd_range bad = { .svid = 1, .oh = "oh", .exclusive = true };

	(void)state;
	b->vers = 3;
	assert_int_equal(lock(b, 1, 7, UINT32_MAX, true), NLM4_GRANTED);
	assert_int_equal(lock(a, 1, UINT64_C(1) << 40, 1, true), NLM4_DENIED);
	assert_int_equal(unlock(b, 1, 0, 0), NLM4_GRANTED);
	assert_int_equal(lock(a, 1, UINT64_C(1) << 40, 1, true), NLM4_GRANTED);
	assert_int_equal(test(b, 1, 0, 0), NLM4_DENIED);
	assert_int_equal(b->test.stat.u.holder.l_offset, UINT32_MAX);
	/* Statuses that version 3 does not have become DENIED_NOLOCKS. */
	b->fh.length--;
	assert_int_equal(lockd_call(b, NLMPROC4_LOCK, &bad), NLM4_DENIED_NOLOCKS);
}

static void
handles_that_are_none_are_stale(void **state)
{
	static const char junk[65];

	(void)state;
	a->fh.length--;
	assert_int_equal(lock(a, 1, 0, 1, true), NLM4_STALE_FH);
	assert_int_equal(test(a, 1, 0, 1), NLM4_STALE_FH);
	a->fh = (struct rpcrdma_bytes){ junk, sizeof(junk) };
	assert_int_equal(lock(a, 1, 0, 1, true), NLM4_STALE_FH);
	assert_int_equal(held().hosts, 0);
}

/* What NLM has locked is in the way of version 4, and the other way round; each is told whose it is. */
static void
nlm_and_version_4_meet(void **state)
{
	nfs_argop4 open4 = op_open("f", "owner", OPEN4_SHARE_ACCESS_BOTH, OPEN4_SHARE_DENY_NONE, false);
	const LOCK4denied *denied;
	stateid4 stateid;

	(void)state;
	assert_int_equal(RUN(scene.peer, op_root(), open4), NFS4_OK);
	stateid = peer_res(scene.peer, 1)->u.opopen.u.resok4.stateid;
	assert_int_equal(lock(a, 5, 0, 10, true), NLM4_GRANTED);
	assert_int_equal(RUN(scene.peer, op_putfh(scene.fh), op_lock(&stateid, "lock", WRITE_LT, 5, 10)),
		NFS4ERR_DENIED);
	denied = &peer_res(scene.peer, 1)->u.oplock.u.denied;
	assert_int_equal(denied->owner.clientid, 0);
	assert_int_equal(denied->offset, 0);
	assert_int_equal(denied->length, 10);
	assert_int_equal(denied->owner.owner.length, 2);
	assert_memory_equal(denied->owner.owner.data, "oh", 2);
	assert_int_equal(
		RUN(scene.peer, op_putfh(scene.fh), op_lock(&stateid, "lock", WRITE_LT, 10, 10)), NFS4_OK);
	assert_int_equal(lock(a, 5, 15, 1, false), NLM4_DENIED);
	assert_int_equal(test(a, 5, 15, 1), NLM4_DENIED);
	assert_int_equal(a->test.stat.u.holder.svid, 0);
	assert_int_equal(a->test.stat.u.holder.oh.length, 4);
	assert_memory_equal(a->test.stat.u.holder.oh.data, "lock", 4);
}

/* Local programs see the locks of NLM, and NLM theirs. */
static void
nlm_and_local_programs_meet(void **state)
{
	struct flock mine = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 0, .l_len = 10 };

	(void)state;
	assert_int_equal(fcntl(scene.local, F_OFD_SETLK, &mine), 0);
	assert_int_equal(lock(a, 1, 5, 10, false), NLM4_DENIED);
	assert_int_equal(test(a, 1, 5, 10), NLM4_DENIED);
	assert_int_equal(a->test.stat.u.holder.oh.length, 5);
	assert_memory_equal(a->test.stat.u.holder.oh.data, "local", 5);
	assert_int_equal(a->test.stat.u.holder.l_len, 10);
	assert_int_equal(lock(a, 1, 10, 10, true), NLM4_GRANTED);
	/* The owner's own lock is not in its way. */
	assert_int_equal(test(a, 1, 10, 10), NLM4_GRANTED);
	mine.l_start = 15;
	assert_int_equal(fcntl(scene.local, F_OFD_SETLK, &mine), -1);
	assert_int_equal(unlock(a, 1, 0, 0), NLM4_GRANTED);
	assert_int_equal(fcntl(scene.local, F_OFD_SETLK, &mine), 0);
}

/* A file that was removed is still unlocked. */
static void
a_removed_file_is_unlocked(void **state)
{
	char path[STAGE_PATH + 4];

	(void)state;
	snprintf(path, sizeof(path), "%s/f", scene.world->path);
	assert_int_equal(lock(a, 1, 0, 10, true), NLM4_GRANTED);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(unlock(a, 1, 0, 10), NLM4_GRANTED);
	stage_settle(&scene.world->stage);
	assert_int_equal(held().claims, 0);
}

/* A reservation of SHARE stands against the opens of version 4, and theirs against it. */
static void
share_and_version_4_meet(void **state)
{
	nfs_argop4 reads = op_open("f", "o", OPEN4_SHARE_ACCESS_READ, OPEN4_SHARE_DENY_NONE, false);
	nfs_argop4 denies = op_open("f", "o", OPEN4_SHARE_ACCESS_READ, OPEN4_SHARE_DENY_WRITE, false);
	stateid4 stateid;

	(void)state;
	assert_int_equal(lockd_share(a, NLMPROC4_SHARE, "s", fsm_DR, fsa_RW), NLM4_GRANTED);
	assert_int_equal(RUN(scene.peer, op_root(), reads), NFS4ERR_SHARE_DENIED);
	/* Another SHARE of the owner replaces the first, which is not in its way. */
	assert_int_equal(lockd_share(a, NLMPROC4_SHARE, "s", fsm_DN, fsa_R), NLM4_GRANTED);
	assert_int_equal(RUN(scene.peer, op_root(), denies), NFS4_OK);
	stateid = peer_res(scene.peer, 1)->u.opopen.u.resok4.stateid;
	assert_int_equal(lockd_share(b, NLMPROC4_SHARE, "s", fsm_DN, fsa_W), NLM4_DENIED);
	assert_int_equal(RUN(scene.peer, op_putfh(scene.fh), op_close(&stateid)), NFS4_OK);
	stage_settle(&scene.world->stage);
	assert_int_equal(lockd_share(b, NLMPROC4_SHARE, "s", fsm_DRW, fsa_W), NLM4_DENIED);
	assert_int_equal(lockd_share(a, NLMPROC4_UNSHARE, "s", fsm_DN, fsa_R), NLM4_GRANTED);
	assert_int_equal(lockd_share(b, NLMPROC4_SHARE, "s", fsm_DRW, fsa_W), NLM4_GRANTED);
	assert_int_equal(lockd_share(b, NLMPROC4_UNSHARE, "s", fsm_DN, fsa_R), NLM4_GRANTED);
	stage_settle(&scene.world->stage);
	assert_int_equal(held().claims, 0);
}

/* FREE_ALL and SM_NOTIFY from the address of the host end what it has; and NM_LOCK is a LOCK of a host that
 * is not monitored. */
static void
a_host_gives_up_all(void **state)
{
	const struct lockd_range wanted = lockd_range(3, 100, 10, true);

	(void)state;
	assert_int_equal(lock(a, 1, 0, 10, true), NLM4_GRANTED);
	assert_int_equal(lock(a, 2, 20, 10, true), NLM4_GRANTED);
	assert_int_equal(lockd_call(a, NLMPROC4_NM_LOCK, &wanted), NLM4_GRANTED);
	assert_int_equal(lockd_share(a, NLMPROC4_SHARE, "s", fsm_DN, fsa_R), NLM4_GRANTED);
	lockd_free_all(a, "a");
	assert_int_equal(lock(b, 1, 0, 0, true), NLM4_GRANTED);
	stage_settle(&scene.world->stage);
	assert_int_equal(held().claims, 1);
}

/* Where all is used that there may be, an address that has little still gets its own. */
static void
claims_are_bounded(void **state)
{
	uint32_t granted = 0;

	scene.world->claims = 64;
	lockd_end(a);
	lockd_end(b);
	world_restart(scene.world);
	(void)state;
	lockd_begin(a, scene.world, "a", scene.fh);
	for (int32_t svid = 0; svid < 70; svid++)
		granted += lock(a, svid, (uint64_t)svid, 1, true) == NLM4_GRANTED;
	assert_in_range(granted, 32, 63);
	assert_int_equal(lock(a, 100, 1000, 1, true), NLM4_DENIED_NOLOCKS);
	lockd_begin(b, scene.world, "b", scene.fh);
	assert_int_equal(lock(b, 1, 1000, 1, true), NLM4_GRANTED);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_lock_is_in_the_way_of_other_owners, setup, teardown),
		cmocka_unit_test_setup_teardown(nothing_is_left_of_what_was_unlocked, setup, teardown),
		cmocka_unit_test_setup_teardown(an_owner_is_svid_and_oh, setup, teardown),
		cmocka_unit_test_setup_teardown(a_name_at_another_address_is_another_host, setup, teardown),
		cmocka_unit_test_setup_teardown(
			ranges_end_at_the_end_of_the_file_or_before_2_63, setup, teardown),
		cmocka_unit_test_setup_teardown(a_lock_to_read_becomes_a_lock_to_write, setup, teardown),
		cmocka_unit_test_setup_teardown(ranges_split_and_merge_as_in_a_model, setup, teardown),
		cmocka_unit_test_setup_teardown(version_3_has_32_bits, setup, teardown),
		cmocka_unit_test_setup_teardown(handles_that_are_none_are_stale, setup, teardown),
		cmocka_unit_test_setup_teardown(nlm_and_version_4_meet, setup, teardown),
		cmocka_unit_test_setup_teardown(nlm_and_local_programs_meet, setup, teardown),
		cmocka_unit_test_setup_teardown(a_removed_file_is_unlocked, setup, teardown),
		cmocka_unit_test_setup_teardown(share_and_version_4_meet, setup, teardown),
		cmocka_unit_test_setup_teardown(a_host_gives_up_all, setup, teardown),
		cmocka_unit_test_setup_teardown(claims_are_bounded, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
