/* SPDX-License-Identifier: BSD-3-Clause */
#include "nfs/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int
rr_nfs_as_caller(struct rr_nfs_server *server, const struct rr_request *request)
{
	if (rr_tree_as(server->tree, request->has_sys ? &request->sys : NULL) == 0)
		return 0;
	rr_tree_as_self(server->tree);
	return -1;
}

void *
rr_nfs_alloc(struct rr_request *request, size_t size)
{
	struct rpcrdma_arena *arena = &request->arena;
	size_t skip = -(uintptr_t)arena->next & (_Alignof(max_align_t) - 1);
	uint8_t *memory;

	if ((size_t)(arena->end - arena->next) < skip || (size_t)(arena->end - arena->next) - skip < size)
		return NULL;
	memory = arena->next + skip;
	arena->next = memory + size;
	return memset(memory, 0, size);
}

bool
rr_nfs_handle(struct rr_nfs_server *server, struct rr_request *request, const struct rr_object *object,
	nfs_fh3 *handle)
{
	struct rr_handle *copy = rr_nfs_alloc(request, sizeof *copy);

	if (!copy)
		return false;
	rr_tree_handle(server->tree, object, copy);
	handle->data = (struct rpcrdma_bytes){ copy->data, copy->length };
	return true;
}

nfsstat3
rr_nfs_entry_name(struct rr_nfs_server *server, filename3 name, nfsstat3 dot, nfsstat3 dotdot, char text[256])
{
	nfsstat3 status;

	if (server->read_only)
		return NFS3ERR_ROFS;
	status = rr_tree_name(name, text);
	if (status == NFS3ERR_INVAL)
		return name.length == 1 ? dot : dotdot;
	return status;
}

void
rr_nfs_proc_path(int fd, char path[RR_NFS_PROC_PATH])
{
	snprintf(path, RR_NFS_PROC_PATH, "/proc/self/fd/%d", fd);
}

/*
 * Once the kernel has told that it could not write something back, it tells nobody again: a later COMMIT of
 * the same data would succeed. So all clients must send again what they have not committed. RFC 1813, 3.3.7:
 * "it will not destroy any data without changing the value of verf"
 */
static void
complete(struct rr_nfs_server *server, const struct rr_request *request, rr_nfs_completion *stored, int error)
{
	nfsstat3 status = rr_nfs_status(error);

	if (!error && stored)
		stored(server, request->result);
	if (!error)
		return;
	atomic_fetch_add(&server->shared->verifier, 1);
	rr_log(server->env, RR_LOG_ERROR, "what clients wrote could not be stored: %s", strerror(error));
	/* Every result begins with its status; what follows a failure may be nothing at all. */
	memset(request->result, 0, request->procedure->result_size);
	memcpy(request->result, &status, sizeof status);
}

/* A call whose answer waits for what it changed; in the memory of its request. */
struct waiting {
	struct rr_store_job job;
	struct rr_nfs_server *server;
	struct rr_request *request;
	rr_nfs_completion *stored;
};

static void
stored(struct rr_store_job *job)
{
	struct waiting *waiting = rr_container(job, struct waiting, job);

	complete(waiting->server, waiting->request, waiting->stored, job->error);
	rr_request_end(waiting->request, RR_HANDLED);
}

/* The result has its attributes already: what others change while this is stored is not among them. */
enum rr_handled
rr_nfs_answer(struct rr_nfs_server *server, struct rr_request *request)
{
	struct waiting *waiting = server->storer ? rr_nfs_alloc(request, sizeof *waiting) : NULL;

	if (!waiting) {
		complete(server, request, server->stored, rr_stores_do(&server->stores));
		return RR_HANDLED;
	}
	waiting->job.stores = server->stores;
	waiting->job.done = stored;
	waiting->server = server;
	waiting->request = request;
	waiting->stored = server->stored;
	server->stores.count = 0;
	rr_storer_add(server->storer, &waiting->job);
	return RR_HANDLE_KEPT;
}

void
rr_nfs_store_fd(struct rr_nfs_server *server, int fd, bool data)
{
	rr_stores_add(&server->stores, fd, data ? RR_STORE_DATA : RR_STORE_FILE);
}

/* What cannot be opened (a symbolic link, a device, a directory that may not be read) is stored with its
 * whole file system. */
void
rr_nfs_store(struct rr_nfs_server *server, struct rr_object *object)
{
	bool opens = S_ISREG(object->st.stx_mode) || S_ISDIR(object->st.stx_mode);
	int fd;

	rr_tree_as_self(server->tree);
	if (opens && rr_tree_open(server->tree, object, O_RDONLY, &fd) == NFS3_OK)
		rr_stores_add(&server->stores, fd, RR_STORE_FILE);
	else if (rr_tree_open_near(server->tree, object, &fd) == NFS3_OK)
		rr_stores_add(&server->stores, fd, RR_STORE_FILE_SYSTEM);
	else
		rr_stores_add(&server->stores, -1, RR_STORE_EVERYTHING);
}

void
rr_nfs_verifier(const struct rr_nfs_server *server, writeverf3 verifier)
{
	uint64_t value = atomic_load(&server->shared->verifier);

	memcpy(verifier, &value, sizeof value);
}
