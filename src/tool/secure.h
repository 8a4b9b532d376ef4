/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TOOL_SECURE_H
#define RR_TOOL_SECURE_H

#include <limits.h>

#include "base/tls/tls.h"
#include "tool/option/option.h"

struct rr_engine_config;

struct rr_tool_minder;

/* Seconds between two looks at the files, by default. */
enum { RR_TOOL_SECURE_LOOK = 60 };

/* The options of a server for TLS over TCP, and the certificates that were read by them. */
struct rr_tool_secure {
	struct rr_tls_files files;     /* of --tls-cert, --tls-key and --tls-ca */
	bool makes;                    /* --tls */
	uint32_t look;                 /* --tls-look; 0: never */
	char made[PATH_MAX];           /* the certificate that is made at first use; "": none is */
	struct rr_tls *tls;            /* NULL: they were not read, or there is no --tls-cert */
	struct rr_tool_minder *minder; /* NULL: nobody looks at the files */
};

/* The table of these options, whose state is a struct rr_tool_secure. */
extern const struct rr_option rr_tool_secure_options[];

/* With --tls, notes where the certificate is that is made at first use: in the file of --tls-cert, else
 * beside the key of file handles, at key_path (NULL: its default place). Returns an exit status, after a
 * message if it is not OK. */
int rr_tool_secure_name(const struct rr_tool *tool, struct rr_tool_secure *secure, const char *key_path);

/* Makes that certificate, unless it is there. Returns an exit status, after a message if it is not OK. */
int rr_tool_secure_make(const struct rr_tool *tool, const struct rr_tool_secure *secure);

/* Prints the fingerprint of the certificate's key, if there is one. */
void rr_tool_secure_announce(const struct rr_tool_secure *secure);

/* Returns what connections of the server may be protected by: bit s for the enum rr_security s. */
uint8_t rr_tool_secure_offers(const struct rr_tool_secure *secure);

/* Has this process leave no core file, which would have its keys. */
void rr_tool_keep_core(void);

/* Reads the certificates, if there are any, and has engines of that configuration use them. Returns an exit
 * status, after a message if it is not OK. */
int rr_tool_secure_begin(
	const struct rr_tool *tool, struct rr_tool_secure *secure, struct rr_engine_config *engine);

/* Reads the certificates again, for new connections, and says on standard error what came of it. */
void rr_tool_secure_renew(const struct rr_tool *tool, const struct rr_tool_secure *secure);

/* Has a thread look at the files each --tls-look seconds, which reads them again when one of them was
 * replaced or written. Begun after this process has given up rights, as the thread gives up the same. */
void rr_tool_secure_mind(const struct rr_tool *tool, struct rr_tool_secure *secure);

/* Ends that thread, and frees the certificates; no engine uses them any more. */
void rr_tool_secure_end(struct rr_tool_secure *secure);

#endif
