/* SPDX-License-Identifier: BSD-3-Clause */
#include "server/nlm/back.h"

#include <string.h>

#include <netinet/in.h>

#include "server/nlm/old.h"
#include "ulb/portmap2.h"
#include "ulb/rpcb4.h"

/* A host gets this time for each answer. After a port could not be found, its rpcbind is not asked again for
 * BACK_APART. A way that is not used for BACK_IDLE is freed. */
#define BACK_LIMIT (5 * RR_SECOND)
#define BACK_APART (1 * RR_SECOND)
#define BACK_IDLE  (60 * RR_SECOND)

/* The most ways of a thread, and calls of a way. */
enum { BACKS = 256, BACK_CALLS = 128 };

/* The way to a program of a host. It is asked where the program is, or there is a client for it, or neither.
 */
struct rr_nlm_back {
	struct rr_list link;
	struct rr_grave grave;
	struct rr_nlm_server *server;
	struct rr_source source;
	const struct rpcrdma_program *program;
	struct rpcrdma_client *rpcbind, *client;
	struct rr_list calls; /* those that wait for the client, and those that it has */
	uint32_t count;
	uint64_t used, failed; /* when it was last used; when it last failed, or 0 */
	struct rr_call lookup;
	union {
		mapping mapping;
		rpcb rpcb;
	} args;
	union {
		uint32_t port;
		rpcb_address address;
	} found;
	uint8_t keep[1024];
};

/* ---- The end of calls ---- */

static void
back_call_end(struct rr_nlm_call *call, int error)
{
	rr_list_remove(&call->link);
	call->back->count--;
	call->back = NULL;
	call->done(call, error);
}

/* The host cannot be reached, or does not answer: all calls fail, and the next one asks for the port anew. */
static void
back_fail(struct rr_nlm_back *back, int error)
{
	struct rpcrdma_client *client = back->client, *rpcbind = back->rpcbind;
	struct rr_list failed;

	back->client = back->rpcbind = NULL;
	back->failed = rr_now(back->server->env);
	/* The calls of the client are cancelled with it: what follows ends them. */
	rr_client_free(client);
	rr_client_free(rpcbind);
	rr_list_init(&failed);
	while (!rr_list_empty(&back->calls)) {
		struct rr_list *link = back->calls.next;

		rr_list_remove(link);
		rr_list_append(&failed, link);
	}
	while (!rr_list_empty(&failed))
		back_call_end(rr_container(failed.next, struct rr_nlm_call, link), error);
}

static void
back_call_answered(struct rr_call *rpc, int error)
{
	struct rr_nlm_call *call = rr_container(rpc, struct rr_nlm_call, rpc);
	struct rr_nlm_back *back = call->back;

	/* An answer that says no is an answer. */
	if (error == -RPCRDMA_ERR_TIMEDOUT || error == -RPCRDMA_ERR_DISCONNECTED ||
		error == -RPCRDMA_ERR_REFUSED || error == -RPCRDMA_ERR_UNREACHABLE)
		back_fail(back, error);
	else
		back_call_end(call, error);
}

/* ---- The port ---- */

/* Writes the address of the host, with this port. */
static void
back_address(const struct rr_source *source, uint16_t port, struct rr_client_config *config)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };
	struct sockaddr_in6 *in6 = (void *)&config->address;
	struct sockaddr_in *in = (void *)&config->address;

	config->transport = RR_TRANSPORT_TCP;
	if (memcmp(source->address, mapped, sizeof(mapped)) == 0) {
		in->sin_family = AF_INET;
		memcpy(&in->sin_addr, source->address + sizeof(mapped), 4);
	} else {
		in6->sin6_family = AF_INET6;
		memcpy(&in6->sin6_addr, source->address, 16);
	}
	config->address_size = rr_address_size(&config->address);
	rr_address_set_port((struct sockaddr *)&config->address, port);
}

static void
back_send(struct rr_nlm_back *back)
{
	for (struct rr_list *link = back->calls.next; link != &back->calls; link = link->next)
		rr_client_call(back->client, &rr_container(link, struct rr_nlm_call, link)->rpc);
}

