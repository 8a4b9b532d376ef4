/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TOOL_SCHEMAS_H
#define RR_TOOL_SCHEMAS_H

#include "gateway/gateway.h"
#include "tool/tool.h"
#include "xdr/tables.h"

/* --schema FILE.x, for commands that pass on programs which they do not know themselves. */

enum { RR_SCHEMAS_MAX = 8 }; /* the most options --schema */

/* The schemas that were read. */
struct rr_schemas {
	struct rr_xdr_tables files[RR_SCHEMAS_MAX];
	uint32_t count;
};

/* Reads the file of an option --schema, and adds its programs to the programs in config. config then refers
 * to memory of schemas. Returns an exit status, after a message if it is not OK. */
int rr_schemas_option(const struct rr_tool *tool, struct rr_schemas *schemas, const char *path,
	struct rr_gateway_config *config);

/* Returns how many octets the largest message of the programs in config can have, but at most 16 MiB.
 * Messages whose size the schemas do not bound are left out. Returns 0 if no other messages remain, or if
 * config has no programs. */
uint32_t rr_schemas_message_max(const struct rr_gateway_config *config);

void rr_schemas_free(struct rr_schemas *schemas);

#endif
