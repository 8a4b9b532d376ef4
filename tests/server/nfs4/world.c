/* SPDX-License-Identifier: BSD-3-Clause */
#include "world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../gate.h"
#include "base/endian.h"

const stateid4 stateid_anonymous = { 0 };
const stateid4 stateid_current = { .seqid = 1 };

void
world_listen(struct world *world, enum rr_transport transport, struct sockaddr *address, socklen_t size)
{
	struct rr_text text;

	if (rr_server_listen(world->server, transport, address, size, NULL, &text) < 0)
		fail_msg("%s", text.text);
}

/* Makes what NLM's servers share, before that of version 4, so that both know of hosts who may reclaim. */
static void
world_share_nlm(struct world *world)
{
	char path[STAGE_PATH + 8];
	const struct rr_nlm_config config = { .locks = world->locks,
		.records = world->has_records ? path : NULL,
		.grace = 90 * RR_SECOND,
		.claims = world->claims ? world->claims : 1000,
		.rpcbind = world->rpcbind };
	struct rr_text text;

	if (!world->has_nlm)
		return;
	snprintf(path, sizeof(path), "%s/nlm", world->records);
	if (rr_nlm_shared_new(&world->stage.env, &config, &world->nlm_shared, &text) < 0)
		fail_msg("%s", text.text);
}

static void
world_start(struct world *world)
{
	struct rr_nfs4_shared_config shared = { .tables = rr_nfs4_tables_config_default,
		.records = world->has_records ? world->records : NULL };
	const struct rr_tree_config tree = { .exports = world->exports, .export_count = world->export_count };
	const struct rr_idmap_config idmap = { "example.org", world->manage_gids, world->directory };
	struct rr_server_config server = rr_server_config_default;
	struct rr_nfs4_server_config config;
	struct rr_service services[1 + RR_NLM_SERVICES];
	struct rr_text text = { "" };

	assert_int_equal(rr_locks_new(&world->stage.env, &world->locks), 0);
	shared.tables.locks = world->locks;
	world_share_nlm(world);

	if (world->lease > 0)
		shared.tables.lease = world->lease * RR_SECOND;
	assert_int_equal(rr_posix_shared_new(&rr_env_system, 1, &world->posix), 0);
	if (world->in_memory)
		assert_int_equal(
			rr_memory_provider(world->memory, world->stage.engine->loop, &world->vfs), 0);
	else if (rr_posix_new(&world->stage.env, world->stage.engine->loop, &tree, world->posix, &world->vfs,
			 &text) < 0)
		fail_msg("%s", text.text);
	if (rr_nfs4_shared_new(&world->stage.env, &shared, &world->shared, &text) < 0)
		fail_msg("%s", text.text);
	test_gate_init(&world->gate, world->vfs, world->rule ? world->rule : TEST_GATE_OPEN);
	if (world->directory)
		assert_int_equal(
			rr_idmap_new(&world->stage.env, world->stage.engine->loop, &idmap, &world->idmap), 0);
	world->gate.idmap = world->idmap;
	config = (struct rr_nfs4_server_config){ world->stage.engine->results, &world->gate, world->shared,
		world->minors };
	assert_int_equal(rr_nfs4_server_new(
				 &world->stage.env, world->stage.engine->loop, &config, &world->nfs4, &text),
		0);
	rr_nfs4_server_service(world->nfs4, &services[0]);
	if (world->has_nlm) {
		if (rr_nlm_server_new(
			    world->stage.engine, &world->gate, world->nlm_shared, &world->nlm, &text) < 0)
			fail_msg("%s", text.text);
		rr_nlm_server_services(world->nlm, services + 1);
	}
	if (world->auths)
		server.auths = world->auths;
	assert_int_equal(rr_server_new(world->stage.engine, &server, services,
				 world->has_nlm ? 1 + RR_NLM_SERVICES : 1, &world->server),
		0);
	world_listen(world, RR_TRANSPORT_TCP, (struct sockaddr *)&world->address, sizeof(world->address));
}

static struct world *
world_new(void)
{
	struct world *world = calloc(1, sizeof(*world));

	assert_non_null(world);
	stage_init(&world->stage);
	world->stage.runs = true;
	stage_engine(&world->stage, NULL, NULL);
	stage_directory(world->path);
	world->address = stage_loopback();
	return world;
}

