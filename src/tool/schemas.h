/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TOOL_SCHEMAS_H
#define RR_TOOL_SCHEMAS_H

#include "gateway/gateway.h"
#include "tool/tool.h"
#include "xdr/tables.h"

/* --schema FILE.x, of commands that pass on programs that they do not know themselves. */

enum { RR_SCHEMAS_MAX = 8 };

struct rr_schemas {
	struct rr_xdr_tables files[RR_SCHEMAS_MAX];
	uint32_t count;
};

/* Reads the file, and adds its programs to what the gateway knows, which refers to schemas. An exit status.
 */
int rr_schemas_option(const struct rr_tool *tool, struct rr_schemas *schemas, const char *path,
	struct rr_gateway_config *config);

/* Octets that the largest message can have by the programs of config, as far as they say it, and as far as
 * memory is for it; 0 where there are none. */
uint32_t rr_schemas_message_max(const struct rr_gateway_config *config);

void rr_schemas_free(struct rr_schemas *schemas);

#endif
