/* SPDX-License-Identifier: BSD-3-Clause */
/* A permutation of 64 bits: a Feistel network, whose rounds are SipHash with a secret key. */
#include "server/nfs4/tables/number.h"

enum { NUMBER_ROUNDS = 6 };

/* Returns what a half becomes by the secret in this round. */
static uint32_t
number_mix(
	const struct rr_nfs4_numbers *numbers, enum rr_nfs4_number_kind kind, uint32_t round, uint32_t half)
{
	const uint32_t input[3] = { half, round, (uint32_t)kind };

	return (uint32_t)rr_siphash_64(numbers->secret, input, sizeof(input));
}

uint64_t
rr_nfs4_number(
	const struct rr_nfs4_numbers *numbers, enum rr_nfs4_number_kind kind, uint32_t high, uint32_t low)
{
	for (uint32_t round = 0; round < NUMBER_ROUNDS; round++) {
		uint32_t mixed = high ^ number_mix(numbers, kind, round, low);

		high = low;
		low = mixed;
	}
	return (uint64_t)high << 32 | low;
}

void
rr_nfs4_number_open(const struct rr_nfs4_numbers *numbers, enum rr_nfs4_number_kind kind, uint64_t number,
	uint32_t *high, uint32_t *low)
{
	*high = (uint32_t)(number >> 32);
	*low = (uint32_t)number;
	for (uint32_t round = NUMBER_ROUNDS; round-- > 0;) {
		uint32_t before = *low ^ number_mix(numbers, kind, round, *high);

		*low = *high;
		*high = before;
	}
}
