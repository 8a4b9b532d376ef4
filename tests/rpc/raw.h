/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TESTS_RPC_RAW_H
#define RR_TESTS_RPC_RAW_H

#include "../hex.h"
#include "world.h"

#include <sys/types.h>

/* The other end of a TCP connection. The test itself plays it, octet by octet. */

/* Connects to the world's server, and returns the socket. */
int raw_connect(struct world *world);

/* raw_listen() listens at an address that it chooses; raw_accept() then accepts the world's client. */
int raw_listen(struct sockaddr_in *address);
/* Listens at an address that the caller chooses. */
int raw_listen_at(struct sockaddr_in *address);
int raw_accept(struct world *world, int listener);

void raw_send(struct world *world, int fd, const void *data, size_t size);

/* Sends the octets as one record. */
void raw_send_record(struct world *world, int fd, const void *data, size_t size);

/* Receives a record, and returns its length. 0: the connection was closed. */
size_t raw_receive(struct world *world, int fd, void *data, size_t size);

/* Sends the octets of hex as one record. */
void raw_send_hex(struct world *world, int fd, const char *hex);

void assert_closed(struct world *world, int fd);
void assert_reply(struct world *world, int fd, const char *hex);

/* Checks that the server still answers on this connection, and that no memory is in use once the
 * connection is closed. */
void assert_alive(struct world *world, int fd);

#endif
