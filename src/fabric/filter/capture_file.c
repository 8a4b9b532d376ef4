/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/filter/capture_private.h"

#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/address.h"
#include "base/checked.h"
#include "base/endian.h"
#include "base/env.h"

/* Sizes in octets; the most octets of a message in one segment. */
enum { IP4_SIZE = 20, IP6_SIZE = 40, TCP_SIZE = 20, SEGMENT_MAX = 32768 };

/* A capture, and the function that takes its packets. */
struct rr_capture {
	pthread_mutex_t lock; /* of all that follows: packets are made one at a time */
	FILE *file;           /* NULL: packet() is the function of a caller, and there is no file */
	void (*packet)(void *ctx, uint64_t time, const void *data, size_t size);
	void *ctx;                 /* of packet() */
	void (*failed)(void *ctx); /* NULL, or set by rr_capture_on_failure() */
	void *failed_ctx;
	uint64_t waits_since; /* ns: the time of the first call of this side after which nothing has come; 0:
				 there is no such call */
	uint8_t octets[RR_CAPTURE_PACKET_MAX]; /* the packet that is being made */
};

/* Writes a packet to a file (ctx is its FILE), in the format of pcapng. */
static void
capture_to_file(void *ctx, uint64_t time, const void *data, size_t size)
{
	rr_capture_put_packet(ctx, time, data, (uint32_t)size, (uint32_t)size);
}

int
rr_capture_new(void (*packet)(void *ctx, uint64_t time, const void *data, size_t size), void *ctx,
	struct rr_capture **capture)
{
	struct rr_capture *new = calloc(1, sizeof(*new));

	*capture = new;
	if (!new)
		return -RPCRDMA_ERR_NOMEM;
	pthread_mutex_init(&new->lock, NULL);
	new->packet = packet;
	new->ctx = ctx;
	return 0;
}

int
rr_capture_open(const char *path, struct rr_capture **capture, struct rr_text *text)
{
	FILE *file = fopen(path, "we");

	if (!file)
		return rr_fail(text, -RPCRDMA_ERR_SYSTEM, "%s: %s", path, strerror(errno));
	if (rr_capture_new(capture_to_file, file, capture) < 0) {
		fclose(file);
		return rr_fail(text, -RPCRDMA_ERR_NOMEM, "no memory");
	}
	(*capture)->file = file;
	rr_capture_begin_file(file);
	return 0;
}

int
rr_capture_close(struct rr_capture *capture, struct rr_text *text)
{
	int error = 0;

	if (!capture)
		return 0;
	if (capture->file && ferror(capture->file))
		error = rr_fail(text, -RPCRDMA_ERR_SYSTEM, "not all of the capture could be written");
	if (capture->file && fclose(capture->file) && !error)
		error = rr_fail(text, -RPCRDMA_ERR_SYSTEM, "the capture: %s", strerror(errno));
	pthread_mutex_destroy(&capture->lock);
	free(capture);
	return error;
}

/* ---- What a recorder wants to know ---- */

void
rr_capture_on_failure(struct rr_capture *capture, void (*failed)(void *ctx), void *ctx)
{
	capture->failed = failed;
	capture->failed_ctx = ctx;
}

void
rr_capture_failed(const struct rr_capture *capture)
{
	if (capture->failed)
		capture->failed(capture->failed_ctx);
}

void
rr_capture_set_waiting(struct rr_capture *capture, bool waits)
{
	pthread_mutex_lock(&capture->lock);
	if (!waits)
		capture->waits_since = 0;
	else if (capture->waits_since == 0) /* else an earlier call waits since then */
		capture->waits_since = rr_now(&rr_env_system);
	pthread_mutex_unlock(&capture->lock);
}

uint64_t
rr_capture_waits_since(struct rr_capture *capture)
{
	uint64_t since;

	pthread_mutex_lock(&capture->lock);
	since = capture->waits_since;
	pthread_mutex_unlock(&capture->lock);
	return since;
}

/* ---- Packets ---- */

/* Writes an IPv4 header to out, with the addresses in from and to, for a packet with size octets behind the
 * header. Returns the size of the header. */
static uint32_t
capture_ip4(
	uint8_t *out, const struct sockaddr_storage *from, const struct sockaddr_storage *to, uint32_t size)
{
	memset(out, 0, IP4_SIZE);
	out[0] = 0x45; /* version 4, a header of five words */
	rr_put_be16(out + 2, (uint16_t)(IP4_SIZE + size));
	rr_put_be16(out + 6, 0x4000); /* Don't Fragment */
	out[8] = 64;                  /* Time to Live */
	out[9] = IPPROTO_TCP;
	memcpy(out + 12, &((const struct sockaddr_in *)from)->sin_addr, 4);
	memcpy(out + 16, &((const struct sockaddr_in *)to)->sin_addr, 4);
	return IP4_SIZE;
}

