/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "tool/cp/cp.h"

/*
 * Access lists, which -a and -p keep, and `rpcrdma sync`. The list of a source is read before its copy gets
 * the mode, in which the group has no more than the list leaves it: a side that takes no lists gives nobody
 * more. Then the list is set, which changes that mode to what the source shows. An object of the destination
 * may have a list that the source does not have: if it existed before, or if its directory gives lists to
 * what is made in it. This list is taken away, too.
 */

static bool
lists_are(const struct rr_cp_lists *lists)
{
	return lists->access.count > RR_CP_LIST_LEAST || lists->inherited.count > 0;
}

/* Returns the rights of an entry, as far as the mask lets them through. That of the mask itself counts for
 * nothing: version 4 does not show what it takes away. */
static uint32_t
lists_rights(const struct rpcrdma_nfs_acl_entry *entry, uint32_t mask)
{
	switch (entry->tag) {
	case RPCRDMA_NFS_ACL_MASK: return 0;
	case RPCRDMA_NFS_ACL_USER:
	case RPCRDMA_NFS_ACL_GROUP:
	case RPCRDMA_NFS_ACL_GROUP_OBJ: return entry->perm & mask;
	default: return entry->perm;
	}
}

/* Tells whether two lists give everybody the same. */
static bool
lists_same_list(const struct rpcrdma_nfs_acl *a, const struct rpcrdma_nfs_acl *b)
{
	uint32_t mask_a = rr_cp_lists_mask(a), mask_b = rr_cp_lists_mask(b);

	if (a->count != b->count)
		return false;
	for (uint32_t i = 0; i < a->count; i++) {
		const struct rpcrdma_nfs_acl_entry *x = &a->entries[i], *y = &b->entries[i];

		if (x->tag != y->tag || x->id != y->id || lists_rights(x, mask_a) != lists_rights(y, mask_b))
			return false;
	}
	return true;
}

static bool
lists_same(const struct rr_cp_lists *a, const struct rr_cp_lists *b)
{
	return lists_same_list(&a->access, &b->access) && lists_same_list(&a->inherited, &b->inherited);
}

static void
lists_prepare(struct rr_cp_lists *lists)
{
	lists->access = (struct rpcrdma_nfs_acl){ lists->entries[0], RPCRDMA_NFS_ACL_MAX, 0 };
	lists->inherited = (struct rpcrdma_nfs_acl){ lists->entries[1], RPCRDMA_NFS_ACL_MAX, 0 };
}

/* Reads the lists of an object, unless it is known that there are none on its file system. Returns as
 * get_lists() does. */
static int
lists_get(struct rr_side *side, const struct rr_directory *object, const struct rr_info *info,
	struct rr_cp_lists *lists)
{
	int result = 1;

	lists_prepare(lists);
	if (!rr_cp_is_listless(side, info))
		result = side->ops->get_lists(side, object, info, lists);
	/* The number of the file system of an object that was made just now is not known. */
	if (result == 1 && (info->fsid.major != 0 || info->fsid.minor != 0)) {
		side->listless = true;
		side->listless_on = info->fsid;
	}
	return result;
}

/* Makes the lists of an object that has none, of its mode. */
static void
lists_none(uint32_t mode, struct rr_cp_lists *lists)
{
	rr_cp_lists_of_mode(mode, &lists->access);
	lists->inherited.count = 0;
}

/* Reads the lists of an object of the source into cp->lists; it has none if it is not known to have one. */
static int
lists_find(struct rr_cp *cp, const struct rr_directory *object, struct rr_info *info)
{
	int result = lists_get(&cp->from, object, info, &cp->lists);

	if (result < 0)
		return rr_cp_fail(cp, &cp->from);
	if (result > 0) {
		cp->listed += info->listed || result == 2; /* there is one that cannot be read */
		lists_none(info->mode, &cp->lists);
	}
	info->listed = lists_are(&cp->lists);
	if (info->listed && cp->from.nfs)
		info->mode = (info->mode & ~070u) | rr_cp_lists_group(&cp->lists.access) << 3;
	return 0;
}

int
rr_cp_lists_read(struct rr_cp *cp, const struct rr_directory *object, struct rr_info *info)
{
	if (!cp->preserve)
		return 0;
	/* Of a local object it is known already whether it has one. */
	if (cp->from.nfs || info->listed)
		return lists_find(cp, object, info);
	lists_prepare(&cp->lists);
	lists_none(info->mode, &cp->lists);
	return 0;
}

