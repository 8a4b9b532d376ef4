/* SPDX-License-Identifier: BSD-3-Clause */
#include "model.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../fabric/loop/loop.h"
#include "carrier/rdma/core/room.h"
#include "fabric/filter/fault.h"

/* What happens, and when. */

enum { DELAY_MAX_MS = 20, MEMORY = 4 << 20, TURNS_TO_REST = 2000 };

/* SplitMix64. */
uint32_t
model_random(struct model *model)
{
	uint64_t z = model->state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return (uint32_t)(z >> 32);
}

uint32_t
model_below(struct model *model, uint32_t limit)
{
	return (uint32_t)((uint64_t)model_random(model) * limit >> 32);
}

struct rr_list *
model_any(struct model *model, struct rr_list *list)
{
	uint32_t count = 0;
	struct rr_list *found = list;

	rr_list_for_each (link, list)
		count++;
	for (uint32_t i = count > 0 ? model_below(model, count) + 1 : 0; i > 0; i--)
		found = found->next;
	return count > 0 ? found : NULL;
}

/* ---- The environment ---- */

static uint64_t
now(void *ctx)
{
	return ((struct model *)ctx)->now;
}

static void *
allocate(void *ctx, void *old, size_t size)
{
	struct model *model = ctx;

	if (size > 0 && model->scarce && model_one_in(model, model->scarce))
		return NULL;
	model->live += (size > 0 && !old) - (size == 0 && old);
	return rr_env_system.realloc(rr_env_system.ctx, old, size);
}

static void
fill(void *ctx, void *to, size_t size)
{
	for (size_t i = 0; i < size; i++)
		((uint8_t *)to)[i] = (uint8_t)model_random(ctx);
}

/* ---- Steps ---- */

static struct end *
any_end(struct model *model)
{
	struct rr_list *link = model_any(model, &model->ends);

	return link ? rr_container(link, struct end, link) : NULL;
}

static void
turn(struct model *model)
{
	model_require(model, rr_loop_turn(model->engine->loop, 0) >= 0);
}

static void
pass_time(struct model *model)
{
	model->now += (1 + model_below(model, 2 * DELAY_MAX_MS)) * RR_MILLISECOND;
	turn(model);
}

/* Somebody makes a call on a connection that has not ended, the first one that there is from some end on. */
static void
call_from(struct model *model, bool is_client)
{
	struct rr_list *link = model_any(model, &model->ends);

	for (uint32_t i = 0; link && i <= model->end_count; i++, link = link->next) {
		struct end *end = rr_container(link, struct end, link);

		if (link == &model->ends || end->is_client != is_client || end->closed)
			continue;
		model_call(model, end);
		return;
	}
}

static void
call_forward(struct model *model)
{
	call_from(model, true);
}

static void
call_reverse(struct model *model)
{
	call_from(model, false);
}

static void
cancel(struct model *model)
{
	struct end *end = any_end(model);
	struct rr_list *link = end ? model_any(model, &end->calls) : NULL;

	if (link)
		model_cancel(rr_container(link, struct call, link));
}

/* Any call that waits for it, also one whose connection is gone. */
static struct asked *
any_asked(struct model *model)
{
	struct end *end = model_one_in(model, 8) ? NULL : any_end(model);
	struct rr_list *link = model_any(model, end ? &end->asked : &model->orphans);

	return link ? rr_container(link, struct asked, link) : NULL;
}

static void
answer(struct model *model)
{
	struct asked *asked = any_asked(model);

	if (asked)
		model_answer(model, asked);
}

static void
withhold(struct model *model)
{
	struct asked *asked = any_asked(model);

	if (asked)
		model_withhold(model, asked);
}

static void
connect_again(struct model *model)
{
	if (model->end_count < MODEL_ENDS && (model->end_count < 2 || model_one_in(model, 20)))
		model_connect(model);
}

static void
close_end(struct model *model)
{
	struct end *end = any_end(model);

	/* One that is closed already only goes. */
	if (end && (end->closed || model_one_in(model, 8)))
		model_close(end);
}

