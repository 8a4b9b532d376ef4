/* SPDX-License-Identifier: BSD-3-Clause */
#include "lockd.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ulb/nlm3.h"
#include "ulb/portmap2.h"
#include "ulb/rpcb4.h"

/* ---- The services ---- */

static enum rpcrdma_handled
serve_getport(void *ctx, struct rpcrdma_request *request, const void *args, void *result)
{
	struct lockd_services *services = ctx;

	(void)request, (void)args;
	services->lookups++;
	*(uint32_t *)result = services->unregistered ? 0
			      : services->elsewhere  ? services->elsewhere
						     : services->port;
	return services->mute ? RPCRDMA_HANDLE_DROP : RPCRDMA_HANDLED;
}

static enum rpcrdma_handled
serve_getaddr(void *ctx, struct rpcrdma_request *request, const void *args, void *result)
{
	struct lockd_services *services = ctx;
	char *text = rpcrdma_request_alloc(request, 32);

	(void)args;
	services->lookups++;
	snprintf(text, 32, "::1.%d.%d", services->port >> 8, services->port & 255);
	*(rpcb_address *)result = text_bytes(services->unregistered ? "" : text);
	return RPCRDMA_HANDLED;
}

static struct rpcrdma_bytes
keep_bytes(struct lockd_services *services, int which, struct rpcrdma_bytes bytes)
{
	memcpy(services->octets[which], bytes.data, bytes.length);
	return (struct rpcrdma_bytes){ services->octets[which], bytes.length };
}

static void
note_granted(struct lockd_services *services, uint32_t vers, const nlm4_testargs *args)
{
	services->args = *args;
	services->args.cookie = keep_bytes(services, 0, args->cookie);
	services->args.alock.caller_name = keep_bytes(services, 1, args->alock.caller_name);
	services->args.alock.fh = keep_bytes(services, 2, args->alock.fh);
	services->args.alock.oh = keep_bytes(services, 3, args->alock.oh);
	services->vers = vers;
}

static enum rpcrdma_handled
serve_granted(void *ctx, struct rpcrdma_request *request, const void *args, void *result)
{
	struct lockd_services *services = ctx;
	const nlm4_testargs *granted = args;

	note_granted(services, request->vers, granted);
	if (request->proc == NLMPROC4_GRANTED_MSG) {
		services->messages++;
		return RPCRDMA_HANDLED;
	}
	services->granted++;
	*(nlm4_res *)result = (nlm4_res){ granted->cookie, { services->answer } };
	return services->silent ? RPCRDMA_HANDLE_DROP : RPCRDMA_HANDLED;
}

static enum rpcrdma_handled
serve_granted_old(void *ctx, struct rpcrdma_request *request, const void *args, void *result)
{
	struct lockd_services *services = ctx;
	const nlm_testargs *old = args;
	const nlm_lock *lock = &old->alock;
	const nlm4_testargs granted = { old->cookie, old->exclusive,
		{ lock->caller_name, lock->fh, lock->oh, lock->uppid, lock->l_offset, lock->l_len } };

	note_granted(services, request->vers, &granted);
	services->granted++;
	*(nlm_res *)result = (nlm_res){ old->cookie, { (nlm_stats)services->answer } };
	return RPCRDMA_HANDLED;
}

static enum rpcrdma_handled
serve_result(void *ctx, struct rpcrdma_request *request, const void *args, void *result)
{
	struct lockd_services *services = ctx;
	const nlm4_testres *test = args;
	const nlm4_res *answer = args;
	bool is_test = request->proc == NLMPROC4_TEST_RES;

	(void)result;
	services->results++;
	services->proc = request->proc;
	services->stat = is_test ? test->stat.stat : answer->stat.stat;
	services->cookie = *(const uint8_t *)(is_test ? test->cookie.data : answer->cookie.data);
	return RPCRDMA_HANDLED;
}

static enum rpcrdma_handled
serve_notify(void *ctx, struct rpcrdma_request *request, const void *args, void *result)
{
	struct lockd_services *services = ctx;

	(void)request, (void)result;
	services->notices++;
	services->state = ((const stat_chge *)args)->state;
	return RPCRDMA_HANDLED;
}

