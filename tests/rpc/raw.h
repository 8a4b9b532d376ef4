/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TESTS_RPC_RAW_H
#define RR_TESTS_RPC_RAW_H

#include "../hex.h"
#include "world.h"

#include <sys/types.h>

/* The other end of a TCP connection, played by the test itself, octet by octet. */

/* Connects to the world's server. */
int raw_connect(struct world *world);

/* Listens; then accepts the world's client. */
int raw_listen(struct sockaddr_in *address);
/* The same at an address of the caller's. */
int raw_listen_at(struct sockaddr_in *address);
int raw_accept(struct world *world, int listener);

void raw_send(struct world *world, int fd, const void *data, size_t size);

/* The octets as one record. */
void raw_send_record(struct world *world, int fd, const void *data, size_t size);

/* One record, as it comes; its length. 0: the connection was closed. */
size_t raw_receive(struct world *world, int fd, void *data, size_t size);

/* The octets that hex has, as one record. */
void raw_send_hex(struct world *world, int fd, const char *hex);

void assert_closed(struct world *world, int fd);
void assert_reply(struct world *world, int fd, const char *hex);

/* The server still answers on this connection, and no memory is in use once that is closed. */
void assert_alive(struct world *world, int fd);

#endif
