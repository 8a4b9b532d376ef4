/* SPDX-License-Identifier: BSD-3-Clause */
/* The kinds of storage that are served. */
#include "tool/serve/provider.h"

#include <string.h>

static const struct rr_serve_provider *const provider_table[] = { &rr_serve_ceph, &rr_serve_nfs,
	&rr_serve_posix };

const struct rr_serve_provider *
rr_serve_provider(const char *argument)
{
	const struct rr_serve_provider *const *row = provider_table;

	while (strncmp(argument, (*row)->word, strlen((*row)->word)) != 0)
		row++;
	return *row;
}
