/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Locks for those who wait. When the range is free, the lock is set, and then the host is called back: by
 * GRANTED if it asked by LOCK, by GRANTED_MSG if by LOCK_MSG, which it answers by GRANTED_RES. A host that
 * does not answer for GRANT_LIMIT, or does not want the lock, does not get it: it is unlocked, and others
 * have their turns.
 *
 * Ownership: a grant belongs to its server, and the wait to the grant from its beginning to its end; the
 * claim may leave the wait meanwhile, which is then over.
 */
#include <string.h>

#include "base/checked.h"
#include "server/nlm/back.h"
#include "server/nlm/old.h"

#define GRANT_FIRST (2 * RR_SECOND)
#define GRANT_LIMIT (35 * RR_SECOND)

/* The most that are begun in a turn. */
enum { GRANTS_IN_TURN = 64 };

struct rr_nlm_grant {
	struct rr_list link; /* in the server's grants */
	/* Of GRANTED_RES, which may come in another thread: the places in shared->cookies, and in the
	 * server's `answered`; and the answer. */
	struct rr_map_link by_cookie;
	struct rr_list answered;
	nlm4_stats answer;
	bool told; /* the host was called: the grant is in shared->cookies */
	struct rr_nlm_server *server;
	struct rr_nlm_wait *wait;
	struct rr_nlm_op op;
	struct rr_nlm_call call;
	struct rr_timer timer;
	uint64_t begun, delay;
	bool calling; /* the call is under way */
	nlm4_testargs args;
	uint8_t old[RR_NLM_OLD_ARGS];
	nlm4_res result;
	uint8_t cookie[RR_NLM_COOKIE];
	uint8_t octets[RR_VFS_HANDLE_MAX + RR_LOCKS_OWNER_MAX];
};

/* Frees the grant and its wait. kept: the wait is in the tables again, and not the grant's any more. */
static void
grant_free(struct rr_nlm_grant *grant, bool kept)
{
	struct rr_nlm_server *server = grant->server;

	if (grant->calling)
		rr_nlm_call_cancel(&grant->call);
	rr_loop_disarm(server->loop, &grant->timer);
	rr_list_remove(&grant->link);
	rr_nlm_enter(server);
	rr_list_remove(&grant->answered);
	if (grant->told)
		rr_map_remove(&server->shared->cookies, &grant->by_cookie);
	rr_nlm_leave(server);
	if (!kept) {
		rr_nlm_enter(server);
		/* Its phase keeps rr_nlm_wait_end() from freeing it. */
		if (grant->wait->claim) {
			struct rr_nlm_claim *claim = grant->wait->claim;

			rr_nlm_wait_end(grant->wait);
			if (!claim->busy)
				rr_nlm_claim_leave(claim);
		}
		rr_nlm_leave(server);
		rr_free(server->env, grant->wait);
	}
	rr_free(server->env, grant);
}

/* ---- The lock that the host does not take ---- */

static void
grant_returned(struct rr_nlm_op *op)
{
	grant_free(rr_container(op, struct rr_nlm_grant, op), false);
}

static void
grant_return(struct rr_nlm_grant *grant)
{
	rr_loop_disarm(grant->server->loop, &grant->timer);
	if (grant->calling)
		rr_nlm_call_cancel(&grant->call);
	grant->calling = false;
	memset(&grant->op, 0, sizeof(grant->op));
	grant->op.server = grant->server;
	grant->op.wait = grant->wait;
	grant->op.ended = grant_returned;
	rr_nlm_op_return(&grant->op);
}

/* ---- The call ---- */

static bool
grant_is_over(struct rr_nlm_grant *grant)
{
	bool over;

	rr_nlm_enter(grant->server);
	over = !grant->wait->claim;
	rr_nlm_leave(grant->server);
	return over;
}

/* The host has answered with this status. */
static void
grant_settle(struct rr_nlm_grant *grant, nlm4_stats stat)
{
	if (stat == NLM4_GRANTED || grant_is_over(grant))
		grant_free(grant, false);
	else if (stat != NLM4_DENIED_GRACE_PERIOD)
		grant_return(grant);
}

static void
grant_called(struct rr_nlm_call *call, int error)
{
	struct rr_nlm_grant *grant = rr_container(call, struct rr_nlm_grant, call);
	uint32_t vers = grant->wait->way.vers;

	grant->calling = false;
	/* GRANTED_MSG is answered by GRANTED_RES. After an error, the timer has it sent again. */
	if (error < 0 || grant->wait->way.message)
		return;
	grant_settle(
		grant, vers == NLM4_VERS ? grant->result.stat.stat : rr_nlm_granted_stat(&grant->result));
}

static void
grant_call(struct rr_nlm_grant *grant)
{
	const struct rr_nlm_way *way = &grant->wait->way;

	rr_loop_arm(grant->server->loop, &grant->timer, grant->delay);
	if (grant->calling)
		return;
	memset(&grant->result, 0, sizeof(grant->result));
	grant->call.rpc = (struct rr_call){
		.proc = way->message ? NLMPROC4_GRANTED_MSG : NLMPROC4_GRANTED,
		.args = way->vers == NLM4_VERS ? (const void *)&grant->args : grant->old,
		.result = &grant->result,
	};
	grant->call.done = grant_called;
	grant->calling = true;
	rr_nlm_call_begin(grant->server, &way->source, rr_nlm_program(way->vers), &grant->call);
}

/* The host has not answered yet: it is called again after 2, 4, 8 and 16 s, and at last given up. */
static void
grant_expired(struct rr_timer *timer)
{
	struct rr_nlm_grant *grant = rr_container(timer, struct rr_nlm_grant, timer);
	uint64_t lasts;

	if (grant_is_over(grant)) {
		grant_free(grant, false);
		return;
	}
	lasts = rr_now(grant->server->env) - grant->begun;
	if (lasts >= GRANT_LIMIT) {
		grant_return(grant);
		return;
	}
	grant->delay = rr_min(grant->delay * 2, GRANT_LIMIT - lasts);
	grant_call(grant);
}

