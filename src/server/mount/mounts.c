/* SPDX-License-Identifier: BSD-3-Clause */
#include "server/mount/mounts.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <rpcrdma/error.h>
#include <string.h>

struct rr_mounts {
	const struct rr_env *env;
	pthread_mutex_t lock; /* protects the members below; MNT, UMNT and DUMP are rare */
	uint64_t count;       /* of MNTs */
	struct rr_mounts_entry entries[RR_MOUNTS_MAX];
};

int
rr_mounts_new(const struct rr_env *env, struct rr_mounts **mounts)
{
	*mounts = rr_alloc(env, sizeof(**mounts));
	if (!*mounts)
		return -RPCRDMA_ERR_NOMEM;
	(*mounts)->env = env;
	pthread_mutex_init(&(*mounts)->lock, NULL);
	return 0;
}

void
rr_mounts_free(struct rr_mounts *mounts)
{
	if (!mounts)
		return;
	pthread_mutex_destroy(&mounts->lock);
	rr_free(mounts->env, mounts);
}

/* Writes the address as text into host. An IPv4 address lies in the last four of the 16 octets. */
static void
mounts_host(const struct rr_source *source, char host[RR_MOUNTS_HOST])
{
	struct in6_addr address;

	memcpy(&address, source->address, sizeof(address));
	if (IN6_IS_ADDR_V4MAPPED(&address))
		inet_ntop(AF_INET, source->address + 12, host, RR_MOUNTS_HOST);
	else
		inet_ntop(AF_INET6, &address, host, RR_MOUNTS_HOST);
}

/* Returns an entry for the list of mounts, with the client's address and the path, which is shortened if it
 * is too long. */
static struct rr_mounts_entry
mounts_entry(const struct rr_source *source, struct rpcrdma_bytes path)
{
	struct rr_mounts_entry entry = { .number = 0 };
	uint32_t length = path.length < RR_MOUNTS_PATH ? path.length : RR_MOUNTS_PATH - 1;

	mounts_host(source, entry.host);
	if (length > 0)
		memcpy(entry.path, path.data, length);
	return entry;
}

static bool
mounts_same(const struct rr_mounts_entry *a, const struct rr_mounts_entry *b)
{
	return strcmp(a->host, b->host) == 0 && strcmp(a->path, b->path) == 0;
}

/* Adds a mount: looks for an entry of the same host and path, else for the entry with the smallest number,
 * which is a free one or the oldest. */
void
rr_mounts_add(struct rr_mounts *mounts, const struct rr_source *source, struct rpcrdma_bytes path)
{
	struct rr_mounts_entry entry = mounts_entry(source, path), *place = mounts->entries;

	if (!source->known)
		return;
	pthread_mutex_lock(&mounts->lock);
	for (uint32_t i = 0; i < RR_MOUNTS_MAX && !mounts_same(place, &entry); i++) {
		struct rr_mounts_entry *other = &mounts->entries[i];

		/* A free entry has the number 0. */
		if (other->number < place->number || mounts_same(other, &entry))
			place = other;
	}
	entry.number = ++mounts->count;
	*place = entry;
	pthread_mutex_unlock(&mounts->lock);
}

void
rr_mounts_remove(struct rr_mounts *mounts, const struct rr_source *source, const struct rpcrdma_bytes *path)
{
	struct rr_mounts_entry entry = mounts_entry(source, path ? *path : (struct rpcrdma_bytes){ NULL, 0 });

	pthread_mutex_lock(&mounts->lock);
	for (uint32_t i = 0; i < RR_MOUNTS_MAX; i++) {
		struct rr_mounts_entry *other = &mounts->entries[i];

		if (path ? mounts_same(other, &entry) : strcmp(other->host, entry.host) == 0)
			*other = (struct rr_mounts_entry){ .number = 0 };
	}
	pthread_mutex_unlock(&mounts->lock);
}

bool
rr_mounts_get(
	struct rr_mounts *mounts, uint32_t i, const struct rr_source *only, struct rr_mounts_entry *entry)
{
	char host[RR_MOUNTS_HOST];

	pthread_mutex_lock(&mounts->lock);
	*entry = mounts->entries[i];
	pthread_mutex_unlock(&mounts->lock);
	if (!only)
		return entry->number > 0;
	mounts_host(only, host);
	return entry->number > 0 && strcmp(entry->host, host) == 0;
}
