/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_FABRIC_REGIONS_H
#define RR_FABRIC_REGIONS_H

#include "fabric/fabric.h"

/*
 * The registered regions of one endpoint, by handle.
 *
 * A handle has the number of its entry in the low bits, masked with a random number, and above them a count
 * of registrations that starts and steps at random: a table of 1024 regions does not give the same handle
 * twice in four million registrations. Free entries are used again in the order in which they became free.
 */
/* An entry of the table: a region, or free. */
struct rr_region_entry {
	uint32_t handle; /* 0: free */
	uint32_t length;
	uint8_t *addr;
	uint64_t offset;
	uint8_t access;
	bool valid;         /* neither invalidated by the peer nor revoked */
	bool revoked;       /* this side ended the peer's access */
	uint32_t next_free; /* number of an entry */
};

/* The table. */
struct rr_regions {
	const struct rr_env *env;
	struct rr_region_entry *entries;
	/* Entries that there is memory for; regions that exist; the most regions. */
	uint32_t size, count, max;
	uint32_t first_free; /* the entry that is used next; RR_REGIONS_NONE: no entry is free */
	uint32_t last_free;  /* the entry that is used last, if any is free */
	uint32_t entry_mask; /* the low bits of a handle */
	/* The random number that masks the low bits; the count of registrations in the high bits; its step.
	 */
	uint32_t disguise, generation, step;
};

#define RR_REGIONS_NONE UINT32_MAX

/* The reasons why an access of the peer is refused. */
enum rr_region_fault {
	RR_REGION_FINE,
	RR_REGION_UNKNOWN, /* no region has the handle, or the peer invalidated it */
	RR_REGION_BOUNDS,  /* begins before or ends after the region */
	RR_REGION_WRAP,    /* offset plus length passes 2^64 */
	RR_REGION_RIGHTS,  /* not registered for this access */
	RR_REGION_REVOKED, /* this side ended the peer's access */
};

/* Initialises an empty table, which may have at most max regions. */
void rr_regions_init(struct rr_regions *regions, const struct rr_env *env, uint32_t max);
/* Frees the table: no handle is valid any more. */
void rr_regions_destroy(struct rr_regions *regions);

/* Adds a region of length octets at addr to the table, with a new handle, and fills in *region. Errors:
 * LIMIT (the table has all the regions that it may have), NOMEM. */
int rr_regions_add(
	struct rr_regions *regions, void *addr, uint32_t length, unsigned access, struct rr_region *region);

/* Removes the region with that handle from the table. Has no effect if no region has it. */
void rr_regions_remove(struct rr_regions *regions, uint32_t handle);

/* Returns the reason why rr_regions_find() refuses an access. entry is NULL if no region has the handle. */
enum rr_region_fault rr_regions_fault(const struct rr_region_entry *entry, uint64_t offset, uint32_t length);

/* Returns the entry (entry) of the table that has the region with that handle, or NULL if no region has the
 * handle. */
static inline struct rr_region_entry *
rr_regions_entry_of(const struct rr_regions *regions, uint32_t handle)
{
	uint32_t number = (handle ^ regions->disguise) & regions->entry_mask;

	if (!handle || number >= regions->size || regions->entries[number].handle != handle)
		return NULL;
	return &regions->entries[number];
}

/* Whether the peer may access length octets that begin at offset in the region, in the way that access says.
 */
static inline bool
rr_region_allows(const struct rr_region_entry *entry, uint64_t offset, uint32_t length, unsigned access)
{
	/* An offset before that of the region makes `at` larger than any length. */
	uint64_t at = offset - entry->offset;

	return entry->valid && at <= entry->length && length <= entry->length - at &&
	       (entry->access & access) == access;
}

/*
 * Finds the memory of length octets that begin at offset in the region with that handle. If the peer may
 * access them in the way that access says, sets *addr to that memory and returns RR_REGION_FINE. Else
 * returns the reason why the access is refused: a peer reaches only memory that was registered on its own
 * connection for such an access. RFC 8166, 8.1: "The use of an RPC-over-RDMA transport protocol MUST NOT
 * introduce vulnerabilities to system memory contents nor to memory owned by user processes", and "It is
 * REQUIRED that any RDMA provider used for RPC transport be conformant to the requirements of [RFC5042]".
 */
static inline enum rr_region_fault
rr_regions_find(const struct rr_regions *regions, uint32_t handle, uint64_t offset, uint32_t length,
	unsigned access, uint8_t **addr)
{
	const struct rr_region_entry *entry = rr_regions_entry_of(regions, handle);

	if (!entry || !rr_region_allows(entry, offset, length, access)) {
		*addr = NULL;
		return rr_regions_fault(entry, offset, length);
	}
	*addr = entry->addr + (offset - entry->offset);
	return RR_REGION_FINE;
}

/* Whether a region of the table has the handle, even if the peer cannot access the region any more. */
bool rr_regions_has(const struct rr_regions *regions, uint32_t handle);

/* Makes the region with that handle invalid, as the peer asked for it: no access is allowed any more. Has no
 * effect on a region that is invalid already. */
void rr_regions_invalidate(struct rr_regions *regions, uint32_t handle);

/* Ends the peer's access to the region with that handle, as this side wants it. The region stays in the
 * table until it is removed. */
void rr_regions_revoke(struct rr_regions *regions, uint32_t handle);

/* Sets text to words that say which memory an access was about and why (fault) it was refused. Returns
 * text->text. */
const char *rr_regions_explain(const struct rr_regions *regions, uint32_t handle, uint64_t offset,
	uint32_t length, enum rr_region_fault fault, struct rr_text *text);

#endif
