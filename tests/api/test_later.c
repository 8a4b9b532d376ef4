/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests that handlers keep, and answer later: over both versions of RPC-over-RDMA, and over TCP. */
#include "world.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CALLS = 12 };

/* What the test's handler keeps, and the calls of the test. One test runs at a time. */
static struct {
	struct rpcrdma_request *kept[CALLS];
	uint32_t count, lost;
	bool ends_when_lost, ends_all_when_lost;
	struct rpcrdma_timer *timer;
	pthread_t thread;
	struct rpcrdma_post post;
	int error; /* of ending */
} desk;

struct call {
	bool done;
	int error;
	uint32_t number, result;
};

static void
end_at(uint32_t place, enum rpcrdma_handled handled)
{
	struct rpcrdma_request *request = desk.kept[place];

	desk.kept[place] = desk.kept[--desk.count];
	desk.error = rpcrdma_request_end(request, handled);
}

static void
end_all(void)
{
	while (desk.count > 0)
		end_at(0, RPCRDMA_HANDLED);
}

static void
lost(void *ctx, struct rpcrdma_request *request)
{
	uint32_t place = 0;

	assert_ptr_equal(ctx, &desk);
	desk.lost++;
	while (desk.kept[place] != request)
		place++;
	assert_true(place < desk.count);
	if (desk.ends_all_when_lost)
		end_all();
	else if (desk.ends_when_lost)
		end_at(place, RPCRDMA_HANDLE_DROP);
}

static void
keep(struct world *world)
{
	assert_true(desk.count < CALLS);
	desk.kept[desk.count++] = world->request;
	assert_int_equal(rpcrdma_request_on_lost(world->request, lost, &desk), 0);
	/* The handler has not returned yet. */
	assert_int_equal(rpcrdma_request_end(world->request, RPCRDMA_HANDLED), -RPCRDMA_ERR_INVAL);
}

static void
begin(struct world *world)
{
	memset(&desk, 0, sizeof(desk));
	world->answer = RPCRDMA_HANDLE_KEPT;
	world->inside = keep;
}

static void
done(void *ctx, struct rpcrdma_call *handle, int error)
{
	struct call *call = ctx;

	(void)handle;
	call->done = true;
	call->error = error;
}

static void
start(struct rpcrdma_client *client, struct call *call, uint32_t number)
{
	struct rpcrdma_call_config config;

	*call = (struct call){ .number = number };
	config = world_call_config(CALC_ANSWER, &call->number, &call->result);
	config.done = done;
	config.ctx = call;
	assert_int_equal(rpcrdma_client_call(client, &config, NULL), 0);
}

/* RFC 8166, 3.3.3: before the first reply there is one credit, which a call that is kept would hold. */
static void
warm_up(struct rpcrdma_client *client)
{
	assert_int_equal(world_call(client, CALC_NULL, NULL, NULL, NULL, 0), 0);
}

static struct rpcrdma_client *
connect_warm(struct world *world)
{
	struct rpcrdma_client *client =
		world_connect(world, world->transport, (struct rpcrdma_client_config){ 0 });

	warm_up(client);
	return client;
}

static void
assert_answered(struct world *world, const struct call *call)
{
	world_until(world, call->done);
	assert_int_equal(call->error, 0);
	assert_int_equal(call->result, call->number + 1);
}

static void
answer_now(void *ctx)
{
	(void)ctx;
	end_all();
	rpcrdma_timer_free(desk.timer);
}

static void
a_timer_answers(void **state)
{
	struct world *world = *state;
	struct call call;

	begin(world);
	start(world->client, &call, 7);
	world_until(world, desk.count == 1);
	warm_up(world->client); /* others are served meanwhile */
	assert_false(call.done);
	assert_int_equal(rpcrdma_timer_new(world->engine, answer_now, NULL, &desk.timer), 0);
	rpcrdma_timer_arm(desk.timer, 1000000);
	assert_answered(world, &call);
	assert_int_equal(desk.error, 0);
}

static void
hand_back(void *ctx)
{
	(void)ctx;
	end_all();
}

static void *
work(void *engine)
{
	desk.post = (struct rpcrdma_post){ .run = hand_back };
	assert_int_equal(rpcrdma_engine_post(engine, &desk.post), 0);
	return NULL;
}

static void
a_thread_answers(void **state)
{
	struct world *world = *state;
	struct call call;

	begin(world);
	start(world->client, &call, 8);
	world_until(world, desk.count == 1);
	assert_int_equal(pthread_create(&desk.thread, NULL, work, world->engine), 0);
	assert_answered(world, &call);
	pthread_join(desk.thread, NULL);
}

