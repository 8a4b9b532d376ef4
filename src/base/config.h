/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_BASE_CONFIG_H
#define RR_BASE_CONFIG_H

#include <stddef.h>

#include "base/text.h"

/* Structures that begin with a member size_t size, and may grow in later versions: see rpcrdma/api.h. */

/*
 * Copies theirs, which may be of an earlier or a later version, to mine, of size octets; members that theirs
 * does not have become zero. first is the size of the structure's first version. Errors, with their text:
 * INVAL, NOTSUP.
 */
int rr_config_take(
	void *mine, size_t size, size_t first, const void *theirs, const char *name, struct rr_text *text);

/* Copies mine, of size octets, to theirs: as much of it as theirs has room for, and zeroes where theirs is
 * larger. first is the size of the structure's first version. Errors: INVAL (theirs is NULL, or smaller than
 * that). */
int rr_config_give(void *theirs, const void *mine, size_t size, size_t first);

#endif
