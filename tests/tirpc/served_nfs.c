/* SPDX-License-Identifier: BSD-3-Clause */
/* nfs_prot.x of rpcsvc: GETATTR returns the caller's user, WRITE and READ have a file of 8 KiB in memory,
 * the other procedures do not answer. */
#include "served.h"

#include <stdlib.h>
#include <string.h>

#include "nfs_prot.h"

extern void nfs_program_2(struct svc_req *request, SVCXPRT *transport);

static char file[NFS_MAXDATA];
static u_int file_size;

void *
nfsproc_null_2_svc(void *nothing, struct svc_req *request)
{
	static char result;

	(void)nothing;
	(void)request;
	return &result;
}

/* Returns NULL, after an answer of its own, if the caller has no AUTH_SYS. */
attrstat *
nfsproc_getattr_2_svc(nfs_fh *handle, struct svc_req *request)
{
	static attrstat result;
	const struct authunix_parms *who = request->rq_clntcred;
	fattr *attributes = &result.attrstat_u.attributes;

	(void)handle;
	if (request->rq_cred.oa_flavor != AUTH_SYS) {
		svcerr_weakauth(request->rq_xprt);
		return NULL;
	}
	memset(&result, 0, sizeof(result));
	attributes->uid = who->aup_uid;
	attributes->gid = who->aup_gid;
	attributes->nlink = who->aup_len;
	attributes->size = file_size;
	return &result;
}

/* Reads from the only file. */
readres *
nfsproc_read_2_svc(readargs *args, struct svc_req *request)
{
	static readres result;
	readokres *read = &result.readres_u.reply;

	(void)request;
	memset(&result, 0, sizeof(result));
	if (args->offset > file_size) {
		result.status = NFSERR_IO;
		return &result;
	}
	read->data.data_val = file + args->offset;
	read->data.data_len = args->count < file_size - args->offset ? args->count : file_size - args->offset;
	return &result;
}

/* Replaces what is in the only file. */
attrstat *
nfsproc_write_2_svc(writeargs *args, struct svc_req *request)
{
	static attrstat result;

	(void)request;
	memset(&result, 0, sizeof(result));
	file_size = args->data.data_len;
	memcpy(file, args->data.data_val, file_size);
	result.attrstat_u.attributes.size = file_size;
	return &result;
}

#define SILENT(result, name, argument)                                                                       \
	result *name(argument *given, struct svc_req *request)                                               \
	{                                                                                                    \
		(void)given;                                                                                 \
		(void)request;                                                                               \
		return NULL;                                                                                 \
	}

SILENT(attrstat, nfsproc_setattr_2_svc, sattrargs)
SILENT(void, nfsproc_root_2_svc, void)
SILENT(diropres, nfsproc_lookup_2_svc, diropargs)
SILENT(readlinkres, nfsproc_readlink_2_svc, nfs_fh)
SILENT(void, nfsproc_writecache_2_svc, void)
SILENT(diropres, nfsproc_create_2_svc, createargs)
SILENT(nfsstat, nfsproc_remove_2_svc, diropargs)
SILENT(nfsstat, nfsproc_rename_2_svc, renameargs)
SILENT(nfsstat, nfsproc_link_2_svc, linkargs)
SILENT(nfsstat, nfsproc_symlink_2_svc, symlinkargs)
SILENT(diropres, nfsproc_mkdir_2_svc, createargs)
SILENT(nfsstat, nfsproc_rmdir_2_svc, diropargs)
SILENT(readdirres, nfsproc_readdir_2_svc, readdirargs)
SILENT(statfsres, nfsproc_statfs_2_svc, nfs_fh)

void
served_nfs(SVCXPRT *transport)
{
	if (!svc_register(transport, NFS_PROGRAM, NFS_VERSION, nfs_program_2, 0))
		abort();
}
