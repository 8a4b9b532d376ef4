/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../fabric/loop/loop.h"
#include "../fabric/replay.h"
#include "fabric/filter/recording.h"
#include "fabric/iwarp/iwarp.h"
#include "world.h"

/* A client and a server work over RDMA, and their events are recorded. Then they run again from the record
 * alone: both must do the same to the octet. If the record is changed, they do something else, and the
 * test notices that. */

static rr_fabric_new *provider;
static struct rr_recording *recording;

static int
make(struct rr_loop *loop, const struct rr_fabric_config *config, struct rr_fabric **fabric)
{
	struct rr_fabric *below;
	int error = provider(loop, config, &below);

	return error ? error : rr_recording_fabric_new(below, recording, fabric);
}

struct files {
	char first[32], second[32];
};

/* Makes an empty file with a name of its own. */
static void
name_file(char path[32])
{
	int fd;

	strcpy(path, "/tmp/rpcrdma-replay-XXXXXX");
	fd = mkstemp(path);
	assert_true(fd >= 0);
	close(fd);
}

static int
setup(void **state)
{
	struct files *files = calloc(1, sizeof(*files));

	assert_non_null(files);
	name_file(files->first);
	name_file(files->second);
	*state = files;
	return 0;
}

static int
teardown(void **state)
{
	struct files *files = *state;

	unlink(files->first);
	unlink(files->second);
	free(files);
	return 0;
}

/* Returns the call of that number; together the calls move data in each way. */
static struct call *
next_call(uint32_t number)
{
	struct call *call;

	switch (number) {
	case 0: return call_new(ECHO_NULL);
	case 1:
		call = call_new(ECHO_ECHO);
		call->args.echo = (text){ "inline both ways", 16 };
		return call;
	case 2: return fetch_new(100000);      /* by RDMA Write */
	case 3: return blob_new(70001, true);  /* by RDMA Read, and by RDMA Write */
	case 4: return blob_new(90000, false); /* by RDMA Read, and a Reply chunk */
	case 5: return blob_new(300, false);
	case 6: return fetch_new(1);
	default: return NULL;
	}
}

/* Makes the calls. During a replay no event comes from outside: a call that is not done soon will never be
 * done. */
static void
do_calls(struct world *world)
{
	int patience = provider == replay_fabric_new ? 100 : 5000;
	struct call *call;
	bool done = true;

	for (uint32_t i = 0; done && (call = next_call(i)); i++) {
		call_start(world, call);
		for (int turns = 0; !call->done && turns < patience; turns++)
			world_turn(world);
		done = call->done;
		rr_client_cancel(world->client, &call->base);
		call_free(call);
	}
	assert_true(done || provider == replay_fabric_new);
}

/* Makes the calls on this provider, and records what the provider does in a file. */
static void
record_calls(rr_fabric_new *from, const char *path)
{
	struct rr_text why;
	struct world *world;

	provider = from;
	world_provider = make;
	world_octet = 17;
	assert_int_equal(rr_recording_open(path, &recording, &why), 0);
	world = world_new(NULL);
	do_calls(world);
	world_free(world);
	assert_int_equal(rr_recording_close(recording, &why), 0);
}

/* Runs the record again, and returns how the second record differs; NULL: it does not. */
static const char *
replay(const struct files *files)
{
	const char *differs;
	static char wrong[300];

	replay_open(files->first);
	record_calls(replay_fabric_new, files->second);
	snprintf(wrong, sizeof(wrong), "%s", replay_wrong() ? replay_wrong() : "");
	replay_close();
	differs = replay_compare(files->first, files->second);
	return wrong[0] ? wrong : differs;
}

static void
a_record_is_done_again_to_the_octet(void **state)
{
	static rr_fabric_new *const providers[] = { rr_loop_fabric_new, rr_iwarp_fabric_new };

	for (size_t i = 0; i < 2; i++) {
		const char *differs;

		record_calls(providers[i], ((struct files *)*state)->first);
		differs = replay(*state);
		if (differs)
			fail_msg("%s", differs);
	}
}

/* Changes a digit in the n-th line that has the word and the mark, at this distance from the end of the
 * mark. */
static void
change(const char *path, const char *word, int n, const char *mark, size_t distance)
{
	FILE *file = fopen(path, "r+e");
	char *line = NULL, *at;
	size_t size;
	long begin;

	assert_non_null(file);
	do {
		begin = ftell(file);
		assert_true(getline(&line, &size, file) > 0);
	} while (!strstr(line, word) || !strstr(line, mark) || n-- > 0);
	at = strstr(line, mark) + strlen(mark) + distance;
	assert_int_equal(fseek(file, begin + (at - line), SEEK_SET), 0);
	fputc(*at == '7' ? '6' : '7', file);
	free(line);
	fclose(file);
}

static void
another_operation_than_the_recorded_one_is_noticed(void **state)
{
	struct files *files = *state;
	const char *differs;

	record_calls(rr_loop_fabric_new, files->first);
	change(files->first, " send ", 2, "data=", 100);
	differs = replay(files);
	assert_non_null(differs);
	assert_non_null(strstr(differs, " send "));
}

/* RFC 8166, 4.2.1: rdma_xid; a reply to a call that was not made has no effect, so the call is not done. */
static void
another_event_than_the_recorded_one_leads_elsewhere(void **state)
{
	struct files *files = *state;

	record_calls(rr_loop_fabric_new, files->first);
	change(files->first, " received ", 1, "data=", 7);
	assert_non_null(replay(files));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_record_is_done_again_to_the_octet, setup, teardown),
		cmocka_unit_test_setup_teardown(
			another_operation_than_the_recorded_one_is_noticed, setup, teardown),
		cmocka_unit_test_setup_teardown(
			another_event_than_the_recorded_one_leads_elsewhere, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
