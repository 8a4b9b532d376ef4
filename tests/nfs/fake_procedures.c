/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/endian.h"
#include "fake_private.h"

/* The procedures of the fake. Handles are the numbers of objects, in network byte order. An object has
 * another handle, too, with one more octet (fake->other_handles). */

static uint8_t handles[FAKE_OBJECTS][5];

static nfs_fh3
handle_of(uint32_t number)
{
	rr_put_be32(handles[number], number);
	return (nfs_fh3){ .data = { handles[number], 4 } };
}

static struct fake_object *
object_of(struct fake *fake, nfs_fh3 handle)
{
	uint32_t number = handle.data.length == 4 || handle.data.length == 5 ? rr_get_be32(handle.data.data)
									     : FAKE_OBJECTS;

	assert_true(number < FAKE_OBJECTS && fake->objects[number].used);
	return &fake->objects[number];
}

static bool
same(struct rpcrdma_bytes name, const char *text)
{
	return name.length == strlen(text) && memcmp(name.data, text, name.length) == 0;
}

static struct fake_object *
find(struct fake *fake, const struct fake_object *directory, struct rpcrdma_bytes name)
{
	uint32_t parent = (uint32_t)(directory - fake->objects);

	if (same(name, ".."))
		return &fake->objects[directory->parent];
	for (uint32_t i = 1; i < FAKE_OBJECTS; i++)
		if (fake->objects[i].used && fake->objects[i].parent == parent &&
			same(name, fake->objects[i].name))
			return &fake->objects[i];
	return NULL;
}

static fattr3
attributes_of(struct fake *fake, const struct fake_object *object)
{
	return (fattr3){
		.type = object->type,
		.mode = object->set.mode.u.mode,
		.nlink = 1,
		.size = object->size,
		.fileid = (uint64_t)(object - fake->objects),
		.mtime = object->set.mtime.u.mtime,
	};
}

static post_op_attr
follow(struct fake *fake, const struct fake_object *object)
{
	post_op_attr attributes = { .attributes_follow = !fake->no_attributes };

	attributes.u.attributes = attributes_of(fake, object);
	return attributes;
}

static post_op_fh3
follow_handle(struct fake *fake, const struct fake_object *object)
{
	post_op_fh3 handle = { .handle_follows = !fake->no_handles };

	handle.u.handle = handle_of((uint32_t)(object - fake->objects));
	return handle;
}

/* Counts a call. Returns true where it ends here, as the client has to repeat it later. */
static bool
begin(struct fake *fake, uint32_t proc, void *result)
{
	fake->calls[proc]++;
	if (fake->jukebox == 0)
		return false;
	fake->jukebox--;
	*(nfsstat3 *)result = NFS3ERR_JUKEBOX;
	return true;
}

static enum rpcrdma_handled
end(struct fake *fake, uint32_t proc)
{
	if (fake->crash_at != proc)
		return RPCRDMA_HANDLED;
	if (fake->crash_after > 0) {
		fake->crash_after--;
		return RPCRDMA_HANDLED;
	}
	fake->crash_at = UINT32_MAX;
	rr_loop_arm(fake->stage.loop, &fake->crash, 0);
	return RPCRDMA_HANDLE_DROP;
}

/* ---- Names and attributes ---- */

static enum rpcrdma_handled
null(void *ctx, struct rpcrdma_request *request, const void *args, void *result)
{
	(void)request, (void)args, (void)result;
	return ((struct fake *)ctx)->silent ? RPCRDMA_HANDLE_DROP : RPCRDMA_HANDLED;
}

static enum rpcrdma_handled
getattr(void *ctx, struct rpcrdma_request *request, const void *args, void *result)
{
	GETATTR3res *res = result;

	if (((struct fake *)ctx)->silent)
		return RPCRDMA_HANDLE_DROP;
	if (begin(ctx, request->proc, result))
		return RPCRDMA_HANDLED;
	res->u.resok.obj_attributes =
		attributes_of(ctx, object_of(ctx, ((const GETATTR3args *)args)->object));
	return end(ctx, request->proc);
}