static void
shut_down(struct model *model)
{
	struct end *end = any_end(model);

	if (!end || !end->connected || end->closed)
		return;
	end->stopping = true;
	rr_carrier_shutdown(end->carrier);
}

struct action {
	uint32_t weight;
	const char *name;
	void (*take)(struct model *model);
};

static const struct action actions[] = {
	{ 240, "a call", call_forward },
	{ 80, "a call in the reverse direction", call_reverse },
	{ 60, "a cancellation", cancel },
	{ 300, "an answer", answer },
	{ 2, "an answer withheld", withhold },
	{ 20, "a call sent again", model_resend },
	{ 200, "a turn of the loop", turn },
	{ 120, "time that passes", pass_time },
	{ 40, "a connection", connect_again },
	{ 12, "a closing", close_end },
	{ 2, "a shutdown", shut_down },
};

enum { ACTIONS = sizeof(actions) / sizeof(actions[0]), MISCHIEVOUS = 6 };

static void
act(struct model *model, uint32_t count)
{
	uint32_t sum = 0, at;

	for (uint32_t i = 0; i < count; i++)
		sum += actions[i].weight;
	at = model_below(model, sum);
	for (uint32_t i = 0; i < count; i++) {
		if (at < actions[i].weight) {
			model->action = actions[i].name;
			actions[i].take(model);
			return;
		}
		at -= actions[i].weight;
	}
}

/* All but what turns the loop; connections are closed here, too. */
void
model_mischief(struct model *model)
{
	if (model->resting || model_below(model, 10) > 0)
		return;
	if (model_one_in(model, 12))
		close_end(model);
	else
		act(model, MISCHIEVOUS);
}

/* ---- A run ---- */

static void
choose_faults(struct model *model)
{
	static const char *const kinds[] = { "delay", "delay,reorder", "drop,delay,reorder",
		"drop,delay,reorder,flush", "fail,delay", "fail,delay,reorder,flush,drop" };
	uint32_t kind = model_below(model, 6);
	struct rr_text text;

	snprintf(model->script, sizeof(model->script), "random seed=%u rate=0.%03u delay=%ums kinds=%s",
		model_random(model), 1 + model_below(model, kind < 2 ? 300 : 12), DELAY_MAX_MS, kinds[kind]);
	model->harsh = kind >= 4;
	if (rr_fault_parse(model->script, &model->fault, &text))
		model_fail(model, "%s", text.text);
}

static void
choose_config(struct model *model)
{
	static const uint32_t credits[] = { 1, 2, 5, 16 }, thresholds[] = { 1024, 4096, 4096, 8192 };

	model->config = rr_engine_config_default;
	model->config.filter = rr_fault_filter;
	model->config.filter_ctx = &model->fault;
	model->config.credits = credits[model_below(model, 4)];
	model->config.inline_send = model->config.inline_receive = thresholds[model_below(model, 4)];
	model->versions = (enum rr_versions)model_below(model, 3);
	model->config.message_max = MODEL_MESSAGE_MAX;
	model->config.memory_max = MEMORY;
	model->config.remote_invalidation = model_below(model, 2);
	model->config.read_chunks = model_below(model, 2);
	model->config.reply_chunks = model_below(model, 3);
	model->config.provided_octets = 64 * (size_t)MODEL_MESSAGE_MAX;
}

/* Payload memory that is scarce, without the Receives' being so: those come of the same bound, and here both
 * sides of all connections share them. */
static void
choose_pools(struct model *model)
{
	struct rr_fabric_config *fabric =
		(struct rr_fabric_config *)(uintptr_t)rr_fabric_config(rr_room_in(model->engine)->fabric);
	static const uint32_t sizes[] = { 24 << 10, 128 << 10, MEMORY / 2 };
	uint32_t size = sizes[model_below(model, 3)];

	rr_pool_free(model->engine->pool);
	rr_pool_free(model->engine->arrivals);
	model->engine->pool = rr_pool_new(&model->engine->shares, RR_REPLIES, size);
	model->engine->arrivals = rr_pool_new(&model->engine->shares, RR_ARRIVALS, size);
	model_require(model, model->engine->pool && model->engine->arrivals);
	/* Work requests have to wait for others, too. */
	if (model_below(model, 2))
		fabric->work_max = 1 + model_below(model, 4);
}

