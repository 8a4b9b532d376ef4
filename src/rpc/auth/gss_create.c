/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes contexts, and destroys them: RFC 2203, 5.2 and 5.4. A client's token is looked at by a thread of the
 * crew, which then looks up the user that the client's principal stands for; only that client waits. */
#include <string.h>

#include "base/checked.h"
#include "base/peer_log.h"
#include "rpc/auth/gss_server.h"
#include "wire/gss.h"

enum {
	/* The places of the two jobs: the first one uses the processor, the second one may wait, and keeps
	 * half of the crew busy at most. */
	CREATE_ACCEPT = 1,
	CREATE_FIND = 3,
	CREATE_ANSWER_MAX = 4096,    /* octets of the largest answer */
	CREATE_NAME = 128,           /* characters of a principal in the log */
	CREATE_ENTRY_LOST = 13 << 16 /* GSS_S_FAILURE: RFC 2203, appendix A */
};

/* A context in the making. */
struct gss_creation {
	struct rr_list link;
	struct rr_crew_job job;
	struct rr_gss_server *gss;
	struct rpcrdma_request *request;
	struct rpcrdma_bytes token;
	uint64_t host;
	char host_name[RR_HOST_NAME];
	struct rr_gss_accepted accepted;
	struct rr_gss_entry *entry; /* NULL: there is no context */
};

/* The arguments: all octets, as those of DESTROY are ignored. */
struct create_args {
	struct rpcrdma_bytes octets;
};

struct create_result {
	bool created; /* the results are res; else there are none */
	struct rr_gss_init_res res;
};

static void
create_get_args(struct rpcrdma_xdr_reader *reader, void *value)
{
	struct create_args *args = value;

	args->octets = (struct rpcrdma_bytes){ reader->next, (uint32_t)rpcrdma_xdr_left(reader) };
	if (!reader->failed)
		reader->next = reader->end;
}

static void
create_put_result(struct rpcrdma_xdr_writer *writer, const void *value)
{
	const struct create_result *result = value;

	if (result->created)
		rr_gss_put_init_res(writer, &result->res);
}

/* ---- In the crew ---- */

/* Accepts the token. */
static bool
create_accept(struct rr_crew_job *job, void *member)
{
	struct gss_creation *creation = rr_container(job, struct gss_creation, job);

	(void)member;
	rr_gss_accept(creation->gss->shared->acceptor, creation->token.data, creation->token.length,
		&creation->accepted);
	return true;
}

/* Finds the user, and gives the context to the table. */
static bool
create_find(struct rr_crew_job *job, void *member)
{
	struct gss_creation *creation = rr_container(job, struct gss_creation, job);
	struct rr_gss_accepted *accepted = &creation->accepted;
	struct rr_gss_user user;

	(void)member;
	if (rr_gss_user_find(accepted->principal, &user))
		creation->entry = rr_gss_table_add(creation->gss->shared->table, accepted->context,
			accepted->principal, &user, creation->host_name);
	if (creation->entry)
		return true;
	rr_gss_context_free(accepted->context);
	rr_gss_user_free(&user);
	accepted->context = NULL;
	accepted->major = CREATE_ENTRY_LOST;
	rr_fail(&accepted->why, 0,
		"the directory of users does not answer (nsswitch.conf), or memory is out");
	return true;
}

/* ---- In the loop ---- */

/* Fills in the answer. RFC 2203, 5.2.3.1: "If gss_major is not one of GSS_S_COMPLETE or
 * GSS_S_CONTINUE_NEEDED, the context setup has failed; in this case handle and gss_token must be set to NULL
 * by the server." "If gss_major is GSS_S_COMPLETE, the verifier's ... body field set to the checksum of the
 * seq_window". Returns false if there is no memory for the answer. */
static bool
create_answer(struct gss_creation *creation)
{
	struct rpcrdma_request *request = creation->request;
	struct create_result *result = request->result;
	const struct rr_gss_token *token = &creation->accepted.token;
	uint8_t *memory;

	*result = (struct create_result){ .created = true,
		.res = { .major = creation->accepted.major, .minor = creation->accepted.minor } };
	if (!creation->entry)
		return true;
	if (token->length > CREATE_ANSWER_MAX / 2)
		return false;
	memory = rpcrdma_request_alloc(request, token->length + 1);
	if (!memory)
		return false;
	if (token->length > 0)
		memcpy(memory, token->data, token->length);
	result->res.token = (struct rpcrdma_bytes){ memory, (uint32_t)token->length };
	result->res.handle = (struct rpcrdma_bytes){ creation->entry->handle, RR_GSS_HANDLE };
	result->res.seq_window = RR_GSS_WINDOW;
	/* The request holds the entry from now on. */
	request->auth_call = (struct rr_auth_call){ .context = creation->entry, .number = RR_GSS_WINDOW };
	creation->entry = NULL;
	return true;
}

/* Copies the name of a principal, which its realm chooses, for the log: a line of the log has no control
 * characters of others. */
static void
create_printable(const char *name, char text[CREATE_NAME])
{
	size_t length = 0;

	for (; name[length] && length < CREATE_NAME - 1; length++)
		text[length] = name[length] >= ' ' && name[length] <= '~' ? name[length] : '?';
	text[length] = '\0';
}

