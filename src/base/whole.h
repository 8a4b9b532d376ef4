/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_BASE_WHOLE_H
#define RR_BASE_WHOLE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Reading and writing until all octets are moved, for files and for descriptors that block. A signal does not
 * end the transfer. offset is the place in the file; RR_WHOLE_HERE means the present offset of the
 * descriptor, which then moves.
 */

enum { RR_WHOLE_HERE = -1 };

/* Reads size octets at offset. Returns how many octets were read, which is less than size only at the end of
 * the file; or -1, with errno, if reading failed. */
ssize_t rr_whole_read(int fd, void *data, size_t size, int64_t offset);

/* Writes size octets at offset. Returns how many octets were written, which is less than size if there is no
 * space for more; or -1, with errno, if writing failed before the first octet. */
ssize_t rr_whole_write(int fd, const void *data, size_t size, int64_t offset);

#endif
