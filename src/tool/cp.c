/* SPDX-License-Identifier: BSD-3-Clause */
#include "tool/cp.h"

#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { OPT_HELP = 256, OPT_JSON, OPT_SPARSE };

static const struct option long_options[] = {
	{ "recursive", no_argument, NULL, 'r' },
	{ "quiet", no_argument, NULL, 'q' },
	{ "json", no_argument, NULL, OPT_JSON },
	{ "sparse", required_argument, NULL, OPT_SPARSE },
	RR_TRANSPORT_OPTION,
	RR_CALL_OPTION,
	RR_FILTER_OPTIONS,
	{ "help", no_argument, NULL, OPT_HELP },
	{ 0 },
};

const char rr_tool_cp_options[] =
	"  -r, -R, --recursive   copy directories with all that is in them; links are copied as links\n"
	"  -q, --quiet           no progress bar, and no summary\n"
	"      --json            print the summary as a JSON object\n"
	"      --sparse WHEN     auto: holes stay holes; always: zeroes become holes; never "
	"(auto)\n" RR_TRANSPORT_HELP RR_FILTER_HELP RR_CALL_HELP
	"\nA file that exists is written in place: it keeps its owner, mode, access lists and links. SRC and "
	"DST "
	"can be\ndevices and pipes, and - for standard input or output.\n";

/* ---- Failures ---- */

int
rr_cp_fail(struct rr_cp *cp, struct rr_side *side)
{
	rr_progress_hide(&cp->progress);
	rr_tool_warn(cp->tool, "%s%s: %s", side == &cp->from ? cp->from_name : cp->to_name, cp->path,
		side->text.text);
	cp->sums.failed++;
	if (side->fatal)
		cp->stop = true;
	return -1;
}

int
rr_cp_fail_because(struct rr_cp *cp, struct rr_side *side, const char *why)
{
	side->fatal = false;
	rr_fail(&side->text, -RPCRDMA_ERR_SYSTEM, "%s", why);
	return rr_cp_fail(cp, side);
}

/* ---- Summary ---- */

static void
add_counters(const struct rr_remote *remote, struct rr_counters *sum, uint32_t *reconnects)
{
	struct rr_counters counters;

	if (!remote->nfs)
		return;
	rr_client_counters(rr_nfs_rpc(remote->nfs), &counters);
	sum->octets_rdma_write += counters.octets_rdma_write;
	sum->octets_rdma_read += counters.octets_rdma_read;
	sum->octets_inline += counters.octets_inline;
	*reconnects += rr_client_reconnects(rr_nfs_rpc(remote->nfs));
}

/* "iwarp", or "verbs and iwarp" where both ends are servers: source and destination. */
static void
name_fabrics(const struct rr_cp *cp, char *text, size_t size)
{
	const char *names[2] = { NULL, NULL };
	struct rr_negotiated negotiated;

	for (int i = 0; i < 2; i++) {
		if (!cp->remotes[i].nfs)
			continue;
		rr_client_negotiated(rr_nfs_rpc(cp->remotes[i].nfs), &negotiated);
		names[i] = negotiated.fabric;
	}
	if (names[0] && names[1] && strcmp(names[0], names[1]) != 0)
		snprintf(text, size, "%s and %s", names[0], names[1]);
	else
		snprintf(text, size, "%s", names[0] ? names[0] : names[1]);
}

static const char *
plural(uint64_t count, const char *one, const char *many)
{
	return count == 1 ? one : many;
}

static void
print_text(FILE *out, const struct rr_cp_sums *sums, const struct rr_counters *counters, double seconds,
	double rate, const char *over)
{
	char text[16];

	fprintf(out, "copied %" PRIu64 " %s", sums->files, plural(sums->files, "file", "files"));
	if (sums->directories)
		fprintf(out, ", %" PRIu64 " %s", sums->directories,
			plural(sums->directories, "directory", "directories"));
	if (sums->links)
		fprintf(out, ", %" PRIu64 " %s", sums->links, plural(sums->links, "link", "links"));
	fprintf(out,
		": %" PRIu64 " octets in %.2f s, %s/s; %" PRIu64 " went by RDMA Write, %" PRIu64
		" by RDMA Read, %" PRIu64 " inline, over %s\n",
		sums->octets, seconds, rr_progress_octets((uint64_t)rate, text, sizeof(text)),
		counters->octets_rdma_write, counters->octets_rdma_read, counters->octets_inline, over);
}

