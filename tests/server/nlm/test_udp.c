/* SPDX-License-Identifier: BSD-3-Clause */
/* NLM and NSM over UDP, by datagrams that the test writes itself. */
#include "lockd.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/endian.h"
#include "carrier/udp/udp.h"

enum { ROOM = 16384, SOCKETS = 200 };

static struct lockd_scene scene;
static struct lockd *const a = &scene.hosts[0], *const b = &scene.hosts[1];
static struct rpcrdma_server *datagrams;
static struct sockaddr_in address;
static int from;
static uint8_t octets[ROOM];
static uint32_t length;

static int
udp_socket(const char *to)
{
	struct sockaddr_in called = address;
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	inet_pton(AF_INET, to, &called.sin_addr);
	assert_int_equal(connect(fd, (struct sockaddr *)&called, sizeof(called)), 0);
	return fd;
}

static int
setup(void **state)
{
	struct rr_service services[RR_NLM_SERVICES];

	scene_begin(state, &scene);
	rr_nlm_server_services(scene.world->nlm, services);
	assert_int_equal(rr_server_new(scene.world->stage.engine, &rr_server_config_default, services,
				 RR_NLM_SERVICES, &datagrams),
		0);
	address = (struct sockaddr_in){ .sin_family = AF_INET };
	{
		struct rr_text text;

		if (rr_server_listen(datagrams, RR_TRANSPORT_UDP, (struct sockaddr *)&address,
			    sizeof(address), NULL, &text) < 0)
			fail_msg("%s", text.text);
	}
	from = udp_socket("127.0.0.1");
	return 0;
}

static int
teardown(void **state)
{
	close(from);
	rr_server_free(datagrams);
	return scene_end(state, &scene);
}

static void
put(uint32_t word)
{
	rr_put_be32(octets + length, word);
	length += 4;
}

static void
put_opaque(const void *data, uint32_t size)
{
	put(size);
	memset(octets + length, 0, (size + 3) & ~3u);
	memcpy(octets + length, data, size);
	length += (size + 3) & ~3u;
}

static void
begin(uint32_t xid, uint32_t prog, uint32_t vers, uint32_t proc)
{
	const uint32_t header[] = { xid, 0, 2, prog, vers, proc, 0, 0, 0, 0 };

	length = 0;
	for (size_t i = 0; i < sizeof(header) / sizeof(*header); i++)
		put(header[i]);
}

static void
put_lock(const char *name, const void *oh, uint32_t oh_length, uint32_t svid)
{
	put_opaque(name, (uint32_t)strlen(name));
	put_opaque(scene.fh.data, scene.fh.length);
	put_opaque(oh, oh_length);
	put(svid);
	for (int i = 0; i < 3; i++)
		put(0);
	put(10);
}

/* Receives the answer; returns its length. The first word is the XID, the sixth the status. */
static uint32_t
answer(int fd)
{
	ssize_t got = -1;

	stage_until(&scene.world->stage, (got = recv(fd, octets, sizeof(octets), 0)) >= 0);
	return (uint32_t)got;
}

static void
send_it(int fd)
{
	assert_int_equal(send(fd, octets, length, 0), length);
}

static void
notify(int fd, uint32_t xid, const char *name, uint32_t state)
{
	begin(xid, SM_PROG, SM_VERS, SM_NOTIFY);
	put_opaque(name, (uint32_t)strlen(name));
	put(state);
	send_it(fd);
}

/* Linux's sm-notify speaks UDP alone: a host that says so that it has restarted loses its locks. */
static void
a_host_restarts_by_datagram(void **state)
{
	(void)state;
	assert_int_equal(lockd_lock(a, 1, 0, 10, true), NLM4_GRANTED);
	notify(from, 77, "a", 5);
	assert_int_equal(answer(from), 24);
	assert_int_equal(rr_get_be32(octets), 77);
	assert_int_equal(rr_get_be32(octets + 20), 0);
	stage_settle(&scene.world->stage);
	assert_int_equal(lockd_lock(b, 1, 0, 10, true), NLM4_GRANTED);
}

/* A lock by UDP is the same as one by TCP, and the answer comes from the address that was asked. */
static void
a_lock_is_taken_by_datagram(void **state)
{
	int other = udp_socket("127.0.0.2");

	(void)state;
	begin(1, NLM_PROG, NLM4_VERS, NLMPROC4_LOCK);
	put_opaque("c", 1);
	put(0);
	put(1);
	put_lock("a", "oh", 2, 1);
	put(0);
	put(3);
	send_it(other);
	assert_int_equal(answer(other), 36);
	assert_int_equal(rr_get_be32(octets + 32), NLM4_GRANTED);
	assert_int_equal(lockd_lock(b, 1, 0, 10, true), NLM4_DENIED);
	assert_int_equal(lockd_unlock(a, 1, 0, 10), NLM4_GRANTED);
	assert_int_equal(lockd_lock(b, 1, 0, 10, true), NLM4_GRANTED);
	close(other);
}