/* Connects to the program, whose port is known, and sends what waits. */
static void
back_connect(struct rr_nlm_back *back, uint16_t port)
{
	struct rr_client_config config = { .transport = RR_TRANSPORT_TCP };
	struct rr_text text;

	back_address(&back->source, port, &config);
	if (rr_client_new(back->server->engine, &config, &back->client, &text) < 0)
		back_fail(back, -RPCRDMA_ERR_UNREACHABLE);
	else
		back_send(back);
}

/* Returns the port of a universal address: RFC 5665, 5.2.3.4: its last two numbers are the octets of the
 * port. 0: it is none. */
static uint16_t
back_port(struct rpcrdma_bytes text)
{
	uint32_t octets[2] = { 0, 0 }, place = 1;
	int at = 1;

	for (const char *next = (const char *)text.data + text.length;
		at >= 0 && next > (const char *)text.data;) {
		char digit = *--next;

		if (digit == '.') {
			at--;
			place = 1;
		} else if (digit < '0' || digit > '9' || place > 100) {
			return 0;
		} else {
			octets[at] += (uint32_t)(digit - '0') * place;
			place *= 10;
		}
	}
	return at < 0 && octets[0] < 256 && octets[1] < 256 ? (uint16_t)(octets[0] << 8 | octets[1]) : 0;
}

static void
back_found(struct rr_call *lookup, int error)
{
	struct rr_nlm_back *back = lookup->ctx;
	struct rpcrdma_client *rpcbind = back->rpcbind;
	uint16_t port = 0;

	if (error == 0 && lookup->program->vers == PMAP_VERS_program.vers)
		port = back->found.port <= UINT16_MAX ? (uint16_t)back->found.port : 0;
	else if (error == 0)
		port = back_port(back->found.address);
	back->rpcbind = NULL;
	rr_client_free(rpcbind);
	if (port == 0)
		back_fail(back, error ? error : -RPCRDMA_ERR_PROG_UNAVAIL);
	else
		back_connect(back, port);
}

static struct rpcrdma_bytes
back_text(const char *text)
{
	return (struct rpcrdma_bytes){ text, (uint32_t)strlen(text) };
}

/* Asks the host's rpcbind for the port: by version 2, which every rpcbind has, where the address is of IPv4.
 */
static void
back_ask(struct rr_nlm_back *back)
{
	uint16_t rpcbind = back->server->shared->config.rpcbind;
	struct rr_client_config config = { .auth = &rr_auth_none };
	struct rr_text text;

	back_address(&back->source, rpcbind ? rpcbind : PMAP_PORT, &config);
	back->lookup = (struct rr_call){ .timeout = BACK_LIMIT,
		.done = back_found,
		.ctx = back,
		.args = &back->args,
		.result = &back->found,
		.keep = back->keep,
		.keep_size = sizeof(back->keep) };
	memset(&back->args, 0, sizeof(back->args));
	memset(&back->found, 0, sizeof(back->found));
	if (config.address.ss_family == AF_INET) {
		back->lookup.program = &PMAP_VERS_program;
		back->lookup.proc = PMAPPROC_GETPORT;
		back->args.mapping = (mapping){ back->program->prog, back->program->vers, IPPROTO_TCP, 0 };
	} else {
		back->lookup.program = &RPCBVERS4_program;
		back->lookup.proc = RPCBPROC_GETADDR;
		back->args.rpcb = (rpcb){ back->program->prog, back->program->vers, back_text("tcp6"),
			back_text(""), back_text("") };
	}
	if (rr_client_new(back->server->engine, &config, &back->rpcbind, &text) < 0)
		back_fail(back, -RPCRDMA_ERR_UNREACHABLE);
	else
		rr_client_call(back->rpcbind, &back->lookup);
}

/* ---- Ways ---- */

static void
back_free(struct rr_grave *grave, const struct rr_env *env)
{
	rr_free(env, rr_container(grave, struct rr_nlm_back, grave));
}

