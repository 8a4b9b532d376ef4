/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The service of a thread of `rpcrdma serve`: an NFS server over trees of its own, and an RPC server that
 * listens at all addresses. The threads share only the configuration, the state of version 4 and the
 * duplicate request cache: a client may come back to another thread than it left.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/address.h"
#include "rpc/auth/gss_server.h"
#include "rpc/server.h"
#include "tool/report.h"
#include "tool/serve/serve.h"

/* Octets of a host and port as text: a name of this machine, or an address. */
enum { SERVE_HOST = HOST_NAME_MAX + 8 };

/* Octets of data that travel in the stream of a reply: of a listing, or of any data where a flavor (krb5i,
 * krb5p) forbids that it travels outside of the stream. */
enum { SERVE_WHOLE = 1 << 20 };

/* All that the threads share. */
struct serve_run {
	const struct rr_tool *tool;
	struct rr_serve *serve;
	void *shared;                     /* what the storage of all threads has in common */
	struct rr_locks *locks;           /* of all versions */
	struct rr_nfs4_shared *shared4;   /* NULL: version 4 is not served */
	struct rr_nlm_shared *shared_nlm; /* the locks of version 3; NULL: version 3 is not served */
	struct rr_drc *drc;               /* the duplicate request cache */
	struct rr_gss_shared *gss;        /* NULL: RPCSEC_GSS is not served */
	struct rr_mounts *mounts;         /* the clients that have mounted directories (MOUNT) */
	struct rr_serve_rules *fresh;     /* the rules which clients may use the exports: reload.c */
};

/* The service of a thread. */
struct serve_service {
	struct serve_run *run;
	struct rpcrdma_engine *engine;
	struct rr_vfs *vfs;             /* the storage */
	struct rr_gate gate;            /* in front of the storage: applies the rules */
	struct rr_idmap *idmap;         /* the names and groups of users */
	struct rr_idmap *hosts;         /* the names and netgroups of hosts */
	struct rr_nfs_server *nfs;      /* version 3; NULL: it is not served */
	struct rr_nfs4_server *nfs4;    /* version 4; NULL: it is not served */
	struct rr_nlm_server *nlm;      /* the locks of version 3; NULL: it is not served */
	struct rr_nfs4_shared *shared4; /* NULL: version 4 is not served */
	struct rr_gss_server *gss;      /* NULL: RPCSEC_GSS is not served */
	struct rpcrdma_server *server;
	struct rr_service services[RR_NFS_SERVICES + RR_NLM_SERVICES + 1];
	uint32_t service_count;
	/* Of version 3, what clients ask for over UDP: MOUNT, NLM and NSM, never NFS. NULL: nothing is. */
	struct rpcrdma_server *datagrams;
	struct rr_gate_count counts[RR_SERVE_EXPORTS]; /* of the gate */
};

_Static_assert((int)RR_MEASURE_EXPORTS >= (int)RR_SERVE_EXPORTS, "a measure has all exports");

/* Has the RPC server of a thread listen at all addresses, over RDMA, and over TCP unless its port is 0. If
 * the RDMA port of an address is 0, the first thread stores the port that the system chose, so that the next
 * threads take the same port. Returns an exit status, after a message if it is not OK. */
static int
serve_listen_all(const struct rr_tool *tool, struct rr_serve *serve, struct rpcrdma_server *server)
{
	struct rr_text text;

	for (uint32_t i = 0; i < serve->address_count; i++) {
		struct rr_serve_address *address = &serve->addresses[i];
		struct sockaddr_storage tcp = address->rdma;
		const char *providers;

		if (rr_server_listen(server, RR_TRANSPORT_AUTO, (struct sockaddr *)&address->rdma,
			    address->size, &providers, &text) < 0)
			return rr_tool_fail(tool, "%s", text.text);
		/* serve_announce() prints the providers of the first thread: only this thread listens through
		 * RDMA adapters (verbs), too. */
		if (!address->providers)
			address->providers = providers;
		if (serve->tcp_port == 0)
			continue;
		rr_address_set_port((struct sockaddr *)&tcp, (uint16_t)serve->tcp_port);
		if (rr_server_listen(server, RR_TRANSPORT_TCP, (struct sockaddr *)&tcp, address->size, NULL,
			    &text) < 0)
			return rr_tool_fail(
				tool, "%s; --tcp-port takes another port, or 0 for no TCP", text.text);
	}
	return RR_EXIT_OK;
}

