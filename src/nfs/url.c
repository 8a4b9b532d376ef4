/* SPDX-License-Identifier: BSD-3-Clause */
#include "nfs/url.h"

#include <rpcrdma/error.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"
#include "ulb/portmap2.h"

static const char scheme[] = "nfs:";

/* Returns how many octets HOST has in HOST:/PATH, with the brackets of an IPv6 address; 0 if text has another
 * form. Text with "//" behind the colon is a URL of another scheme. */
static size_t
url_short_host(const char *text)
{
	size_t host = strcspn(text, text[0] == '[' ? "]/" : ":/");

	if (text[0] == '[' && text[host] == ']')
		host++;
	return text[host] == ':' && text[host + 1] == '/' && text[host + 2] != '/' ? host : 0;
}

bool
rr_url_is(const char *text)
{
	return strncasecmp(text, scheme, sizeof(scheme) - 1) == 0 || url_short_host(text) > 0;
}

/* ---- Parts of a URL ---- */

/* Returns the value of a hexadecimal digit, or -1 if it is no such digit. */
static int
url_hex_value(char digit)
{
	if (digit >= '0' && digit <= '9')
		return digit - '0';
	if (digit >= 'a' && digit <= 'f')
		return digit - 'a' + 10;
	if (digit >= 'A' && digit <= 'F')
		return digit - 'A' + 10;
	return -1;
}

/* Decodes an octet that is written as "%41" (RFC 3986, section 2.1) into *octet. text begins with '%', and
 * has two further octets at least. Returns false if they are no hexadecimal digits, or stand for a zero
 * octet. */
static bool
url_decode_octet(const char *text, char *octet)
{
	int high = url_hex_value(text[1]), low = high < 0 ? -1 : url_hex_value(text[2]);

	if (low < 0 || (high == 0 && low == 0))
		return false;
	*octet = (char)(high << 4 | low);
	return true;
}

/* Copies length octets of text to out, which has size octets, with octets such as "%41" decoded and a zero at
 * the end. The parameter what names the part of the URL, for the error text. */
static int
url_decode(const char *text, size_t length, char *out, size_t size, const char *what, struct rr_text *error)
{
	const char *end = text + length;
	size_t used = 0;

	while (text < end) {
		if (used + 1 >= size)
			return rr_fail(error, -RPCRDMA_ERR_INVAL, "the %s is longer than %zu octets", what,
				size - 1);
		if (*text != '%') {
			out[used++] = *text++;
			continue;
		}
		if (end - text < 3 || !url_decode_octet(text, &out[used++]))
			return rr_fail(error, -RPCRDMA_ERR_INVAL,
				"'%%' in the %s must be followed by two hexadecimal digits other than 00; "
				"write %%25 for '%%' itself",
				what);
		text += 3;
	}
	out[used] = '\0';
	return 0;
}

/* Parses a decimal number of at most ten digits into *value. Returns false if text is anything else, or the
 * number is not from least to max. */
static bool
url_number(const char *text, size_t length, uint64_t least, uint64_t max, uint64_t *value)
{
	*value = 0;
	if (length == 0 || length > 10)
		return false;
	for (size_t i = 0; i < length; i++) {
		if (text[i] < '0' || text[i] > '9')
			return false;
		*value = *value * 10 + (uint64_t)(text[i] - '0');
	}
	return *value >= least && *value <= max;
}

/* Parses a port number into *port. The parameter what names the port, for the error text. */
static int
url_parse_port(const char *text, size_t length, const char *what, uint16_t *port, struct rr_text *error)
{
	uint64_t value;

	if (!url_number(text, length, 1, UINT16_MAX, &value))
		return rr_fail(error, -RPCRDMA_ERR_INVAL, "%s '%.*s' is not a port number (1 to 65535)", what,
			(int)(length > 40 ? 40 : length), text);
	*port = (uint16_t)value;
	return 0;
}

/* Parses the number of a user or a group into *id. The parameter what names it, for the error text. */
static int
url_parse_id(const char *text, size_t length, const char *what, uint32_t *id, struct rr_text *error)
{
	uint64_t value;

	if (!url_number(text, length, 0, UINT32_MAX, &value))
		return rr_fail(error, -RPCRDMA_ERR_INVAL, "%s '%.*s' is not a number (0 to 4294967295)", what,
			(int)(length > 40 ? 40 : length), text);
	*id = (uint32_t)value;
	return 0;
}

/* ---- HOST[:PORT] ---- */

