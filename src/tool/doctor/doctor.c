/* SPDX-License-Identifier: BSD-3-Clause */
#include "tool/doctor/doctor.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/endian.h"

static const struct rr_option doctor_options[] = {
	{ .name = "json",
		.help = "print a JSON object on each line",
		.kind = RR_OPTION_FLAG,
		.at = offsetof(struct rr_doctor, json) },
	{ .name = "timeout",
		.argument = "SECONDS",
		.help = "time to wait for an answer (5)",
		.kind = RR_OPTION_NUMBER,
		.low = 1,
		.high = 3600,
		.at = offsetof(struct rr_doctor, check.timeout) },
	{ 0 },
};

/* ---- Steps ---- */

void
rr_doctor_found(struct rr_doctor_step *step, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(step->found, sizeof(step->found), format, arguments);
	va_end(arguments);
}

void
rr_doctor_advise(struct rr_doctor_step *step, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(step->advice, sizeof(step->advice), format, arguments);
	va_end(arguments);
}

void
rr_doctor_begin(struct rr_doctor *doctor)
{
	doctor->began = rr_now(&rr_env_system);
}

static void
doctor_print_json(const struct rr_doctor_step *step, const char *status)
{
	printf("{\"step\":\"%s\",\"status\":\"%s\",\"us\":%" PRIu64 ",\"found\":", step->name, status,
		step->took / 1000);
	rr_tool_json_string(stdout, step->found);
	printf(",\"advice\":");
	rr_tool_json_string(stdout, step->advice);
	printf("}\n");
}

void
rr_doctor_end(struct rr_doctor *doctor, struct rr_doctor_step *step)
{
	const char *status = step->failed ? "fail" : step->skipped ? "skip" : "ok";

	step->took = rr_now(&rr_env_system) - doctor->began;
	doctor->failed += step->failed;
	rr_tool_mask(step->found);
	if (doctor->json) {
		doctor_print_json(step, status);
		return;
	}
	printf("%-4s %-13s %8.3f ms  %s\n", status, step->name, (double)step->took / 1e6, step->found);
	if (step->advice[0])
		printf("     to do: %s\n", step->advice);
	fflush(stdout);
}

/* ---- The first call ---- */

/* Makes a NULL call in this version of RPC-over-RDMA on a new connection, and stores the answer in *reply.
 * Returns false if no connection was made, or no answer came; `why` then has the reason. */
static bool
doctor_null(struct rr_doctor *doctor, uint32_t version, struct rr_check_reply *reply, struct rr_text *why)
{
	struct rr_check_peer peer = { .check = &doctor->check, .version = version };
	struct rr_check_call call = { 0 };
	bool answered;

	memset(reply, 0, sizeof(*reply));
	if (rr_check_connect(&peer, NULL, 0) < 0) {
		rr_check_fail(why, "%.250s", peer.why.text);
		return false;
	}
	if (rr_check_call(&peer, &call) < 0) {
		rr_check_fail(why, "the call cannot be sent: %.200s", peer.why.text);
		answered = false;
	} else {
		answered = rr_check_reply(&peer, reply, why);
	}
	rr_check_close(&peer);
	return answered;
}

/* Returns the version of RPC-over-RDMA in which calls are made: 2 if the user chose it, else 1. */
static uint32_t
doctor_which_version(const struct rr_doctor *doctor)
{
	return doctor->check.filters.versions == RR_VERSIONS_2 ? 2 : 1;
}

/* Makes the step "first call" of the diagnosis and prints its result: makes a NULL call and judges the
 * answer. Returns false if the step failed. */
static bool
doctor_first_call(struct rr_doctor *doctor)
{
	struct rr_doctor_step step = { .name = "first call" };
	uint32_t version = doctor_which_version(doctor);
	struct rr_check_reply reply;
	struct rr_text why = { "" };

	rr_doctor_begin(doctor);
	if (!doctor_null(doctor, version, &reply, &why)) {
		step.failed = true;
		rr_doctor_found(&step, "%s", why.text);
		rr_doctor_advise(&step, "%s", rr_advice(-RPCRDMA_ERR_TIMEDOUT));
	} else if (reply.header.proc == RR_RDMA_ERROR && reply.header.err == RR_ERR_VERS) {
		step.failed = true;
		rr_doctor_found(&step, "the server speaks versions %u to %u of RPC-over-RDMA, and not %u",
			reply.header.vers_low, reply.header.vers_high, version);
		rr_doctor_advise(&step, "%s", rr_advice(-RPCRDMA_ERR_VERS));
	} else if (!reply.has_rpc) {
		step.failed = true;
		rr_doctor_found(
			&step, "RPC-over-RDMA procedure %u comes back, and no reply", reply.header.proc);
		rr_doctor_advise(&step, "`rpcrdma check URL` says what else the server does not do");
	} else if (reply.rpc.accept_stat == RR_PROG_UNAVAIL || reply.rpc.accept_stat == RR_PROG_MISMATCH) {
		step.failed = true;
		rr_doctor_found(&step, "the server has no NFS version 3");
		rr_doctor_advise(&step, "%s", rr_advice(-RPCRDMA_ERR_PROG_UNAVAIL));
	} else {
		rr_doctor_found(&step, "answered in version %u, with a grant of %u credits", version,
			reply.header.credit);
	}
	rr_check_forget(&reply);
	rr_doctor_end(doctor, &step);
	return !step.failed;
}

