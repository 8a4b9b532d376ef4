/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TOOL_ATTRIBUTES_H
#define RR_TOOL_ATTRIBUTES_H

#include <stdio.h>

#include <rpcrdma/nfs.h>

/* These functions write NFS attributes for people and for scripts. */

/* Returns the name of the type of an NFS object: "regular file", "directory", ...; never NULL. */
const char *rr_attributes_type(enum rpcrdma_nfs_type type);

/* Writes the type and the mode of the object as ls does: "drwxr-xr-x". */
void rr_attributes_mode(const struct rpcrdma_nfs_object *object, char text[11]);

/* Writes a time in the local time zone: "2026-11-21 09:08:34.000000000 +0000"; if brief is set, only up to
 * the minute. */
void rr_attributes_time(struct rpcrdma_nfs_time time, bool brief, char text[48]);

/* Writes the attributes as members of a JSON object, without its braces: "type", "mode" (octal, a string),
 * "nlink", ... */
void rr_attributes_json(FILE *out, const struct rpcrdma_nfs_object *object);

#endif