/* Forged calls bring nobody more than three times their octets. */
static void
an_answer_is_not_much_larger_than_its_call(void **state)
{
	static const char zeros[1000];
	char owner[1001] = { 0 };
	struct lockd_range range = { .svid = 1, .oh = owner, .length = 10, .exclusive = true };

	(void)state;
	memset(owner, 'x', sizeof(owner) - 1);
	assert_int_equal(lockd_call(a, NLMPROC4_LOCK, &range), NLM4_GRANTED);
	begin(1, NLM_PROG, NLM4_VERS, NLMPROC4_TEST);
	put_opaque("c", 1);
	put(1);
	put_lock("b", "oh", 2, 1);
	send_it(from);
	/* The next call is answered, so this one was before. */
	notify(from, 2, "a", 3);
	answer(from);
	assert_int_equal(rr_get_be32(octets), 2);
	begin(3, NLM_PROG, NLM4_VERS, NLMPROC4_TEST);
	put_opaque("c", 1);
	put(1);
	put_lock("b", zeros, sizeof(zeros), 1);
	send_it(from);
	assert_in_range(answer(from), 1024, 1200);
	assert_int_equal(rr_get_be32(octets), 3);
}

/* NFS is never served over UDP. */
static void
nfs_is_not_there(void **state)
{
	(void)state;
	begin(9, 100003, 3, 0);
	send_it(from);
	answer(from);
	assert_int_equal(rr_get_be32(octets), 9);
	assert_int_equal(rr_get_be32(octets + 20), 1); /* PROG_UNAVAIL */
}

/* What is no call is not answered, whatever it is; calls after it are. */
static void
datagrams_that_are_no_calls_are_dropped(void **state)
{
	static const uint32_t lengths[] = { 0, 1, 3, 4, 39, 41, 44, 1000, 8192, 8200, 8704, 8705, 9000,
		16000 };

	(void)state;
	for (size_t i = 0; i < sizeof(lengths) / sizeof(*lengths); i++) {
		memset(octets, (int)(i * 37), sizeof(octets));
		if (send(from, octets, lengths[i], 0) < 0)
			assert_int_equal(errno, EMSGSIZE);
		stage_settle(&scene.world->stage);
	}
	/* A reply, which nobody waits for; and each truncation of a good call. */
	begin(5, SM_PROG, SM_VERS, SM_NOTIFY);
	put_opaque("a", 1);
	put(9);
	for (uint32_t whole = length, part = 0; part < whole; part += 4) {
		send(from, octets, part, 0);
		stage_settle(&scene.world->stage);
	}
	while (recv(from, octets, sizeof(octets), 0) >= 0)
		continue;
	assert_int_equal(lockd_lock(a, 1, 0, 10, true), NLM4_GRANTED);
	notify(from, 78, "a", 5);
	answer(from);
	assert_int_equal(rr_get_be32(octets), 78);
}

/* Calls from very many addresses and ports: a few are kept at a time, and all are served in the end. */
static void
very_many_peers_are_bounded(void **state)
{
	static int sockets[SOCKETS];
	uint32_t answered = 0;

	(void)state;
	for (int i = 0; i < SOCKETS; i++)
		sockets[i] = udp_socket("127.0.0.1");
	for (int round = 0; round < 8; round++) {
		for (int i = 0; i < SOCKETS; i++)
			notify(sockets[i], (uint32_t)i, "a", 5);
		stage_settle(&scene.world->stage);
		assert_in_range(rr_server_connections(datagrams), 1, RR_UDP_PEERS);
		for (int i = 0; i < SOCKETS; i++)
			answered += recv(sockets[i], octets, sizeof(octets), 0) > 0;
	}
	assert_in_range(answered, RR_UDP_PEERS, 8 * SOCKETS);
	assert_int_equal(lockd_lock(a, 1, 0, 10, true), NLM4_GRANTED);
	stage_pass(&scene.world->stage, 100 * RR_SECOND);
	stage_pass(&scene.world->stage, 100 * RR_SECOND);
	assert_int_equal(rr_server_connections(datagrams), 0);
	for (int i = 0; i < SOCKETS; i++)
		close(sockets[i]);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_host_restarts_by_datagram, setup, teardown),
		cmocka_unit_test_setup_teardown(a_lock_is_taken_by_datagram, setup, teardown),
		cmocka_unit_test_setup_teardown(an_answer_is_not_much_larger_than_its_call, setup, teardown),
		cmocka_unit_test_setup_teardown(nfs_is_not_there, setup, teardown),
		cmocka_unit_test_setup_teardown(datagrams_that_are_no_calls_are_dropped, setup, teardown),
		cmocka_unit_test_setup_teardown(very_many_peers_are_bounded, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