int
world_setup(void **state)
{
	struct world *world = world_new();

	world->exports[0] = (struct rr_tree_export){ world->path, "/" };
	world->export_count = 1;
	world_start(world);
	*state = world;
	return 0;
}

int
world_setup_two_exports(void **state)
{
	static char paths[2][80];
	struct world *world = world_new();

	for (int i = 0; i < 2; i++) {
		snprintf(paths[i], sizeof(paths[i]), "%s/%d", world->path, i);
		assert_int_equal(mkdir(paths[i], 0755), 0);
		world->exports[i] = (struct rr_tree_export){ paths[i], i ? "/deep/b" : "/a" };
	}
	world->export_count = 2;
	world_start(world);
	*state = world;
	return 0;
}

int
world_setup_records(void **state)
{
	struct world *world = world_new();

	world->exports[0] = (struct rr_tree_export){ world->path, "/" };
	world->export_count = 1;
	world->has_records = true;
	stage_directory(world->records);
	world_start(world);
	*state = world;
	return 0;
}

int
world_setup_plain(void **state)
{
	struct world *world = world_new();

	world->exports[0] = (struct rr_tree_export){ world->path, "/" };
	world->export_count = 1;
	world->has_records = true;
	world->minors = RR_NFS4_MINOR_0 | RR_NFS4_MINOR_1 | RR_NFS4_MINOR_2;
	stage_directory(world->records);
	world_start(world);
	*state = world;
	return 0;
}

int
world_setup_nlm(void **state)
{
	struct world *world = world_new();

	world->exports[0] = (struct rr_tree_export){ world->path, "/" };
	world->export_count = 1;
	world->has_records = world->has_nlm = true;
	stage_directory(world->records);
	world_start(world);
	*state = world;
	return 0;
}

int
world_setup_memory(void **state)
{
	static const struct rr_vfs_export export = { .name = "/" };
	static const struct rr_memory_config config = { &export, 1, 1, 1 << 24, 1000, 0, 0, false };
	struct world *world = world_new();

	world->in_memory = true;
	world->minors = RR_NFS4_MINOR_0 | RR_NFS4_MINOR_1 | RR_NFS4_MINOR_2;
	assert_int_equal(rr_memory_new(&world->stage.env, &config, &world->memory), 0);
	world_start(world);
	*state = world;
	return 0;
}

static void
world_stop(struct world *world)
{
	for (int i = 0; i < WORLD_CLIENTS; i++) {
		peer_disconnect(&world->peers[i]);
	}
	rr_server_free(world->server);
	rr_nlm_server_end(world->nlm);
	rr_nfs4_server_end(world->nfs4);
	rr_idmap_free(world->idmap);
	world->idmap = NULL;
	rr_vfs_destroy(world->vfs);
	rr_nfs4_server_free(world->nfs4);
	rr_nlm_server_free(world->nlm);
	rr_gate_end(&world->gate);
	rr_nfs4_shared_free(world->shared);
	rr_nlm_shared_free(world->nlm_shared);
	rr_locks_free(world->locks);
	rr_posix_shared_free(world->posix);
}

void
world_restart(struct world *world)
{
	world_stop(world);
	world->address.sin_port = 0;
	world_start(world);
}

int
world_teardown(void **state)
{
	struct world *world = *state;

	world_stop(world);
	rr_memory_free(world->memory);
	if (world->has_records)
		stage_remove(world->records);
	stage_end(&world->stage);
	stage_remove(world->path);
	free(world);
	return 0;
}

static enum rpcrdma_handled
answer_null(void *ctx, struct rpcrdma_request *request, const void *args, void *result)
{
	struct answers *answers = ctx;

	(void)request, (void)args, (void)result;
	answers->nulls++;
	return answers->silent ? RPCRDMA_HANDLE_DROP : RPCRDMA_HANDLED;
}

/* Answers a CB_SEQUENCE with the checks that a client makes: RFC 8881, 20.9.3. */
static void
answer_sequence(struct answers *answers, const CB_SEQUENCE4args *args, CB_SEQUENCE4res *res)
{
	CB_SEQUENCE4resok *ok = &res->u.csr_resok4;

	assert_true(args->csa_slotid < 16 && args->csa_highest_slotid >= args->csa_slotid);
	res->csr_status = answers->sequence;
	if (answers->sequence != NFS4_OK)
		return;
	if (args->csa_sequenceid == answers->last[args->csa_slotid] && answers->replays)
		answers->retries++;
	else
		assert_int_equal(args->csa_sequenceid, answers->last[args->csa_slotid] + 1);
	answers->last[args->csa_slotid] = args->csa_sequenceid;
	memcpy(ok->csr_sessionid, args->csa_sessionid, sizeof(ok->csr_sessionid));
	ok->csr_sequenceid = args->csa_sequenceid;
	ok->csr_slotid = args->csa_slotid;
	ok->csr_highest_slotid = ok->csr_target_highest_slotid = 15;
}

