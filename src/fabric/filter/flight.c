/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/filter/flight.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/env.h"
#include "fabric/filter/capture_private.h"

enum { FLIGHT_POLL = 1 }; /* s between two looks at the calls that wait */

/* A packet that is kept. */
struct flight_packet {
	uint64_t time; /* ns since the epoch */
	uint32_t size; /* of the packet, of which only the first octets are kept */
	uint8_t octets[RR_FLIGHT_OCTETS];
};

/* A flight recorder. */
struct rr_flight {
	const char *path;
	struct rr_capture *capture;
	pthread_mutex_t lock; /* of count, is_written, ending and packets */
	uint64_t count;       /* packets so far; packet number n lies at packets[n % RR_FLIGHT_PACKETS] */
	bool is_written;      /* the file was written at least once */
	bool ending;          /* the watching thread is to end */
	/* The watching thread, if is_watched; the signal, and the silence in ns, after which it writes the
	 * file. */
	bool is_watched;
	pthread_t thread;
	int signal_number;
	uint64_t hang;
	struct flight_packet packets[RR_FLIGHT_PACKETS];
};

/* ---- Packets ---- */

/* Keeps a copy of the first RR_FLIGHT_OCTETS octets of a packet. If RR_FLIGHT_PACKETS packets are kept
 * already, the copy replaces the oldest of them. */
static void
flight_packet(void *ctx, uint64_t time, const void *data, size_t size)
{
	struct rr_flight *flight = ctx;
	struct flight_packet *packet;

	pthread_mutex_lock(&flight->lock);
	packet = &flight->packets[flight->count++ % RR_FLIGHT_PACKETS];
	packet->time = time;
	packet->size = (uint32_t)size;
	memcpy(packet->octets, data, rr_min(size, sizeof(packet->octets)));
	pthread_mutex_unlock(&flight->lock);
}

/* Called after a connection has failed: writes the packets that are kept to the recorder's file. An error in
 * writing has no effect. */
static void
flight_failed(void *ctx)
{
	/* No one asked for the file now, so nothing is done where it cannot be written. */
	(void)rr_flight_write(ctx);
}

/* ---- The file ---- */

/* Writes the packets that are kept to file, the oldest first, in the format of pcapng. */
static void
flight_put(const struct rr_flight *flight, FILE *file)
{
	uint64_t from = flight->count > RR_FLIGHT_PACKETS ? flight->count - RR_FLIGHT_PACKETS : 0;

	rr_capture_begin_file(file);
	for (uint64_t i = from; i < flight->count; i++) {
		const struct flight_packet *packet = &flight->packets[i % RR_FLIGHT_PACKETS];

		rr_capture_put_packet(file, packet->time, packet->octets,
			(uint32_t)rr_min(packet->size, sizeof(packet->octets)), packet->size);
	}
}

int
rr_flight_write(struct rr_flight *flight)
{
	bool failed = true;
	FILE *file;

	/* The lock is taken first: to open the file empties it, which another writer must not see. */
	pthread_mutex_lock(&flight->lock);
	file = fopen(flight->path, "we");
	if (file) {
		flight_put(flight, file);
		failed = ferror(file);
		failed |= fclose(file) != 0;
	}
	flight->is_written |= !failed;
	pthread_mutex_unlock(&flight->lock);
	return failed ? -RPCRDMA_ERR_SYSTEM : 0;
}

bool
rr_flight_is_written(struct rr_flight *flight)
{
	bool is_written;

	pthread_mutex_lock(&flight->lock);
	is_written = flight->is_written;
	pthread_mutex_unlock(&flight->lock);
	return is_written;
}

/* ---- The thread that watches ---- */

/* Whether the recorder's thread has been asked to end. */
static bool
flight_ends(struct rr_flight *flight)
{
	bool ending;

	pthread_mutex_lock(&flight->lock);
	ending = flight->ending;
	pthread_mutex_unlock(&flight->lock);
	return ending;
}

/* Runs as the recorder's thread until the recorder is freed: writes the file each time the signal comes, and
 * once for each call after which no peer has sent anything for longer than flight->hang. */
static void *
flight_watch(void *ctx)
{
	struct rr_flight *flight = ctx;
	const struct timespec poll = { .tv_sec = FLIGHT_POLL };
	uint64_t reported = 0;
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, flight->signal_number);
	while (!flight_ends(flight)) {
		bool asked = sigtimedwait(&set, NULL, &poll) == flight->signal_number && !flight_ends(flight);
		uint64_t since = rr_capture_waits_since(flight->capture);
		bool hangs = since && since != reported && rr_now(&rr_env_system) - since > flight->hang;

		if (hangs)
			reported = since;
		if (asked || hangs)
			(void)rr_flight_write(flight);
	}
	return NULL;
}

int
rr_flight_watch(struct rr_flight *flight, int signal_number, uint64_t hang)
{
	sigset_t all, before;

	flight->signal_number = signal_number;
	flight->hang = hang;
	/* The thread blocks all signals, so that the program's own threads take them. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	errno = pthread_create(&flight->thread, NULL, flight_watch, flight);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	flight->is_watched = errno == 0;
	return flight->is_watched ? 0 : -RPCRDMA_ERR_SYSTEM;
}

/* ---- The recorder ---- */

int
rr_flight_new(const char *path, struct rr_flight **flight)
{
	struct rr_flight *new = calloc(1, sizeof(*new));

	if (!new)
		return -RPCRDMA_ERR_NOMEM;
	new->path = path;
	if (rr_capture_new(flight_packet, new, &new->capture) < 0) {
		free(new);
		return -RPCRDMA_ERR_NOMEM;
	}
	pthread_mutex_init(&new->lock, NULL);
	rr_capture_on_failure(new->capture, flight_failed, new);
	*flight = new;
	return 0;
}

struct rr_capture *
rr_flight_capture(struct rr_flight *flight)
{
	return flight->capture;
}

void
rr_flight_free(struct rr_flight *flight)
{
	struct rr_text ignored;

	if (!flight)
		return;
	if (flight->is_watched) {
		pthread_mutex_lock(&flight->lock);
		flight->ending = true;
		pthread_mutex_unlock(&flight->lock);
		/* The thread waits for this signal, which wakes it at once. */
		pthread_kill(flight->thread, flight->signal_number);
		pthread_join(flight->thread, NULL);
	}
	rr_capture_close(flight->capture, &ignored);
	pthread_mutex_destroy(&flight->lock);
	free(flight);
}
