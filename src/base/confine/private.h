/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_BASE_CONFINE_PRIVATE_H
#define RR_BASE_CONFINE_PRIVATE_H

#include "base/confine/confine.h"

/* calls.c: has the kernel refuse, to all threads, system calls that no service makes. Error, with a text:
 * NOTSUP. */
int rr_confine_calls(struct rr_text *text);

/* landlock.c: holds this thread, and all that it makes later, to the rules, which are gone then. Error, with
 * a text: NOTSUP. */
int rr_confine_landlock(struct rr_confine *confine, struct rr_text *text);

#endif
