/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_SERVER_LOCKS_KEEP_H
#define RR_SERVER_LOCKS_KEEP_H

#include <stdbool.h>
#include <stddef.h>

#include "base/env.h"
#include "base/text.h"

/*
 * A directory of small files, each of which is on the disk as a whole or not at all: what servers need after
 * a restart. One process at a time uses a directory. Any thread may call these functions, which wait for the
 * disk.
 */
struct rr_keep;

enum { RR_KEEP_NAME = 64 }; /* octets of a file's name, with the zero behind it */

/* Makes the directory, and those above it that are missing, like mkdir -p. Error: SYSTEM, with text. */
int rr_keep_make(const char *path, struct rr_text *text);

/* Opens the directory, and makes it and those above it where they are missing. Errors: NOMEM; SYSTEM, also
 * where another process uses it; with text. */
int rr_keep_open(const struct rr_env *env, const char *path, struct rr_keep **keep, struct rr_text *text);
/* keep may be NULL. */
void rr_keep_close(struct rr_keep *keep);

/* Writes a file, and syncs it. Returns whether that succeeded; errno says why not. */
bool rr_keep_put(const struct rr_keep *keep, const char *name, const void *data, size_t length);
/* Removes a file; it is no error if there is none. Returns whether that succeeded; errno says why not. */
bool rr_keep_remove(const struct rr_keep *keep, const char *name);
/* Reads a file of at most `size` octets. Returns how many it has; -1, with errno, if it cannot be read; and
 * size where it has as many or more. */
ptrdiff_t rr_keep_get(const struct rr_keep *keep, const char *name, void *data, size_t size);

/* Calls take() with the name of each file, until it returns an error, which is returned then. Files that were
 * not finished are removed, and names that begin with a dot are not files. Errors: SYSTEM, with text; those
 * of take(). */
int rr_keep_each(const struct rr_keep *keep, int (*take)(void *ctx, const char *name), void *ctx,
	struct rr_text *text);

#endif
