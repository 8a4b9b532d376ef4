/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_NFS_VERSION_H
#define RR_NFS_VERSION_H

/* The version of NFS that a client is to use. */
enum rr_nfs_version {
	RR_NFS_VERSION_ANY, /* the highest that the server has */
	RR_NFS_VERSION_3,
	RR_NFS_VERSION_41,
	RR_NFS_VERSION_42
};

#endif
