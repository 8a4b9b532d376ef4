/* SPDX-License-Identifier: BSD-3-Clause */
/* Programs of rpcgen over RDMA: a server with svc_run() in a process of its own, and clients here. */
#include "served.h"

#include "test.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "mount.h"
/* Both schemas define these names. */
#define fhandle nfs_fhandle
#undef FHSIZE
#include "nfs_prot.h"

enum { THREADS = 4, THREAD_CALLS = 50, LONG = 200000, MANY = 700 };

static pid_t server;
static u_short port;

/* Serves the three programs, and writes its port into the pipe; this is the child process. */
static void
serve(u_short at, int ready)
{
	SVCXPRT *transport = rpcrdma_svc_create("127.0.0.1", at);

	if (!transport)
		abort();
	served_rpcb(transport);
	served_mount(transport);
	served_nfs(transport);
	if (write(ready, &transport->xp_port, sizeof(transport->xp_port)) < 0)
		abort();
	svc_run();
	_exit(1);
}

/* Starts the server in a process of its own, and takes its port. */
static void
start(void)
{
	int ready[2];

	assert_int_equal(pipe(ready), 0);
	server = fork();
	assert_true(server >= 0);
	if (server == 0)
		serve(port, ready[1]);
	close(ready[1]);
	assert_int_equal(read(ready[0], &port, sizeof(port)), sizeof(port));
	close(ready[0]);
}

static void
stop(void)
{
	kill(server, SIGKILL);
	assert_int_equal(waitpid(server, NULL, 0), server);
}

static int
setup(void **state)
{
	(void)state;
	port = 0;
	start();
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	stop();
	return 0;
}

/* Makes a client of this program at the server. */
static CLIENT *
client_of(rpcprog_t prog, rpcvers_t vers)
{
	CLIENT *client = rpcrdma_clnt_create_port("127.0.0.1", port, prog, vers, "rdma");
	struct timeval patience = { test_patience(), 0 };

	assert_non_null(client);
	assert_true(clnt_control(client, CLSET_TIMEOUT, (char *)&patience));
	return client;
}

/* Gives the client AUTH_SYS credentials, which the server reads. */
static void
with_auth_sys(CLIENT *client)
{
	char here[] = "here";
	static gid_t further[] = { 7, 8, 9 };

	auth_destroy(client->cl_auth);
	client->cl_auth = authunix_create(here, 1234, 567, 3, further);
	assert_non_null(client->cl_auth);
}

static void
done(CLIENT *client)
{
	auth_destroy(client->cl_auth);
	clnt_destroy(client);
}

/* ---- Calls by stubs ---- */

static void
test_lists_go_both_ways(void **state)
{
	CLIENT *client = client_of(RPCBPROG, RPCBVERS);
	char netid[] = "tcp", address[] = "127.0.0.1.8.1", owner[] = "me";
	rpcb item = { 0, 1, netid, address, owner };
	rpcblist_ptr *list;
	uint32_t count = 0;

	(void)state;
	for (; item.r_prog < MANY; item.r_prog++) {
		bool_t *set = rpcbproc_set_3(&item, client);

		assert_non_null(set);
		assert_true(*set);
	}
	list = rpcbproc_dump_3(NULL, client);
	assert_non_null(list);
	for (rpcblist_ptr at = *list; at; at = at->rpcb_next, count++) {
		assert_int_equal(at->rpcb_map.r_prog, MANY - 1 - count);
		assert_string_equal(at->rpcb_map.r_addr, address);
	}
	assert_int_equal(count, MANY);
	assert_true(clnt_freeres(client, (xdrproc_t)xdr_rpcblist_ptr, (char *)list));
	done(client);
}

static void
test_long_messages_go_both_ways(void **state)
{
	CLIENT *client = client_of(RPCBPROG, RPCBVERS);
	char *address = malloc(LONG + 1), nothing[] = "";
	rpcb item = { 77, 1, nothing, address, nothing };
	rpcblist_ptr *list;

	(void)state;
	memset(address, 'x', LONG);
	address[LONG] = '\0';
	assert_non_null(rpcbproc_set_3(&item, client));
	list = rpcbproc_dump_3(NULL, client);
	assert_non_null(list);
	assert_string_equal((*list)->rpcb_map.r_addr, address);
	assert_true(clnt_freeres(client, (xdrproc_t)xdr_rpcblist_ptr, (char *)list));
	free(address);
	done(client);
}