/* Has this thread serve over UDP at the TCP port of all addresses: MOUNT and the locks of version 3. Returns
 * an exit status, after a message if it is not OK. */
static int
serve_datagrams(struct serve_run *run, struct serve_service *service, const struct rr_server_config *config)
{
	struct rr_serve *serve = run->serve;
	enum { FIRST = RR_NFS_STREAM_SERVICES, COUNT = RR_NFS_SERVICES + RR_NLM_SERVICES - FIRST };
	struct rr_text text;

	if (!serve->version3 || serve->tcp_port == 0)
		return RR_EXIT_OK;
	if (rr_server_new(service->engine, config, service->services + FIRST, COUNT, &service->datagrams) < 0)
		return rr_tool_fail(run->tool, "out of memory");
	for (uint32_t i = 0; i < serve->address_count; i++) {
		struct sockaddr_storage udp = serve->addresses[i].rdma;

		rr_address_set_port((struct sockaddr *)&udp, (uint16_t)serve->tcp_port);
		if (rr_server_listen(service->datagrams, RR_TRANSPORT_UDP, (struct sockaddr *)&udp,
			    serve->addresses[i].size, NULL, &text) < 0)
			return rr_tool_fail(run->tool, "%s; --tcp-port takes another port", text.text);
	}
	return RR_EXIT_OK;
}

/* Makes the NFS services of this thread, for the versions that are to be served. Returns an exit status,
 * after a message if it is not OK. */
static int
serve_make_services(struct serve_run *run, struct serve_service *service)
{
	const struct rr_serve *serve = run->serve;
	struct rpcrdma_engine *engine = service->engine;
	const struct rr_nfs4_server_config config = { engine->results, &service->gate, run->shared4,
		serve->minors };
	struct rr_text text;

	if (serve->version3) {
		if (rr_nfs_server_new(engine->env, engine->results, &service->gate, &service->nfs) < 0)
			return rr_tool_fail(run->tool, "out of memory");
		rr_nfs_server_list_mounts(service->nfs, run->mounts);
		rr_nfs_server_services(service->nfs, service->services);
		if (rr_nlm_server_new(engine, &service->gate, run->shared_nlm, &service->nlm, &text) < 0)
			return rr_tool_fail(run->tool, "%s", text.text);
		rr_nlm_server_services(service->nlm, service->services + RR_NFS_SERVICES);
		service->service_count = RR_NFS_SERVICES + RR_NLM_SERVICES;
	}
	if (!run->shared4)
		return RR_EXIT_OK;
	if (rr_nfs4_server_new(engine->env, engine->loop, &config, &service->nfs4, &text) < 0)
		return rr_tool_fail(run->tool, "%s", text.text);
	rr_nfs4_server_service(service->nfs4, &service->services[service->service_count++]);
	return RR_EXIT_OK;
}