static void
back_end(struct rr_nlm_back *back)
{
	rr_list_remove(&back->link);
	rr_client_free(back->client);
	rr_client_free(back->rpcbind);
	rr_loop_bury(back->server->loop, &back->grave, back_free);
}

/* Returns the way to the program of the host, and makes it if there is none. Frees one that is not used,
 * where there are too many. NULL: there is no memory, or all are in use. */
static struct rr_nlm_back *
back_to(struct rr_nlm_server *server, const struct rr_source *source, const struct rpcrdma_program *program)
{
	struct rr_nlm_back *back, *idle = NULL;
	uint32_t count = 0;

	for (struct rr_list *link = server->backs.next; link != &server->backs; link = link->next, count++) {
		back = rr_container(link, struct rr_nlm_back, link);
		if (back->program == program &&
			memcmp(back->source.address, source->address, sizeof(source->address)) == 0)
			return back;
		if (back->count == 0 && !idle)
			idle = back;
	}
	if (count >= BACKS && !idle)
		return NULL;
	if (count >= BACKS)
		back_end(idle);
	back = rr_alloc(server->env, sizeof(*back));
	if (!back)
		return NULL;
	back->server = server;
	back->source = *source;
	back->program = program;
	rr_list_init(&back->calls);
	rr_list_append(&server->backs, &back->link);
	return back;
}

/* A call that cannot be made fails in the next turn, as all others do. */
static void
back_call_fail(struct rr_timer *timer)
{
	struct rr_nlm_call *call = rr_container(timer, struct rr_nlm_call, rpc.timer);

	call->back = NULL;
	call->done(call, -RPCRDMA_ERR_UNREACHABLE);
}

void
rr_nlm_call_begin(struct rr_nlm_server *server, const struct rr_source *to,
	const struct rpcrdma_program *program, struct rr_nlm_call *call)
{
	struct rr_nlm_back *back = back_to(server, to, program);
	uint64_t now = rr_now(server->env);
	bool busy;

	rr_list_init(&call->link);
	call->back = NULL;
	call->server = server;
	if (!back || back->count >= BACK_CALLS ||
		(!back->client && !back->rpcbind && back->failed && now - back->failed < BACK_APART)) {
		rr_timer_init(&call->rpc.timer, back_call_fail);
		rr_loop_arm(server->loop, &call->rpc.timer, 0);
		return;
	}
	call->rpc.program = program;
	call->rpc.timeout = BACK_LIMIT;
	call->rpc.done = back_call_answered;
	call->rpc.keep = call->keep;
	call->rpc.keep_size = sizeof(call->keep);
	call->back = back;
	back->used = now;
	back->count++;
	busy = back->rpcbind;
	rr_list_append(&back->calls, &call->link);
	if (back->client)
		rr_client_call(back->client, &call->rpc);
	else if (!busy)
		back_ask(back);
}

void
rr_nlm_call_cancel(struct rr_nlm_call *call)
{
	struct rr_nlm_back *back = call->back;

	if (!back) {
		rr_loop_disarm(call->server->loop, &call->rpc.timer);
		return;
	}
	if (back->client)
		rr_client_cancel(back->client, &call->rpc);
	rr_list_remove(&call->link);
	back->count--;
	call->back = NULL;
}

void
rr_nlm_backs_tidy(struct rr_nlm_server *server)
{
	uint64_t now = rr_now(server->env);

	rr_list_for_each (link, &server->backs) {
		struct rr_nlm_back *back = rr_container(link, struct rr_nlm_back, link);

		if (back->count == 0 && !back->rpcbind && now - back->used >= BACK_IDLE)
			back_end(back);
	}
}

void
rr_nlm_backs_end(struct rr_nlm_server *server)
{
	rr_list_for_each (link, &server->backs) {
		struct rr_nlm_back *back = rr_container(link, struct rr_nlm_back, link);

		back_fail(back, -RPCRDMA_ERR_CANCELLED);
		back_end(back);
	}
}
