/* SPDX-License-Identifier: BSD-3-Clause */
#include "tool/progress.h"

#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/env.h"
#include "tool/tool.h"

/* The least time between two drawings of the line, and before the first one. */
#define EVERY (RR_SECOND / 5)
#define FIRST RR_SECOND

/* Seconds from which on no time is foretold: 100 hours. */
#define PROGRESS_LONG 360000

/* Octets from which on a file takes so long that its line is drawn at once. */
#define LARGE (UINT64_C(64) << 20)

void
rr_progress_init(struct rr_progress *progress, bool wanted)
{
	*progress = (struct rr_progress){ .enabled = wanted && isatty(STDERR_FILENO), .name = "" };
	progress->start = progress->last = rr_now(&rr_env_system);
}

void
rr_progress_file(struct rr_progress *progress, const char *name, uint64_t size)
{
	progress->name = name;
	progress->size = size;
	if (size >= LARGE && !progress->shown)
		rr_progress_show(progress);
}

void
rr_progress_expect(struct rr_progress *progress, uint64_t octets)
{
	progress->expected += octets;
}

void
rr_progress_add(struct rr_progress *progress, uint64_t octets)
{
	progress->total += octets;
}

const char *
rr_progress_octets(uint64_t octets, char *text, size_t size)
{
	static const char units[] = "kMGTPE";
	double value = (double)octets;
	const char *unit = units;

	if (octets < 1000) {
		snprintf(text, size, "%u B", (unsigned)octets);
		return text;
	}
	for (value /= 1000; value >= 999.95 && unit[1]; unit++)
		value /= 1000;
	snprintf(text, size, "%.1f %cB", value, *unit);
	return text;
}

const char *
rr_progress_left(uint64_t done, uint64_t all, uint64_t took, char *text, size_t size)
{
	double rest = all > done ? (double)(all - done) : 0;
	double left = done ? rest * (double)took / (double)done / (double)RR_SECOND + 0.5 : PROGRESS_LONG;
	unsigned seconds = left < PROGRESS_LONG ? (unsigned)left : PROGRESS_LONG;

	if (seconds >= PROGRESS_LONG)
		snprintf(text, size, "-:--");
	else if (seconds < 3600)
		snprintf(text, size, "%u:%02u", seconds / 60, seconds % 60);
	else
		snprintf(text, size, "%u:%02u:%02u", seconds / 3600, seconds / 60 % 60, seconds % 60);
	return text;
}

/* Returns the width of the terminal; 80 if the width is not known, or too small for the line. */
static int
progress_columns(void)
{
	struct winsize window;

	if (ioctl(STDERR_FILENO, TIOCGWINSZ, &window) < 0 || window.ws_col < 40)
		return 80;
	return window.ws_col;
}

/* Draws the line over the previous one: a bar, the octets done of all, the rate, the time left, and the
 * file. */
static void
progress_draw(const struct rr_progress *progress, uint64_t now)
{
	enum { BAR = 20 };
	uint64_t all = progress->expected > progress->total ? progress->expected : progress->total;
	int full = all ? (int)((double)progress->total * BAR / (double)all) : 0;
	double seconds = (double)(now - progress->start) / (double)RR_SECOND;
	char octets[16], expected[16], rate[16], left[16], bar[BAR + 1], line[512];
	int width = progress_columns() - 1;

	full = full > BAR ? BAR : full;
	memset(bar, ' ', BAR);
	memset(bar, '#', (size_t)full);
	bar[BAR] = '\0';
	rr_progress_octets(progress->total, octets, sizeof(octets));
	rr_progress_octets(all, expected, sizeof(expected));
	rr_progress_octets(
		seconds > 0 ? (uint64_t)((double)progress->total / seconds) : 0, rate, sizeof(rate));
	rr_progress_left(progress->total, all, now - progress->start, left, sizeof(left));
	snprintf(line, sizeof(line), "[%s] %s of %s %9s/s %7s left  %.300s", bar, octets, expected, rate,
		left, progress->name);
	fprintf(stderr, "\r%.*s\033[K", width, rr_tool_mask(line));
}

void
rr_progress_show(struct rr_progress *progress)
{
	uint64_t now;

	if (!progress->enabled)
		return;
	now = rr_now(&rr_env_system);
	if (now - progress->start < FIRST && progress->size < LARGE)
		return;
	if (progress->shown && now - progress->last < EVERY)
		return;
	progress->last = now;
	progress->shown = true;
	progress_draw(progress, now);
}

void
rr_progress_hide(struct rr_progress *progress)
{
	if (progress->shown)
		fprintf(stderr, "\r\033[K");
	progress->shown = false;
}
