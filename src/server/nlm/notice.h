/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_SERVER_NLM_NOTICE_H
#define RR_SERVER_NLM_NOTICE_H

#include "server/nlm/record.h"

/* Adds a host of the last start to those that are to be notified. Returns false if there is no memory. */
bool rr_nlm_notice_add(struct rr_nlm_shared *shared, const struct rr_nlm_recorded_host *host);

#endif
