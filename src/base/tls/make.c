/* SPDX-License-Identifier: BSD-3-Clause */
/* A certificate that signs itself, and its key, for a server to which nobody gave one. */
#include <errno.h>
#include <fcntl.h>
#include <rpcrdma/error.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/env.h"
#include "base/tls/library.h"
#include "base/tls/tls.h"
#include "base/whole.h"

enum { MAKE_DAYS = 3650, MAKE_PATH = 4096, MAKE_HOST = 64 /* RFC 5280, A.1: the longest common name */ };

/* Adds an extension, whose value is in OpenSSL's own notation. */
static bool
make_extend(X509 *made, int number, const char *value)
{
	const struct rr_tls_library *openssl = &rr_tls_library;
	X509_EXTENSION *extension = openssl->X509V3_EXT_conf_nid(NULL, NULL, number, value);
	bool done = extension && openssl->X509_add_ext(made, extension, -1) == 1;

	openssl->X509_EXTENSION_free(extension);
	return done;
}

/* Fills in and signs the certificate of the host. RFC 9289, 5.2.1.1, names the purpose of an RPC server. */
static bool
make_fill(X509 *made, EVP_PKEY *key, const char *host)
{
	const struct rr_tls_library *openssl = &rr_tls_library;
	X509_NAME *name = openssl->X509_get_subject_name(made);
	char names[MAKE_HOST + 40];

	snprintf(names, sizeof(names), "DNS:%s,DNS:localhost", host);
	return openssl->X509_set_version(made, X509_VERSION_3) == 1 &&
	       openssl->ASN1_INTEGER_set_uint64(
		       openssl->X509_get_serialNumber(made), rr_random_u64(&rr_env_system) >> 1) == 1 &&
	       openssl->X509_gmtime_adj(openssl->X509_getm_notBefore(made), -3600) &&
	       openssl->X509_gmtime_adj(openssl->X509_getm_notAfter(made), MAKE_DAYS * 24L * 3600) &&
	       openssl->X509_NAME_add_entry_by_txt(
		       name, "CN", MBSTRING_ASC, (const unsigned char *)host, -1, -1, 0) == 1 &&
	       openssl->X509_set_issuer_name(made, name) == 1 && openssl->X509_set_pubkey(made, key) == 1 &&
	       make_extend(made, NID_subject_alt_name, names) &&
	       make_extend(made, NID_ext_key_usage, "serverAuth,1.3.6.1.5.5.7.3.34") &&
	       openssl->X509_sign(made, key, openssl->EVP_sha256()) > 0;
}

/* Writes the octets to a new file that has that path from when it is complete. A file that is there already,
 * as another server made it meanwhile, stays. */
static int
make_write(const char *path, const void *octets, size_t size, struct rr_text *text)
{
	char temporary[MAKE_PATH];
	bool done;
	int fd;

	snprintf(temporary, sizeof(temporary), "%.4000s.%016llx", path,
		(unsigned long long)rr_random_u64(&rr_env_system));
	fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return rr_fail(text, -RPCRDMA_ERR_SYSTEM, "%s: cannot be made: %s", path, strerror(errno));
	done = rr_whole_write(fd, octets, size, RR_WHOLE_HERE) == (ssize_t)size && fsync(fd) == 0 &&
	       (link(temporary, path) == 0 || errno == EEXIST);
	if (!done)
		rr_fail(text, -RPCRDMA_ERR_SYSTEM, "%s: cannot be written: %s", path, strerror(errno));
	close(fd);
	unlink(temporary);
	return done ? 0 : -RPCRDMA_ERR_SYSTEM;
}

/* Writes the certificate and its key to the file. */
static int
make_save(const char *path, X509 *made, EVP_PKEY *key, struct rr_text *text)
{
	const struct rr_tls_library *openssl = &rr_tls_library;
	BIO *memory = openssl->BIO_new(openssl->BIO_s_mem());
	int error = rr_fail(text, -RPCRDMA_ERR_NOMEM, "no memory for a certificate");
	char *octets;
	long size;

	if (memory && openssl->PEM_write_bio_X509(memory, made) == 1 &&
		openssl->PEM_write_bio_PrivateKey(memory, key, NULL, NULL, 0, NULL, NULL) == 1) {
		size = openssl->BIO_ctrl(memory, BIO_CTRL_INFO, 0, &octets);
		error = make_write(path, octets, (size_t)size, text);
		explicit_bzero(octets, (size_t)size);
	}
	openssl->BIO_free(memory);
	return error;
}

int
rr_tls_make(const char *path, struct rr_text *text)
{
	const struct rr_tls_library *openssl = &rr_tls_library;
	char host[MAKE_HOST + 1] = "";
	int error = rr_tls_library_load(rr_tls_octets_new, text);
	EVP_PKEY *key;
	X509 *made;

	if (error || access(path, F_OK) == 0)
		return error;
	gethostname(host, sizeof(host) - 1);
	/* A name that is no host name would be read as more than a name. */
	if (!host[0] ||
		host[strspn(host, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-")])
		strcpy(host, "localhost");
	key = openssl->EVP_PKEY_Q_keygen(NULL, NULL, "EC", "P-256");
	made = key ? openssl->X509_new() : NULL;
	if (made && make_fill(made, key, host))
		error = make_save(path, made, key, text);
	else
		error = rr_fail(text, -RPCRDMA_ERR_NOMEM, "OpenSSL cannot make a certificate");
	openssl->X509_free(made);
	openssl->EVP_PKEY_free(key);
	openssl->ERR_clear_error();
	return error;
}