/* Makes the service of a thread, and has it listen. After a failure, serve_free() frees what was made. */
static int
serve_make(void *ctx, struct rpcrdma_engine *engine, void **result)
{
	struct serve_run *run = ctx;
	struct rr_serve *serve = run->serve;
	struct rr_server_config config = rr_server_config_default;
	const struct rr_idmap_config idmap = { .domain = serve->idmap_domain,
		.manage_gids = serve->manage_gids };
	const struct rr_idmap_config hosts = { .domain = "" };
	struct rr_text text = { "out of memory" };
	struct serve_service *service = rr_alloc(engine->env, sizeof(*service));
	int status;

	if (!service)
		return rr_tool_fail(run->tool, "out of memory");
	*result = service;
	service->run = run;
	service->engine = engine;
	service->shared4 = run->shared4;
	if (serve->provider->provide(run->shared, serve, engine, &service->vfs, &text) < 0)
		return rr_tool_fail(run->tool, "%s", text.text);
	rr_gate_init(&service->gate, service->vfs, serve->rules, rr_loop_peer_log(engine->loop));
	service->gate.counts = service->counts;
	if (rr_idmap_new(engine->env, engine->loop, &idmap, &service->idmap) < 0)
		return rr_tool_fail(run->tool, "no threads for the names of users: %s", strerror(errno));
	service->gate.idmap = service->idmap;
	/* Threads of their own: name servers for hosts that hang delay no user, and the other way round. */
	if (rr_idmap_new(engine->env, engine->loop, &hosts, &service->hosts) < 0)
		return rr_tool_fail(run->tool, "no threads for the names of hosts: %s", strerror(errno));
	service->gate.hosts = service->hosts;
	status = serve_make_services(run, service);
	if (status != RR_EXIT_OK)
		return status;
	config.drc = run->drc;
	config.reply_max += SERVE_WHOLE;
	if (run->gss) {
		if (rr_gss_server_new(engine, run->gss, &service->gss, &text) < 0)
			return rr_tool_fail(run->tool, "%s", text.text);
		config.auths = service->gss->auths;
		config.crew = service->gss->crew;
	}
	if (rr_server_new(engine, &config, service->services, service->service_count, &service->server) < 0)
		return rr_tool_fail(run->tool, "out of memory");
	status = serve_listen_all(run->tool, serve, service->server);
	if (status == RR_EXIT_OK)
		status = serve_datagrams(run, service, &config);
	if (status == RR_EXIT_OK && serve->provider->apart && rr_carrier_at_work(engine, RR_TRANSPORT_VERBS))
		serve->provider->apart(service->vfs);
	return status;
}

/* Writes the address and port under which other machines reach the address, as in a URL: for all addresses of
 * this machine, its name. */
static void
serve_print_host(const struct rr_serve_address *address, char *text, size_t size)
{
	const struct sockaddr *rdma = (const struct sockaddr *)&address->rdma;
	char host[HOST_NAME_MAX + 1] = "";

	rr_address_text(rdma, text, size);
	if (rr_address_is_any(rdma) && gethostname(host, sizeof(host) - 1) == 0 && host[0])
		snprintf(text, size, "%s:%u", host, rr_address_port(rdma));
}

/* Returns the option of Linux's mount for the latest version that is served. */
static const char *
serve_mount_version(const struct rr_serve *serve)
{
	if (serve->minors & RR_NFS4_MINOR_2)
		return "vers=4.2";
	if (serve->version4)
		return serve->minors & RR_NFS4_MINOR_1 ? "vers=4.1" : "vers=4.0";
	return serve->rpcbind.socket ? "vers=3" : "vers=3,nolock";
}

/* Returns the option of a version 4 that nearly all clients with version 4 have. */
static const char *
serve_lock_version(const struct rr_serve *serve)
{
	return serve->minors & RR_NFS4_MINOR_1 ? "vers=4.1" : serve_mount_version(serve);
}

/* Prints what to type where the first directory is wanted: a line for this project's command, and one for
 * Linux's mount. */
static void
serve_print_lines(const struct rr_serve *serve)
{
	const struct rr_serve_address *address = &serve->addresses[0];
	const char *name = serve->exports[0].name;
	char host[SERVE_HOST];

	serve_print_host(address, host, sizeof(host));
	printf("a client types: rpcrdma ls nfs://%s%s\n", host, name);
	*strrchr(host, ':') = '\0';
	printf("or, with Linux's own client: mount -t nfs -o %s,proto=rdma,port=%u",
		serve_mount_version(serve), rr_address_port((const struct sockaddr *)&address->rdma));
	if (!serve->version4 && serve->tcp_port)
		printf(",mountproto=tcp,mountport=%u", serve->tcp_port);
	printf(" %s:%s /mnt\n", host, name);
}

/* Prints what is served where, and registers the server with rpcbind if an option asks for that. */
static void
serve_announce(void *ctx)
{
	const struct serve_run *run = ctx;
	const struct rr_serve *serve = run->serve;
	const char *tls = serve->secure.files.cert ? ", with TLS for those who ask for it" : "";
	char text[SERVE_HOST];

	for (uint32_t i = 0; i < serve->address_count; i++) {
		serve_print_host(&serve->addresses[i], text, sizeof(text));
		for (uint32_t j = 0; j < serve->tree.export_count; j++)
			printf("serving %s as nfs://%s%s over %s%s%s\n", serve->exports[j].path, text,
				serve->exports[j].name, serve->addresses[i].providers,
				serve->tree.read_only ? ", read-only" : "",
				strstr(serve->addresses[i].providers, "iwarp") ? tls : "");
	}
	if (serve->tcp_port)
		printf("and over TCP at port %u%s\n", serve->tcp_port, tls);
	if (serve->version3 && !serve->rpcbind.socket)
		printf("locks of version 3 need rpcbind (--rpcbind), or mount with nolock%s%s\n",
			serve->version4 ? ", or with " : "",
			serve->version4 ? serve_lock_version(serve) : "");
	rr_tool_secure_announce(&serve->secure);
	serve_print_lines(serve);
	rr_serve_register(run->tool, run->serve);
}

