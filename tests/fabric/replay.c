/* SPDX-License-Identifier: BSD-3-Clause */
#include "replay.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../test.h"
#include "fabric/address.h"
#include "replay_file.h"

enum { ENDPOINTS = 64, WORKS = 1024, TEXT = 256 };

static struct {
	struct replay_line *lines;
	size_t count, at;
	char wrong[TEXT];
} record;

struct rr_fabric {
	struct rr_fabric_base base;
	struct rr_task task;
	struct rr_listener *listener;
	struct rr_endpoint *endpoints[ENDPOINTS]; /* by their numbers in the record */
};

struct rr_listener {
	struct rr_fabric *fabric;
	struct sockaddr_storage address;
	rr_listener_handler *handler;
	void *ctx;
};

struct rr_endpoint {
	struct rr_endpoint_base base;
	uint32_t number;
	struct {
		enum rr_work_kind kind;
		void *cookie;
	} works[WORKS]; /* not completed */
	uint32_t work_count;
};

static const char *const kinds[] = { "send", "send-invalidate", "write", "read" };

void
replay_open(const char *path)
{
	record.count = replay_lines(path, &record.lines);
	for (size_t i = 0; i < record.count; i++)
		assert_true(record.lines[i].endpoint < ENDPOINTS);
}

void
replay_close(void)
{
	replay_lines_free(record.lines, record.count);
	memset(&record, 0, sizeof(record));
}

const char *
replay_wrong(void)
{
	return record.wrong[0] ? record.wrong : NULL;
}

/* ---- Events ---- */

static struct rr_endpoint *
new_endpoint(struct rr_fabric *fabric, uint32_t number)
{
	struct rr_endpoint *endpoint = calloc(1, sizeof(*endpoint));

	assert_non_null(endpoint);
	endpoint->base = (struct rr_endpoint_base){ .ops = fabric->base.ops, .fabric = fabric };
	endpoint->number = number;
	strcpy(endpoint->base.peer, "replayed");
	fabric->endpoints[number] = endpoint;
	return endpoint;
}

/* The cookie of the work that has completed: those before it that succeeded and have none were not told of.
 */
static void *
take_cookie(struct rr_endpoint *endpoint, enum rr_work_kind kind, int status)
{
	for (uint32_t i = 0; i < endpoint->work_count; i++) {
		void *cookie = endpoint->works[i].cookie;

		if (endpoint->works[i].kind != kind || (!cookie && !status))
			continue;
		endpoint->work_count--;
		memmove(&endpoint->works[i], &endpoint->works[i + 1],
			(endpoint->work_count - i) * sizeof(endpoint->works[0]));
		return cookie;
	}
	fail_msg("nothing of that kind is outstanding");
	return NULL;
}

/* What was posted of one kind completes in its order. */
static void
parse_completed(struct rr_endpoint *endpoint, const char *text, struct rr_event *event)
{
	char kind[TEXT];

	assert_int_equal(sscanf(text, "completed %255s %d", kind, &event->status), 2);
	while (strcmp(kinds[event->work], kind) != 0)
		event->work++;
	event->cookie = take_cookie(endpoint, event->work, event->status);
}

static void
tell(struct rr_endpoint *endpoint, const char *text, uint8_t *data, uint32_t length)
{
	struct rr_event event = { .data = data, .length = length };

	if (replay_is(text, "established")) {
		event.kind = RR_EVENT_ESTABLISHED;
	} else if (replay_is(text, "received")) {
		event.kind = RR_EVENT_RECEIVED;
		event.invalidated = strstr(text, " invalidated=");
		event.invalidated_handle = (uint32_t)replay_number(text, " invalidated=");
	} else if (replay_is(text, "completed")) {
		event.kind = RR_EVENT_COMPLETED;
		parse_completed(endpoint, text, &event);
	} else {
		event.kind = RR_EVENT_DISCONNECTED;
		event.status = atoi(text + strlen("disconnected "));
		event.text = strchr(strstr(text, "data="), ' ') + 1;
	}
	endpoint->base.handler(endpoint->base.ctx, &event);
}

/* Brings the events up to the next operation. */
static void
run(struct rr_task *task)
{
	struct rr_fabric *fabric = rr_container(task, struct rr_fabric, task);

	while (record.at < record.count && record.lines[record.at].event && !record.wrong[0]) {
		const struct replay_line *line = &record.lines[record.at++];
		uint32_t length;
		uint8_t *data = replay_data(line->text, &length);

		if (replay_is(line->text, "request"))
			fabric->listener->handler(
				fabric->listener->ctx, new_endpoint(fabric, line->endpoint), data, length);
		else
			tell(fabric->endpoints[line->endpoint], line->text, data, length);
		if (!replay_is(line->text, "received")) /* that is the owner's now */
			free(data);
	}
}

/* ---- Operations ---- */

/* The line of an operation that the owner does now; NULL: something else was to come. endpoint NULL:
 * whichever. */
static const struct replay_line *
take(struct rr_fabric *fabric, const struct rr_endpoint *endpoint, const char *what)
{
	const struct replay_line *line = &record.lines[record.at];

	if (record.wrong[0])
		return NULL;
	if (record.at < record.count && replay_is(line->text, what) &&
		(!endpoint || line->endpoint == endpoint->number)) {
		record.at++;
		rr_loop_defer(fabric->base.loop, &fabric->task);
		return line;
	}
	snprintf(record.wrong, sizeof(record.wrong), "line %u: %.60s was expected, not %s of %u",
		record.at < record.count ? line->number : 0,
		record.at < record.count ? line->text : "the end", what, endpoint ? endpoint->number : 0);
	return NULL;
}

static int
result(const struct replay_line *line)
{
	return line ? replay_result(line->text) : -RPCRDMA_ERR_DISCONNECTED;
}

