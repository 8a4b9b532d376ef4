/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TOOL_SECURE_H
#define RR_TOOL_SECURE_H

#include "base/tls/tls.h"
#include "tool/option/option.h"

struct rr_engine_config;

/* The options of a server for TLS over TCP, and the certificates that were read by them. */
struct rr_tool_secure {
	struct rr_tls_files files; /* of --tls-cert, --tls-key and --tls-ca */
	struct rr_tls *tls;        /* NULL: they were not read, or there is no --tls-cert */
};

/* The table of these options, whose state is a struct rr_tool_secure. */
extern const struct rr_option rr_tool_secure_options[];

/* Returns what connections of the server may be protected by: bit s for the enum rr_security s. */
uint8_t rr_tool_secure_offers(const struct rr_tool_secure *secure);

/* Reads the certificates, if there are any, and has engines of that configuration use them. Returns an exit
 * status, after a message if it is not OK. */
int rr_tool_secure_begin(
	const struct rr_tool *tool, struct rr_tool_secure *secure, struct rr_engine_config *engine);

/* Reads the certificates again, for new connections, and says on standard error what came of it. */
void rr_tool_secure_renew(const struct rr_tool *tool, const struct rr_tool_secure *secure);

/* Frees the certificates; no engine uses them any more. */
void rr_tool_secure_end(struct rr_tool_secure *secure);

#endif
