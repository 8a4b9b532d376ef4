/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_DECODE_NAMES_H
#define RR_DECODE_NAMES_H

#include <stdbool.h>
#include <stdint.h>

/* Names of programs and procedures: those of the schemas. NULL: there is no schema. */

/* "NFS_V3". Programs of NFSv4 callbacks have numbers from 0x40000000 on, which their clients choose. */
const char *rr_decode_program_name(uint32_t prog, uint32_t vers);

/* "READ": without what all procedures of a program begin with, such as NFSPROC3_. */
const char *rr_decode_procedure_name(uint32_t prog, uint32_t vers, uint32_t proc);

/* The name of an accept_stat, or of MSG_DENIED. */
const char *rr_decode_accept_name(uint32_t accept_stat);

#endif
