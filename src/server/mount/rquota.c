/* SPDX-License-Identifier: BSD-3-Clause */
#include "server/mount/rquota.h"

#include <string.h>

#include "server/mount/walk.h"
#include "ulb/rquota.h"

/* Whose quota a call asks for. */
struct rquota_of {
	bool group;
	uint32_t id;
};

/* The arguments of both versions begin with the path. */
_Static_assert(offsetof(getquota_args, gqa_pathp) == 0, "the path comes first");
_Static_assert(offsetof(ext_getquota_args, gqa_pathp) == 0, "the path comes first");

/* Finds out whose quota is asked for. Returns false for a type that there is not. */
static bool
rquota_asked(const struct rr_nfs_work *work, struct rquota_of *of)
{
	const ext_getquota_args *args = work->args;

	if (work->request->vers == RQUOTAVERS) {
		*of = (struct rquota_of){ false, (uint32_t)((const getquota_args *)work->args)->gqa_uid };
		return true;
	}
	*of = (struct rquota_of){ args->gqa_type == RQUOTA_GROUP, (uint32_t)args->gqa_id };
	return args->gqa_type == RQUOTA_GROUP || args->gqa_type == RQUOTA_USER;
}

static bool
rquota_in_group(const struct rr_caller *who, uint32_t gid)
{
	for (uint32_t i = 0; i < who->group_count; i++)
		if (who->groups[i] == gid)
			return true;
	return who->gid == gid;
}

/* Tells whether the caller may know that quota, as quotactl(2) has it: the superuser may know all, others
 * their own and those of their groups. The export's rule says who is superuser, and as whom a caller's files
 * are made: so of->id becomes the number that a caller who asks for itself has in the export. */
static bool
rquota_may(const struct rr_nfs_work *work, struct rquota_of *of)
{
	const struct rr_vfs_caller *as = &work->identity.caller;
	const struct rr_caller *who = &work->request->caller;

	if (as->uid == 0)
		return true;
	if (!who->named)
		return false;
	if (of->group)
		return rquota_in_group(who, of->id);
	if (of->id != who->uid)
		return false;
	of->id = as->uid;
	return true;
}

/* Clients of version 4 leave out the first slash: their paths begin at the root of all exports. */
static enum rr_vfs_status
rquota_begin(struct rr_nfs_work *work)
{
	struct rpcrdma_bytes path = *(const struct rpcrdma_bytes *)work->args;
	char *whole;

	if (path.length > 0 && *(const char *)path.data == '/')
		return rr_nfs_walk_begin(work, path);
	whole = rr_nfs_alloc(work->request, (size_t)path.length + 1);
	if (!whole)
		return RR_VFS_BUSY;
	whole[0] = '/';
	if (path.length > 0)
		memcpy(whole + 1, path.data, path.length);
	return rr_nfs_walk_begin(work, (struct rpcrdma_bytes){ whole, path.length + 1 });
}

static uint32_t
rquota_time(const struct rr_vfs_quota_of *of)
{
	/* A time that has passed is a negative number to clients of Linux. */
	return (uint32_t)(of->left > INT32_MAX ? INT32_MAX : of->left < INT32_MIN ? INT32_MIN : of->left);
}

/* Returns how often a block of 1 KiB is to be doubled for all three numbers of blocks to fit in 32 bits. */
static unsigned
rquota_shift(const struct rr_vfs_quota_of *octets)
{
	uint64_t most = octets->hard > octets->soft ? octets->hard : octets->soft;
	unsigned shift = 10;

	if (octets->used > most)
		most = octets->used;
	while (shift < 30 && most >> shift >= UINT32_MAX)
		shift++;
	return shift;
}

static uint32_t
rquota_number(uint64_t number)
{
	return number < UINT32_MAX ? (uint32_t)number : UINT32_MAX;
}

