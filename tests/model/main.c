/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * model [-n STEPS] [SEED]: two transports and their owners do STEPS things by chance (see model.h), in runs
 * of some thousands with a seed of their own each. What does not hold is printed with the seed of its run;
 * `model -n 1 SEED` runs that one again.
 */
#include "model.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { RUN_STEPS = 2500 };

void
model_fail(const struct model *model, const char *format, ...)
{
	va_list args;

	fflush(stdout);
	fprintf(stderr, "\nmodel: seed %" PRIu64 ", step %" PRIu64 " (%s): ", model->seed, model->step,
		model->action);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fprintf(stderr, "\nmodel: credits %u, inline %u, versions %d, '%s'; again: model -n 1 %" PRIu64 "\n",
		model->config.credits, model->config.inline_send, model->versions, model->script,
		model->seed);
	abort();
}

static void
print_totals(const struct model_totals *totals)
{
	printf("# %" PRIu64 " steps: %" PRIu64 " calls (%" PRIu64 " in the reverse direction): %" PRIu64
	       " answered, %" PRIu64 " refused, %" PRIu64 " failed, %" PRIu64 " cancelled, %" PRIu64
	       " lost, %" PRIu64 " of them sent again\n",
		totals->steps, totals->calls, totals->reverse, totals->answered, totals->refused,
		totals->failed, totals->cancelled, totals->lost, totals->resent);
	printf("# %" PRIu64 " ends of connections, %" PRIu64 " of them of version 2, %" PRIu64
	       " with the peer's properties, %" PRIu64 " cut off, %" PRIu64 " faults\n#",
		totals->connections, totals->version[2], totals->properties, totals->cut, totals->faults);
	for (uint32_t i = 0; i < RR_COUNTERS; i++)
		printf(" %s %" PRIu64, rr_counter_names[i], rr_counters_get(&totals->counters, i));
	printf("\n");
}

/* A schedule that does not come by something shows nothing about it. */
static bool
came_by_all(const struct model_totals *totals)
{
	const struct rpcrdma_counters *counters = &totals->counters;

	return totals->reverse > 0 && totals->answered > 0 && totals->refused > 0 && totals->cancelled > 0 &&
	       totals->lost > 0 && totals->resent > 0 && counters->inline_messages > 0 &&
	       counters->long_calls > 0 && counters->long_replies > 0 && counters->read_chunks > 0 &&
	       counters->write_chunks > 0 && counters->remote_invalidations > 0 &&
	       counters->provided_replies > 0 && counters->credit_waits > 0 && counters->memory_waits > 0 &&
	       totals->version[1] > 0 && totals->version[2] > 0 && totals->properties > 0 &&
	       counters->err_vers_received > 0;
}

/* Peers that are late by 20 ms at times are rarely taken for peers that do not move. */
static bool
are_cuts_rare(const struct model_totals *totals)
{
	return totals->cut <= 1 + totals->connections / 500;
}

int
main(int argc, char **argv)
{
	uint64_t seed = 1, steps = RUN_STEPS;
	struct model_totals totals = { 0 };
	bool good;
	int option;

	while ((option = getopt(argc, argv, "n:")) != -1) {
		if (option != 'n')
			return 2;
		steps = strtoull(optarg, NULL, 10);
	}
	if (optind < argc)
		seed = strtoull(argv[optind], NULL, 10);
	while (totals.steps < steps) {
		/* Beforehand: a sanitizer does not ask for the seed. */
		printf("# seed %" PRIu64 "\n", seed);
		fflush(stdout);
		model_run(seed++, RUN_STEPS, &totals);
	}
	print_totals(&totals);
	good = are_cuts_rare(&totals) && (steps < 10 * RUN_STEPS || came_by_all(&totals));
	printf("%s 1 - %" PRIu64 " steps, and all that must hold did\n1..1\n", good ? "ok" : "not ok",
		totals.steps);
	return good ? 0 : 1;
}
