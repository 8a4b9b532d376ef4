/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TOOL_GUARD_H
#define RR_TOOL_GUARD_H

#include <stdbool.h>

/*
 * A file system whose server does not answer (FUSE above all) may keep a thread in the kernel whatever signal
 * comes, and a process that has such a thread does not end. So where such a file system is served, a child
 * serves, and the process that the user started keeps no thread in any file system: it passes signals on to
 * the child, and ends in time after a signal that is to end it, whatever becomes of the child.
 */

/* Whether a file system that may hang holds path, which is absolute and without symbolic links, or is mounted
 * below it. */
bool rr_guard_wanted(const char *path);

/* Runs serve(ctx) in a child and returns its exit status; in the child, as well. Where no child is to be had,
 * serve(ctx) runs here. goes_on: the child serves on after SIGHUP. To be called before threads are made. */
int rr_guard_run(int (*serve)(void *ctx), void *ctx, bool goes_on);

#endif