/* Parses "HOST[:PORT]" into the host and the port of the URL. HOST may be an IPv6 address in brackets. */
static int
url_parse_authority(const char *text, size_t length, struct rr_url *url, struct rr_text *error)
{
	const char *end = text + length, *host_end;

	if (memchr(text, '@', length))
		return rr_fail(error, -RPCRDMA_ERR_INVAL,
			"a user name does not belong in an NFS URL; use ?uid= and &gid=");
	if (length > 0 && text[0] == '[') {
		host_end = memchr(text++, ']', length);
		if (!host_end)
			return rr_fail(error, -RPCRDMA_ERR_INVAL, "']' is missing behind the IPv6 address");
		/* From here on, length is the size of what stands between HOST and ":PORT": ']' or nothing.
		 */
		length = 1;
	} else {
		host_end = memchr(text, ':', length);
		if (!host_end)
			host_end = end;
		if (host_end < end && memchr(host_end + 1, ':', (size_t)(end - host_end - 1)))
			return rr_fail(error, -RPCRDMA_ERR_INVAL,
				"an IPv6 address needs brackets: nfs://[ADDRESS]:PORT/PATH");
		length = 0;
	}
	if (host_end == text)
		return rr_fail(error, -RPCRDMA_ERR_INVAL, "the host is missing: nfs://HOST[:PORT]/PATH");
	if (url_decode(text, (size_t)(host_end - text), url->host, sizeof(url->host), "host", error) < 0)
		return -RPCRDMA_ERR_INVAL;
	host_end += length;
	if (host_end == end)
		return 0;
	if (*host_end != ':')
		return rr_fail(error, -RPCRDMA_ERR_INVAL, "only ':PORT' may follow ']'");
	return url_parse_port(host_end + 1, (size_t)(end - host_end - 1), "the port", &url->port, error);
}

/* ---- ?OPTION=VALUE ---- */

/* Tells whether the length octets of text are this word. */
static bool
url_word_is(const char *text, size_t length, const char *word)
{
	return strlen(word) == length && memcmp(text, word, length) == 0;
}

static int
url_parse_version(const char *value, size_t length, struct rr_url *url, struct rr_text *error)
{
	static const char *const names[] = {
		[RR_NFS_VERSION_3] = "3", [RR_NFS_VERSION_41] = "4.1", [RR_NFS_VERSION_42] = "4.2"
	};

	for (size_t i = RR_NFS_VERSION_3; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!url_word_is(value, length, names[i]))
			continue;
		url->version = (enum rr_nfs_version)i;
		return 0;
	}
	return rr_fail(error, -RPCRDMA_ERR_NOTSUP,
		"NFS version '%.*s' is not supported; version=3, 4.1 and 4.2 are",
		(int)(length > 20 ? 20 : length), value);
}

/* Handles the option "transport=". Also notes in url->has_transport that the URL has the option. */
static int
url_parse_transport(const char *value, size_t length, struct rr_url *url, struct rr_text *error)
{
	static const char *const names[] = { [RR_TRANSPORT_AUTO] = "auto",
		[RR_TRANSPORT_IWARP] = "iwarp",
		[RR_TRANSPORT_VERBS] = "verbs",
		[RR_TRANSPORT_TCP] = "tcp" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!url_word_is(value, length, names[i]))
			continue;
		url->transport = (enum rr_transport)i;
		url->has_transport = true;
		return 0;
	}
	return rr_fail(error, -RPCRDMA_ERR_INVAL,
		"there is no transport '%.*s'; there are auto, iwarp, verbs and tcp",
		(int)(length > 20 ? 20 : length), value);
}

static int
url_parse_mount_port(const char *value, size_t length, struct rr_url *url, struct rr_text *error)
{
	return url_parse_port(value, length, "mountport", &url->mount_port, error);
}

/* Handles the option "port=", whose value must not contradict a port behind the host. */
static int
url_parse_port_option(const char *value, size_t length, struct rr_url *url, struct rr_text *error)
{
	uint16_t port;
	int result = url_parse_port(value, length, "port", &port, error);

	if (result < 0)
		return result;
	if (url->port != 0 && url->port != port)
		return rr_fail(error, -RPCRDMA_ERR_INVAL, "two ports: %u behind the host, and port=%u",
			url->port, port);
	url->port = port;
	return 0;
}

/* Handles the option "rpcbind": rpcbind is to be asked for the port of NFS. value is the port of rpcbind
 * itself. If the option has no value, value is NULL, and the usual port is used. */
