/* SPDX-License-Identifier: BSD-3-Clause */
#include "fuse/behind.h"

#include <errno.h>
#include <string.h>

#include "base/checked.h"
#include "fuse/fuse_private.h"

/* A piece of which fewer octets came is sent after this time, and one that was sent is committed. */
#define BEHIND_AGE (1 * RR_SECOND)

enum { BEHIND_AT_ONCE = 16, BEHIND_LEAST = 16 << 10 };

enum behind_phase { BEHIND_WAITING, BEHIND_SENT, BEHIND_WRITTEN };

struct behind_piece {
	struct rr_list link;
	struct rr_fuse_node *node;
	struct rr_fuse_file *file; /* held */
	enum behind_phase phase;
	uint64_t order, offset, since;
	uint32_t length, room, done; /* octets; of the memory; that the server has taken */
	uint64_t verifier;
	bool covered; /* by the commit under way */
	bool later;   /* the server was busy: not before the timer comes */
	bool again;   /* it was lost by the server: it is written to stable storage at once */
	bool over;    /* under way, while an earlier piece was found lost: then it is written once more */
	struct rr_vfs_write write;
	struct rr_vfs_caller caller;
	uint32_t groups[RR_VFS_GROUPS];
	uint8_t *data;
};

struct rr_fuse_commit {
	struct rr_fuse_node *node;
	struct rr_fuse_file *file; /* held */
	struct rr_vfs_commit commit;
	struct rr_vfs_caller caller;
	uint64_t since;
};

static void behind_go(struct rr_fuse_node *node);

/* Puts a piece among those that are to be written. */
static void
behind_piece_queue(struct behind_piece *piece)
{
	struct rr_list *pieces = &piece->node->behind.pieces, *before = pieces->next;

	while (before != pieces && rr_container(before, struct behind_piece, link)->order < piece->order)
		before = before->next;
	rr_list_append(before, &piece->link); /* in front of it */
}

/* Takes a piece to another phase. */
static void
behind_piece_set_phase(struct behind_piece *piece, enum behind_phase phase)
{
	struct rr_fuse_behind *behind = &piece->node->behind;
	uint32_t *const counts[] = { &behind->waiting, &behind->sent, &behind->written };

	if (piece->phase == BEHIND_WRITTEN)
		behind->octets_written -= piece->length;
	--*counts[piece->phase];
	++*counts[phase];
	if (phase == BEHIND_WRITTEN) {
		behind->octets_written += piece->length;
		rr_list_remove(&piece->link);
		rr_list_append(&behind->stored, &piece->link);
	} else if (piece->phase == BEHIND_WRITTEN) {
		rr_list_remove(&piece->link);
		behind_piece_queue(piece);
	}
	piece->phase = phase;
}

static void
behind_piece_free(struct behind_piece *piece)
{
	struct rr_fuse *fuse = piece->node->fuse;
	struct rr_fuse_behind *behind = &piece->node->behind;
	uint32_t *const counts[] = { &behind->waiting, &behind->sent, &behind->written };

	--*counts[piece->phase];
	if (piece->phase == BEHIND_WRITTEN)
		behind->octets_written -= piece->length;
	fuse->behind -= sizeof(*piece) + piece->room;
	rr_list_remove(&piece->link);
	if (!rr_fuse_is_behind(behind))
		rr_list_remove(&behind->of_fuse);
	rr_fuse_file_release(piece->file);
	rr_free(fuse->env, piece->data);
	rr_free(fuse->env, piece);
}

static bool
behind_piece_overlaps(const struct behind_piece *a, const struct behind_piece *b)
{
	return a->offset < b->offset + b->length && b->offset < a->offset + a->length;
}

/* Tells whether an earlier piece of the same octets is not at the server yet; or, where this one is written
 * again, whether a later one is under way. */
static bool
behind_piece_must_wait(const struct behind_piece *piece)
{
	struct rr_list *pieces = &piece->node->behind.pieces;

	for (struct rr_list *link = piece->link.prev; link != pieces; link = link->prev)
		if (behind_piece_overlaps(rr_container(link, struct behind_piece, link), piece))
			return true;
	for (struct rr_list *link = piece->link.next; piece->again && link != pieces; link = link->next) {
		const struct behind_piece *later = rr_container(link, struct behind_piece, link);

		if (later->phase == BEHIND_SENT && behind_piece_overlaps(later, piece))
			return true;
	}
	return false;
}

/* Tells whether an earlier piece of the same octets is written, and not stable. */
static bool
behind_piece_is_over(const struct behind_piece *piece)
{
	rr_list_for_each (link, &piece->node->behind.stored) {
		const struct behind_piece *other = rr_container(link, struct behind_piece, link);

		if (other->order < piece->order && behind_piece_overlaps(other, piece))
			return true;
	}
	return false;
}

