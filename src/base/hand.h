/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_BASE_HAND_H
#define RR_BASE_HAND_H

#include "base/env.h"

/*
 * A second thread that runs functions for the first thread, one after the other, while the first thread
 * waits: for work that must not change the first thread itself (its user, for example). The two threads never
 * run at the same time, so nothing has to be locked.
 */
struct rr_hand;

/* Makes the second thread, which blocks all signals, so that other threads get them. Errors: NOMEM, SYSTEM
 * (the system gives no thread; errno says why). */
int rr_hand_new(const struct rr_env *env, struct rr_hand **hand);

/* Calls work(ctx) in the second thread, and returns when work() has returned. */
void rr_hand_do(struct rr_hand *hand, void (*work)(void *ctx), void *ctx);

/* Ends the second thread, and frees hand, which may be NULL. Must not be called inside rr_hand_do(). */
void rr_hand_free(struct rr_hand *hand);

#endif
