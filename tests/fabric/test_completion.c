/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "../test.h"
#include "fabric/verbs/work.h"

/* Tests with a made-up adapter: the test chooses which completions it reports, and in which order. */

static uint64_t the_time;
static struct rr_env env;
static struct rr_verbs_fabric fabric;
static struct rr_verbs_device device;
static struct ibv_context context;
static struct ibv_pd pd = { .context = &context };
static struct ibv_mr mr = { .context = &context };
static struct ibv_mw mw = { .context = &context };
static struct ibv_cq cq = { .context = &context };
static struct ibv_qp qp = { .context = &context };
static struct rr_verbs_endpoint *endpoint;
static struct rr_region region;
static struct ibv_wc completions[4];
static int completion_count;
static uint64_t posted; /* wr_id of the last request */
static char told[16];   /* a letter for each event */

static union {
	struct rr_verbs_buffer buffer;
	uint8_t octets[sizeof(struct rr_verbs_buffer) + 64];
} receive;

static uint64_t
now(void *ctx)
{
	(void)ctx;
	return the_time += RR_MILLISECOND;
}

static int
poll_cq(struct ibv_cq *from, int max, struct ibv_wc *wcs)
{
	int n = completion_count;

	(void)from;
	assert_true(n <= max);
	memcpy(wcs, completions, (size_t)n * sizeof(*wcs));
	completion_count = 0;
	return n;
}

static int
post_send(struct ibv_qp *to, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	(void)to;
	(void)bad;
	for (; wr; wr = wr->next)
		posted = wr->wr_id;
	return 0;
}

static struct ibv_mw *
alloc_mw(struct ibv_pd *from, enum ibv_mw_type type)
{
	(void)from;
	(void)type;
	mw.rkey = 0x1200;
	return &mw;
}

static int
dealloc_mw(struct ibv_mw *window)
{
	(void)window;
	return 0;
}

static struct ibv_mr *
reg_mr(struct ibv_pd *from, void *addr, size_t length, int access)
{
	(void)from;
	(void)addr;
	(void)length;
	(void)access;
	return &mr;
}

static int
dereg_mr(struct ibv_mr *memory)
{
	(void)memory;
	return 0;
}

static int
modify_qp(struct ibv_qp *pair, struct ibv_qp_attr *attr, int mask)
{
	(void)pair;
	(void)attr;
	(void)mask;
	return 0;
}

static int
destroy_qp(struct ibv_qp *pair)
{
	(void)pair;
	return 0;
}

static int
destroy_cq(struct ibv_cq *queue)
{
	(void)queue;
	return 0;
}

static void
ack_cq_events(struct ibv_cq *queue, unsigned count)
{
	(void)queue;
	(void)count;
}

/* Handles the answer to a call: the region of the call is not needed any more. */
static void
handle(void *ctx, const struct rr_event *event)
{
	(void)ctx;
	told[strlen(told)] = "EDCR"[event->kind];
	if (event->kind == RR_EVENT_RECEIVED)
		assert_int_equal(rr_verbs_invalidate(&endpoint->base, &region), 0);
}

static int
setup(void **state)
{
	(void)state;
	env = rr_env_system;
	env.now = now;
	memset(&fabric, 0, sizeof(fabric));
	memset(&device, 0, sizeof(device));
	memset(told, 0, sizeof(told));
	fabric.env = &env;
	fabric.base.config = rr_fabric_config_default;
	fabric.base.loop = rr_loop_new(&env);
	fabric.library = (struct rr_verbs_library){ .reg_mr_ = reg_mr,
		.dereg_mr = dereg_mr,
		.modify_qp = modify_qp,
		.destroy_qp = destroy_qp,
		.destroy_cq = destroy_cq,
		.ack_cq_events = ack_cq_events };
	rr_list_init(&fabric.living);
	rr_list_init(&fabric.closed);
	rr_cache_init(&fabric.works, &env, sizeof(struct rr_verbs_work), 16);
	context.ops.poll_cq = poll_cq;
	context.ops.post_send = post_send;
	context.ops.alloc_mw = alloc_mw;
	context.ops.dealloc_mw = dealloc_mw;
	device.fabric = &fabric;
	device.windows = true;
	device.max_message = UINT32_MAX;
	device.endpoints = 1;
	device.domain.pd = &pd;
	for (int i = 0; i < 2; i++) {
		device.receives[i].device = &device;
		/* The pool has no receives. */
		device.receives[i].pool.size = fabric.base.config.receive_size;
	}
	rr_task_init(&device.refill, rr_verbs_device_refill);
	endpoint = rr_verbs_endpoint_new(&fabric);
	endpoint->base.handler = handle;
	endpoint->state = RR_VERBS_ESTABLISHED;
	endpoint->device = &device;
	endpoint->domain = &device.domain;
	endpoint->receives = &device.receives[0];
	endpoint->cq = &cq;
	endpoint->qp = &qp;
	endpoint->sq_size = endpoint->sge_max = 16;
	endpoint->allowed = endpoint->receives->allowed = endpoint->receives->posted = 1;
	return rr_verbs_stash_room(endpoint) ? 0 : -1;
}

static int
teardown(void **state)
{
	(void)state;
	rr_verbs_endpoint_close(&endpoint->base);
	rr_verbs_endpoint_end(endpoint);
	rr_task_cancel(&device.refill);
	rr_cache_end(&fabric.works);
	rr_loop_free(fabric.base.loop);
	return 0;
}

/* Sends a call that offers a region. */
static void
send_call(void)
{
	static uint8_t data[8];
	struct rr_work call = { .kind = RR_WORK_SEND, .cookie = data };

	assert_int_equal(rr_verbs_register(&endpoint->base, data, sizeof(data), RR_REMOTE_WRITE, &region), 0);
	assert_int_equal(rr_verbs_post(&endpoint->base, &call), 0);
	rr_verbs_post_queue(endpoint);
}

/* The peer's answer may be reported before the Send that it answers. The completion of that Send, which was
 * fetched and not handled yet, also shows that the region's window was bound. */
static void
a_region_can_be_invalidated_by_an_answer_that_comes_before_its_call(void **state)
{
	(void)state;
	send_call();
	completions[0] = (struct ibv_wc){ .wr_id = (uintptr_t)&receive | RR_VERBS_RECEIVE, .byte_len = 1 };
	completions[1] = (struct ibv_wc){ .wr_id = posted };
	completion_count = 2;
	assert_int_equal(rr_verbs_poll(endpoint), 2);
	assert_string_equal(endpoint->text.text, "");
	assert_int_equal(endpoint->state, RR_VERBS_ESTABLISHED);
	assert_string_equal(told, "RC");
	assert_int_equal(endpoint->sq_used, 0);
}

/* The completion of the Send may also come while the provider waits for it. The handler is called for it
 * later. */
static void
a_completion_that_is_waited_for_is_told_in_its_turn(void **state)
{
	(void)state;
	send_call();
	completions[0] = (struct ibv_wc){ .wr_id = posted };
	completion_count = 1;
	assert_int_equal(rr_verbs_invalidate(&endpoint->base, &region), 0);
	assert_int_equal(completion_count, 0);
	assert_string_equal(told, "");
	assert_int_equal(rr_verbs_poll(endpoint), 1);
	assert_string_equal(told, "C");
	assert_int_equal(endpoint->state, RR_VERBS_ESTABLISHED);
}

int
main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(a_region_can_be_invalidated_by_an_answer_that_comes_before_its_call),
		TEST(a_completion_that_is_waited_for_is_told_in_its_turn),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
