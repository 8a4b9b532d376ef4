/* SPDX-License-Identifier: BSD-3-Clause */
/* The pseudo root: the tree of directories above the exports. */
#include "server/nfs4/pseudo.h"

#include <string.h>

#include <rpcrdma/error.h>

#include "base/endian.h"

/* A handle of a directory above the exports: these four octets, with which no handle of the storage begins,
 * and the number of the directory in eight octets. */
static const uint8_t pseudo_mark[4] = { 0, 'r', 'o', 't' };

/* PSEUDO_HANDLE: octets of a handle. PSEUDO_FSID: the fsid of the tree ("pseu"). */
enum { PSEUDO_HANDLE = 12, PSEUDO_FSID = 0x70736575 };

/* Why an export is not in the tree: it lies in another export, or another export lies in it. */
static const char pseudo_in_the_way[] = "another export is in its way";

/* Returns the number by which a directory is known to clients: an FNV-1a hash of its name and of the number
 * of its parent directory; never 0. The number stays the same when the exports change. */
static uint64_t
pseudo_number(uint64_t parent, struct rpcrdma_bytes name)
{
	uint64_t hash = parent ^ UINT64_C(14695981039346656037);

	for (uint32_t i = 0; i < name.length; i++)
		hash = (hash ^ ((const uint8_t *)name.data)[i]) * UINT64_C(1099511628211);
	return hash | 1;
}

uint32_t
rr_pseudo_lookup(const struct rr_pseudo *pseudo, uint32_t directory, struct rpcrdma_bytes name)
{
	for (uint32_t i = 1; i < pseudo->count; i++) {
		const struct rr_pseudo_entry *entry = &pseudo->entries[i];

		if (entry->parent == directory && entry->name.length == name.length &&
			memcmp(entry->name.data, name.data, name.length) == 0)
			return i;
	}
	return pseudo->count;
}

/* Adds a directory to the tree, below the directory `parent`, and returns its index. There is room for it. */
static uint32_t
pseudo_add(struct rr_pseudo *pseudo, uint32_t parent, struct rpcrdma_bytes name)
{
	struct rr_pseudo_entry *entry = &pseudo->entries[pseudo->count];

	*entry = (struct rr_pseudo_entry){
		.parent = parent,
		.name = name,
		.number = pseudo_number(pseudo->entries[parent].number, name),
	};
	return pseudo->count++;
}

/* Tells whether the directory has at least one entry in the tree. */
static bool
pseudo_is_parent(const struct rr_pseudo *pseudo, uint32_t directory)
{
	for (uint32_t i = 1; i < pseudo->count; i++) {
		if (pseudo->entries[i].parent == directory)
			return true;
	}
	return false;
}

/* Adds an export to the tree, with the directories above it; number: the index of the export. Returns NULL.
 * If the export lies in another export or has another export below it, or if there are too many entries,
 * returns the reason as text, and the tree stays as it was. */
static const char *
pseudo_add_export(struct rr_pseudo *pseudo, const char *path, uint32_t number)
{
	const uint32_t before = pseudo->count;
	struct rpcrdma_bytes rest = { path, (uint32_t)strlen(path) };
	struct rpcrdma_bytes name = rr_vfs_next_component(&rest);
	uint32_t at = 0;

	for (; name.length > 0; name = rr_vfs_next_component(&rest)) {
		uint32_t found = rr_pseudo_lookup(pseudo, at, name);

		/* No directory has been added yet: an export has no entries below it. */
		if (pseudo->entries[at].is_export)
			return pseudo_in_the_way;
		if (found == RR_PSEUDO_MAX) {
			/* The directories that were added for this export are the last entries. */
			pseudo->count = before;
			return "there are too many exports and directories above them";
		}
		at = found < pseudo->count ? found : pseudo_add(pseudo, at, name);
	}
	if (pseudo->entries[at].is_export || pseudo_is_parent(pseudo, at))
		return pseudo_in_the_way;
	pseudo->entries[at].is_export = true;
	pseudo->entries[at].export = number;
	return NULL;
}

/* Returns the name that export i has in the tree: that of the export, without the name of the export `root`
 * in front, if there is one. */
static const char *
pseudo_name(const struct rr_vfs *vfs, uint32_t root, uint32_t i)
{
	const char *name = vfs->exports[i].name,
		   *above = root < vfs->export_count ? vfs->exports[root].name : "";
	size_t length = strlen(above);

	if (strncmp(name, above, length) != 0 || length <= 1)
		return name;
	return name[length] == '/' ? name + length : name[length] ? name : "/";
}

