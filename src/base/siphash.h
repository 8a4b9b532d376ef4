/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_BASE_SIPHASH_H
#define RR_BASE_SIPHASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * SipHash-2-4 with 128 bits of output (Aumasson and Bernstein, "SipHash: a fast short-input PRF"): a keyed
 * hash. Without the key, a tag can only be guessed, with one chance in 2^128 for each guess. Two inputs have
 * the same tag with a chance of 2^-128, and tags with the same first half (rr_siphash_64()) with a chance of
 * 2^-64.
 */

enum { RR_SIPHASH_KEY = 16, RR_SIPHASH_TAG = 16 };

/* A hash whose input comes in pieces: init, add for each piece, end. */
struct rr_siphash {
	uint64_t v[4];
	uint64_t count;  /* octets so far */
	uint8_t tail[8]; /* the last octets, if they do not fill a word */
};

/* rr_siphash_init() begins a hash, rr_siphash_add() adds the next octets of the input, and rr_siphash_end()
 * writes the tag. */
void rr_siphash_init(struct rr_siphash *hash, const uint8_t key[RR_SIPHASH_KEY]);
void rr_siphash_add(struct rr_siphash *hash, const void *data, size_t size);
void rr_siphash_end(struct rr_siphash *hash, uint8_t tag[RR_SIPHASH_TAG]);

/* Writes to tag the hash of data, which is the whole input. */
void rr_siphash(
	const uint8_t key[RR_SIPHASH_KEY], const void *data, size_t size, uint8_t tag[RR_SIPHASH_TAG]);

/* Returns the first 64 bits of the tag of an input. */
uint64_t rr_siphash_64(const uint8_t key[RR_SIPHASH_KEY], const void *data, size_t size);

/* Writes to key a key that is derived from a secret of 32 octets and from the text purpose: each purpose has
 * a key of its own. */
void rr_siphash_derive(
	const uint8_t secret[2 * RR_SIPHASH_KEY], const char *purpose, uint8_t key[RR_SIPHASH_KEY]);

/* Whether two tags are the same. The comparison takes the same time wherever they differ. */
bool rr_siphash_same(const uint8_t a[RR_SIPHASH_TAG], const uint8_t b[RR_SIPHASH_TAG]);

#endif
