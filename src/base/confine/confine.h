/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_BASE_CONFINE_CONFINE_H
#define RR_BASE_CONFINE_CONFINE_H

#include "base/text.h"

/* The leak detector of AddressSanitizer stops the threads of its own process by ptrace(2). */
#if defined(__SANITIZE_ADDRESS__)
#define RR_CONFINE_TRACES 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define RR_CONFINE_TRACES 1
#endif
#endif
#ifndef RR_CONFINE_TRACES
#define RR_CONFINE_TRACES 0
#endif

/*
 * Takes rights away from this process that a service does not use, so that whoever breaks into it has not got
 * them either. A process enters before it makes threads, and cannot leave.
 */

/* What a service is, and keeps capabilities(7) for. */
enum rr_confine_service {
	RR_CONFINE_FILES, /* acts as its callers do: it keeps what is about identities and files */
	RR_CONFINE_RELAY, /* passes messages on: it only reads and writes files of its own */
};

/* Drops all other capabilities, sets no_new_privs, and has the kernel refuse, with EPERM, system calls that
 * are not in the list of those that services make (calls.c): those that execute programs, look into other
 * processes, and manage mounts, modules and the machine, among others. Errors, with a text: NOTSUP if the
 * kernel has not got it; then what it has is in force. */
int rr_confine(enum rr_confine_service service, struct rr_text *text);

#endif