static void
services_listen(struct world *world, struct lockd_services *services)
{
	struct sockaddr_in in = stage_loopback();
	struct sockaddr_in6 in6 = { .sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT };
	struct rr_text text;

	(void)world;
	if (rr_server_listen(
		    services->server, RR_TRANSPORT_TCP, (struct sockaddr *)&in, sizeof(in), NULL, &text) < 0)
		fail_msg("%s", text.text);
	services->port = ntohs(in.sin_port);
	in6.sin6_port = in.sin_port;
	rr_server_listen(
		services->server, RR_TRANSPORT_TCP, (struct sockaddr *)&in6, sizeof(in6), NULL, &text);
}

void
services_begin(struct world *world, struct lockd_services *services)
{
	static rpcrdma_handler *const pmap[] = { [PMAPPROC_GETPORT] = serve_getport };
	static rpcrdma_handler *const rpcbind[] = {
		[RPCBPROC_GETADDR] = serve_getaddr, [RPCBPROC_DUMP] = NULL
	};
	static rpcrdma_handler *const nlm4[NLMPROC4_FREE_ALL + 1] = { [NLMPROC4_GRANTED] = serve_granted,
		[NLMPROC4_GRANTED_MSG] = serve_granted,
		[NLMPROC4_TEST_RES] = serve_result,
		[NLMPROC4_LOCK_RES] = serve_result,
		[NLMPROC4_CANCEL_RES] = serve_result,
		[NLMPROC4_UNLOCK_RES] = serve_result };
	static rpcrdma_handler *const nlm3[NLM_FREE_ALL + 1] = { [NLM_GRANTED] = serve_granted_old };
	static rpcrdma_handler *const nsm[SM_NOTIFY + 1] = { [SM_NOTIFY] = serve_notify };
	const struct rr_service all[] = {
		{ &PMAP_VERS_program, pmap, services, NULL, NULL },
		{ &RPCBVERS4_program, rpcbind, services, NULL, NULL },
		{ &nlm4_NLM4_VERS_program, nlm4, services, NULL, NULL },
		{ &nlm3_NLM_VERSX_program, nlm3, services, NULL, NULL },
		{ &nsm1_SM_VERS_program, nsm, services, NULL, NULL },
	};

	memset(services, 0, sizeof(*services));
	assert_int_equal(rr_server_new(world->stage.engine, &rr_server_config_default, all,
				 sizeof(all) / sizeof(*all), &services->server),
		0);
	services_listen(world, services);
	world->rpcbind = services->port;
	world_restart(world);
}

void
services_end(struct lockd_services *services)
{
	rr_server_free(services->server);
}

/* ---- The calls ---- */

void
lockd_begin_at(struct lockd *lockd, struct world *world, const char *name, struct rpcrdma_bytes fh,
	const struct sockaddr *address, socklen_t size)
{
	struct rr_client_config config = { .transport = RR_TRANSPORT_TCP, .address_size = size };
	struct rr_text text;

	*lockd = (struct lockd){ .world = world, .name = name, .vers = 4, .state = 3, .fh = fh };
	memcpy(&config.address, address, size);
	if (rr_client_new(world->stage.engine, &config, &lockd->client, &text) < 0)
		fail_msg("%s", text.text);
}

void
lockd_begin(struct lockd *lockd, struct world *world, const char *name, struct rpcrdma_bytes fh)
{
	lockd_begin_at(
		lockd, world, name, fh, (const struct sockaddr *)&world->address, sizeof(world->address));
}

void
lockd_end(struct lockd *lockd)
{
	rr_client_free(lockd->client);
	lockd->client = NULL;
}

static void
lockd_run(struct lockd *lockd, const struct rpcrdma_program *program, uint32_t proc, const void *args,
	void *result)
{
	struct rr_call call = { .program = program,
		.proc = proc,
		.args = args,
		.result = result,
		.keep = lockd->keep,
		.keep_size = sizeof(lockd->keep) };

	if (rr_client_call_and_wait(lockd->client, &call, NULL, NULL) < 0)
		fail_msg("%s", rr_client_error(lockd->client));
}

