/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rpcrdma._rpcrdma: calls whose arguments and results are octets of XDR, and an NFS client.
 * rpcrdma/__init__.py has what programs use. Each object has an engine of its own; the interpreter's lock is
 * given back while the library waits, and an object refuses a second thread meanwhile.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <rpcrdma/client.h>
#include <rpcrdma/nfs.h>

enum { MODULE_PROCEDURES = 4096, MODULE_REPLY_EXTRA = 1024 };

static PyObject *
module_fail(int error, const char *text)
{
	PyObject *module = PyImport_ImportModule("rpcrdma._rpcrdma");
	PyObject *type = module ? PyObject_GetAttrString(module, "Error") : NULL;
	PyObject *values = type ? Py_BuildValue("(is)", error, text) : NULL;

	if (values && !PyErr_Occurred())
		PyErr_SetObject(type, values);
	Py_XDECREF(values);
	Py_XDECREF(type);
	Py_XDECREF(module);
	return NULL;
}

/* ---- Calls ---- */

struct client {
	PyObject_HEAD struct rpcrdma_engine *engine;
	struct rpcrdma_client *client;
	bool busy;
};

/* Octets of XDR, to be sent or received. */
struct octets {
	uint8_t *data;
	uint32_t length, room;
};

static void
client_put(struct rpcrdma_xdr_writer *writer, const void *value)
{
	const struct octets *octets = *(const struct octets *const *)value;

	rpcrdma_put_fixed(writer, octets->data, octets->length);
}

static void
client_get(struct rpcrdma_xdr_reader *reader, void *value)
{
	struct octets *octets = *(struct octets **)value;
	size_t left = rpcrdma_xdr_left(reader);

	if (left > octets->room) {
		rpcrdma_xdr_fail(reader);
		return;
	}
	octets->length = (uint32_t)left;
	rpcrdma_get_fixed(reader, octets->data, octets->length);
}

static int
client_init(PyObject *self, PyObject *args, PyObject *words)
{
	static char *names[] = { "host", "port", "transport", "auth_none", "message_max", NULL };
	struct client *client = (struct client *)self;
	struct rpcrdma_client_config config = { .size = sizeof(config) };
	struct rpcrdma_engine_config sizes = { .size = sizeof(sizes) };
	int transport = 0, auth_none = 0, error;

	if (client->engine) {
		PyErr_SetString(PyExc_RuntimeError, "the client is connected already");
		return -1;
	}
	if (!PyArg_ParseTupleAndKeywords(args, words, "sH|ipI", names, &config.host, &config.port, &transport,
		    &auth_none, &sizes.message_max))
		return -1;
	config.transport = (enum rpcrdma_transport)transport;
	config.auth_none = auth_none != 0;
	error = rpcrdma_engine_new(&sizes, &client->engine);
	if (error < 0) {
		module_fail(error, rpcrdma_strerror(error));
		return -1;
	}
	Py_BEGIN_ALLOW_THREADS;
	error = rpcrdma_client_connect(client->engine, &config, &client->client);
	Py_END_ALLOW_THREADS;
	if (error < 0) {
		module_fail(error, rpcrdma_engine_error(client->engine));
		return -1;
	}
	return 0;
}

static void
client_end(struct client *client)
{
	rpcrdma_client_free(client->client);
	rpcrdma_engine_free(client->engine);
	client->client = NULL;
	client->engine = NULL;
}

static void
client_dealloc(PyObject *self)
{
	PyTypeObject *type = Py_TYPE(self);

	client_end((struct client *)self);
	type->tp_free(self);
	Py_DECREF(type);
}

static int
client_exchange(struct client *client, const uint32_t numbers[3], struct octets *sent, struct octets *got,
	uint64_t timeout)
{
	struct rpcrdma_procedure *procedures = calloc((size_t)numbers[2] + 1, sizeof(*procedures));
	struct rpcrdma_program program = { .name = "program",
		.prog = numbers[0],
		.vers = numbers[1],
		.procedure_count = numbers[2] + 1,
		.procedures = procedures };
	struct rpcrdma_call_config config = { .size = sizeof(config),
		.program = &program,
		.procedure = numbers[2],
		.args = &sent,
		.result = &got,
		.reply_max = got->room,
		.timeout = timeout };
	int error;

	if (!procedures)
		return -RPCRDMA_ERR_NOMEM;
	procedures[numbers[2]] = (struct rpcrdma_procedure){ .name = "procedure",
		.args_size = sizeof(sent),
		.result_size = sizeof(got),
		.args_max = RPCRDMA_XDR_UNBOUNDED,
		.result_max = RPCRDMA_XDR_UNBOUNDED,
		.put_args = client_put,
		.get_result = client_get };
	config.keep_size = got->room + MODULE_REPLY_EXTRA;
	config.keep = malloc(config.keep_size);
	error = config.keep ? rpcrdma_client_call_and_wait(client->client, &config) : -RPCRDMA_ERR_NOMEM;
	free(config.keep);
	free(procedures);
	return error;
}

