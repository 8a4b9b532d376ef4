/* SPDX-License-Identifier: BSD-3-Clause */
#include <arpa/inet.h>
#include <linux/filter.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../test.h"
#include "fabric/iwarp/endpoint.h"
#include "fabric/iwarp/iwarp.h"

/* The iWARP provider with TCP peers that do not speak iWARP, or do not behave. */

static uint64_t the_time;
static struct rr_env env;
static struct rr_loop *loop;
static struct rr_fabric *fabric;
static struct rr_endpoint *endpoint;
static struct sockaddr_storage address;
static struct rr_listener *listener;
static int requests, received, status;
static bool established, disconnected, holds;
static struct rr_endpoint *held;
static char text[256];

static uint64_t
now(void *ctx)
{
	(void)ctx;
	return the_time;
}

static void
handle(void *ctx, const struct rr_event *event)
{
	(void)ctx;
	established |= event->kind == RR_EVENT_ESTABLISHED;
	if (event->kind == RR_EVENT_RECEIVED) {
		assert_true(established);
		received++;
		rr_fabric_release(fabric, event->data);
	}
	if (event->kind != RR_EVENT_DISCONNECTED)
		return;
	disconnected = true;
	status = event->status;
	strncpy(text, event->text, sizeof(text) - 1);
}

static void
asked(void *ctx, struct rr_endpoint *asking, const void *data, size_t size)
{
	(void)ctx;
	(void)data;
	(void)size;
	requests++;
	held = holds ? asking : NULL;
	if (!holds)
		rr_endpoint_reject(asking, NULL, 0);
}

static int
setup(void **state)
{
	struct sockaddr_in any = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct rr_fabric_config config = rr_fabric_config_default;
	struct rr_text fault;

	(void)state;
	env = rr_env_system;
	env.log = NULL;
	env.now = now;
	endpoint = NULL;
	requests = received = 0;
	established = disconnected = holds = false;
	loop = rr_loop_new(&env);
	assert_non_null(loop);
	config.receive_max = 1;
	assert_int_equal(rr_iwarp_fabric_new(loop, &config, &fabric), 0);
	assert_int_equal(
		rr_fabric_listen(fabric, &(struct rr_listen){ (void *)&any, sizeof(any), asked, NULL },
			&listener, &fault),
		0);
	return rr_listener_address(listener, &address);
}

static int
teardown(void **state)
{
	(void)state;
	if (endpoint)
		rr_endpoint_close(endpoint);
	rr_fabric_unlisten(listener);
	rr_fabric_destroy(fabric);
	rr_loop_free(loop);
	return 0;
}

static void
turn(int turns)
{
	while (turns--)
		assert_true(rr_loop_turn(loop, 0) >= 0);
}

/* Makes a TCP listener of the test's own, has the endpoint connect to it, and returns the accepted socket. */
static int
dial_a_stranger(void)
{
	struct sockaddr_in any = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_STREAM, 0), new;
	socklen_t size = sizeof(any);
	struct rr_text fault;

	assert_int_equal(bind(fd, (void *)&any, sizeof(any)) | listen(fd, 8), 0);
	assert_int_equal(getsockname(fd, (void *)&any, &size), 0);
	assert_int_equal(rr_fabric_connect(fabric,
				 &(struct rr_connect){ (void *)&any, sizeof(any), NULL, 0, handle, NULL },
				 &endpoint, &fault),
		0);
	new = accept(fd, NULL, NULL);
	assert_true(new >= 0);
	close(fd);
	turn(3);
	return new;
}

static void
a_server_of_something_else_is_told_apart(void **state)
{
	int fd = dial_a_stranger();

	(void)state;
	assert_int_equal(write(fd, "220 mail.example.com ESMTP\r\n", 28), 28);
	turn(3);
	assert_true(disconnected);
	assert_int_equal(status, -RPCRDMA_ERR_PEER);
	assert_non_null(strstr(text, "does not speak iWARP (MPA): it answered \"220 mail"));
	close(fd);
}

static void
a_server_that_hangs_up_is_told_apart(void **state)
{
	(void)state;
	close(dial_a_stranger());
	turn(5);
	assert_true(disconnected);
	assert_int_equal(status, -RPCRDMA_ERR_PEER);
	assert_non_null(strstr(text, "it closed the connection without a reply"));
}

static void
a_server_that_does_not_answer_is_given_up(void **state)
{
	int fd = dial_a_stranger();

	(void)state;
	the_time += 9 * RR_SECOND;
	turn(2);
	assert_false(disconnected);
	the_time += 2 * RR_SECOND;
	turn(2);
	assert_true(disconnected);
	assert_int_equal(status, -RPCRDMA_ERR_TIMEDOUT);
	assert_non_null(strstr(text, "although it accepts TCP connections"));
	close(fd);
}

