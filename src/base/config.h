/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_BASE_CONFIG_H
#define RR_BASE_CONFIG_H

#include <stddef.h>

#include "base/text.h"

/* Structures that begin with a member size_t size, and may grow in later versions: see rpcrdma/api.h. */

/* Copies theirs, a structure of the library's user, to mine, of size octets. theirs may be of an earlier or a
 * later version: members that it lacks become zero, and members that are unknown here must be zero. first is
 * the size of the structure's first version. Errors, with a text that has the structure's name: INVAL,
 * NOTSUP. */
int rr_config_take(
	void *mine, size_t size, size_t first, const void *theirs, const char *name, struct rr_text *text);

/* Copies mine, of size octets, to theirs, a structure of the library's user: as much as theirs has room for.
 * Members that are unknown here become zero. first is the size of the structure's first version. Errors:
 * INVAL (theirs is NULL, or smaller than first). */
int rr_config_give(void *theirs, const void *mine, size_t size, size_t first);

#endif
