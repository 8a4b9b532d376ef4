/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_FUZZ_FUZZ_H
#define RR_FUZZ_FUZZ_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/*
 * A fuzz target is a file with this function: libFuzzer calls it (option
 * -Dfuzz=true, with clang), AFL++ (the same, with afl-clang-fast: `make
 * fuzz-afl`), and replay.c for each seed in `make check`. A property that does not hold aborts.
 */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline void
rr_require(int holds)
{
	if (!holds)
		abort();
}

#endif
