/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tool/doctor/doctor.h"

enum {
	LOCAL_LINE = 256,        /* octets of a line of a file, at most */
	LOCAL_CAP_IPC_LOCK = 14, /* the bit of CAP_IPC_LOCK in the mask of capabilities */
	LOCAL_NO_COMMAND = 127,  /* a shell's exit status if there is no such program */
	LOCAL_LOCKED = 16384     /* KiB that an engine with an adapter locks */
};

/* Tells whether any line of the file begins with the word, and a blank, a tab or the end of the line stands
 * behind the word. A word that ends in '/' is the beginning of a path: anything may stand behind it. Returns
 * false also if the file cannot be opened. */
static bool
local_has_line(const char *path, const char *word)
{
	FILE *file = fopen(path, "re");
	size_t length = strlen(word);
	bool open_end = word[length - 1] == '/', found = false;
	char line[LOCAL_LINE];

	if (!file)
		return false;
	while (!found && fgets(line, sizeof(line), file))
		found = strncmp(line, word, length) == 0 && (open_end || strchr(" \t\n", line[length]));
	fclose(file);
	return found;
}

/* Tells whether this process has the capability CAP_IPC_LOCK (capabilities(7)), so that it may lock more
 * memory than the limit says. */
static bool
local_locks_freely(void)
{
	FILE *file = fopen("/proc/self/status", "re");
	char line[LOCAL_LINE];
	unsigned long long effective = 0;

	if (!file)
		return false;
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, "CapEff: %llx", &effective) == 1)
			break;
	fclose(file);
	return effective >> LOCAL_CAP_IPC_LOCK & 1;
}

/* Makes the step "locked memory" of the diagnosis and prints its result: compares the limit of locked memory
 * with what an RDMA adapter needs. The step fails only if an adapter is to be used. */
static void
local_memory(struct rr_doctor *doctor)
{
	struct rr_doctor_step step = { .name = "locked memory" };
	struct rlimit limit;
	bool is_adapter = doctor->check.fabric && strcmp(rr_fabric_name(doctor->check.fabric), "iwarp") != 0;

	rr_doctor_begin(doctor);
	if (getrlimit(RLIMIT_MEMLOCK, &limit) < 0 || limit.rlim_cur == RLIM_INFINITY ||
		local_locks_freely()) {
		rr_doctor_found(&step, "not limited");
	} else {
		rr_doctor_found(&step, "limited to %llu KiB", (unsigned long long)limit.rlim_cur / 1024);
		step.failed = limit.rlim_cur / 1024 < LOCAL_LOCKED &&
			      (is_adapter || doctor->check.url.transport == RR_TRANSPORT_VERBS);
		if (limit.rlim_cur / 1024 < LOCAL_LOCKED)
			rr_doctor_advise(&step,
				"RDMA adapters need %d KiB: `ulimit -l unlimited`, or a line in "
				"/etc/security/limits.conf",
				LOCAL_LOCKED);
	}
	rr_doctor_end(doctor, &step);
}

/* Makes the step "kernel" of the diagnosis and prints its result: tells whether the NFS server of the Linux
 * kernel (knfsd) on this machine serves RDMA. It does if the kernel module rpcrdma is loaded and knfsd's
 * portlist names rdma. */
static void
local_nfsd(struct rr_doctor *doctor)
{
	struct rr_doctor_step step = { .name = "kernel" };
	bool has_nfsd = access("/proc/fs/nfsd/portlist", F_OK) == 0;
	bool has_module = access("/sys/module/rpcrdma", F_OK) == 0;
	bool has_rdma = local_has_line("/proc/fs/nfsd/portlist", "rdma");

	rr_doctor_begin(doctor);
	if (!has_nfsd) {
		step.skipped = true;
		rr_doctor_found(&step, "knfsd does not run here");
	} else if (!has_module) {
		step.failed = true;
		rr_doctor_found(&step, "knfsd runs, and the kernel module rpcrdma is not loaded");
		rr_doctor_advise(&step, "`modprobe rpcrdma`, then `echo rdma %u > /proc/fs/nfsd/portlist`",
			RR_URL_RDMA_PORT);
	} else if (!has_rdma) {
		step.failed = true;
		rr_doctor_found(&step, "knfsd runs, and /proc/fs/nfsd/portlist has no rdma");
		rr_doctor_advise(&step,
			"`echo rdma %u > /proc/fs/nfsd/portlist`, or rdma=y in the section nfsd of "
			"/etc/nfs.conf",
			RR_URL_RDMA_PORT);
	} else {
		rr_doctor_found(&step, "knfsd listens over RDMA, and exports %s",
			local_has_line("/proc/fs/nfsd/exports", "/") ? "something"
								     : "what exportfs(8) lists");
	}
	rr_doctor_end(doctor, &step);
}

