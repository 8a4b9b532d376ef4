/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TOOL_SANDBOX_H
#define RR_TOOL_SANDBOX_H

#include "base/confine/confine.h"
#include "tool/filters.h"
#include "tool/secure.h"
#include "tool/workers.h"

/*
 * The sandbox of `serve` and `gateway`: base/confine/ with what both of them need. Each adds what it needs
 * itself.
 */

/* The options that files and ports follow from. */
struct rr_sandbox {
	const struct rr_workers *workers;
	const struct rr_filters *filters;
	const struct rr_tool_secure *secure;
	const char *config; /* the configuration file; NULL: there is none */
};

/* Begins rules, with those for libraries, devices, the monitor, and the files of the
 * options. */
void rr_sandbox_begin(
	const struct rr_sandbox *sandbox, const struct rr_confine_tcp *tcp, struct rr_confine *confine);

/* Has this process enter the sandbox, unless --no-sandbox was given. Warns where the kernel has not got all
 * of it. There are no threads yet. */
void rr_sandbox_enter(
	const struct rr_sandbox *sandbox, enum rr_confine_service service, struct rr_confine *confine);

#endif
