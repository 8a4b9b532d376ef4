/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "tool/cp/cp.h"

/*
 * The list of the directory of a server that is copied to: one READDIR brings the attributes of many objects,
 * and each LOOKUP those of one. So a copy that compares each file with that of the destination, as `rpcrdma
 * sync` does, makes as many calls as there are directories, if nothing has changed.
 *
 * A list is made when the directory is entered, and freed when it is left. Its entries are believed until
 * this copy changes them. A name that it does not have is looked for all the same, as a server may find an
 * object under a name that is spelled otherwise. Without a list, for example of a directory with very many
 * entries, all names are looked for so.
 */

/* The most octets of memory for all lists at a time. */
#define THERE_MAX (RR_CATALOG_MAX / 4)

/* A directory of the destination may have so many times as many entries as that of the source, and so many
 * more; if it has still more, it is cheaper to look for the entries of the source alone. */
enum { THERE_TIMES = 16, THERE_MORE = 256 };

/* Tells whether the copy compares what is in a directory with the source, so that a list of it is of use. */
static bool
there_is_compared(const struct rr_cp *cp, const struct rr_catalog *source)
{
	bool compared = cp->sync || cp->update || cp->checksum || cp->keep || cp->ask;

	return cp->to.nfs && !cp->absent && !cp->fresh && compared && (cp->remove || source->count > 1);
}

void
rr_cp_there_begin(struct rr_cp *cp, const struct rr_directory *to, const struct rr_catalog *source,
	struct rr_cp_there *there)
{
	*there = (struct rr_cp_there){ .above = cp->there, .directory = to };
	cp->there = there;
	if (!there_is_compared(cp, source))
		return;
	there->catalog.octets = RR_CATALOG_MAX - THERE_MAX + cp->there_octets;
	/* With --delete, all entries are needed. */
	if (!cp->remove)
		there->catalog.most = THERE_TIMES * source->count + THERE_MORE;
	there->listed = cp->to.ops->list(&cp->to, to, &there->catalog) == 0;
	if (!there->listed) {
		rr_catalog_free(&there->catalog);
		return;
	}
	there->octets = there->catalog.octets - (RR_CATALOG_MAX - THERE_MAX) - cp->there_octets;
	cp->there_octets += there->octets;
	rr_catalog_sort(&there->catalog);
}

void
rr_cp_there_end(struct rr_cp *cp, struct rr_cp_there *there)
{
	cp->there = there->above;
	cp->there_octets -= there->octets;
	rr_catalog_free(&there->catalog);
}

/* Returns the entry `name` of the directory `to` if there is a list of that directory, and the entry is in
 * it; or NULL. */
static struct rr_catalog_entry *
there_find(const struct rr_cp *cp, const struct rr_directory *to, const char *name)
{
	struct rr_cp_there *there = cp->there;

	return there && there->listed && there->directory == to ? rr_catalog_find(&there->catalog, name)
								: NULL;
}

int
rr_cp_there_look(struct rr_cp *cp, const struct rr_directory *to, const char *name, struct rr_info *info)
{
	const struct rr_side_ops *ops = cp->to.ops;
	const struct rr_catalog_entry *entry = there_find(cp, to, name);
	int error = entry ? ops->examine(&cp->to, to, entry, info) : 0;

	/* This copy may have changed a file under another one of its names. */
	if (!error && (!entry || (info->kind == RR_KIND_FILE && info->links > 1)))
		error = ops->look(&cp->to, to, name, info);
	return error;
}

void
rr_cp_there_forget(struct rr_cp *cp, const struct rr_directory *to, const char *name)
{
	struct rr_catalog_entry *entry = there_find(cp, to, name);

	if (entry)
		(void)rr_catalog_know(&cp->there->catalog, entry, NULL);
}
