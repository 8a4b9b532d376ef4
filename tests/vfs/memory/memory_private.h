/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_VFS_MEMORY_MEMORY_PRIVATE_H
#define RR_VFS_MEMORY_MEMORY_PRIVATE_H

#include "base/map.h"
#include "memory.h"
#include "vfs/reserve.h"

/*
 * The storage owns the nodes. A node is freed when it has no name (links is 0) and no open holds it. A node
 * of a file has its pages, its extended attributes and a list of its opens; a directory has its entries. An
 * open belongs to the caller until close(), and then to the jobs that use it. A job is an operation that did
 * not end at once; it belongs to the provider that began it.
 */

enum { RR_MEMORY_PAGE = 4096, RR_MEMORY_QUOTAS = 8, RR_MEMORY_XATTR_MAX = 65536 };

/* A page of a file. data NULL: space is reserved, and no data was written. */
struct rr_memory_page {
	uint64_t index;
	uint8_t *data;
	/* Of a changed page: the data that comes back after a loss of power; NULL: zeros come back. */
	uint8_t *stable;
	enum {
		RR_MEMORY_SETTLED, /* a loss of power leaves the page as it is */
		RR_MEMORY_CHANGED, /* after a loss of power the page has the data "stable" */
		RR_MEMORY_FRESH    /* after a loss of power the page is gone */
	} state;
};

/* An extended attribute. */
struct rr_memory_xattr {
	struct rr_list link;
	uint32_t name_length, size;
	uint8_t octets[]; /* the name, then the value */
};

/* A node is an object of the storage: a file, a directory, a symbolic link or another type. */
struct rr_memory_node {
	struct rr_map_link by_number;
	struct rr_list all; /* in rr_memory.nodes */
	struct rr_vfs_attributes attributes;
	uint32_t export;
	uint32_t holders; /* opens that use the node */
	/* Members of a directory. */
	struct rr_memory_node *parent; /* of an export's root: itself */
	struct rr_list entries;        /* by cookie */
	uint64_t last_cookie;          /* the greatest cookie of an entry so far; 0: there was no entry yet */
	/* Members of a symbolic link. */
	char *target;
	uint32_t target_length;
	/* Members of a file. */
	struct rr_memory_page *pages;   /* by index */
	uint32_t page_count, page_room; /* pages in the array, and for how many it has memory */
	bool unstable;                  /* a loss of power would change the file */
	uint64_t stable_size;           /* if unstable: the size after a loss of power */
	struct rr_list opens;           /* rr_vfs_open.link: those that are not closed */
	/* Members of a file or a directory. */
	struct rr_list xattrs;
};

/* A name of a node in a directory. */
struct rr_memory_entry {
	struct rr_list link;
	struct rr_map_link by_name;
	struct rr_memory_node *directory, *node;
	uint64_t cookie;
	uint32_t length;
	char name[RR_VFS_NAME_MAX + 1];
};

/* A range of octets that an open has locked, from the first octet to the last one. */
struct rr_memory_range {
	struct rr_list link;
	enum rr_vfs_lock_kind kind;
	uint64_t first, last;
};

struct rr_memory_lease {
	struct rr_memory_vfs *vfs; /* the provider that was asked for the lease; NULL: there is no lease */
	void (*recall)(void *ctx);
	void *ctx;
	bool recalled; /* recall() was called, or is to be called */
};

struct rr_vfs_open {
	struct rr_reservation reservation;
	struct rr_list link; /* in its node's opens, until close() */
	struct rr_memory *memory;
	struct rr_memory_node *node;
	uint32_t jobs; /* operations under way that use the open */
	bool closed;
	struct rr_list ranges;
	struct rr_memory_lease lease;
	struct rr_list recalls; /* in rr_memory_vfs.recalls, until recall() of the lease was called */
};

/* The space of the whole storage, or the quota of a user. */
struct rr_memory_limit {
	uint32_t uid;                     /* of a quota */
	uint64_t octets, files;           /* the bounds */
	uint64_t octets_used, files_used; /* the octets and files in use */
};

struct rr_memory {
	const struct rr_env *env;
	struct rr_memory_config config;
	struct rr_memory_script script;
	struct rr_list vfss; /* the providers */
	uint8_t key[16];
	uint64_t dice;        /* the state of rr_memory_random() */
	uint64_t ticks;       /* the clock, in microseconds: goes on by one with each change */
	uint64_t last_number; /* the greatest number of an object so far */
	uint64_t free_number; /* of an object that was removed; 0: there is no such number */
	uint64_t verifier;
	/* Nodes by number, and entries by a hash of the directory and the name. */
	struct rr_map numbers, names;
	struct rr_list nodes;          /* all nodes */
	struct rr_memory_node **roots; /* of the exports */
	struct rr_memory_limit all, quotas[RR_MEMORY_QUOTAS];
	uint32_t quota_count;
	struct rr_reserve reserve;
};

/* A provider of the storage. */
struct rr_memory_vfs {
	struct rr_vfs vfs;
	struct rr_memory *memory;
	struct rr_list link;    /* in rr_memory.vfss */
	struct rr_list jobs;    /* in the order in which they began */
	struct rr_list recalls; /* opens whose lease is to be recalled */
	struct rr_timer timer;  /* for the next turn (rr_memory_turn()) */
};

/* An operation that is being executed. */
struct rr_memory_run {
	struct rr_memory *memory;
	struct rr_memory_vfs *vfs;
	struct rr_vfs_call *call;
	const struct rr_vfs_caller *caller;
	struct rr_memory_node *node, *second; /* the nodes of the operation's objects */
};

extern const struct rr_vfs_ops rr_memory_ops;

/* ---- open.c ---- */
/* Closes an open for the caller: ends its locks, its lease and its share reservation. open may be NULL. The
 * open is freed now, or when the last job that uses it ends. */
enum rr_vfs_status rr_memory_close(struct rr_vfs *vfs, struct rr_vfs_open *open, struct rr_vfs_call *call);
/* Frees the open if it is closed, and its node if that has no name and no other open. Does nothing where the
 * open is not closed. No job may use the open any more. */
void rr_memory_open_drop(struct rr_vfs_open *open);
/* Tells whether an open of the node denies others this access. */
bool rr_memory_denied(struct rr_memory *memory, const struct rr_memory_node *node, uint32_t access);

/* ---- lease.c ---- */
/* Recalls all leases of the node, except that of the open "except", which may be NULL. Returns RR_VFS_PENDING
 * where a lease is being recalled and was not given back yet, and RR_VFS_OK where there is no lease. */
enum rr_vfs_status rr_memory_recall(struct rr_memory_node *node, const struct rr_vfs_open *except);
/* Ends the lease of the open, if it has one. Where the lease was being recalled, the operations that wait for
 * leases try again in the next turn. */
void rr_memory_lease_end(struct rr_vfs_open *open);
/* Calls recall() of each lease that an operation wants back (vfs->recalls), and empties that list. The timer
 * of the provider calls this function in its turn, so that recall() is never called inside an operation. */
void rr_memory_recalls(struct rr_memory_vfs *vfs);

/* ---- lock.c ---- */
/* Removes all locks of the open. */
void rr_memory_unlock_all(struct rr_vfs_open *open);

#endif
