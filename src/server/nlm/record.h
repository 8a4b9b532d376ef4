/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_SERVER_NLM_RECORD_H
#define RR_SERVER_NLM_RECORD_H

#include "server/locks/keep.h"
#include "server/nlm/server_private.h"

/* A host as its file has it. */
struct rr_nlm_recorded_host {
	uint8_t address[16];
	uint32_t length;
	char name[RR_NLM_NAME];
};

/* Writes the name of the host's file. */
void rr_nlm_record_name(const struct rr_nlm_recorded_host *host, char name[RR_KEEP_NAME]);
/* Reads the file of that name. Returns false if it is no file of a host. */
bool rr_nlm_record_read(const struct rr_keep *keep, const char *name, struct rr_nlm_recorded_host *host);

#endif