static PyObject *
client_run(struct client *client, const uint32_t numbers[3], const Py_buffer *args, uint32_t room,
	double timeout)
{
	struct octets sent = { args->buf, (uint32_t)args->len, 0 }, got = { malloc(room), 0, room };
	PyObject *result = NULL;
	int error = -RPCRDMA_ERR_NOMEM;

	client->busy = true;
	Py_BEGIN_ALLOW_THREADS;
	if (got.data)
		error = client_exchange(client, numbers, &sent, &got, (uint64_t)(timeout * 1e9));
	Py_END_ALLOW_THREADS;
	client->busy = false;
	if (error < 0)
		module_fail(error, rpcrdma_client_error(client->client));
	else
		result = PyBytes_FromStringAndSize((const char *)got.data, got.length);
	free(got.data);
	return result;
}

static PyObject *
client_call(PyObject *self, PyObject *args)
{
	struct client *client = (struct client *)self;
	PyObject *result = NULL;
	uint32_t numbers[3], room;
	double timeout;
	Py_buffer octets;

	if (!PyArg_ParseTuple(
		    args, "IIIy*Id", &numbers[0], &numbers[1], &numbers[2], &octets, &room, &timeout))
		return NULL;
	if (!client->client || client->busy)
		PyErr_SetString(PyExc_RuntimeError,
			client->busy ? "another thread uses the client" : "the client is closed");
	else if (numbers[2] >= MODULE_PROCEDURES || octets.len > UINT32_MAX || octets.len % 4 || room == 0 ||
		 room > UINT32_MAX - MODULE_REPLY_EXTRA || !(timeout >= 0 && timeout < 1e9))
		PyErr_SetString(PyExc_ValueError, "a procedure, size or time is out of range");
	else
		result = client_run(client, numbers, &octets, room, timeout);
	PyBuffer_Release(&octets);
	return result;
}

static PyObject *
client_close(PyObject *self, PyObject *nothing)
{
	struct client *client = (struct client *)self;

	(void)nothing;
	if (client->busy) {
		PyErr_SetString(PyExc_RuntimeError, "another thread uses the client");
		return NULL;
	}
	client_end(client);
	Py_RETURN_NONE;
}

static PyMethodDef client_methods[] = {
	{ "call", client_call, METH_VARARGS,
		"call(program, version, procedure, arguments, reply_max, timeout): octets of the results" },
	{ "close", client_close, METH_NOARGS, "Closes the connection." },
	{ NULL, NULL, 0, NULL },
};
static PyType_Slot client_slots[] = {
	{ Py_tp_init, client_init },
	{ Py_tp_new, PyType_GenericNew },
	{ Py_tp_dealloc, client_dealloc },
	{ Py_tp_methods, client_methods },
	{ 0, NULL },
};
static PyType_Spec client_spec = { "rpcrdma._rpcrdma.Client", sizeof(struct client), 0, Py_TPFLAGS_DEFAULT,
	client_slots };

/* ---- NFS ---- */

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
	PyGILState_STATE state = PyGILState_Ensure();

	nfs->interrupted = nfs->interrupted || PyErr_CheckSignals() < 0;
	PyGILState_Release(state);
	return nfs->interrupted;
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
	Py_BEGIN_ALLOW_THREADS;
	error = rpcrdma_nfs_open(nfs->engine, &config, &nfs->nfs);
	Py_END_ALLOW_THREADS;
	if (error == 0)
		return 0;
	if (!PyErr_Occurred())
		module_fail(error, rpcrdma_engine_error(nfs->engine));
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

/* The object of a path; false, with an exception. */
static bool
nfs_find(struct nfs *nfs, const char *path, struct rpcrdma_nfs_object *object)
{
	int error;

	*object = (struct rpcrdma_nfs_object){ .size = sizeof(*object) };
	NFS_RUN(nfs, error, rpcrdma_nfs_find(nfs->nfs, path, true, object));
	if (error)
		nfs_fail(nfs, error);
	return error == 0;
}

static PyObject *
nfs_stat(PyObject *self, PyObject *args)
{
	struct nfs *nfs = (struct nfs *)self;
	struct rpcrdma_nfs_object object;
	const char *path;

	if (!PyArg_ParseTuple(args, "s", &path) || !nfs_is_usable(nfs) || !nfs_find(nfs, path, &object))
		return NULL;
	return Py_BuildValue("{s:i,s:I,s:I,s:I,s:I,s:K,s:K,s:K,s:d}", "type", (int)object.type, "mode",
		object.mode, "links", object.links, "uid", object.uid, "gid", object.gid, "size",
		(unsigned long long)object.length, "used", (unsigned long long)object.used, "number",
		(unsigned long long)object.number, "modified",
		(double)object.modified.seconds + object.modified.nanoseconds / 1e9);
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
	const char *path;
	PyObject *names;
	int error;

	if (!PyArg_ParseTuple(args, "s", &path) || !nfs_is_usable(nfs) || !nfs_find(nfs, path, &directory))
		return NULL;
	names = PyList_New(0);
	if (!names)
		return NULL;
	NFS_RUN(nfs, error, rpcrdma_nfs_list(nfs->nfs, &directory.handle, nfs_add_name, names));
	if (!error)
		return names;
	Py_DECREF(names);
	return nfs_fail(nfs, error);
}