/* Notes which referring call the CB_SEQUENCE has: at most one. */
static void
answer_note_referring(struct answers *answers, const CB_SEQUENCE4args *args)
{
	const referring_call_list4 *list = args->csa_referring_call_lists.values;

	answers->refers = args->csa_referring_call_lists.count > 0;
	if (!answers->refers)
		return;
	assert_int_equal(args->csa_referring_call_lists.count, 1);
	assert_int_equal(list->rcl_referring_calls.count, 1);
	memcpy(answers->referring_session, list->rcl_sessionid, sizeof(answers->referring_session));
	answers->referring = list->rcl_referring_calls.values[0];
}

static void
answer_note(struct answers *answers, const nfs_cb_argop4 *op)
{
	const nfs_fh4 *handle =
		op->argop == OP_CB_RECALL ? &op->u.opcbrecall.fh : &op->u.opcbnotify_lock.cnla_fh;

	assert_true(handle->length <= sizeof(answers->handle));
	answers->ops[answers->compounds] = *op;
	answers->handle_length = handle->length;
	memcpy(answers->handle, handle->data, handle->length);
	answers->compounds++;
}

static enum rpcrdma_handled
answer_compound(void *ctx, struct rpcrdma_request *request, const void *arguments, void *result)
{
	const CB_COMPOUND4args *args = arguments;
	struct answers *answers = ctx;
	CB_COMPOUND4res *res = result;
	nfs_cb_resop4 *ops = rpcrdma_request_alloc(request, 2 * sizeof(*ops));

	assert_int_equal(args->argarray.count, 2);
	assert_true(answers->compounds < WORLD_CALLBACKS);
	assert_int_equal(args->argarray.values[0].argop, OP_CB_SEQUENCE);
	answers->minor = args->minorversion;
	ops[0].resop = OP_CB_SEQUENCE;
	answer_sequence(answers, &args->argarray.values[0].u.opcbsequence, &ops[0].u.opcbsequence);
	answers->uids[answers->compounds] = request->caller.named ? request->caller.uid : WORLD_NOBODY;
	answers->size = request->exchange->call.length;
	answer_note_referring(answers, &args->argarray.values[0].u.opcbsequence);
	answer_note(answers, &args->argarray.values[1]);
	if (answers->silent)
		return RPCRDMA_HANDLE_DROP;
	res->status = answers->sequence != NFS4_OK ? answers->sequence : answers->status;
	res->resarray.values = ops;
	res->resarray.count = answers->sequence != NFS4_OK ? 1 : 2;
	ops[1].resop = args->argarray.values[1].argop;
	/* Both operations have a result that is only a status. */
	ops[1].u.opcbrecall.status = answers->status;
	return RPCRDMA_HANDLED;
}

static void
peer_serve(struct peer *peer)
{
	static rpcrdma_handler *const handlers[] = { answer_null, answer_compound };
	const struct rr_service service = { &nfs42_NFS_CB_program, handlers, &peer->answers, NULL, NULL };

	if (!peer->answers.server)
		assert_int_equal(rr_server_new(peer->world->stage.engine, &rr_server_config_default, &service,
					 1, &peer->answers.server),
			0);
}

void
peer_disconnect(struct peer *peer)
{
	rr_client_free(peer->client);
	rr_server_free(peer->answers.server);
	peer->client = NULL;
	peer->answers.server = NULL;
}

nfsstat4
peer_bind(struct peer *peer, uint32_t uid)
{
	nfs_argop4 op = { .argop = OP_BIND_CONN_TO_SESSION,
		.u.opbind_conn_to_session.bctsa_dir = CDFC4_FORE_OR_BOTH };

	if (!peer->client)
		peer_connect(peer, uid);
	memcpy(op.u.opbind_conn_to_session.bctsa_sessid, peer->session, sizeof(peer->session));
	return peer_raw(peer, &op, 1);
}

