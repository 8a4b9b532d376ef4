/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_BASE_GSS_GSS_H
#define RR_BASE_GSS_GSS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

/*
 * Security contexts of GSS-API (RFC 2743) with Kerberos 5 (RFC 4121), by MIT's libraries, which are loaded
 * with the first use. This interface has no sockets and knows nothing of RPC. Keys stay inside of the
 * library, which clears them when they are freed.
 *
 * Threads: any thread may use a context, several at once. Functions that make contexts or look names up may
 * take seconds, as they read files and ask servers: they belong in a crew. The others only compute.
 */

/* The statuses of RFC 2743 that go over the wire: RFC 2203, 5.2.3.1. */
enum { RR_GSS_COMPLETE = 0, RR_GSS_CONTINUE_NEEDED = 1 };

enum {
	RR_GSS_MIC_MAX = 64,   /* octets of the longest checksum that a context here may have */
	RR_GSS_LARGE = 16384,  /* from so many octets on, sealing and opening takes long: RR_GSS_CREW */
	RR_GSS_NAME_MAX = 255, /* the most characters of a principal's name that is taken */
	RR_GSS_TOKEN_MAX = 65536
};

/* Memory that a function here has made; rr_gss_token_free() clears and frees it. */
struct rr_gss_token {
	void *data;
	size_t length;
};
void rr_gss_token_free(struct rr_gss_token *token);

/* ---- Contexts that are established ---- */

struct rr_gss_context;

/* Frees the context, which may be NULL, and its keys. */
void rr_gss_context_free(struct rr_gss_context *context);

/* When the context expires, in seconds since 1970; rr_gss_context_expired() compares that with the clock. The
 * library itself goes on after that time. */
int64_t rr_gss_context_deadline(const struct rr_gss_context *context);
bool rr_gss_context_expired(const struct rr_gss_context *context);

/* What the context adds to what it protects, in octets. */
struct rr_gss_sizes {
	uint32_t mic;
	uint32_t header, trailer; /* of a sealed token; 0: the context has no cipher that can be used */
};
struct rr_gss_sizes rr_gss_context_sizes(const struct rr_gss_context *context);

/* Who computes. A context has a set of keys for each, so that a loop never waits for a crew that works on a
 * large message; threads of one kind may wait for each other as long as one of them computes. */
enum rr_gss_worker { RR_GSS_LOOP, RR_GSS_CREW, RR_GSS_WORKERS };

/* Writes the checksum (MIC) of the data, of sizes.mic octets, to mic. Returns false if the library fails. */
bool rr_gss_sign(
	struct rr_gss_context *context, enum rr_gss_worker worker, const void *data, size_t size, void *mic);
/* Tells whether mic is the peer's checksum of the data. */
bool rr_gss_verify(struct rr_gss_context *context, enum rr_gss_worker worker, const void *data, size_t size,
	const void *mic, size_t mic_size);

/* Encrypts in place: octets of the header, then the data, then the trailer, all in token; size is that of the
 * three. Returns false if the library fails, or the context has no cipher. */
bool rr_gss_seal(struct rr_gss_context *context, enum rr_gss_worker worker, void *token, size_t size);
/* Decrypts a token in place; the data lie inside of it. Returns false if the token is not one that the peer
 * has encrypted; its octets are then undefined. */
bool rr_gss_open(struct rr_gss_context *context, enum rr_gss_worker worker, void *token, size_t size,
	void **data, size_t *data_size);

/* ---- The accepting side ---- */

struct rr_gss_acceptor;

/* Makes the acceptor of the keytab at this path; NULL: the library's own, which the environment (KRB5_KTNAME)
 * and krb5.conf name. Looks whether it can be read and has a key of a principal nfs/HOST. It is read again
 * for each context, so that new keys are taken. Errors, with a text that says what to do: NOTSUP (no
 * Kerberos), INVAL (the keytab), NOMEM. */
int rr_gss_acceptor_new(const char *keytab, struct rr_gss_acceptor **acceptor, struct rr_text *text);
void rr_gss_acceptor_free(struct rr_gss_acceptor *acceptor); /* acceptor may be NULL */

/* What came of a token of a client. */
struct rr_gss_accepted {
	uint32_t major, minor;               /* as RFC 2203, 5.2.3.1, has them */
	struct rr_gss_token token;           /* for the client */
	struct rr_gss_context *context;      /* if major is RR_GSS_COMPLETE, else NULL */
	char principal[RR_GSS_NAME_MAX + 1]; /* of the client, as "alice@REALM" */
	struct rr_text why;                  /* if there is no context: the reason */
};

/* Accepts the token by which a client creates a context. The caller frees token and context. It may take
 * long. Where this process has a helper (base/confine/helper.h), that reads the keytab, and gives the
 * context. */
void rr_gss_accept(const struct rr_gss_acceptor *acceptor, const void *token, size_t size,
	struct rr_gss_accepted *accepted);
/* Answers, in the helper, what rr_gss_accept() asks it, but for the kind of question, which stands in front:
 * ctx is the acceptor. */
size_t rr_gss_accept_help(const void *ctx, const void *token, size_t size, void *answer);
/* The first octet of a question to the helper for Kerberos: the token of a client, or the name of a principal
 * (rpc/auth/gss_user.h). */
enum rr_gss_asked { RR_GSS_ASKED_ACCEPT, RR_GSS_ASKED_USER };

/* Writes to name the user of this machine that the principal stands for, by the rules of krb5.conf
 * (auth_to_local). Returns false if it stands for none. It may take long. */
bool rr_gss_local_name(const char *principal, char *name, size_t size);

#endif
