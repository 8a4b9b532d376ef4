/* SPDX-License-Identifier: BSD-3-Clause */
#include <rpcrdma/nfs.h>

#include "module.h"

/* rpcrdma._rpcrdma.Nfs: files of an NFS server. */

struct nfs {
	PyObject_HEAD struct rpcrdma_engine *engine;
	struct rpcrdma_nfs *nfs;
	bool busy, interrupted;
};

/* The library asks now and then while it waits: Ctrl-C ends the operation. */
static bool
nfs_interrupted(void *ctx)
{
	struct nfs *nfs = ctx;

	return module_interrupted(&nfs->interrupted);
}

/* NULL, with the exception of a signal that ended the operation, or with Error. */
static PyObject *
nfs_fail(const struct nfs *nfs, int error)
{
	return PyErr_Occurred() ? NULL : module_fail(error, rpcrdma_nfs_error(nfs->nfs));
}

static int
nfs_init(PyObject *self, PyObject *args, PyObject *words)
{
	static char *names[] = { "url", NULL };
	struct nfs *nfs = (struct nfs *)self;
	struct rpcrdma_nfs_config config = {
		.size = sizeof(config), .interrupted = nfs_interrupted, .ctx = nfs
	};
	int error;

	if (nfs->engine) {
		PyErr_SetString(PyExc_RuntimeError, "the server is mounted already");
		return -1;
	}
	if (!PyArg_ParseTupleAndKeywords(args, words, "s", names, &config.url))
		return -1;
	error = rpcrdma_engine_new(NULL, &nfs->engine);
	if (error < 0) {
		module_fail(error, rpcrdma_strerror(error));
		return -1;
	}
	nfs->busy = true;
	nfs->interrupted = false;
	Py_BEGIN_ALLOW_THREADS;
	error = rpcrdma_nfs_open(nfs->engine, &config, &nfs->nfs);
	Py_END_ALLOW_THREADS;
	nfs->busy = false;
	if (error == 0)
		return 0;
	if (!PyErr_Occurred())
		module_fail(error, rpcrdma_engine_error(nfs->engine));
	/* So that it can be tried again. */
	rpcrdma_engine_free(nfs->engine);
	nfs->engine = NULL;
	return -1;
}

static void
nfs_end(struct nfs *nfs)
{
	rpcrdma_nfs_close(nfs->nfs);
	rpcrdma_engine_free(nfs->engine);
	nfs->nfs = NULL;
	nfs->engine = NULL;
}

static void
nfs_dealloc(PyObject *self)
{
	PyTypeObject *type = Py_TYPE(self);

	nfs_end((struct nfs *)self);
	type->tp_free(self);
	Py_DECREF(type);
}

static bool
nfs_is_usable(const struct nfs *nfs)
{
	if (nfs->nfs && !nfs->busy)
		return true;
	PyErr_SetString(PyExc_RuntimeError, nfs->busy ? "another thread uses it" : "it is closed");
	return false;
}

/* Whether an operation did what it was to do; else false, with an exception. */
static bool
nfs_ended(const struct nfs *nfs, int error)
{
	if (error || PyErr_Occurred())
		nfs_fail(nfs, error);
	return !PyErr_Occurred();
}

/* Runs an operation without the interpreter's lock. */
#define NFS_RUN(nfs, error, operation)                                                                       \
	do {                                                                                                 \
		(nfs)->busy = true;                                                                          \
		(nfs)->interrupted = false;                                                                  \
		Py_BEGIN_ALLOW_THREADS;                                                                      \
		error = operation;                                                                           \
		Py_END_ALLOW_THREADS;                                                                        \
		(nfs)->busy = false;                                                                         \
	} while (0)

/* The object of a path, which is bytes; false, with an exception. */
static bool
nfs_find(struct nfs *nfs, PyObject *path, bool follow, struct rpcrdma_nfs_object *object)
{
	int error;

	if (!nfs_is_usable(nfs))
		return false;
	*object = (struct rpcrdma_nfs_object){ .size = sizeof(*object) };
	NFS_RUN(nfs, error, rpcrdma_nfs_find(nfs->nfs, PyBytes_AsString(path), follow, object));
	return nfs_ended(nfs, error);
}

/* Nanoseconds since 1970: an integer of any size, as a float would lose some. */
static PyObject *
nfs_time(const struct rpcrdma_nfs_time *time)
{
	PyObject *seconds = PyLong_FromLongLong(time->seconds), *billion = PyLong_FromLong(1000000000);
	PyObject *more = PyLong_FromUnsignedLong(time->nanoseconds);
	PyObject *product = seconds && billion ? PyNumber_Multiply(seconds, billion) : NULL;
	PyObject *sum = product && more ? PyNumber_Add(product, more) : NULL;

	Py_XDECREF(seconds);
	Py_XDECREF(billion);
	Py_XDECREF(more);
	Py_XDECREF(product);
	return sum;
}

