/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * After a restart, SM_NOTIFY goes to the hosts that had locks, so that they reclaim: XNFS, chapter 11. To a
 * host that does not answer it goes again, for a quarter of an hour.
 */
#include <string.h>

#include "server/nlm/back.h"
#include "server/nlm/notice.h"
#include "ulb/nsm1.h"

#define NOTICE_FIRST (2 * RR_SECOND)
#define NOTICE_MOST  (120 * RR_SECOND)
#define NOTICE_LIMIT (900 * RR_SECOND)

/* The most hosts that are called at a time. */
enum { NOTICES_AT_A_TIME = 10 };

struct rr_nlm_notice {
	struct rr_list link; /* in shared->notices, or in the server's while the host is called */
	struct rr_nlm_server *server;
	struct rr_source source;
	uint64_t begun, due, delay;
	stat_chge args;
	struct rr_nlm_call call;
};

bool
rr_nlm_notice_add(struct rr_nlm_shared *shared, const struct rr_nlm_recorded_host *host)
{
	struct rr_nlm_notice *notice = rr_alloc(shared->env, sizeof(*notice));

	if (!notice)
		return false;
	memcpy(notice->source.address, host->address, sizeof(host->address));
	notice->source.known = true;
	notice->begun = rr_now(shared->env);
	notice->delay = NOTICE_FIRST;
	rr_list_append(&shared->notices, &notice->link);
	return true;
}

/* The host knows, or cannot be reached. */
static void
notice_end(struct rr_nlm_notice *notice)
{
	struct rr_nlm_server *server = notice->server;

	rr_list_remove(&notice->link);
	rr_free(server->env, notice);
}

static void
notice_told(struct rr_nlm_call *call, int error)
{
	struct rr_nlm_notice *notice = rr_container(call, struct rr_nlm_notice, call);
	struct rr_nlm_server *server = notice->server;
	uint64_t now = rr_now(server->env);

	server->telling--;
	if (error == 0 || now - notice->begun >= NOTICE_LIMIT) {
		notice_end(notice);
		return;
	}
	notice->due = now + notice->delay;
	notice->delay = notice->delay * 2 > NOTICE_MOST ? NOTICE_MOST : notice->delay * 2;
	rr_list_remove(&notice->link);
	rr_nlm_enter(server);
	rr_list_append(&server->shared->notices, &notice->link);
	rr_nlm_leave(server);
}

/* Takes the next host that is to be called now. NULL: there is none. */
static struct rr_nlm_notice *
notice_next(struct rr_nlm_server *server)
{
	uint64_t now = rr_now(server->env);
	struct rr_nlm_notice *found = NULL;

	rr_nlm_enter(server);
	rr_list_for_each (link, &server->shared->notices) {
		struct rr_nlm_notice *notice = rr_container(link, struct rr_nlm_notice, link);

		if (!found && notice->due <= now)
			found = notice;
	}
	if (found)
		rr_list_remove(&found->link);
	rr_nlm_leave(server);
	return found;
}

void
rr_nlm_notices_go(struct rr_nlm_server *server)
{
	const char *name = server->shared->name;
	struct rr_nlm_notice *notice;

	while (server->telling < NOTICES_AT_A_TIME && (notice = notice_next(server))) {
		notice->server = server;
		notice->args = (stat_chge){ { name, (uint32_t)strlen(name) }, server->shared->state };
		notice->call.rpc = (struct rr_call){ .proc = SM_NOTIFY, .args = &notice->args };
		notice->call.done = notice_told;
		rr_list_append(&server->told, &notice->link);
		server->telling++;
		rr_nlm_call_begin(server, &notice->source, &nsm1_SM_VERS_program, &notice->call);
	}
}

void
rr_nlm_notices_end(struct rr_nlm_server *server)
{
	rr_list_for_each (link, &server->told) {
		struct rr_nlm_notice *notice = rr_container(link, struct rr_nlm_notice, link);

		rr_nlm_call_cancel(&notice->call);
		notice_end(notice);
	}
}

void
rr_nlm_notices_free(struct rr_nlm_shared *shared)
{
	rr_list_for_each (link, &shared->notices)
		rr_free(shared->env, rr_container(link, struct rr_nlm_notice, link));
}