/* Connects to the listener of the fabric by TCP, and returns the socket. */
static int
stranger(void)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	assert_int_equal(connect(fd, (void *)&address, sizeof(struct sockaddr_in)), 0);
	return fd;
}

static bool
is_closed(int fd)
{
	char octet;

	return recv(fd, &octet, 1, MSG_DONTWAIT) == 0;
}

static void
a_request_must_come_in_time(void **state)
{
	int fd = stranger();

	(void)state;
	assert_int_equal(write(fd, "MPA ID", 6), 6);
	turn(3);
	the_time += 4 * RR_SECOND;
	turn(2);
	assert_false(is_closed(fd));
	the_time += 2 * RR_SECOND;
	turn(3);
	assert_true(is_closed(fd));
	assert_int_equal(requests, 0);
	close(fd);
}

static void
those_who_say_nothing_keep_nobody_out(void **state)
{
	int fds[RR_IWARP_PENDING_MAX + 1];

	(void)state;
	for (int i = 0; i <= RR_IWARP_PENDING_MAX; i++) {
		fds[i] = stranger();
		turn(2);
	}
	/* The connection that had waited longest made room. */
	assert_int_not_equal(recv(fds[0], &(char){ 0 }, 1, MSG_DONTWAIT), 1);
	assert_true(is_closed(fds[0]));
	assert_false(is_closed(fds[1]));
	assert_int_equal(write(fds[RR_IWARP_PENDING_MAX], "MPA ID Req Frame\0\2\0\0", 20), 20);
	turn(3);
	assert_int_equal(requests, 1);
	for (int i = 0; i <= RR_IWARP_PENDING_MAX; i++)
		close(fds[i]);
}

/* Asks for a connection, and reads the answer that it is rejected. Returns the socket. */
static int
rejected_stranger(void)
{
	int fd = stranger();
	uint8_t reply[21];

	assert_int_equal(write(fd, "MPA ID Req Frame\0\2\0\0", 20), 20);
	turn(3);
	assert_int_equal(recv(fd, reply, sizeof(reply), MSG_DONTWAIT), 20);
	assert_memory_equal(reply, "MPA ID Rep Frame\x20\2\0\0", 20);
	return fd;
}

/* RFC 5044, 7.1.4: "If the "Rejected Connection" bit is set to a '1', MPA will close the TCP connection and
 * exit." */
static void
who_is_rejected_has_the_time_to_close_first(void **state)
{
	int good = rejected_stranger(), bad = rejected_stranger();

	(void)state;
	assert_int_equal(rr_iwarp_fabric_of(fabric)->rejected_count, 2);
	assert_false(is_closed(good) || is_closed(bad));
	close(good);
	assert_int_equal(write(bad, "hello", 5), 5);
	turn(3);
	assert_int_equal(rr_iwarp_fabric_of(fabric)->rejected_count, 1);
	assert_false(is_closed(bad));
	the_time += 2 * RR_SECOND;
	turn(3);
	assert_int_equal(rr_iwarp_fabric_of(fabric)->rejected_count, 0);
	assert_true(is_closed(bad));
	close(bad);
}

static void
those_who_were_rejected_and_stay_make_room(void **state)
{
	int fds[RR_IWARP_REJECTED_MAX + 1];

	(void)state;
	for (int i = 0; i <= RR_IWARP_REJECTED_MAX; i++)
		fds[i] = rejected_stranger();
	assert_int_equal(rr_iwarp_fabric_of(fabric)->rejected_count, RR_IWARP_REJECTED_MAX);
	assert_true(is_closed(fds[0]));
	assert_false(is_closed(fds[1]));
	for (int i = 0; i <= RR_IWARP_REJECTED_MAX; i++)
		close(fds[i]);
}

