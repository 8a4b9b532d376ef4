/* SPDX-License-Identifier: BSD-3-Clause */
/* TLS of clients and servers, with certificates that the command openssl makes. */
#include "world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct secure_world {
	struct world world;
	char folder[64], own[96], other[96], client[96];
};

/* Makes a certificate that signs itself, with its key in the same file. Returns false if there is no openssl.
 */
static bool
make(const struct secure_world *secure, const char *name, char path[96])
{
	char command[640];

	snprintf(path, 96, "%s/%s.pem", secure->folder, name);
	snprintf(command, sizeof(command),
		"openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=%s "
		"-addext "
		"subjectAltName=DNS:localhost,IP:127.0.0.1 -keyout %s/key -out %s/cert 2>/dev/null && cat "
		"%s/cert %s/key "
		">%s",
		name, secure->folder, secure->folder, secure->folder, secure->folder, path);
	return system(command) == 0;
}

static int
setup(void **state)
{
	struct secure_world *secure = calloc(1, sizeof(*secure));

	assert_non_null(secure);
	*state = secure;
	strcpy(secure->folder, "/tmp/rpcrdma-secure-XXXXXX");
	assert_non_null(mkdtemp(secure->folder));
	if (!make(secure, "own", secure->own) || !make(secure, "other", secure->other) ||
		!make(secure, "client", secure->client)) {
		print_message("# there is no command openssl to make certificates\n");
		secure->own[0] = '\0';
	}
	return 0;
}

static int
teardown(void **state)
{
	struct secure_world *secure = *state;
	char command[96];

	if (secure->world.engine) {
		rpcrdma_server_free(secure->world.server);
		rpcrdma_engine_free(secure->world.engine);
	}
	snprintf(command, sizeof(command), "rm -rf %s", secure->folder);
	assert_int_equal(system(command), 0);
	free(secure);
	return 0;
}

/* Makes an engine, whose server has the certificate `own`. Skips the test without TLS. */
static struct world *
serve(void **state, bool asks, bool only)
{
	struct secure_world *secure = *state;
	struct rpcrdma_secure_config config = { .size = sizeof(config), .only = only };
	int error;

	if (!secure->own[0])
		skip();
	config.cert = secure->own;
	config.ca = asks ? secure->client : NULL;
	assert_int_equal(rpcrdma_engine_new(NULL, &secure->world.engine), 0);
	error = rpcrdma_engine_secure(secure->world.engine, &config);
	if (error == -RPCRDMA_ERR_NOTSUP)
		skip();
	assert_int_equal(error, 0);
	world_serve(&secure->world);
	return &secure->world;
}

static int
connects(struct world *world, enum rpcrdma_transport transport, struct rpcrdma_client_config config,
	struct rpcrdma_negotiated *negotiated)
{
	struct rpcrdma_client *client = NULL;
	uint32_t number = 7, result = 0;
	int error;

	config.size = sizeof(config);
	config.transport = transport;
	config.port = transport == RPCRDMA_TRANSPORT_TCP ? world->tcp_port : world->rdma_port;
	error = rpcrdma_client_connect(world->engine, &config, &client);
	if (error)
		return error;
	error = world_call(client, CALC_ANSWER, &number, &result, NULL, 0);
	if (!error)
		assert_int_equal(result, 8);
	*negotiated = (struct rpcrdma_negotiated){ .size = sizeof(*negotiated) };
	assert_int_equal(rpcrdma_client_negotiated(client, negotiated), 0);
	rpcrdma_client_free(client);
	return error;
}

static const enum rpcrdma_transport transports[] = { RPCRDMA_TRANSPORT_TCP, RPCRDMA_TRANSPORT_RDMA,
	RPCRDMA_TRANSPORT_IWARP };

static void
calls_go_inside_of_tls(void **state)
{
	struct secure_world *secure = *state;
	struct world *world = serve(state, false, false);
	struct rpcrdma_negotiated found;

	for (int i = 0; i < 3; i++) {
		struct rpcrdma_client_config config = { .xprtsec = "tls", .tls_ca = secure->own };

		assert_int_equal(connects(world, transports[i], config, &found), 0);
		assert_string_equal(found.tls, "TLSv1.3");
		assert_false(found.tls_mutual);
		config.connections = 3;
		assert_int_equal(connects(world, transports[i], config, &found), 0);
		config.xprtsec = "auto";
		assert_int_equal(connects(world, transports[i], config, &found), 0);
		assert_string_equal(found.tls, "TLSv1.3");
		assert_int_equal(
			connects(world, transports[i], (struct rpcrdma_client_config){ 0 }, &found), 0);
		assert_null(found.tls);
	}
}

