/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TOOL_MONITOR_TOP_H
#define RR_TOOL_MONITOR_TOP_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "tool/tool.h"

/* The parts of `rpcrdma top`: top.c asks the server, top_find.c finds it, and top_view.c shows the answer. */

/* The most values of an answer; octets of memory for the key of a value; the time to wait for a server. */
enum { RR_TOP_VALUES = 16384, RR_TOP_KEY = 192, RR_TOP_PATIENCE = 5000 /* milliseconds */ };

/* A line of the text format of Prometheus, such as "rpcrdma_connections 3": its key, without the prefix
 * "rpcrdma_" and with its labels, and its value. */
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

/* Connects to the Unix socket at path. Returns its descriptor; -1 if it cannot be connected to. */
int rr_top_connect(const char *path);

/* Finds the only socket at which a server or gateway answers this user, and writes its path. Returns
 * RR_EXIT_OK; or RR_EXIT_FAILED after a message: no server answers, or several do, and their sockets are
 * listed. */
int rr_top_find(const struct rr_tool *tool, char *path, size_t size);

/* Splits the text of an answer into the values of *sample. Lines that are no values, and lines beyond
 * RR_TOP_VALUES, are left out. */
void rr_top_parse(struct rr_top_sample *sample, const char *text);

/* Prints a page with the changes between the samples `before` and `sample`; if before is NULL, since the
 * server began. */
void rr_top_show(FILE *out, const struct rr_top_sample *sample, const struct rr_top_sample *before);

#endif
