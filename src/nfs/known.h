/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_NFS_KNOWN_H
#define RR_NFS_KNOWN_H

#include <limits.h>
#include <stdbool.h>

#include "base/tls/tls.h"
#include "nfs/url.h"

/*
 * The list of servers whose keys are known, as ssh has one: $XDG_CONFIG_HOME/rpcrdma/known_servers, or
 * ~/.config/rpcrdma/known_servers. A line has the host and the port of URLs, as HOST:PORT, and the
 * fingerprint of the server's key. The first line of a server counts; "#" begins a comment.
 */

/* Octets of the text HOST:PORT. */
enum { RR_KNOWN_NAME = RR_URL_HOST + 10 };

/* Writes the server of a URL as it stands in the list. */
void rr_known_name(const struct rr_url *url, char name[RR_KNOWN_NAME]);

/* Writes the path of the list. Returns false if there is no place for it. */
bool rr_known_path(char path[PATH_MAX]);
/* Looks a server up, and stores its fingerprint. Returns false if the list has none of it, or there is no
 * list. A program that runs with more rights than its user has no list. */
bool rr_known_find(const char *name, uint8_t fingerprint[RR_TLS_FINGERPRINT]);

/* Appends a line to the list, which is made if there is none. Errors, with a text: SYSTEM. */
int rr_known_add(const char *name, const uint8_t fingerprint[RR_TLS_FINGERPRINT], struct rr_text *text);

#endif