/* The server has lost what was written of the pieces from this order on: all that was written since is
 * written again, as it may be of the same octets. */
static void
behind_lost(struct rr_fuse_behind *behind, uint64_t order)
{
	rr_list_for_each (link, &behind->pieces) {
		struct behind_piece *piece = rr_container(link, struct behind_piece, link);

		piece->over |= piece->phase == BEHIND_SENT && piece->order > order;
	}
	rr_list_for_each (link, &behind->stored) {
		struct behind_piece *piece = rr_container(link, struct behind_piece, link);

		if (piece->order < order)
			continue;
		piece->covered = false;
		piece->done = 0;
		piece->again = true;
		behind_piece_set_phase(piece, BEHIND_WAITING);
	}
}

static void behind_piece_done(struct rr_vfs_call *call);

/* Takes note of how a write has ended. Returns true where the rest of the piece has to be written. */
static bool
behind_piece_ended(struct behind_piece *piece, enum rr_vfs_status status)
{
	struct rr_fuse_behind *behind = &piece->node->behind;
	const struct rr_vfs_write *write = &piece->write;

	if (status == RR_VFS_OK && (write->count == 0 || write->count > write->length))
		status = RR_VFS_IO;
	/* The server does not answer: the timer comes again. */
	if (status == RR_VFS_BUSY && rr_fuse_is_patient(piece->node->fuse, piece->since)) {
		piece->later = true;
		behind_piece_set_phase(piece, BEHIND_WAITING);
		return false;
	}
	if (status != RR_VFS_OK) {
		behind->error = rr_fuse_errno(status);
		behind_piece_free(piece);
		return false;
	}
	/* A piece of several WRITEs counts as lost where the server has lost any of them. */
	if (piece->done > 0 && write->verifier != piece->verifier)
		piece->again = true;
	piece->verifier = write->verifier;
	piece->done += write->count;
	if (piece->done < piece->length)
		return true;
	if (piece->again || piece->over) {
		behind->again = true;
		piece->done = 0;
		piece->again = piece->over || write->stable == RR_VFS_UNSTABLE;
		piece->over = false;
		if (piece->again) {
			behind_piece_set_phase(piece, BEHIND_WAITING);
			return false;
		}
	}
	/* It is kept where an earlier one may yet have to be written again. */
	if (write->committed != RR_VFS_UNSTABLE && !behind_piece_is_over(piece))
		behind_piece_free(piece);
	else
		behind_piece_set_phase(piece, BEHIND_WRITTEN);
	return false;
}

/* Writes the piece, or the rest of it, to the server. */
static void
behind_piece_send(struct behind_piece *piece)
{
	struct rr_fuse *fuse = piece->node->fuse;
	enum rr_vfs_status status;

	behind_piece_set_phase(piece, BEHIND_SENT);
	do {
		piece->write = (struct rr_vfs_write){ .call = { .caller = &piece->caller,
							      .done = behind_piece_done },
			.object = rr_fuse_node_object(piece->node),
			.offset = piece->offset + piece->done,
			.data = piece->data + piece->done,
			.length = piece->length - piece->done,
			.stable = piece->again ? RR_VFS_FILE_SYNC : RR_VFS_UNSTABLE };
		piece->write.object.open = piece->file->open;
		fuse->counters.writes++;
		status = rr_vfs_write(fuse->config.vfs, &piece->write);
		if (status == RR_VFS_PENDING)
			return;
	} while (behind_piece_ended(piece, status));
}

static void
behind_piece_done(struct rr_vfs_call *call)
{
	struct behind_piece *piece = rr_container(call, struct behind_piece, write.call);
	struct rr_fuse_node *node = rr_fuse_node_hold(piece->node);

	if (behind_piece_ended(piece, call->status))
		behind_piece_send(piece);
	behind_go(node);
	rr_fuse_node_release(node);
}

/* Returns the order of the first piece that the commit has not found at the server any more; UINT64_MAX:
 * there is none. */
static uint64_t
behind_first_lost(const struct rr_fuse_commit *commit)
{
	uint64_t order = UINT64_MAX;

	rr_list_for_each (link, &commit->node->behind.stored) {
		const struct behind_piece *piece = rr_container(link, struct behind_piece, link);

		if (piece->covered && piece->verifier != commit->commit.verifier)
			order = rr_min(order, piece->order);
	}
	return order;
}

/* Takes note of what a commit has brought to stable storage: RFC 1813, 3.3.21: "The client can detect the
 * fact that the server was rebooted by comparing the verifiers". */