/* Returns the index of the export that is named "/" in the tree; vfs->export_count if there is none. The
 * export `root` is none if others are below it: clients see these in its place. */
static uint32_t
pseudo_root_export(const struct rr_vfs *vfs, uint32_t root)
{
	uint32_t found = vfs->export_count;
	bool others = false;

	for (uint32_t i = 0; i < vfs->export_count; i++) {
		const char *name = pseudo_name(vfs, root, i);

		if (strcmp(name, "/") == 0)
			found = i;
		else
			others |= name != vfs->exports[i].name;
	}
	return others && found == root ? vfs->export_count : found;
}

int
rr_pseudo_init(struct rr_pseudo *pseudo, const struct rr_env *env, const struct rr_vfs *vfs, uint32_t root,
	struct rr_text *text)
{
	memset(pseudo, 0, sizeof(*pseudo));
	pseudo->env = env;
	pseudo->entries = rr_alloc_array(env, RR_PSEUDO_MAX, sizeof(*pseudo->entries));
	if (!pseudo->entries)
		return rr_fail(text, -RPCRDMA_ERR_NOMEM, "no memory for the root of NFS version 4");
	pseudo->count = 1;
	pseudo->entries[0].number = pseudo_number(0, (struct rpcrdma_bytes){ "/", 1 });
	pseudo->root_export = pseudo_root_export(vfs, root);
	pseudo->is_empty = pseudo->root_export < vfs->export_count;
	for (uint32_t i = 0; i < vfs->export_count; i++) {
		const char *why = NULL;

		if (!pseudo->is_empty && i == root)
			why = "it is the root (fsid=0), and other exports lie below it";
		else if (!pseudo->is_empty)
			why = pseudo_add_export(pseudo, pseudo_name(vfs, root, i), i);
		else if (i != pseudo->root_export)
			why = pseudo_in_the_way;
		if (why)
			rr_log(env, RR_LOG_WARNING, "%s: NFS version 4 cannot reach it, as %s",
				vfs->exports[i].name, why);
	}
	return 0;
}

void
rr_pseudo_free(struct rr_pseudo *pseudo)
{
	if (pseudo->env)
		rr_free(pseudo->env, pseudo->entries);
	pseudo->entries = NULL;
}

uint32_t
rr_pseudo_of_export(const struct rr_pseudo *pseudo, uint32_t export)
{
	for (uint32_t i = 0; i < pseudo->count; i++) {
		if (pseudo->entries[i].is_export && pseudo->entries[i].export == export)
			return i;
	}
	return 0;
}

void
rr_pseudo_handle(const struct rr_pseudo *pseudo, uint32_t directory, struct rr_vfs_handle *handle)
{
	memcpy(handle->data, pseudo_mark, sizeof(pseudo_mark));
	rr_put_be64(handle->data + sizeof(pseudo_mark), pseudo->entries[directory].number);
	handle->length = PSEUDO_HANDLE;
}

uint32_t
rr_pseudo_find(const struct rr_pseudo *pseudo, struct rpcrdma_bytes handle)
{
	const uint8_t *data = handle.data;

	if (pseudo->is_empty || handle.length != PSEUDO_HANDLE ||
		memcmp(data, pseudo_mark, sizeof(pseudo_mark)) != 0)
		return pseudo->count;
	for (uint32_t i = 0; i < pseudo->count; i++) {
		if (!pseudo->entries[i].is_export &&
			pseudo->entries[i].number == rr_get_be64(data + sizeof(pseudo_mark)))
			return i;
	}
	return pseudo->count;
}

void
rr_pseudo_attributes(const struct rr_pseudo *pseudo, uint32_t directory, struct rr_vfs_attributes *attributes)
{
	const struct rr_pseudo_entry *entry = &pseudo->entries[directory];

	*attributes = (struct rr_vfs_attributes){
		.type = RR_VFS_DIRECTORY,
		.mode = 0555,
		.links = 2,
		.block_size = 4096,
		.size = 4096,
		.id = { .fsid = { PSEUDO_FSID, 0 }, .number = entry->number },
		.mounted_on = entry->number,
		.change = 1,
	};
	for (uint32_t i = 1; i < pseudo->count; i++) {
		if (pseudo->entries[i].parent == directory) {
			attributes->links++;
			/* After a restart with other exports, the directory may have other entries. Then
			 * the sum of their numbers, the change attribute, differs, too. */
			attributes->change += pseudo->entries[i].number;
		}
	}
}