static void
any_answer_may_come_later(void **state)
{
	struct world *world = *state;
	struct call call;

	begin(world);
	start(world->client, &call, 1);
	world_until(world, desk.count == 1);
	end_at(0, RPCRDMA_HANDLE_GARBAGE_ARGS);
	world_until(world, call.done);
	assert_int_equal(call.error, -RPCRDMA_ERR_GARBAGE_ARGS);
}

static void
what_is_no_answer_is_refused(void **state)
{
	struct world *world = *state;
	struct rpcrdma_request *request;
	struct call call;

	begin(world);
	start(world->client, &call, 1);
	world_until(world, desk.count == 1);
	request = desk.kept[0];
	assert_int_equal(rpcrdma_request_end(request, RPCRDMA_HANDLE_KEPT), -RPCRDMA_ERR_INVAL);
	assert_int_equal(rpcrdma_request_end(request, RPCRDMA_HANDLE_LATER), -RPCRDMA_ERR_INVAL);
	assert_int_equal(rpcrdma_request_end(request, (enum rpcrdma_handled)1000), -RPCRDMA_ERR_INVAL);
	assert_int_equal(rpcrdma_request_end(NULL, RPCRDMA_HANDLED), -RPCRDMA_ERR_INVAL);
	end_all();
	assert_int_equal(desk.error, 0);
	/* It was answered already. */
	assert_int_equal(rpcrdma_request_end(request, RPCRDMA_HANDLED), -RPCRDMA_ERR_INVAL);
	assert_int_equal(rpcrdma_request_on_lost(request, lost, NULL), -RPCRDMA_ERR_INVAL);
	assert_answered(world, &call);
	assert_int_equal(rpcrdma_request_end(request, RPCRDMA_HANDLED), -RPCRDMA_ERR_INVAL);
}

/* Calls of another client are kept, and the client goes. */
static void
call_and_go(struct world *world, uint32_t count)
{
	struct rpcrdma_client *client = connect_warm(world);
	uint32_t before = desk.count;
	struct call calls[CALLS];

	for (uint32_t i = 0; i < count; i++)
		start(client, &calls[i], i);
	world_until(world, desk.count == before + count);
	rpcrdma_client_free(client);
}

static void
the_end_of_the_connection_is_known(void **state)
{
	struct world *world = *state;
	struct call call;

	begin(world);
	desk.ends_when_lost = true;
	call_and_go(world, 3);
	world_until(world, desk.lost == 3);
	assert_int_equal(desk.count, 0);
	assert_int_equal(desk.error, -RPCRDMA_ERR_DISCONNECTED);
	/* Others are not concerned. */
	start(world->client, &call, 5);
	world_until(world, desk.count == 1);
	end_all();
	assert_answered(world, &call);
	assert_int_equal(desk.lost, 3);
}

static void
what_is_lost_may_end_all_others(void **state)
{
	struct world *world = *state;
	struct call call;

	begin(world);
	start(world->client, &call, 5);
	world_until(world, desk.count == 1);
	desk.ends_all_when_lost = true;
	call_and_go(world, 4);
	world_until(world, desk.lost > 0);
	assert_answered(world, &call);
	assert_int_equal(desk.count, 0);
	assert_int_equal(desk.lost, 1);
}

static void
what_is_lost_may_be_answered_later(void **state)
{
	struct world *world = *state;

	begin(world);
	call_and_go(world, 2);
	world_until(world, desk.lost == 2);
	assert_int_equal(desk.count, 2);
	end_at(0, RPCRDMA_HANDLED);
	assert_int_equal(desk.error, -RPCRDMA_ERR_DISCONNECTED);
	end_at(0, RPCRDMA_HANDLE_SYSTEM_ERR);
	assert_int_equal(desk.error, -RPCRDMA_ERR_DISCONNECTED);
	warm_up(world->client);
}

/* server.h: rpcrdma_request_on_lost() "may be called inside the handler that is about to keep the request, or
 * later". */