int
rr_cp_lists_open(struct rr_cp *cp, const struct rr_cp_pair *pair, struct rr_info *info)
{
	struct rr_file file = { .fd = -1, .handle = info->handle };
	bool opens = cp->preserve && !cp->from.nfs && info->listed;
	int result;

	if (opens && cp->from.ops->open(&cp->from, pair->from, pair->name, info, &file) < 0)
		return rr_cp_fail(cp, &cp->from);
	result = rr_cp_lists_read(cp, &(struct rr_directory){ .fd = file.fd, .handle = file.handle }, info);
	if (opens)
		cp->from.ops->close(&file);
	return result;
}

/* Sets the lists of cp->lists. */
static int
lists_set(struct rr_cp *cp, const struct rr_directory *object, const struct rr_info *info)
{
	int result = cp->to.ops->set_lists(&cp->to, object, info, &cp->lists);

	if (result == 1)
		cp->listed += info->listed;
	return result < 0 ? rr_cp_fail(cp, &cp->to) : 0;
}

int
rr_cp_lists_write(
	struct rr_cp *cp, const struct rr_directory *object, const struct rr_info *info, bool may_have)
{
	int result = 1;

	if (!cp->preserve)
		return 0;
	if (may_have) {
		result = lists_get(&cp->to, object, info, &cp->lists_there);
		if (result < 0)
			return rr_cp_fail(cp, &cp->to);
	}
	if (result == 0 && lists_same(&cp->lists, &cp->lists_there))
		return 0;
	return info->listed || result == 0 ? lists_set(cp, object, info) : 0;
}

int
rr_cp_lists_enter(struct rr_cp *cp, const struct rr_directory *object, bool made)
{
	const struct rr_info mine = { .kind = RR_KIND_DIRECTORY, .mode = 0700 };
	int result = 0;

	if (!cp->preserve)
		return 0;
	if (!made || cp->depth == 0 || cp->inherits) {
		result = lists_get(&cp->to, object, &mine, &cp->lists_there);
		if (result < 0)
			return rr_cp_fail(cp, &cp->to);
		cp->inherits = result == 0 && cp->lists_there.inherited.count > 0;
	}
	if (!made || !cp->inherits)
		return 0;
	cp->inherits = false;
	lists_prepare(&cp->lists);
	lists_none(mine.mode, &cp->lists);
	return lists_set(cp, object, &mine);
}

/* Tells whether the lists of an object of the destination, of which the reading has had this result, differ
 * from those in cp->lists. Where there are no lists, the rights of the group do. */
static bool
lists_compare(const struct rr_cp *cp, int result, const struct rr_info *info, const struct rr_info *there)
{
	return result == 0 ? !lists_same(&cp->lists, &cp->lists_there) : (info->mode ^ there->mode) & 070;
}

bool
rr_cp_lists_differ(
	struct rr_cp *cp, const struct rr_cp_pair *pair, struct rr_info *info, const struct rr_info *there)
{
	bool nfs = cp->from.nfs || cp->to.nfs;
	bool strange = nfs && (cp->checksum || (info->mode ^ there->mode) & 070);
	struct rr_file file;
	int result;

	if (!cp->preserve || (!info->listed && !there->listed && !strange) ||
		rr_cp_lists_open(cp, pair, info) < 0 || (!cp->to.nfs && !info->listed && !there->listed) ||
		cp->to.ops->open(&cp->to, pair->to, pair->to_name, there, &file) < 0)
		return false;
	result = lists_get(&cp->to, &(struct rr_directory){ .fd = file.fd, .handle = file.handle }, there,
		&cp->lists_there);
	cp->to.ops->close(&file);
	return lists_compare(cp, result, info, there);
}

bool
rr_cp_lists_differ_here(struct rr_cp *cp, const struct rr_directory *from, struct rr_info *info,
	const struct rr_directory *to, const struct rr_info *there)
{
	int result;

	if (!cp->preserve || rr_cp_lists_read(cp, from, info) < 0)
		return false;
	result = lists_get(&cp->to, to, there, &cp->lists_there);
	return (info->listed || result == 0) && lists_compare(cp, result, info, there);
}
