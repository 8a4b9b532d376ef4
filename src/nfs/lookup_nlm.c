/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/address.h"
#include "nfs/lookup.h"
#include "rpc/client.h"
#include "ulb/nlm4.h"

/* For so long, NLM and rpcbind are waited for. */
#define LOOKUP_PATIENCE (5 * RR_SECOND)

/* Tells whether NLM answers there. */
static bool
lookup_answers(struct rpcrdma_engine *engine, const struct rr_client_config *config)
{
	struct rr_call call = {
		.program = &nlm4_NLM4_VERS_program, .proc = NLMPROC4_NULL, .timeout = LOOKUP_PATIENCE
	};
	struct rpcrdma_client *client;
	struct rr_text text;
	int error = rr_client_new(engine, config, &client, &text);

	if (error)
		return false;
	error = rr_client_call_and_wait(client, &call, NULL, NULL);
	rr_client_free(client);
	return error == 0;
}

bool
rr_lookup_nlm(struct rpcrdma_engine *engine, const struct rr_client_config *nfs, struct rr_client_config *nlm)
{
	struct rr_lookup lookup = { .engine = engine,
		.address = nfs->address,
		.prog = nlm4_NLM4_VERS_program.prog,
		.low = nlm4_NLM4_VERS_program.vers,
		.high = nlm4_NLM4_VERS_program.vers,
		.timeout = LOOKUP_PATIENCE };
	struct rr_text text;
	uint16_t port;

	*nlm = *nfs;
	nlm->retry = 0;
	if (lookup_answers(engine, nlm))
		return true;
	if (nfs->secure || rr_lookup_port(&lookup, &port, &text) < 0)
		return false;
	nlm->transport = RR_TRANSPORT_TCP;
	rr_address_set_port((struct sockaddr *)&nlm->address, port);
	return lookup_answers(engine, nlm);
}
