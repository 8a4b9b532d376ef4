/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_VFS_IDMAP_IDMAP_H
#define RR_VFS_IDMAP_IDMAP_H

#include <rpcrdma/xdr.h>

#include "base/confine/helper.h"
#include "base/list.h"
#include "base/loop.h"

/*
 * The names, numbers and groups of users, and the names and netgroups of hosts, as the directory of this
 * machine has them (nsswitch.conf(5)), with a cache of answers. Questions that the cache cannot answer go to
 * the directory in threads (base/crew.h): nothing here waits.
 *
 * An idmap belongs to the thread of one loop. README.md in this folder says for how long answers count.
 */

struct rr_idmap;

enum rr_idmap_kind {
	RR_IDMAP_UID,     /* the number of a user, by name */
	RR_IDMAP_GID,     /* the number of a group, by name */
	RR_IDMAP_USER,    /* the name of a user, by number */
	RR_IDMAP_GROUP,   /* the name of a group, by number */
	RR_IDMAP_ACCOUNT, /* the number, group and groups of a user, by name */
	RR_IDMAP_GROUPS,  /* the group and the groups of a user, by number */
	RR_IDMAP_DOMAIN,  /* the DNS domain of this machine */
	/* The names of the host whose address, as text, is the name of the question: only those that have
	 * this address, too; with blanks between. */
	RR_IDMAP_HOST,
	RR_IDMAP_MEMBER /* whether a host is in a netgroup; the name of the question is "GROUP ADDRESS" */
};

/* RR_IDMAP_NAME: the most octets of a name; longer ones are unknown. RR_IDMAP_GROUPS_MAX: of the groups of a
 * user, those with the lowest numbers count, up to this number. */
enum { RR_IDMAP_NAME = 255, RR_IDMAP_GROUPS_MAX = 4096 };

struct rr_idmap_question {
	enum rr_idmap_kind kind;
	uint32_t number;           /* where the question is about a number */
	struct rpcrdma_bytes name; /* where it is about a name: without a domain */
	uint64_t host;             /* stands for the client that causes the question; 0: nobody */
};

enum rr_idmap_status {
	RR_IDMAP_FOUND,
	RR_IDMAP_NONE, /* the directory has no such user or group */
	RR_IDMAP_WAIT, /* the answer is not there yet */
	RR_IDMAP_BUSY  /* the directory does not answer, or too many questions are under way: later */
};

/* What the directory has answered. Its memory is that of the idmap, until the next question. */
struct rr_idmap_answer {
	uint32_t number, gid; /* gid: the user's own group */
	uint32_t group_count;
	const uint32_t *groups; /* in rising order, each once; UINT32_MAX is not among them */
	struct rpcrdma_bytes name;
};

/* The same, from a thread of the crew. groups is allocated by env; NULL: there are none. */
struct rr_idmap_found {
	enum rr_idmap_status status; /* FOUND, NONE or BUSY */
	uint32_t number, gid, group_count;
	uint32_t *groups;
	char name[RR_IDMAP_NAME + 1];
};

/* Asks the directory, and waits for its answer. Called in threads of the crew. */
typedef void rr_idmap_directory(
	const struct rr_env *env, const struct rr_idmap_question *question, struct rr_idmap_found *found);

/* The directory of this machine. Where this process has a helper (base/confine/helper.h), that asks it. */
rr_idmap_directory rr_idmap_system;
/* Answers, in the helper, what rr_idmap_system() asks it. */
rr_helper_answer rr_idmap_help;

struct rr_idmap_config {
	const char
		*domain;  /* copied; NULL or "": that of idmapd.conf(5), or the DNS domain of this machine */
	bool manage_gids; /* see rr_idmap_groups() */
	rr_idmap_directory *directory; /* NULL: rr_idmap_system */
};

/* Errors: NOMEM, SYSTEM. */
int rr_idmap_new(const struct rr_env *env, struct rr_loop *loop, const struct rr_idmap_config *config,
	struct rr_idmap **idmap);
/* Waits for the questions under way, and wakes all waiters. idmap may be NULL. */
void rr_idmap_free(struct rr_idmap *idmap);

/* Returns how many questions are under way. */
uint32_t rr_idmap_under_way(const struct rr_idmap *idmap); /* idmap may be NULL */
bool rr_idmap_manages_gids(const struct rr_idmap *idmap);  /* likewise */

/* Waits for an answer. The owner sets wake and initialises link. */
struct rr_idmap_waiter {
	struct rr_list link;
	/* Called once, from the loop or from inside rr_idmap_free(), when there is an answer, or when the
	 * directory has taken too long. The owner then asks again. */
	void (*wake)(struct rr_idmap_waiter *waiter);
};

/* Asks a question. RR_IDMAP_FOUND: *answer is filled in. RR_IDMAP_WAIT: waiter will be woken, unless it is
 * NULL; its owner may take it back by rr_list_remove() of its link. */
enum rr_idmap_status rr_idmap_ask(struct rr_idmap *idmap, const struct rr_idmap_question *question,
	struct rr_idmap_waiter *waiter, struct rr_idmap_answer *answer);

#endif
