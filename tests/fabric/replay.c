/* SPDX-License-Identifier: BSD-3-Clause */
#include "replay.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../test.h"
#include "base/address.h"
#include "replay_file.h"

enum { ENDPOINTS = 64, WORKS = 1024, TEXT = 256 };

static struct {
	struct replay_line *lines;
	size_t count, at;
	char wrong[TEXT];
} record;

struct replay_fabric {
	struct rr_fabric base;
	struct rr_task task;
	struct replay_listener *listener;
	struct replay_endpoint *endpoints[ENDPOINTS]; /* by their numbers in the record */
};

struct replay_listener {
	struct rr_listener base;
	struct sockaddr_storage address;
};

struct replay_endpoint {
	struct rr_endpoint base;
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

static struct replay_fabric *
fabric_of(const struct replay_endpoint *endpoint)
{
	return rr_container(endpoint->base.fabric, struct replay_fabric, base);
}

static struct replay_endpoint *
new_endpoint(struct replay_fabric *fabric, uint32_t number)
{
	struct replay_endpoint *endpoint = calloc(1, sizeof(*endpoint));

	assert_non_null(endpoint);
	endpoint->base = (struct rr_endpoint){ .ops = fabric->base.ops, .fabric = &fabric->base };
	endpoint->number = number;
	strcpy(endpoint->base.peer, "replayed");
	fabric->endpoints[number] = endpoint;
	return endpoint;
}

/* Forgets the first work of that kind that can have completed so, and returns its cookie. A work that has no
 * cookie and succeeded had no event, and is passed over. */
static void *
take_cookie(struct replay_endpoint *endpoint, enum rr_work_kind kind, int status)
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

/* Reads a completion: works of one kind complete in the order of their posting. */
static void
parse_completed(struct replay_endpoint *endpoint, const char *text, struct rr_event *event)
{
	char kind[TEXT];

	assert_int_equal(sscanf(text, "completed %255s %d", kind, &event->status), 2);
	while (strcmp(kinds[event->work], kind) != 0)
		event->work++;
	event->cookie = take_cookie(endpoint, event->work, event->status);
}

static void
tell(struct replay_endpoint *endpoint, const char *text, uint8_t *data, uint32_t length)
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
	struct replay_fabric *fabric = rr_container(task, struct replay_fabric, task);

	while (record.at < record.count && record.lines[record.at].event && !record.wrong[0]) {
		const struct replay_line *line = &record.lines[record.at++];
		uint32_t length;
		uint8_t *data = replay_data(line->text, &length);

		if (replay_is(line->text, "request"))
			fabric->listener->base.handler(fabric->listener->base.ctx,
				&new_endpoint(fabric, line->endpoint)->base, data, length);
		else
			tell(fabric->endpoints[line->endpoint], line->text, data, length);
		if (!replay_is(line->text, "received")) /* the owner's from now on */
			free(data);
	}
}

/* ---- Operations ---- */

/* Returns the line of the operation that the owner does now; NULL: the record has another operation here.
 * endpoint NULL: that of any endpoint. */
static const struct replay_line *
take(struct replay_fabric *fabric, const struct replay_endpoint *endpoint, const char *what)
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
replay_listen(struct rr_fabric *base, const struct rr_listen *how, struct rr_listener **listener,
	struct rr_text *text)
{
	struct replay_fabric *fabric = rr_container(base, struct replay_fabric, base);
	const struct replay_line *line = take(fabric, NULL, "listen");
	int error = result(line);
	struct replay_listener *new;

	if (error)
		return rr_fail(text, error, "replayed");
	new = calloc(1, sizeof(*new));
	assert_non_null(new);
	new->base = (struct rr_listener){ base, how->handler, how->ctx };
	memcpy(&new->address, how->address, how->size);
	rr_address_set_port((struct sockaddr *)&new->address, replay_port(line->text));
	if (!fabric->listener)
		fabric->listener = new;
	*listener = &new->base;
	return 0;
}

static int
replay_listener_address(struct rr_listener *base, struct sockaddr_storage *address)
{
	struct replay_listener *listener = rr_container(base, struct replay_listener, base);
	*address = listener->address;
	return 0;
}

static void
replay_unlisten(struct rr_listener *base)
{
	struct replay_listener *listener = rr_container(base, struct replay_listener, base);
	struct replay_fabric *fabric = rr_container(base->fabric, struct replay_fabric, base);

	if (fabric->listener == listener)
		fabric->listener = NULL;
	free(listener);
}

