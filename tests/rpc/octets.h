/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TESTS_RPC_OCTETS_H
#define RR_TESTS_RPC_OCTETS_H

#include "raw.h"

/* Messages of the echo program as octets, in hexadecimal. */

/* The front of a call: XID 0x2a, CALL, RPC 2, the echo program version 3. Procedure, credential and
 * verifier follow. */
#define CALL         "0000002a 00000000 00000002 20000099 00000003"
#define NO_AUTH      "00000000 00000000 00000000 00000000"
#define NULL_CALL    CALL "00000000" NO_AUTH
#define SUCCESS      "0000002a 00000001 00000000 00000000 00000000 00000000"
#define SYSTEM_ERR   "0000002a 00000001 00000000 00000000 00000000 00000005"
#define GARBAGE_ARGS "0000002a 00000001 00000000 00000000 00000000 00000004"
#define DENIED       "0000002a 00000001 00000001"

#endif