/* The name of a user or a group, or None. */
static PyObject *
nfs_who(const char *name)
{
	if (name[0])
		return PyUnicode_DecodeUTF8(name, (Py_ssize_t)strlen(name), "replace");
	Py_INCREF(Py_None);
	return Py_None;
}

static PyObject *
nfs_stat(PyObject *self, PyObject *args)
{
	struct nfs *nfs = (struct nfs *)self;
	struct rpcrdma_nfs_object object;
	PyObject *path = NULL;
	int follow;
	bool found;

	if (!PyArg_ParseTuple(args, "O&p", PyUnicode_FSConverter, &path, &follow))
		return NULL;
	found = nfs_find(nfs, path, follow != 0, &object);
	Py_DECREF(path);
	if (!found)
		return NULL;
	return Py_BuildValue("{s:i,s:I,s:I,s:I,s:I,s:N,s:N,s:K,s:K,s:K,s:d,s:N,s:N,s:N}", "type",
		(int)object.type, "mode", object.mode, "links", object.links, "uid", object.uid, "gid",
		object.gid, "owner", nfs_who(object.owner), "group", nfs_who(object.group), "size",
		(unsigned long long)object.length, "used", (unsigned long long)object.used, "number",
		(unsigned long long)object.number, "modified",
		(double)object.modified.seconds + object.modified.nanoseconds / 1e9, "modified_ns",
		nfs_time(&object.modified), "accessed_ns", nfs_time(&object.accessed), "changed_ns",
		nfs_time(&object.changed));
}

static int
nfs_add_name(void *ctx, const struct rpcrdma_nfs_entry *entry)
{
	PyGILState_STATE state = PyGILState_Ensure();
	PyObject *name = PyUnicode_DecodeFSDefault(entry->name);
	int error = name && PyList_Append(ctx, name) == 0 ? 0 : -RPCRDMA_ERR_NOMEM;

	Py_XDECREF(name);
	PyGILState_Release(state);
	return error;
}

static PyObject *
nfs_list(PyObject *self, PyObject *args)
{
	struct nfs *nfs = (struct nfs *)self;
	struct rpcrdma_nfs_object directory;
	PyObject *path = NULL, *names = NULL;
	int error;

	if (!PyArg_ParseTuple(args, "O&", PyUnicode_FSConverter, &path))
		return NULL;
	if (nfs_find(nfs, path, true, &directory))
		names = PyList_New(0);
	Py_DECREF(path);
	if (!names)
		return NULL;
	NFS_RUN(nfs, error, rpcrdma_nfs_list(nfs->nfs, &directory.handle, nfs_add_name, names));
	if (nfs_ended(nfs, error))
		return names;
	Py_DECREF(names);
	return NULL;
}

/* Reads into the memory of a buffer, or writes what is in it. */
static PyObject *
nfs_move(struct nfs *nfs, PyObject *path, Py_buffer *memory, uint64_t offset, bool write)
{
	struct rpcrdma_nfs_object object;
	struct rpcrdma_nfs_io io = { .size = sizeof(io), .stability = RPCRDMA_NFS_FILE_SYNC };
	int error;

	if (memory->len > UINT32_MAX) {
		PyErr_SetString(PyExc_ValueError, "more than 4 GiB at a time");
	} else if (nfs_find(nfs, path, true, &object)) {
		io.file = object.handle;
		io.offset = offset;
		io.data = memory->buf;
		io.length = (uint32_t)memory->len;
		NFS_RUN(nfs, error,
			write ? rpcrdma_nfs_write(nfs->nfs, &io, NULL)
			      : rpcrdma_nfs_read(nfs->nfs, &io, NULL));
		nfs_ended(nfs, error);
	}
	PyBuffer_Release(memory);
	Py_DECREF(path);
	return PyErr_Occurred() ? NULL : PyLong_FromUnsignedLong(io.moved);
}

static PyObject *
nfs_read(PyObject *self, PyObject *args)
{
	PyObject *path = NULL;
	uint64_t offset;
	Py_buffer memory;

	if (!PyArg_ParseTuple(args, "O&O&w*", PyUnicode_FSConverter, &path, module_u64, &offset, &memory))
		return NULL;
	return nfs_move((struct nfs *)self, path, &memory, offset, false);
}

