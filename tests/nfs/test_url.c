/* SPDX-License-Identifier: BSD-3-Clause */
#include "../test.h"

#include <rpcrdma/error.h>
#include <stdio.h>
#include <string.h>

#include "base/address.h"
#include "base/text.h"
#include "nfs/url.h"

static const struct {
	const char *text, *host, *path;
	uint16_t port, mount_port;
	enum rr_transport transport;
} good[] = {
	{ "nfs://h", "h", "/", 20049, 0, RR_TRANSPORT_AUTO },
	{ "nfs://h/", "h", "/", 20049, 0, RR_TRANSPORT_AUTO },
	{ "NFS://h/a/b", "h", "/a/b", 20049, 0, RR_TRANSPORT_AUTO },
	{ "nfs://192.0.2.1:1/x", "192.0.2.1", "/x", 1, 0, RR_TRANSPORT_AUTO },
	{ "nfs://[2001:db8::1]/x", "2001:db8::1", "/x", 20049, 0, RR_TRANSPORT_AUTO },
	{ "nfs://[::1]:65535/", "::1", "/", 65535, 0, RR_TRANSPORT_AUTO },
	{ "nfs://[fe80::1%25eth0]/", "fe80::1%eth0", "/", 20049, 0, RR_TRANSPORT_AUTO },
	{ "nfs://h/a%20b%2fc%25", "h", "/a b/c%", 20049, 0, RR_TRANSPORT_AUTO },
	{ "nfs://h/a+b", "h", "/a+b", 20049, 0, RR_TRANSPORT_AUTO },
	{ "nfs://h/a%3f%23?version=3", "h", "/a?#", 20049, 0, RR_TRANSPORT_AUTO },
	{ "nfs://h/x?transport=tcp", "h", "/x", 2049, 0, RR_TRANSPORT_TCP },
	{ "nfs://h:7/x?transport=tcp", "h", "/x", 7, 0, RR_TRANSPORT_TCP },
	{ "nfs://h?transport=iwarp&mountport=900", "h", "/", 20049, 900, RR_TRANSPORT_IWARP },
	{ "nfs://h/x?transport=verbs", "h", "/x", 20049, 0, RR_TRANSPORT_VERBS },
	{ "nfs://h/?&transport=auto&&port=5&", "h", "/", 5, 0, RR_TRANSPORT_AUTO },
	{ "nfs://h:5/?port=5", "h", "/", 5, 0, RR_TRANSPORT_AUTO },
	/* As mount(8) takes it: nothing of it has another meaning. */
	{ "h:/", "h", "/", 20049, 0, RR_TRANSPORT_AUTO },
	{ "server.example:/a%20b?version=3#x", "server.example", "/a%20b?version=3#x", 20049, 0,
		RR_TRANSPORT_AUTO },
	{ "[2001:db8::1]:/x:/y", "2001:db8::1", "/x:/y", 20049, 0, RR_TRANSPORT_AUTO },
	{ "[fe80::1%eth0]:/", "fe80::1%eth0", "/", 20049, 0, RR_TRANSPORT_AUTO },
};

