/* SPDX-License-Identifier: BSD-3-Clause */
/* This file names the attributes that the client asks for, and gives the caller those that a server sent. */
#include <rpcrdma/nfs.h>
#include <string.h>

#include "nfs/v4/proc.h"

/* The bit of an attribute in its word of a bitmap. */
#define BIT(number) (UINT32_C(1) << (number) % 32)

/* Defines the bitmap rr_v4_attr_NAME of two words. */
#define MASK(name, first, second)                                                                            \
	static uint32_t name##_words[] = { first, second };                                                  \
	const bitmap4 rr_v4_attr_##name = { 2, name##_words };

MASK(limits, BIT(FATTR4_LEASE_TIME) | BIT(FATTR4_MAXFILESIZE) | BIT(FATTR4_MAXREAD) | BIT(FATTR4_MAXWRITE), 0)
MASK(acl, BIT(FATTR4_TYPE) | BIT(FATTR4_CHANGE) | BIT(FATTR4_ACL), BIT(FATTR4_MODE))

int
rr_v4_keep(struct rr_v4_slot *slot, struct rpcrdma_bytes *bytes)
{
	const struct rr_call *outer = slot->outer;
	uint8_t *at;

	/* Without memory from the caller, results are valid until done() returns. */
	if (!outer->keep || bytes->length == 0)
		return 0;
	if (bytes->length > outer->keep_size - slot->kept)
		return rr_fail(&slot->v4->text, -RPCRDMA_ERR_LIMIT,
			"a result has %u octets, more than there is room for", bytes->length);
	at = (uint8_t *)outer->keep + slot->kept;
	memcpy(at, bytes->data, bytes->length);
	bytes->data = at;
	slot->kept += bytes->length;
	return 0;
}

/* Returns the name of a user or a group, or no octets if the client's objects cannot have it. */
static struct rpcrdma_bytes
attr_name(struct rpcrdma_bytes name)
{
	if (name.length == 0 || name.length > RPCRDMA_NFS_OWNER_MAX || memchr(name.data, 0, name.length))
		return (struct rpcrdma_bytes){ NULL, 0 };
	return name;
}

int
rr_v4_give_attributes(
	struct rr_v4_slot *slot, const struct rr_attr_values *values, struct rr_nfs_attributes *attributes)
{
	int error;

	*attributes = (struct rr_nfs_attributes){ values->attributes, attr_name(values->owner),
		attr_name(values->group) };
	error = rr_v4_keep(slot, &attributes->owner);
	return error ? error : rr_v4_keep(slot, &attributes->group);
}