uint32_t
peer_flags(const struct peer *peer)
{
	return peer->res.resarray.values[0].u.opsequence.u.sr_resok4.sr_status_flags;
}

void
world_wait(struct world *world, const uint32_t *number, uint32_t least)
{
	while (*number < least)
		assert_true(rr_loop_turn(world->stage.engine->loop, 20 * (int64_t)RR_SECOND) >= 0);
}

struct peer *
world_caller(struct world *world, uint32_t number, const char *name, uint32_t uid)
{
	world->peers[number].calls_back = true;
	return world_peer(world, number, name, uid);
}

void
peer_connect(struct peer *peer, uint32_t uid)
{
	struct rr_client_config config = { .transport = RR_TRANSPORT_TCP,
		.address_size = sizeof(peer->world->address),
		.user = { .uid = uid, .gid = uid } };
	struct rr_text text;

	if (peer->calls_back)
		peer_serve(peer);
	config.callbacks = peer->answers.server;
	memcpy(&config.address, &peer->world->address, sizeof(peer->world->address));
	if (rr_client_new(peer->world->stage.engine, &config, &peer->client, &text) < 0)
		fail_msg("%s", text.text);
}

void
world_check_results(const struct world *world, uint32_t minor, const COMPOUND4res *res)
{
	for (uint32_t i = 0; i < res->resarray.count; i++) {
		const nfs_resop4 *result = &res->resarray.values[i];
		nfsstat4 status;

		memcpy(&status, &result->u, sizeof(status));
		if (!rr_nfs4_status_allowed(minor, result->resop, status) ||
			(status == NFS4ERR_SERVERFAULT && !world->storage_fails))
			fail_msg("operation %d answers %d", result->resop, status);
		assert_int_equal(status, i + 1 < res->resarray.count ? NFS4_OK : res->status);
	}
}

nfsstat4
peer_raw(struct peer *peer, nfs_argop4 *ops, uint32_t count)
{
	const COMPOUND4args args = { .tag = text_bytes(peer->tag ? peer->tag : "tag"),
		.minorversion = peer->minor,
		.argarray = { count, ops } };
	struct rr_call call = { .program = &nfs42_NFS_V4_program,
		.proc = NFSPROC4_COMPOUND,
		.args = &args,
		.result = &peer->res,
		.reply_max = sizeof(peer->keep),
		.arena = rpcrdma_arena(peer->memory, sizeof(peer->memory)),
		.keep = peer->keep,
		.keep_size = sizeof(peer->keep) };

	memset(&peer->res, 0, sizeof(peer->res));
	if (rr_client_call_and_wait(peer->client, &call, NULL, NULL) < 0)
		fail_msg("%s", rr_client_error(peer->client));
	assert_int_equal(peer->res.tag.length, args.tag.length);
	assert_memory_equal(peer->res.tag.data, args.tag.data, args.tag.length);
	world_check_results(peer->world, peer->minor, &peer->res);
	return peer->res.status;
}

static void
started_done(struct rr_call *call, int error)
{
	struct started *started = call->ctx;

	assert_int_equal(error, 0);
	started->done = true;
}

void
peer_start(struct peer *peer, const nfs_argop4 *op, struct started *started)
{
	peer_start_all(peer, op, 1, started);
}

void
peer_start_all(struct peer *peer, const nfs_argop4 *ops, uint32_t count, struct started *started)
{
	SEQUENCE4args *sequence = &started->ops[0].u.opsequence;

	*started = (struct started){ .ops = { { .argop = OP_SEQUENCE } } };
	memcpy(started->ops + 1, ops, count * sizeof(*ops));
	*sequence = (SEQUENCE4args){ .sa_sequenceid = peer->sequence, .sa_cachethis = peer->cache };
	memcpy(sequence->sa_sessionid, peer->session, sizeof(peer->session));
	started->args =
		(COMPOUND4args){ .minorversion = peer->minor, .argarray = { count + 1, started->ops } };
	peer_start_raw(peer, started);
}

void
peer_start_raw(struct peer *peer, struct started *started)
{
	memset(&peer->res, 0, sizeof(peer->res));
	started->call = (struct rr_call){ .program = &nfs42_NFS_V4_program,
		.proc = NFSPROC4_COMPOUND,
		.args = &started->args,
		.result = &peer->res,
		.reply_max = 1 << 16,
		.arena = rpcrdma_arena(peer->memory, sizeof(peer->memory)),
		.keep = peer->keep,
		.keep_size = sizeof(peer->keep),
		.done = started_done,
		.ctx = started };
	rr_client_call(peer->client, &started->call);
}