static void
what_is_lost_already_is_known_in_the_next_turn(void **state)
{
	struct world *world = *state;

	begin(world);
	call_and_go(world, 1);
	world_until(world, desk.lost == 1);
	desk.ends_when_lost = true;
	assert_int_equal(rpcrdma_request_on_lost(desk.kept[0], lost, &desk), 0);
	assert_int_equal(desk.lost, 1);
	world_until(world, desk.lost == 2);
	assert_int_equal(desk.count, 0);
	/* Also after the server was freed, which the last request ends. */
	desk.ends_when_lost = false;
	call_and_go(world, 1);
	world_until(world, desk.lost == 3);
	rpcrdma_server_free(world->server);
	world->server = NULL;
	assert_int_equal(rpcrdma_request_on_lost(desk.kept[0], lost, &desk), 0);
	world_until(world, desk.lost == 4);
	assert_int_equal(rpcrdma_request_on_lost(desk.kept[0], lost, &desk), 0);
	end_all();
	rpcrdma_engine_turn(world->engine, 0);
	assert_int_equal(desk.lost, 4);
}

static void
requests_outlive_their_server(void **state)
{
	struct world *world = *state;
	struct call calls[2];

	begin(world);
	start(world->client, &calls[0], 1);
	start(world->client, &calls[1], 2);
	world_until(world, desk.count == 2);
	rpcrdma_server_free(world->server);
	world->server = NULL;
	assert_int_equal(desk.lost, 2);
	end_at(0, RPCRDMA_HANDLED);
	assert_int_equal(desk.error, -RPCRDMA_ERR_DISCONNECTED);
	/* The other one outlives even the engine. */
	rpcrdma_client_free(world->client);
	rpcrdma_engine_free(world->engine);
	world->client = NULL;
	world->engine = NULL;
	end_at(0, RPCRDMA_HANDLED);
	assert_int_equal(desk.error, -RPCRDMA_ERR_DISCONNECTED);
}

static void
a_shutdown_waits_for_the_answer(void **state)
{
	struct world *world = *state;
	struct call call;

	begin(world);
	start(world->client, &call, 1);
	world_until(world, desk.count == 1);
	rpcrdma_server_shutdown(world->server);
	for (int i = 0; i < 100; i++)
		rpcrdma_engine_turn(world->engine, 0);
	assert_false(rpcrdma_server_idle(world->server));
	end_all();
	assert_answered(world, &call);
	world_until(world, rpcrdma_server_idle(world->server));
}

/* A connection has half of what is free at most, and another one is served nevertheless. */
static void
no_more_are_kept_than_the_server_takes(void **state)
{
	struct world *world = *state;
	struct rpcrdma_client *other;
	struct call calls[CALLS], beside;

	begin(world);
	rpcrdma_server_free(world->server);
	world->call_max = 4;
	world_serve(world);
	rpcrdma_client_free(world->client);
	world->client = connect_warm(world);
	other = connect_warm(world);
	for (int i = 0; i < CALLS - 2; i++)
		start(world->client, &calls[i], (uint32_t)i);
	world_until(world, desk.count == 2);
	start(other, &beside, 100);
	world_until(world, desk.count == 3);
	for (int i = 0; i < 100; i++)
		rpcrdma_engine_turn(world->engine, 0);
	assert_int_equal(world->handled, 3);
	for (int i = 0; i < CALLS - 2; i++) {
		world_until(world, calls[i].done || desk.count > 0);
		end_all();
	}
	for (int i = 0; i < CALLS - 2; i++)
		assert_answered(world, &calls[i]);
	assert_answered(world, &beside);
	rpcrdma_client_free(other);
}

/* ---- The reverse direction ---- */

static struct world other;
static struct rpcrdma_client *back;

static void
make_back(struct world *world)
{
	const struct rpcrdma_client_config config = { .size = sizeof(config) };

	world->inside_error = rpcrdma_request_client(world->request, &config, &back);
}

static void
a_client_that_serves_keeps_requests_as_well(void **state)
{
	struct world *world = *state;
	const struct rpcrdma_service service = world_service(&other);
	struct rpcrdma_client *client = world_connect(world, world->transport,
		(struct rpcrdma_client_config){ .services = &service, .service_count = 1 });
	struct call call;

	other = (struct world){ 0 };
	begin(&other);
	world->inside = make_back;
	start(client, &call, 1);
	assert_answered(world, &call);
	assert_int_equal(world->inside_error, 0);
	start(back, &call, 20);
	world_until(world, desk.count == 1);
	end_all();
	assert_answered(world, &call);
	start(back, &call, 21);
	world_until(world, desk.count == 1);
	/* The server ends the connection: the client's handler hears of it. */
	desk.ends_when_lost = true;
	rpcrdma_server_free(world->server);
	world->server = NULL;
	world_until(world, desk.lost == 1);
	assert_int_equal(desk.count, 0);
	rpcrdma_client_free(back);
	rpcrdma_client_free(client);
}

