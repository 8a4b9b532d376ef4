/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TESTS_ULB_GENERATE_H
#define RR_TESTS_ULB_GENERATE_H

#include "xdr/compiler.h"

/* Makes random messages that a schema allows, from the schema itself, without the codecs and without the
 * walker. The places of the marked items are known. The same seed makes the same messages. */

enum { RR_GENERATED_MAX = 1 << 16, RR_GENERATED_ITEMS = 256, RR_GENERATED_ENOUGH = 1500 };

struct rr_generator {
	uint64_t state; /* of the random numbers; must not be 0 */
	struct rr_xdr_compiler schema;
	uint8_t octets[RR_GENERATED_MAX];
	uint32_t length;
	struct {
		uint32_t offset, length;
	} items[RR_GENERATED_ITEMS];
	uint32_t item_count;
};

/* Reads the schema in the file path. False: the schema is wrong. */
bool rr_generator_load(struct rr_generator *generator, const char *path, uint64_t seed);
void rr_generator_free(struct rr_generator *generator);

/* Returns a random number below bound. */
uint32_t rr_generator_random(struct rr_generator *generator, uint32_t bound);

/* Makes a value of type: octets, length and items then describe it. */
void rr_generate(struct rr_generator *generator, const struct rr_xdr_type *type);

#endif