static PyObject *
nfs_write(PyObject *self, PyObject *args)
{
	PyObject *path = NULL;
	uint64_t offset;
	Py_buffer memory;

	if (!PyArg_ParseTuple(args, "O&O&y*", PyUnicode_FSConverter, &path, module_u64, &offset, &memory))
		return NULL;
	return nfs_move((struct nfs *)self, path, &memory, offset, true);
}

static PyObject *
nfs_truncate(PyObject *self, PyObject *args)
{
	struct nfs *nfs = (struct nfs *)self;
	struct rpcrdma_nfs_changes changes = { .size = sizeof(changes), .set_length = true };
	struct rpcrdma_nfs_object object;
	PyObject *path = NULL;
	bool good;
	int error;

	if (!PyArg_ParseTuple(args, "O&O&", PyUnicode_FSConverter, &path, module_u64, &changes.length))
		return NULL;
	good = nfs_find(nfs, path, true, &object);
	Py_DECREF(path);
	if (!good)
		return NULL;
	NFS_RUN(nfs, error, rpcrdma_nfs_change(nfs->nfs, &object.handle, &changes, NULL));
	if (!nfs_ended(nfs, error))
		return NULL;
	Py_RETURN_NONE;
}

enum change { NFS_CREATE, NFS_MKDIR, NFS_REMOVE, NFS_RMDIR };

static int
nfs_do_change(
	struct rpcrdma_nfs *nfs, const struct rpcrdma_nfs_handle *directory, const char *name, int change)
{
	struct rpcrdma_nfs_object made = { .size = sizeof(made) };

	switch (change) {
	case NFS_CREATE: return rpcrdma_nfs_create(nfs, directory, name, NULL, &made, NULL);
	case NFS_MKDIR: return rpcrdma_nfs_mkdir(nfs, directory, name, NULL, &made, NULL);
	case NFS_REMOVE: return rpcrdma_nfs_remove(nfs, directory, name, NULL);
	default: return rpcrdma_nfs_rmdir(nfs, directory, name, NULL);
	}
}

static PyObject *
nfs_change(PyObject *self, PyObject *args)
{
	struct nfs *nfs = (struct nfs *)self;
	struct rpcrdma_nfs_object directory;
	PyObject *path = NULL, *name = NULL;
	int change, error;
	bool good = PyArg_ParseTuple(
		args, "O&O&i", PyUnicode_FSConverter, &path, PyUnicode_FSConverter, &name, &change);

	if (good && (good = nfs_find(nfs, path, true, &directory))) {
		NFS_RUN(nfs, error,
			nfs_do_change(nfs->nfs, &directory.handle, PyBytes_AsString(name), change));
		good = nfs_ended(nfs, error);
	}
	Py_XDECREF(path);
	Py_XDECREF(name);
	return good ? Py_BuildValue("") : NULL;
}

static PyObject *
nfs_close(PyObject *self, PyObject *nothing)
{
	struct nfs *nfs = (struct nfs *)self;

	(void)nothing;
	if (nfs->busy) {
		PyErr_SetString(PyExc_RuntimeError, "another thread uses it");
		return NULL;
	}
	nfs->interrupted = false;
	nfs_end(nfs);
	Py_RETURN_NONE;
}

static PyObject *
nfs_rename(PyObject *self, PyObject *args)
{
	struct nfs *nfs = (struct nfs *)self;
	struct rpcrdma_nfs_object from, to;
	PyObject *old = NULL, *old_name = NULL, *new = NULL, *new_name = NULL;
	int error;
	bool good = PyArg_ParseTuple(args, "O&O&O&O&", PyUnicode_FSConverter, &old, PyUnicode_FSConverter,
		&old_name, PyUnicode_FSConverter, &new, PyUnicode_FSConverter, &new_name);

	good = good && nfs_find(nfs, old, true, &from) && nfs_find(nfs, new, true, &to);
	if (good) {
		NFS_RUN(nfs, error,
			rpcrdma_nfs_rename(nfs->nfs, &from.handle, PyBytes_AsString(old_name), &to.handle,
				PyBytes_AsString(new_name), NULL));
		good = nfs_ended(nfs, error);
	}
	Py_XDECREF(old);
	Py_XDECREF(old_name);
	Py_XDECREF(new);
	Py_XDECREF(new_name);
	return good ? Py_BuildValue("") : NULL;
}