static int
replay_connect(struct rr_fabric *base, const struct rr_connect *how, struct rr_endpoint **endpoint,
	struct rr_text *text)
{
	struct replay_fabric *fabric = rr_container(base, struct replay_fabric, base);
	const struct replay_line *line = take(fabric, NULL, "connect");
	int error = result(line);

	if (error)
		return rr_fail(text, error, "replayed");
	*endpoint = &new_endpoint(fabric, line->endpoint)->base;
	(*endpoint)->handler = how->handler;
	(*endpoint)->ctx = how->ctx;
	return 0;
}

static int
replay_accept(struct rr_endpoint *base, const void *private_data, size_t private_size)
{
	struct replay_endpoint *endpoint = rr_container(base, struct replay_endpoint, base);
	(void)private_data;
	(void)private_size;
	return result(take(fabric_of(endpoint), endpoint, "accept"));
}

static void
forget(struct replay_endpoint *endpoint)
{
	fabric_of(endpoint)->endpoints[endpoint->number] = NULL;
	free(endpoint);
}

static void
replay_reject(struct rr_endpoint *base, const void *private_data, size_t private_size)
{
	struct replay_endpoint *endpoint = rr_container(base, struct replay_endpoint, base);
	(void)private_data;
	(void)private_size;
	take(fabric_of(endpoint), endpoint, "reject");
	forget(endpoint);
}

static void
replay_allow(struct rr_endpoint *base, uint32_t count)
{
	struct replay_endpoint *endpoint = rr_container(base, struct replay_endpoint, base);
	(void)count;
	take(fabric_of(endpoint), endpoint, "allow");
}

static void
replay_release(struct rr_fabric *base, uint8_t *receive)
{
	struct replay_fabric *fabric = rr_container(base, struct replay_fabric, base);
	(void)fabric;
	free(receive);
}

static int
replay_post(struct rr_endpoint *base, const struct rr_work *work)
{
	struct replay_endpoint *endpoint = rr_container(base, struct replay_endpoint, base);
	int error = result(take(fabric_of(endpoint), endpoint, kinds[work->kind]));

	if (error)
		return error;
	assert_true(endpoint->work_count < WORKS);
	endpoint->works[endpoint->work_count].kind = work->kind;
	endpoint->works[endpoint->work_count++].cookie = work->cookie;
	return 0;
}

static int
replay_kick(struct rr_endpoint *base)
{
	struct replay_endpoint *endpoint = rr_container(base, struct replay_endpoint, base);
	return result(take(fabric_of(endpoint), endpoint, "kick"));
}

static int
replay_register(
	struct rr_endpoint *base, void *addr, uint32_t length, unsigned access, struct rr_region *region)
{
	struct replay_endpoint *endpoint = rr_container(base, struct replay_endpoint, base);
	const struct replay_line *line = take(fabric_of(endpoint), endpoint, "register");
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
replay_invalidate(struct rr_endpoint *base, struct rr_region *region)
{
	struct replay_endpoint *endpoint = rr_container(base, struct replay_endpoint, base);
	(void)region;
	return result(take(fabric_of(endpoint), endpoint, "invalidate"));
}

static int
replay_revoke(struct rr_endpoint *base, struct rr_region *region)
{
	struct replay_endpoint *endpoint = rr_container(base, struct replay_endpoint, base);
	(void)region;
	return result(take(fabric_of(endpoint), endpoint, "revoke"));
}

static void
replay_disconnect(struct rr_endpoint *base)
{
	struct replay_endpoint *endpoint = rr_container(base, struct replay_endpoint, base);
	take(fabric_of(endpoint), endpoint, "disconnect");
}

static void
replay_end(struct rr_endpoint *base)
{
	struct replay_endpoint *endpoint = rr_container(base, struct replay_endpoint, base);
	take(fabric_of(endpoint), endpoint, "close");
	forget(endpoint);
}

static void
replay_destroy(struct rr_fabric *base)
{
	struct replay_fabric *fabric = rr_container(base, struct replay_fabric, base);
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
	struct replay_fabric *new = calloc(1, sizeof(*new));

	assert_non_null(new);
	new->base = (struct rr_fabric){ .ops = &replay_ops, .loop = loop, .config = *config };
	rr_task_init(&new->task, run);
	*fabric = &new->base;
	return 0;
}