static enum rpcrdma_handled
setattr(void *ctx, struct rpcrdma_request *request, const void *args, void *result)
{
	const SETATTR3args *in = args;

	if (begin(ctx, request->proc, result))
		return RPCRDMA_HANDLED;
	object_of(ctx, in->object)->set = in->new_attributes;
	return end(ctx, request->proc);
}

static enum rpcrdma_handled
lookup(void *ctx, struct rpcrdma_request *request, const void *args, void *result)
{
	const LOOKUP3args *in = args;
	struct fake *fake = ctx;
	LOOKUP3res *res = result;
	struct fake_object *object;

	if (begin(fake, request->proc, result))
		return RPCRDMA_HANDLED;
	object = find(fake, object_of(fake, in->what.dir), in->what.name);
	if (!object) {
		res->status = NFS3ERR_NOENT;
		return RPCRDMA_HANDLED;
	}
	if (object->same)
		object = &fake->objects[object->same];
	res->u.resok.object = handle_of((uint32_t)(object - fake->objects));
	res->u.resok.object.data.length += fake->other_handles;
	if (fake->lie == FAKE_EMPTY_HANDLE)
		res->u.resok.object.data.length = 0;
	res->u.resok.obj_attributes = follow(fake, object);
	return end(fake, request->proc);
}

static enum rpcrdma_handled
readlink_(void *ctx, struct rpcrdma_request *request, const void *args, void *result)
{
	READLINK3res *res = result;
	const struct fake_object *object = object_of(ctx, ((const READLINK3args *)args)->symlink);

	if (begin(ctx, request->proc, result))
		return RPCRDMA_HANDLED;
	res->u.resok.data = (struct rpcrdma_bytes){ object->target, (uint32_t)strlen(object->target) };
	return end(ctx, request->proc);
}

/* ---- Making and removing ---- */

static struct fake_object *
make(struct fake *fake, const diropargs3 *where, ftype3 type)
{
	const struct fake_object *directory = object_of(fake, where->dir);
	char name[256];

	if (find(fake, directory, where->name))
		return NULL;
	memcpy(name, where->name.data, where->name.length);
	name[where->name.length] = '\0';
	if (type == NF3REG)
		return &fake->objects[fake_file(fake, (uint32_t)(directory - fake->objects), name, 0)];
	return &fake->objects[fake_add(fake, (uint32_t)(directory - fake->objects), name, type)];
}

static enum rpcrdma_handled
create(void *ctx, struct rpcrdma_request *request, const void *args, void *result)
{
	const CREATE3args *in = args;
	CREATE3res *res = result;
	struct fake_object *object;

	if (begin(ctx, request->proc, result))
		return RPCRDMA_HANDLED;
	object = make(ctx, &in->where, NF3REG);
	if (!object) {
		res->status = NFS3ERR_EXIST;
		return RPCRDMA_HANDLED;
	}
	object->set = in->how.u.obj_attributes;
	res->u.resok.obj = follow_handle(ctx, object);
	res->u.resok.obj_attributes = follow(ctx, object);
	return end(ctx, request->proc);
}

static enum rpcrdma_handled
mkdir_(void *ctx, struct rpcrdma_request *request, const void *args, void *result)
{
	const MKDIR3args *in = args;
	MKDIR3res *res = result;
	struct fake_object *object;

	if (begin(ctx, request->proc, result))
		return RPCRDMA_HANDLED;
	object = make(ctx, &in->where, NF3DIR);
	if (!object) {
		res->status = NFS3ERR_EXIST;
		return RPCRDMA_HANDLED;
	}
	res->u.resok.obj = follow_handle(ctx, object);
	res->u.resok.obj_attributes = follow(ctx, object);
	return end(ctx, request->proc);
}

