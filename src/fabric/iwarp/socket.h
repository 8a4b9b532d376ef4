/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_FABRIC_IWARP_SOCKET_H
#define RR_FABRIC_IWARP_SOCKET_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>

/*
 * TCP, as iWARP needs it: all system calls on sockets are here. Sockets do not block and do not delay.
 * Functions return a descriptor, octets or 0, or a negative errno value.
 */

/* Makes a socket that listens at the address. Returns its descriptor, or a negative errno value. reuse_port:
 * other sockets may listen at the same address. */
int rr_socket_listen(const struct sockaddr *address, socklen_t size, bool reuse_port);

/* Sets *address to the address that the socket is bound to. Returns 0 or a negative errno value. */
int rr_socket_address(int fd, struct sockaddr_storage *address);

/* Accepts the next connection; *peer becomes the peer's address. Returns the descriptor of the connection,
 * -EAGAIN if no connection waits, or another negative errno value. */
int rr_socket_accept(int fd, struct sockaddr_storage *peer);

/* Makes a socket for a connection to an address of that family. Returns its descriptor, or a negative errno
 * value. */
int rr_socket_open(int family);

/* Begins to connect the socket to an address. Returns 0 if it is connected already, or a negative errno
 * value: usually -EINPROGRESS, and the socket becomes writable when connecting has ended. */
int rr_socket_connect(int fd, const struct sockaddr *address, socklen_t size);

/* Returns 0 if the socket has connected, or the negative errno value with which connecting has failed. */
int rr_socket_error(int fd);

/* Returns the size of the largest segment that TCP sends now (EMSS), in octets; the smallest usual one, if
 * TCP does not say it. */
uint32_t rr_socket_emss(int fd);

/* Reads octets into the vectors, and returns how many. Returns 0 if the peer has closed its side and sends no
 * more; -EAGAIN if no octets are there now; or another negative errno value. */
ssize_t rr_socket_read(int fd, struct iovec *vectors, int count);

/* Writes the octets of the vectors, as many as TCP takes now, and returns how many. Returns -EAGAIN if TCP
 * takes none now, or another negative errno value. No signal comes if the peer has closed. */
ssize_t rr_socket_write(int fd, const struct iovec *vectors, uint32_t count);

/* Sends TCP's FIN: this side sends no more octets. */
void rr_socket_end(int fd);

void rr_socket_close(int fd);

#endif
