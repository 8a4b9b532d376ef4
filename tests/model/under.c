/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/filter/filter.h"

#include "model.h"

struct rr_endpoint *
model_under(struct rr_endpoint *endpoint)
{
	return rr_filter_endpoint_of(endpoint)->below;
}