/* Makes the step "version" of the diagnosis and prints its result: finds out whether the server speaks
 * version 2 of RPC-over-RDMA. The step never fails: a server that does not answer in version 2 does not speak
 * it. Does nothing if the user chose a version. */
static void
doctor_version(struct rr_doctor *doctor)
{
	struct rr_doctor_step step = { .name = "version" };
	struct rr_check_reply reply;
	struct rr_text why = { "" };

	if (doctor->check.filters.versions != RR_VERSIONS_AUTO)
		return;
	rr_doctor_begin(doctor);
	if (doctor_null(doctor, 2, &reply, &why) && reply.has_rpc)
		rr_doctor_found(&step, "the server speaks version 2, too");
	else
		rr_doctor_found(&step, "the server does not speak version 2; version 1 is used");
	rr_check_forget(&reply);
	rr_doctor_end(doctor, &step);
}

/* ---- NFS ---- */

/* Writes what the step "mount" has found and, over TCP, what protects the connection; with Kerberos, by which
 * flavor and for whom. */
static void
doctor_found_object(const struct rr_doctor *doctor, struct rr_doctor_step *step)
{
	const struct rr_check *check = &doctor->check;
	char file[320];

	snprintf(file, sizeof(file), "%s%s%s%s%s", check->has_file ? ", and has a file to read" : "",
		check->principal[0] ? "; calls by " : "", check->principal[0] ? check->flavor : "",
		check->principal[0] ? ", as " : "", check->principal);

	if (check->tls)
		rr_doctor_found(step, "%s is there%s; the connection is inside of %s with %s",
			check->url.path, file, check->tls, check->tls_cipher);
	else
		rr_doctor_found(step, "%s is there%s%s", check->url.path, file,
			rr_doctor_over_tcp(doctor) ? "; the connection is plain" : "");
}

/* Makes the step "mount" of the diagnosis and prints its result: finds the object that the URL names. Returns
 * false if the step failed. */
static bool
doctor_mount(struct rr_doctor *doctor, const char *url)
{
	struct rr_doctor_step step = { .name = "mount" };
	struct rr_check *check = &doctor->check;

	rr_doctor_begin(doctor);
	rr_check_find_objects(check, url);
	step.failed = !check->has_directory && !check->has_file;
	if (step.failed) {
		rr_doctor_found(&step, "%s", check->no_objects.text);
		if (check->url.sec >= RR_URL_SEC_KRB5)
			rr_doctor_advise(&step,
				"see what the server exports, with which sec=, and that its keytab has "
				"nfs/%s; `klist` shows the tickets of this user",
				check->url.host);
		else
			rr_doctor_advise(&step,
				"see what the server exports (`showmount -e %s`, exportfs(8)), and to whom; "
				"?mountport=N where MOUNT is at a port of its own",
				check->url.host);
	} else {
		doctor_found_object(doctor, &step);
	}
	rr_doctor_end(doctor, &step);
	return !step.failed;
}

/* Makes the step "rights" of the diagnosis and prints its result: tells whether the user in whose name calls
 * are made may read what the URL names. */
static void
doctor_rights(struct rr_doctor *doctor)
{
	struct rr_doctor_step step = { .name = "rights" };
	const struct rr_check *check = &doctor->check;

	rr_doctor_begin(doctor);
	step.failed = check->no_right.text[0] != '\0';
	if (step.failed) {
		rr_doctor_found(&step, "%s", check->no_right.text);
		rr_doctor_advise(&step,
			"see the mode and the owner on the server (`ls -ld`); ?uid= and ?gid= act as "
			"another user; root acts as nobody where the server has root_squash");
	} else if (check->principal[0]) {
		rr_doctor_found(&step, "%s may read %s", check->principal, check->url.path);
	} else {
		rr_doctor_found(&step, "user %u, group %u may read %s", check->cred.uid, check->cred.gid,
			check->url.path);
	}
	rr_doctor_end(doctor, &step);
}

/* Makes the step `name` of the diagnosis and prints its result: runs the test case case_name of `rpcrdma
 * check`, in the version of RPC-over-RDMA that the user chose (1: both). The step is skipped if the case is
 * not made for that version. The table must have a case of that name. */