static void
behind_commit_ended(struct rr_fuse_commit *commit, enum rr_vfs_status status)
{
	struct rr_fuse_node *node = commit->node;
	struct rr_fuse_behind *behind = &node->behind;

	/* The server does not answer: the timer comes again. */
	bool later = status == RR_VFS_BUSY && rr_fuse_is_patient(node->fuse, commit->since);

	if (status != RR_VFS_OK && !later)
		behind->error = rr_fuse_errno(status);
	if (status == RR_VFS_OK)
		behind_lost(behind, behind_first_lost(commit));
	rr_list_for_each (link, &behind->stored) {
		struct behind_piece *piece = rr_container(link, struct behind_piece, link);

		if (piece->covered && !later)
			behind_piece_free(piece);
		else
			piece->covered = false;
	}
	behind->commit = NULL;
	behind->later = later;
	rr_fuse_file_release(commit->file);
	rr_free(node->fuse->env, commit);
}

static void
behind_commit_done(struct rr_vfs_call *call)
{
	struct rr_fuse_commit *commit = rr_container(call, struct rr_fuse_commit, commit.call);
	struct rr_fuse_node *node = rr_fuse_node_hold(commit->node);

	behind_commit_ended(commit, call->status);
	behind_go(node);
	rr_fuse_node_release(node);
}

/* Begins a commit of all pieces that are written. */
static void
behind_commit(struct rr_fuse_node *node)
{
	struct rr_fuse *fuse = node->fuse;
	struct rr_fuse_behind *behind = &node->behind;
	struct rr_fuse_commit *commit = rr_alloc(fuse->env, sizeof(*commit));
	const struct behind_piece *some = NULL;
	enum rr_vfs_status status;

	if (!commit)
		return; /* tried again with the next piece, or by the timer */
	rr_list_for_each (link, &behind->stored) {
		struct behind_piece *piece = rr_container(link, struct behind_piece, link);

		piece->covered = true;
		some = piece;
	}
	commit->node = node;
	commit->since = rr_loop_now(fuse->loop);
	commit->file = rr_fuse_file_hold(some->file);
	commit->caller = some->caller;
	commit->caller.group_count = 0;
	commit->commit.call = (struct rr_vfs_call){ .caller = &commit->caller, .done = behind_commit_done };
	commit->commit.object = rr_fuse_node_object(node);
	commit->commit.object.open = commit->file->open;
	behind->commit = commit;
	fuse->counters.commits++;
	status = rr_vfs_commit(fuse->config.vfs, &commit->commit);
	if (status != RR_VFS_PENDING)
		behind_commit_ended(commit, status);
}

/* Sends the pieces that can be: full ones, all where somebody waits, and those that have waited long. */
static void
behind_send(struct rr_fuse_node *node)
{
	const struct rr_fuse *fuse = node->fuse;
	struct rr_fuse_behind *behind = &node->behind;
	uint64_t now = rr_loop_now(fuse->loop);

	rr_list_for_each (link, &behind->pieces) {
		struct behind_piece *piece = rr_container(link, struct behind_piece, link);
		bool last = piece->link.next == &behind->pieces;

		if (behind->waiting == 0 || behind->sent >= BEHIND_AT_ONCE)
			return;
		if (piece->phase != BEHIND_WAITING || piece->later)
			continue;
		if (last && !behind->all && !piece->again && piece->length < fuse->config.write_max &&
			now - piece->since < BEHIND_AGE)
			continue;
		if (!behind_piece_must_wait(piece))
			behind_piece_send(piece);
	}
}

/* Returns a request that waits for no more than what is at the server by now; NULL: there is none. */
static struct rr_fuse_request *
behind_waiter(const struct rr_fuse_behind *behind)
{
	if (behind->waiting + behind->sent > 0)
		return NULL;
	rr_list_for_each (link, &behind->waiters) {
		struct rr_fuse_request *request = rr_container(link, struct rr_fuse_request, waiting);

		if (!request->wants_commit || behind->written == 0)
			return request;
	}
	return NULL;
}

/* Tells whether a commit is wanted: by a waiter, as all is to be stable, or as much waits for it. */
static bool
behind_wants_commit(const struct rr_fuse_node *node)
{
	const struct rr_fuse_behind *behind = &node->behind;

	if (behind->written == 0 || behind->commit || behind->later)
		return false;
	if (behind->octets_written >= node->fuse->config.behind_max / 2)
		return true;
	return behind->commits && behind->waiting + behind->sent == 0;
}

