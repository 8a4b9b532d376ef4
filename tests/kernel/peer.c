/* SPDX-License-Identifier: BSD-3-Clause */
#include "peer.h"

#include <netdb.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/iwarp/endpoint.h"
#include "fabric/iwarp/iwarp.h"
#include "fabric/verbs/verbs.h"

static const uint64_t patience = 300 * RR_SECOND, kick_after = RR_SECOND / 2;

void
peer_fail(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	printf("# ");
	vprintf(format, args);
	printf("\n");
	va_end(args);
	exit(1);
}

uint64_t
peer_limit(void)
{
	return rr_now(&rr_env_system) + patience;
}

void
peer_turn(struct peer *peer, uint64_t limit, const char *until)
{
	peer_need(!peer->ended, "%s: the connection ended: %s (%d)", until, peer->text, peer->status);
	peer_need(rr_now(&rr_env_system) < limit, "%s: it takes too long", until);
	peer_need(rr_loop_turn(peer->loop, RR_SECOND) >= 0, "the loop failed");
}

static void
note_end(struct peer *peer, const struct rr_event *event)
{
	peer->ended = true;
	peer->status = event->status;
	snprintf(peer->text, sizeof(peer->text), "%s", event->text);
	peer_need(event->length < sizeof(peer->reason), "a reason of %u octets", event->length);
	if (event->length)
		memcpy(peer->reason, event->data, event->length);
}

static void
handle(void *ctx, const struct rr_event *event)
{
	struct peer *peer = ctx;

	switch (event->kind) {
	case RR_EVENT_ESTABLISHED: peer->established = true; break;
	case RR_EVENT_DISCONNECTED: note_end(peer, event); break;
	case RR_EVENT_COMPLETED:
		peer->completed++;
		if (!peer->work_status)
			peer->work_status = event->status;
		break;
	case RR_EVENT_RECEIVED:
		rr_loop_disarm(peer->loop, &peer->kick);
		peer_need(peer->received_count < PEER_RECEIVES, "more messages than were allowed");
		peer->received[peer->received_count++] = (struct peer_message){ event->data, event->length };
		break;
	}
}

static void
asked(void *ctx, struct rr_endpoint *endpoint, const void *data, size_t size)
{
	struct peer *peer = ctx;
	const char *reason = peer->options.reject;

	(void)data;
	(void)size;
	peer_need(!peer->established && !peer->endpoint, "one connection is enough");
	if (reason) {
		rr_endpoint_reject(endpoint, reason, strlen(reason));
		peer->ended = true;
		return;
	}
	peer->endpoint = endpoint;
	rr_endpoint_allow(endpoint, PEER_RECEIVES);
	peer_need(rr_endpoint_accept(endpoint, handle, peer, NULL, 0) == 0, "cannot accept");
}

static void
resolve(const struct peer_options *options, struct addrinfo **info)
{
	const struct addrinfo hints = { .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE,
		.ai_socktype = SOCK_STREAM };

	peer_need(getaddrinfo(options->address, options->port, &hints, info) == 0, "no address: %s %s",
		options->address, options->port);
}

/* Linux (6.1) may leave the first message lie that comes right after its reply; what comes next wakes it. */
static void
kick(struct rr_timer *timer)
{
	struct peer *peer = rr_container(timer, struct peer, kick);

	if (peer->established && !peer->ended)
		rr_endpoint_kick(peer->endpoint);
}

static void
begin(struct peer *peer)
{
	struct rr_text text = { "" };
	struct addrinfo *info;
	int error;

	resolve(&peer->options, &info);
	if (peer->options.connects)
		error = rr_fabric_connect(peer->fabric,
			&(struct rr_connect){ info->ai_addr, info->ai_addrlen, NULL, 0, handle, peer },
			&peer->endpoint, &text);
	else
		error = rr_fabric_listen(peer->fabric,
			&(struct rr_listen){ info->ai_addr, info->ai_addrlen, asked, peer }, &peer->listener,
			&text);
	peer_need(!error, "cannot begin: %s (%d)", text.text, error);
	freeaddrinfo(info);
	if (peer->options.connects)
		rr_endpoint_allow(peer->endpoint, PEER_RECEIVES);
	else
		printf("listening\n");
	fflush(stdout);
}