nfsstat4
peer_exchange(struct peer *peer, const char *name, uint8_t verifier, uint32_t flags)
{
	nfs_argop4 op = { .argop = OP_EXCHANGE_ID,
		.u.opexchange_id = {
			.eia_clientowner = { { verifier }, text_bytes(name) }, .eia_flags = flags } };
	nfsstat4 status = peer_raw(peer, &op, 1);

	if (status == NFS4_OK) {
		const EXCHANGE_ID4resok *ok = &peer->res.resarray.values[0].u.opexchange_id.u.eir_resok4;

		peer->clientid = ok->eir_clientid;
		peer->create_sequence = ok->eir_sequenceid;
	}
	return status;
}

nfsstat4
peer_create_session(struct peer *peer)
{
	static const channel_attrs4 attrs = { .ca_maxrequestsize = 65536,
		.ca_maxresponsesize = 65536,
		.ca_maxresponsesize_cached = 4096,
		.ca_maxoperations = WORLD_OPS,
		.ca_maxrequests = 4 };
	callback_sec_parms4 sec = { .cb_secflavor = AUTH_NONE };
	nfs_argop4 op = { .argop = OP_CREATE_SESSION,
		.u.opcreate_session = { .csa_clientid = peer->clientid,
			.csa_sequence = peer->create_sequence,
			.csa_flags = peer->calls_back ? CREATE_SESSION4_FLAG_CONN_BACK_CHAN : 0,
			.csa_fore_chan_attrs = peer->fore ? *peer->fore : attrs,
			.csa_back_chan_attrs = peer->back ? *peer->back : attrs,
			.csa_cb_program = 0x40000000,
			.csa_sec_parms = { 1, &sec } } };
	nfsstat4 status = peer_raw(peer, &op, 1);

	if (status == NFS4_OK) {
		memcpy(peer->session,
			peer->res.resarray.values[0].u.opcreate_session.u.csr_resok4.csr_sessionid,
			sizeof(peer->session));
		peer->sequence = 0;
		peer->create_sequence++;
	}
	return status;
}

struct peer *
world_new_peer(struct world *world, uint32_t number, const char *name, uint32_t uid)
{
	struct peer *peer = &world->peers[number];

	peer->world = world;
	peer->minor = 2;
	peer_connect(peer, uid);
	assert_int_equal(peer_exchange(peer, name, 1, 0), NFS4_OK);
	assert_int_equal(peer_create_session(peer), NFS4_OK);
	return peer;
}

struct peer *
world_peer(struct world *world, uint32_t number, const char *name, uint32_t uid)
{
	struct peer *peer = world_new_peer(world, number, name, uid);

	assert_int_equal(RUN(peer, op_plain(OP_RECLAIM_COMPLETE)), NFS4_OK);
	return peer;
}

struct peer *
world_kinds(struct world *world)
{
	struct peer *peer = world_peer(world, 0, "a", 0);

	assert_int_equal(
		RUN(peer, op_root(), op_open("file", "o", OPEN4_SHARE_ACCESS_BOTH, 0, true)), NFS4_OK);
	assert_int_equal(RUN(peer, op_root(), op_create(NF4DIR, "dir", NULL)), NFS4_OK);
	assert_int_equal(RUN(peer, op_root(), op_create(NF4LNK, "link", "file")), NFS4_OK);
	assert_int_equal(RUN(peer, op_root(), op_lookup("link"), op_lookup("x")), NFS4ERR_SYMLINK);
	assert_int_equal(RUN(peer, op_root(), op_lookup("link"), op_plain(OP_LOOKUPP)), NFS4ERR_SYMLINK);
	assert_int_equal(RUN(peer, op_root(), op_create(NF4FIFO, "fifo", NULL)), NFS4_OK);
	assert_int_equal(RUN(peer, op_root(), op_create(NF4SOCK, "sock", NULL)), NFS4_OK);
	return peer;
}

void
world_open_to_all(const struct world *world)
{
	assert_int_equal(chmod(world->path, 0755), 0);
}

