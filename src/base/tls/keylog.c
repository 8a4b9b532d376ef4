/* SPDX-License-Identifier: BSD-3-Clause */
/* The secrets of sessions, in a file for whoever looks into captured traffic, and asked for that by name. */
#include <errno.h>
#include <fcntl.h>
#include <rpcrdma/error.h>
#include <string.h>
#include <sys/uio.h>

#include "base/tls/library.h"
#include "base/tls/tls.h"

static int keylog_file = -1; /* set before threads are made */

int
rr_tls_keylog(const char *path, struct rr_text *text)
{
	keylog_file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	return keylog_file < 0 ? rr_fail(text, -RPCRDMA_ERR_SYSTEM, "%s: %s", path, strerror(errno)) : 0;
}

/* A line leaves by one call, so that lines of several threads do not mix. */
void
rr_tls_keylog_line(const SSL *ssl, const char *line)
{
	char end[] = "\n";
	union {
		const char *text;
		void *pointer;
	} begin = { line };
	const struct iovec whole[] = { { begin.pointer, strlen(line) }, { end, 1 } };

	(void)ssl;
	if (keylog_file >= 0)
		(void)!writev(keylog_file, whole, 2);
}
