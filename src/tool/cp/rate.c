/* SPDX-License-Identifier: BSD-3-Clause */
#include "tool/cp/rate.h"

#include <rpcrdma/error.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/env.h"

/* The time for which a copy that came late may make up. */
#define RATE_LATE (RR_SECOND / 10)

/* A piece of data takes this part of a second, where that is at least RATE_LEAST octets. */
enum { RATE_PARTS = 8, RATE_LEAST = 4096 };

/* The highest limit, in KiB per second. */
#define RATE_MOST (UINT64_C(1) << 30)

/* Returns how many KiB the letter behind a number stands for; 0 if it stands for none. */
static uint64_t
rate_unit(char letter)
{
	switch (letter) {
	case '\0':
	case 'k':
	case 'K': return 1;
	case 'm':
	case 'M': return 1 << 10;
	case 'g':
	case 'G': return 1 << 20;
	default: return 0;
	}
}

int
rr_rate_parse(const char *text, uint64_t *limit)
{
	size_t digits = strspn(text, "0123456789");
	uint64_t unit = rate_unit(text[digits]);
	uint64_t number;

	/* So many digits are enough for RATE_MOST, and too few to overflow. */
	if (digits == 0 || digits > 10 || unit == 0 || (text[digits] && text[digits + 1]))
		return -RPCRDMA_ERR_INVAL;
	number = strtoull(text, NULL, 10);
	if (number == 0 || number > RATE_MOST / unit)
		return -RPCRDMA_ERR_INVAL;
	*limit = number * unit << 10;
	return 0;
}

/* Returns the time that octets take at the limit, which is not 0. Their product with the ns of a second has
 * less than 62 bits. */
static uint64_t
rate_time(const struct rr_rate *rate, uint32_t octets)
{
	return octets * RR_SECOND / rate->limit;
}

uint64_t
rr_rate_wait(const struct rr_rate *rate, uint64_t now)
{
	return rate->limit > 0 && rate->due > now ? rate->due - now : 0;
}

void
rr_rate_take(struct rr_rate *rate, uint32_t octets, uint64_t now)
{
	uint64_t earliest = now > RATE_LATE ? now - RATE_LATE : 0;

	if (rate->limit == 0)
		return;
	if (rate->due < earliest)
		rate->due = earliest;
	rate->due += rate_time(rate, octets);
}

void
rr_rate_give(struct rr_rate *rate, uint32_t octets)
{
	if (rate->limit > 0)
		rate->due -= rr_min(rate->due, rate_time(rate, octets));
}

uint32_t
rr_rate_piece(const struct rr_rate *rate, uint32_t most)
{
	uint64_t wanted = rate->limit / RATE_PARTS / RATE_LEAST * RATE_LEAST;

	if (rate->limit == 0 || wanted >= most)
		return most;
	return (uint32_t)rr_min(wanted > RATE_LEAST ? wanted : RATE_LEAST, most);
}