static void
test_unions_and_fixed_opaque(void **state)
{
	CLIENT *client = client_of(MOUNTPROG, MOUNTVERS);
	char there[] = "/srv/data", absent[] = "/absent";
	dirpath path = there;
	fhstatus *status = mountproc_mnt_1(&path, client);
	exports *list;

	(void)state;
	assert_non_null(status);
	assert_int_equal(status->fhs_status, 0);
	assert_string_equal(status->fhstatus_u.fhs_fhandle, there);
	path = absent;
	status = mountproc_mnt_1(&path, client);
	assert_non_null(status);
	assert_int_equal(status->fhs_status, 2);
	list = mountproc_export_1(NULL, client);
	assert_non_null(list);
	assert_string_equal((*list)->ex_dir, "/one");
	assert_string_equal((*list)->ex_next->ex_dir, "/two");
	assert_null((*list)->ex_next->ex_next);
	assert_true(clnt_freeres(client, (xdrproc_t)xdr_exports, (char *)list));
	done(client);
}

static void
test_data_goes_both_ways(void **state)
{
	CLIENT *client = client_of(NFS_PROGRAM, NFS_VERSION);
	char data[NFS_MAXDATA];
	writeargs writing = { .data = { sizeof(data), data } };
	readargs reading = { .offset = 100, .count = NFS_MAXDATA };
	attrstat *written;
	readres *read;

	(void)state;
	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (char)(i * 7);
	written = nfsproc_write_2(&writing, client);
	assert_non_null(written);
	assert_int_equal(written->attrstat_u.attributes.size, sizeof(data));
	read = nfsproc_read_2(&reading, client);
	assert_non_null(read);
	assert_int_equal(read->readres_u.reply.data.data_len, sizeof(data) - 100);
	assert_memory_equal(read->readres_u.reply.data.data_val, data + 100, sizeof(data) - 100);
	assert_true(clnt_freeres(client, (xdrproc_t)xdr_readres, (char *)read));
	done(client);
}

/* ---- Authentication ---- */

static void
test_auth_sys_reaches_the_server(void **state)
{
	CLIENT *client = client_of(NFS_PROGRAM, NFS_VERSION);
	nfs_fh handle = { { 0 } };
	attrstat *status;
	struct rpc_err error;

	(void)state;
	assert_null(nfsproc_getattr_2(&handle, client));
	clnt_geterr(client, &error);
	assert_int_equal(error.re_status, RPC_AUTHERROR);
	assert_int_equal(error.re_why, AUTH_TOOWEAK);
	with_auth_sys(client);
	status = nfsproc_getattr_2(&handle, client);
	assert_non_null(status);
	assert_int_equal(status->attrstat_u.attributes.uid, 1234);
	assert_int_equal(status->attrstat_u.attributes.gid, 567);
	assert_int_equal(status->attrstat_u.attributes.nlink, 3);
	done(client);
}

/* ---- Errors ---- */

static enum clnt_stat
call_null(CLIENT *client, rpcproc_t proc)
{
	struct timeval timeout = { test_patience(), 0 };

	return clnt_call(client, proc, (xdrproc_t)xdr_void, NULL, (xdrproc_t)xdr_void, NULL, timeout);
}

static void
test_what_the_server_answers_is_the_clnt_stat(void **state)
{
	CLIENT *client = client_of(NFS_PROGRAM, NFS_VERSION);
	rpcprog_t prog = 400123;
	rpcvers_t vers = 9;
	struct rpc_err error;

	(void)state;
	assert_int_equal(call_null(client, 0), RPC_SUCCESS);
	assert_int_equal(call_null(client, 99), RPC_PROCUNAVAIL);
	assert_int_equal(call_null(client, NFSPROC_READ), RPC_CANTDECODEARGS);
	assert_true(clnt_control(client, CLSET_VERS, (char *)&vers));
	assert_int_equal(call_null(client, 0), RPC_PROGVERSMISMATCH);
	clnt_geterr(client, &error);
	assert_int_equal(error.re_vers.low, NFS_VERSION);
	assert_int_equal(error.re_vers.high, NFS_VERSION);
	assert_true(clnt_control(client, CLSET_PROG, (char *)&prog));
	assert_int_equal(call_null(client, 0), RPC_PROGUNAVAIL);
	done(client);
}

