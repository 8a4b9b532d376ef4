/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TOOL_FILE_ATTRIBUTES_H
#define RR_TOOL_FILE_ATTRIBUTES_H

#include <stdio.h>

#include <rpcrdma/nfs.h>

/* These functions write NFS attributes for people and for scripts. */

/* Returns the name of the type of an NFS object: "regular file", "directory", ...; never NULL. */
const char *rr_attributes_type(enum rpcrdma_nfs_type type);

/* Writes the type and the mode of the object as ls does: "drwxr-xr-x". */
void rr_attributes_mode(const struct rpcrdma_nfs_object *object, char text[11]);

/* Writes a time in the local time zone, as in "2026-11-21 09:08:34.000000000 +0000". If brief is true, writes
 * the time only up to the minute, and without the zone. Writes an empty text if the time has no date. */
void rr_attributes_time(struct rpcrdma_nfs_time time, bool brief, char text[48]);

/* Writes the user or the group of an object: its name, if the server sent one (it is not empty), or else the
 * number, with spaces in front up to `width` columns. */
void rr_attributes_who(const char *name, uint32_t number, int width);

/* Writes the attributes of the object as members of a JSON object, without its braces: "type", "mode" (a
 * string of octal digits), "nlink", and so on. */
void rr_attributes_json(FILE *out, const struct rpcrdma_nfs_object *object);

#endif
