/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_BASE_CONFIG_H
#define RR_BASE_CONFIG_H

#include <stddef.h>

#include "base/text.h"

/* Size-first structures: see rpcrdma/api.h. All of them begin with their size_t size. */

/*
 * Copies theirs, which may be of an earlier or a later version, to mine, of size octets; what theirs does not
 * have becomes zero. first is the size of the structure's first version. Errors: INVAL, NOTSUP.
 */
int rr_config_take(
	void *mine, size_t size, size_t first, const void *theirs, const char *name, struct rr_text *text);

/* Fills theirs in from mine, of size octets: as much of it as theirs has, zeroes where it has more. */
int rr_config_give(void *theirs, const void *mine, size_t size, size_t first);

#endif