/* An XDR routine that fails. */
static bool_t
never(XDR *xdrs, ...)
{
	(void)xdrs;
	return FALSE;
}

static void
test_what_does_not_encode_or_decode(void **state)
{
	CLIENT *client = client_of(NFS_PROGRAM, NFS_VERSION);
	struct timeval timeout = { 1, 0 };

	(void)state;
	assert_int_equal(
		clnt_call(client, 0, never, NULL, (xdrproc_t)xdr_void, NULL, timeout), RPC_CANTENCODEARGS);
	assert_int_equal(
		clnt_call(client, 0, (xdrproc_t)xdr_void, NULL, never, NULL, timeout), RPC_CANTDECODERES);
	assert_int_equal(call_null(client, 0), RPC_SUCCESS);
	done(client);
}

static void
test_without_a_server(void **state)
{
	CLIENT *client = client_of(NFS_PROGRAM, NFS_VERSION);
	struct timeval nothing = { 0, 0 }, patience = { test_patience(), 0 };
	enum clnt_stat status;

	(void)state;
	assert_int_equal(call_null(client, 0), RPC_SUCCESS);
	stop();
	status = call_null(client, 0);
	assert_true(status == RPC_CANTSEND || status == RPC_CANTRECV);
	/* A call that is only sent has no time to make the connection again: it was not sent. */
	assert_true(clnt_control(client, CLSET_TIMEOUT, (char *)&nothing));
	assert_int_equal(clnt_call(client, NFSPROC_NULL, (xdrproc_t)xdr_void, NULL, NULL, NULL, nothing),
		RPC_TIMEDOUT);
	assert_true(clnt_control(client, CLSET_TIMEOUT, (char *)&patience));
	assert_null(rpcrdma_clnt_create_port("127.0.0.1", port, NFS_PROGRAM, NFS_VERSION, "rdma"));
	assert_int_equal(rpc_createerr.cf_stat, RPC_SYSTEMERROR);
	assert_int_equal(rpc_createerr.cf_error.re_errno, ECONNREFUSED);
	assert_null(rpcrdma_clnt_create_port("127.0.0.1", port, NFS_PROGRAM, NFS_VERSION, "carrier-pigeon"));
	assert_int_equal(rpc_createerr.cf_stat, RPC_UNKNOWNPROTO);
	/* The same client goes on when the server is back. */
	start();
	assert_int_equal(call_null(client, 0), RPC_SUCCESS);
	done(client);
}

/* ---- Time, threads ---- */

static void
test_a_call_runs_out_of_time(void **state)
{
	CLIENT *client = client_of(NFS_PROGRAM, NFS_VERSION);
	struct timeval little = { 0, 10000 }, nothing = { 0, 0 }, patience = { test_patience(), 0 };

	(void)state;
	assert_true(clnt_control(client, CLSET_TIMEOUT, (char *)&little));
	assert_int_equal(call_null(client, NFSPROC_ROOT), RPC_TIMEDOUT);
	assert_true(clnt_control(client, CLSET_TIMEOUT, (char *)&nothing));
	assert_int_equal(call_null(client, NFSPROC_NULL), RPC_TIMEDOUT);
	assert_int_equal(
		clnt_call(client, NFSPROC_NULL, (xdrproc_t)xdr_void, NULL, NULL, NULL, nothing), RPC_SUCCESS);
	assert_true(clnt_control(client, CLSET_TIMEOUT, (char *)&patience));
	assert_int_equal(call_null(client, NFSPROC_NULL), RPC_SUCCESS);
	done(client);
}

static atomic_bool ended;

/* Aborts the client's call again and again, in another thread, until it has ended. */
static void *
abort_until_it_ends(void *client)
{
	while (!atomic_load(&ended)) {
		CLIENT *handle = client;

		(*handle->cl_ops->cl_abort)(handle);
		sched_yield();
	}
	return NULL;
}

static void
test_another_thread_aborts_a_call(void **state)
{
	CLIENT *client = client_of(NFS_PROGRAM, NFS_VERSION);
	pthread_t thread;

	(void)state;
	atomic_store(&ended, false);
	assert_int_equal(pthread_create(&thread, NULL, abort_until_it_ends, client), 0);
	assert_int_equal(call_null(client, NFSPROC_ROOT), RPC_INTR);
	atomic_store(&ended, true);
	pthread_join(thread, NULL);
	assert_int_equal(call_null(client, NFSPROC_NULL), RPC_SUCCESS);
	done(client);
}

