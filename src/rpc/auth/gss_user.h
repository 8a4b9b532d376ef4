/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_RPC_AUTH_GSS_USER_H
#define RR_RPC_AUTH_GSS_USER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The user of this machine that a principal of Kerberos stands for. */

enum { RR_GSS_GROUPS = 1024 }; /* the most groups that a user has here */

struct rr_gss_user {
	bool known; /* false: the principal stands for nobody, and the rest is 0 */
	uint32_t uid, gid, group_count;
	uint32_t *groups; /* in rising order, without UINT32_MAX; rr_gss_user_free() frees them */
};

/* Looks up the principal's user, by libkrb5's rules, and the user's groups, by nsswitch.conf. It may take
 * long. Returns false if the directory of users does not answer; then nothing is known of the principal. */
bool rr_gss_user_find(const char *principal, struct rr_gss_user *user);
/* Answers, in the helper (base/confine/helper.h), what this function and rr_gss_accept() ask it: ctx is the
 * acceptor. */
size_t rr_gss_help(const void *ctx, const void *question, size_t size, void *answer);
void rr_gss_user_free(struct rr_gss_user *user);

#endif