/* Tells whether a line of nft has a rule for packets to the port: "dport N", or N in a set or in a range
 * behind "dport". */
static bool
local_names_port(const char *line, unsigned long port)
{
	const char *at = strstr(line, "dport ");

	while (at && *(at += strcspn(at, "0123456789"))) {
		char *end;
		unsigned long first = strtoul(at, &end, 10), last = first;

		if (*end == '-')
			last = strtoul(end + 1, &end, 10);
		if (port >= first && port <= last)
			return true;
		at = end;
	}
	return false;
}

/* Copies the rule that keeps packets out into rule: the first one that names the port, else the first one of
 * all; "" if there is none. Returns true if the rule names the port. */
static bool
local_find_rule(FILE *rules, unsigned long port, char rule[LOCAL_LINE])
{
	char line[LOCAL_LINE];
	bool is_named = false;

	rule[0] = '\0';
	while (fgets(line, sizeof(line), rules)) {
		const char *text = line + strspn(line, " \t");

		if (is_named || (!strstr(line, "drop") && !strstr(line, "reject")))
			continue;
		is_named = local_names_port(line, port);
		if (is_named || !rule[0])
			snprintf(rule, LOCAL_LINE, "%.*s", (int)strcspn(text, "\n"), text);
	}
	return is_named;
}

/* Makes the step "firewall" of the diagnosis and prints its result: shows a firewall rule of this machine
 * that drops or rejects packets. The step fails if the rule names the port, and succeeds if it does not, as
 * it may be for other packets. The step is skipped if nft shows no such rule, or cannot be run. */
static void
local_firewall(struct rr_doctor *doctor)
{
	struct rr_doctor_step step = { .name = "firewall" };
	FILE *rules = popen("nft list ruleset 2>/dev/null", "re");
	char first[LOCAL_LINE] = "";
	int status = -1;

	rr_doctor_begin(doctor);
	step.failed = rules && local_find_rule(rules, doctor->check.url.port, first);
	if (rules)
		status = pclose(rules);
	if (step.failed) {
		rr_doctor_found(&step, "this machine has a rule that keeps packets to port %u out: %s",
			doctor->check.url.port, first);
		rr_doctor_advise(&step, "take the rule away, or let the clients' addresses pass before it: "
					"`nft list ruleset`");
	} else if (first[0]) {
		rr_doctor_found(
			&step, "this machine has rules that keep packets out, the first one: %s", first);
		rr_doctor_advise(
			&step, "see whether one is for port %u: `nft list ruleset`", doctor->check.url.port);
	} else if (status != 0) {
		step.skipped = true;
		rr_doctor_found(&step, "%s: whether a rule keeps packets out is not known",
			WIFEXITED(status) && WEXITSTATUS(status) == LOCAL_NO_COMMAND ? "nft is not installed"
										     : "nft cannot be run");
	} else {
		step.skipped = true;
		rr_doctor_found(&step, "nft shows no rule that keeps packets out");
	}
	rr_doctor_end(doctor, &step);
}

void
rr_doctor_local(struct rr_doctor *doctor)
{
	local_memory(doctor);
	if (!doctor->is_local)
		return;
	if (!rr_doctor_over_tcp(doctor))
		local_nfsd(doctor);
	if (doctor->failed && geteuid() == 0)
		local_firewall(doctor);
}
