/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TESTS_MUTATE_H
#define RR_TESTS_MUTATE_H

#include "hex.h"

#include <stdlib.h>

/*
 * Takes a good message through every one-bit flip and every truncation, always
 * in the same order. Each case lies in memory of exactly its size, so that
 * AddressSanitizer sees an octet read too many. The check says what it finds
 * broken (NULL: nothing), and the case is printed; so it is where
 * AddressSanitizer ends the program.
 */
typedef const char *(*rr_mutation_check)(const uint8_t *data, size_t size, void *context);

static struct {
	const uint8_t *data;
	size_t size;
} rr_mutation;

#ifdef __SANITIZE_ADDRESS__
void __asan_on_error(void);

void
__asan_on_error(void)
{
	fprintf(stderr, "the message was: ");
	rr_print_hex(rr_mutation.data, rr_mutation.size);
}
#endif

/* Runs the check on a message in memory of exactly its size. Where the check fails, the message is printed
 * and the test fails. */
static inline void
rr_mutation_try(const uint8_t *data, size_t size, const char *what, size_t where, rr_mutation_check check,
	void *context)
{
	uint8_t *copy = calloc(1, size);
	const char *broken;

	if (size > 0)
		memcpy(copy, data, size);
	rr_mutation.data = copy;
	rr_mutation.size = size;
	broken = check(copy, size, context);
	if (broken) {
		fprintf(stderr, "%s, with %s %zu: ", broken, what, where);
		rr_print_hex(copy, size);
	}
	rr_mutation.size = 0;
	free(copy);
	if (broken)
		fail_msg("%s", broken);
}

/* Checks the message itself, each message with a flipped bit, and each truncation. */
static inline void
rr_mutate(const uint8_t *message, size_t size, rr_mutation_check check, void *context)
{
	uint8_t *copy = malloc(size + 1);

	memcpy(copy, message, size);
	rr_mutation_try(copy, size, "nothing changed", 0, check, context);
	for (size_t bit = 0; bit < size * 8; bit++) {
		copy[bit / 8] ^= (uint8_t)(0x80 >> bit % 8);
		rr_mutation_try(copy, size, "flipped bit", bit, check, context);
		copy[bit / 8] ^= (uint8_t)(0x80 >> bit % 8);
	}
	for (size_t cut = 0; cut < size; cut++)
		rr_mutation_try(copy, cut, "the size cut to", cut, check, context);
	free(copy);
}

#endif
