/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TOOL_TOP_H
#define RR_TOOL_TOP_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "tool/tool.h"

/* The parts of `rpcrdma top`: top.c asks the server, top_find.c finds it, and top_view.c shows the answer. */

enum { RR_TOP_VALUES = 8192, RR_TOP_KEY = 192 };

/* A line of the text format of Prometheus: "rpcrdma_connections 3", without the prefix "rpcrdma_". */
struct rr_top_value {
	char key[RR_TOP_KEY];
	double value;
};

/* The answer of a server, taken apart. */
struct rr_top_sample {
	uint64_t at; /* ns of rr_now() */
	uint32_t count;
	struct rr_top_value values[RR_TOP_VALUES];
};

/* Connects to the socket. Returns a descriptor; -1: the socket cannot be connected to. */
int rr_top_connect(const char *path);

/* Finds the path of the only socket at which a server or gateway answers this user. Returns RR_EXIT_OK;
 * RR_EXIT_FAILED, after a message: no server answers, or several do, and their sockets are listed. */
int rr_top_find(const struct rr_tool *tool, char *path, size_t size);

/* Takes the text apart; lines beyond RR_TOP_VALUES, and lines that are no values, are left out. */
void rr_top_parse(struct rr_top_sample *sample, const char *text);

/* Shows a page with the changes between two samples; without `before`, since the server began. */
void rr_top_show(FILE *out, const struct rr_top_sample *sample, const struct rr_top_sample *before);

#endif
