/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_VFS_MEMORY_MEMORY_H
#define RR_VFS_MEMORY_MEMORY_H

#include "vfs/door.h"

/*
 * This is a provider of files that lie in memory, for tests. It does everything that vfs.h describes, behaves
 * the same in each run, and lets a script decide when and how each operation ends.
 *
 *   memory    the storage, with a tree for each export. It outlives the providers, as a disk outlives a
 *             server: handles, opens and the key belong to it.
 *   provider  works in one loop. All providers of one storage are kin. One thread must turn all loops.
 *   fate      the script's decision on an operation, made when the operation begins
 *
 * The storage is unpleasant within the rules of the interface: an object has several handles, the number of a
 * removed object is given to the next object that is made, and cookies have large gaps.
 */
struct rr_memory;

struct rr_memory_config {
	const struct rr_vfs_export *exports; /* names; they must stay as long as the storage */
	uint32_t export_count;
	uint64_t seed;          /* of the key and of the cookies */
	uint64_t octets, files; /* the space; 0: 1 GiB, and a million objects */
	uint64_t file_max;      /* octets of a file; 0: 2^63 - 1 */
	uint32_t link_max;      /* names of an object; 0: 32000 */
	bool read_only;
};

/* Makes a storage. Each export has an empty root directory of mode 0755 that belongs to user 0. Errors:
 * NOMEM. */
int rr_memory_new(const struct rr_env *env, const struct rr_memory_config *config, struct rr_memory **memory);

/* Frees the storage. All its providers must have been destroyed. memory may be NULL. */
void rr_memory_free(struct rr_memory *memory);

/* Makes a provider of the storage for the loop. rr_vfs_destroy() frees the provider; unlike that of other
 * providers, it does not wait: no operation may be under way. Errors: NOMEM. */
int rr_memory_provider(struct rr_memory *memory, struct rr_loop *loop, struct rr_vfs **vfs);

/* Sets how many octets and files the storage has space for; 0 means the default, as in struct
 * rr_memory_config. Files that exist stay. */
void rr_memory_space(struct rr_memory *memory, uint64_t octets, uint64_t files);

/* Gives the user uid a quota: bounds for the octets and files of this user alone, besides the bounds of the
 * storage. UINT64_MAX means no bound. Returns false where eight users have a quota already. */
bool rr_memory_quota(struct rr_memory *memory, uint32_t uid, uint64_t octets, uint64_t files);

/* Lets the storage lose its power: data that was neither committed nor written to be stable is again as it
 * was before the write, and the verifier of writes and commits changes. No operation may be under way. This
 * cannot fail, because the memory that this needs was set aside when the data was written. */
void rr_memory_lose_power(struct rr_memory *memory);

/* A fate says when and how an operation ends. All zero: it is executed and answered at once, where the order
 * allows that. */
struct rr_memory_fate {
	/* Not RR_VFS_OK: the operation is not executed and ends with this status. */
	enum rr_vfs_status status;
	uint32_t before; /* turns of the loop before the operation is executed */
	uint32_t after;  /* turns of the loop between its execution and its end */
	bool held;       /* not executed before rr_memory_release(), as in a storage that hangs */
};

struct rr_memory_script {
	/* Decides the fate of an operation that begins; fate is zeroed. begin() must not call the
	 * provider. */
	void (*begin)(void *ctx, enum rr_vfs_operation operation, const struct rr_vfs_call *call,
		struct rr_memory_fate *fate);
	void *ctx;
};

/* Sets the script that decides on later operations. Where script is NULL, each operation ends at once. */
void rr_memory_steer(struct rr_memory *memory, const struct rr_memory_script *script);

/* Lets the operations that their fate holds (rr_memory_fate.held) go on in the next turn of their loops. An
 * operation that begins later may be held again. */
void rr_memory_release(struct rr_memory *memory);

/* Returns how many operations are held, of all providers. */
uint32_t rr_memory_held(const struct rr_memory *memory);

/* The state of a script that throws dice. late and fail are parts of a thousand of the operations; turns is
 * the greatest delay before an operation is executed, and again before it ends. A failing operation ends with
 * an error that any storage can have: RR_VFS_IO, RR_VFS_BUSY, RR_VFS_FAULT, and for changes RR_VFS_NOSPC and
 * RR_VFS_DQUOT, too. */
struct rr_memory_dice {
	uint64_t state; /* the seed */
	uint32_t late, fail, turns;
};

/* Decides by dice: a function for struct rr_memory_script.begin, with a struct rr_memory_dice as ctx. */
void rr_memory_dice(void *ctx, enum rr_vfs_operation operation, const struct rr_vfs_call *call,
	struct rr_memory_fate *fate);

#endif
