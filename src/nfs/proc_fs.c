/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
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
	res->u.resok = (FSINFO3resok){
		.rtmax = RR_NFS_IO_MAX,
		.rtpref = RR_NFS_IO_MAX,
		.rtmult = BLOCK,
		.wtmax = RR_NFS_IO_MAX,
		.wtpref = RR_NFS_IO_MAX,
		.wtmult = BLOCK,
		.dtpref = DIRECTORY_PREFERRED,
		.maxfilesize = INT64_MAX,
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
