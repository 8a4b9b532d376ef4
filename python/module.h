/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_PYTHON_MODULE_H
#define RR_PYTHON_MODULE_H

/*
 * rpcrdma._rpcrdma: calls whose arguments and results are octets of XDR, an NFS client, and the compiler of
 * schemas. rpcrdma/__init__.py has what programs use. Each object has an engine of its own; the interpreter's
 * lock is given back while the library waits, and an object refuses a second thread meanwhile.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdbool.h>

/* module.c: sets rpcrdma.Error as the exception. Returns NULL. */
PyObject *module_fail(int error, const char *text);

/* For "O&" of PyArg_ParseTuple(): an integer that fits. Unlike "H", "I" and "K", which take the low bits of
 * any number, they raise OverflowError. */
int module_u16(PyObject *object, void *number);
int module_u32(PyObject *object, void *number);
int module_u64(PyObject *object, void *number);

/* Called by the library while it waits, without the interpreter's lock: true once a signal has raised an
 * exception, which ends the wait. *interrupted remembers it until the next operation. */
bool module_interrupted(bool *interrupted);

/* client.c, nfs.c: the types of the module. */
extern PyType_Spec client_spec, nfs_spec;

/* schema.c: describe(path, options): what a schema declares, as JSON. */
PyObject *schema_describe(PyObject *module, PyObject *args);

#endif
