/* SPDX-License-Identifier: BSD-3-Clause */
#include "fuse/request.h"

#include <errno.h>
#include <linux/fuse.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/checked.h"
#include "fuse/fuse_private.h"

/* An operation that the server did not answer is tried again after these times. */
#define REQUEST_PAUSE      (100 * RR_MILLISECOND)
#define REQUEST_PAUSE_MOST (2 * RR_SECOND)

enum { REQUEST_SPARE = 64, REQUEST_STATUS = 8192 };

static void request_again(struct rr_timer *timer);

struct rr_fuse_request *
rr_fuse_request_new(struct rr_fuse *fuse, uint64_t unique, uint32_t opcode)
{
	struct rr_list *spare = rr_list_pop(&fuse->spare);
	struct rr_fuse_request *request;

	if (spare) {
		request = rr_container(spare, struct rr_fuse_request, waiting);
		fuse->spare_count--;
		memset(request, 0, sizeof(*request));
	} else {
		request = rr_alloc(fuse->env, sizeof(*request));
	}
	if (!request)
		return NULL;
	request->fuse = fuse;
	request->unique = unique;
	request->opcode = opcode;
	rr_list_init(&request->waiting);
	rr_timer_init(&request->again, request_again);
	rr_map_add(&fuse->requests, &request->link, unique);
	fuse->under_way++;
	return request;
}

/* Reads the supplementary groups of a process, as the kernel says them. A process that has gone by now, or
 * that cannot be seen, has none. */
static uint32_t
request_groups(uint32_t pid, uint32_t groups[RR_VFS_GROUPS])
{
	char path[32], text[REQUEST_STATUS], *at, *end;
	uint32_t count = 0;
	size_t length = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%u/status", pid);
	file = pid ? fopen(path, "re") : NULL;
	if (file) {
		length = fread(text, 1, sizeof(text) - 1, file);
		fclose(file);
	}
	text[length] = '\0';
	at = strstr(text, "\nGroups:");
	if (!at)
		return 0;
	at += strlen("\nGroups:");
	while (count < RR_VFS_GROUPS) {
		unsigned long group;

		while (*at == ' ' || *at == '\t')
			at++;
		group = strtoul(at, &end, 10);
		if (end == at)
			break;
		groups[count++] = (uint32_t)group;
		at = end;
	}
	return count;
}

/* Returns the groups of a process, as they were within the last second. */
static const struct rr_fuse_groups *
request_process(struct rr_fuse *fuse, uint32_t pid)
{
	struct rr_fuse_groups *kept = &fuse->groups[pid % RR_FUSE_PROCESSES];
	uint64_t now = rr_loop_now(fuse->loop);

	if (kept->pid != pid || now >= kept->until) {
		kept->pid = pid;
		kept->until = now + RR_SECOND;
		kept->count = request_groups(pid, kept->groups);
	}
	return kept;
}

void
rr_fuse_request_identify(struct rr_fuse_request *request, uint32_t uid, uint32_t gid, uint32_t pid)
{
	const struct rr_fuse_config *config = &request->fuse->config;
	const struct rr_fuse_groups *process;

	request->caller = (struct rr_vfs_caller){ config->uid, config->gid, config->group_count,
		request->groups, false };
	if (!config->callers) {
		memcpy(request->groups, config->groups, sizeof(request->groups));
		return;
	}
	request->caller.uid = uid;
	request->caller.gid = gid;
	process = request_process(request->fuse, pid);
	request->caller.group_count = process->count;
	memcpy(request->groups, process->groups, sizeof(request->groups));
}

static void request_call(struct rr_fuse_request *request, enum rr_vfs_status status);

/* Goes on after an operation. Where the server does not answer, it is tried again, for as long as the mount
 * has patience: nfs(5) calls that hard. */
static void
request_ended(struct rr_fuse_request *request, enum rr_vfs_status status)
{
	request->calls = false;
	if (status == RR_VFS_BUSY && !request->fuse->ends &&
		rr_fuse_is_patient(request->fuse, request->since)) {
		request->pause =
			rr_min(request->pause ? 2 * request->pause : REQUEST_PAUSE, REQUEST_PAUSE_MOST);
		rr_fuse_pause(request, request->pause, request_call);
		return;
	}
	request->pause = 0;
	request->then(request, status);
}

static void
request_done(struct rr_vfs_call *call)
{
	request_ended(rr_container(call, struct rr_fuse_request, vfs.call), call->status);
}

