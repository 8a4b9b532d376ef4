/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_DECODE_NAMES_H
#define RR_DECODE_NAMES_H

#include <rpcrdma/xdr.h>

/* These functions return the names that the schemas (src/ulb) have for programs and procedures, or NULL for a
 * number that no schema has. */

/* Returns the schema of a version of a program, or NULL if there is none. */
const struct rpcrdma_program *rr_decode_program(uint32_t prog, uint32_t vers);

/* Returns a name such as "NFS_V3", or NULL. Programs of NFSv4 callbacks have numbers from 0x40000000 on,
 * which their clients choose. */
const char *rr_decode_program_name(uint32_t prog, uint32_t vers);

/* Returns a name such as "READ", without the prefix of the program's procedures, such as NFSPROC3_; or
 * NULL. */
const char *rr_decode_procedure_name(uint32_t prog, uint32_t vers, uint32_t proc);

/* Returns the name of an accept_stat, or NULL if it has no name. */
const char *rr_decode_accept_name(uint32_t accept_stat);

#endif
