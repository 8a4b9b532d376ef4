/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_SERVER_NLM_PROC_H
#define RR_SERVER_NLM_PROC_H

#include "server/nlm/server_private.h"

/* The handlers of NLM, by the number of the procedure, the same for all versions; their ctx is a struct
 * rr_nlm_version. And those that must be executed once. */
enum { RR_NLM_PROCEDURES = NLMPROC4_FREE_ALL + 1 };
extern rpcrdma_handler *const rr_nlm_handlers[RR_NLM_PROCEDURES];
extern const bool rr_nlm_once[RR_NLM_PROCEDURES];

/* nsm.c: the handlers of NSM; their ctx is the server. */
enum { RR_NLM_NSM_PROCEDURES = 7 };
extern rpcrdma_handler *const rr_nlm_nsm_handlers[RR_NLM_NSM_PROCEDURES];
extern const bool rr_nlm_nsm_once[RR_NLM_NSM_PROCEDURES];

#endif
