/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "nfs/attr.h"

/* FSSTAT, FSINFO, PATHCONF: RFC 1813, sections 3.3.18 to 3.3.20. */

enum { DIRECTORY_PREFERRED = 65536, BLOCK = 4096 };

static nfsstat3
file_system(const struct rr_object *object, struct statvfs *fs)
{
	return fstatvfs(object->fd, fs) < 0 ? rr_nfs_status(errno) : NFS3_OK;
}

enum rr_handled
rr_proc_fsstat(struct rr_nfs_server *server, struct rr_request *request, const void *args, void *result)
{
	const FSSTAT3args *asked = args;
	FSSTAT3res *res = result;
	struct rr_object object;
	struct statvfs fs;

	(void)request;
	res->status = rr_tree_resolve(server->tree, asked->fsroot.data, &object);
	if (res->status != NFS3_OK)
		return RR_HANDLED;
	res->status = file_system(&object, &fs);
	if (res->status == NFS3_OK) {
		res->u.resok = (FSSTAT3resok){
			.tbytes = (uint64_t)fs.f_blocks * fs.f_frsize,
			.fbytes = (uint64_t)fs.f_bfree * fs.f_frsize,
			.abytes = (uint64_t)fs.f_bavail * fs.f_frsize,
			.tfiles = fs.f_files,
			.ffiles = fs.f_ffree,
			.afiles = fs.f_favail,
		};
		rr_nfs_attributes(&object, &res->u.resok.obj_attributes);
	} else {
		rr_nfs_attributes(&object, &res->u.resfail.obj_attributes);
	}
	rr_object_put(server->tree, &object);
	return RR_HANDLED;
}

/* Whether a file may have this size. FIEMAP refuses what begins beyond the greatest size, and so does
 * lseek(2) where the file system does not number its directories' entries in a way of its own. */
static bool
takes_size(int fd, uint64_t size)
{
	struct fiemap map = { .fm_start = size, .fm_length = 1 };

	if (lseek(fd, (off_t)size, SEEK_SET) < 0)
		return false;
	return ioctl(fd, FS_IOC_FIEMAP, &map) == 0 || errno != EFBIG;
}

/* RFC 1813, 3.3.19: "The maximum size of a file on the file system." Clients refuse with it what would fail
 * only when it is written back. */
static uint64_t
max_file_size(const struct rr_object *object)
{
	uint64_t good = INT32_MAX, bad = (uint64_t)INT64_MAX + 1;
	bool opens = S_ISREG(object->st.stx_mode) || S_ISDIR(object->st.stx_mode);
	char path[RR_NFS_PROC_PATH];
	int fd;

	rr_nfs_proc_path(object->fd, path);
	fd = opens ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY) : -1;
	if (fd < 0)
		return INT64_MAX;
	while (bad - good > 1) {
		uint64_t middle = good + (bad - good) / 2;

		if (takes_size(fd, middle))
			good = middle;
		else
			bad = middle;
	}
	close(fd);
	return good;
}

enum rr_handled
rr_proc_fsinfo(struct rr_nfs_server *server, struct rr_request *request, const void *args, void *result)
{
	const FSINFO3args *asked = args;
	FSINFO3res *res = result;
	struct rr_object object;

	(void)request;
	res->status = rr_tree_resolve(server->tree, asked->fsroot.data, &object);
	if (res->status != NFS3_OK)
		return RR_HANDLED;
	rr_tree_as_self(server->tree);
	res->u.resok = (FSINFO3resok){
		.rtmax = RR_NFS_IO_MAX,
		.rtpref = RR_NFS_IO_MAX,
		.rtmult = BLOCK,
		.wtmax = RR_NFS_IO_MAX,
		.wtpref = RR_NFS_IO_MAX,
		.wtmult = BLOCK,
		.dtpref = DIRECTORY_PREFERRED,
		.maxfilesize = max_file_size(&object),
		.time_delta = { 0, 1 },
		.properties = FSF3_LINK | FSF3_SYMLINK | FSF3_HOMOGENEOUS | FSF3_CANSETTIME,
	};
	rr_nfs_attributes(&object, &res->u.resok.obj_attributes);
	rr_object_put(server->tree, &object);
	return RR_HANDLED;
}

enum rr_handled
rr_proc_pathconf(struct rr_nfs_server *server, struct rr_request *request, const void *args, void *result)
{
	const PATHCONF3args *asked = args;
	PATHCONF3res *res = result;
	struct rr_object object;
	struct statvfs fs;

	(void)request;
	res->status = rr_tree_resolve(server->tree, asked->object.data, &object);
	if (res->status != NFS3_OK)
		return RR_HANDLED;
	res->status = file_system(&object, &fs);
	if (res->status == NFS3_OK) {
		long links = fpathconf(object.fd, _PC_LINK_MAX);

		res->u.resok = (PATHCONF3resok){
			.linkmax = links > 0 && links < UINT32_MAX ? (uint32_t)links : UINT32_MAX,
			.name_max = (uint32_t)fs.f_namemax,
			.no_trunc = true,
			.chown_restricted = true,
			.case_preserving = true,
		};
		rr_nfs_attributes(&object, &res->u.resok.obj_attributes);
	} else {
		rr_nfs_attributes(&object, &res->u.resfail.obj_attributes);
	}
	rr_object_put(server->tree, &object);
	return RR_HANDLED;
}