static uint64_t
grant_key(const uint8_t cookie[RR_NLM_COOKIE])
{
	uint64_t key;

	memcpy(&key, cookie, sizeof(key));
	return key;
}

/* Writes the arguments of the call. Returns false if the wait is over. The cookie is random: nobody can
 * answer for the host who has not seen the call. */
static bool
grant_compose(struct rr_nlm_grant *grant)
{
	struct rr_nlm_server *server = grant->server;
	const struct rr_nlm_wait *wait = grant->wait;
	const char *name = server->shared->name;
	uint64_t length = rr_span_length(wait->wait.span);
	const struct rr_nlm_claim *claim;

	server->env->random(server->env->ctx, grant->cookie, sizeof(grant->cookie));
	grant->args.cookie = (struct rpcrdma_bytes){ grant->cookie, sizeof(grant->cookie) };
	rr_nlm_enter(server);
	claim = wait->claim;
	if (claim) {
		memcpy(grant->octets, claim->octets, claim->fh_length + claim->oh_length);
		grant->args.exclusive = wait->wait.write;
		grant->args.alock =
			(nlm4_lock){ { name, (uint32_t)strlen(name) }, { grant->octets, claim->fh_length },
				{ grant->octets + claim->fh_length, claim->oh_length }, claim->svid,
				wait->wait.span.first, length == UINT64_MAX ? 0 : length };
		rr_map_add(&server->shared->cookies, &grant->by_cookie, grant_key(grant->cookie));
		grant->told = true;
	}
	rr_nlm_leave(server);
	if (wait->way.vers != NLM4_VERS)
		rr_nlm_narrow_granted(&grant->args, grant->old);
	return claim;
}

void
rr_nlm_grant_answered(struct rr_nlm_server *server, const struct rr_source *source,
	struct rpcrdma_bytes cookie, nlm4_stats stat)
{
	struct rr_nlm_grant *grant = NULL;
	struct rr_map_link *link;

	if (cookie.length != RR_NLM_COOKIE)
		return;
	rr_nlm_enter(server);
	link = rr_map_find(&server->shared->cookies, grant_key(cookie.data));
	if (link)
		grant = rr_container(link, struct rr_nlm_grant, by_cookie);
	if (grant && grant->wait->way.message && rr_list_empty(&grant->answered) &&
		memcmp(source->address, grant->wait->way.source.address, sizeof(source->address)) == 0) {
		grant->answer = stat;
		rr_list_append(&grant->server->answered, &grant->answered);
		grant->server->waker.wake(&grant->server->waker);
	}
	rr_nlm_leave(server);
}

/* Acts on the answers that GRANTED_RES brought. */
static void
grant_answers(struct rr_nlm_server *server)
{
	for (;;) {
		struct rr_nlm_grant *grant;
		struct rr_list *link;

		rr_nlm_enter(server);
		link = rr_list_pop(&server->answered);
		rr_nlm_leave(server);
		if (!link)
			return;
		grant = rr_container(link, struct rr_nlm_grant, answered);
		/* While the lock is being given back, the answer comes too late. */
		if (grant->op.over)
			grant_settle(grant, grant->answer);
	}
}

/* ---- The lock ---- */

/* Runs when the lock has been set, or could not be. BLOCKED: the wait is in the tables again. */
static void
grant_taken(struct rr_nlm_op *op)
{
	struct rr_nlm_grant *grant = rr_container(op, struct rr_nlm_grant, op);

	if (op->stat != NLM4_GRANTED || !grant_compose(grant)) {
		grant_free(grant, op->stat == NLM4_BLOCKED);
		return;
	}
	grant->begun = rr_now(grant->server->env);
	grant->delay = GRANT_FIRST;
	grant_call(grant);
}

static void
grant_begin(struct rr_nlm_server *server, struct rr_nlm_wait *wait)
{
	struct rr_nlm_grant *grant = rr_alloc(server->env, sizeof(*grant));

	if (!grant) {
		rr_nlm_enter(server);
		if (wait->claim)
			rr_nlm_wait_later(wait, rr_now(server->env));
		else
			rr_free(server->env, wait);
		rr_nlm_leave(server);
		return;
	}
	grant->server = server;
	grant->wait = wait;
	grant->op.server = server;
	grant->op.wait = wait;
	grant->op.ended = grant_taken;
	rr_timer_init(&grant->timer, grant_expired);
	rr_list_init(&grant->answered);
	rr_list_append(&server->grants, &grant->link);
	rr_nlm_op_grant(&grant->op);
}

void
rr_nlm_grants_go(struct rr_nlm_server *server)
{
	grant_answers(server);
	for (int i = 0; i < GRANTS_IN_TURN && !server->ends; i++) {
		struct rr_nlm_wait *wait = NULL;
		struct rr_list *link;

		rr_nlm_enter(server);
		link = rr_list_pop(&server->waker.ready);
		if (link) {
			wait = rr_container(link, struct rr_nlm_wait, of_waker);
			wait->phase = RR_NLM_TAKING;
		}
		rr_nlm_leave(server);
		if (!wait)
			return;
		grant_begin(server, wait);
	}
}

void
rr_nlm_grants_end(struct rr_nlm_server *server)
{
	rr_list_for_each (link, &server->grants) {
		struct rr_nlm_grant *grant = rr_container(link, struct rr_nlm_grant, link);

		/* An operation under way ends the grant when it ends. */
		if (grant->op.over)
			grant_free(grant, false);
	}
}
