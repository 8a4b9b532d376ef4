/* SPDX-License-Identifier: BSD-3-Clause */
/* Target functions: rr_iwarp_received, rr_iwarp_output. What a peer may send, in pieces, to an iWARP
 * connection in either role that has regions, Receives, and an RDMA Read outstanding. The first octet chooses
 * the role, CRC and the pieces. */
#include "fabric/iwarp/protocol.h"
#include "fuzz.h"

enum { REGION = 256, PIECES = 64 };

static struct rr_region region;
static bool read_posted;
static uint8_t exposed[REGION], sink[REGION];

static void
random_zero(void *ctx, void *data, size_t size)
{
	(void)ctx;
	memset(data, 0, size);
}

static void
handler(void *ctx, const struct rr_event *event)
{
	struct rr_iwarp *iwarp = ctx;

	if (event->kind == RR_EVENT_RECEIVED)
		rr_receives_put(&iwarp->shared->receives, event->data);
}

static void
wake(struct rr_receive_wait *wait)
{
	(void)wait;
}

static void
write_out(struct rr_iwarp *iwarp)
{
	const struct iovec *vectors;
	uint32_t count;

	while ((count = rr_iwarp_output(iwarp, &vectors)) > 0) {
		size_t size = 0;

		for (uint32_t i = 0; i < count; i++)
			size += vectors[i].iov_len;
		rr_iwarp_taken(iwarp, size);
	}
}

static void
open_engine(struct rr_iwarp *iwarp)
{
	struct rr_sge sge = { sink, REGION };
	struct rr_work work = { RR_WORK_READ, 1, &sge, 0x1234, 0, sink };

	if (iwarp->state == RR_IWARP_ASKED && rr_iwarp_accept(iwarp, "12345678", 8) < 0)
		abort();
	if (iwarp->state == RR_IWARP_OPEN && !read_posted) {
		read_posted = true;
		rr_iwarp_post(iwarp, &work);
	}
}

/* Gives the iWARP connection what it asks for, until there is no more. */
static void
feed(struct rr_iwarp *iwarp, const uint8_t *data, size_t size, size_t piece)
{
	struct iovec vectors[2];

	while (size > 0) {
		int count = rr_iwarp_space(iwarp, vectors);
		size_t given = 0;

		for (int i = 0; i < count && given < piece && size > 0; i++) {
			size_t part = vectors[i].iov_len < size ? vectors[i].iov_len : size;

			part = part < piece - given ? part : piece - given;
			memcpy(vectors[i].iov_base, data, part);
			data += part;
			size -= part;
			given += part;
			if (part < vectors[i].iov_len)
				break;
		}
		if (given == 0)
			return;
		rr_iwarp_received(iwarp, given);
		open_engine(iwarp);
		write_out(iwarp);
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct rr_fabric_config config = rr_fabric_config_default;
	struct rr_env env = rr_env_system;
	struct rr_iwarp_shared shared = { .env = &env, .config = &config };
	struct rr_iwarp iwarp = { .base = { .handler = handler, .ctx = &iwarp } };
	bool responder;

	if (size == 0)
		return 0;
	responder = data[0] & 1;
	env.random = random_zero;
	env.log = NULL;
	config.crc = data[0] & 2;
	rr_require(rr_iwarp_shared_init(&shared) == 0);
	rr_iwarp_init(&iwarp, &shared);
	iwarp.wait.wake = wake;
	read_posted = false;
	iwarp.allowed = 4;
	rr_require((responder ? rr_iwarp_respond(&iwarp) : rr_iwarp_initiate(&iwarp, "12345678", 8)) == 0);
	rr_require(rr_regions_add(
			   &iwarp.regions, exposed, REGION, RR_REMOTE_READ | RR_REMOTE_WRITE, &region) == 0);
	write_out(&iwarp);
	feed(&iwarp, data + 1, size - 1, data[0] >> 2 ? data[0] >> 2 : SIZE_MAX);
	rr_iwarp_eof(&iwarp);
	rr_iwarp_flush(&iwarp);
	rr_iwarp_release(&iwarp);
	rr_iwarp_shared_destroy(&shared);
	return 0;
}
