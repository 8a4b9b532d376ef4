/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_VFS_CEPH_LIBRARY_H
#define RR_VFS_CEPH_LIBRARY_H

#include <cephfs/libcephfs.h>

#include "base/text.h"

/* All functions of libcephfs that are used. RR_CEPH_FUNCTIONS() applies a macro to each of their names,
 * without the prefix ceph_. Each is a member of struct rr_ceph_library under that name: a pointer to the
 * function. */
#define RR_CEPH_FUNCTIONS(function)                                                                          \
	function(create) function(conf_read_file) function(conf_set) function(conf_get) function(            \
		select_filesystem) function(mount) function(unmount) function(release)                       \
		function(userperm_new) function(userperm_destroy) function(ll_lookup_vino) function(         \
			ll_lookup) function(ll_walk) function(ll_put) function(ll_getattr)                   \
			function(ll_setattr) function(ll_open) function(ll_read) function(                   \
				ll_write) function(ll_close) function(ll_sync_inode) function(ll_fallocate)  \
				function(ll_getxattr) function(ll_setxattr) function(ll_listxattr) function( \
					ll_removexattr) function(ll_create) function(ll_mknod)               \
					function(ll_mkdir) function(ll_symlink) function(ll_link)            \
						function(ll_unlink) function(ll_rmdir) function(ll_rename)   \
							function(ll_readlink) function(ll_opendir) function( \
								ll_releasedir) function(seekdir)             \
								function(readdirplus_r) function(ll_statfs)  \
									function(ll_getlk)                   \
										function(ll_setlk)

struct rr_ceph_library {
#define RR_CEPH_MEMBER(name) __typeof__(&ceph_##name) name;
	RR_CEPH_FUNCTIONS(RR_CEPH_MEMBER)
#undef RR_CEPH_MEMBER
};

/* Loads libcephfs. Errors: NOTSUP, with a text that says what to install. */
int rr_ceph_library_load(struct rr_ceph_library *library, struct rr_text *text);

#endif
