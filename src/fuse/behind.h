/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_FUSE_BEHIND_H
#define RR_FUSE_BEHIND_H

#include "base/list.h"
#include "vfs/vfs.h"

/*
 * Octets that programs have written and that are not yet at the server, or not yet stable there. A write(2)
 * is answered as soon as its octets are here; pieces of up to write_max octets are gathered and written to
 * the server: when they are full, a second after they were begun, and when somebody wants them there (close,
 * fsync, reading, locks, attributes).
 *
 * A piece stays until the server has it on stable storage, which a COMMIT brings about: for fsync at once,
 * else a second after the piece was begun, so that close(2) waits for no disk. RFC 1813, 4.8: "the client
 * must compare the verifier of COMMIT with that of each WRITE, and where they differ write the data again".
 * The time of modification that a program has set meanwhile is set again behind that. An error is told once,
 * to the next write, close or fsync of the file.
 *
 * Pieces that overlap are written one after the other, in the order of the programs; where one of them has to
 * be written again, so have those behind it.
 */
struct rr_fuse;
struct rr_fuse_node;
struct rr_fuse_file;
struct rr_fuse_request;

struct rr_fuse_behind {
	struct rr_list of_fuse;          /* in the list of nodes that have pieces */
	struct rr_list pieces;           /* that wait or are sent, in the order of the programs */
	struct rr_list stored;           /* that are written, and not stable */
	uint64_t order;                  /* of the newest piece */
	uint32_t waiting, sent, written; /* pieces by phase */
	uint64_t octets_written;
	uint64_t end; /* of the file, with the pieces that are not at the server yet; 0: there are none */
	int error;    /* an errno that nobody was told; 0: there is none */
	/* The time of modification that was set when all was at the server, and who has set it. */
	bool has_time;
	struct rr_vfs_time time;
	uint32_t uid, gid;
	bool all; /* all pieces are to be sent, full or not */
	bool commits;
	bool again;             /* a piece was written again, as the server had lost it */
	bool later;             /* the server was busy: no commit before the timer comes */
	struct rr_list waiters; /* requests that wait until nothing is behind */
	struct rr_fuse_commit *commit;
};

static inline void
rr_fuse_behind_init(struct rr_fuse_behind *behind)
{
	*behind = (struct rr_fuse_behind){ 0 };
	rr_list_init(&behind->of_fuse);
	rr_list_init(&behind->pieces);
	rr_list_init(&behind->stored);
	rr_list_init(&behind->waiters);
}

/* Takes over the octets that a program has written; false: there is no memory. */
bool rr_fuse_behind_take(struct rr_fuse_file *file, const struct rr_fuse_request *request, uint64_t offset,
	const void *data, uint32_t length);
/* Returns the error that nobody was told, which is told by that. */
int rr_fuse_behind_error(struct rr_fuse_node *node);

/* Goes on with then() when all that is behind now is at the server; commit: and stable there. */
void rr_fuse_behind_drain(struct rr_fuse_request *request, struct rr_fuse_node *node, bool commit,
	void (*then)(struct rr_fuse_request *request, enum rr_vfs_status status));

/* Begins to bring all of the node to the server; commit: and to stable storage there. */
void rr_fuse_behind_push(struct rr_fuse_node *node, bool commit);

/* Takes note that the caller has set the time of modification of a node. */
void rr_fuse_behind_time(
	struct rr_fuse_node *node, const struct rr_vfs_time *time, const struct rr_vfs_caller *caller);

/* Tells whether anything of the node is behind. */
static inline bool
rr_fuse_is_behind(const struct rr_fuse_behind *behind)
{
	return behind->waiting + behind->sent + behind->written > 0;
}

/* For all nodes: sends what has waited long, or all, to stable storage. Returns whether anything is behind
 * still. */
bool rr_fuse_behind_look(struct rr_fuse *fuse, bool all);

/* Drops all that is behind, and cancels what is under way for it, which ends later. */
void rr_fuse_behind_cancel(struct rr_fuse *fuse);

#endif