/* Writes an IPv6 header to out, with the addresses in from and to, for a packet with size octets behind the
 * header. Returns the size of the header. */
static uint32_t
capture_ip6(
	uint8_t *out, const struct sockaddr_storage *from, const struct sockaddr_storage *to, uint32_t size)
{
	memset(out, 0, IP6_SIZE);
	out[0] = 0x60; /* version 6 */
	rr_put_be16(out + 4, (uint16_t)size);
	out[6] = IPPROTO_TCP;
	out[7] = 64; /* Hop Limit */
	memcpy(out + 8, &((const struct sockaddr_in6 *)from)->sin6_addr, 16);
	memcpy(out + 24, &((const struct sockaddr_in6 *)to)->sin6_addr, 16);
	return IP6_SIZE;
}

/* Writes the IP and TCP headers of a packet to capture->octets, with checksums of 0. Side `from` sends the
 * packet, which has a payload of size octets. Returns the offset at which the caller is to put the payload.
 */
static uint32_t
capture_head(struct rr_capture *capture, const struct rr_capture_flow *flow, uint8_t from, uint8_t flags,
	uint32_t size)
{
	const struct sockaddr_storage *source = &flow->ends[from], *target = &flow->ends[!from];
	bool is_six = flow->ends[0].ss_family == AF_INET6;
	uint32_t at = (is_six ? capture_ip6 : capture_ip4)(capture->octets, source, target, TCP_SIZE + size);
	uint8_t *tcp = capture->octets + at;

	memset(tcp, 0, TCP_SIZE);
	rr_put_be16(tcp, rr_address_port((const struct sockaddr *)source));
	rr_put_be16(tcp + 2, rr_address_port((const struct sockaddr *)target));
	rr_put_be32(tcp + 4, flow->sequence[from]);
	rr_put_be32(tcp + 8, flow->sequence[!from]);
	tcp[12] = TCP_SIZE / 4 << 4; /* Data Offset, in words */
	tcp[13] = flags;
	rr_put_be16(tcp + 14, 0xffff); /* Window */
	return at + TCP_SIZE;
}

/* Calls the capture's function with the present time and the packet in capture->octets, which has `at` octets
 * of headers and size octets of payload. Advances the TCP sequence number of the sending side. The caller
 * must hold capture->lock. */
static void
capture_put(struct rr_capture *capture, struct rr_capture_flow *flow, uint8_t from, uint8_t flags,
	uint32_t at, uint32_t size)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	capture->packet(capture->ctx, (uint64_t)now.tv_sec * RR_SECOND + (uint64_t)now.tv_nsec,
		capture->octets, at + size);
	flow->sequence[from] += size + (flags & (RR_CAPTURE_SYN | RR_CAPTURE_FIN) ? 1 : 0);
}

/* Writes a packet to the capture: a TCP segment that side `from` sends, with size octets at data. */
static void
capture_segment(struct rr_capture *capture, struct rr_capture_flow *flow, uint8_t from, uint8_t flags,
	const void *data, uint32_t size)
{
	uint32_t at;

	pthread_mutex_lock(&capture->lock);
	at = capture_head(capture, flow, from, flags, size);
	if (size > 0)
		memcpy(capture->octets + at, data, size);
	capture_put(capture, flow, from, flags, at, size);
	pthread_mutex_unlock(&capture->lock);
}

/* Writes an MPA frame with the private data to the capture. Side 0 sends the request that opens the
 * connection, side 1 the reply. rejected: the reply declines the connection. */
static void
capture_mpa(struct rr_capture *capture, struct rr_capture_flow *flow, uint8_t from, struct rpcrdma_bytes data,
	bool rejected)
{
	const struct rr_mpa_frame frame = { .reply = from == 1,
		.reject = rejected,
		.revision = 1,
		.private_data = data.data,
		.private_data_length = (uint16_t)rr_min(data.length, RR_MPA_PRIVATE_MAX) };
	uint8_t out[RR_MPA_FRAME_MAX];

	capture_segment(
		capture, flow, from, RR_CAPTURE_ACK, out, (uint32_t)rr_mpa_put(out, sizeof(out), &frame));
}

void
rr_capture_opened(struct rr_capture *capture, struct rr_capture_flow *flow, struct rpcrdma_bytes first,
	struct rpcrdma_bytes second, bool rejected)
{
	capture_segment(capture, flow, 0, RR_CAPTURE_SYN, NULL, 0);
	capture_segment(capture, flow, 1, RR_CAPTURE_SYN | RR_CAPTURE_ACK, NULL, 0);
	capture_mpa(capture, flow, 0, first, false);
	capture_mpa(capture, flow, 1, second, rejected);
}

