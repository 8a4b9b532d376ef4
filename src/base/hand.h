/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_BASE_HAND_H
#define RR_BASE_HAND_H

#include "base/env.h"

/*
 * A second thread that does one thing after the other for the first one, which waits meanwhile: for what
 * belongs to a thread and must not happen to the first. Nothing ever runs at the same time, so that nothing
 * has to be locked.
 */
struct rr_hand;

/* Signals are left to others. Errors: NOMEM, SYSTEM (no thread to be had: errno). */
int rr_hand_new(const struct rr_env *env, struct rr_hand **hand);

/* work(ctx) in that thread; returns when it has. */
void rr_hand_do(struct rr_hand *hand, void (*work)(void *ctx), void *ctx);

/* Ends the thread. hand may be NULL. */
void rr_hand_free(struct rr_hand *hand);

#endif
