/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_BASE_CONFINE_CONFINE_H
#define RR_BASE_CONFINE_CONFINE_H

#include <stdbool.h>
#include <stdint.h>

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

/* The use that a service has of a file, or of all that is below a directory. */
enum rr_confine_use {
	RR_CONFINE_READ,
	RR_CONFINE_WRITE,  /* also makes, changes, renames and removes what is below */
	RR_CONFINE_DEVICE, /* reads and writes what exists, and gives commands to devices */
	RR_CONFINE_MAKE,   /* also makes files, or writes over those that exist */
	RR_CONFINE_SOCKET, /* also makes sockets, and removes what it finds */
};

/* Whether TCP ports are known only later. Else rr_confine_listens() and rr_confine_connects() name those that
 * are used. */
struct rr_confine_tcp {
	bool listens_anywhere, connects_anywhere;
};

/* Rules that are being made: what a service may reach beside them is nothing. */
struct rr_confine {
	int rules;           /* a descriptor; -1: this kernel has no such rules */
	int error;           /* the errno of a rule that was refused; 0: none was */
	uint64_t files, tcp; /* the rights that the rules are about */
};

/* landlock.c: begins rules, which rr_confine() ends. */
void rr_confine_begin(struct rr_confine *confine, const struct rr_confine_tcp *tcp);
/* Adds a rule for a path that exists. One that does not, or is NULL, adds none. */
void rr_confine_path(struct rr_confine *confine, const char *path, enum rr_confine_use use);
/* The same for a file that others may replace, or make: the rule is for all that is beside it, and for what
 * is beside the file that symbolic links lead to. In /etc itself, and in the root, it is for the file alone.
 */
void rr_confine_beside(struct rr_confine *confine, const char *path, enum rr_confine_use use);
/* Adds rules for TCP ports. */
void rr_confine_listens(struct rr_confine *confine, uint16_t port);
void rr_confine_connects(struct rr_confine *confine, uint16_t port);

/* Drops all other capabilities, sets no_new_privs, and has the kernel refuse, with EPERM, system calls that
 * are not in the list of those that services make (calls.c): those that execute programs, look into other
 * processes, and manage mounts, modules and the machine, among others. Also holds the process to the rules,
 * unless they are NULL, and ends them. Errors, with a text: NOTSUP if the kernel has not got one of these;
 * then what it has is in force. */
int rr_confine(enum rr_confine_service service, struct rr_confine *confine, struct rr_text *text);

#endif
