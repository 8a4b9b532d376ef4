/* SPDX-License-Identifier: BSD-3-Clause */
/* The hash of siphash.h. The state v is mixed by two rounds for each word of the input, and by four rounds
 * for each half of the tag. */
#include "base/siphash.h"

#include <endian.h>
#include <string.h>

/* Returns the 64-bit word at data, which is read in little-endian order, as SipHash demands. */
static uint64_t
siphash_word(const void *data)
{
	uint64_t word;

	memcpy(&word, data, sizeof(word));
	return le64toh(word);
}

static uint64_t
siphash_rotate(uint64_t word, unsigned bits)
{
	return word << bits | word >> (64 - bits);
}

/* Mixes the state v by as many rounds of SipHash as `rounds` says. */
static void
siphash_rounds(uint64_t v[4], int rounds)
{
	while (rounds-- > 0) {
		v[0] += v[1];
		v[2] += v[3];
		v[1] = siphash_rotate(v[1], 13) ^ v[0];
		v[3] = siphash_rotate(v[3], 16) ^ v[2];
		v[0] = siphash_rotate(v[0], 32) + v[3];
		v[2] += v[1];
		v[1] = siphash_rotate(v[1], 17) ^ v[2];
		v[3] = siphash_rotate(v[3], 21) ^ v[0];
		v[2] = siphash_rotate(v[2], 32);
	}
}

/* Mixes one more word of the input into the state of the hash. */
static void
siphash_take(struct rr_siphash *hash, uint64_t word)
{
	hash->v[3] ^= word;
	siphash_rounds(hash->v, 2);
	hash->v[0] ^= word;
}

void
rr_siphash_init(struct rr_siphash *hash, const uint8_t key[RR_SIPHASH_KEY])
{
	uint64_t k0 = siphash_word(key), k1 = siphash_word(key + 8);

	hash->v[0] = k0 ^ UINT64_C(0x736f6d6570736575);
	hash->v[1] = k1 ^ UINT64_C(0x646f72616e646f6d) ^ 0xee; /* 0xee and 0xdd: 128 bits of output */
	hash->v[2] = k0 ^ UINT64_C(0x6c7967656e657261);
	hash->v[3] = k1 ^ UINT64_C(0x7465646279746573);
	hash->count = 0;
}

void
rr_siphash_add(struct rr_siphash *hash, const void *data, size_t size)
{
	const uint8_t *next = data;

	for (; size > 0 && hash->count % 8 != 0; size--) {
		hash->tail[hash->count++ % 8] = *next++;
		if (hash->count % 8 == 0)
			siphash_take(hash, siphash_word(hash->tail));
	}
	for (; size >= 8; size -= 8, next += 8, hash->count += 8)
		siphash_take(hash, siphash_word(next));
	for (; size > 0; size--)
		hash->tail[hash->count++ % 8] = *next++;
}

/* 0xee and 0xdd are the constants of SipHash with a tag of 128 bits. */
void
rr_siphash_end(struct rr_siphash *hash, uint8_t tag[RR_SIPHASH_TAG])
{
	uint64_t word;

	memset(hash->tail + hash->count % 8, 0, 8 - hash->count % 8);
	siphash_take(hash, siphash_word(hash->tail) | hash->count << 56);
	hash->v[2] ^= 0xee;
	for (size_t i = 0; i < 2; i++) {
		hash->v[1] ^= i == 0 ? 0 : 0xdd;
		siphash_rounds(hash->v, 4);
		word = htole64(hash->v[0] ^ hash->v[1] ^ hash->v[2] ^ hash->v[3]);
		memcpy(tag + 8 * i, &word, sizeof(word));
	}
}

void
rr_siphash(const uint8_t key[RR_SIPHASH_KEY], const void *data, size_t size, uint8_t tag[RR_SIPHASH_TAG])
{
	struct rr_siphash hash;

	rr_siphash_init(&hash, key);
	rr_siphash_add(&hash, data, size);
	rr_siphash_end(&hash, tag);
}

uint64_t
rr_siphash_64(const uint8_t key[RR_SIPHASH_KEY], const void *data, size_t size)
{
	uint8_t tag[RR_SIPHASH_TAG];

	rr_siphash(key, data, size, tag);
	return siphash_word(tag);
}

void
rr_siphash_derive(const uint8_t secret[2 * RR_SIPHASH_KEY], const char *purpose, uint8_t key[RR_SIPHASH_KEY])
{
	struct rr_siphash hash;

	rr_siphash_init(&hash, secret);
	rr_siphash_add(&hash, secret + RR_SIPHASH_KEY, RR_SIPHASH_KEY);
	rr_siphash_add(&hash, purpose, strlen(purpose));
	rr_siphash_end(&hash, key);
}

bool
rr_siphash_same(const uint8_t a[RR_SIPHASH_TAG], const uint8_t b[RR_SIPHASH_TAG])
{
	volatile uint8_t differs = 0;

	for (int i = 0; i < RR_SIPHASH_TAG; i++)
		differs = differs | (a[i] ^ b[i]);
	return !differs;
}
