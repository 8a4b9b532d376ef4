/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <string.h>

#include "tool/cp/cp.h"

/* The summary of a copy: what was copied, how fast, and over which fabric. */

void
rr_cp_count(struct rr_cp *cp, const struct rr_remote *remote)
{
	struct rpcrdma_counters counters;

	if (!remote->nfs)
		return;
	rr_client_counters(rr_nfs_rpc(remote->nfs), &counters);
	cp->counters.octets_rdma_write += counters.octets_rdma_write;
	cp->counters.octets_rdma_read += counters.octets_rdma_read;
	cp->counters.octets_inline += counters.octets_inline;
	cp->reconnects += rr_client_reconnects(rr_nfs_rpc(remote->nfs));
}

/* Writes the name of the fabric that the data went over, such as "iwarp". If source and destination are on
 * servers with different fabrics, writes both names, that of the source first: "verbs and iwarp". The text is
 * empty if there is no name. */
static void
summary_name_fabrics(const struct rr_cp *cp, char *text, size_t size)
{
	const char *names[2] = { NULL, NULL };
	struct rpcrdma_negotiated negotiated;

	for (int i = 0; i < 2; i++) {
		if (!cp->remotes[i].nfs)
			continue;
		rr_client_negotiated(rr_nfs_rpc(cp->remotes[i].nfs), &negotiated);
		names[i] = negotiated.fabric;
	}
	if (names[0] && names[1] && strcmp(names[0], names[1]) != 0)
		snprintf(text, size, "%s and %s", names[0], names[1]);
	else
		snprintf(text, size, "%s", names[0] ? names[0] : names[1] ? names[1] : "");
}

static const char *
summary_plural(uint64_t count, const char *one, const char *many)
{
	return count == 1 ? one : many;
}

/* Prints what was copied; or, after a dry run, what would be copied. */
static void
summary_print_counts(FILE *out, const struct rr_cp_sums *sums, bool dry)
{
	fprintf(out, "%s %" PRIu64 " %s", dry ? "would copy" : "copied", sums->files,
		summary_plural(sums->files, "file", "files"));
	if (sums->directories)
		fprintf(out, ", %" PRIu64 " %s", sums->directories,
			summary_plural(sums->directories, "directory", "directories"));
	if (sums->links)
		fprintf(out, ", %" PRIu64 " %s", sums->links, summary_plural(sums->links, "link", "links"));
	if (sums->specials)
		fprintf(out, ", %" PRIu64 " %s", sums->specials,
			summary_plural(sums->specials, "pipe or device", "pipes and devices"));
	if (sums->names)
		fprintf(out, ", %" PRIu64 " more %s of files", sums->names,
			summary_plural(sums->names, "name", "names"));
	if (sums->removed)
		fprintf(out, ", %s %" PRIu64, dry ? "remove" : "removed", sums->removed);
	if (sums->skipped)
		fprintf(out, ", %s %" PRIu64 " as %s", dry ? "leave" : "left", sums->skipped,
			summary_plural(sums->skipped, "it is", "they are"));
	if (sums->vanished)
		fprintf(out, ", %" PRIu64 " vanished", sums->vanished);
	fprintf(out, ": %" PRIu64 " octets", sums->octets);
}

/* Prints how the octets were copied, behind their number. */
static void
summary_print_way(FILE *out, const struct rr_cp_sums *sums, const struct rpcrdma_counters *counters,
	double seconds, double rate, const char *over)
{
	char text[16];

	fprintf(out, " in %.2f s, %s/s; ", seconds, rr_progress_octets((uint64_t)rate, text, sizeof(text)));
	if (sums->resumed)
		fprintf(out, "%" PRIu64 " were there already, ", sums->resumed);
	if (sums->within)
		fprintf(out, "%" PRIu64 " were copied by the server itself, ", sums->within);
	fprintf(out,
		"%" PRIu64 " went by RDMA Write, %" PRIu64 " by RDMA Read, %" PRIu64 " inline, over %s\n",
		counters->octets_rdma_write, counters->octets_rdma_read, counters->octets_inline, over);
}

static void
summary_print_json(FILE *out, const struct rr_cp_sums *sums, const struct rpcrdma_counters *counters,
	double seconds, uint32_t reconnects, const char *over)
{
	double rate = seconds > 0 ? (double)sums->octets / seconds : 0;

	fprintf(out,
		"{\"files\":%" PRIu64 ",\"directories\":%" PRIu64 ",\"links\":%" PRIu64
		",\"specials\":%" PRIu64 ",\"names\":%" PRIu64 ",\"removed\":%" PRIu64 ",\"skipped\":%" PRIu64
		",\"vanished\":%" PRIu64 ",\"failed\":%" PRIu64 ",\"octets\":%" PRIu64
		",\"octets_resumed\":%" PRIu64 ",\"octets_within_server\":%" PRIu64
		",\"seconds\":%.6f,\"octets_per_second\":%.0f,",
		sums->files, sums->directories, sums->links, sums->specials, sums->names, sums->removed,
		sums->skipped, sums->vanished, sums->failed, sums->octets, sums->resumed, sums->within,
		seconds, rate);
	fprintf(out,
		"\"octets_rdma_write\":%" PRIu64 ",\"octets_rdma_read\":%" PRIu64
		",\"octets_inline\":%" PRIu64 ",\"reconnects\":%" PRIu32 ",\"over\":\"%s\"}\n",
		counters->octets_rdma_write, counters->octets_rdma_read, counters->octets_inline, reconnects,
		over);
}

static void
summary_print_text(const struct rr_cp *cp, FILE *out, double seconds, const char *over)
{
	double rate = seconds > 0 ? (double)cp->sums.octets / seconds : 0;

	summary_print_counts(out, &cp->sums, cp->dry);
	if (cp->dry)
		fputc('\n', out);
	else
		summary_print_way(out, &cp->sums, &cp->counters, seconds, rate, over);
}

void
rr_cp_summary(struct rr_cp *cp)
{
	double seconds = (double)(rr_now(&rr_env_system) - cp->progress.start) / (double)RR_SECOND;
	char over[32] = "";
	FILE *out = cp->streamed ? stderr : stdout; /* the data may have gone to standard output */

	summary_name_fabrics(cp, over, sizeof(over));
	rr_cp_count(cp, &cp->remotes[0]);
	rr_cp_count(cp, &cp->remotes[1]);
	if (cp->json)
		summary_print_json(out, &cp->sums, &cp->counters, seconds, cp->reconnects, over);
	else if (cp->sums.files || cp->sums.directories || cp->sums.links || cp->sums.specials ||
		 cp->sums.skipped || !cp->sums.failed)
		summary_print_text(cp, out, seconds, over);
}
