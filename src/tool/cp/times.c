/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "tool/cp/cp.h"

/*
 * Times of modification, which a file system of the destination may keep in a coarse unit: 2 s (FAT), 1 s,
 * 1 us or 100 ns. A file that was copied there has another time than its source, and would be copied again by
 * each run. So where the times differ by so little that such a unit may be the cause, a file under a
 * temporary name shows what the destination makes of such a time. What a server says of its unit
 * (time_delta) is not relied upon: many servers say the same of all their file systems.
 */

/* The units that are known, in ns, the finest first. */
static const int64_t times_units[] = { 1, 100, 1000, 1000000, 10000000, 1000000000, 2000000000 };

enum { UNITS = sizeof(times_units) / sizeof(times_units[0]), FINEST_COARSE = 100, COARSEST = 2 };

/* Tells whether the time `there` is that of the source as a file system with this unit keeps it. */
static bool
times_is_kept_as(struct timespec source, struct timespec there, int64_t unit)
{
	int64_t seconds = source.tv_sec, second = 1000000000, nanoseconds = source.tv_nsec;

	if (unit > second)
		seconds -= (seconds % 2 + 2) % 2;
	nanoseconds -= nanoseconds % (unit < second ? unit : second);
	return there.tv_sec == seconds && there.tv_nsec == nanoseconds;
}

/* Tells whether two different times may be the same in some unit. */
static bool
times_may_be_same(struct timespec source, struct timespec there)
{
	return llabs((long long)source.tv_sec - (long long)there.tv_sec) <= COARSEST &&
	       there.tv_nsec % FINEST_COARSE == 0;
}

/* Tells whether any unit but the finest may be the cause of the difference. */
static bool
times_may_be_kept(struct timespec source, struct timespec there)
{
	for (int i = 1; i < UNITS; i++)
		if (times_is_kept_as(source, there, times_units[i]))
			return true;
	return false;
}

/* Makes a file under a temporary name in the directory, and gives it a time of modification near that in
 * info. Notes the unit of the file system of this number: the finest that explains what became of that time.
 * Returns false if that could not be found out. */
static bool
times_find_unit(struct rr_cp *cp, const struct rr_directory *to, const struct rr_info *info,
	struct rpcrdma_nfs_filesystem fsid)
{
	/* A time that each unit keeps differently: an odd second, and no zero behind it. */
	const struct timespec probe = { info->mtime.tv_sec | 1, 123456789 };
	struct rr_info made = { .kind = RR_KIND_FILE,
		.uid = info->uid,
		.gid = info->gid,
		.mode = 0600,
		.atime = probe,
		.mtime = probe };
	struct rr_side *side = &cp->to;
	char temporary[RR_CP_TEMPORARY];
	struct rr_file file;
	bool known;

	rr_cp_temporary("times", 0, temporary);
	if (side->ops->create(side, to, temporary, 0, &file) != 0) {
		rr_cp_forget_temporary(cp, to, temporary);
		return false;
	}
	known = side->ops->finish(&file, &made) == 0 && side->ops->describe(&file, &made) == 0;
	side->ops->close(&file);
	rr_cp_remove_temporary(cp, to, temporary);
	cp->times_unit = times_units[0];
	for (int i = UNITS - 1; known && i >= 0; i--)
		if (times_is_kept_as(probe, made.mtime, times_units[i]))
			cp->times_unit = times_units[i];
	cp->times_fsid = fsid;
	return known;
}

bool
rr_cp_times_same(struct rr_cp *cp, const struct rr_directory *to, const struct rr_info *info,
	const struct rr_info *there)
{
	struct timespec source = info->mtime, kept = there->mtime;

	if (source.tv_sec == kept.tv_sec && source.tv_nsec == kept.tv_nsec)
		return true;
	if (!times_may_be_same(source, kept))
		return false;
	/* A dry run makes no file. */
	if (cp->dry)
		return times_may_be_kept(source, kept);
	if ((cp->times_unit == 0 || !rr_trail_is_on(cp->times_fsid, there->fsid)) &&
		!times_find_unit(cp, to, info, there->fsid))
		return false;
	return times_is_kept_as(source, kept, cp->times_unit);
}

/* Tells whether the destination lets this time be set. */
static bool
times_is_held(const struct rr_cp *cp, struct timespec time)
{
	return !cp->to.nfs ||
	       rr_nfs_has_time(cp->to.nfs, (struct rpcrdma_nfs_time){ .seconds = time.tv_sec });
}

bool
rr_cp_times_held(const struct rr_cp *cp, const struct rr_info *info)
{
	return times_is_held(cp, info->atime) && times_is_held(cp, info->mtime);
}

void
rr_cp_times_check(struct rr_cp *cp, const struct rr_info *info)
{
	if (!rr_cp_times_held(cp, info))
		rr_cp_fail_because(cp, &cp->to, "its times are not kept: " RR_NFS_TIMES);
}