static void *
call_often(void *client)
{
	size_t good = 0;

	for (uint32_t i = 0; i < THREAD_CALLS; i++)
		good += call_null(client, NFSPROC_NULL) == RPC_SUCCESS;
	return good == THREAD_CALLS ? client : NULL;
}

static void
test_threads_share_a_client(void **state)
{
	CLIENT *client = client_of(NFS_PROGRAM, NFS_VERSION);
	pthread_t threads[THREADS];

	(void)state;
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, call_often, client), 0);
	for (int i = 0; i < THREADS; i++) {
		void *good;

		pthread_join(threads[i], &good);
		assert_non_null(good);
	}
	done(client);
}

/* ---- Handles ---- */

static void
test_control(void **state)
{
	CLIENT *client = client_of(NFS_PROGRAM, NFS_VERSION);
	struct timeval timeout = { 3, 4 }, back;
	struct sockaddr_in address;
	struct netbuf buffer;
	rpcprog_t prog = 0;
	uint32_t xid = 99, seen = 0;
	int fd = -1;

	(void)state;
	assert_true(clnt_control(client, CLSET_TIMEOUT, (char *)&timeout));
	assert_true(clnt_control(client, CLGET_TIMEOUT, (char *)&back));
	assert_int_equal(back.tv_sec, 3);
	timeout.tv_sec = -1;
	assert_false(clnt_control(client, CLSET_TIMEOUT, (char *)&timeout));
	assert_true(clnt_control(client, CLGET_PROG, (char *)&prog));
	assert_int_equal((uint32_t)prog, NFS_PROGRAM);
	assert_true(clnt_control(client, CLGET_SERVER_ADDR, (char *)&address));
	assert_int_equal(ntohs(address.sin_port), port);
	assert_true(clnt_control(client, CLGET_SVC_ADDR, (char *)&buffer));
	assert_int_equal(buffer.len, sizeof(address));
	assert_true(clnt_control(client, CLGET_FD, (char *)&fd));
	assert_true(fd >= 0);
	assert_true(clnt_control(client, CLSET_XID, (char *)&xid));
	assert_int_equal(call_null(client, 0), RPC_SUCCESS);
	assert_true(clnt_control(client, CLGET_XID, (char *)&seen));
	assert_int_equal(seen, xid);
	assert_false(clnt_control(client, 4711, (char *)&fd));
	done(client);
}

static void
test_a_transport_ends(void **state)
{
	SVCXPRT *transport = rpcrdma_svc_create("127.0.0.1", 0);
	int quiet = 1;

	(void)state;
	assert_non_null(transport);
	assert_string_equal(transport->xp_netid, "rdma");
	assert_true(SVC_CONTROL(transport, SVCSET_VERSQUIET, &quiet));
	assert_int_not_equal(transport->xp_port, 0);
	svc_destroy(transport);
	assert_null(rpcrdma_svc_create("no such name.invalid", 0));
	assert_int_equal(rpc_createerr.cf_stat, RPC_UNKNOWNADDR);
	assert_null(rpcrdma_svc_create("127.0.0.1", port));
	assert_int_equal(rpc_createerr.cf_stat, RPC_SYSTEMERROR);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_lists_go_both_ways, setup, teardown),
		cmocka_unit_test_setup_teardown(test_long_messages_go_both_ways, setup, teardown),
		cmocka_unit_test_setup_teardown(test_unions_and_fixed_opaque, setup, teardown),
		cmocka_unit_test_setup_teardown(test_data_goes_both_ways, setup, teardown),
		cmocka_unit_test_setup_teardown(test_auth_sys_reaches_the_server, setup, teardown),
		cmocka_unit_test_setup_teardown(
			test_what_the_server_answers_is_the_clnt_stat, setup, teardown),
		cmocka_unit_test_setup_teardown(test_what_does_not_encode_or_decode, setup, teardown),
		cmocka_unit_test_setup_teardown(test_without_a_server, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_call_runs_out_of_time, setup, teardown),
		cmocka_unit_test_setup_teardown(test_another_thread_aborts_a_call, setup, teardown),
		cmocka_unit_test_setup_teardown(test_threads_share_a_client, setup, teardown),
		cmocka_unit_test_setup_teardown(test_control, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_transport_ends, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