static int
replay_listen(struct rr_fabric *fabric, const struct sockaddr *address, socklen_t size,
	rr_listener_handler *handler, void *ctx, struct rr_listener **listener, struct rr_text *text)
{
	const struct replay_line *line = take(fabric, NULL, "listen");
	int error = result(line);

	if (error)
		return rr_fail(text, error, "replayed");
	*listener = calloc(1, sizeof(**listener));
	assert_non_null(*listener);
	**listener = (struct rr_listener){ .fabric = fabric, .handler = handler, .ctx = ctx };
	memcpy(&(*listener)->address, address, size);
	rr_address_set_port((struct sockaddr *)&(*listener)->address, replay_port(line->text));
	if (!fabric->listener)
		fabric->listener = *listener;
	return 0;
}

static int
replay_listener_address(struct rr_listener *listener, struct sockaddr_storage *address)
{
	*address = listener->address;
	return 0;
}

static void
replay_unlisten(struct rr_listener *listener)
{
	if (listener->fabric->listener == listener)
		listener->fabric->listener = NULL;
	free(listener);
}

static int
replay_connect(struct rr_fabric *fabric, const struct sockaddr *address, socklen_t size,
	const void *private_data, size_t private_size, rr_endpoint_handler *handler, void *ctx,
	struct rr_endpoint **endpoint, struct rr_text *text)
{
	const struct replay_line *line = take(fabric, NULL, "connect");
	int error = result(line);

	(void)address;
	(void)size;
	(void)private_data;
	(void)private_size;
	if (error)
		return rr_fail(text, error, "replayed");
	*endpoint = new_endpoint(fabric, line->endpoint);
	(*endpoint)->base.handler = handler;
	(*endpoint)->base.ctx = ctx;
	return 0;
}

static int
replay_accept(struct rr_endpoint *endpoint, const void *private_data, size_t private_size)
{
	(void)private_data;
	(void)private_size;
	return result(take(endpoint->base.fabric, endpoint, "accept"));
}

static void
forget(struct rr_endpoint *endpoint)
{
	endpoint->base.fabric->endpoints[endpoint->number] = NULL;
	free(endpoint);
}

static void
replay_reject(struct rr_endpoint *endpoint, const void *private_data, size_t private_size)
{
	(void)private_data;
	(void)private_size;
	take(endpoint->base.fabric, endpoint, "reject");
	forget(endpoint);
}

static void
replay_allow(struct rr_endpoint *endpoint, uint32_t count)
{
	(void)count;
	take(endpoint->base.fabric, endpoint, "allow");
}

static void
replay_release(struct rr_fabric *fabric, uint8_t *receive)
{
	(void)fabric;
	free(receive);
}

static int
replay_post(struct rr_endpoint *endpoint, const struct rr_work *work)
{
	int error = result(take(endpoint->base.fabric, endpoint, kinds[work->kind]));

	if (error)
		return error;
	assert_true(endpoint->work_count < WORKS);
	endpoint->works[endpoint->work_count].kind = work->kind;
	endpoint->works[endpoint->work_count++].cookie = work->cookie;
	return 0;
}

static int
replay_kick(struct rr_endpoint *endpoint)
{
	return result(take(endpoint->base.fabric, endpoint, "kick"));
}

static int
replay_register(
	struct rr_endpoint *endpoint, void *addr, uint32_t length, unsigned access, struct rr_region *region)
{
	const struct replay_line *line = take(endpoint->base.fabric, endpoint, "register");
	int error = result(line);

	(void)addr;
	(void)access;
	if (error)
		return error;
	*region = (struct rr_region){ .handle = (uint32_t)replay_number(line->text, " handle="),
		.length = length,
		.offset = replay_number(line->text, " offset=") };
	return 0;
}

static int
replay_invalidate(struct rr_endpoint *endpoint, struct rr_region *region)
{
	(void)region;
	return result(take(endpoint->base.fabric, endpoint, "invalidate"));
}

static int
replay_revoke(struct rr_endpoint *endpoint, struct rr_region *region)
{
	(void)region;
	return result(take(endpoint->base.fabric, endpoint, "revoke"));
}

static void
replay_disconnect(struct rr_endpoint *endpoint)
{
	take(endpoint->base.fabric, endpoint, "disconnect");
}

static void
replay_end(struct rr_endpoint *endpoint)
{
	take(endpoint->base.fabric, endpoint, "close");
	forget(endpoint);
}

static void
replay_destroy(struct rr_fabric *fabric)
{
	rr_task_cancel(&fabric->task);
	free(fabric);
}

static const struct rr_fabric_ops replay_ops = {
	.name = "replay",
	.limits = { .private_data_max = 255, .sge_max = RR_MAX_SGE, .remote_invalidation = true },
	.destroy = replay_destroy,
	.listen = replay_listen,
	.listener_address = replay_listener_address,
	.unlisten = replay_unlisten,
	.connect = replay_connect,
	.accept = replay_accept,
	.reject = replay_reject,
	.allow = replay_allow,
	.release = replay_release,
	.post = replay_post,
	.kick = replay_kick,
	.register_region = replay_register,
	.invalidate = replay_invalidate,
	.revoke = replay_revoke,
	.disconnect = replay_disconnect,
	.close = replay_end,
};

int
replay_fabric_new(struct rr_loop *loop, const struct rr_fabric_config *config, struct rr_fabric **fabric)
{
	struct rr_fabric *new = calloc(1, sizeof(*new));

	assert_non_null(new);
	new->base = (struct rr_fabric_base){ .ops = &replay_ops, .loop = loop, .config = *config };
	rr_task_init(&new->task, run);
	*fabric = new;
	return 0;
}
