/* SPDX-License-Identifier: BSD-3-Clause */
#include <rpcrdma/error.h>
#include <stdbool.h>
#include <stdlib.h>

#include "module.h"

#include "xdr/xdr.h"

/* The compiler of schemas, which rpcrdma/xdr.py goes by: there is one for all languages. */

/* What one run of the compiler takes and gives. */
struct run {
	const char *path, **options;
	size_t count;
	char *description, *messages;
	size_t described, said;
};

/* Runs the compiler, without the interpreter's lock. Returns 0 or an error of rr_xdr_describe(). */
static int
schema_run(struct run *run)
{
	const struct rr_xdr_preprocess preprocess = { .arguments = run->options, .count = run->count };
	FILE *out = open_memstream(&run->description, &run->described);
	FILE *errors = open_memstream(&run->messages, &run->said);
	int error = -RPCRDMA_ERR_NOMEM;

	if (out && errors)
		error = rr_xdr_describe(&rr_env_system, &preprocess, run->path, out, errors);
	if (out && fclose(out) != 0)
		error = -RPCRDMA_ERR_NOMEM;
	if (errors && fclose(errors) != 0)
		error = -RPCRDMA_ERR_NOMEM;
	return error;
}

/* Sets run->options to the octets of a list of bytes. Returns false, with an exception, if it is no such
 * list. */
static bool
schema_take_options(struct run *run, PyObject *options)
{
	run->count = (size_t)PyList_Size(options);
	run->options = PyMem_Calloc(run->count + 1, sizeof(*run->options));
	if (!run->options) {
		PyErr_NoMemory();
		return false;
	}
	for (size_t i = 0; i < run->count; i++) {
		char *octets;

		if (PyBytes_AsStringAndSize(PyList_GetItem(options, (Py_ssize_t)i), &octets, NULL) < 0)
			return false;
		run->options[i] = octets;
	}
	return true;
}

/* describe(path, options): whether the schema is right, its description, and the compiler's messages. path is
 * bytes, options a list of them for the C preprocessor. */
PyObject *
schema_describe(PyObject *module, PyObject *args)
{
	struct run run = { 0 };
	PyObject *options, *result = NULL;
	int error;

	(void)module;
	if (!PyArg_ParseTuple(args, "yO!", &run.path, &PyList_Type, &options) ||
		!schema_take_options(&run, options)) {
		PyMem_Free(run.options);
		return NULL;
	}
	Py_BEGIN_ALLOW_THREADS;
	error = schema_run(&run);
	Py_END_ALLOW_THREADS;
	if (error == -RPCRDMA_ERR_NOMEM)
		PyErr_NoMemory();
	else
		result = Py_BuildValue("(Ny#y#)", PyBool_FromLong(error == 0), run.description,
			(Py_ssize_t)run.described, run.messages, (Py_ssize_t)run.said);
	free(run.description);
	free(run.messages);
	PyMem_Free(run.options);
	return result;
}
