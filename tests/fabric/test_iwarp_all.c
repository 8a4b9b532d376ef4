/* SPDX-License-Identifier: BSD-3-Clause */
#include <netinet/in.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fabric/iwarp/iwarp.h"
#include "world.h"

/* The suite with all that iWARP can negotiate, and over IPv6 where there is one. */

static int
make(struct rr_loop *loop, const struct rr_fabric_config *config, struct rr_fabric **fabric)
{
	struct rr_fabric_config all = *config;

	all.crc = all.markers = all.peer_to_peer = true;
	return rr_iwarp_fabric_new(loop, &all, fabric);
}

static bool
there_is_ipv6(void)
{
	struct sockaddr_in6 loopback = { .sin6_family = AF_INET6, .sin6_addr = in6addr_loopback };
	int fd = socket(AF_INET6, SOCK_STREAM, 0);
	bool there = fd >= 0 && bind(fd, (void *)&loopback, sizeof(loopback)) == 0;

	if (fd >= 0)
		close(fd);
	return there;
}

int
main(void)
{
	if (there_is_ipv6())
		world_ipv6();
	else
		fprintf(stderr, "there is no IPv6: the suite runs over IPv4\n");
	return suite_run(make);
}
