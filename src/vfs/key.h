/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_VFS_KEY_H
#define RR_VFS_KEY_H

#include <limits.h>
#include <stdint.h>

#include "base/env.h"
#include "base/text.h"

enum { RR_VFS_KEY = 32 }; /* octets */

/* Reads from the file at path the secret key with which the server checks that it made a file handle itself.
 * If the file does not exist, makes it with a new random key (mode 0600, atomically, synced), so that handles
 * stay valid over a restart. Where path is NULL, the file is at the default place: for root
 * /var/lib/rpcrdma/handle-key, else $XDG_STATE_HOME/rpcrdma/handle-key, or without that variable
 * ~/.local/state/rpcrdma/handle-key. Errors: SYSTEM with text. */
int rr_vfs_key(const struct rr_env *env, const char *path, uint8_t key[RR_VFS_KEY], struct rr_text *text);

/* Makes all directories above the file at path that do not exist yet, with mode 0700. Returns 0, or an error
 * with text. */
int rr_vfs_key_directories(const char *path, struct rr_text *text);

/* Writes into path the path of the file called name in the directory of the key. key_path is the path of the
 * key, or NULL for the key's default path. Errors: SYSTEM with text. */
int rr_vfs_beside_key(const char *key_path, const char *name, char path[PATH_MAX], struct rr_text *text);

#endif
