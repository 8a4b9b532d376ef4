/* SPDX-License-Identifier: BSD-3-Clause */
#include <rpcrdma/client.h>
#include <rpcrdma/engine.h>

#include "module.h"

/* rpcrdma._rpcrdma.Client: calls whose arguments and results are octets of XDR. */

enum { CLIENT_PROCEDURES = 4096, CLIENT_REPLY_EXTRA = 1024 };

struct client {
	PyObject_HEAD struct rpcrdma_engine *engine;
	struct rpcrdma_client *client;
	bool busy, interrupted;
};

/* The library asks now and then while it waits: Ctrl-C ends the wait. */
static bool
client_interrupted(void *ctx)
{
	struct client *client = ctx;

	return module_interrupted(&client->interrupted);
}

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
	struct rpcrdma_client_config config = {
		.size = sizeof(config), .interrupted = client_interrupted, .ctx = client
	};
	struct rpcrdma_engine_config sizes = { .size = sizeof(sizes) };
	int transport = 0, auth_none = 0, error;

	if (client->engine) {
		PyErr_SetString(PyExc_RuntimeError, "the client is connected already");
		return -1;
	}
	if (!PyArg_ParseTupleAndKeywords(args, words, "sO&|ipO&", names, &config.host, module_u16,
		    &config.port, &transport, &auth_none, module_u32, &sizes.message_max))
		return -1;
	config.transport = (enum rpcrdma_transport)transport;
	config.auth_none = auth_none != 0;
	error = rpcrdma_engine_new(&sizes, &client->engine);
	if (error < 0) {
		module_fail(error, rpcrdma_strerror(error));
		return -1;
	}
	client->busy = true;
	client->interrupted = false;
	Py_BEGIN_ALLOW_THREADS;
	error = rpcrdma_client_connect(client->engine, &config, &client->client);
	Py_END_ALLOW_THREADS;
	client->busy = false;
	if (error == 0)
		return 0;
	if (!PyErr_Occurred())
		module_fail(error, rpcrdma_engine_error(client->engine));
	/* So that it can be tried again. */
	rpcrdma_engine_free(client->engine);
	client->engine = NULL;
	return -1;
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
	config.keep_size = got->room + CLIENT_REPLY_EXTRA;
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
	client->interrupted = false;
	Py_BEGIN_ALLOW_THREADS;
	if (got.data)
		error = client_exchange(client, numbers, &sent, &got, (uint64_t)(timeout * 1e9));
	Py_END_ALLOW_THREADS;
	client->busy = false;
	if (error < 0 && !PyErr_Occurred())
		module_fail(error, rpcrdma_client_error(client->client));
	else if (error == 0)
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
	Py_buffer octets = { 0 };

	if (!PyArg_ParseTuple(args, "O&O&O&y*O&d", module_u32, &numbers[0], module_u32, &numbers[1],
		    module_u32, &numbers[2], &octets, module_u32, &room, &timeout))
		return NULL;
	if (!client->client || client->busy)
		PyErr_SetString(PyExc_RuntimeError,
			client->busy ? "another thread uses the client" : "the client is closed");
	else if (numbers[2] >= CLIENT_PROCEDURES || octets.len > UINT32_MAX || octets.len % 4 || room == 0 ||
		 room > UINT32_MAX - CLIENT_REPLY_EXTRA || !(timeout >= 0 && timeout < 1e9))
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
PyType_Spec client_spec = { "rpcrdma._rpcrdma.Client", sizeof(struct client), 0, Py_TPFLAGS_DEFAULT,
	client_slots };