/* Straight into the memory of the buffer. */
static PyObject *
nfs_read(PyObject *self, PyObject *args)
{
	struct nfs *nfs = (struct nfs *)self;
	struct rpcrdma_nfs_object object;
	struct rpcrdma_nfs_io io = { .size = sizeof(io) };
	unsigned long long offset;
	const char *path;
	Py_buffer memory;
	int error = 0;

	if (!PyArg_ParseTuple(args, "sw*K", &path, &memory, &offset))
		return NULL;
	if (memory.len > UINT32_MAX) {
		PyErr_SetString(PyExc_ValueError, "more than 4 GiB at a time");
	} else if (nfs_is_usable(nfs) && nfs_find(nfs, path, &object)) {
		io.file = object.handle;
		io.offset = offset;
		io.data = memory.buf;
		io.length = (uint32_t)memory.len;
		NFS_RUN(nfs, error, rpcrdma_nfs_read(nfs->nfs, &io, NULL));
		if (error)
			nfs_fail(nfs, error);
	}
	PyBuffer_Release(&memory);
	return PyErr_Occurred() ? NULL : PyLong_FromUnsignedLong(io.moved);
}

static PyObject *
nfs_write(PyObject *self, PyObject *args)
{
	struct nfs *nfs = (struct nfs *)self;
	struct rpcrdma_nfs_object object;
	struct rpcrdma_nfs_io io = { .size = sizeof(io), .stability = RPCRDMA_NFS_FILE_SYNC };
	unsigned long long offset;
	const char *path;
	Py_buffer memory;
	int error = 0;

	if (!PyArg_ParseTuple(args, "sy*K", &path, &memory, &offset))
		return NULL;
	if (memory.len > UINT32_MAX) {
		PyErr_SetString(PyExc_ValueError, "more than 4 GiB at a time");
	} else if (nfs_is_usable(nfs) && nfs_find(nfs, path, &object)) {
		io.file = object.handle;
		io.offset = offset;
		io.data = memory.buf;
		io.length = (uint32_t)memory.len;
		NFS_RUN(nfs, error, rpcrdma_nfs_write(nfs->nfs, &io, NULL));
		if (error)
			nfs_fail(nfs, error);
	}
	PyBuffer_Release(&memory);
	return PyErr_Occurred() ? NULL : PyLong_FromUnsignedLong(io.moved);
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
	const char *path, *name;
	int change, error;

	if (!PyArg_ParseTuple(args, "ssi", &path, &name, &change) || !nfs_is_usable(nfs) ||
		!nfs_find(nfs, path, &directory))
		return NULL;
	NFS_RUN(nfs, error, nfs_do_change(nfs->nfs, &directory.handle, name, change));
	if (error)
		return nfs_fail(nfs, error);
	Py_RETURN_NONE;
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

static PyMethodDef nfs_methods[] = {
	{ "stat", nfs_stat, METH_VARARGS, "stat(path): a dictionary" },
	{ "list", nfs_list, METH_VARARGS, "list(path): the names in a directory" },
	{ "read", nfs_read, METH_VARARGS, "read(path, buffer, offset): octets read" },
	{ "write", nfs_write, METH_VARARGS, "write(path, octets, offset): octets written" },
	{ "change", nfs_change, METH_VARARGS, "change(directory, name, change)" },
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
static PyType_Spec nfs_spec = { "rpcrdma._rpcrdma.Nfs", sizeof(struct nfs), 0, Py_TPFLAGS_DEFAULT,
	nfs_slots };

/* ---- The module ---- */

static struct PyModuleDef module_definition = { PyModuleDef_HEAD_INIT, .m_name = "rpcrdma._rpcrdma",
	.m_size = -1 };

PyMODINIT_FUNC PyInit__rpcrdma(void);

PyMODINIT_FUNC
PyInit__rpcrdma(void)
{
	PyObject *module = PyModule_Create(&module_definition);
	PyObject *error = PyErr_NewExceptionWithDoc("rpcrdma.Error",
		"args: the number of the error, as enum rpcrdma_error and enum rpcrdma_nfs_status have it, "
		"and a text.",
		NULL, NULL);

	if (!module || !error || PyModule_AddObject(module, "Error", error) < 0 ||
		PyModule_AddObject(module, "Client", PyType_FromSpec(&client_spec)) < 0 ||
		PyModule_AddObject(module, "Nfs", PyType_FromSpec(&nfs_spec)) < 0)
		return NULL;
	return module;
}