static void
print_json(FILE *out, const struct rr_cp_sums *sums, const struct rr_counters *counters, double seconds,
	double rate, uint32_t reconnects, const char *over)
{
	fprintf(out,
		"{\"files\":%" PRIu64 ",\"directories\":%" PRIu64 ",\"links\":%" PRIu64 ",\"failed\":%" PRIu64
		",\"octets\":%" PRIu64 ",\"seconds\":%.6f,\"octets_per_second\":%.0f,",
		sums->files, sums->directories, sums->links, sums->failed, sums->octets, seconds, rate);
	fprintf(out,
		"\"octets_rdma_write\":%" PRIu64 ",\"octets_rdma_read\":%" PRIu64
		",\"octets_inline\":%" PRIu64 ",\"reconnects\":%" PRIu32 ",\"over\":\"%s\"}\n",
		counters->octets_rdma_write, counters->octets_rdma_read, counters->octets_inline, reconnects,
		over);
}

static void
print_summary(const struct rr_cp *cp)
{
	struct rr_counters counters = { 0 };
	double seconds = (double)(rr_now(&rr_env_system) - cp->progress.start) / (double)RR_SECOND;
	double rate = seconds > 0 ? (double)cp->sums.octets / seconds : 0;
	uint32_t reconnects = 0;
	char over[32] = "";
	FILE *out = cp->streamed ? stderr : stdout; /* data may have gone there */

	name_fabrics(cp, over, sizeof(over));
	add_counters(&cp->remotes[0], &counters, &reconnects);
	add_counters(&cp->remotes[1], &counters, &reconnects);
	if (cp->json)
		print_json(out, &cp->sums, &counters, seconds, rate, reconnects, over);
	else if (cp->sums.files || cp->sums.directories || cp->sums.links || !cp->sums.failed)
		print_text(out, &cp->sums, &counters, seconds, rate, over);
}

/* ---- Both ends ---- */

/* Zeroes that are worth a hole: a block of a file system; and what is worth a WRITE of its own behind it. */
enum { HOLE_LOCAL = 4 << 10, HOLE_REMOTE = 64 << 10 };

/* Names are put behind it with a slash of their own. */
static void
cut_slashes(char *name)
{
	size_t length = strlen(name);

	while (length > 1 && name[length - 1] == '/')
		name[--length] = '\0';
}

static int
open_side(struct rr_cp *cp, const char *argument, struct rr_remote *remote, struct rr_side *side, char *name,
	size_t size)
{
	struct rr_text text;

	*side = (struct rr_side){
		.ops = &rr_side_local,
		.loop = cp->engine->loop,
		.piece_max = RR_PUMP_PIECE,
		.hole_unit = HOLE_LOCAL,
	};
	snprintf(name, size, "%s", argument);
	cut_slashes(name);
	if (!rr_url_is(argument))
		return RR_EXIT_OK;
	side->ops = &rr_side_remote;
	remote->tcp = cp->filters.tcp;
	if (rr_remote_open(cp->engine, argument, remote, &text) != 0)
		return rr_tool_fail(cp->tool, "%s: %s", remote->name, text.text);
	snprintf(name, size, "%s", remote->name);
	cut_slashes(name);
	side->nfs = remote->nfs;
	side->hole_unit = HOLE_REMOTE;
	side->piece_max = side == &cp->from ? rr_nfs_read_max(remote->nfs) : rr_nfs_write_max(remote->nfs);
	return RR_EXIT_OK;
}