/* Prints to standard error the numbers of clients, sessions, opens, locks and delegations of NFS version 4,
 * which all threads share. */
static void
serve_report_state(struct rr_nfs4_shared *shared)
{
	struct rr_nfs4_held held;

	rr_nfs4_held(shared, &held);
	fprintf(stderr,
		"state of NFS version 4: %u client%s, %u session%s, %u open%s, %u lock%s, %u "
		"delegation%s%s\n",
		held.clients, rr_tool_plural(held.clients), held.sessions, rr_tool_plural(held.sessions),
		held.opens, rr_tool_plural(held.opens), held.locks, rr_tool_plural(held.locks),
		held.delegations, rr_tool_plural(held.delegations), held.grace ? ", grace period" : "");
}

/* Prints to standard error the numbers of hosts of version 3 that have locks, and of what they have, if there
 * are any. */
static void
serve_report_locks(struct rr_nlm_shared *shared)
{
	struct rr_nlm_held held;

	rr_nlm_held(shared, &held);
	if (held.hosts == 0)
		return;
	fprintf(stderr, "locks of NFS version 3: %u host%s, %u open%s, %u range%s, %u wait%s%s\n", held.hosts,
		rr_tool_plural(held.hosts), held.claims, rr_tool_plural(held.claims), held.ranges,
		rr_tool_plural(held.ranges), held.waits, rr_tool_plural(held.waits),
		held.grace ? ", grace period" : "");
}

/* Prints to standard error the counts of the operations of this thread's storage. "not at once": operations
 * that ended only after the call that began them had returned. */
static void
serve_report_storage(const struct rr_vfs *vfs)
{
	struct rr_vfs_counters storage;

	rr_vfs_counters(vfs, &storage);
	fprintf(stderr,
		"storage: %" PRIu64 " operation%s, %" PRIu64 " not at once, %" PRIu64
		" cancelled; %u under way, at most %u; %u open%s, %u descriptor%s\n",
		storage.begun, rr_tool_plural(storage.begun), storage.later, storage.cancelled,
		storage.under_way, storage.under_way_peak, storage.opens, rr_tool_plural(storage.opens),
		storage.descriptors, rr_tool_plural(storage.descriptors));
}

/* Prints the counts of this thread. The first thread also prints the numbers that all threads share. */
static void
serve_report(const void *ctx, uint32_t thread)
{
	const struct serve_service *service = ctx;

	rr_report_server(stderr, thread, service->server, service->services, service->service_count);
	rr_report_operations(stderr, service->nfs4);
	rr_report_exports(stderr, &service->gate);
	serve_report_storage(service->vfs);
	if (thread == 0 && service->shared4)
		serve_report_state(service->shared4);
	if (thread == 0 && service->run->shared_nlm)
		serve_report_locks(service->run->shared_nlm);
}

/* Adds the counts of this thread to the measure. The first thread also adds the state of version 4, which all
 * threads share. */
static void
serve_measure(const void *ctx, uint32_t thread, struct rr_measure *measure)
{
	const struct serve_service *service = ctx;

	rr_measure_server(measure, thread, service->server, service->services, service->service_count);
	rr_measure_operations(measure, service->nfs4);
	rr_measure_exports(measure, &service->gate);
	if (thread == 0)
		rr_measure_state(measure, service->shared4);
}

static void
serve_shut_down(void *service)
{
	const struct serve_service *served = service;

	rr_server_shutdown(served->server);
	if (served->datagrams)
		rr_server_shutdown(served->datagrams);
}

