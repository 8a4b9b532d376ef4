/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_SERVER_NFS4_TABLES_NUMBER_H
#define RR_SERVER_NFS4_TABLES_NUMBER_H

#include "base/siphash.h"

/*
 * Numbers that nobody can guess, and in which the server finds again what it has put there: client IDs and
 * stateids of version 4.0. So the server tells a client ID of this start whose client has ended from one of
 * an earlier start, without a table of what has ended. A number is what its two halves become by a
 * permutation that depends on a secret of this start.
 */
struct rr_nfs4_numbers {
	uint8_t secret[RR_SIPHASH_KEY];
};

/* What a number is of; equal halves become different numbers. */
enum rr_nfs4_number_kind { RR_NFS4_NUMBER_CLIENT, RR_NFS4_NUMBER_STATE };

uint64_t rr_nfs4_number(
	const struct rr_nfs4_numbers *numbers, enum rr_nfs4_number_kind kind, uint32_t high, uint32_t low);
/* Stores the halves of which the number was made. Any number has two halves: the caller looks whether they
 * are such as it has given. */
void rr_nfs4_number_open(const struct rr_nfs4_numbers *numbers, enum rr_nfs4_number_kind kind,
	uint64_t number, uint32_t *high, uint32_t *low);

#endif
