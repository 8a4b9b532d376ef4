/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_NFS_LIMITS_H
#define RR_NFS_LIMITS_H

/* The most octets of one READ or WRITE, of this server and of this client. */
enum { RR_NFS_IO_MAX = 1 << 20 };

#endif
