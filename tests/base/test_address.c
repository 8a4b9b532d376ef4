/* SPDX-License-Identifier: BSD-3-Clause */
#include "../test.h"

#include <errno.h>
#include <netinet/in.h>
#include <rpcrdma/error.h>
#include <string.h>
#include <sys/un.h>

#include "base/address.h"
#include "base/errno.h"
#include "base/text.h"

enum { MAX = 4 };

static void
a_numeric_address_resolves_to_itself_with_the_port(void **state)
{
	static const struct {
		const char *host, *text;
		socklen_t size;
	} cases[] = {
		{ "127.0.0.1", "127.0.0.1:20049", sizeof(struct sockaddr_in) },
		{ "2001:db8::1", "[2001:db8::1]:20049", sizeof(struct sockaddr_in6) },
	};
	struct sockaddr_storage addresses[MAX];
	char text[RR_ADDRESS_TEXT];
	struct rr_text error;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(rr_address_resolve(cases[i].host, 20049, addresses, MAX, &error), 1);
		rr_address_text((const struct sockaddr *)&addresses[0], text, sizeof(text));
		assert_string_equal(text, cases[i].text);
		assert_int_equal(rr_address_size(&addresses[0]), cases[i].size);
		assert_int_equal(rr_address_port((const struct sockaddr *)&addresses[0]), 20049);
		rr_address_set_port((struct sockaddr *)&addresses[0], 111);
		assert_int_equal(rr_address_port((const struct sockaddr *)&addresses[0]), 111);
	}
}

static void
a_path_that_fills_its_address_ends_with_it(void **state)
{
	struct {
		struct sockaddr_un address;
		char behind[8];
	} un = { .address.sun_family = AF_UNIX, .behind = "behind" };
	char text[2 * sizeof(un)];

	(void)state;
	memset(un.address.sun_path, 'p', sizeof(un.address.sun_path));
	rr_address_text((const struct sockaddr *)&un.address, text, sizeof(text));
	assert_int_equal(strlen(text), sizeof(un.address.sun_path));
}

static void
the_text_of_an_address_is_the_address_again(void **state)
{
	const char *const texts[] = { "192.0.2.1:20049", "[2001:db8::1]:0", "[::]:65535" };
	char text[RR_ADDRESS_TEXT];

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct rr_source source = rr_address_source_of(texts[i]);

		rr_address_source_text(&source, text);
		assert_string_equal(text, texts[i]);
	}
}

static void
what_is_no_host_is_an_error_with_its_name(void **state)
{
	struct sockaddr_storage addresses[MAX];
	struct rr_text error;

	(void)state;
	assert_int_equal(
		rr_address_resolve("256.256.256.256.", 1, addresses, MAX, &error), -RPCRDMA_ERR_ADDRESS);
	assert_non_null(strstr(error.text, "256.256.256.256."));
}

static void
an_errno_of_a_connection_is_one_error_everywhere(void **state)
{
	static const struct {
		int number, error;
	} cases[] = {
		{ ECONNREFUSED, RPCRDMA_ERR_REFUSED },
		{ ETIMEDOUT, RPCRDMA_ERR_TIMEDOUT },
		{ ECONNRESET, RPCRDMA_ERR_DISCONNECTED },
		{ EPIPE, RPCRDMA_ERR_DISCONNECTED },
		{ EHOSTUNREACH, RPCRDMA_ERR_UNREACHABLE },
		{ ENETUNREACH, RPCRDMA_ERR_UNREACHABLE },
		{ ENOMEM, RPCRDMA_ERR_NOMEM },
		{ EACCES, RPCRDMA_ERR_SYSTEM },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(rr_errno_error(cases[i].number), -cases[i].error);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_numeric_address_resolves_to_itself_with_the_port),
		cmocka_unit_test(a_path_that_fills_its_address_ends_with_it),
		cmocka_unit_test(the_text_of_an_address_is_the_address_again),
		cmocka_unit_test(what_is_no_host_is_an_error_with_its_name),
		cmocka_unit_test(an_errno_of_a_connection_is_one_error_everywhere),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
