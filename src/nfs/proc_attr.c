/* SPDX-License-Identifier: BSD-3-Clause */
#include <fcntl.h>
#include <unistd.h>

#include "nfs/attr.h"

/* GETATTR, SETATTR, ACCESS: RFC 1813, sections 3.3.1, 3.3.2 and 3.3.4. */

enum rr_handled
rr_proc_getattr(struct rr_nfs_server *server, struct rr_request *request, const void *args, void *result)
{
	const GETATTR3args *get = args;
	GETATTR3res *res = result;
	struct rr_object object;

	(void)request;
	res->status = rr_tree_resolve(server->tree, get->object.data, &object);
	if (res->status != NFS3_OK)
		return RR_HANDLED;
	rr_nfs_fattr(&object.st, &res->u.resok.obj_attributes);
	rr_object_put(server->tree, &object);
	return RR_HANDLED;
}

/* RFC 1813, 3.3.2: "If the values are different, the server must preserve the object attributes" */
static bool
guard_holds(const struct rr_object *object, const sattrguard3 *guard)
{
	nfstime3 ctime = rr_nfs_time(&object->st.stx_ctime);

	return !guard->check ||
	       (guard->u.obj_ctime.seconds == ctime.seconds && guard->u.obj_ctime.nseconds == ctime.nseconds);
}

/*
 * A WRITE may change a regular file at any time, without a lock: of that, no state "before" is told. The
 * guard is looked at when other threads are kept out.
 */
static nfsstat3
set_attributes(struct rr_nfs_server *server, struct rr_nfs_subject *subject, const SETATTR3args *set)
{
	nfsstat3 status = NFS3ERR_NOT_SYNC;

	if (server->read_only)
		return NFS3ERR_ROFS;
	rr_nfs_change_begin(server, subject, NULL);
	if (guard_holds(&subject->object, &set->guard))
		status = rr_nfs_set(server, &subject->object, &set->new_attributes);
	rr_nfs_change_end(server, subject, NULL);
	if (S_ISREG(subject->object.st.stx_mode))
		subject->wcc.before.attributes_follow = false;
	if (status == NFS3_OK)
		rr_nfs_store(server, &subject->object);
	return status;
}

enum rr_handled
rr_proc_setattr(struct rr_nfs_server *server, struct rr_request *request, const void *args, void *result)
{
	const SETATTR3args *set = args;
	SETATTR3res *res = result;
	struct rr_nfs_subject subject;

	(void)request;
	res->status = rr_tree_resolve(server->tree, set->object.data, &subject.object);
	if (res->status != NFS3_OK)
		return RR_HANDLED;
	rr_nfs_unchanged(&subject.object, &subject.wcc);
	res->status = set_attributes(server, &subject, set);
	rr_object_put(server->tree, &subject.object);
	if (res->status == NFS3_OK)
		res->u.resok.obj_wcc = subject.wcc;
	else
		res->u.resfail.obj_wcc = subject.wcc;
	return RR_HANDLED;
}

static bool
permits(const struct rr_object *object, int mode)
{
	return faccessat(object->fd, "", mode, AT_EMPTY_PATH | AT_EACCESS | AT_SYMLINK_NOFOLLOW) == 0;
}

/* What the caller may do, by bits of ACCESS3_*: to change a directory takes both write and search permission.
 */
static uint32_t
permitted(const struct rr_object *object)
{
	bool directory = S_ISDIR(object->st.stx_mode), search = permits(object, X_OK);
	uint32_t access = permits(object, R_OK) ? ACCESS3_READ : 0;

	if (search)
		access |= directory ? ACCESS3_LOOKUP : ACCESS3_EXECUTE;
	if (directory ? search && permits(object, W_OK) : permits(object, W_OK))
		access |= ACCESS3_MODIFY | ACCESS3_EXTEND | (directory ? ACCESS3_DELETE : 0);
	return access;
}

enum rr_handled
rr_proc_access(struct rr_nfs_server *server, struct rr_request *request, const void *args, void *result)
{
	const ACCESS3args *asked = args;
	ACCESS3res *res = result;
	struct rr_object object;

	(void)request;
	res->status = rr_tree_resolve(server->tree, asked->object.data, &object);
	if (res->status != NFS3_OK)
		return RR_HANDLED;
	res->u.resok.access = asked->access & permitted(&object);
	if (server->read_only)
		res->u.resok.access &= ~(uint32_t)(ACCESS3_MODIFY | ACCESS3_EXTEND | ACCESS3_DELETE);
	rr_nfs_attributes(&object, &res->u.resok.obj_attributes);
	rr_object_put(server->tree, &object);
	return RR_HANDLED;
}
