/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_SERVER_NLM_OLD_H
#define RR_SERVER_NLM_OLD_H

#include "rpc/server.h"
#include "ulb/nlm4.h"

/*
 * NLM versions 1 and 3, whose offsets and lengths have 32 bits, in terms of version 4.
 */

/* Returns the program of this version: 1, 3 or 4. */
const struct rpcrdma_program *rr_nlm_program(uint32_t vers);

/* Translates the arguments of a procedure of version 1 or 3 into those of version 4, in memory of the
 * request. Returns NULL if there is no memory. */
const void *rr_nlm_widen(struct rpcrdma_request *request, const void *args);

/* Translate the results of TEST, of SHARE and UNSHARE, and of all others. */
struct nlm_testres;
struct nlm_res;
struct nlm_shareres;
void rr_nlm_narrow_test(const nlm4_testres *from, struct nlm_testres *to);
void rr_nlm_narrow_share(const nlm4_shareres *from, struct nlm_shareres *to);
void rr_nlm_narrow(const nlm4_res *from, struct nlm_res *to);

/* Writes what a call to a host of version 1 or 3 has as its arguments into `to`, which has room for
 * RR_NLM_OLD_ARGS octets: of GRANTED and GRANTED_MSG (granted), or of TEST_RES, or else of another _RES. */
enum { RR_NLM_OLD_ARGS = 128 };
void rr_nlm_narrow_granted(const nlm4_testargs *from, void *to);
void rr_nlm_narrow_result(uint32_t proc, const void *from, void *to);
/* Returns the status that the result of GRANTED of version 1 or 3 has. */
nlm4_stats rr_nlm_granted_stat(const void *result);

#endif
