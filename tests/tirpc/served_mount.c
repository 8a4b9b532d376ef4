/* SPDX-License-Identifier: BSD-3-Clause */
/* mount.x of rpcsvc: MNT makes a handle of the path, EXPORT lists two directories. */
#include "served.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mount.h"

extern void mountprog_1(struct svc_req *request, SVCXPRT *transport);

void *
mountproc_null_1_svc(void *nothing, struct svc_req *request)
{
	static char result;

	(void)nothing;
	(void)request;
	return &result;
}

/* Mounts any path except /absent: its handle is the path itself. */
fhstatus *
mountproc_mnt_1_svc(dirpath *path, struct svc_req *request)
{
	static fhstatus result;

	(void)request;
	result.fhs_status = strcmp(*path, "/absent") == 0 ? 2 : 0;
	snprintf(result.fhstatus_u.fhs_fhandle, FHSIZE, "%s", *path);
	return &result;
}

mountlist *
mountproc_dump_1_svc(void *nothing, struct svc_req *request)
{
	static mountlist result;

	(void)nothing;
	(void)request;
	return &result;
}

void *
mountproc_umnt_1_svc(dirpath *path, struct svc_req *request)
{
	(void)path;
	return mountproc_null_1_svc(NULL, request);
}

void *
mountproc_umntall_1_svc(void *nothing, struct svc_req *request)
{
	return mountproc_null_1_svc(nothing, request);
}

/* Lists two exports. */
exports *
mountproc_export_1_svc(void *nothing, struct svc_req *request)
{
	static char one[] = "/one", two[] = "/two";
	static struct exportnode second = { two, NULL, NULL }, first = { one, NULL, &second };
	static exports result = &first;

	(void)nothing;
	(void)request;
	return &result;
}

exports *
mountproc_exportall_1_svc(void *nothing, struct svc_req *request)
{
	return mountproc_export_1_svc(nothing, request);
}

void
served_mount(SVCXPRT *transport)
{
	if (!svc_register(transport, MOUNTPROG, MOUNTVERS, mountprog_1, 0))
		abort();
}
