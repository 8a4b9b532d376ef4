/* SPDX-License-Identifier: BSD-3-Clause */
#include "note.h"

#include <stdlib.h>
#include <string.h>

#include "base/endian.h"

static uint32_t states;

uint32_t
note_states(void)
{
	return states;
}

static void
note_begin(void *state, struct rr_connection *connection)
{
	struct note *note = state;

	assert_null(note->connection);
	note->connection = connection;
	states++;
}

static void
note_end(void *state)
{
	struct note *note = state;

	states -= note->connection != NULL;
	free(note->answer);
}

static bool
parse(struct rpcrdma_bytes optinfo, void *parsed)
{
	if (optinfo.length != 4)
		return false;
	*(uint32_t *)parsed = rr_get_be32(optinfo.data);
	return true;
}

/* Counts a note that arrived, and answers it; a note with an odd number comes back with its payload. */
static void
got_note(const struct rr_feature_arrival *arrival, struct rr_optional *answer)
{
	struct note *note = arrival->state;
	uint32_t number = *(const uint32_t *)arrival->parsed;

	note->got++;
	note->got_octets += arrival->payload.length;
	rr_put_be32(note->info, number);
	*answer = (struct rr_optional){ .due = true, .opttype = SEEN, .info = { note->info, 4 } };
	if (number % 2 == 0)
		return;
	note->answer = realloc(note->answer, NOTE_MAX);
	assert_non_null(note->answer);
	memcpy(note->answer, arrival->payload.data, arrival->payload.length);
	answer->payload = (struct rpcrdma_bytes){ note->answer, arrival->payload.length };
}

/* Keeps the number that the peer answered, and the length of the payload that came back. */
static void
got_seen(const struct rr_feature_arrival *arrival, struct rr_optional *answer)
{
	struct note *note = arrival->state;

	(void)answer;
	note->seen++;
	note->seen_octets += arrival->payload.length;
	note->number = *(const uint32_t *)arrival->parsed;
	note->echo = arrival->payload.length;
}

static const struct rr_feature_message messages[] = {
	{ NOTE, "NOTE", RR_PAYLOAD_ALWAYS, parse, got_note },
	{ SEEN, "SEEN", RR_PAYLOAD_MAY, parse, got_seen },
};

/* A second feature, which fills its state, so that the tests see whether features have separate states. */
static void
silence_begin(void *state, struct rr_connection *connection)
{
	(void)connection;
	*(uint8_t *)state = UINT8_MAX;
}

static const struct rr_feature silence = { .name = "silence", .state_size = 1, .begin = silence_begin };
static const struct rr_feature notes = { .name = "notes",
	.messages = messages,
	.message_count = 2,
	.state_size = sizeof(struct note),
	.begin = note_begin,
	.end = note_end };
const struct rr_feature *const note_features[] = { &silence, &notes, NULL };

struct note *
note_of(struct rr_carrier *carrier)
{
	void *state;

	assert_ptr_equal(rr_feature_find(&rr_connection_of(carrier)->features, NOTE, &state), &messages[0]);
	return state;
}

/* ---- Sending ---- */

static void
note_done(struct rr_feature_request *request, int error)
{
	struct note_sent *sent = rr_container(request, struct note_sent, request);

	assert_false(sent->done);
	sent->done = true;
	sent->error = error;
}

int
note_send(struct world *world, struct rr_carrier *carrier, struct note_sent **sent, uint32_t number,
	uint32_t length)
{
	struct note_sent *note = world_memory(world, sizeof(*note));

	*note = (struct note_sent){ .text = world_memory(world, length + 1) };
	fill(note->text, length, number);
	rr_put_be32(note->info, number);
	rr_list_init(&note->request.link);
	note->request.message = (struct rr_optional){
		.due = true, .opttype = NOTE, .info = { note->info, 4 }, .payload = { note->text, length }
	};
	note->request.answer = SEEN;
	note->request.done = note_done;
	*sent = note;
	return rr_feature_ask(rr_connection_of(carrier), &note->request);
}

void
note_ended(struct world *world, const struct note_sent *sent, int error)
{
	world_until(world, sent->done);
	assert_int_equal(sent->error, error);
}