nfsstat4
peer_again(struct peer *peer, const nfs_argop4 *ops, uint32_t count)
{
	nfs_argop4 all[WORLD_OPS + 2] = { { .argop = OP_SEQUENCE } };

	assert_true(count <= WORLD_OPS + 1);
	all[0].u.opsequence = (SEQUENCE4args){ .sa_sequenceid = peer->sequence, .sa_cachethis = peer->cache };
	memcpy(all[0].u.opsequence.sa_sessionid, peer->session, sizeof(peer->session));
	if (count > 0)
		memcpy(all + 1, ops, count * sizeof(*ops));
	return peer_raw(peer, all, count + 1);
}

nfsstat4
peer_run(struct peer *peer, const nfs_argop4 *ops, uint32_t count)
{
	nfsstat4 status;

	peer->sequence++;
	status = peer_again(peer, ops, count);
	/* A SEQUENCE that failed has left the sequence ID of the slot as it was. */
	if (peer->res.resarray.count > 0 && peer->res.resarray.values[0].u.opsequence.sr_status != NFS4_OK)
		peer->sequence--;
	return status;
}

const nfs_resop4 *
peer_res(const struct peer *peer, uint32_t index)
{
	assert_true(index + 1 < peer->res.resarray.count);
	return &peer->res.resarray.values[index + 1];
}

nfs_argop4
op_open(const char *name, const char *owner, uint32_t access, uint32_t deny, bool create)
{
	/* Mode 0644 is the only attribute. */
	static uint32_t words[2] = { 0, 1 << (FATTR4_MODE - 32) };
	static const uint8_t mode[4] = { 0, 0, 1, 0244 };
	nfs_argop4 op = { .argop = OP_OPEN,
		.u.opopen = { .share_access = access,
			.share_deny = deny,
			.owner = { .owner = text_bytes(owner) },
			.claim = { .claim = CLAIM_NULL, .u.file = text_bytes(name) } } };

	if (!create)
		return op;
	op.u.opopen.openhow.opentype = OPEN4_CREATE;
	op.u.opopen.openhow.u.how =
		(createhow4){ UNCHECKED4, { .createattrs = { { 2, words }, { mode, sizeof(mode) } } } };
	return op;
}

nfs_argop4
op_close(const stateid4 *stateid)
{
	return (nfs_argop4){ .argop = OP_CLOSE, .u.opclose.open_stateid = *stateid };
}

nfs_argop4
op_write(const stateid4 *stateid, uint64_t offset, const char *data)
{
	return (nfs_argop4){ .argop = OP_WRITE,
		.u.opwrite = { *stateid, offset, FILE_SYNC4, text_bytes(data) } };
}

nfs_argop4
op_read(const stateid4 *stateid, uint64_t offset, uint32_t count)
{
	return (nfs_argop4){ .argop = OP_READ, .u.opread = { *stateid, offset, count } };
}

nfs_argop4
op_lock(const stateid4 *open, const char *owner, nfs_lock_type4 type, uint64_t offset, uint64_t length)
{
	return (nfs_argop4){ .argop = OP_LOCK,
		.u.oplock = { .locktype = type,
			.offset = offset,
			.length = length,
			.locker = { true, { .open_owner = { .open_stateid = *open,
						    .lock_owner = { .owner = text_bytes(owner) } } } } } };
}

nfs_argop4
op_create(nfs_ftype4 type, const char *name, const char *target)
{
	nfs_argop4 op = { .argop = OP_CREATE,
		.u.opcreate = { { .type = type }, text_bytes(name), { .attrmask = { .count = 0 } } } };

	if (target)
		op.u.opcreate.objtype.u.linkdata = text_bytes(target);
	return op;
}

nfs_argop4
op_setattr_mode(uint32_t mode)
{
	static const uint32_t words[2] = { 0, 1 << (FATTR4_MODE - 32) };
	static uint8_t values[4];

	rr_put_be32(values, mode);
	return (nfs_argop4){ .argop = OP_SETATTR,
		.u.opsetattr.obj_attributes = { { 2, (uint32_t *)(uintptr_t)words }, { values, 4 } } };
}

nfs_argop4
op_readdir(uint64_t cookie, uint8_t verifier, uint32_t maxcount)
{
	return (nfs_argop4){ .argop = OP_READDIR,
		.u.opreaddir = { .cookie = cookie,
			.cookieverf = { verifier },
			.dircount = 512,
			.maxcount = maxcount } };
}
