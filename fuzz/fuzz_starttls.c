/* SPDX-License-Identifier: BSD-3-Clause */
/* Target functions: rr_tcp_starttls_called, rr_tcp_starttls_ask, rr_tcp_starttls_ready. What a peer may send
 * in place of a probe for TLS, of its answer and of a handshake, to a carrier in either role over a pair of
 * sockets. The first octet chooses the role and the pieces. An answer to this side's probe gets the XID of
 * the probe.
 *
 * Properties: STARTTLS comes only for a probe, and no RPC message in the clear after it; the side that
 * demands TLS sends nothing in the clear but its probe, and is not connected without TLS. */
#include <netinet/in.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../tests/certificate.h"
#include "base/endian.h"
#include "carrier/tcp/tcp_private.h"
#include "fuzz.h"

enum { PROBE = 44, AGREED = 36, TURNS = 8, HEARD = 65536 };

static struct rpcrdma_engine *engine;
static struct rr_secure secure = { .name = "localhost" };
static bool connected;
static uint8_t heard[HEARD];
static size_t heard_size;

static void
on_connected(void *ctx)
{
	(void)ctx;
	connected = true;
}

static void
on_call(void *ctx, struct rr_exchange *exchange)
{
	(void)ctx;
	rr_exchange_drop(exchange);
}

static const struct rr_carrier_events events = { .connected = on_connected, .call = on_call };

static void
quiet(void *ctx, enum rr_log_level level, const char *line)
{
	(void)ctx, (void)level, (void)line;
}

/* Makes the engine, with the certificate of the tests in a file that is removed again. Returns false if there
 * is no OpenSSL. */
static bool
begin(void)
{
	static struct rr_env env;
	struct rr_engine_config config = rr_engine_config_default;
	char path[] = "/tmp/fuzz-starttls-XXXXXX";
	struct rr_tls_files files = { .cert = path, .ca = path };
	struct rr_text text;
	int fd = mkstemp(path);
	bool good = fd >= 0 && write(fd, rr_test_certificate, sizeof(rr_test_certificate) - 1) > 0 &&
		    rr_tls_new(true, &files, &config.tls, &text) == 0 &&
		    rr_tls_new(false, &files, &secure.tls, &text) == 0;

	close(fd);
	unlink(path);
	env = rr_env_system;
	env.log = quiet;
	return good && rr_engine_new(&env, &config, &engine) == 0;
}

static void
turn(int peer)
{
	for (int i = 0; i < TURNS; i++) {
		ssize_t got;

		rr_loop_turn(engine->loop, 0);
		got = recv(peer, heard + heard_size, HEARD - heard_size, MSG_DONTWAIT);
		heard_size += got > 0 ? (size_t)got : 0;
	}
}

static bool
is_agreed(void)
{
	return heard_size >= AGREED && memcmp(heard + 24, "STARTTLS", 8) == 0 && rr_get_be32(heard + 20) == 8;
}

static void
check_accepted(const uint8_t *data, size_t size)
{
	static const uint8_t rest[16];

	if (!is_agreed())
		return;
	if (size < PROBE || rr_get_be32(data + 24) != 0 || rr_get_be32(data + 28) != RR_AUTH_TLS ||
		memcmp(data + 32, rest, 12) != 0)
		abort();
	/* Alerts and handshakes of TLS. */
	if (heard_size > AGREED && heard[AGREED] != 0x15 && heard[AGREED] != 0x16)
		abort();
}

static void
check_connected(void)
{
	if (connected || heard_size < PROBE ||
		(heard_size > PROBE && heard[PROBE] != 0x15 && heard[PROBE] != 0x16))
		abort();
}

/* The carrier of the role; NULL if there is none. */
static struct rr_tcp *
carrier_of(bool accepts, int fd)
{
	const struct sockaddr_in peer = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct rr_carriers *carriers = NULL;
	struct rr_text text;
	struct rr_tcp *tcp;

	rr_list_for_each (link, &engine->carriers) {
		struct rr_carriers *kind = rr_container(link, struct rr_carriers, link);

		if (kind->ops == &rr_tcp_carriers)
			carriers = kind;
	}
	if (rr_tcp_new(carriers, fd, (const struct sockaddr *)&peer,
		    accepts ? RR_TCP_OPEN : RR_TCP_CONNECTING, &tcp, &text) < 0)
		return NULL;
	tcp->wants = accepts ? NULL : &secure;
	rr_carrier_attach(&tcp->base, &events, NULL);
	return tcp;
}

/* Sends the octets of the peer, in two pieces; the answer to a probe has the XID of the probe. exact: the
 * second piece is what comes behind the probe, or behind its answer. */
static void
send_pieces(int peer, uint8_t *data, size_t size, bool accepts, bool exact)
{
	size_t probe = accepts ? PROBE : AGREED, first = exact && size > probe ? probe : size / 2;

	if (!accepts && size >= 8 && heard_size >= PROBE)
		memcpy(data + 4, heard + 4, 4);
	(void)send(peer, data, first, MSG_NOSIGNAL | MSG_DONTWAIT);
	turn(peer);
	(void)send(peer, data + first, size - first, MSG_NOSIGNAL | MSG_DONTWAIT);
	turn(peer);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static bool begun, good;
	bool accepts = size > 0 && data[0] & 1;
	uint8_t *copy;
	struct rr_tcp *tcp;
	int pair[2];

	if (!begun)
		good = begin();
	begun = true;
	if (!good || size < 2 || socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair) < 0)
		return 0;
	copy = malloc(size - 1);
	if (!copy)
		abort();
	memcpy(copy, data + 1, size - 1);
	connected = false;
	heard_size = 0;
	tcp = carrier_of(accepts, pair[0]);
	if (!tcp)
		abort();
	turn(pair[1]);
	send_pieces(pair[1], copy, size - 1, accepts, data[0] & 2);
	if (accepts)
		check_accepted(copy, size - 1);
	else
		check_connected();
	rr_carrier_close(&tcp->base);
	close(pair[1]);
	rr_loop_turn(engine->loop, 0);
	free(copy);
	return 0;
}