void
peer_open(struct peer *peer, const struct peer_options *options)
{
	struct rr_fabric_config config = rr_fabric_config_default;
	struct rr_text text = { "" };
	int error;

	*peer = (struct peer){ .options = *options, .loop = rr_loop_new(&rr_env_system) };
	peer_need(peer->loop, "no loop");
	config.receive_size = PEER_SEND_MAX;
	config.receive_max = PEER_RECEIVES;
	config.work_max = config.region_max = 16;
	config.crc = options->crc;
	config.peer_to_peer = options->peer_to_peer;
	error = options->verbs ? rr_verbs_fabric_open(peer->loop, &config, &peer->fabric, &text)
			       : rr_iwarp_fabric_new(peer->loop, &config, &peer->fabric);
	peer_need(!error, "no fabric: %s (%d)", text.text, error);
	rr_timer_init(&peer->kick, kick);
	begin(peer);
	/* A listener waits for as long as it is let live. */
	while (!options->connects && !peer->endpoint && !peer->ended)
		peer_turn(peer, UINT64_MAX, "listening");
	if (options->reject) {
		peer_until(peer, peer->ended);
		return;
	}
	peer_until(peer, peer->established);
}

/* A peer that was rejected closes the connection itself: siw loses the reason where our end comes with it. */
static void
await_rejected(struct peer *peer)
{
	struct rr_iwarp_fabric *fabric = rr_container(peer->fabric, struct rr_iwarp_fabric, base);

	while (fabric->rejected_count)
		peer_need(rr_loop_turn(peer->loop, RR_SECOND) >= 0, "the loop failed");
}

void
peer_close(struct peer *peer)
{
	if (!peer->options.verbs)
		await_rejected(peer);
	rr_loop_disarm(peer->loop, &peer->kick);
	for (uint32_t i = 0; i < peer->received_count; i++)
		rr_fabric_release(peer->fabric, peer->received[i].data);
	if (peer->endpoint)
		rr_endpoint_close(peer->endpoint);
	if (peer->listener)
		rr_fabric_unlisten(peer->listener);
	while (rr_loop_turn(peer->loop, 0) > 0)
		;
	rr_fabric_destroy(peer->fabric);
	rr_loop_free(peer->loop);
}

void
peer_post(struct peer *peer, enum rr_work_kind kind, const void *data, uint32_t length, uint32_t remote,
	uint64_t offset)
{
	const struct rr_sge sge = { data, length };
	const struct rr_work work = { .kind = kind,
		.sge_count = 1,
		.sges = &sge,
		.remote_handle = remote,
		.remote_offset = offset,
		.cookie = peer };
	int error = rr_endpoint_post(peer->endpoint, &work);

	peer_need(!error, "cannot post: %s (%d)", rpcrdma_strerror(error), error);
	peer->posted++;
	if (peer->options.connects && !peer->options.verbs && peer->posted == 1)
		rr_loop_arm(peer->loop, &peer->kick, kick_after);
}

void
peer_complete(struct peer *peer)
{
	peer_until(peer, peer->completed == peer->posted);
	if (!peer->work_status)
		return;
	while (!peer->ended)
		peer_turn(peer, peer_limit(), "the end of the connection");
	peer_fail("a work request failed: %s: %s", rpcrdma_strerror(peer->work_status), peer->text);
}

void
peer_send(struct peer *peer, const void *data, uint32_t length)
{
	peer_post(peer, RR_WORK_SEND, data, length, 0, 0);
	peer_complete(peer);
}

const struct peer_message *
peer_receive(struct peer *peer)
{
	peer_until(peer, peer->received_count > 0);
	return &peer->received[0];
}

void
peer_drop(struct peer *peer)
{
	rr_fabric_release(peer->fabric, peer->received[0].data);
	memmove(&peer->received[0], &peer->received[1], --peer->received_count * sizeof(peer->received[0]));
	rr_endpoint_allow(peer->endpoint, 1);
}

struct rr_region
peer_register(struct peer *peer, void *memory, uint32_t length, unsigned access)
{
	struct rr_region region;
	int error = rr_endpoint_register(peer->endpoint, memory, length, access, &region);

	peer_need(!error, "cannot register %u octets: %s", length, rpcrdma_strerror(error));
	return region;
}

void
peer_part(struct peer *peer)
{
	if (peer->options.connects)
		rr_endpoint_disconnect(peer->endpoint);
	peer_until(peer, peer->ended);
}