/* By version 3, as far as the tests need it. */
static nlm4_stats
lockd_call_old(struct lockd *lockd, uint32_t proc, const struct lockd_range *range)
{
	const nlm_lock lock = { text_bytes(lockd->name), lockd->fh, text_bytes(range->oh), range->svid,
		(uint32_t)range->offset, (uint32_t)range->length };
	const nlm_lockargs lockargs = { { "c", 1 }, range->block, range->exclusive, lock, range->reclaim,
		lockd->state };
	const nlm_testargs testargs = { { "c", 1 }, range->exclusive, lock };
	const nlm_unlockargs unlock = { { "c", 1 }, lock };
	nlm_testres test = { 0 };
	nlm_res answer = { 0 };

	if (proc == NLM_TEST) {
		lockd_run(lockd, &nlm3_NLM_VERSX_program, proc, &testargs, &test);
		lockd->test.stat.u.holder.l_offset = test.test_stat.u.holder.l_offset;
		lockd->test.stat.u.holder.l_len = test.test_stat.u.holder.l_len;
		return (nlm4_stats)test.test_stat.stat;
	}
	lockd_run(lockd, &nlm3_NLM_VERSX_program, proc,
		proc == NLM_UNLOCK ? (const void *)&unlock : &lockargs, &answer);
	return (nlm4_stats)answer.stat.stat;
}

nlm4_stats
lockd_call(struct lockd *lockd, uint32_t proc, const struct lockd_range *range)
{
	const nlm4_lock lock = { text_bytes(lockd->name), lockd->fh, text_bytes(range->oh), range->svid,
		range->offset, range->length };
	const nlm4_lockargs lockargs = { { "c", 1 }, range->block, range->exclusive, lock, range->reclaim,
		lockd->state };
	const nlm4_testargs testargs = { { "c", 1 }, range->exclusive, lock };
	const nlm4_cancargs cancel = { { "c", 1 }, range->block, range->exclusive, lock };
	const nlm4_unlockargs unlock = { { "c", 1 }, lock };
	nlm4_res answer = { 0 };
	const void *args = &lockargs;
	void *result = proc >= NLMPROC4_TEST_MSG && proc <= NLMPROC4_UNLOCK_MSG ? NULL : (void *)&answer;

	if (lockd->vers == 3)
		return lockd_call_old(lockd, proc, range);
	if (proc == NLMPROC4_TEST) {
		memset(&lockd->test, 0, sizeof(lockd->test));
		lockd_run(lockd, &nlm4_NLM4_VERS_program, proc, &testargs, &lockd->test);
		return lockd->test.stat.stat;
	}
	if (proc == NLMPROC4_TEST_MSG)
		args = &testargs;
	else if (proc == NLMPROC4_CANCEL || proc == NLMPROC4_CANCEL_MSG)
		args = &cancel;
	else if (proc == NLMPROC4_UNLOCK || proc == NLMPROC4_UNLOCK_MSG)
		args = &unlock;
	lockd_run(lockd, &nlm4_NLM4_VERS_program, proc, args, result);
	if (result) {
		assert_int_equal(answer.cookie.length, 1);
		assert_memory_equal(answer.cookie.data, "c", 1);
	}
	return answer.stat.stat;
}

nlm4_stats
lockd_share(struct lockd *lockd, uint32_t proc, const char *oh, uint32_t mode, uint32_t access)
{
	const nlm4_shareargs args = { { "c", 1 },
		{ text_bytes(lockd->name), lockd->fh, text_bytes(oh), (fsh4_mode)mode, (fsh4_access)access },
		false };
	nlm4_shareres answer = { 0 };

	lockd_run(lockd, &nlm4_NLM4_VERS_program, proc, &args, &answer);
	return answer.stat;
}

void
lockd_free_all(struct lockd *lockd, const char *name)
{
	const nlm4_notify notify = { text_bytes(name), 0 };

	lockd_run(lockd, &nlm4_NLM4_VERS_program, NLMPROC4_FREE_ALL, &notify, NULL);
}

void
lockd_notify(struct lockd *lockd, const char *name, int32_t state)
{
	const stat_chge change = { text_bytes(name), state };

	lockd_run(lockd, &nsm1_SM_VERS_program, SM_NOTIFY, &change, NULL);
}

struct lockd_range
lockd_range(int32_t svid, uint64_t offset, uint64_t length, bool exclusive)
{
	return (struct lockd_range){
		.svid = svid, .oh = "oh", .offset = offset, .length = length, .exclusive = exclusive
	};
}

nlm4_stats
lockd_lock(struct lockd *lockd, int32_t svid, uint64_t offset, uint64_t length, bool exclusive)
{
	const struct lockd_range range = lockd_range(svid, offset, length, exclusive);

	return lockd_call(lockd, NLMPROC4_LOCK, &range);
}

nlm4_stats
lockd_block(struct lockd *lockd, int32_t svid, uint64_t offset, uint64_t length, bool exclusive)
{
	struct lockd_range range = lockd_range(svid, offset, length, exclusive);

	range.block = true;
	return lockd_call(lockd, NLMPROC4_LOCK, &range);
}