/* ---- Calls that are repeated ---- */

/* A call of CALC_ANSWER over TCP: XID, what RFC 5531, section 9 says, AUTH_NONE twice, the number. */
static int
send_raw(const struct world *world, uint32_t xid)
{
	const uint32_t words[] = { htonl(0x80000000 | 44), htonl(xid), 0, htonl(2), htonl(CALC_PROGRAM),
		htonl(CALC_V1), htonl(CALC_ANSWER), 0, 0, 0, 0, htonl(41) };
	const struct sockaddr_in address = { .sin_family = AF_INET,
		.sin_port = htons(world->tcp_port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	assert_true(fd >= 0);
	assert_int_equal(connect(fd, (const struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(write(fd, words, sizeof(words)), sizeof(words));
	return fd;
}

/* The end of the stream alone would not say that nobody waits for the answer. */
static void
reset(int fd)
{
	static const struct linger none = { .l_onoff = 1, .l_linger = 0 };

	assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_LINGER, &none, sizeof(none)), 0);
	close(fd);
}

static void
assert_raw_answer(struct world *world, int fd, uint32_t xid)
{
	uint32_t words[8];
	size_t length = 0;

	while (length < sizeof(words)) {
		ssize_t n = recv(fd, (uint8_t *)words + length, sizeof(words) - length, MSG_DONTWAIT);

		assert_int_not_equal(n, 0);
		length += n > 0 ? (size_t)n : 0;
		assert_true(rpcrdma_engine_turn(world->engine, n > 0 ? 0 : 1000000) >= 0);
	}
	assert_int_equal(words[1], htonl(xid));
	assert_int_equal(words[6], 0); /* SUCCESS */
	assert_int_equal(words[7], htonl(42));
}

static void
a_repeated_call_waits_for_the_answer_of_the_first(void **state)
{
	struct world *world = *state;
	static const bool once[] = { [CALC_ANSWER] = true, [CALC_UNHANDLED] = false };
	int first, second, third;

	begin(world);
	rpcrdma_server_free(world->server);
	world->once = once;
	world_serve(world);
	first = send_raw(world, 77);
	world_until(world, desk.count == 1);
	second = send_raw(world, 77);
	world_until(world, rpcrdma_server_connections(world->server) >= 2);
	for (int i = 0; i < 100; i++)
		rpcrdma_engine_turn(world->engine, 0);
	assert_int_equal(world->handled, 1);
	reset(first); /* the client has lost its connection */
	world_until(world, desk.lost == 1);
	end_all();
	assert_int_equal(desk.error, -RPCRDMA_ERR_DISCONNECTED);
	assert_raw_answer(world, second, 77);
	third = send_raw(world, 77);
	assert_raw_answer(world, third, 77);
	assert_int_equal(world->handled, 1);
	close(second);
	close(third);
}

static int
setup(void **state, enum rpcrdma_transport transport, uint32_t version)
{
	struct world *world;

	world_setup_over(state, transport, version);
	world = *state;
	warm_up(world->client);
	return 0;
}

static int
setup_version_1(void **state)
{
	return setup(state, RPCRDMA_TRANSPORT_IWARP, 1);
}

static int
setup_version_2(void **state)
{
	return setup(state, RPCRDMA_TRANSPORT_IWARP, 2);
}

static int
setup_tcp(void **state)
{
	return setup(state, RPCRDMA_TRANSPORT_TCP, 0);
}

int
main(void)
{
#define OVER(name, how)                                                                                      \
	{                                                                                                    \
#name " over " #how, name, setup_##how, world_teardown, NULL                                 \
	}
#define T(name) OVER(name, version_1), OVER(name, version_2), OVER(name, tcp)
	const struct CMUnitTest tests[] = {
		T(a_timer_answers),
		T(a_thread_answers),
		T(any_answer_may_come_later),
		T(what_is_no_answer_is_refused),
		T(the_end_of_the_connection_is_known),
		T(what_is_lost_may_end_all_others),
		T(what_is_lost_may_be_answered_later),
		T(what_is_lost_already_is_known_in_the_next_turn),
		T(requests_outlive_their_server),
		T(a_shutdown_waits_for_the_answer),
		T(no_more_are_kept_than_the_server_takes),
		T(a_client_that_serves_keeps_requests_as_well),
		OVER(a_repeated_call_waits_for_the_answer_of_the_first, tcp),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
