/* SPDX-License-Identifier: BSD-3-Clause */
#include "tool/progress.h"

#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/env.h"
#include "tool/tool.h"

#define EVERY (RR_SECOND / 5)
#define FIRST RR_SECOND

/* Octets of a file that takes a while. */
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

static int
progress_columns(void)
{
	struct winsize window;

	if (ioctl(STDERR_FILENO, TIOCGWINSZ, &window) < 0 || window.ws_col < 40)
		return 80;
	return window.ws_col;
}

static void
progress_draw(const struct rr_progress *progress, uint64_t now)
{
	enum { BAR = 20 };
	uint64_t all = progress->expected > progress->total ? progress->expected : progress->total;
	int full = all ? (int)((double)progress->total * BAR / (double)all) : 0;
	double seconds = (double)(now - progress->start) / (double)RR_SECOND;
	char octets[16], expected[16], rate[16], bar[BAR + 1], line[512];
	int width = progress_columns() - 1;

	full = full > BAR ? BAR : full;
	memset(bar, ' ', BAR);
	memset(bar, '#', (size_t)full);
	bar[BAR] = '\0';
	rr_progress_octets(progress->total, octets, sizeof(octets));
	rr_progress_octets(all, expected, sizeof(expected));
	rr_progress_octets(
		seconds > 0 ? (uint64_t)((double)progress->total / seconds) : 0, rate, sizeof(rate));
	snprintf(line, sizeof(line), "[%s] %s of %s %9s/s  %.300s", bar, octets, expected, rate,
		progress->name);
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