static int
url_parse_rpcbind(const char *value, size_t length, struct rr_url *url, struct rr_text *error)
{
	url->rpcbind = PMAP_PORT;
	return value ? url_parse_port(value, length, "rpcbind", &url->rpcbind, error) : 0;
}

static int
url_parse_uid(const char *value, size_t length, struct rr_url *url, struct rr_text *error)
{
	url->has_uid = true;
	return url_parse_id(value, length, "uid", &url->uid, error);
}

static int
url_parse_gid(const char *value, size_t length, struct rr_url *url, struct rr_text *error)
{
	url->has_gid = true;
	return url_parse_id(value, length, "gid", &url->gid, error);
}

/* Handles the option "sec=". */
static int
url_parse_sec(const char *value, size_t length, struct rr_url *url, struct rr_text *error)
{
	static const char *const names[] = { [RR_URL_SEC_SYS] = "sys",
		[RR_URL_SEC_KRB5] = "krb5",
		[RR_URL_SEC_KRB5I] = "krb5i",
		[RR_URL_SEC_KRB5P] = "krb5p" };

	for (size_t i = RR_URL_SEC_SYS; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!url_word_is(value, length, names[i]))
			continue;
		url->sec = (enum rr_url_sec)i;
		return 0;
	}
	return rr_fail(error, -RPCRDMA_ERR_INVAL,
		"there is no sec '%.*s'; there are sys, krb5, krb5i and krb5p",
		(int)(length > 20 ? 20 : length), value);
}

/* Handles the option "xprtsec=". */
static int
url_parse_xprtsec(const char *value, size_t length, struct rr_url *url, struct rr_text *error)
{
	static const char *const names[] = { [RR_URL_XPRTSEC_NONE] = "none",
		[RR_URL_XPRTSEC_TLS] = "tls",
		[RR_URL_XPRTSEC_MTLS] = "mtls",
		[RR_URL_XPRTSEC_AUTO] = "auto" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!url_word_is(value, length, names[i]))
			continue;
		url->xprtsec = (enum rr_url_xprtsec)i;
		return 0;
	}
	return rr_fail(error, -RPCRDMA_ERR_INVAL,
		"there is no xprtsec '%.*s'; there are none, tls, mtls and auto",
		(int)(length > 20 ? 20 : length), value);
}

static int
url_parse_tls_ca(const char *value, size_t length, struct rr_url *url, struct rr_text *error)
{
	return url_decode(value, length, url->tls_ca, sizeof(url->tls_ca), "path of tls-ca", error);
}

static int
url_parse_tls_cert(const char *value, size_t length, struct rr_url *url, struct rr_text *error)
{
	return url_decode(value, length, url->tls_cert, sizeof(url->tls_cert), "path of tls-cert", error);
}

static int
url_parse_tls_key(const char *value, size_t length, struct rr_url *url, struct rr_text *error)
{
	return url_decode(value, length, url->tls_key, sizeof(url->tls_key), "path of tls-key", error);
}

/* Handles the option "fingerprint=". */
static int
url_parse_fingerprint(const char *value, size_t length, struct rr_url *url, struct rr_text *error)
{
	url->has_fingerprint = rr_tls_fingerprint_get(value, length, url->fingerprint);
	return url->has_fingerprint ? 0
				    : rr_fail(error, -RPCRDMA_ERR_INVAL,
					      "fingerprint= takes sha256: and 64 hexadecimal digits, as "
					      "serve --tls prints them");
}

static const struct {
	const char *name;
	int (*parse)(const char *value, size_t length, struct rr_url *url, struct rr_text *error);
	bool alone; /* the option may stand without a value */
} options[] = {
	{ "version", url_parse_version, false },
	{ "transport", url_parse_transport, false },
	{ "mountport", url_parse_mount_port, false },
	{ "port", url_parse_port_option, false },
	{ "rpcbind", url_parse_rpcbind, true },
	{ "uid", url_parse_uid, false },
	{ "gid", url_parse_gid, false },
	{ "sec", url_parse_sec, false },
	{ "xprtsec", url_parse_xprtsec, false },
	{ "tls-ca", url_parse_tls_ca, false },
	{ "tls-cert", url_parse_tls_cert, false },
	{ "tls-key", url_parse_tls_key, false },
	{ "fingerprint", url_parse_fingerprint, false },
};

/* Parses one option of the URL: "NAME=VALUE", or "NAME" if the option may stand alone. Fails, with a text, if
 * there is no such option or its value is missing or wrong. */
