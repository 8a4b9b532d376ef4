/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TOOL_TOP_H
#define RR_TOOL_TOP_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "tool/tool.h"

/* Between top.c, which asks, top_find.c, which finds the server, and top_view.c, which shows. */

enum { RR_TOP_VALUES = 8192, RR_TOP_KEY = 192 };

/* A line of the text format of Prometheus: "rpcrdma_connections 3", without its first word "rpcrdma_". */
struct rr_top_value {
	char key[RR_TOP_KEY];
	double value;
};

struct rr_top_sample {
	uint64_t at; /* ns */
	uint32_t count;
	struct rr_top_value values[RR_TOP_VALUES];
};

/* Connects to the socket: a descriptor, or -1. */
int rr_top_connect(const char *path);

/* The path of the only socket at which a server or gateway answers this user: RR_EXIT_OK. Else, after a
 * message, RR_EXIT_FAILED: no server answers, or several do, and their sockets are listed. */
int rr_top_find(const struct rr_tool *tool, char *path, size_t size);

/* Takes text apart; what is too much, or no value, is left out. */
void rr_top_parse(struct rr_top_sample *sample, const char *text);

/* A page of what happened between two samples; before may be NULL: then of what there is. */
void rr_top_show(FILE *out, const struct rr_top_sample *sample, const struct rr_top_sample *before);

#endif
