/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_FUSE_DEVICE_H
#define RR_FUSE_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"

/*
 * Mounting and unmounting. The superuser mounts by mount(2) itself. Anybody else has fusermount3 (of the
 * package fuse3), a program that is set-user-ID, do it: it opens /dev/fuse, mounts it where the user may
 * write, and passes the descriptor over a socket whose number is in _FUSE_COMMFD.
 */
struct rr_fuse_device {
	const char *source;    /* what df(1) and mount(8) show: the URL */
	const char *directory; /* an absolute path, without symbolic links */
	bool read_only, nosuid, nodev, noexec, allow_other;
};

/* Mounts, and returns the descriptor of the mount, which does not block; or an error with a text: SYSTEM. */
int rr_fuse_device_mount(const struct rr_fuse_device *device, struct rr_text *text);

/* Unmounts; lazy: although it is in use, then it goes when nobody uses it any more. Errors, with a text:
 * SYSTEM. */
int rr_fuse_device_unmount(const char *directory, bool lazy, struct rr_text *text);

/* Has the kernel read ahead by so many KiB, where it lets this process say that; otherwise it reads 128 KiB
 * ahead. The kernel must have begun to use the mount. */
void rr_fuse_device_read_ahead(const char *directory, uint32_t kibibytes);

/* Ends a mount whose server does not answer, and unmounts it, without asking the server: programs that wait
 * get ECONNABORTED. Looks at what /proc/self/mountinfo says of the directory, and at nothing inside. Errors,
 * with a text: SYSTEM. */
int rr_fuse_device_force(const char *directory, struct rr_text *text);

#endif