static bool
serve_is_idle(const void *service)
{
	const struct serve_service *served = service;

	return rr_server_idle(served->server) && (!served->datagrams || rr_server_idle(served->datagrams));
}

/* Returns how many operations of this thread's storage, questions to the directory of users and about hosts,
 * and contexts of Kerberos in the making have not ended. */
static uint32_t
serve_under_way(const struct serve_service *service)
{
	struct rr_vfs_counters counters = { 0 };

	if (service->vfs)
		rr_vfs_counters(service->vfs, &counters);
	return counters.under_way + rr_idmap_under_way(service->idmap) + rr_idmap_under_way(service->hosts) +
	       (service->gss ? service->gss->creation_count : 0);
}

/* The most opens for locks and shares of version 3. */
enum { SERVE_CLAIMS = 65536 };

/* At the end, operations that nobody waits for any more get this number of turns of the loop, each of this
 * time, to end. */
enum { LAST_TURNS = 5 };
#define LAST_TURN (50 * RR_MILLISECOND)

/* Gives the storage operations that are still under way a short time to end. If an operation does not end,
 * ends the process at once: the thread of that operation hangs in a system call and uses memory, so that
 * memory cannot be freed. */
static void
serve_end_where_storage_hangs(const struct serve_service *service)
{
	for (int i = 0; i < LAST_TURNS && serve_under_way(service) > 0; i++)
		rr_loop_turn(service->engine->loop, LAST_TURN);
	if (serve_under_way(service) == 0)
		return;
	fprintf(stderr,
		"rpcrdma: %u operations wait for storage, or for a directory of users or hosts, that does "
		"not answer, "
		"and are given up\n",
		serve_under_way(service));
	fflush(NULL);
	_exit(RR_EXIT_OK);
}

/* Frees the service of a thread. The service that is freed first also withdraws the server from rpcbind, and
 * waits for the thread that reads the rules. */
static void
serve_free(void *ctx)
{
	struct serve_service *service = ctx;

	rr_serve_withdraw(service->run->tool, service->run->serve);
	rr_serve_rules_end(service->run->fresh);
	rr_server_free(service->server);
	rr_server_free(service->datagrams);
	rr_nlm_server_end(service->nlm);
	rr_nfs4_server_end(service->nfs4);
	serve_end_where_storage_hangs(service);
	rr_idmap_free(service->idmap);
	rr_idmap_free(service->hosts);
	/* The storage waits here for the operations that are under way. */
	if (service->vfs)
		rr_vfs_destroy(service->vfs);
	rr_nfs_server_free(service->nfs);
	rr_nfs4_server_free(service->nfs4);
	rr_nlm_server_free(service->nlm);
	rr_gss_server_free(service->gss);
	rr_gate_end(&service->gate);
	rr_free(service->engine->env, service);
}

/* Called at SIGHUP, if there is a configuration file or a certificate. */
static void
serve_reload(void *ctx, struct rr_workers_run *workers)
{
	const struct serve_run *run = ctx;

	rr_tool_secure_renew(run->tool, &run->serve->secure);
	if (run->serve->config.path)
		rr_serve_reload(run->fresh, workers);
}

/* Has the gate of this thread apply the rules that were read last. */
static void
serve_renew(void *ctx)
{
	struct serve_service *service = ctx;
	struct rr_rules *rules = rr_serve_fresh(service->run->fresh);

	rr_gate_take(&service->gate, rules);
	rr_rules_release(rules);
}

static const struct rr_worker_service serve_service = {
	.make = serve_make,
	.announce = serve_announce,
	.report = serve_report,
	.measure = serve_measure,
	.shutdown = serve_shut_down,
	.idle = serve_is_idle,
	.free = serve_free,
};

/* Returns the functions of the service that the workers call. With a configuration file, these include the
 * function that reads the file again after SIGHUP. */
static struct rr_worker_service
serve_service_for(const struct rr_serve *serve)
{
	struct rr_worker_service service = serve_service;

	if (serve->config.path || serve->secure.files.cert) {
		service.reload = serve_reload;
		service.renew = serve_renew;
	}
	return service;
}

/* Limits the opens, locks and delegations of NFS version 4, as each of them needs a descriptor of the
 * process: opens and locks to half of the descriptors, delegations to an eighth. Counts by the hard limit of
 * descriptors, as rr_workers_run() raises the soft limit to the hard limit later. */