/* Tells the log how it ended. */
static void
create_log(const struct gss_creation *creation)
{
	const struct rr_gss_server *gss = creation->gss;
	const char *peer = creation->request->peer;
	char name[CREATE_NAME];

	if (!creation->entry)
		rr_log_peer(rr_loop_peer_log(gss->engine->loop), peer, "%s: no context of Kerberos: %s", peer,
			creation->accepted.why.text);
	else if (!creation->entry->user.known) {
		create_printable(creation->entry->principal, name);
		rr_log_peer(rr_loop_peer_log(gss->engine->loop), peer,
			"%s: the principal %s is no user of this machine: the rules say whether it is "
			"anonymous or refused",
			peer, name);
	}
}

static void
create_done(struct rr_crew_job *job)
{
	struct gss_creation *creation = rr_container(job, struct gss_creation, job);
	struct rr_gss_server *gss = creation->gss;
	struct rpcrdma_request *request = creation->request;
	bool answered;

	create_log(creation);
	answered = create_answer(creation);
	if (creation->entry) {
		rr_gss_table_forget(creation->entry);
		rr_gss_table_release(creation->entry);
	}
	rr_gss_token_free(&creation->accepted.token);
	rr_list_remove(&creation->link);
	gss->creation_count--;
	rr_free(gss->engine->env, creation);
	rr_request_end(request, answered ? RPCRDMA_HANDLED : RPCRDMA_HANDLE_SYSTEM_ERR);
}

/* Begins the next job of the creation. */
static void
create_add(struct gss_creation *creation, struct rr_crew_job job)
{
	job.host = job.owner = creation->host;
	creation->job = job;
	rr_crew_add(creation->gss->crew, &creation->job);
}

/* Goes on when the token was looked at. */
static void
create_accepted(struct rr_crew_job *job)
{
	struct gss_creation *creation = rr_container(job, struct gss_creation, job);

	if (creation->accepted.context)
		create_add(creation, (struct rr_crew_job){
					     .place = CREATE_FIND, .run = create_find, .done = create_done });
	else
		create_done(job);
}

/* Tells whether one more context may be made for this host now. */
static bool
create_may_begin(const struct rr_gss_server *gss, uint64_t host)
{
	uint32_t same = 0;

	if (gss->creation_count >= RR_GSS_CREATIONS)
		return false;
	rr_list_for_each (link, &gss->creations)
		same += rr_container(link, struct gss_creation, link)->host == host;
	return same < RR_GSS_CREATIONS_HOST;
}

/* Begins to make a context with the client's token. */
static enum rpcrdma_handled
create_begin(struct rr_gss_server *gss, struct rpcrdma_request *request, struct rpcrdma_bytes token)
{
	uint64_t host = request->party ? rr_party_host(request->party) : 0;
	struct gss_creation *creation =
		create_may_begin(gss, host) ? rr_alloc(gss->engine->env, sizeof(*creation)) : NULL;

	if (!creation)
		return RPCRDMA_HANDLE_SYSTEM_ERR;
	creation->gss = gss;
	creation->request = request;
	creation->token = token;
	creation->host = host;
	rr_host_name(request->peer, creation->host_name);
	rr_list_append(&gss->creations, &creation->link);
	gss->creation_count++;
	create_add(creation, (struct rr_crew_job){ .place = CREATE_ACCEPT,
				     .bulk = true,
				     .run = create_accept,
				     .done = create_accepted });
	return RPCRDMA_HANDLE_KEPT;
}

/* RFC 2203, 5.4: "The sequence number in the request must be valid, and the header checksum in the verifier
 * must be valid, for the server to accept the message." gss_take() has looked at both. */
static enum rpcrdma_handled
create_handle(void *ctx, struct rpcrdma_request *request, const void *value, void *result)
{
	const struct create_args *args = value;
	const struct rpcrdma_message message = { .stream = args->octets.data, .length = args->octets.length };
	struct rpcrdma_xdr_reader reader;
	struct rr_gss_init_arg arg;

	(void)result;
	if (request->auth_call.context) {
		rr_gss_table_forget(request->auth_call.context);
		return RPCRDMA_HANDLED;
	}
	rpcrdma_xdr_reader_init(&reader, &message, NULL);
	rr_gss_get_init_arg(&reader, &arg);
	if (!rpcrdma_xdr_done(&reader) || arg.token.length == 0)
		return RPCRDMA_HANDLE_GARBAGE_ARGS;
	return create_begin(ctx, request, arg.token);
}

static const struct rpcrdma_procedure create_procedures[] = {
	{ .name = "RPCSEC_GSS_INIT",
		.args_size = sizeof(struct create_args),
		.result_size = sizeof(struct create_result),
		.args_max = 4 + RR_GSS_INIT_TOKEN_MAX,
		.result_max = CREATE_ANSWER_MAX,
		.get_args = create_get_args,
		.put_result = create_put_result },
};

const struct rpcrdma_program rr_gss_control_program = { .procedures = create_procedures,
	.procedure_count = 1 };

rpcrdma_handler *const rr_gss_control_handlers[] = { create_handle };