static const struct {
	const char *text, *says;
	int error;
} bad[] = {
	{ "nfs:", "form", -RPCRDMA_ERR_INVAL },
	{ "nfs:/h/x", "form", -RPCRDMA_ERR_INVAL },
	{ "http://h/", "form", -RPCRDMA_ERR_INVAL },
	{ "nfs://", "host is missing", -RPCRDMA_ERR_INVAL },
	{ "nfs:///x", "host is missing", -RPCRDMA_ERR_INVAL },
	{ "nfs://:1/x", "host is missing", -RPCRDMA_ERR_INVAL },
	{ "nfs://[]/x", "host is missing", -RPCRDMA_ERR_INVAL },
	{ "nfs://[::1/x", "']' is missing", -RPCRDMA_ERR_INVAL },
	{ "nfs://[::1]x/", "may follow ']'", -RPCRDMA_ERR_INVAL },
	{ "nfs://::1/x", "brackets", -RPCRDMA_ERR_INVAL },
	{ "nfs://me@h/", "user name", -RPCRDMA_ERR_INVAL },
	{ "nfs://h:/", "port number", -RPCRDMA_ERR_INVAL },
	{ "nfs://h:0/", "port number", -RPCRDMA_ERR_INVAL },
	{ "nfs://h:65536/", "port number", -RPCRDMA_ERR_INVAL },
	{ "nfs://h:99999999999999999999/", "port number", -RPCRDMA_ERR_INVAL },
	{ "nfs://h:+1/", "port number", -RPCRDMA_ERR_INVAL },
	{ "nfs://h/a%", "two hexadecimal digits", -RPCRDMA_ERR_INVAL },
	{ "nfs://h/a%4", "two hexadecimal digits", -RPCRDMA_ERR_INVAL },
	{ "nfs://h/a%4?version=3", "two hexadecimal digits", -RPCRDMA_ERR_INVAL },
	{ "nfs://h/a%0g", "two hexadecimal digits", -RPCRDMA_ERR_INVAL },
	{ "nfs://h/a%00b", "other than 00", -RPCRDMA_ERR_INVAL },
	{ "nfs://h/a#b", "'#'", -RPCRDMA_ERR_INVAL },
	{ "[]:/x", "host is missing", -RPCRDMA_ERR_INVAL },
	{ "me@h:/x", "user name", -RPCRDMA_ERR_INVAL },
	{ "nfs://h/?version=4", "'4'", -RPCRDMA_ERR_NOTSUP },
	{ "nfs://h/?version=4.0", "'4.0'", -RPCRDMA_ERR_NOTSUP },
	{ "nfs://h/?version=4.22", "'4.22'", -RPCRDMA_ERR_NOTSUP },
	{ "nfs://h/?version=", "version", -RPCRDMA_ERR_NOTSUP },
	{ "nfs://h/?transport=udp", "'udp'", -RPCRDMA_ERR_INVAL },
	{ "nfs://h/?transport", "value", -RPCRDMA_ERR_INVAL },
	{ "nfs://h/?mountport=x", "mountport 'x'", -RPCRDMA_ERR_INVAL },
	{ "nfs://h:5/?port=6", "two ports", -RPCRDMA_ERR_INVAL },
	{ "nfs://h/?uid=-1", "uid '-1'", -RPCRDMA_ERR_INVAL },
	{ "nfs://h/?gid=4294967296", "gid", -RPCRDMA_ERR_INVAL },
	{ "nfs://h/?colour=red", "'colour'", -RPCRDMA_ERR_INVAL },
	{ "nfs://h:5/?rpcbind", "the port 5 is given", -RPCRDMA_ERR_INVAL },
	{ "nfs://h/?rpcbind=112&port=5", "the port 5 is given", -RPCRDMA_ERR_INVAL },
	{ "nfs://h/?rpcbind=", "rpcbind ''", -RPCRDMA_ERR_INVAL },
	{ "nfs://h/?rpcbind=0", "rpcbind '0'", -RPCRDMA_ERR_INVAL },
};

static void
good_urls_are_taken_apart(void **state)
{
	struct rr_text error;
	struct rr_url url;

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		if (rr_url_parse(good[i].text, &url, &error) != 0)
			fail_msg("%s: %s", good[i].text, error.text);
		assert_string_equal(url.host, good[i].host);
		assert_string_equal(url.path, good[i].path);
		assert_int_equal(url.port, good[i].port);
		assert_int_equal(url.mount_port, good[i].mount_port);
		assert_int_equal(url.transport, good[i].transport);
		assert_false(url.has_uid || url.has_gid);
	}
}

static void
bad_urls_are_refused_and_the_text_says_why(void **state)
{
	struct rr_text error;
	struct rr_url url;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		if (rr_url_parse(bad[i].text, &url, &error) != bad[i].error)
			fail_msg("%s was not refused as it should", bad[i].text);
		if (!strstr(error.text, bad[i].says))
			fail_msg("%s: %s", bad[i].text, error.text);
	}
}

static void
rpcbind_takes_the_place_of_a_port(void **state)
{
	struct rr_text error;
	struct rr_url url;

	(void)state;
	assert_int_equal(rr_url_parse("nfs://h/x?rpcbind", &url, &error), 0);
	assert_int_equal(url.rpcbind, 111);
	assert_int_equal(url.port, 0);
	assert_int_equal(rr_url_parse("nfs://h/x?rpcbind=7&version=3", &url, &error), 0);
	assert_int_equal(url.rpcbind, 7);
	rr_url_prefer_tcp(&url);
	assert_int_equal(url.port, 0);
	assert_int_equal(url.transport, RR_TRANSPORT_TCP);
	assert_int_equal(rr_url_parse("nfs://h/x", &url, &error), 0);
	assert_int_equal(url.rpcbind, 0);
}