static void
request_call(struct rr_fuse_request *request, enum rr_vfs_status status)
{
	if (status == RR_VFS_OK) {
		if (request->anew)
			request->anew(request);
		request->calls = true;
		status = rr_vfs_begin(request->fuse->config.vfs, request->operation, &request->vfs.call);
	}
	if (status != RR_VFS_PENDING)
		request_ended(request, status);
}

void
rr_fuse_begin(struct rr_fuse_request *request, enum rr_vfs_operation operation, rr_fuse_step *then)
{
	request->vfs.call.caller = &request->caller;
	request->vfs.call.done = request_done;
	request->operation = operation;
	request->since = rr_loop_now(request->fuse->loop);
	request->then = then;
	request_call(request, RR_VFS_OK);
}

void
rr_fuse_request_end(struct rr_fuse_request *request)
{
	struct rr_fuse *fuse = request->fuse;

	rr_map_remove(&fuse->requests, &request->link);
	rr_loop_disarm(fuse->loop, &request->again);
	rr_free(fuse->env, request->data);
	request->data = NULL;
	rr_fuse_file_release(request->file);
	rr_fuse_node_release(request->node);
	rr_fuse_node_release(request->other);
	fuse->under_way--;
	if (fuse->spare_count >= REQUEST_SPARE) {
		rr_free(fuse->env, request);
		return;
	}
	fuse->spare_count++;
	rr_list_append(&fuse->spare, &request->waiting);
}

/* Writes the answer. One that the kernel takes not whole cannot be: it takes it or refuses it. */
static bool
request_write(const struct rr_fuse_request *request, struct iovec *parts, int count)
{
	if (request->fuse->over)
		return false;
	/* ENOENT: the request was interrupted, and the kernel has given up on it. */
	return writev(request->fuse->config.fd, parts, count) >= 0;
}

bool
rr_fuse_answer(struct rr_fuse_request *request, int error, const void *out, size_t size)
{
	struct fuse_out_header header = { .error = -error, .unique = request->unique };
	struct iovec parts[2] = { { &header, sizeof(header) }, { .iov_len = error ? 0 : size } };
	bool taken;

	/* writev(2) only reads. */
	memcpy(&parts[1].iov_base, &out, sizeof(out));
	header.len = (uint32_t)(sizeof(header) + parts[1].iov_len);
	taken = request_write(request, parts, parts[1].iov_len ? 2 : 1);
	rr_fuse_request_end(request);
	return taken;
}

void
rr_fuse_answer_status(struct rr_fuse_request *request, enum rr_vfs_status status)
{
	rr_fuse_answer(request, status == RR_VFS_OK ? 0 : rr_fuse_errno(status), NULL, 0);
}

void
rr_fuse_interrupt(struct rr_fuse *fuse, uint64_t unique)
{
	struct rr_map_link *link = rr_map_find(&fuse->requests, unique);
	struct rr_fuse_request *request = link ? rr_container(link, struct rr_fuse_request, link) : NULL;

	if (!request)
		return;
	request->interrupted = true;
	if (request->calls)
		rr_vfs_cancel(fuse->config.vfs, &request->vfs.call);
	else if (!rr_list_empty(&request->waiting) || rr_timer_armed(&request->again))
		rr_fuse_resume(request, RR_VFS_CANCELLED);
}

void
rr_fuse_wait(struct rr_fuse_request *request, struct rr_list *list, rr_fuse_step *after)
{
	request->after = after;
	rr_list_append(list, &request->waiting);
	if (request->interrupted)
		rr_fuse_resume(request, RR_VFS_CANCELLED);
}

void
rr_fuse_resume(struct rr_fuse_request *request, enum rr_vfs_status status)
{
	rr_list_remove(&request->waiting);
	rr_loop_disarm(request->fuse->loop, &request->again);
	request->after(request, status);
}

static void
request_again(struct rr_timer *timer)
{
	rr_fuse_resume(rr_container(timer, struct rr_fuse_request, again), RR_VFS_OK);
}

void
rr_fuse_pause(struct rr_fuse_request *request, uint64_t delay, rr_fuse_step *after)
{
	request->after = after;
	if (request->interrupted)
		after(request, RR_VFS_CANCELLED);
	else
		rr_loop_arm(request->fuse->loop, &request->again, delay);
}

struct rpcrdma_bytes
rr_fuse_name(const struct rr_fuse_request *request, unsigned index)
{
	return (struct rpcrdma_bytes){ (const uint8_t *)request->names[index],
		strlen(request->names[index]) };
}
