/* SPDX-License-Identifier: BSD-3-Clause */
#include "tool/secure.h"

#include <stdio.h>

#include "carrier/engine.h"
#include "tool/tool.h"

const struct rr_option rr_tool_secure_options[] = {
	{ .name = "tls-cert",
		.argument = "FILE",
		.help = "offer TLS over TCP (RFC 9289) and iWARP with this certificate, in PEM; SIGHUP takes "
			"a renewed "
			"one",
		.kind = RR_OPTION_TEXT,
		.at = offsetof(struct rr_tool_secure, files.cert) },
	{ .name = "tls-key",
		.argument = "FILE",
		.help = "the private key of --tls-cert (in the file of --tls-cert)",
		.kind = RR_OPTION_TEXT,
		.at = offsetof(struct rr_tool_secure, files.key) },
	{ .name = "tls-ca",
		.argument = "FILE",
		.help = "ask clients for a certificate, too, which must be signed by one of these; the file "
			"may have "
			"lists of revoked ones",
		.kind = RR_OPTION_TEXT,
		.at = offsetof(struct rr_tool_secure, files.ca) },
	{ 0 },
};

uint8_t
rr_tool_secure_offers(const struct rr_tool_secure *secure)
{
	uint8_t offers = 1u << RR_SECURITY_NONE;

	if (secure->files.cert)
		offers |= 1u << RR_SECURITY_TLS;
	if (secure->files.cert && secure->files.ca)
		offers |= 1u << RR_SECURITY_MTLS;
	return offers;
}

int
rr_tool_secure_begin(
	const struct rr_tool *tool, struct rr_tool_secure *secure, struct rr_engine_config *engine)
{
	struct rr_text text;

	if (!secure->files.cert && (secure->files.key || secure->files.ca))
		return rr_tool_usage(tool, "--tls-key and --tls-ca are of TLS, which needs --tls-cert");
	if (!secure->files.cert)
		return RR_EXIT_OK;
	if (rr_tls_new(true, &secure->files, &secure->tls, &text) < 0)
		return rr_tool_fail(tool, "%s", text.text);
	engine->tls = secure->tls;
	return RR_EXIT_OK;
}

void
rr_tool_secure_renew(const struct rr_tool *tool, const struct rr_tool_secure *secure)
{
	struct rr_text text;

	if (!secure->tls)
		return;
	if (rr_tls_renew(secure->tls, &text) < 0)
		rr_tool_warn(tool, "%s; new connections get the certificate as it was", text.text);
	else
		fprintf(stderr, "rpcrdma %s: %s: the certificate was read again, for new connections\n",
			tool->name, secure->files.cert);
}

void
rr_tool_secure_end(struct rr_tool_secure *secure)
{
	if (secure->tls)
		rr_tls_free(secure->tls);
	secure->tls = NULL;
}
