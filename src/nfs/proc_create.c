/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "nfs/make.h"

/* CREATE: RFC 1813, section 3.3.8. */

/* Times keep this much of a second on every file system, and are never negative there. */
enum { TIME_MASK = 0x7fffffff };

/*
 * RFC 1813, 3.3.8: "the expected storage location for the verifier on creation is the metadata (time stamps)
 * of the file". Its two halves are the seconds of the times of access and modification.
 */
static void
verifier_times(const createverf3 verifier, uint32_t times[2])
{
	memcpy(times, verifier, sizeof(createverf3));
	times[0] &= TIME_MASK;
	times[1] &= TIME_MASK;
}

/* The same request again: "the server treats the request as a success". */
static bool
made_by(const struct rr_object *object, const createverf3 verifier)
{
	uint32_t times[2];

	verifier_times(verifier, times);
	return S_ISREG(object->st.stx_mode) && object->st.stx_size == 0 &&
	       object->st.stx_atime.tv_sec == times[0] && object->st.stx_mtime.tv_sec == times[1];
}

static nfsstat3
make_exclusively(const struct rr_nfs_place *place, const createverf3 verifier, struct rr_object *object)
{
	uint32_t times[2];
	sattr3 attributes = { .atime.set_it = SET_TO_CLIENT_TIME, .mtime.set_it = SET_TO_CLIENT_TIME };
	struct rr_nfs_recipe recipe = { S_IFREG, .attributes = &attributes };

	verifier_times(verifier, times);
	attributes.atime.u.atime.seconds = times[0];
	attributes.mtime.u.mtime.seconds = times[1];
	return rr_nfs_make(place, &recipe, object);
}

/* Of a file that was there before, only a size is set: this is how clients truncate it. */
static nfsstat3
reuse(const struct rr_nfs_place *place, const createhow3 *how, struct rr_object *object)
{
	if (how->mode == EXCLUSIVE)
		return made_by(object, how->u.verf) ? NFS3_OK : NFS3ERR_EXIST;
	if (how->mode == GUARDED || !S_ISREG(object->st.stx_mode))
		return NFS3ERR_EXIST;
	if (!how->u.obj_attributes.size.set_it)
		return NFS3_OK;
	return rr_nfs_set_size(place->server, object, how->u.obj_attributes.size.u.size);
}

static nfsstat3
create(const struct rr_nfs_place *place, const void *args, struct rr_object *object)
{
	const CREATE3args *given = args;
	const createhow3 *how = &given->how;
	struct rr_nfs_recipe recipe = { S_IFREG, .attributes = &how->u.obj_attributes };
	struct rr_tree *tree = place->server->tree;
	nfsstat3 status;

	status = how->mode == EXCLUSIVE ? make_exclusively(place, how->u.verf, object)
					: rr_nfs_make(place, &recipe, object);
	if (status != NFS3ERR_EXIST || how->mode == GUARDED)
		return status;
	status = rr_tree_lookup(tree, &place->directory->object, place->name, object);
	if (status != NFS3_OK)
		return status;
	status = reuse(place, how, object);
	if (status != NFS3_OK)
		rr_object_put(tree, object);
	return status;
}

enum rr_handled
rr_proc_create(struct rr_nfs_server *server, struct rr_request *request, const void *args, void *result)
{
	const CREATE3args *create_args = args;
	CREATE3res *res = result;
	struct rr_nfs_made made;

	rr_nfs_make_at(server, request, &create_args->where, create, args, &made);
	res->status = made.status;
	if (made.status == NFS3_OK)
		res->u.resok = (CREATE3resok){ made.obj, made.obj_attributes, made.dir_wcc };
	else
		res->u.resfail.dir_wcc = made.dir_wcc;
	return RR_HANDLED;
}