static void
begin(struct model *model)
{
	struct sockaddr_in any = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct rr_text text;

	model->env = (struct rr_env){ .realloc = allocate, .now = now, .random = fill, .ctx = model };
	model->now = RR_SECOND;
	rr_list_init(&model->ends);
	rr_list_init(&model->lost);
	rr_list_init(&model->orphans);
	rr_list_init(&model->answers);
	rr_list_init(&model->kept);
	rr_list_init(&model->rests);
	choose_faults(model);
	choose_config(model);
	model_require(
		model, !rr_engine_new_on(&model->env, &model->config, rr_loop_fabric_new, &model->engine));
	choose_pools(model);
	model_require(model,
		!rr_carrier_listen(model->engine,
			&(struct rr_carrier_place){ RR_TRANSPORT_AUTO, (struct sockaddr *)&any, sizeof(any) },
			model_accepted, model, &model->acceptor, &text));
	model_require(model, !rr_acceptor_address(model->acceptor, &model->address));
	model->scarce = model_one_in(model, 5) ? 500 : 0;
}

static void
answer_all(struct model *model)
{
	rr_list_for_each (link, &model->ends) {
		struct end *end = rr_container(link, struct end, link);

		while (!rr_list_empty(&end->asked))
			model_answer(model, rr_container(end->asked.next, struct asked, link));
	}
	while (!rr_list_empty(&model->orphans))
		model_answer(model, rr_container(model->orphans.next, struct asked, link));
}

/* Who waits for ever has memory that others wait for. */
static void
close_starving(struct model *model)
{
	rr_list_for_each (link, &model->ends) {
		struct end *end = rr_container(link, struct end, link);

		if (end->starves)
			model_close(end);
	}
}

/* Everything that was begun comes to its end if all is answered and time passes. */
static void
come_to_rest(struct model *model)
{
	model->action = "coming to rest";
	model->resting = true;
	close_starving(model);
	for (int i = 0; i < TURNS_TO_REST; i++) {
		answer_all(model);
		model_keep_no_longer(model, true);
		model->now += DELAY_MAX_MS * RR_MILLISECOND;
		turn(model);
		model_check(model);
	}
	model_check_rest(model);
}

static void
end_run(struct model *model)
{
	struct rr_list *link;

	model->action = "the end";
	while (!rr_list_empty(&model->ends))
		model_close(rr_container(model->ends.next, struct end, link));
	answer_all(model);
	model_keep_no_longer(model, true);
	rr_acceptor_close(model->acceptor);
	while (rr_loop_turn(model->engine->loop, 0) > 0)
		;
	model_require(model, rr_list_empty(&model->answers));
	model_require(model, rr_pool_used(model->engine->pool) + rr_pool_used(model->engine->arrivals) == 0);
	model->totals->faults += rr_fault_count(rr_room_in(model->engine)->fabric);
	rpcrdma_engine_free(model->engine);
	model_require(model, model->live == 0);
	while ((link = rr_list_pop(&model->lost)))
		model_bury(model, rr_container(link, struct call, link)->memory);
	model_unearth(model, true);
	for (int i = 0; i < 2; i++) {
		for (uint32_t j = 0; j < model->call_count[i]; j++)
			free(model->calls[i][j]);
	}
}

void
model_run(uint64_t seed, uint64_t steps, struct model_totals *totals)
{
	struct model *model = calloc(1, sizeof(*model));

	if (!model)
		abort();
	model->seed = seed;
	model->state = seed * UINT64_C(2654435761);
	model->totals = totals;
	model->action = "the beginning";
	begin(model);
	for (model->step = 1; model->step <= steps; model->step++) {
		act(model, ACTIONS);
		model_check(model);
		model_keep_no_longer(model, false);
		model_unearth(model, false);
	}
	come_to_rest(model);
	end_run(model);
	totals->steps += steps;
	free(model);
}
