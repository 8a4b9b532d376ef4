/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TOOL_ATTRIBUTES_H
#define RR_TOOL_ATTRIBUTES_H

#include <stdio.h>

#include "ulb/nfs3.h"

/* NFS attributes for people and for scripts. */

/* "regular file", "directory", ...; never NULL. */
const char *rr_attributes_type(ftype3 type);

/* "drwxr-xr-x", as ls has it. */
void rr_attributes_mode(const fattr3 *attributes, char text[11]);

/* "2026-11-21 09:08:34.000000000 +0000" in the local time zone; or, short, up to the minute. */
void rr_attributes_time(nfstime3 time, bool brief, char text[48]);

/* The members of a JSON object, without its braces: "type", "mode" (octal, a string), "nlink", ... */
void rr_attributes_json(FILE *out, const fattr3 *attributes);

#endif