/* A peer that knows revision 1 only closes the connection at the first request, and answers the second. */
static void
an_old_peer_is_asked_with_revision_1(void **state)
{
	struct sockaddr_in any = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int listening = socket(AF_INET, SOCK_STREAM, 0), fd;
	socklen_t size = sizeof(any);
	struct rr_text fault;
	uint8_t request[100];

	(void)state;
	assert_int_equal(bind(listening, (void *)&any, sizeof(any)) | listen(listening, 8), 0);
	assert_int_equal(getsockname(listening, (void *)&any, &size), 0);
	assert_int_equal(
		rr_fabric_connect(fabric,
			&(struct rr_connect){ (void *)&any, sizeof(any), "private", 7, handle, NULL },
			&endpoint, &fault),
		0);
	fd = accept(listening, NULL, NULL);
	turn(3);
	assert_int_equal(read(fd, request, sizeof(request)), 31);
	assert_memory_equal(request, "MPA ID Req Frame\x10\2", 18);
	close(fd);
	turn(5);
	assert_false(disconnected);
	fd = accept(listening, NULL, NULL);
	assert_true(fd >= 0);
	turn(5);
	assert_int_equal(read(fd, request, sizeof(request)), 27);
	assert_memory_equal(request, "MPA ID Req Frame\0\1\0\7private", 27);
	assert_int_equal(write(fd, "MPA ID Rep Frame\0\1\0\0", 20), 20);
	turn(5);
	assert_true(established);
	close(fd);
	close(listening);
}

/* A peer opens the connection and then sends nothing for a day: the owner can still disconnect. */
static void
an_idle_peer_is_waited_for_until_the_owner_disconnects(void **state)
{
	int fd = dial_a_stranger();

	(void)state;
	assert_int_equal(write(fd, "MPA ID Rep Frame\x10\2\0\4\0\1\0\1", 24), 24);
	turn(3);
	assert_true(established);
	the_time += 86400 * RR_SECOND;
	turn(3);
	assert_false(disconnected);
	rr_endpoint_disconnect(endpoint);
	turn(3);
	assert_false(disconnected);
	the_time += 2 * RR_SECOND;
	turn(3);
	assert_true(disconnected);
	assert_int_equal(status, 0);
	close(fd);
}

/* A peer that has lost its power: its TCP answers nothing any more, and does not close the connection either.
 */
static void
a_peer_that_is_half_open_ends_the_connection(void **state)
{
	struct sock_filter drop = BPF_STMT(BPF_RET | BPF_K, 0);
	const struct sock_fprog program = { 1, &drop };
	const struct rr_work work = { .kind = RR_WORK_SEND };
	int fd = dial_a_stranger();

	(void)state;
	assert_int_equal(write(fd, "MPA ID Rep Frame\x10\2\0\4\0\1\0\1", 24), 24);
	turn(3);
	assert_true(established);
	assert_true(rr_timer_armed(&rr_iwarp_endpoint_of(endpoint)->alive.timer));
	/* The limit is short in the test's clock, as TCP repeats in real time. */
	rr_alive_stop(&rr_iwarp_endpoint_of(endpoint)->alive);
	rr_alive_start(&rr_iwarp_endpoint_of(endpoint)->alive, loop, rr_iwarp_endpoint_of(endpoint)->fd,
		100 * RR_MILLISECOND);
	assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program)), 0);
	assert_int_equal(rr_endpoint_post(endpoint, &work), 0);
	for (int i = 0; i < 300 && !disconnected; i++) {
		poll(NULL, 0, 10); /* TCP repeats its segments in real time */
		the_time += 100 * RR_MILLISECOND;
		turn(2);
	}
	assert_true(disconnected);
	assert_int_equal(status, -RPCRDMA_ERR_DISCONNECTED);
	assert_non_null(strstr(text, "timed out"));
	close(fd);
}

/* The receive that half a Send holds goes back to the pool that all endpoints share. */
static void
a_message_that_stops_in_the_middle_ends_the_connection(void **state)
{
	static const char first[] = "\0\x16\x01\x43\0\0\0\0\0\0\0\0\0\0\0\1\0\0\0\0abcd\0\0\0";
	static const char second[] = "\0\x16\x41\x43\0\0\0\0\0\0\0\0\0\0\0\1\0\0\0\4ef";
	struct rr_receive_wait wait = { .link = { &wait.link, &wait.link } };
	int fd = dial_a_stranger();
	bool full;

	(void)state;
	assert_int_equal(write(fd, "MPA ID Rep Frame\x10\2\0\4\0\1\0\1", 24), 24);
	rr_endpoint_allow(endpoint, 1);
	assert_int_equal(write(fd, first, 28), 28);
	turn(5);
	assert_null(rr_receives_get(&rr_iwarp_fabric_of(fabric)->shared.receives, &wait, &full));
	the_time += 59 * RR_SECOND;
	assert_int_equal(write(fd, second, 22), 22);
	turn(5);
	/* No FPDU has come to its end meanwhile. */
	the_time += 2 * RR_SECOND;
	turn(5);
	assert_true(disconnected);
	assert_int_equal(status, -RPCRDMA_ERR_TIMEDOUT);
	rr_fabric_release(
		fabric, rr_receives_get(&rr_iwarp_fabric_of(fabric)->shared.receives, &wait, &full));
	close(fd);
}

