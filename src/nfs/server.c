/* SPDX-License-Identifier: BSD-3-Clause */
#include "nfs/server.h"

#include "base/hand.h"
#include "nfs/proc.h"
#include "ulb/mount3.h"
#include "ulb/nfs3.h"

/*
 * The services and the way to their procedures: each runs with the identity
 * of its caller, and leaves with the server's own.
 */

static rr_nfs_procedure *const nfs_procedures[] = {
	[NFSPROC3_GETATTR] = rr_proc_getattr,
	[NFSPROC3_SETATTR] = rr_proc_setattr,
	[NFSPROC3_LOOKUP] = rr_proc_lookup,
	[NFSPROC3_ACCESS] = rr_proc_access,
	[NFSPROC3_READLINK] = rr_proc_readlink,
	[NFSPROC3_READ] = rr_proc_read,
	[NFSPROC3_WRITE] = rr_proc_write,
	[NFSPROC3_CREATE] = rr_proc_create,
	[NFSPROC3_MKDIR] = rr_proc_mkdir,
	[NFSPROC3_SYMLINK] = rr_proc_symlink,
	[NFSPROC3_MKNOD] = rr_proc_mknod,
	[NFSPROC3_REMOVE] = rr_proc_remove,
	[NFSPROC3_RMDIR] = rr_proc_rmdir,
	[NFSPROC3_RENAME] = rr_proc_rename,
	[NFSPROC3_LINK] = rr_proc_link,
	[NFSPROC3_READDIR] = rr_proc_readdir,
	[NFSPROC3_READDIRPLUS] = rr_proc_readdirplus,
	[NFSPROC3_FSSTAT] = rr_proc_fsstat,
	[NFSPROC3_FSINFO] = rr_proc_fsinfo,
	[NFSPROC3_PATHCONF] = rr_proc_pathconf,
	[NFSPROC3_COMMIT] = rr_proc_commit,
};

/* RFC 8267, 5.1: MOUNT goes over TCP with many clients: "a Legacy NFS server MUST provide support for these
 * protocols via TCP." This is a service like NFS, on every transport. */
static rr_nfs_procedure *const mount_procedures[] = {
	[MOUNTPROC3_MNT] = rr_proc_mnt,
	[MOUNTPROC3_DUMP] = rr_proc_dump,
	[MOUNTPROC3_UMNT] = rr_proc_umnt,
	[MOUNTPROC3_UMNTALL] = rr_proc_umntall,
	[MOUNTPROC3_EXPORT] = rr_proc_export,
};

/* RFC 1813, 3.3.0: "It is important that this procedure do no work at all" */
static enum rr_handled
do_nothing(void *ctx, struct rr_request *request, const void *args, void *result)
{
	(void)ctx, (void)request, (void)args, (void)result;
	return RR_HANDLED;
}

struct work {
	struct rr_nfs_server *server;
	struct rr_request *request;
	rr_nfs_procedure *procedure;
	const void *args;
	void *result;
	enum rr_handled handled;
};

static void
as_caller(void *ctx)
{
	struct work *work = ctx;

	work->handled = RR_HANDLE_SYSTEM_ERR;
	if (rr_nfs_as_caller(work->server, work->request) < 0)
		return;
	work->server->stored = NULL;
	work->handled = work->procedure(work->server, work->request, work->args, work->result);
	rr_tree_as_self(work->server->tree);
}

/* How long others have the thread between two slices of a search, and how long descriptors may be out of use
 * before somebody looks after them. */
#define SLICES_APART (5 * RR_MILLISECOND)
#define TIDY_EVERY   (5 * RR_SECOND)

static void
attend_later(struct rr_nfs_server *server)
{
	bool work = rr_tree_has_work(server->tree);

	/* A slice that is due stays due, however many calls come before it. */
	if (!server->loop || server->slice_due || (!work && rr_timer_armed(&server->timer)))
		return;
	server->slice_due = work;
	rr_loop_arm(server->loop, &server->timer, work ? SLICES_APART : TIDY_EVERY);
}

static void
attend_tree(void *tree)
{
	rr_tree_work(tree);
	rr_tree_tidy(tree);
}

/* Calls arm the timer again; a server that nobody calls has nothing to do. */
static void
attend(struct rr_timer *timer)
{
	struct rr_nfs_server *server = rr_container(timer, struct rr_nfs_server, timer);

	server->slice_due = false;
	if (server->hand)
		rr_hand_do(server->hand, attend_tree, server->tree);
	else
		attend_tree(server->tree);
	if (rr_tree_has_work(server->tree) || rr_tree_is_warm(server->tree))
		attend_later(server);
}

