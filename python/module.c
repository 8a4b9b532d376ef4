/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <rpcrdma/error.h>
#include <rpcrdma/nfs.h>
#include <stdint.h>

#include "module.h"

/* The module itself, and its errors. */

/* The number of the system for an error, which OSError has. Most statuses of NFS are these numbers already.
 */
static int
module_errno(int error)
{
	static const struct {
		int error, number;
	} known[] = { { RPCRDMA_NFS_NAMETOOLONG, ENAMETOOLONG }, { RPCRDMA_NFS_NOTEMPTY, ENOTEMPTY },
		{ RPCRDMA_NFS_DQUOT, EDQUOT }, { RPCRDMA_NFS_STALE, ESTALE },
		{ RPCRDMA_NFS_BADHANDLE, ESTALE }, { RPCRDMA_NFS_NOTSUPP, ENOTSUP },
		{ RPCRDMA_NFS_DELAY, EAGAIN }, { -RPCRDMA_ERR_INVAL, EINVAL },
		{ -RPCRDMA_ERR_NOTSUP, ENOTSUP }, { -RPCRDMA_ERR_NOMEM, ENOMEM },
		{ -RPCRDMA_ERR_REFUSED, ECONNREFUSED }, { -RPCRDMA_ERR_UNREACHABLE, EHOSTUNREACH },
		{ -RPCRDMA_ERR_TIMEDOUT, ETIMEDOUT }, { -RPCRDMA_ERR_DISCONNECTED, ECONNRESET },
		{ -RPCRDMA_ERR_CANCELLED, ECANCELED }, { -RPCRDMA_ERR_XDR, EPROTO },
		{ -RPCRDMA_ERR_PEER, EPROTO } };

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
		if (known[i].error == error)
			return known[i].number;
	}
	return error > 0 && error <= RPCRDMA_NFS_MLINK ? error : EIO;
}

PyObject *
module_fail(int error, const char *text)
{
	PyObject *module = PyImport_ImportModule("rpcrdma._rpcrdma");
	PyObject *type = module ? PyObject_GetAttrString(module, "Error") : NULL;
	PyObject *values = type ? PyObject_CallFunction(type, "is", error, text) : NULL;
	PyObject *number = values ? PyLong_FromLong(module_errno(error)) : NULL;

	if (number && PyObject_SetAttrString(values, "errno", number) == 0)
		PyErr_SetObject(type, values);
	Py_XDECREF(number);
	Py_XDECREF(values);
	Py_XDECREF(type);
	Py_XDECREF(module);
	return NULL;
}

bool
module_interrupted(bool *interrupted)
{
	PyGILState_STATE state = PyGILState_Ensure();

	*interrupted = *interrupted || PyErr_CheckSignals() < 0;
	PyGILState_Release(state);
	return *interrupted;
}

/* Stores an integer from 0 to max in *number. Returns 1, or 0 with an exception. */
static int
module_number(PyObject *object, uint64_t max, uint64_t *number)
{
	PyObject *index = PyNumber_Index(object);

	if (!index)
		return 0;
	*number = PyLong_AsUnsignedLongLong(index);
	Py_DECREF(index);
	if (PyErr_Occurred())
		return 0;
	if (*number <= max)
		return 1;
	PyErr_Format(PyExc_OverflowError, "%llu is more than %llu", (unsigned long long)*number,
		(unsigned long long)max);
	return 0;
}

int
module_u16(PyObject *object, void *number)
{
	uint64_t value;

	if (!module_number(object, UINT16_MAX, &value))
		return 0;
	*(uint16_t *)number = (uint16_t)value;
	return 1;
}

int
module_u32(PyObject *object, void *number)
{
	uint64_t value;

	if (!module_number(object, UINT32_MAX, &value))
		return 0;
	*(uint32_t *)number = (uint32_t)value;
	return 1;
}

int
module_u64(PyObject *object, void *number)
{
	return module_number(object, UINT64_MAX, number);
}

static PyMethodDef module_methods[] = {
	{ "describe", schema_describe, METH_VARARGS,
		"describe(path, options): whether the schema is right, what it declares, messages" },
	{ NULL, NULL, 0, NULL },
};
static struct PyModuleDef module_definition = { PyModuleDef_HEAD_INIT, .m_name = "rpcrdma._rpcrdma",
	.m_size = -1, .m_methods = module_methods };

PyMODINIT_FUNC PyInit__rpcrdma(void);

PyMODINIT_FUNC
PyInit__rpcrdma(void)
{
	PyObject *module = PyModule_Create(&module_definition);
	PyObject *error = PyErr_NewExceptionWithDoc("rpcrdma.Error",
		"args: the number of the error, as enum rpcrdma_error and enum rpcrdma_nfs_status have it, "
		"and a text. errno: the system's number for it.",
		PyExc_OSError, NULL);

	if (!module || !error || PyModule_AddObject(module, "Error", error) < 0 ||
		PyModule_AddObject(module, "Client", PyType_FromSpec(&client_spec)) < 0 ||
		PyModule_AddObject(module, "Nfs", PyType_FromSpec(&nfs_spec)) < 0)
		return NULL;
	return module;
}