static bool was_woken;

static void
woken(struct rr_receive_wait *wait)
{
	(void)wait;
	was_woken = true;
}

/* A Send of which half has come holds a receive. Where others wait for it, the peer has to bring the rest at
 * a least rate. */
static void
half_a_message_is_not_kept_while_others_wait(void **state)
{
	static const char half[] = "\0\x16\x01\x43\0\0\0\0\0\0\0\0\0\0\0\1\0\0\0\0abcd\0\0\0";
	struct rr_receive_wait other = { .wake = woken, .link = { &other.link, &other.link } };
	struct rr_receives *receives = &rr_iwarp_fabric_of(fabric)->shared.receives;
	int fd = dial_a_stranger();

	(void)state;
	was_woken = false;
	assert_int_equal(write(fd, "MPA ID Rep Frame\x10\2\0\4\0\1\0\1", 24), 24);
	rr_endpoint_allow(endpoint, 1);
	assert_int_equal(write(fd, half, 28), 28);
	/* Nobody waits: the peer may be as slow as it likes. */
	for (int i = 0; i < 30; i++) {
		the_time += RR_SECOND;
		turn(3);
	}
	assert_false(disconnected);
	rr_receives_wait(receives, &other);
	for (int i = 0; i < 3 && !disconnected; i++) {
		the_time += RR_SECOND;
		turn(3);
	}
	assert_true(disconnected);
	assert_int_equal(status, -RPCRDMA_ERR_TIMEDOUT);
	assert_non_null(strstr(text, "others wait"));
	assert_true(was_woken);
	rr_receives_leave(receives, &other);
	close(fd);
}

/* Other messages in between, such as RDMA Writes of no octets, do not extend the time for the rest of a Send.
 */
static void
half_a_message_is_not_kept_alive_by_others(void **state)
{
	static const char half[] = "\0\x16\x01\x43\0\0\0\0\0\0\0\0\0\0\0\1\0\0\0\0abcd\0\0\0";
	static const char other[] = "\0\x0e\xc1\x40\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0";
	int fd = dial_a_stranger();

	(void)state;
	assert_int_equal(write(fd, "MPA ID Rep Frame\x10\2\0\4\0\1\0\1", 24), 24);
	rr_endpoint_allow(endpoint, 1);
	assert_int_equal(write(fd, half, 28), 28);
	turn(5);
	for (int i = 0; i < 5 && !disconnected; i++) {
		the_time += 20 * RR_SECOND;
		assert_int_equal(write(fd, other, 20), 20);
		turn(5);
	}
	assert_true(disconnected);
	assert_int_equal(status, -RPCRDMA_ERR_TIMEDOUT);
	close(fd);
}

static void
a_reset_is_noticed_while_the_pool_is_empty(void **state)
{
	static const char fpdu[] = "\0\x16\x41\x43\0\0\0\0\0\0\0\0\0\0\0\1\0\0\0\0abcd\0\0\0";
	struct linger reset = { .l_onoff = 1 };
	struct rr_receive_wait wait = { .link = { &wait.link, &wait.link } };
	int fd = dial_a_stranger();
	uint8_t *last;
	bool full;

	(void)state;
	rr_iwarp_endpoint_of(endpoint)->iwarp.wait.assured = false; /* as if it had been accepted */
	last = rr_receives_get(&rr_iwarp_fabric_of(fabric)->shared.receives, &wait, &full);
	assert_non_null(last);
	assert_int_equal(write(fd, "MPA ID Rep Frame\x10\2\0\4\0\1\0\1", 24), 24);
	rr_endpoint_allow(endpoint, 1);
	assert_int_equal(write(fd, fpdu, 28), 28);
	turn(5);
	assert_true(established);
	assert_false(disconnected);
	assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset)), 0);
	close(fd);
	turn(5);
	assert_true(disconnected);
	assert_int_equal(status, -RPCRDMA_ERR_DISCONNECTED);
	rr_fabric_release(fabric, last);
}

/* RFC 5040, 5.2.1: "it MUST respond with a valid RDMA Read Response Message", also where the request came
 * behind a Send that had to wait. */