static void
identities_are_numbers(void **state)
{
	struct rr_text error;
	struct rr_url url;

	(void)state;
	assert_int_equal(rr_url_parse("nfs://h/?uid=0&gid=4294967295", &url, &error), 0);
	assert_true(url.has_uid && url.has_gid);
	assert_int_equal(url.uid, 0);
	assert_int_equal(url.gid, UINT32_MAX);
}

static void
what_is_too_long_is_refused(void **state)
{
	static char text[RR_URL_PATH + RR_URL_HOST + 64];
	struct rr_text error;
	struct rr_url url;

	(void)state;
	snprintf(text, sizeof(text), "nfs://h/%0*d", RR_URL_PATH - 2, 0);
	assert_int_equal(rr_url_parse(text, &url, &error), 0);
	snprintf(text, sizeof(text), "nfs://h/%0*d", RR_URL_PATH - 1, 0);
	assert_int_equal(rr_url_parse(text, &url, &error), -RPCRDMA_ERR_INVAL);
	snprintf(text, sizeof(text), "nfs://%0*d/", RR_URL_HOST, 0);
	assert_int_equal(rr_url_parse(text, &url, &error), -RPCRDMA_ERR_INVAL);
	snprintf(text, sizeof(text), "h:/%0*d", RR_URL_PATH - 2, 0);
	assert_int_equal(rr_url_parse(text, &url, &error), 0);
	snprintf(text, sizeof(text), "h:/%0*d", RR_URL_PATH - 1, 0);
	assert_int_equal(rr_url_parse(text, &url, &error), -RPCRDMA_ERR_INVAL);
	snprintf(text, sizeof(text), "%0*d:/", RR_URL_HOST - 1, 0);
	assert_int_equal(rr_url_parse(text, &url, &error), 0);
	snprintf(text, sizeof(text), "%0*d:/", RR_URL_HOST, 0);
	assert_int_equal(rr_url_parse(text, &url, &error), -RPCRDMA_ERR_INVAL);
}

static void
local_paths_are_no_urls(void **state)
{
	(void)state;
	assert_true(rr_url_is("nfs:"));
	assert_true(rr_url_is("Nfs://h"));
	assert_false(rr_url_is("nfs"));
	assert_false(rr_url_is("./nfs://h"));
	assert_false(rr_url_is("/nfs:"));
	assert_true(rr_url_is("h:/"));
	assert_true(rr_url_is("[::1]:/x"));
	assert_false(rr_url_is("./h:/x"));
	assert_false(rr_url_is("/h:/x"));
	assert_false(rr_url_is("../h:/x"));
	assert_false(rr_url_is("h:x"));
	assert_false(rr_url_is("h:"));
	assert_false(rr_url_is(":/x"));
	assert_false(rr_url_is("a:b:/x"));
	assert_false(rr_url_is("[::1]/x"));
	assert_false(rr_url_is("[::1/]:/x"));
	assert_false(rr_url_is("tcp://h/x"));
	assert_false(rr_url_is(""));
}

static void
numeric_hosts_resolve_to_themselves(void **state)
{
	struct sockaddr_storage addresses[4];
	struct rr_text error;
	struct rr_url url;

	(void)state;
	assert_int_equal(rr_url_parse("nfs://127.0.0.1:7/", &url, &error), 0);
	assert_int_equal(rr_address_resolve(url.host, url.port, addresses, 4, &error), 1);
	assert_int_equal(addresses[0].ss_family, AF_INET);
	assert_int_equal(rr_url_parse("nfs://256.0.0.1/", &url, &error), 0);
	assert_int_equal(rr_address_resolve(url.host, url.port, addresses, 4, &error), -RPCRDMA_ERR_ADDRESS);
	assert_non_null(strstr(error.text, "256.0.0.1"));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(good_urls_are_taken_apart),
		cmocka_unit_test(bad_urls_are_refused_and_the_text_says_why),
		cmocka_unit_test(rpcbind_takes_the_place_of_a_port),
		cmocka_unit_test(identities_are_numbers),
		cmocka_unit_test(what_is_too_long_is_refused),
		cmocka_unit_test(local_paths_are_no_urls),
		cmocka_unit_test(numeric_hosts_resolve_to_themselves),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
