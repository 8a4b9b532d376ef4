/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_BASE_GSS_INITIATE_H
#define RR_BASE_GSS_INITIATE_H

#include "base/gss/gss.h"

/* A client's part of making a context: tokens go to the server and come from it until the context is
 * established (RFC 2743, 2.2.1). The ticket is that of the user, of the cache of tickets that Kerberos takes:
 * KRB5CCNAME, or what krb5.conf says, of any kind that the library knows. */
struct rr_gss_initiator;

/* Begins to make a context with a service of a host, as "nfs" and "server.example.org". Errors, with a text:
 * NOTSUP (no Kerberos here), INVAL (no name of a host), NOMEM. */
int rr_gss_initiator_new(
	const char *service, const char *host, struct rr_gss_initiator **initiator, struct rr_text *text);

/* Frees the initiator, which may be NULL, and what it made of a context. */
void rr_gss_initiator_free(struct rr_gss_initiator *initiator);

/* Takes a token of the server, of that size (at first: NULL and 0), and makes the one that is to be sent, in
 * *out; without octets, if none is to be sent. Sets *context once it is established; it is the caller's then,
 * who frees it. Waits for name servers, for the key distribution centre and for files: for a crew. Errors,
 * with a text that says what to do: RPC_DENIED (there is no ticket, or it is not taken; the server's token
 * says why it refused), NOMEM, NOTSUP. */
int rr_gss_initiate(struct rr_gss_initiator *initiator, const void *token, size_t size,
	struct rr_gss_token *out, struct rr_gss_context **context, struct rr_text *text);

/* Returns the name of the user, as "alice@EXAMPLE.ORG", or "" as long as it is not known. */
const char *rr_gss_initiator_name(const struct rr_gss_initiator *initiator);

/* Writes into text what statuses mean with which a server has refused a token: numbers of its own library,
 * which is mostly the same. */
void rr_gss_refusal(uint32_t major, uint32_t minor, struct rr_text *text);

#endif
