/* SPDX-License-Identifier: BSD-3-Clause */
/* The directory in which a server of version 4 keeps the records that it needs after a restart. */
#include <stdio.h>
#include <string.h>

#include "tool/serve/serve.h"
#include "vfs/key.h"

/* Returns the FNV-1a hash that follows from hash when the octets of data are added. */
static uint64_t
state_hash(uint64_t hash, const void *data, size_t size)
{
	for (size_t i = 0; i < size; i++)
		hash = (hash ^ ((const uint8_t *)data)[i]) * UINT64_C(1099511628211);
	return hash;
}

/* Returns a number that depends on the addresses and the exports of this server, so that other servers on
 * this machine get other numbers. */
static uint64_t
state_hash_server(const struct rr_serve *serve)
{
	uint64_t hash = UINT64_C(14695981039346656037);

	for (uint32_t i = 0; i < serve->address_count; i++)
		hash = state_hash(hash, &serve->addresses[i].rdma, serve->addresses[i].size);
	for (uint32_t i = 0; i < serve->tree.export_count; i++) {
		hash = state_hash(hash, serve->exports[i].path, strlen(serve->exports[i].path) + 1);
		hash = state_hash(hash, serve->exports[i].name, strlen(serve->exports[i].name) + 1);
	}
	return state_hash(hash, &serve->tcp_port, sizeof(serve->tcp_port));
}

int
rr_serve_state(const struct rr_serve *serve, char path[PATH_MAX], struct rr_text *text)
{
	char name[40];

	if (serve->state_path) {
		snprintf(path, PATH_MAX, "%s", serve->state_path);
		return 0;
	}
	snprintf(name, sizeof(name), "nfs4-%016llx", (unsigned long long)state_hash_server(serve));
	return rr_vfs_beside_key(serve->key_path, name, path, text);
}