static void
doctor_case(
	struct rr_doctor *doctor, const char *name, const char *case_name, const struct rr_check_case *table)
{
	struct rr_doctor_step step = { .name = name };
	struct rr_text why = { "" };
	uint32_t version = doctor_which_version(doctor);
	enum rr_check_verdict verdict;

	while (strcmp(table->name, case_name) != 0)
		table++;
	rr_doctor_begin(doctor);
	if (version == 1 ? table->version_1 : table->version_2)
		verdict = rr_check_make(&doctor->check, table, version, &why);
	else
		verdict = rr_check_skip(&why, "not for version %u", version);
	step.failed = verdict == RR_CHECK_FAIL;
	step.skipped = verdict == RR_CHECK_SKIP;
	rr_doctor_found(&step, "%s%s%.200s", step.failed ? "" : table->text,
		why.text[0] && !step.failed ? ": " : "", why.text);
	if (step.failed)
		rr_doctor_advise(&step,
			"small messages pass and this does not: packets of full size may be lost "
			"(compare the MTU of both ends and of what is between them: `ping -M do -s "
			"1472`); or the server moves no data by RDMA: see its log");
	rr_doctor_end(doctor, &step);
}

/* ---- The whole examination ---- */

/* Makes the steps behind the connection that call over RDMA. */
static void
doctor_look_by_rdma(struct rr_doctor *doctor, const char *url)
{
	if (!doctor_first_call(doctor))
		return;
	doctor_version(doctor);
	if (!doctor_mount(doctor, url))
		return;
	doctor_rights(doctor);
	/* The cases have calls of their own, which are those of AUTH_SYS. */
	if (doctor->check.principal[0])
		return;
	doctor_case(doctor, "read", "A11-read-large", rr_check_data_cases);
	doctor_case(doctor, "long reply", "A9-reply-chunk", rr_check_long_cases);
}

/* Makes all steps. If the server cannot be reached, a first call fails, or the object is not found, the steps
 * that need this are left out. The steps on this machine are always made. Returns an exit status. */
static int
doctor_look(struct rr_doctor *doctor, const char *url)
{
	bool reached = rr_doctor_reach(doctor);

	rr_doctor_local(doctor);
	if (reached && rr_doctor_over_tcp(doctor) && doctor_mount(doctor, url))
		doctor_rights(doctor);
	else if (reached && !rr_doctor_over_tcp(doctor))
		doctor_look_by_rdma(doctor, url);
	if (!doctor->json && doctor->failed)
		printf("%u %s failed\n", doctor->failed, doctor->failed == 1 ? "step" : "steps");
	else if (!doctor->json)
		printf("all is well\n");
	return doctor->failed ? RR_EXIT_FAILED : RR_EXIT_OK;
}

static int
doctor_start(struct rr_doctor *doctor, const char *url)
{
	struct rr_engine_config config = rr_engine_config_default;
	struct rr_check *check = &doctor->check;
	int status;

	rr_tool_catch_signals();
	if (rr_filters_start(check->tool, &check->filters, &config))
		return RR_EXIT_FAILED;
	rr_check_identify(check);
	if (rr_engine_new(&rr_env_system, &config, &check->engine) < 0)
		status = rr_tool_fail(check->tool, "an event loop cannot be set up: %s", strerror(errno));
	else
		status = doctor_look(doctor, url);
	rpcrdma_engine_free(check->engine);
	return rr_tool_end_output(check->tool, rr_filters_end(check->tool, &check->filters, status));
}

static int
doctor_run(const struct rr_tool *tool, int argc, char **argv)
{
	struct rr_doctor doctor = { .check = { .tool = tool, .timeout = 5 } };
	struct rr_text text;
	int status = rr_options_parse(tool, &doctor, &argc, &argv);

	if (status != RR_OPTIONS_GO_ON)
		return status;
	if (rr_url_parse(argv[0], &doctor.check.url, &text) < 0)
		return rr_tool_usage(tool, "%s", text.text);
	if (doctor.check.url.transport == RR_TRANSPORT_AUTO)
		doctor.check.url.transport = doctor.check.filters.transport;
	return doctor_start(&doctor, argv[0]);
}

const struct rr_tool rr_tool_doctor = {
	.name = "doctor",
	.run = doctor_run,
	.help = "Find out why a server cannot be used, and what to do.",
	.operands = "URL",
	.least = 1,
	.most = 1,
	.urls = true,
	.groups = {
		{ doctor_options, 0 },
		{ rr_filters_transport, offsetof(struct rr_doctor, check.filters) },
		{ rr_filters_options, offsetof(struct rr_doctor, check.filters) },
		{ rr_filters_calls, offsetof(struct rr_doctor, check.filters) },
	},
};
