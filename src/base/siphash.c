/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/siphash.h"

struct state {
	uint64_t a, b, c, d;
};

static uint64_t
rotated(uint64_t value, unsigned bits)
{
	return value << bits | value >> (64 - bits);
}

static void
mix(struct state *state, unsigned rounds)
{
	while (rounds-- > 0) {
		state->a += state->b;
		state->c += state->d;
		state->b = rotated(state->b, 13) ^ state->a;
		state->d = rotated(state->d, 16) ^ state->c;
		state->a = rotated(state->a, 32);
		state->c += state->b;
		state->a += state->d;
		state->b = rotated(state->b, 17) ^ state->c;
		state->d = rotated(state->d, 21) ^ state->a;
		state->c = rotated(state->c, 32);
	}
}

static void
take(struct state *state, uint64_t word)
{
	state->d ^= word;
	mix(state, 2);
	state->a ^= word;
}

/* Up to eight octets, the first in the lowest place. */
static uint64_t
word_of(const uint8_t *data, size_t size)
{
	uint64_t word = 0;

	for (size_t i = 0; i < size; i++)
		word |= (uint64_t)data[i] << 8 * i;
	return word;
}

uint64_t
rr_siphash(const struct rr_siphash_key *key, const void *data, size_t size)
{
	struct state state = {
		key->low ^ UINT64_C(0x736f6d6570736575),
		key->high ^ UINT64_C(0x646f72616e646f6d),
		key->low ^ UINT64_C(0x6c7967656e657261),
		key->high ^ UINT64_C(0x7465646279746573),
	};
	const uint8_t *octets = data;
	size_t done = 0;

	for (; size - done >= 8; done += 8)
		take(&state, word_of(octets + done, 8));
	take(&state, (uint64_t)size << 56 | (size > done ? word_of(octets + done, size - done) : 0));
	state.c ^= 0xff;
	mix(&state, 4);
	return state.a ^ state.b ^ state.c ^ state.d;
}
