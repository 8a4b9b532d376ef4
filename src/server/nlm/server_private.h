/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_SERVER_NLM_SERVER_PRIVATE_H
#define RR_SERVER_NLM_SERVER_PRIVATE_H

#include <rpcrdma/engine.h>

#include "base/crew.h"
#include "server/nlm/op.h"
#include "server/nlm/server.h"

struct rr_nlm_shared {
	const struct rr_env *env;
	struct rr_nlm_config config;
	struct rr_nlm_tables tables;
	struct rr_map cookies; /* struct rr_nlm_grant, by the cookies of their calls */
	struct rr_keep *keep;  /* the directory of the hosts' names; NULL: none is kept */
	int32_t state;         /* of our NSM: another number after each start, odd */
	uint64_t grace_until;  /* while tables.locks->graces has RR_LOCKS_GRACE_NLM */
	struct rr_list
		notices;  /* struct rr_nlm_notice: hosts of the last start, which are still to be notified */
	uint32_t servers; /* that have not ended */
	char name[RR_NLM_NAME + 1]; /* of this machine */
};

/* The services of a thread: versions 1, 3 and 4 of NLM know which they are. */
struct rr_nlm_version {
	struct rr_nlm_server *server;
	uint32_t vers;
};

struct rr_nlm_server {
	const struct rr_env *env;
	struct rpcrdma_engine *engine;
	struct rr_loop *loop;
	struct rr_vfs *vfs;
	struct rr_gate *gate;
	struct rr_nlm_shared *shared;
	struct rr_nlm_version versions[3];
	struct rr_nlm_waker waker;
	struct rpcrdma_post post; /* to this thread: waits are ready */
	struct rr_list ops;       /* under way */
	struct rr_list grants;    /* struct rr_nlm_grant: the calls with GRANTED */
	struct rr_list answered;  /* of them, those that GRANTED_RES has answered */
	struct rr_list backs;     /* struct rr_nlm_back: the ways to hosts */
	struct rr_timer house;    /* what is left over, in the next turn */
	struct rr_timer tick;     /* what comes with time */
	struct rr_list told;      /* struct rr_nlm_notice: the hosts that are being notified, */
	uint32_t telling;         /* and their number */
	struct rr_crew *recorder; /* NULL: no names are kept */
	bool ends;
};

/* Take and give back the mutex of the locks. Where functions of the tables have left work over,
 * rr_nlm_leave() has it done in the next turn. */
struct rr_nlm_tables *rr_nlm_enter(struct rr_nlm_server *server);
void rr_nlm_leave(struct rr_nlm_server *server);
void rr_nlm_house_init(struct rr_nlm_server *server);

/* grant.c: begins to set the locks of waits that are ready; the host's answer to GRANTED_MSG; the end. */
void rr_nlm_grants_go(struct rr_nlm_server *server);
void rr_nlm_grant_answered(struct rr_nlm_server *server, const struct rr_source *source,
	struct rpcrdma_bytes cookie, nlm4_stats stat);
void rr_nlm_grants_end(struct rr_nlm_server *server);

/* record.c: has the host's name written to the disk, and goes on with then(); NLM4_DENIED_NOLOCKS where that
 * fails. */
void rr_nlm_record(struct rr_nlm_op *op, void (*then)(struct rr_nlm_op *op));
/* Has the names of hosts removed that have had nothing for a while. */
void rr_nlm_records_tidy(struct rr_nlm_server *server);

/* notice.c: notifies the hosts of the last start, a few at a time. */
void rr_nlm_notices_go(struct rr_nlm_server *server);
void rr_nlm_notices_end(struct rr_nlm_server *server);
/* Frees those that no server has. */
void rr_nlm_notices_free(struct rr_nlm_shared *shared);

#endif
