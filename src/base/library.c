/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/library.h"

#include <dlfcn.h>
#include <string.h>

void *
rr_library_load(const struct rr_library *library, void *table, struct rr_text *text)
{
	void *handle = dlopen(library->file, RTLD_NOW | RTLD_NODELETE | (library->global ? RTLD_GLOBAL : 0));

	if (!handle) {
		rr_fail(text, 0, "%s, which cannot be loaded (%s): install %s", library->needed, dlerror(),
			library->package);
		return NULL;
	}
	for (size_t i = 0; i < library->count; i++) {
		void *address = dlsym(handle, library->symbols[i].name);

		if (!address) {
			rr_fail(text, 0, "%s has no %s: it is too old", library->file,
				library->symbols[i].name);
			return NULL;
		}
		memcpy((char *)table + library->symbols[i].at, &address, sizeof(address));
	}
	return handle;
}