static int
url_parse_option(const char *text, size_t length, struct rr_url *url, struct rr_text *error)
{
	const char *equals = memchr(text, '=', length);
	size_t name = equals ? (size_t)(equals - text) : length;

	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
		if (!url_word_is(text, name, options[i].name))
			continue;
		if (!equals && options[i].alone)
			return options[i].parse(NULL, 0, url, error);
		if (!equals)
			return rr_fail(error, -RPCRDMA_ERR_INVAL, "'=' and a value are missing behind %s",
				options[i].name);
		return options[i].parse(equals + 1, length - name - 1, url, error);
	}
	return rr_fail(error, -RPCRDMA_ERR_INVAL,
		"there is no option '%.*s'; there are version, transport, mountport, port, rpcbind, uid, "
		"gid, sec, xprtsec, tls-ca, tls-cert, tls-key and fingerprint",
		(int)(name > 40 ? 40 : name), text);
}

/* Parses the options behind the '?', which '&' separates. Empty options are ignored. */
static int
url_parse_query(const char *text, struct rr_url *url, struct rr_text *error)
{
	while (*text) {
		size_t length = strcspn(text, "&");
		int result = length == 0 ? 0 : url_parse_option(text, length, url, error);

		if (result < 0)
			return result;
		text += length;
		text += *text == '&';
	}
	return 0;
}

/* ---- The whole URL ---- */

/* Parses HOST:/PATH, in which HOST has host octets. */
static int
url_parse_short(const char *text, size_t host, struct rr_url *url, struct rr_text *error)
{
	bool has_brackets = text[0] == '[';
	const char *name = text + has_brackets, *path = text + host + 1;
	size_t length = has_brackets ? host - 2 : host;

	if (memchr(text, '@', host))
		return rr_fail(error, -RPCRDMA_ERR_INVAL,
			"a user name does not belong in HOST:/PATH; nfs://HOST/PATH?uid=N&gid=N has numbers");
	if (length == 0)
		return rr_fail(error, -RPCRDMA_ERR_INVAL, "the host is missing: HOST:/PATH");
	if (length >= sizeof(url->host))
		return rr_fail(error, -RPCRDMA_ERR_INVAL, "the host is longer than %zu octets",
			sizeof(url->host) - 1);
	if (strlen(path) >= sizeof(url->path))
		return rr_fail(error, -RPCRDMA_ERR_INVAL, "the path is longer than %zu octets",
			sizeof(url->path) - 1);
	memcpy(url->host, name, length);
	strcpy(url->path, path);
	url->port = RR_URL_RDMA_PORT;
	return 0;
}

/* Parses "nfs://", HOST[:PORT], the path and the options. The transport and a port may come as options, so
 * the usual port is set at the end. */
int
rr_url_parse(const char *text, struct rr_url *url, struct rr_text *error)
{
	size_t authority, path, host = url_short_host(text);
	int result;

	memset(url, 0, sizeof(*url));
	if (strncasecmp(text, scheme, sizeof(scheme) - 1) != 0 && host > 0)
		return url_parse_short(text, host, url, error);
	if (!rr_url_is(text) || strncmp(text + sizeof(scheme) - 1, "//", 2) != 0)
		return rr_fail(
			error, -RPCRDMA_ERR_INVAL, "a URL has the form nfs://HOST[:PORT]/PATH or HOST:/PATH");
	text += sizeof(scheme) + 1;
	authority = strcspn(text, "/?#");
	result = url_parse_authority(text, authority, url, error);
	if (result < 0)
		return result;
	text += authority;
	path = strcspn(text, "?#");
	if (text[path] == '#')
		return rr_fail(error, -RPCRDMA_ERR_INVAL,
			"'#' has no meaning in an NFS URL; write %%23 for it in a path");
	result = url_decode(path ? text : "/", path ? path : 1, url->path, sizeof(url->path), "path", error);
	if (result == 0 && text[path] == '?')
		result = url_parse_query(text + path + 1, url, error);
	url->has_port = url->port != 0;
	if (result == 0 && url->has_port && url->rpcbind)
		return rr_fail(error, -RPCRDMA_ERR_INVAL, "the port %u is given: rpcbind is not asked for it",
			url->port);
	if (result == 0 && url->port == 0 && !url->rpcbind)
		url->port = url->transport == RR_TRANSPORT_TCP ? RR_URL_TCP_PORT : RR_URL_RDMA_PORT;
	return result;
}

void
rr_url_prefer_tcp(struct rr_url *url)
{
	if (url->has_transport)
		return;
	url->transport = RR_TRANSPORT_TCP;
	if (!url->has_port && !url->rpcbind)
		url->port = RR_URL_TCP_PORT;
}