static enum rpcrdma_handled
symlink_(void *ctx, struct rpcrdma_request *request, const void *args, void *result)
{
	const SYMLINK3args *in = args;
	SYMLINK3res *res = result;
	struct fake_object *object;

	if (begin(ctx, request->proc, result))
		return RPCRDMA_HANDLED;
	object = make(ctx, &in->where, NF3LNK);
	if (!object) {
		res->status = NFS3ERR_EXIST;
		return RPCRDMA_HANDLED;
	}
	memcpy(object->target, in->symlink.symlink_data.data, in->symlink.symlink_data.length);
	return end(ctx, request->proc);
}

static enum rpcrdma_handled
link_(void *ctx, struct rpcrdma_request *request, const void *args, void *result)
{
	const LINK3args *in = args;
	const struct fake *fake = ctx;
	LINK3res *res = result;
	struct fake_object *object;

	if (begin(ctx, request->proc, result))
		return RPCRDMA_HANDLED;
	object = make(ctx, &in->link, NF3REG);
	if (!object) {
		res->status = NFS3ERR_EXIST;
		return RPCRDMA_HANDLED;
	}
	object->same = (uint32_t)(object_of(ctx, in->file) - fake->objects);
	return end(ctx, request->proc);
}

static enum rpcrdma_handled
fsstat(void *ctx, struct rpcrdma_request *request, const void *args, void *result)
{
	FSSTAT3res *res = result;

	(void)args;
	if (begin(ctx, request->proc, result))
		return RPCRDMA_HANDLED;
	res->u.resok = (FSSTAT3resok){
		.tbytes = UINT64_MAX, .fbytes = 2, .abytes = 1, .tfiles = 6, .ffiles = 5, .afiles = 4
	};
	return end(ctx, request->proc);
}

static enum rpcrdma_handled
remove_(void *ctx, struct rpcrdma_request *request, const void *args, void *result)
{
	const REMOVE3args *in = args;
	REMOVE3res *res = result;
	struct fake_object *object;

	if (begin(ctx, request->proc, result))
		return RPCRDMA_HANDLED;
	object = find(ctx, object_of(ctx, in->object.dir), in->object.name);
	if (!object) {
		res->status = NFS3ERR_NOENT;
		return RPCRDMA_HANDLED;
	}
	free(object->data);
	*object = (struct fake_object){ .used = false };
	return end(ctx, request->proc);
}

static enum rpcrdma_handled
rename_(void *ctx, struct rpcrdma_request *request, const void *args, void *result)
{
	const RENAME3args *in = args;
	RENAME3res *res = result;
	struct fake_object *object;

	if (begin(ctx, request->proc, result))
		return RPCRDMA_HANDLED;
	object = find(ctx, object_of(ctx, in->from.dir), in->from.name);
	if (!object) {
		res->status = NFS3ERR_NOENT;
		return RPCRDMA_HANDLED;
	}
	memcpy(object->name, in->to.name.data, in->to.name.length);
	object->name[in->to.name.length] = '\0';
	return end(ctx, request->proc);
}

/* ---- Data ---- */

static enum rpcrdma_handled
read_(void *ctx, struct rpcrdma_request *request, const void *args, void *result)
{
	const READ3args *in = args;
	struct fake *fake = ctx;
	READ3resok *ok = &((READ3res *)result)->u.resok;
	const struct fake_object *object = object_of(fake, in->file);
	uint64_t left = in->offset < object->size ? object->size - in->offset : 0;

	if (begin(fake, request->proc, result))
		return RPCRDMA_HANDLED;
	ok->count = (count3)rr_min(rr_min(in->count, fake->read_most), left);
	ok->data = (struct rpcrdma_bytes){ object->data + in->offset, ok->count };
	ok->eof = ok->count == left;
	if (fake->lie == FAKE_READ_TOO_MUCH)
		ok->data.length = ok->count = in->count + 4;
	if (fake->lie == FAKE_READ_COUNT)
		ok->count++;
	if (fake->lie == FAKE_READ_NOTHING)
		ok->data.length = ok->count = ok->eof = 0;
	return end(fake, request->proc);
}

