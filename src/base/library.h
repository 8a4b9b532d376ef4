/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_BASE_LIBRARY_H
#define RR_BASE_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"

/* Shared libraries that are loaded when something needs them, so that other programs neither need them nor
 * pay for their start. */

/* A function of a shared library, and the member of a table of pointers that is to point to it. */
struct rr_library_symbol {
	const char *name;
	size_t at; /* of the member in the table */
};

struct rr_library {
	const char *file;    /* for dlopen(3) */
	const char *needed;  /* of a message: who needs what, as "TLS needs OpenSSL 3 (libssl.so.3)" */
	const char *package; /* of a message: what is to be installed */
	bool global;         /* its symbols are for libraries that it loads itself */
	const struct rr_library_symbol *symbols;
	size_t count; /* of symbols */
};

/* Loads the library, and stores the addresses of its functions in the table. The library is never unloaded,
 * as it keeps state of the process. Returns its handle for dlsym(3). Returns NULL, with a text that says what
 * is missing and what to install, if it cannot be loaded or lacks a function; the table may be filled in part
 * then. Any thread may call this, one at a time for each table. */
void *rr_library_load(const struct rr_library *library, void *table, struct rr_text *text);

#endif