static void
rquota_put(const struct rr_vfs_quota *quota, rquota *result)
{
	const struct rr_vfs_quota_of *octets = &quota->octets, *files = &quota->files;
	unsigned shift = rquota_shift(octets);
	uint64_t up = (1ULL << shift) - 1;

	*result = (rquota){
		.rq_bsize = 1 << shift,
		.rq_active = true,
		.rq_bhardlimit = rquota_number(octets->hard >> shift),
		.rq_bsoftlimit = rquota_number(octets->soft >> shift),
		.rq_curblocks = rquota_number((octets->used >> shift) + ((octets->used & up) != 0)),
		.rq_fhardlimit = rquota_number(files->hard),
		.rq_fsoftlimit = rquota_number(files->soft),
		.rq_curfiles = rquota_number(files->used),
		.rq_btimeleft = rquota_time(octets),
		.rq_ftimeleft = rquota_time(files),
	};
}

static enum rpcrdma_handled
rquota_answer(struct rr_nfs_work *work, gqr_status status)
{
	((getquota_rslt *)work->result)->status = status;
	return RPCRDMA_HANDLED;
}

static enum rpcrdma_handled rquota_end(struct rr_nfs_work *work, enum rr_vfs_status status);

/* Asks for the quota of the directory that was found. */
static enum rpcrdma_handled
rquota_ask(struct rr_nfs_work *work)
{
	const struct rr_gate_caller caller = rr_nfs_caller(work->request);
	struct rr_nfs_quota *quota = &work->op.quota;
	const struct rr_vfs_call call = work->op.call;
	struct rr_vfs *vfs = work->server->vfs;
	enum rr_gate_answer answer;
	enum rr_vfs_status status;
	struct rquota_of of;

	quota->of = work->op.walk.lookup.handle;
	answer = rr_gate_ask_handle(work->server->gate, &caller,
		(struct rpcrdma_bytes){ quota->of.data, quota->of.length }, &work->identity);
	/* RFC 5531, 9, on AUTH_TOOWEAK: "rejected for security reasons" */
	if (answer == RR_GATE_FLAVOR)
		return RPCRDMA_HANDLE_TOO_WEAK;
	if (answer != RR_GATE_OPEN || !rquota_asked(work, &of))
		return rquota_answer(work, Q_NOQUOTA);
	if (!rquota_may(work, &of))
		return rquota_answer(work, Q_EPERM);
	quota->asked = true;
	quota->is.quota = (struct rr_vfs_quota){
		.call = { .caller = call.caller, .done = call.done, .host = call.host, .owner = call.owner },
		.object.handle = { quota->of.data, quota->of.length },
		.group = of.group,
		.id = of.id,
	};
	status = rr_vfs_quota(vfs, &quota->is.quota);
	return status == RR_VFS_PENDING ? RPCRDMA_HANDLE_KEPT : rquota_end(work, status);
}

/* Goes on with the look-up of the path, then asks for the quota, then completes the result. A path that the
 * caller may not use is one without quotas. */
static enum rpcrdma_handled
rquota_end(struct rr_nfs_work *work, enum rr_vfs_status status)
{
	struct rr_nfs_quota *quota = &work->op.quota;
	getquota_rslt *result = work->result;

	if (!quota->asked) {
		status = rr_nfs_walk_on(work, status);
		if (status == RR_VFS_PENDING)
			return RPCRDMA_HANDLE_KEPT;
		return status == RR_VFS_OK ? rquota_ask(work) : rquota_answer(work, Q_NOQUOTA);
	}
	if (status != RR_VFS_OK)
		return rquota_answer(work, Q_NOQUOTA);
	rquota_put(&quota->is.quota, &result->u.gqr_rquota);
	return rquota_answer(work, Q_OK);
}

static const struct rr_nfs_procedure rquota_procedure = { rquota_begin, rquota_end,
	sizeof(struct rr_nfs_quota) };

enum rpcrdma_handled
rr_proc_getquota(void *ctx, struct rpcrdma_request *request, const void *args, void *result)
{
	const struct rr_nfs_handles handles = { NULL, NULL };

	return rr_nfs_run(rr_nfs_work(ctx, &rquota_procedure, request, args, result), &handles);
}

enum rpcrdma_handled
rr_proc_setquota(void *ctx, struct rpcrdma_request *request, const void *args, void *result)
{
	(void)ctx, (void)request, (void)args;
	((setquota_rslt *)result)->status = Q_EPERM;
	return RPCRDMA_HANDLED;
}
