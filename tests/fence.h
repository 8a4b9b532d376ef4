/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TESTS_FENCE_H
#define RR_TESTS_FENCE_H

#include <arpa/inet.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "test.h"

/*
 * Waits until all octets that were sent over the loopback before have arrived. The kernel hands packets over
 * in the order in which one processor sent them; on a loaded machine it does so later, in a thread of its
 * own. So the test stays on one processor, sends a datagram to itself, and waits for it. A datagram may be
 * lost where much else is under way: then another one is sent.
 */
static inline void
loopback_fence(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	const struct timeval limit = { .tv_usec = 10000 };
	socklen_t size = sizeof(address);
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	time_t began = test_seconds();
	cpu_set_t here;
	char octet = 0;

	CPU_ZERO(&here);
	CPU_SET((size_t)sched_getcpu(), &here);
	assert_true(fd >= 0 && sched_setaffinity(0, sizeof(here), &here) == 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&address, size), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &size), 0);
	assert_int_equal(connect(fd, (struct sockaddr *)&address, size), 0);
	assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)), 0);
	do {
		test_wait(began, "a datagram over the loopback");
		assert_int_equal(send(fd, &octet, 1, 0), 1);
	} while (recv(fd, &octet, 1, 0) != 1);
	close(fd);
}

/* Takes turns until three turns in a row had nothing to do. The kernel may send more, without the process,
 * after the last turn that had. */
#define settle_turns(turn)                                                                                   \
	do {                                                                                                 \
		time_t began_ = test_seconds();                                                              \
		for (int quiet_ = 0; quiet_ < 3; quiet_++) {                                                 \
			test_wait(began_, "nothing more is to be done");                                     \
			loopback_fence();                                                                    \
			if ((turn) > 0)                                                                      \
				quiet_ = -1;                                                                 \
		}                                                                                            \
	} while (0)

#endif
