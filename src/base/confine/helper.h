/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_BASE_CONFINE_HELPER_H
#define RR_BASE_CONFINE_HELPER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

/*
 * A process beside a service, which answers what the service cannot find out in its sandbox: who a user or a
 * host is, and what a token of Kerberos proves. The service makes it before it enters, and waits for answers
 * in threads that may wait. Without it, as with --no-sandbox and in clients, who would ask finds out by
 * itself.
 *
 * Each kind of question has a socket and threads of its own, so that a directory that hangs delays no other
 * kind. A question is one message on it, with one end of a socket for the one message that is the answer.
 */

enum rr_helper_kind {
	RR_HELPER_USERS,     /* vfs/idmap: of users and groups */
	RR_HELPER_HOSTS,     /* vfs/idmap: of hosts and netgroups */
	RR_HELPER_ADDRESSES, /* base/address.h: which addresses a host has */
	RR_HELPER_KERBEROS,  /* base/gss and rpc/auth */
	RR_HELPER_KINDS
};

/* The most octets of a question, and of an answer. */
enum { RR_HELPER_MESSAGE = 1 << 17 };

/* Answers a question, in a thread of the helper. Somebody who has broken into the service may have asked: the
 * question's octets are not believed. answer has room for RR_HELPER_MESSAGE octets. Returns how many the
 * answer has; 0: there is none. */
typedef size_t rr_helper_answer(const void *ctx, const void *question, size_t size, void *answer);

struct rr_helper_config {
	struct rr_helper_desk {
		rr_helper_answer *answer; /* NULL: nobody asks that */
		const void *ctx;
	} desks[RR_HELPER_KINDS];
	uint32_t threads; /* for each kind, at least 1 */
};

/* Makes the helper of this process, which has no threads yet. Errors, with a text: SYSTEM. */
int rr_helper_start(const struct rr_helper_config *config, struct rr_text *text);

/* Tells whether there is a helper for such questions. */
bool rr_helper_has(enum rr_helper_kind kind);

/* Asks, and waits for the answer. Returns its octets, at most `room` of them; or a negative error if there is
 * none: the helper has crashed, or there are too few descriptors or too little memory. Where the helper is
 * gone for good, ends this process. */
ptrdiff_t rr_helper_ask(
	enum rr_helper_kind kind, const void *question, size_t size, void *answer, size_t room);

#endif
