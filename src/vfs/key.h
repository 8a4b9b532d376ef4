/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_VFS_KEY_H
#define RR_VFS_KEY_H

#include <limits.h>
#include <stdint.h>

#include "base/env.h"
#include "base/text.h"

enum { RR_VFS_KEY = 32 };

/*
 * The key that handles are checked with, kept in a file, so that they survive a restart: read from path, or
 * made and written there (mode 0600, atomically, synced). path NULL: the default place, for root
 * /var/lib/rpcrdma/handle-key, else $XDG_STATE_HOME (or ~/.local/state)/rpcrdma/handle-key. Errors: SYSTEM
 * with text.
 */
int rr_vfs_key(const struct rr_env *env, const char *path, uint8_t key[RR_VFS_KEY], struct rr_text *text);

/* The path of something else that is kept beside that key: its directory and name. Errors: SYSTEM with text.
 */
int rr_vfs_beside_key(const char *key_path, const char *name, char path[PATH_MAX], struct rr_text *text);

#endif
