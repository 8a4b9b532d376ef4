/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_FABRIC_IWARP_SOCKET_H
#define RR_FABRIC_IWARP_SOCKET_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>

/*
 * TCP, as iWARP needs it: all system calls on sockets are here. Sockets do
 * not block and do not delay. Functions return a descriptor, octets or 0, or
 * a negative errno value.
 */

int rr_socket_listen(const struct sockaddr *address, socklen_t size, bool reuse_port);

/* The address that it is bound to. */
int rr_socket_address(int fd, struct sockaddr_storage *address);

/* The next connection that came, and who it is. */
int rr_socket_accept(int fd, struct sockaddr_storage *peer);

/* For a connection to such an address. */
int rr_socket_open(int family);

/* Begins to connect; -EINPROGRESS is usual. */
int rr_socket_connect(int fd, const struct sockaddr *address, socklen_t size);

/* How connecting ended. */
int rr_socket_error(int fd);

/* The largest segment that TCP sends now (EMSS). */
uint32_t rr_socket_emss(int fd);

/* 0: the peer sends no more. */
ssize_t rr_socket_read(int fd, struct iovec *vectors, int count);

ssize_t rr_socket_write(int fd, const struct iovec *vectors, uint32_t count);

/* Sends FIN. */
void rr_socket_end(int fd);

void rr_socket_close(int fd);

#endif
