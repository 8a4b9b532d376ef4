/* SPDX-License-Identifier: BSD-3-Clause */
#include "raw.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <unistd.h>

#include "base/endian.h"
#include "wire/rpc.h"

int
raw_connect(struct world *world)
{
	static const int on = 1;
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	assert_true(fd >= 0);
	assert_int_equal(connect(fd, (struct sockaddr *)&world->address, sizeof(world->address)), 0);
	assert_int_equal(fcntl(fd, F_SETFL, O_NONBLOCK), 0);
	assert_int_equal(setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)), 0);
	return fd;
}

int
raw_listen(struct sockaddr_in *address)
{
	*address = (struct sockaddr_in){ .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	return raw_listen_at(address);
}

int
raw_listen_at(struct sockaddr_in *address)
{
	static const int on = 1;
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
	socklen_t size = sizeof(*address);

	assert_true(fd >= 0);
	assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)), 0);
	assert_int_equal(bind(fd, (struct sockaddr *)address, size), 0);
	assert_int_equal(listen(fd, 8), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)address, &size), 0);
	return fd;
}

int
raw_accept(struct world *world, int listener)
{
	int fd = -1;

	world_until(world, (fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK)) >= 0);
	return fd;
}

/* Sends the octets, and turns the world while the peer takes none. */
void
raw_send(struct world *world, int fd, const void *data, size_t size)
{
	const uint8_t *next = data;
	time_t began = test_seconds();

	while (size > 0) {
		ssize_t sent = send(fd, next, size, MSG_NOSIGNAL);

		test_wait(began, "the peer takes octets");
		if (sent < 0 && errno != EAGAIN)
			break; /* the peer closed the connection */
		if (sent > 0) {
			next += sent;
			size -= (size_t)sent;
		} else {
			world_turn(world);
		}
	}
}

void
raw_send_record(struct world *world, int fd, const void *data, size_t size)
{
	uint8_t record[4 + 4096];

	assert_true(size <= 4096);
	rr_put_be32(record, rr_record_mark((uint32_t)size, true));
	if (size > 0)
		memcpy(record + 4, data, size);
	raw_send(world, fd, record, 4 + size);
}

/* Receives size octets. False: the connection ended. */
static bool
receive(struct world *world, int fd, void *data, size_t size)
{
	uint8_t *next = data;
	time_t began = test_seconds();

	while (size > 0) {
		ssize_t got = recv(fd, next, size, 0);

		if (got == 0 || (got < 0 && errno == ECONNRESET))
			return false;
		test_wait(began, "octets come");
		if (got < 0) {
			world_turn(world);
			continue;
		}
		next += got;
		size -= (size_t)got;
	}
	return true;
}

size_t
raw_receive(struct world *world, int fd, void *data, size_t size)
{
	uint8_t mark[4];
	uint32_t length;

	if (!receive(world, fd, mark, sizeof(mark)))
		return 0;
	length = rr_get_be32(mark) & ~RR_RECORD_LAST;
	assert_true(rr_get_be32(mark) & RR_RECORD_LAST);
	assert_true(length <= size);
	assert_true(receive(world, fd, data, length));
	return length;
}

void
assert_closed(struct world *world, int fd)
{
	uint8_t octet;

	assert_false(receive(world, fd, &octet, 1));
	close(fd);
}

/* Receives a reply, and checks that it has exactly these octets. */
void
assert_reply(struct world *world, int fd, const char *hex)
{
	struct rr_octets expected = rr_hex(hex);
	uint8_t reply[1024];
	size_t size = raw_receive(world, fd, reply, sizeof(reply));

	assert_int_equal(size, expected.size);
	assert_memory_equal(reply, expected.data, size);
}

void
raw_send_hex(struct world *world, int fd, const char *hex)
{
	struct rr_octets octets = rr_hex(hex);

	raw_send_record(world, fd, octets.data, octets.size);
}

void
assert_alive(struct world *world, int fd)
{
	raw_send_hex(world, fd,
		"0000002a 00000000 00000002 20000099 00000003 00000000 00000000 00000000 00000000 00000000");
	assert_reply(world, fd, "0000002a 00000001 00000000 00000000 00000000 00000000");
	close(fd);
	world_settle(world);
	assert_int_equal(world_memory(world), 0);
}