/* Has writers go on that waited, as there is too much behind. */
static void
behind_unthrottle(struct rr_fuse *fuse)
{
	while (fuse->behind < fuse->config.behind_max) {
		struct rr_list *link = rr_list_pop(&fuse->throttled);

		if (!link)
			return;
		rr_fuse_resume(rr_container(link, struct rr_fuse_request, waiting), RR_VFS_OK);
	}
}

static void
behind_time_set(struct rr_fuse_request *request, enum rr_vfs_status status)
{
	(void)status; /* nobody waits for it */
	rr_fuse_request_end(request);
}

/* Sets the time of modification again, as pieces were written again. */
static void
behind_set_time(struct rr_fuse_node *node)
{
	struct rr_fuse *fuse = node->fuse;
	struct rr_fuse_request *request = fuse->ends ? NULL : rr_fuse_request_new(fuse, 0, 0);
	struct rr_vfs_setattr *setattr;

	node->behind.again = false;
	if (!request)
		return;
	rr_fuse_request_identify(request, node->behind.uid, node->behind.gid, 0);
	request->node = rr_fuse_node_hold(node);
	setattr = &RR_FUSE_ZERO(request)->setattr;
	setattr->object = rr_fuse_node_object(node);
	setattr->set.mask = RR_VFS_SET_MODIFY_TIME;
	setattr->set.modify_time = node->behind.time;
	rr_fuse_begin(request, RR_VFS_OP_SETATTR, behind_time_set);
}

/* Does what is to be done now for the pieces of a node, which must be held. */
static void
behind_go(struct rr_fuse_node *node)
{
	struct rr_fuse_behind *behind = &node->behind;
	struct rr_fuse_request *request;

	behind_send(node);
	while (behind_wants_commit(node)) {
		behind_commit(node);
		if (behind->commit || behind_wants_commit(node))
			break;
		behind_send(node);
	}
	if (behind->waiting + behind->sent == 0) {
		behind->all = false;
		behind->end = 0;
		if (behind->again && behind->has_time)
			behind_set_time(node);
		behind->again = false;
	}
	if (!rr_fuse_is_behind(behind))
		behind->commits = false;
	for (request = behind_waiter(behind); request; request = behind_waiter(behind))
		rr_fuse_resume(request, RR_VFS_OK);
	behind_unthrottle(node->fuse);
}

/* Makes the memory of the piece large enough. */
static bool
behind_piece_grow(struct behind_piece *piece, uint32_t size)
{
	const struct rr_env *env = piece->node->fuse->env;
	uint32_t room = piece->room ? piece->room : BEHIND_LEAST;
	void *grown;

	if (size <= piece->room)
		return true;
	while (room < size)
		room *= 2;
	grown = env->realloc(env->ctx, piece->data, room);
	if (!grown)
		return false;
	piece->node->fuse->behind += room - piece->room;
	piece->data = grown;
	piece->room = room;
	return true;
}

/* Returns the last piece, if the octets at the offset belong behind it; else NULL. */
static struct behind_piece *
behind_last(const struct rr_fuse_file *file, uint64_t offset, uint32_t length)
{
	const struct rr_list *pieces = &file->node->behind.pieces;
	struct behind_piece *last = rr_container(pieces->prev, struct behind_piece, link);

	if (rr_list_empty(pieces) || last->order != file->node->behind.order ||
		last->phase != BEHIND_WAITING || last->again || last->file != file ||
		last->offset + last->length != offset ||
		(uint64_t)last->length + length > file->fuse->config.write_max)
		return NULL;
	return last;
}

static struct behind_piece *
behind_piece_new(struct rr_fuse_file *file, const struct rr_fuse_request *request, uint64_t offset)
{
	struct rr_fuse *fuse = file->fuse;
	struct behind_piece *piece = rr_alloc(fuse->env, sizeof(*piece));

	if (!piece)
		return NULL;
	piece->node = file->node;
	piece->file = rr_fuse_file_hold(file);
	piece->offset = offset;
	piece->since = rr_loop_now(fuse->loop);
	piece->caller = request->caller;
	memcpy(piece->groups, request->groups, sizeof(piece->groups));
	piece->caller.groups = piece->groups;
	fuse->behind += sizeof(*piece);
	piece->order = ++file->node->behind.order;
	if (!rr_fuse_is_behind(&file->node->behind))
		rr_list_append(&fuse->behind_nodes, &file->node->behind.of_fuse);
	rr_list_append(&file->node->behind.pieces, &piece->link);
	file->node->behind.waiting++;
	return piece;
}

