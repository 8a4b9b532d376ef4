/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_BASE_WHOLE_H
#define RR_BASE_WHOLE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Reading and writing until all octets are moved, for files and for descriptors that block. Signals do not
 * end it. offset: where in the file; RR_WHOLE_HERE: at the place where the descriptor is.
 */

enum { RR_WHOLE_HERE = -1 };

/* Octets that were read: fewer than size only at the end of the file. -1, with errno: reading failed. */
ssize_t rr_whole_read(int fd, void *data, size_t size, int64_t offset);

/* Octets that were written: fewer than size where there is space for no more. -1, with errno: writing failed
 * before the first octet. */
ssize_t rr_whole_write(int fd, const void *data, size_t size, int64_t offset);

#endif
