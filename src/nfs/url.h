/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_NFS_URL_H
#define RR_NFS_URL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "base/tls/tls.h"
#include "carrier/engine.h"
#include "nfs/version.h"

/*
 * The URL of an export is nfs://HOST[:PORT]/PATH[?OPTION=VALUE[&...]], after RFC 2224 and RFC 3986: HOST is a
 * name, an IPv4 address, or an IPv6 address in brackets; "%41" stands for one octet. Options: version (3,
 * 4.1, 4.2), transport (auto, iwarp, verbs, tcp), mountport, port, rpcbind, uid, gid, sec (sys, krb5, krb5i,
 * krb5p), xprtsec, tls-ca, tls-cert, tls-key, fingerprint. "rpcbind" alone, or with the port of rpcbind, says
 * that the port of NFS is to be looked up (nfs/lookup.h).
 */

enum {
	RR_URL_RDMA_PORT = 20049,
	RR_URL_TCP_PORT = 2049,
	RR_URL_HOST = 256,
	RR_URL_PATH = 4096,
	RR_URL_FILE = 1024
};

/* Who the user is, and what protects his calls: words as of Linux's mount option of this name. */
enum rr_url_sec {
	RR_URL_SEC_ANY, /* what the server wants */
	RR_URL_SEC_SYS,
	RR_URL_SEC_KRB5,
	RR_URL_SEC_KRB5I,
	RR_URL_SEC_KRB5P
};

/* What protects a connection over TCP: words as of Linux's mount option of this name. */
enum rr_url_xprtsec {
	RR_URL_XPRTSEC_NONE,
	RR_URL_XPRTSEC_TLS,
	RR_URL_XPRTSEC_MTLS, /* and the client shows a certificate, too */
	RR_URL_XPRTSEC_AUTO  /* TLS if the server has it */
};

struct rr_text;

struct rr_url {
	char host[RR_URL_HOST]; /* without brackets */
	uint16_t port;          /* the transport's usual port if the URL has no port; 0: rpcbind is asked */
	char path[RR_URL_PATH]; /* begins with '/' */
	enum rr_nfs_version version;
	enum rr_transport transport;
	bool has_transport, has_port; /* the URL has a transport, a port */
	uint16_t mount_port;          /* 0: the client finds it out */
	uint16_t rpcbind; /* the port of rpcbind, which is asked for the port of NFS; 0: it is not asked */
	bool has_uid, has_gid;
	uint32_t uid, gid;
	enum rr_url_sec sec;
	enum rr_url_xprtsec xprtsec;
	bool has_fingerprint;
	uint8_t fingerprint[RR_TLS_FINGERPRINT]; /* of the server's key */
	char tls_ca[RR_URL_FILE], tls_cert[RR_URL_FILE],
		tls_key[RR_URL_FILE]; /* ""; else the paths of files */
};

/* Tells whether text begins with "nfs:", or has the form HOST:/PATH that mount(8) takes. It is then meant as
 * a URL, not as a local path, even if the rest is wrong. "./a:/b" and "/a:/b" are local paths. */
bool rr_url_is(const char *text);

/* Parses a URL. HOST:/PATH is taken as it stands, where HOST may be an IPv6 address in brackets: "%" and "?"
 * have no meaning in it. Errors: -RPCRDMA_ERR_INVAL, and -RPCRDMA_ERR_NOTSUP for a version of NFS that is not
 * supported; the text in error says which part is wrong. */
int rr_url_parse(const char *text, struct rr_url *url, struct rr_text *error);

/* Changes a URL that names no transport to TCP. If it names no port, its port becomes that of NFS over TCP.
 */
void rr_url_prefer_tcp(struct rr_url *url);

#endif