static enum rpcrdma_handled
write_(void *ctx, struct rpcrdma_request *request, const void *args, void *result)
{
	const WRITE3args *in = args;
	struct fake *fake = ctx;
	WRITE3resok *ok = &((WRITE3res *)result)->u.resok;
	struct fake_object *object = object_of(fake, in->file);

	if (begin(fake, request->proc, result))
		return RPCRDMA_HANDLED;
	assert_int_equal(in->count, in->data.length);
	ok->count = (count3)rr_min(in->count, fake->write_most);
	assert_true(in->offset + ok->count <= FAKE_FILE_MAX);
	memcpy(object->data + in->offset, in->data.data, ok->count);
	if (object->size < in->offset + ok->count)
		object->size = in->offset + ok->count;
	ok->committed = in->stable > fake->committed ? in->stable : fake->committed;
	if (ok->committed == FILE_SYNC)
		object->stable = object->size;
	memcpy(ok->verf, &fake->verifier, sizeof(ok->verf));
	fake->verifier += fake->verifier_step;
	if (fake->lie == FAKE_WRITE_NOTHING)
		ok->count = 0;
	if (fake->lie == FAKE_WRITE_TOO_MUCH)
		ok->count = in->count + 1;
	if (fake->lie == FAKE_WRITE_LESS_STABLE)
		ok->committed = UNSTABLE;
	return end(fake, request->proc);
}

static enum rpcrdma_handled
commit(void *ctx, struct rpcrdma_request *request, const void *args, void *result)
{
	struct fake *fake = ctx;
	struct fake_object *object = object_of(fake, ((const COMMIT3args *)args)->file);

	if (begin(fake, request->proc, result))
		return RPCRDMA_HANDLED;
	if (!fake->crash_before)
		object->stable = object->size;
	fake->crash_before = false;
	memcpy(((COMMIT3res *)result)->u.resok.verf, &fake->verifier, sizeof(fake->verifier));
	return end(fake, request->proc);
}

static enum rpcrdma_handled
fsinfo(void *ctx, struct rpcrdma_request *request, const void *args, void *result)
{
	FSINFO3resok *ok = &((FSINFO3res *)result)->u.resok;
	struct fake *fake = ctx;

	(void)args;
	if (begin(fake, request->proc, result))
		return RPCRDMA_HANDLED;
	ok->rtmax = fake->rtmax;
	ok->wtmax = fake->wtmax;
	ok->dtpref = 1 << 16;
	ok->maxfilesize = FAKE_FILE_MAX;
	return end(fake, request->proc);
}

/* ---- Directories: "." first, then what is in the table; a cookie is one more than the object's number ----
 */

static bool
listed(const struct fake *fake, uint32_t directory, uint64_t from, uint32_t *number)
{
	for (uint64_t i = from; i < FAKE_OBJECTS; i++) {
		*number = (uint32_t)i;
		if (i == 0 || (fake->objects[i].used && fake->objects[i].parent == directory))
			return true;
	}
	return false;
}

static const char *
name_of(const struct fake *fake, uint32_t number)
{
	return number == 0 ? "." : fake->objects[number].name;
}

