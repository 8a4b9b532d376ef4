/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_FUSE_REQUEST_H
#define RR_FUSE_REQUEST_H

#include <sys/uio.h>

#include "base/crew.h"
#include "base/loop.h"
#include "base/map.h"
#include "vfs/door.h"

/*
 * A request of the kernel, from its arrival to its one answer. It runs in steps, each of which begins an
 * operation of the storage and names the step that follows, or answers. What the kernel sent is copied, as
 * the buffer that it was read into is used again.
 *
 * FUSE_INTERRUPT ends what waits (for a lock, for octets that are behind) with EINTR, and cancels an
 * operation of the storage; one that is executed nevertheless is answered as it went.
 */
struct rr_fuse;
struct rr_fuse_node;
struct rr_fuse_file;
struct rr_fuse_request;

typedef void rr_fuse_step(struct rr_fuse_request *request, enum rr_vfs_status status);

enum { RR_FUSE_ARGS = 128 };

struct rr_fuse_request {
	struct rr_map_link link;
	struct rr_fuse *fuse;
	uint64_t unique;
	uint32_t opcode;
	bool interrupted;
	/* Held until the answer; NULL: the request needs none. */
	struct rr_fuse_node *node, *other;
	struct rr_fuse_file *file;
	rr_fuse_step *then;
	void (*anew)(struct rr_fuse_request *request); /* before an operation is tried again; or NULL */
	enum rr_vfs_operation operation;
	uint64_t since; /* the operation began */
	bool calls;     /* an operation of the storage is under way */
	struct rr_vfs_caller caller;
	uint32_t groups[RR_VFS_GROUPS];
	union {
		uint8_t octets[RR_FUSE_ARGS];
		uint64_t align;
	} args; /* what the kernel sent behind the header, without names and data */
	char names[2][RR_VFS_NAME_MAX + 1];
	void *data; /* memory of the request */
	uint32_t size, used;
	union rr_vfs_any vfs;
	/* A wait: in a list of waiting requests, or for a timer. */
	struct rr_list waiting;
	rr_fuse_step *after;
	bool wants_commit;
	struct rr_timer again;
	uint64_t pause, wait;
	struct rr_crew_job job; /* of the thread for notifications */
	/* What a step keeps for the next one. */
	struct rr_vfs_handle handle;
	uint64_t kept, verifier;
	rr_fuse_step *looked;       /* for silly.h, as the next member */
	struct rr_fuse_node *silly; /* held while it is renamed: silly.h */
};

/* Makes a request, with the identity of its user. NULL: there is no memory. */
struct rr_fuse_request *rr_fuse_request_new(struct rr_fuse *fuse, uint64_t unique, uint32_t opcode);
void rr_fuse_request_identify(struct rr_fuse_request *request, uint32_t uid, uint32_t gid, uint32_t pid);

/* Begins an operation, whose structure is in request->vfs, and goes on with then() when it has ended, at once
 * or later. */
void rr_fuse_begin(struct rr_fuse_request *request, enum rr_vfs_operation operation, rr_fuse_step *then);
/* Zeroes request->vfs, and returns it. */
#define RR_FUSE_ZERO(request) (memset(&(request)->vfs, 0, sizeof((request)->vfs)), &(request)->vfs)

/* Answers, and ends the request. error: an errno; then nothing follows. Returns false where the kernel does
 * not wait for the answer any more, so that it does not know what the answer tells. */
bool rr_fuse_answer(struct rr_fuse_request *request, int error, const void *out, size_t size);
/* Answers with the errno of a status, or with success and without octets. */
void rr_fuse_answer_status(struct rr_fuse_request *request, enum rr_vfs_status status);
/* Ends a request that has no answer. */
void rr_fuse_request_end(struct rr_fuse_request *request);

/* FUSE_INTERRUPT for the request of this number, which may have ended. */
void rr_fuse_interrupt(struct rr_fuse *fuse, uint64_t unique);

/* Has the request wait in the list, from which rr_fuse_resume() takes it: after() runs with the status, and
 * with RR_VFS_CANCELLED where the request was interrupted. */
void rr_fuse_wait(struct rr_fuse_request *request, struct rr_list *list, rr_fuse_step *after);
void rr_fuse_resume(struct rr_fuse_request *request, enum rr_vfs_status status);
/* Has the request wait for so long; interrupted, it goes on at once with RR_VFS_CANCELLED. */
void rr_fuse_pause(struct rr_fuse_request *request, uint64_t delay, rr_fuse_step *after);

/* Returns the arguments as the structure of that type. */
#define RR_FUSE_ARGS_AS(request, type) ((const struct type *)(request)->args.octets)

/* Returns a name of the request. */
struct rpcrdma_bytes rr_fuse_name(const struct rr_fuse_request *request, unsigned index);

#endif
