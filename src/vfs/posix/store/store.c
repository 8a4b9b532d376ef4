/* SPDX-License-Identifier: BSD-3-Clause */
/* This file keeps the list of objects that an operation has to bring to stable storage (store.h). */
#include "vfs/posix/store/store.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

void
rr_stores_add(struct rr_stores *stores, int fd, enum rr_store_how how)
{
	struct rr_store *store = &stores->list[stores->count++];

	/* The list has a descriptor of its own, as the tree may close fd when it opens another file. Where no
	 * descriptor can be had, all file systems are stored. */
	store->fd = how == RR_STORE_EVERYTHING ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 0);
	store->how = store->fd < 0 ? RR_STORE_EVERYTHING : how;
}

/* Brings one object, or its whole file system, to stable storage. Returns 0 or an errno. */
static int
store_one(const struct rr_store *store)
{
	int result = 0;

	switch (store->how) {
	case RR_STORE_FILE: result = fsync(store->fd); break;
	case RR_STORE_DATA: result = fdatasync(store->fd); break;
	case RR_STORE_FILE_SYSTEM: result = syncfs(store->fd); break;
	case RR_STORE_EVERYTHING: sync(); break;
	}
	return result < 0 ? errno : 0;
}

int
rr_stores_do(struct rr_stores *stores)
{
	int error = 0;

	for (uint32_t i = 0; i < stores->count && !error; i++)
		error = store_one(&stores->list[i]);
	rr_stores_drop(stores);
	return error;
}

void
rr_stores_drop(struct rr_stores *stores)
{
	for (uint32_t i = 0; i < stores->count; i++)
		if (stores->list[i].fd >= 0)
			close(stores->list[i].fd);
	stores->count = 0;
}
