/* SPDX-License-Identifier: BSD-3-Clause */
/* GETXATTR, SETXATTR, LISTXATTRS, REMOVEXATTR: RFC 8276, section 8.4. */
#include <string.h>

#include "base/checked.h"
#include "server/nfs4/ops.h"
#include "server/nfs4/size.h"
#include "server/nfs4/support.h"

/* The most octets of a value that is read, and of the list of all names. */
enum { XATTR_VALUE_MAX = 28 << 10 };

/* Checks the name of an extended attribute. Returns NFS4ERR_INVAL for a name that is empty or has a zero
 * octet (RFC 8276, 8.4), and NFS4ERR_NAMETOOLONG for a name longer than RR_VFS_NAME_MAX. */
static nfsstat4
xattr_name(xattrkey4 name)
{
	if (name.length == 0 || memchr(name.data, 0, name.length))
		return NFS4ERR_INVAL;
	return name.length > RR_VFS_NAME_MAX ? NFS4ERR_NAMETOOLONG : NFS4_OK;
}

/* Returns the NFS status for the storage's `status`, in an operation on an extended attribute:
 * NFS4ERR_WRONG_TYPE if the object is a symbolic link. RFC 8276, 8.4.1: only regular files and directories
 * have extended attributes. */
static nfsstat4
xattr_status(enum rr_vfs_status status)
{
	return status == RR_VFS_SYMLINK ? NFS4ERR_WRONG_TYPE : rr_nfs4_status(status);
}

/* Fills and returns the storage's structure for a request about an extended attribute of the current
 * filehandle. */
static struct rr_vfs_xattr *
xattr_begin(struct rr_nfs4_compound *c, xattrkey4 name)
{
	struct rr_vfs_xattr *xattr = &rr_nfs4_vfs_begin(c)->xattr;

	xattr->object = rr_nfs4_object(&c->current);
	xattr->name = name;
	return xattr;
}

/* Runs when the storage has read the value: fills the result of GETXATTR. */
static uint32_t
op_getxattr_done(struct rr_nfs4_compound *c)
{
	const struct rr_vfs_xattr *xattr = &c->vfs.xattr;

	if (c->vfs_status != RR_VFS_OK)
		return xattr_status(c->vfs_status);
	c->res.u.opgetxattr.u.gxr_value = (struct rpcrdma_bytes){ xattr->value, xattr->length };
	return NFS4_OK;
}

/* Carries out GETXATTR. A value that does not fit into XATTR_VALUE_MAX octets, or into the room that the
 * reply has left, is refused by the storage. */
uint32_t
rr_op_getxattr(struct rr_nfs4_compound *c)
{
	xattrkey4 name = c->op->u.opgetxattr.gxa_name;
	struct rr_vfs *vfs = c->server->vfs;
	nfsstat4 status = xattr_name(name);
	struct rr_vfs_xattr *xattr;

	if (status != NFS4_OK)
		return status;
	xattr = xattr_begin(c, name);
	xattr->size = (uint32_t)rr_min(XATTR_VALUE_MAX, rr_nfs4_size_left(c));
	xattr->value = rr_nfs4_alloc(c, xattr->size);
	if (!xattr->value)
		return NFS4ERR_DELAY;
	return rr_nfs4_vfs(c, rr_vfs_getxattr(vfs, xattr), op_getxattr_done);
}

/* Runs when the storage has set the value: the result of SETXATTR says how the file has changed. */
static uint32_t
op_setxattr_done(struct rr_nfs4_compound *c)
{
	if (c->vfs_status != RR_VFS_OK)
		return xattr_status(c->vfs_status);
	rr_nfs4_change_info(&c->vfs.xattr.change, &c->res.u.opsetxattr.u.sxr_info);
	return NFS4_OK;
}

uint32_t
rr_op_setxattr(struct rr_nfs4_compound *c)
{
	static const enum rr_vfs_xattr_how hows[] = {
		[SETXATTR4_EITHER] = RR_VFS_XATTR_EITHER,
		[SETXATTR4_CREATE] = RR_VFS_XATTR_CREATE,
		[SETXATTR4_REPLACE] = RR_VFS_XATTR_REPLACE,
	};
	const SETXATTR4args *args = &c->op->u.opsetxattr;
	struct rr_vfs *vfs = c->server->vfs;
	nfsstat4 status = xattr_name(args->sxa_key);
	struct rr_vfs_xattr *xattr;

	if (status != NFS4_OK)
		return status;
	xattr = xattr_begin(c, args->sxa_key);
	/* The pointer loses its const here; the storage only reads the value. */
	memcpy(&xattr->value, &args->sxa_value.data, sizeof(xattr->value));
	xattr->size = args->sxa_value.length;
	xattr->how = hows[args->sxa_option];
	return rr_nfs4_vfs(c, rr_vfs_setxattr(vfs, xattr), op_setxattr_done);
}