static void
who_is_not_known_is_refused(void **state)
{
	struct secure_world *secure = *state;
	struct world *world = serve(state, true, true);
	struct rpcrdma_negotiated found;

	for (int i = 0; i < 3; i++) {
		struct rpcrdma_client_config config = { .xprtsec = "tls", .tls_ca = secure->other };

		assert_int_equal(connects(world, transports[i], config, &found), -RPCRDMA_ERR_REJECTED);
		assert_non_null(strstr(rpcrdma_engine_error(world->engine), "tls-ca"));
		config = (struct rpcrdma_client_config){
			.xprtsec = "mtls", .tls_ca = secure->own, .tls_cert = secure->other
		};
		assert_int_not_equal(connects(world, transports[i], config, &found), 0);
		config.tls_cert = secure->client;
		assert_int_equal(connects(world, transports[i], config, &found), 0);
		assert_true(found.tls_mutual);
		assert_int_not_equal(
			connects(world, transports[i], (struct rpcrdma_client_config){ 0 }, &found), 0);
		config = (struct rpcrdma_client_config){ .xprtsec = "tls",
			.fingerprint =
				"sha256:0000000000000000000000000000000000000000000000000000000000000000" };
		assert_int_equal(connects(world, transports[i], config, &found), -RPCRDMA_ERR_REJECTED);
	}
}

static void
what_is_wrong_is_said(void **state)
{
	struct secure_world *secure = *state;
	struct world *world = serve(state, false, false);
	struct rpcrdma_secure_config again = { .size = sizeof(again), .cert = secure->own };
	struct rpcrdma_negotiated found;
	static const struct {
		struct rpcrdma_client_config config;
		enum rpcrdma_transport transport;
		const char *text;
	} wrong[] = {
		{ { .xprtsec = "ssl" }, RPCRDMA_TRANSPORT_TCP, "tls, mtls or auto" },
		{ { .xprtsec = "mtls" }, RPCRDMA_TRANSPORT_TCP, "tls_cert" },
		{ { .xprtsec = "tls", .fingerprint = "sha256:00" }, RPCRDMA_TRANSPORT_TCP, "64 digits" },
		{ { .xprtsec = "tls" }, RPCRDMA_TRANSPORT_VERBS, "adapter has no TLS" },
		{ { .xprtsec = "tls", .tls_ca = "/nowhere/ca" }, RPCRDMA_TRANSPORT_TCP, "/nowhere/ca" },
	};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		assert_int_equal(
			connects(world, wrong[i].transport, wrong[i].config, &found), -RPCRDMA_ERR_INVAL);
		assert_non_null(strstr(rpcrdma_engine_error(world->engine), wrong[i].text));
	}
	assert_int_equal(rpcrdma_engine_secure(world->engine, &again), -RPCRDMA_ERR_INVAL);
	assert_non_null(strstr(rpcrdma_engine_error(world->engine), "once"));
	assert_int_equal(rpcrdma_engine_secure(NULL, &again), -RPCRDMA_ERR_INVAL);
}

static void
files_are_read_again(void **state)
{
	struct secure_world *secure = *state;
	struct world *world = serve(state, false, false);
	struct rpcrdma_client_config config = { .xprtsec = "tls", .tls_ca = secure->other };
	struct rpcrdma_negotiated found;

	assert_int_equal(connects(world, RPCRDMA_TRANSPORT_TCP, config, &found), -RPCRDMA_ERR_REJECTED);
	assert_int_equal(rename(secure->other, secure->own), 0);
	config.tls_ca = secure->own;
	assert_int_equal(connects(world, RPCRDMA_TRANSPORT_TCP, config, &found), -RPCRDMA_ERR_REJECTED);
	assert_int_equal(rpcrdma_engine_secure(world->engine, NULL), 0);
	assert_int_equal(connects(world, RPCRDMA_TRANSPORT_TCP, config, &found), 0);
	assert_int_equal(unlink(secure->own), 0);
	assert_int_equal(rpcrdma_engine_secure(world->engine, NULL), -RPCRDMA_ERR_INVAL);
	assert_non_null(strstr(rpcrdma_engine_error(world->engine), secure->own));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(calls_go_inside_of_tls, setup, teardown),
		cmocka_unit_test_setup_teardown(who_is_not_known_is_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(what_is_wrong_is_said, setup, teardown),
		cmocka_unit_test_setup_teardown(files_are_read_again, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