static int
copy(struct rr_cp *cp, const char *source, const char *destination)
{
	if (open_side(cp, source, &cp->remotes[0], &cp->from, cp->from_name, sizeof(cp->from_name)) ||
		open_side(cp, destination, &cp->remotes[1], &cp->to, cp->to_name, sizeof(cp->to_name)))
		return RR_EXIT_FAILED;
	rr_progress_init(&cp->progress, !cp->quiet);
	if (rr_pump_init(&cp->pump, cp->engine, &cp->progress) < 0 || rr_cp_small_init(cp) < 0)
		return rr_tool_fail(cp->tool, "out of memory");
	cp->pump.sparse = cp->sparse;
	rr_cp_top(cp, source, destination);
	rr_progress_hide(&cp->progress);
	rr_pump_free(&cp->pump);
	rr_cp_small_free(cp);
	if (!cp->quiet && !cp->stop &&
		(cp->json || cp->sums.files + cp->sums.directories + cp->sums.links > 0))
		print_summary(cp);
	return rr_tool_end_output(cp->tool, cp->sums.failed || cp->stop ? RR_EXIT_FAILED : RR_EXIT_OK);
}

static int
parse_sparse(struct rr_cp *cp, const char *when)
{
	static const char *const names[] = {
		[RR_SPARSE_AUTO] = "auto",
		[RR_SPARSE_ALWAYS] = "always",
		[RR_SPARSE_NEVER] = "never",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(when, names[i]) == 0) {
			cp->sparse = (enum rr_sparse)i;
			return RR_EXIT_OK;
		}
	}
	return rr_tool_usage(cp->tool, "--sparse takes auto, always or never, not '%s'", when);
}

/* True to go on, false with the status to exit with. */
static bool
parse(struct rr_cp *cp, int argc, char **argv, int *status)
{
	int option;

	opterr = 0;
	while ((option = getopt_long(argc, argv, ":rRq", long_options, NULL)) != -1) {
		switch (option) {
		case 'r':
		case 'R': cp->recursive = true; break;
		case 'q': cp->quiet = true; break;
		case OPT_JSON: cp->json = true; break;
		case OPT_SPARSE:
			*status = parse_sparse(cp, optarg);
			if (*status != RR_EXIT_OK)
				return false;
			break;
		case OPT_HELP: *status = rr_tool_help(cp->tool); return false;
		default:
			if (!rr_filters_is_option(option))
				*status = rr_tool_bad_option(cp->tool, option, argv[optind - 1]);
			else
				*status = rr_filters_option(cp->tool, &cp->filters, option, optarg);
			if (*status != RR_EXIT_OK)
				return false;
		}
	}
	if (argc - optind != 2)
		*status = rr_tool_usage(cp->tool, "a source and a destination are wanted");
	else if (argv[optind][0] == '\0' || argv[optind + 1][0] == '\0')
		*status = rr_tool_usage(cp->tool, "the source or the destination is empty");
	else if (!rr_url_is(argv[optind]) && !rr_url_is(argv[optind + 1]))
		*status = rr_tool_usage(cp->tool,
			"one side must be a URL (nfs://HOST[:PORT]/PATH); cp(1) copies files "
			"on this machine");
	else
		return true;
	return false;
}

int
rr_tool_cp(const struct rr_tool *tool, int argc, char **argv)
{
	struct rr_cp *cp = calloc(1, sizeof(*cp));
	struct rr_engine_config config = rr_engine_config_default;
	struct rr_text text;
	int status;

	if (!cp)
		return rr_tool_fail(tool, "out of memory");
	cp->tool = tool;
	cp->umask = umask(0);
	umask((mode_t)cp->umask);
	if (parse(cp, argc, argv, &status) &&
		(status = rr_filters_start(tool, &cp->filters, &config)) == RR_EXIT_OK) {
		rr_tool_catch_signals();
		if (rr_remote_engine(&config, &cp->engine, &text) < 0)
			status = rr_tool_fail(tool, "%s", text.text);
		else
			status = copy(cp, argv[optind], argv[optind + 1]);
		rr_remote_close(&cp->remotes[0]);
		rr_remote_close(&cp->remotes[1]);
		rr_engine_free(cp->engine);
		status = rr_filters_end(tool, &cp->filters, status);
	}
	free(cp);
	return status;
}
