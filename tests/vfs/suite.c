/* SPDX-License-Identifier: BSD-3-Clause */
#include "suite.h"

#include <stdio.h>
#include <stdlib.h>

void
suite_needs(const struct suite *suite, unsigned can)
{
	if ((suite->provider->can & can) != can)
		skip();
}

static void
done(struct rr_vfs_call *call)
{
	call->done = NULL;
}

void
suite_ready(struct suite *suite, struct rr_vfs_call *call)
{
	if (!call->caller)
		call->caller = suite->caller;
	call->done = done;
	call->status = RR_VFS_PENDING;
}

bool
suite_ended(const struct rr_vfs_call *call)
{
	return !call->done;
}

enum rr_vfs_status
suite_end(struct suite *suite, struct rr_vfs_call *call, enum rr_vfs_status status)
{
	if (status != RR_VFS_PENDING) {
		assert_false(suite_ended(call));
		return status;
	}
	turn_until(suite_ended(call), rr_loop_turn(suite->loop, RR_SECOND));
	assert_int_not_equal(call->status, RR_VFS_PENDING);
	return call->status;
}

struct rr_vfs_object
suite_at(const struct rr_vfs_handle *handle)
{
	return (struct rr_vfs_object){ .handle = { handle->data, handle->length } };
}

struct rpcrdma_bytes
suite_bytes(const char *text)
{
	return (struct rpcrdma_bytes){ text, (uint32_t)strlen(text) };
}

enum rr_vfs_status
suite_create(struct suite *suite, const struct rr_vfs_handle *directory, const char *name,
	enum rr_vfs_type type, uint32_t mode, struct rr_vfs_handle *handle)
{
	struct rr_vfs_create create = {
		.directory = suite_at(directory),
		.name = suite_bytes(name),
		.type = type,
		.how = RR_VFS_GUARDED,
		.set = { .mask = RR_VFS_SET_MODE, .mode = mode },
		.target = suite_bytes("target"),
	};
	enum rr_vfs_status status = suite_do(suite, create, &create);

	if (status == RR_VFS_OK && handle)
		*handle = create.handle;
	return status;
}

struct rr_vfs_handle
suite_make(struct suite *suite, const struct rr_vfs_handle *directory, const char *name,
	enum rr_vfs_type type, uint32_t mode)
{
	struct rr_vfs_handle handle = { 0 };

	assert_int_equal(suite_create(suite, directory, name, type, mode, &handle), RR_VFS_OK);
	return handle;
}

enum rr_vfs_status
suite_write(struct suite *suite, const struct rr_vfs_object *object, uint64_t offset, const char *text,
	enum rr_vfs_stable stable)
{
	struct rr_vfs_write write = {
		.object = *object,
		.offset = offset,
		.data = text,
		.length = (uint32_t)strlen(text),
		.stable = stable,
	};
	enum rr_vfs_status status = suite_do(suite, write, &write);

	if (status != RR_VFS_OK)
		return status;
	assert_int_equal(write.count, write.length);
	assert_true(write.committed >= stable);
	assert_false(write.change.exact);
	return status;
}

struct rr_vfs_handle
suite_file(struct suite *suite, const char *name, const char *text)
{
	struct rr_vfs_handle handle = suite_make(suite, &suite->root, name, RR_VFS_FILE, 0644);
	struct rr_vfs_object object = suite_at(&handle);

	assert_int_equal(suite_write(suite, &object, 0, text, RR_VFS_FILE_SYNC), RR_VFS_OK);
	return handle;
}

enum rr_vfs_status
suite_lookup(struct suite *suite, const struct rr_vfs_handle *directory, const char *name,
	struct rr_vfs_handle *handle)
{
	struct rr_vfs_lookup lookup = { .directory = suite_at(directory), .name = suite_bytes(name) };
	enum rr_vfs_status status = suite_do(suite, lookup, &lookup);

	if (status == RR_VFS_OK && handle)
		*handle = lookup.handle;
	return status;
}

struct rr_vfs_handle
suite_find(struct suite *suite, const struct rr_vfs_handle *directory, const char *name)
{
	struct rr_vfs_handle handle = { 0 };

	assert_int_equal(suite_lookup(suite, directory, name, &handle), RR_VFS_OK);
	return handle;
}

enum rr_vfs_status
suite_getattr(struct suite *suite, const struct rr_vfs_object *object, struct rr_vfs_attributes *attributes)
{
	struct rr_vfs_getattr getattr = { .object = *object };
	enum rr_vfs_status status = suite_do(suite, getattr, &getattr);

	if (status == RR_VFS_OK && attributes)
		*attributes = getattr.attributes;
	return status;
}

struct rr_vfs_attributes
suite_attributes(struct suite *suite, const struct rr_vfs_handle *handle)
{
	struct rr_vfs_object object = suite_at(handle);
	struct rr_vfs_attributes attributes = { 0 };

	assert_int_equal(suite_getattr(suite, &object, &attributes), RR_VFS_OK);
	return attributes;
}

struct rr_vfs_open *
suite_open(struct suite *suite, const struct rr_vfs_handle *handle, uint32_t access, uint32_t deny)
{
	struct rr_vfs_opening opening = { .object = suite_at(handle), .access = access, .deny = deny };

	assert_int_equal(suite_do(suite, open, &opening), RR_VFS_OK);
	assert_non_null(opening.open);
	return opening.open;
}

void
suite_close(struct suite *suite, struct rr_vfs_open *open)
{
	struct rr_vfs_call call = { 0 };

	suite_ready(suite, &call);
	assert_int_equal(suite_end(suite, &call, rr_vfs_close(suite->vfs, open, &call)), RR_VFS_OK);
}

void
suite_holds(struct suite *suite, const struct rr_vfs_object *object, uint64_t offset, const char *text)
{
	char data[4096];
	struct rr_vfs_read read = { .object = *object, .offset = offset, .size = sizeof(data), .data = data };

	assert_int_equal(suite_do(suite, read, &read), RR_VFS_OK);
	assert_int_equal(read.length, strlen(text));
	assert_memory_equal(data, text, read.length);
	assert_true(read.eof);
}

void
suite_set_mode(struct suite *suite, const struct rr_vfs_handle *handle, uint32_t mode)
{
	struct rr_vfs_setattr setattr = { .object = suite_at(handle),
		.set = { .mask = RR_VFS_SET_MODE, .mode = mode } };

	assert_int_equal(suite_do(suite, setattr, &setattr), RR_VFS_OK);
	assert_int_equal(setattr.applied, RR_VFS_SET_MODE);
}

enum rr_vfs_status
suite_remove(struct suite *suite, const struct rr_vfs_handle *directory, const char *name,
	enum rr_vfs_remove_what what)
{
	struct rr_vfs_remove remove = {
		.directory = suite_at(directory), .name = suite_bytes(name), .what = what
	};

	return suite_do(suite, remove, &remove);
}

enum rr_vfs_status
suite_rename(struct suite *suite, const struct rr_vfs_handle *from, const char *old_name,
	const struct rr_vfs_handle *to, const char *new_name)
{
	struct rr_vfs_rename rename = { .from = suite_at(from),
		.to = suite_at(to),
		.old_name = suite_bytes(old_name),
		.new_name = suite_bytes(new_name) };

	return suite_do(suite, rename, &rename);
}

enum rr_vfs_status
suite_link(struct suite *suite, const struct rr_vfs_handle *file, const struct rr_vfs_handle *directory,
	const char *name)
{
	struct rr_vfs_link link = {
		.file = suite_at(file), .directory = suite_at(directory), .name = suite_bytes(name)
	};

	return suite_do(suite, link, &link);
}