/* Runs when the storage has removed the attribute: the result of REMOVEXATTR says how the file has
 * changed. */
static uint32_t
op_removexattr_done(struct rr_nfs4_compound *c)
{
	if (c->vfs_status != RR_VFS_OK)
		return xattr_status(c->vfs_status);
	rr_nfs4_change_info(&c->vfs.xattr.change, &c->res.u.opremovexattr.u.rxr_info);
	return NFS4_OK;
}

uint32_t
rr_op_removexattr(struct rr_nfs4_compound *c)
{
	xattrkey4 name = c->op->u.opremovexattr.rxa_name;
	struct rr_vfs *vfs = c->server->vfs;
	nfsstat4 status = xattr_name(name);

	if (status != NFS4_OK)
		return status;
	return rr_nfs4_vfs(c, rr_vfs_removexattr(vfs, xattr_begin(c, name)), op_removexattr_done);
}

/* Runs when the storage has listed all names, each with a zero octet behind it: fills the result of
 * LISTXATTRS with as many names behind the cookie as fit. An object that is neither a file nor a directory
 * has no names: Linux lists those of each object, and reports NFS4ERR_WRONG_TYPE as an I/O error. The cookie
 * of this server is the number of names listed so far. RFC 8276, 8.4.3: maxcount counts all octets of
 * LISTXATTRS4resok; 16 of them are the cookie, the number of names and eof. */
static uint32_t
op_listxattrs_done(struct rr_nfs4_compound *c)
{
	const LISTXATTRS4args *args = &c->op->u.oplistxattrs;
	LISTXATTRS4resok *ok = &c->res.u.oplistxattrs.u.lxr_value;
	const struct rr_vfs_xattr *xattr = &c->vfs.xattr;
	bool none = c->vfs_status == RR_VFS_WRONG_TYPE;
	const char *name = xattr->value, *end = name + (none ? 0 : xattr->length);
	uint32_t room = (uint32_t)rr_min(args->lxa_maxcount, rr_nfs4_size_left(c)), used = 16, count = 0;
	uint64_t index = 0;

	if (c->vfs_status != RR_VFS_OK && !none)
		return xattr_status(c->vfs_status);
	if (room < used)
		return NFS4ERR_TOOSMALL;
	for (const char *next = name; next < end; next += strlen(next) + 1)
		count++;
	if (args->lxa_cookie > count)
		return NFS4ERR_BAD_COOKIE;
	ok->lxr_names.values = rr_nfs4_alloc(c, (size_t)count * sizeof(*ok->lxr_names.values) + 1);
	if (!ok->lxr_names.values)
		return NFS4ERR_DELAY;
	/* The list must also fit in front of the names; 8 octets are the number and the status. */
	room = (uint32_t)rr_min(room, rr_nfs4_left(c) > 8 ? rr_nfs4_left(c) - 8 : 0);
	for (; name < end; name += strlen(name) + 1) {
		uint32_t length = (uint32_t)strlen(name);

		if (index++ < args->lxa_cookie)
			continue;
		if (used + 4 + length + rr_pad(length) > room)
			break;
		used += 4 + length + rr_pad(length);
		ok->lxr_names.values[ok->lxr_names.count++] = (struct rpcrdma_bytes){ name, length };
	}
	ok->lxr_cookie = args->lxa_cookie + ok->lxr_names.count;
	ok->lxr_eof = name >= end;
	return ok->lxr_names.count == 0 && !ok->lxr_eof ? NFS4ERR_TOOSMALL : NFS4_OK;
}

/* Carries out LISTXATTRS. The storage lists all names at once, behind each other; op_listxattrs_done() picks
 * those that the client asks for. */
uint32_t
rr_op_listxattrs(struct rr_nfs4_compound *c)
{
	struct rr_vfs_xattr *xattr = xattr_begin(c, (struct rpcrdma_bytes){ "", 0 });
	struct rr_vfs *vfs = c->server->vfs;

	xattr->size = XATTR_VALUE_MAX;
	xattr->value = rr_nfs4_alloc(c, xattr->size);
	if (!xattr->value)
		return NFS4ERR_DELAY;
	return rr_nfs4_vfs(c, rr_vfs_listxattr(vfs, xattr), op_listxattrs_done);
}