int
rr_nfs_server_attend(struct rr_nfs_server *server, struct rr_loop *loop, struct rr_text *text)
{
	int error = rr_storer_new(server->env, loop, &server->storer);

	if (error)
		return rr_fail(text, error, "no thread to store files: %s", rpcrdma_strerror(error));
	server->loop = loop;
	rr_timer_init(&server->timer, attend);
	return 0;
}

static enum rr_handled
serve(struct rr_nfs_server *server, struct rr_request *request, rr_nfs_procedure *procedure, const void *args,
	void *result)
{
	struct work work = { server, request, procedure, args, result, RR_HANDLE_SYSTEM_ERR };

	if (server->hand)
		rr_hand_do(server->hand, as_caller, &work);
	else
		as_caller(&work);
	attend_later(server);
	if (work.handled == RR_HANDLED && server->stores.count > 0)
		return rr_nfs_answer(server, request);
	return work.handled;
}

static enum rr_handled
serve_nfs(void *ctx, struct rr_request *request, const void *args, void *result)
{
	return serve(ctx, request, nfs_procedures[request->proc], args, result);
}

static enum rr_handled
serve_mount(void *ctx, struct rr_request *request, const void *args, void *result)
{
	return serve(ctx, request, mount_procedures[request->proc], args, result);
}

static rr_procedure_handler *const nfs_handlers[] = {
	do_nothing,
	serve_nfs,
	serve_nfs,
	serve_nfs,
	serve_nfs,
	serve_nfs,
	serve_nfs,
	serve_nfs,
	serve_nfs,
	serve_nfs,
	serve_nfs,
	serve_nfs,
	serve_nfs,
	serve_nfs,
	serve_nfs,
	serve_nfs,
	serve_nfs,
	serve_nfs,
	serve_nfs,
	serve_nfs,
	serve_nfs,
	serve_nfs,
};

static rr_procedure_handler *const mount_handlers[] = {
	do_nothing,
	serve_mount,
	serve_mount,
	serve_mount,
	serve_mount,
	serve_mount,
};

/* The second time, these fail because the first succeeded, or undo what others did in between. */
static const bool nfs_once[] = {
	[NFSPROC3_SETATTR] = true,
	[NFSPROC3_CREATE] = true,
	[NFSPROC3_MKDIR] = true,
	[NFSPROC3_SYMLINK] = true,
	[NFSPROC3_MKNOD] = true,
	[NFSPROC3_REMOVE] = true,
	[NFSPROC3_RMDIR] = true,
	[NFSPROC3_RENAME] = true,
	[NFSPROC3_LINK] = true,
	[NFSPROC3_COMMIT] = false,
};

_Static_assert(sizeof nfs_handlers == sizeof nfs_procedures, "one for each procedure of NFS");
_Static_assert(
	sizeof nfs_once * sizeof nfs_handlers[0] == sizeof nfs_handlers, "one for each procedure of NFS");
_Static_assert(sizeof mount_handlers == sizeof mount_procedures, "one for each procedure of MOUNT");

int
rr_nfs_server_new(const struct rr_env *env, struct rr_pool *pool, const struct rr_tree_config *config,
	struct rr_nfs_shared *shared, struct rr_nfs_server **server, struct rr_text *text)
{
	struct rr_nfs_server *made = rr_alloc(env, sizeof *made);
	int error;

	if (!made)
		return rr_fail(text, -RPCRDMA_ERR_NOMEM, "no memory for an NFS server");
	error = rr_tree_new(env, config, &made->tree, text);
	if (error < 0) {
		rr_free(env, made);
		return error;
	}
	made->env = env;
	made->pool = pool;
	made->shared = shared;
	made->read_only = config->read_only;
	*server = made;
	return 0;
}

int
rr_nfs_server_apart(struct rr_nfs_server *server, struct rr_text *text)
{
	int error = rr_tree_acts_as_callers(server->tree) ? rr_hand_new(server->env, &server->hand) : 0;

	return error ? rr_fail(text, error, "no thread for the work on files: %s", rpcrdma_strerror(error))
		     : 0;
}

static void
free_tree(void *tree)
{
	rr_tree_free(tree);
}

void
rr_nfs_server_free(struct rr_nfs_server *server)
{
	if (!server)
		return;
	rr_storer_free(server->storer);
	if (server->loop)
		rr_loop_disarm(server->loop, &server->timer);
	/* It puts the thread's own identity back. */
	if (server->hand)
		rr_hand_do(server->hand, free_tree, server->tree);
	else
		rr_tree_free(server->tree);
	rr_hand_free(server->hand);
	rr_free(server->env, server);
}

void
rr_nfs_server_services(struct rr_nfs_server *server, struct rr_service services[RR_NFS_SERVICES])
{
	services[0] = (struct rr_service){ &NFS_V3_program, nfs_handlers, server, nfs_once };
	services[1] = (struct rr_service){ &MOUNT_V3_program, mount_handlers, server, NULL };
}