static enum rpcrdma_handled
readdirplus(void *ctx, struct rpcrdma_request *request, const void *args, void *result)
{
	static entryplus3 entries[FAKE_OBJECTS];
	const READDIRPLUS3args *in = args;
	struct fake *fake = ctx;
	READDIRPLUS3res *res = result;
	entryplus3 **next = &res->u.resok.reply.entries;
	uint32_t directory = (uint32_t)(object_of(fake, in->dir) - fake->objects), number, count = 0;
	uint64_t from = in->cookie;

	if (begin(fake, request->proc, result))
		return RPCRDMA_HANDLED;
	if (fake->no_readdirplus) {
		res->status = NFS3ERR_NOTSUPP;
		return RPCRDMA_HANDLED;
	}
	if (fake->lie == FAKE_COOKIE_GROWING ||
		(fake->lie == FAKE_COOKIE_CIRCLE && !listed(fake, directory, from, &number)))
		from = 1;
	while (count < fake->entry_most && fake->lie != FAKE_DIRECTORY_ENDLESS &&
		listed(fake, directory, from, &number)) {
		entryplus3 *entry = &entries[count++];
		const char *name = name_of(fake, number);

		*entry = (entryplus3){
			.fileid = number, .name = { name, (uint32_t)strlen(name) }, .cookie = number + 1
		};
		if (fake->lie == FAKE_COOKIE_SAME)
			entry->cookie = 1;
		if (fake->lie == FAKE_COOKIE_GROWING)
			entry->cookie = in->cookie + count;
		entry->name_attributes = follow(fake, &fake->objects[number]);
		entry->name_handle = follow_handle(fake, &fake->objects[number]);
		*next = entry;
		next = &entry->nextentry;
		from = number + 1;
	}
	*next = NULL;
	res->u.resok.reply.eof = fake->lie != FAKE_DIRECTORY_ENDLESS && fake->lie != FAKE_COOKIE_SAME &&
				 fake->lie != FAKE_COOKIE_CIRCLE && fake->lie != FAKE_COOKIE_GROWING &&
				 !listed(fake, directory, from, &number);
	return end(fake, request->proc);
}

static enum rpcrdma_handled
readdir_(void *ctx, struct rpcrdma_request *request, const void *args, void *result)
{
	static entry3 entries[FAKE_OBJECTS];
	const READDIR3args *in = args;
	struct fake *fake = ctx;
	dirlist3 *reply = &((READDIR3res *)result)->u.resok.reply;
	entry3 **next = &reply->entries;
	uint32_t directory = (uint32_t)(object_of(fake, in->dir) - fake->objects), number, count = 0;
	uint64_t from = in->cookie;

	if (begin(fake, request->proc, result))
		return RPCRDMA_HANDLED;
	while (count < fake->entry_most && listed(fake, directory, from, &number)) {
		entry3 *entry = &entries[count++];
		const char *name = name_of(fake, number);

		*entry = (entry3){
			.fileid = number, .name = { name, (uint32_t)strlen(name) }, .cookie = number + 1
		};
		*next = entry;
		next = &entry->nextentry;
		from = number + 1;
	}
	*next = NULL;
	reply->eof = !listed(fake, directory, from, &number);
	return end(fake, request->proc);
}

rpcrdma_handler *const fake_handlers[] = {
	[NFSPROC3_NULL] = null,
	[NFSPROC3_GETATTR] = getattr,
	[NFSPROC3_SETATTR] = setattr,
	[NFSPROC3_LOOKUP] = lookup,
	[NFSPROC3_READLINK] = readlink_,
	[NFSPROC3_READ] = read_,
	[NFSPROC3_WRITE] = write_,
	[NFSPROC3_CREATE] = create,
	[NFSPROC3_MKDIR] = mkdir_,
	[NFSPROC3_SYMLINK] = symlink_,
	[NFSPROC3_REMOVE] = remove_,
	[NFSPROC3_RMDIR] = remove_, /* arguments and results have the same members */
	[NFSPROC3_RENAME] = rename_,
	[NFSPROC3_LINK] = link_,
	[NFSPROC3_READDIR] = readdir_,
	[NFSPROC3_READDIRPLUS] = readdirplus,
	[NFSPROC3_FSSTAT] = fsstat,
	[NFSPROC3_FSINFO] = fsinfo,
	[NFSPROC3_COMMIT] = commit,
};