static PyObject *
nfs_get_acl(PyObject *self, PyObject *args)
{
	struct nfs *nfs = (struct nfs *)self;
	struct rpcrdma_nfs_acl_entry entries[RPCRDMA_NFS_ACL_MAX];
	struct rpcrdma_nfs_acl acl = { entries, RPCRDMA_NFS_ACL_MAX, 0 };
	struct rpcrdma_nfs_object object;
	PyObject *path = NULL, *list;
	int error, inherited;
	bool good;

	if (!PyArg_ParseTuple(args, "O&p", PyUnicode_FSConverter, &path, &inherited))
		return NULL;
	good = nfs_find(nfs, path, true, &object);
	Py_DECREF(path);
	if (!good)
		return NULL;
	NFS_RUN(nfs, error,
		rpcrdma_nfs_get_acl(nfs->nfs, &object.handle, inherited ? NULL : &acl,
			inherited ? &acl : NULL, NULL, NULL));
	if (!nfs_ended(nfs, error))
		return NULL;
	list = PyList_New((Py_ssize_t)acl.count);
	for (uint32_t i = 0; list && i < acl.count; i++) {
		PyObject *entry = Py_BuildValue("(III)", entries[i].tag, entries[i].perm, entries[i].id);

		/* The list takes the entry over; NULL stays there after a failure. */
		if (!entry || PyList_SetItem(list, (Py_ssize_t)i, entry) < 0)
			Py_CLEAR(list);
	}
	return list;
}

/* Reads the entries, which are a list of tuples. Returns false, with an exception, if they are not. */
static bool
nfs_entries(PyObject *list, struct rpcrdma_nfs_acl *acl)
{
	Py_ssize_t count = PyList_Size(list);

	if (count < 0 || count > RPCRDMA_NFS_ACL_MAX) {
		if (!PyErr_Occurred())
			PyErr_SetString(PyExc_ValueError, "an access list with too many entries");
		return false;
	}
	acl->count = (uint32_t)count;
	for (Py_ssize_t i = 0; i < count; i++) {
		struct rpcrdma_nfs_acl_entry *entry = &acl->entries[i];

		if (!PyArg_ParseTuple(PyList_GetItem(list, i), "III", &entry->tag, &entry->perm, &entry->id))
			return false;
	}
	return true;
}

static PyObject *
nfs_set_acl(PyObject *self, PyObject *args)
{
	struct nfs *nfs = (struct nfs *)self;
	struct rpcrdma_nfs_acl_entry entries[RPCRDMA_NFS_ACL_MAX];
	struct rpcrdma_nfs_acl acl = { entries, 0, 0 };
	struct rpcrdma_nfs_object object;
	PyObject *path = NULL, *list;
	int error, inherited;
	bool good;

	if (!PyArg_ParseTuple(args, "O&Op", PyUnicode_FSConverter, &path, &list, &inherited))
		return NULL;
	good = nfs_entries(list, &acl) && nfs_find(nfs, path, true, &object);
	Py_DECREF(path);
	if (!good)
		return NULL;
	NFS_RUN(nfs, error,
		rpcrdma_nfs_set_acl(
			nfs->nfs, &object.handle, inherited ? NULL : &acl, inherited ? &acl : NULL, NULL));
	return nfs_ended(nfs, error) ? Py_BuildValue("") : NULL;
}

static PyMethodDef nfs_methods[] = {
	{ "stat", nfs_stat, METH_VARARGS, "stat(path, follow): a dictionary" },
	{ "list", nfs_list, METH_VARARGS, "list(path): the names in a directory" },
	{ "read", nfs_read, METH_VARARGS, "read(path, offset, buffer): octets read" },
	{ "write", nfs_write, METH_VARARGS, "write(path, offset, octets): octets written" },
	{ "truncate", nfs_truncate, METH_VARARGS, "truncate(path, size)" },
	{ "rename", nfs_rename, METH_VARARGS, "rename(directory, name, new_directory, new_name)" },
	{ "change", nfs_change, METH_VARARGS, "change(directory, name, change)" },
	{ "get_acl", nfs_get_acl, METH_VARARGS, "get_acl(path, inherited): a list of (tag, perm, id)" },
	{ "set_acl", nfs_set_acl, METH_VARARGS, "set_acl(path, entries, inherited)" },
	{ "close", nfs_close, METH_NOARGS, "Closes the connection." },
	{ NULL, NULL, 0, NULL },
};
static PyType_Slot nfs_slots[] = {
	{ Py_tp_init, nfs_init },
	{ Py_tp_new, PyType_GenericNew },
	{ Py_tp_dealloc, nfs_dealloc },
	{ Py_tp_methods, nfs_methods },
	{ 0, NULL },
};
PyType_Spec nfs_spec = { "rpcrdma._rpcrdma.Nfs", sizeof(struct nfs), 0, Py_TPFLAGS_DEFAULT, nfs_slots };
