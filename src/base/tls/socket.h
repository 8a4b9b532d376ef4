/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_BASE_TLS_SOCKET_H
#define RR_BASE_TLS_SOCKET_H

#include "base/tls/tls.h"

/* Sessions on sockets that do not block. */

/* Is the function by which a session reads from a socket; ctx points to the descriptor (int), which stays
 * where it is as long as the session. */
rr_tls_receive rr_tls_socket_receive;

/* Sends what the session has encrypted. Adds the octets that the socket took to *moved. Returns 0 if all of
 * it was sent, -EAGAIN if the socket takes no more for now, or another negative errno value. */
int rr_tls_socket_push(struct rr_tls_session *session, int fd, uint64_t *moved);

/* Ends this side's stream inside of TLS (close_notify), as far as the socket takes it: if it does not, the
 * peer sees the end of TCP's stream instead, which says the same. */
void rr_tls_socket_end(struct rr_tls_session *session, int fd);

#endif