bool
rr_fuse_behind_take(struct rr_fuse_file *file, const struct rr_fuse_request *request, uint64_t offset,
	const void *data, uint32_t length)
{
	struct rr_fuse *fuse = file->fuse;
	struct behind_piece *piece = behind_last(file, offset, length);

	if (!piece)
		piece = behind_piece_new(file, request, offset);
	if (!piece)
		return false;
	if (!behind_piece_grow(piece, piece->length + length)) {
		if (piece->length == 0)
			behind_piece_free(piece);
		return false;
	}
	memcpy(piece->data + piece->length, data, length);
	piece->length += length;
	if (piece->offset + piece->length > file->node->behind.end)
		file->node->behind.end = piece->offset + piece->length;
	file->node->behind.has_time = false;
	if (!rr_timer_armed(&fuse->age))
		rr_loop_arm(fuse->loop, &fuse->age, BEHIND_AGE);
	rr_fuse_node_hold(file->node);
	behind_go(file->node);
	rr_fuse_node_release(file->node);
	return true;
}

int
rr_fuse_behind_error(struct rr_fuse_node *node)
{
	int error = node->behind.error;

	node->behind.error = 0;
	return error;
}

void
rr_fuse_behind_drain(
	struct rr_fuse_request *request, struct rr_fuse_node *node, bool commit, rr_fuse_step *then)
{
	struct rr_fuse_behind *behind = &node->behind;

	if (!rr_fuse_is_behind(behind) || (!commit && behind->waiting + behind->sent == 0)) {
		then(request, RR_VFS_OK);
		return;
	}
	request->wants_commit = commit;
	behind->all = true;
	behind->commits |= commit;
	rr_fuse_node_hold(node);
	rr_fuse_wait(request, &behind->waiters, then);
	behind_go(node);
	rr_fuse_node_release(node);
}

void
rr_fuse_behind_push(struct rr_fuse_node *node, bool commit)
{
	node->behind.all = true;
	node->behind.commits |= commit;
	rr_fuse_node_hold(node);
	behind_go(node);
	rr_fuse_node_release(node);
}

/* Calls look() for each node that has pieces; it may have others get pieces, and lose theirs. */
static void
behind_each(struct rr_fuse *fuse, bool all, void (*look)(struct rr_fuse_node *node, bool all))
{
	struct rr_list nodes;

	rr_list_init(&nodes);
	while (!rr_list_empty(&fuse->behind_nodes))
		rr_list_append(&nodes, rr_list_pop(&fuse->behind_nodes));
	while (!rr_list_empty(&nodes)) {
		struct rr_list *link = rr_list_pop(&nodes);
		struct rr_fuse_node *node = rr_container(link, struct rr_fuse_node, behind.of_fuse);

		rr_list_append(&fuse->behind_nodes, link);
		rr_fuse_node_hold(node);
		look(node, all);
		rr_fuse_node_release(node);
	}
}

static void
behind_look(struct rr_fuse_node *node, bool all)
{
	uint64_t now = rr_loop_now(node->fuse->loop);

	node->behind.all |= all;
	node->behind.commits |= all;
	node->behind.later = false;
	rr_list_for_each (link, &node->behind.pieces)
		rr_container(link, struct behind_piece, link)->later = false;
	rr_list_for_each (link, &node->behind.stored)
		node->behind.commits |=
			now - rr_container(link, struct behind_piece, link)->since >= BEHIND_AGE;
	behind_go(node);
}

void
rr_fuse_behind_time(
	struct rr_fuse_node *node, const struct rr_vfs_time *time, const struct rr_vfs_caller *caller)
{
	node->behind.has_time = true;
	node->behind.time = *time;
	node->behind.uid = caller->uid;
	node->behind.gid = caller->gid;
}

bool
rr_fuse_behind_look(struct rr_fuse *fuse, bool all)
{
	behind_each(fuse, all, behind_look);
	return !rr_list_empty(&fuse->behind_nodes);
}

static void
behind_drop(struct rr_fuse_node *node, bool all)
{
	(void)all;
	rr_list_for_each (link, &node->behind.pieces) {
		struct behind_piece *piece = rr_container(link, struct behind_piece, link);

		if (piece->phase == BEHIND_SENT)
			rr_vfs_cancel(node->fuse->config.vfs, &piece->write.call);
		else
			behind_piece_free(piece);
	}
	rr_list_for_each (link, &node->behind.stored) {
		struct behind_piece *piece = rr_container(link, struct behind_piece, link);

		if (!piece->covered)
			behind_piece_free(piece);
	}
	if (node->behind.commit)
		rr_vfs_cancel(node->fuse->config.vfs, &node->behind.commit->commit.call);
}

void
rr_fuse_behind_cancel(struct rr_fuse *fuse)
{
	behind_each(fuse, true, behind_drop);
}
