/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fabric [MIB]: compares RDMA Writes of 1 MiB over iWARP on the loopback, without and with CRC, to a plain
 * TCP stream of the same octets in writes of 1 MiB; they run in turns, each between two threads. Prints all
 * rates, their medians, and the ratio of iWARP to TCP; fails below 0.9 without CRC and 0.7 with it.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "fabric/iwarp/iwarp.h"

enum { MESSAGE = 1 << 20, WINDOW = 8, ROUNDS = 7 };

static uint32_t messages = 1024;
static uint8_t *source, *sink;

static double
seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void __attribute__((noreturn)) fail(const char *what)
{
	fprintf(stderr, "fabric: %s\n", what);
	exit(1);
}

static struct sockaddr_in
loopback(void)
{
	return (struct sockaddr_in){ .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
}

/* ---- TCP ---- */

static void *
receive_stream(void *arg)
{
	int fd = accept(*(int *)arg, NULL, NULL);
	size_t got = 0;

	while (got < (size_t)messages * MESSAGE) {
		ssize_t n = read(fd, sink + got % (WINDOW * (size_t)MESSAGE), MESSAGE - got % MESSAGE);

		if (n <= 0)
			fail("the stream broke");
		got += (size_t)n;
	}
	if (write(fd, "x", 1) != 1)
		fail("the stream broke");
	close(fd);
	return NULL;
}

/* Sends all octets by a TCP stream; returns the seconds that it took. */
static double
stream(void)
{
	struct sockaddr_in address = loopback();
	socklen_t size = sizeof(address);
	int listening = socket(AF_INET, SOCK_STREAM, 0), fd = socket(AF_INET, SOCK_STREAM, 0);
	size_t put = 0;
	pthread_t thread;
	double start;
	char octet;

	if (bind(listening, (void *)&address, size) || listen(listening, 1) ||
		getsockname(listening, (void *)&address, &size) ||
		pthread_create(&thread, NULL, receive_stream, &listening) ||
		connect(fd, (void *)&address, size))
		fail("no connection");
	start = seconds();
	while (put < (size_t)messages * MESSAGE) {
		ssize_t n = write(fd, source + put % (WINDOW * (size_t)MESSAGE), MESSAGE - put % MESSAGE);

		if (n <= 0)
			fail("the stream broke");
		put += (size_t)n;
	}
	if (read(fd, &octet, 1) != 1)
		fail("the stream broke");
	start = seconds() - start;
	pthread_join(thread, NULL);
	close(fd);
	close(listening);
	return start;
}

/* ---- iWARP ---- */

struct end {
	struct rr_loop *loop;
	struct rr_fabric *fabric;
	struct rr_listener *listener;
	struct rr_endpoint *endpoint;
	struct rr_region region; /* the receiver's region; in the sender, as the receiver has sent it */
	uint32_t posted;
	bool over;
	double start, end;
};

static void
make_end(struct end *end, bool crc)
{
	struct rr_fabric_config config = rr_fabric_config_default;

	*end = (struct end){ 0 };
	config.crc = crc;
	end->loop = rr_loop_new(&rr_env_system);
	if (!end->loop || rr_iwarp_fabric_new(end->loop, &config, &end->fabric))
		fail("no memory");
}

static void
free_end(struct end *end)
{
	if (end->endpoint)
		rr_endpoint_close(end->endpoint);
	if (end->listener)
		rr_fabric_unlisten(end->listener);
	rr_fabric_destroy(end->fabric);
	rr_loop_free(end->loop);
}

static void
send_message(struct end *end, const void *data, uint32_t size)
{
	struct rr_sge sge = { data, size };
	struct rr_work work = { .kind = RR_WORK_SEND, .sge_count = 1, .sges = &sge };

	if (rr_endpoint_post(end->endpoint, &work))
		fail("a Send could not be posted");
}

static void
receiver_event(void *ctx, const struct rr_event *event)
{
	struct end *end = ctx;

	if (event->kind == RR_EVENT_DISCONNECTED)
		end->over = true;
	if (event->kind != RR_EVENT_RECEIVED)
		return;
	rr_fabric_release(end->fabric, event->data);
	/* The first message asks for the region to write to; the last says that all has been written. */
	if (!end->region.handle &&
		rr_endpoint_register(end->endpoint, sink, WINDOW * MESSAGE, RR_REMOTE_WRITE, &end->region))
		fail("no region");
	send_message(end, &end->region, sizeof(end->region));
}

static void
requested(void *ctx, struct rr_endpoint *endpoint, const void *data, size_t size)
{
	struct end *end = ctx;

	(void)data;
	(void)size;
	end->endpoint = endpoint;
	rr_endpoint_allow(endpoint, 2);
	if (rr_endpoint_accept(endpoint, receiver_event, end, NULL, 0))
		fail("no connection");
}

static void *
receive_writes(void *arg)
{
	struct end *end = arg;

	while (!end->over)
		rr_loop_turn(end->loop, -1);
	return NULL;
}

static void
post_next(struct end *end)
{
	size_t at = (size_t)(end->posted % WINDOW) * MESSAGE;
	struct rr_sge sge = { source + at, MESSAGE };
	struct rr_work work = { .kind = RR_WORK_WRITE,
		.sge_count = 1,
		.sges = &sge,
		.remote_handle = end->region.handle,
		.remote_offset = end->region.offset + at,
		.cookie = end };

	if (end->posted == messages)
		return;
	if (rr_endpoint_post(end->endpoint, &work))
		fail("a Write could not be posted");
	if (++end->posted == messages)
		send_message(end, "", 1);
}

static void
sender_event(void *ctx, const struct rr_event *event)
{
	struct end *end = ctx;

	if (event->kind == RR_EVENT_DISCONNECTED)
		fail(event->text);
	if (event->kind == RR_EVENT_ESTABLISHED)
		send_message(end, "", 1);
	if (event->kind == RR_EVENT_COMPLETED)
		post_next(end);
	if (event->kind != RR_EVENT_RECEIVED)
		return;
	memcpy(&end->region, event->data, sizeof(end->region));
	rr_fabric_release(end->fabric, event->data);
	if (end->posted) {
		end->end = seconds();
		return;
	}
	end->start = seconds();
	for (int i = 0; i < WINDOW; i++)
		post_next(end);
}

/* Sends all octets by RDMA Writes; returns the seconds that it took. */
static double
writes(bool crc)
{
	struct sockaddr_in address = loopback();
	struct sockaddr_storage bound;
	struct end receiver, sender;
	struct rr_text text = { "" };
	pthread_t thread;

	make_end(&receiver, crc);
	make_end(&sender, crc);
	if (rr_fabric_listen(receiver.fabric,
		    &(struct rr_listen){ (void *)&address, sizeof(address), requested, &receiver },
		    &receiver.listener, &text) ||
		rr_listener_address(receiver.listener, &bound) ||
		pthread_create(&thread, NULL, receive_writes, &receiver) ||
		rr_fabric_connect(sender.fabric,
			&(struct rr_connect){ (void *)&bound, sizeof(bound), NULL, 0, sender_event, &sender },
			&sender.endpoint, &text))
		fail(text.text);
	rr_endpoint_allow(sender.endpoint, 2);
	while (sender.end == 0)
		rr_loop_turn(sender.loop, -1);
	rr_endpoint_close(sender.endpoint);
	sender.endpoint = NULL;
	pthread_join(thread, NULL);
	free_end(&sender);
	free_end(&receiver);
	if (memcmp(source, sink, WINDOW * MESSAGE) != 0)
		fail("wrong octets arrived");
	memset(sink, 0, WINDOW * MESSAGE);
	return sender.end - sender.start;
}

/* ---- Both ways ---- */

static int
compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double
report(const char *name, double *times)
{
	qsort(times, ROUNDS, sizeof(*times), compare);
	printf("%-24s", name);
	for (int i = 0; i < ROUNDS; i++)
		printf(" %5.0f", messages / times[i]);
	printf(" MiB/s, median %.0f\n", messages / times[ROUNDS / 2]);
	return times[ROUNDS / 2];
}

int
main(int argc, char **argv)
{
	double times[3][ROUNDS], medians[3], plain, checked;
	bool good;

	if (argc > 1)
		messages = (uint32_t)strtoul(argv[1], NULL, 10);
	source = aligned_alloc(4096, WINDOW * MESSAGE);
	sink = aligned_alloc(4096, WINDOW * MESSAGE);
	if (!source || !sink || messages < WINDOW)
		fail("at least 8 MiB are wanted, and memory");
	for (uint32_t i = 0; i < WINDOW * MESSAGE; i++)
		source[i] = (uint8_t)(i * 7 + i / 255);
	for (int i = 0; i < ROUNDS; i++) {
		times[0][i] = stream();
		times[1][i] = writes(false);
		times[2][i] = writes(true);
	}
	medians[0] = report("TCP stream", times[0]);
	medians[1] = report("RDMA Write", times[1]);
	medians[2] = report("RDMA Write with CRC32c", times[2]);
	plain = medians[0] / medians[1];
	checked = medians[0] / medians[2];
	good = plain >= 0.9 && checked >= 0.7;
	printf("target RDMA Write without CRC, of a TCP stream: wanted at least 0.9, measured %.2f\n", plain);
	printf("target RDMA Write with CRC32c, of a TCP stream: wanted at least 0.7, measured %.2f\n",
		checked);
	printf("%d passed, %d failed\n", good, !good);
	return good ? 0 : 1;
}