nlm4_stats
lockd_unlock(struct lockd *lockd, int32_t svid, uint64_t offset, uint64_t length)
{
	const struct lockd_range range = lockd_range(svid, offset, length, false);

	return lockd_call(lockd, NLMPROC4_UNLOCK, &range);
}

/* ---- Octets ---- */

struct raw_octets {
	const uint8_t *data;
	uint32_t length;
};

static void
put_raw(struct rpcrdma_xdr_writer *writer, const void *value)
{
	const struct raw_octets *octets = value;

	rpcrdma_put_fixed(writer, octets->data, octets->length);
}

int
lockd_raw(struct lockd *lockd, const struct rpcrdma_program *program, uint32_t proc, const uint8_t *octets,
	uint32_t length)
{
	static union {
		nlm4_testres test;
		nlm4_shareres share;
		sm_stat_res stat;
	} result;
	const struct raw_octets args = { octets, length };
	struct rpcrdma_procedure procedures[NLMPROC4_FREE_ALL + 1];
	struct rpcrdma_program changed = *program;
	struct rr_call call = { .program = &changed,
		.proc = proc,
		.args = &args,
		.result = &result,
		.keep = lockd->keep,
		.keep_size = sizeof(lockd->keep),
		.timeout = 20 * RR_SECOND };

	if (proc >= program->procedure_count || !program->procedures[proc].name)
		return 0;
	memcpy(procedures, program->procedures, program->procedure_count * sizeof(*procedures));
	changed.procedures = procedures;
	procedures[proc].put_args = put_raw;
	procedures[proc].args_min = 0;
	procedures[proc].args_max = RPCRDMA_XDR_UNBOUNDED;
	return rr_client_call_and_wait(lockd->client, &call, NULL, NULL);
}

/* ---- Scenes ---- */

static void
scene_connect(struct lockd_scene *scene)
{
	lockd_begin(&scene->hosts[0], scene->world, "a", scene->fh);
	lockd_begin(&scene->hosts[1], scene->world, "b", scene->fh);
}

static void
scene_file(struct lockd_scene *scene)
{
	char path[STAGE_PATH + 4];
	const nfs_resop4 *answer;

	world_open_to_all(scene->world);
	snprintf(path, sizeof(path), "%s/f", scene->world->path);
	scene->local = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
	assert_true(scene->local >= 0);
	assert_int_equal(fchmod(scene->local, 0666), 0);
	scene->peer = world_caller(scene->world, 0, "v4", 0);
	assert_int_equal(RUN(scene->peer, op_root(), op_lookup("f"), op_plain(OP_GETFH)), NFS4_OK);
	answer = peer_res(scene->peer, 2);
	scene->fh = (struct rpcrdma_bytes){ scene->handle, answer->u.opgetfh.u.resok4.object.length };
	memcpy(scene->handle, answer->u.opgetfh.u.resok4.object.data, scene->fh.length);
	scene_connect(scene);
}

int
scene_begin(void **state, struct lockd_scene *scene)
{
	memset(scene, 0, sizeof(*scene));
	world_setup_nlm(state);
	scene->world = *state;
	scene_file(scene);
	return 0;
}

int
scene_begin_services(void **state, struct lockd_scene *scene)
{
	memset(scene, 0, sizeof(*scene));
	world_setup_nlm(state);
	scene->world = *state;
	services_begin(scene->world, &scene->services);
	scene_file(scene);
	return 0;
}

int
scene_begin_deaf(void **state, struct lockd_scene *scene)
{
	memset(scene, 0, sizeof(*scene));
	world_setup_nlm(state);
	scene->world = *state;
	/* A port at which nobody listens. */
	scene->world->rpcbind = 1;
	world_restart(scene->world);
	scene_file(scene);
	return 0;
}

int
scene_end(void **state, struct lockd_scene *scene)
{
	lockd_end(&scene->hosts[0]);
	lockd_end(&scene->hosts[1]);
	services_end(&scene->services);
	close(scene->local);
	return world_teardown(state);
}

void
scene_restart(struct lockd_scene *scene)
{
	lockd_end(&scene->hosts[0]);
	lockd_end(&scene->hosts[1]);
	world_restart(scene->world);
	scene_connect(scene);
}

struct rr_nlm_held
scene_held(const struct lockd_scene *scene)
{
	struct rr_nlm_held held;

	rr_nlm_held(scene->world->nlm_shared, &held);
	return held;
}
