/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TOOL_GUARD_H
#define RR_TOOL_GUARD_H

#include <stdbool.h>

/*
 * A file system whose server does not answer (FUSE above all) may keep a thread in the kernel whatever signal
 * comes, and a process that has such a thread does not end. So if such a file system is exported, a child
 * process serves, and the process that the user started (the parent) keeps no thread in any file system: it
 * passes SIGINT, SIGTERM, SIGHUP, SIGUSR1 and SIGUSR2 on to the child, and ends in time after a signal that
 * is to end it, even if the child hangs. The child ends when the parent has ended.
 */

/* Tells whether path, which is absolute and without symbolic links, is in a file system that may hang, or
 * whether such a file system is mounted below it. */
bool rr_guard_wanted(const char *path);

/* Runs serve(ctx) in a child process, and waits for the end of the child. The function returns in both
 * processes: in the child the result of serve(), and in the parent the exit status of the child, or
 * RR_EXIT_OK if the child hangs after a signal that is to end it. If no child can be made, runs serve(ctx) in
 * this process. goes_on is true if SIGHUP does not end the child. Must be called before threads are made. */
int rr_guard_run(int (*serve)(void *ctx), void *ctx, bool goes_on);

#endif
