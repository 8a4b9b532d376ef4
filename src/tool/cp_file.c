/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <stdio.h>

#include "tool/cp.h"

/*
 * One file, or one symbolic link. It is made under a temporary name beside
 * its place, and renamed when it is whole, so that nobody ever sees a half of it;
 * the temporary name is removed again whatever goes wrong.
 */

enum { TEMPORARY = 256, KEPT_OF_NAME = 200 };

static void
temporary_name(const char *name, char temporary[TEMPORARY])
{
	snprintf(temporary, TEMPORARY, ".%.*s.rpcrdma-%016" PRIx64, KEPT_OF_NAME, name,
		rr_random_u64(&rr_env_system));
}

/* A failure to tidy up must not hide what went wrong before. */
static void
remove_temporary(struct rr_cp *cp, const struct rr_place *to, const char *temporary)
{
	struct rr_text before = cp->to.text;
	bool fatal = cp->to.fatal;

	if (cp->to.ops->remove(&cp->to, to, temporary) < 0)
		rr_tool_warn(cp->tool, "%s%s: the temporary file %s beside it stays behind: %s", cp->to_name,
			cp->path, temporary, cp->to.text.text);
	cp->to.text = before;
	cp->to.fatal = fatal;
}

/* Neither a file nor a link replaces a directory. */
static int
check_target(struct rr_cp *cp, const struct rr_place *to, const char *to_name)
{
	struct rr_info there;

	if (cp->to.ops->look(&cp->to, to, to_name, &there) < 0)
		return rr_cp_fail(cp, &cp->to);
	if (there.kind == RR_KIND_DIRECTORY)
		return rr_cp_fail_because(
			cp, &cp->to, "there is a directory of this name, which will not be replaced");
	return 0;
}

static int
put_in_place(struct rr_cp *cp, const struct rr_place *to, const char *temporary, const char *to_name)
{
	if (cp->to.ops->rename(&cp->to, to, temporary, to_name) == 0)
		return 0;
	return rr_cp_fail(cp, &cp->to);
}

/* All that happens between the making of the temporary file and its renaming. */
static int
fill(struct rr_cp *cp, struct rr_file *source, const struct rr_info *info, struct rr_file *target)
{
	if (rr_pump_copy(&cp->pump, source, target, info->size) < 0)
		return rr_cp_fail(cp, cp->pump.failed);
	if (cp->to.ops->finish(target, info) < 0)
		return rr_cp_fail(cp, &cp->to);
	return 0;
}

static int
copy_open_file(struct rr_cp *cp, struct rr_file *source, const struct rr_place *to, const char *to_name)
{
	char temporary[TEMPORARY];
	struct rr_info info;
	struct rr_file target;
	int error;

	if (cp->from.ops->describe(source, &info) < 0)
		return rr_cp_fail(cp, &cp->from);
	if (info.kind != RR_KIND_FILE)
		return rr_cp_fail_because(cp, &cp->from, "it is no regular file any more");
	temporary_name(to_name, temporary);
	if (cp->to.ops->create(&cp->to, to, temporary, info.size, &target) < 0)
		return rr_cp_fail(cp, &cp->to);
	rr_progress_file(&cp->progress, cp->path[0] ? cp->path + 1 : to_name, info.size);
	error = fill(cp, source, &info, &target);
	cp->to.ops->close(&target);
	if (!error)
		error = put_in_place(cp, to, temporary, to_name);
	if (error) {
		remove_temporary(cp, to, temporary);
		return error;
	}
	cp->sums.files++;
	cp->sums.octets += info.size;
	return 0;
}

int
rr_cp_file(struct rr_cp *cp, const struct rr_place *from, const char *name, const struct rr_info *info,
	const struct rr_place *to, const char *to_name)
{
	struct rr_file source;
	int error;

	if (check_target(cp, to, to_name) < 0)
		return -1;
	if (cp->from.ops->open(&cp->from, from, name, info, &source) < 0)
		return rr_cp_fail(cp, &cp->from);
	error = copy_open_file(cp, &source, to, to_name);
	cp->from.ops->close(&source);
	return error;
}

int
rr_cp_link(struct rr_cp *cp, const struct rr_place *from, const char *name, const struct rr_info *info,
	const struct rr_place *to, const char *to_name)
{
	char temporary[TEMPORARY], target[RR_NFS_PATH];
	int error;

	if (check_target(cp, to, to_name) < 0)
		return -1;
	if (cp->from.ops->read_link(&cp->from, from, name, info, target) < 0)
		return rr_cp_fail(cp, &cp->from);
	temporary_name(to_name, temporary);
	if (cp->to.ops->make_link(&cp->to, to, temporary, target) < 0)
		return rr_cp_fail(cp, &cp->to);
	error = put_in_place(cp, to, temporary, to_name);
	if (error)
		remove_temporary(cp, to, temporary);
	else
		cp->sums.links++;
	return error;
}