void
rr_capture_closed(struct rr_capture *capture, struct rr_capture_flow *flow, uint8_t from)
{
	capture_segment(capture, flow, from, RR_CAPTURE_FIN | RR_CAPTURE_ACK, NULL, 0);
	if (capture->file)
		fflush(capture->file);
}

/* ---- DDP ---- */

/* Copies size octets to out. The octets of all sges count as one string of octets, and the copy begins at
 * octet `from` of that string. */
static void
capture_gather(uint8_t *out, const struct rr_sge *sges, uint32_t count, uint32_t from, uint32_t size)
{
	for (uint32_t i = 0; i < count && size > 0; i++) {
		uint32_t part;

		if (from >= sges[i].length) {
			from -= sges[i].length;
			continue;
		}
		part = (uint32_t)rr_min(sges[i].length - from, size);
		memcpy(out, (const uint8_t *)sges[i].addr + from, part);
		out += part;
		size -= part;
		from = 0;
	}
}

/* A segment of a DDP message. */
struct capture_segment {
	const struct rr_ddp_header *header;
	const struct rr_sge *sges; /* the whole message */
	uint32_t sge_count;
	uint32_t begin, size; /* the octets of the message that are in the segment */
};

/* Writes a packet with one FPDU to the capture. The FPDU has a segment of a DDP message. Its CRC is 0, as
 * the MPA frames say that CRCs are not in use. */
static void
capture_fpdu(struct rr_capture *capture, struct rr_capture_flow *flow, uint8_t from,
	const struct capture_segment *segment)
{
	const struct rr_ddp_header *header = segment->header;
	uint32_t head = RR_FPDU_LENGTH_SIZE + (uint32_t)rr_ddp_header_size(header->tagged), whole, at;
	uint32_t size = segment->size;
	uint8_t *out;

	whole = (uint32_t)rr_fpdu_size(head - RR_FPDU_LENGTH_SIZE + size);
	pthread_mutex_lock(&capture->lock);
	at = capture_head(capture, flow, from, RR_CAPTURE_ACK, whole);
	out = capture->octets + at;
	memset(out + head + size, 0, whole - head - size);
	rr_put_be16(out, (uint16_t)(head - RR_FPDU_LENGTH_SIZE + size));
	rr_ddp_put(out + RR_FPDU_LENGTH_SIZE, header);
	capture_gather(out + head, segment->sges, segment->sge_count, segment->begin, size);
	capture_put(capture, flow, from, RR_CAPTURE_ACK, at, whole);
	pthread_mutex_unlock(&capture->lock);
}

void
rr_capture_message(struct rr_capture *capture, struct rr_capture_flow *flow, uint8_t from,
	struct rr_ddp_header header, const struct rr_sge *sges, uint32_t sge_count)
{
	uint32_t total = 0, at = 0;

	for (uint32_t i = 0; i < sge_count; i++)
		total += sges[i].length;
	if (!header.tagged)
		header.msn = ++flow->msn[from][header.queue];
	do {
		uint32_t size = (uint32_t)rr_min(total - at, SEGMENT_MAX);

		header.last = at + size == total;
		capture_fpdu(
			capture, flow, from, &(struct capture_segment){ &header, sges, sge_count, at, size });
		at += size;
		header.mo = header.tagged ? 0 : at;
		header.to += size;
	} while (at < total);
}

uint32_t
rr_capture_read_request(struct rr_capture *capture, struct rr_capture_flow *flow, uint8_t from,
	uint32_t handle, uint64_t offset, uint32_t size)
{
	const struct rr_ddp_header header = { .opcode = RR_RDMAP_READ_REQUEST,
		.queue = RR_DDP_QUEUE_READ_REQUEST };
	const struct rr_read_request request = {
		.sink_stag = ++flow->sinks, .size = size, .source_stag = handle, .source_to = offset
	};
	uint8_t octets[RR_READ_REQUEST_SIZE];
	const struct rr_sge sge = { octets, sizeof(octets) };

	rr_read_request_put(octets, &request);
	rr_capture_message(capture, flow, from, header, &sge, 1);
	return request.sink_stag;
}

void
rr_capture_read_response(struct rr_capture *capture, struct rr_capture_flow *flow, uint8_t from,
	uint32_t sink, const void *data, uint32_t size)
{
	const struct rr_ddp_header header = {
		.tagged = true, .opcode = RR_RDMAP_READ_RESPONSE, .stag = sink
	};
	const struct rr_sge sge = { data, size };

	rr_capture_message(capture, flow, from, header, &sge, 1);
}
