/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TESTS_LIST_H
#define RR_TESTS_LIST_H

#include "base/list.h"

static inline uint32_t
list_length(const struct rr_list *list)
{
	uint32_t length = 0;

	rr_list_for_each (link, list)
		length++;
	return length;
}

#endif
