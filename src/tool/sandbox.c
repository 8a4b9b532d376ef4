/* SPDX-License-Identifier: BSD-3-Clause */
#include "tool/sandbox.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tool/monitor/monitor.h"
#include "tool/tool.h"

/* Paths with the same use. */
struct sandbox_paths {
	enum rr_confine_use use;
	const char *const paths[16];
};

static const struct sandbox_paths sandbox_paths[] = {
	/* Libraries that are loaded when they are used, and what they read: plugins, time zones, error texts.
	 */
	{ RR_CONFINE_READ,
		{ "/usr", "/lib", "/lib64", "/lib32", "/opt", "/nix/store", "/gnu/store", "/sys" } },
	/* What libraries read that has no secrets: names of services, adapters, authorities, ciphers, realms.
	 * Where users and hosts are looked up, the helper of a server has more (base/confine/helper.h). */
	{ RR_CONFINE_READ, { "/etc/localtime", "/etc/ld.so.cache", "/etc/services", "/etc/protocols",
				   "/etc/host.conf", "/etc/gai.conf", "/etc/hosts", "/etc/nsswitch.conf",
				   "/etc/idmapd.conf", "/etc/krb5.conf", "/etc/krb5.conf.d", "/etc/gss" } },
	{ RR_CONFINE_READ,
		{ "/etc/ssl/certs", "/etc/ssl/openssl.cnf", "/etc/ssl/cert.pem", "/etc/pki/ca-trust",
			"/etc/pki/tls/certs", "/etc/pki/tls/cert.pem", "/etc/pki/tls/openssl.cnf",
			"/etc/crypto-policies", "/etc/libibverbs.d", "/etc/rdma" } },
	{ RR_CONFINE_DEVICE, { "/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom",
				     "/dev/tty", "/dev/infiniband" } },
};

static void
sandbox_system(struct rr_confine *confine)
{
	const char *libraries = getenv("LD_LIBRARY_PATH");
	char path[PATH_MAX];

	for (size_t i = 0; i < sizeof(sandbox_paths) / sizeof(sandbox_paths[0]); i++)
		for (const char *const *at = sandbox_paths[i].paths; *at; at++)
			rr_confine_path(confine, *at, sandbox_paths[i].use);
	/* A server that is not root sets up the user namespace in which it opens files of its own, by files
	 * of a child (vfs/posix/tree/own.c). The kernel keeps the memory of processes outside of the sandbox
	 * from it. */
	rr_confine_path(confine, "/proc", geteuid() == 0 ? RR_CONFINE_READ : RR_CONFINE_DEVICE);
	while (libraries && *libraries) {
		size_t length = strcspn(libraries, ":");

		if (length > 0 && length < sizeof(path)) {
			memcpy(path, libraries, length);
			path[length] = '\0';
			rr_confine_path(confine, path, RR_CONFINE_READ);
		}
		libraries += length + (libraries[length] == ':');
	}
	rr_confine_beside(confine, "/etc/resolv.conf", RR_CONFINE_READ);
	rr_confine_beside(confine, getenv("KRB5_CONFIG"), RR_CONFINE_READ);
#ifdef RR_COVERAGE
	rr_confine_path(confine, RR_COVERAGE, RR_CONFINE_WRITE); /* what was executed is written at the end */
#endif
}

/* The socket of the monitor, and its port. */
static void
sandbox_monitor(const struct rr_workers *workers, struct rr_confine *confine)
{
	const char *port = workers->metrics ? strrchr(workers->metrics, ':') : NULL;
	char directory[PATH_MAX];

	if (workers->monitor)
		rr_confine_beside(confine, workers->monitor, RR_CONFINE_SOCKET);
	else if (rr_monitor_directory(directory, sizeof(directory)))
		rr_confine_path(confine, directory, RR_CONFINE_SOCKET);
	if (workers->metrics)
		rr_confine_listens(confine, (uint16_t)strtoul(port ? port + 1 : workers->metrics, NULL, 10));
}

void
rr_sandbox_begin(
	const struct rr_sandbox *sandbox, const struct rr_confine_tcp *tcp, struct rr_confine *confine)
{
	const struct rr_filters *filters = sandbox->filters;
	const char *const made[] = { filters->path, filters->capture_path, filters->flight_path,
		filters->keylog_path };
	const struct rr_tls_files *files = &sandbox->secure->files;
	const char *const read[] = { sandbox->config, files->cert, files->key, files->ca };

	if (sandbox->workers->no_sandbox)
		return;
	rr_confine_begin(confine, tcp);
	sandbox_system(confine);
	sandbox_monitor(sandbox->workers, confine);
	for (size_t i = 0; i < sizeof(made) / sizeof(made[0]); i++)
		rr_confine_beside(confine, made[i], RR_CONFINE_MAKE);
	/* SIGHUP has them read again, and others may have been put in their places. */
	for (size_t i = 0; i < sizeof(read) / sizeof(read[0]); i++)
		rr_confine_beside(confine, read[i], RR_CONFINE_READ);
}

void
rr_sandbox_enter(
	const struct rr_sandbox *sandbox, enum rr_confine_service service, struct rr_confine *confine)
{
	const struct rr_workers *workers = sandbox->workers;
	struct rr_text text;

	if (!workers->no_sandbox && rr_confine(service, confine, &text) < 0)
		rr_tool_warn(workers->tool, "%s; it goes on with more rights than it needs", text.text);
}
