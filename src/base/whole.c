/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/whole.h"

#include <errno.h>
#include <unistd.h>

ssize_t
rr_whole_read(int fd, void *data, size_t size, int64_t offset)
{
	size_t done = 0;

	while (done < size) {
		uint8_t *next = (uint8_t *)data + done;
		ssize_t got = offset == RR_WHOLE_HERE ? read(fd, next, size - done)
						      : pread(fd, next, size - done, offset + (off_t)done);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -1;
		if (got == 0)
			break;
		done += (size_t)got;
	}
	return (ssize_t)done;
}

ssize_t
rr_whole_write(int fd, const void *data, size_t size, int64_t offset)
{
	size_t done = 0;

	while (done < size) {
		const uint8_t *next = (const uint8_t *)data + done;
		ssize_t put = offset == RR_WHOLE_HERE ? write(fd, next, size - done)
						      : pwrite(fd, next, size - done, offset + (off_t)done);

		if (put < 0 && errno == EINTR)
			continue;
		if (put < 0 && done == 0)
			return -1;
		if (put <= 0)
			break;
		done += (size_t)put;
	}
	return (ssize_t)done;
}