static void
a_read_behind_a_send_that_waited_is_answered(void **state)
{
	static const char fpdus[] = "\0\x16\x41\x43\0\0\0\0\0\0\0\0\0\0\0\1\0\0\0\0abcd\0\0\0\0"
				    "\0\x2e\x41\x41\0\0\0\0\0\0\0\1\0\0\0\1\0\0\0\0"
				    "\0\0\0\1\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0";
	struct rr_receive_wait wait = { .link = { &wait.link, &wait.link } };
	int fd = dial_a_stranger();
	uint8_t *last, response[100];
	bool full;

	(void)state;
	rr_iwarp_endpoint_of(endpoint)->iwarp.wait.assured = false; /* as if it had been accepted */
	last = rr_receives_get(&rr_iwarp_fabric_of(fabric)->shared.receives, &wait, &full);
	assert_non_null(last);
	assert_true(read(fd, response, sizeof(response)) > 0);
	assert_int_equal(write(fd, "MPA ID Rep Frame\x10\2\0\4\0\1\0\1", 24), 24);
	rr_endpoint_allow(endpoint, 1);
	assert_int_equal(write(fd, fpdus, 28 + 52), 28 + 52);
	turn(5);
	assert_int_equal(received, 0);
	rr_fabric_release(fabric, last);
	turn(3);
	assert_int_equal(received, 1);
	assert_int_equal(recv(fd, response, sizeof(response), MSG_DONTWAIT), 20);
	assert_memory_equal(response, "\0\x0e\xc1\x42\0\0\0\1", 8);
	close(fd);
}

/* RFC 5044, 7.1.2: the initiator is to wait for the reply. An initiator that does not wait is served in order
 * all the same. */
static void
a_peer_that_does_not_wait_for_the_answer_comes_after_it(void **state)
{
	static const char early[] = "MPA ID Req Frame\0\1\0\0"
				    "\0\x16\x41\x43\0\0\0\0\0\0\0\0\0\0\0\1\0\0\0\0abcd\0\0\0";
	int fd = stranger();

	(void)state;
	holds = true;
	assert_int_equal(write(fd, early, 48), 48);
	turn(3);
	assert_non_null(held);
	endpoint = held;
	rr_endpoint_allow(endpoint, 1);
	assert_int_equal(rr_endpoint_accept(endpoint, handle, NULL, NULL, 0), 0);
	turn(3);
	assert_true(established);
	assert_int_equal(received, 1);
	close(fd);
}

/* A peer that takes octets in the smallest pieces holds up a disconnection for a bounded time. */
static void
a_peer_that_takes_hardly_anything_is_not_waited_for_for_ever(void **state)
{
	enum { MUCH = 64 << 20, PIECE = 256 << 10 };
	uint8_t *much = calloc(1, MUCH);
	const struct rr_sge sge = { much, MUCH };
	const struct rr_work work = { .kind = RR_WORK_WRITE, .sge_count = 1, .sges = &sge };
	int fd = dial_a_stranger(), seconds = 0, room = 65536;

	(void)state;
	assert_int_equal(
		setsockopt(rr_iwarp_endpoint_of(endpoint)->fd, SOL_SOCKET, SO_SNDBUF, &room, sizeof(room)),
		0);
	assert_int_equal(write(fd, "MPA ID Rep Frame\x10\2\0\4\0\1\0\1", 24), 24);
	turn(3);
	assert_int_equal(rr_endpoint_post(endpoint, &work), 0);
	turn(3);
	rr_endpoint_disconnect(endpoint);
	for (; !disconnected && seconds < 100; seconds++) {
		for (ssize_t n = 0, taken = 0; taken < PIECE && n >= 0; taken += n) {
			n = read(fd, much, PIECE);
			turn(2);
		}
		the_time += RR_SECOND;
		turn(3);
	}
	assert_true(disconnected);
	assert_true(seconds >= 60);
	assert_int_equal(status, 0);
	close(fd);
	free(much);
}

int
main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(a_server_of_something_else_is_told_apart),
		TEST(a_server_that_hangs_up_is_told_apart),
		TEST(a_server_that_does_not_answer_is_given_up),
		TEST(a_request_must_come_in_time),
		TEST(those_who_say_nothing_keep_nobody_out),
		TEST(who_is_rejected_has_the_time_to_close_first),
		TEST(those_who_were_rejected_and_stay_make_room),
		TEST(an_old_peer_is_asked_with_revision_1),
		TEST(an_idle_peer_is_waited_for_until_the_owner_disconnects),
		TEST(a_peer_that_is_half_open_ends_the_connection),
		TEST(a_message_that_stops_in_the_middle_ends_the_connection),
		TEST(half_a_message_is_not_kept_while_others_wait),
		TEST(half_a_message_is_not_kept_alive_by_others),
		TEST(a_reset_is_noticed_while_the_pool_is_empty),
		TEST(a_read_behind_a_send_that_waited_is_answered),
		TEST(a_peer_that_does_not_wait_for_the_answer_comes_after_it),
		TEST(a_peer_that_takes_hardly_anything_is_not_waited_for_for_ever),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
