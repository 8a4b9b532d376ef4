/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies configurations between the library and its user, who may have another version of the structure. */
#include "base/config.h"

#include <rpcrdma/error.h>
#include <stdint.h>
#include <string.h>

#include "base/checked.h"

/* Returns the value of the member `size_t size`, with which every configuration structure begins. */
static size_t
config_size_of(const void *structure)
{
	size_t size;

	memcpy(&size, structure, sizeof(size));
	return size;
}

int
rr_config_take(
	void *mine, size_t size, size_t first, const void *theirs, const char *name, struct rr_text *text)
{
	size_t their_size = theirs ? config_size_of(theirs) : 0;

	if (!theirs)
		return rr_fail(text, -RPCRDMA_ERR_INVAL, "there is no %s: the pointer to it is NULL", name);
	if (their_size < first)
		return rr_fail(text, -RPCRDMA_ERR_INVAL,
			"the size of %s is %zu, less than it ever was; set it to sizeof(%s)", name,
			their_size, name);
	for (size_t i = size; i < their_size; i++) {
		if (((const uint8_t *)theirs)[i] != 0)
			return rr_fail(text, -RPCRDMA_ERR_NOTSUP,
				"%s asks for something that this version of the library does not know", name);
	}
	if (their_size < size)
		memset((uint8_t *)mine + their_size, 0, size - their_size);
	memcpy(mine, theirs, rr_min(size, their_size));
	return 0;
}

int
rr_config_give(void *theirs, const void *mine, size_t size, size_t first)
{
	size_t their_size = theirs ? config_size_of(theirs) : 0;

	if (their_size < first)
		return -RPCRDMA_ERR_INVAL;
	memset(theirs, 0, their_size);
	memcpy(theirs, mine, rr_min(size, their_size));
	/* The member size, with which theirs begins, keeps its value. */
	memcpy(theirs, &their_size, sizeof(their_size));
	return 0;
}