static void
serve_bound_states(struct rr_nfs4_tables_config *tables)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
		return;
	if (tables->states > limit.rlim_max / 2)
		tables->states = (uint32_t)(limit.rlim_max / 2);
	if (tables->delegations > limit.rlim_max / 8)
		tables->delegations = (uint32_t)(limit.rlim_max / 8);
}

/* Makes the state of NFS version 4 that all threads share, with its records on disk, if version 4 is served.
 * Returns an exit status, after a message if it is not OK. */
static int
serve_make_shared4(struct serve_run *run)
{
	struct rr_nfs4_shared_config config = { .tables = rr_nfs4_tables_config_default };
	const struct rr_serve *serve = run->serve;
	char path[PATH_MAX];
	struct rr_text text;
	int error;

	if (!serve->version4)
		return RR_EXIT_OK;
	error = rr_serve_state(serve, path, &text);
	config.records = path;
	config.tables.lease = serve->lease * RR_SECOND;
	config.tables.locks = run->locks;
	serve_bound_states(&config.tables);
	if (error == 0)
		error = rr_nfs4_shared_new(&rr_env_system, &config, &run->shared4, &text);
	return error < 0 ? rr_tool_fail(run->tool, "%s; --state names another directory", text.text)
			 : RR_EXIT_OK;
}

/* Makes what the threads share of locks: of all versions, and of version 3, if it is served. Opens for locks
 * take an eighth of the descriptors at most. */
static int
serve_make_locks(struct serve_run *run)
{
	const struct rr_serve *serve = run->serve;
	char state[PATH_MAX], path[PATH_MAX + sizeof("/" RR_NFS4_RECORDS_BESIDE)];
	struct rr_nlm_config config = {
		.records = path, .grace = serve->lease * RR_SECOND, .claims = SERVE_CLAIMS
	};
	struct rr_text text;
	struct rlimit limit;
	int error;

	if (rr_locks_new(&rr_env_system, &run->locks) < 0)
		return rr_tool_fail(run->tool, "out of memory");
	if (!serve->version3)
		return RR_EXIT_OK;
	config.locks = run->locks;
	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && config.claims > limit.rlim_max / 8)
		config.claims = (uint32_t)(limit.rlim_max / 8);
	error = rr_serve_state(serve, state, &text);
	snprintf(path, sizeof(path), "%s/" RR_NFS4_RECORDS_BESIDE, state);
	if (error == 0)
		error = rr_nlm_shared_new(&rr_env_system, &config, &run->shared_nlm, &text);
	return error < 0 ? rr_tool_fail(run->tool, "%s; --state names another directory", text.text)
			 : RR_EXIT_OK;
}

int
rr_serve_run(const struct rr_tool *tool, struct rr_serve *serve)
{
	const struct rr_worker_service service = serve_service_for(serve);
	struct serve_run run = { .tool = tool, .serve = serve, .gss = serve->gss };
	struct rr_text text;
	int status;

	serve->workers.service = &service;
	serve->workers.ctx = &run;
	run.drc = rr_drc_new(&rr_env_system, &rr_drc_config_default);
	if (!run.drc || rr_mounts_new(&rr_env_system, &run.mounts) < 0)
		status = rr_tool_fail(tool, "out of memory");
	else
		status = serve_make_locks(&run);
	/* The locks of version 3 come first: version 4 has a grace period where their hosts may reclaim. */
	if (status == RR_EXIT_OK)
		status = serve_make_shared4(&run);
	if (status == RR_EXIT_OK)
		status = rr_serve_rules_new(tool, serve, &run.fresh);
	if (status == RR_EXIT_OK && serve->provider->begin(serve, &run.shared, &text) < 0)
		status = rr_tool_fail(tool, "%s", text.text);
	if (status == RR_EXIT_OK)
		status = rr_workers_run(&serve->workers);
	rr_nfs4_shared_free(run.shared4);
	rr_nlm_shared_free(run.shared_nlm);
	rr_locks_free(run.locks);
	serve->provider->end(run.shared);
	rr_drc_free(run.drc);
	rr_mounts_free(run.mounts);
	rr_serve_rules_free(run.fresh);
	return status;
}
