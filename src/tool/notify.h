/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TOOL_NOTIFY_H
#define RR_TOOL_NOTIFY_H

/* Sends a state such as "READY=1" to the service manager that started the process, by the protocol of
 * sd_notify(3): as a datagram to the socket that the environment variable NOTIFY_SOCKET names. Does nothing
 * if there is no such variable. Returns 0, or a negative errno. */
int rr_notify(const char *state);

#endif
