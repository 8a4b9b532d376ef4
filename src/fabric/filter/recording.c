/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/filter/recording.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/address.h"
#include "base/crc32c.h"
#include "fabric/filter/filter.h"

/* ---- The file ---- */

/* A recording, to which fabrics of several threads may write. */
struct rr_recording {
	FILE *file;
	_Atomic uint32_t fabrics; /* filters so far: the number of the last one */
};

int
rr_recording_open(const char *path, struct rr_recording **recording, struct rr_text *text)
{
	struct rr_recording *new = calloc(1, sizeof(*new));

	if (!new)
		return rr_fail(text, -RPCRDMA_ERR_NOMEM, "no memory");
	new->file = fopen(path, "we");
	if (!new->file) {
		free(new);
		return rr_fail(text, -RPCRDMA_ERR_SYSTEM, "%s: %s", path, strerror(errno));
	}
	/* Lines are written at once: after a crash, the file has all of them, except perhaps the last. */
	setvbuf(new->file, NULL, _IOLBF, 1 << 16);
	fprintf(new->file, "rpcrdma-record 1\n");
	*recording = new;
	return 0;
}

int
rr_recording_close(struct rr_recording *recording, struct rr_text *text)
{
	int error = 0;

	if (!recording)
		return 0;
	if (ferror(recording->file))
		error = rr_fail(text, -RPCRDMA_ERR_SYSTEM, "not all of the record could be written");
	if (fclose(recording->file) && !error)
		error = rr_fail(text, -RPCRDMA_ERR_SYSTEM, "the record: %s", strerror(errno));
	free(recording);
	return error;
}

/* ---- Lines ---- */

/* The filter's fabric; its number is the first number of each of its lines. */
struct recording_fabric {
	struct rr_filter_fabric filter; /* comes first */
	struct rr_recording *recording;
	uint32_t number, endpoints; /* its own number; that of its last endpoint */
	uint64_t start;             /* the time from which its lines count */
};

/* An endpoint of the filter; its number is the second number of each of its lines. */
struct recording_endpoint {
	struct rr_filter_endpoint filter; /* comes first */
	uint32_t number;
};

static struct recording_fabric *
recording_fabric_of(struct rr_filter_endpoint *endpoint)
{
	return rr_container(rr_filter_fabric(endpoint), struct recording_fabric, filter);
}

/* Begins a line of the record: time, numbers of the fabric and the endpoint, and the name of the operation
 * or event (what). Locks the file, which recording_end_line() unlocks: other threads wait meanwhile. Returns
 * the file. */
static FILE *
recording_begin_line(const struct recording_fabric *fabric, uint32_t endpoint, const char *what)
{
	uint64_t now = rr_now(fabric->filter.env) - fabric->start;
	FILE *file = fabric->recording->file;

	flockfile(file);
	fprintf(file, "%" PRIu64 ".%06" PRIu64 " %" PRIu32 ".%" PRIu32 " %s", (uint64_t)(now / RR_SECOND),
		(uint64_t)(now % RR_SECOND / 1000), fabric->number, endpoint, what);
	return file;
}

/* Begins a line about an endpoint, as recording_begin_line() does; what: the name of the operation or event.
 */
static FILE *
recording_begin(struct rr_filter_endpoint *endpoint, const char *what)
{
	return recording_begin_line(recording_fabric_of(endpoint),
		rr_container(endpoint, struct recording_endpoint, filter)->number, what);
}

/* Ends the line that recording_begin_line() began, and unlocks the file. */
static void
recording_end_line(FILE *file)
{
	fputc('\n', file);
	funlockfile(file);
}

/* Ends a line with the result of an operation and unlocks the file. Returns that result. */
static int
recording_end_with(FILE *file, int result)
{
	fprintf(file, " = %d", result);
	recording_end_line(file);
	return result;
}

/* Writes octets to the line, in hexadecimal digits. */
static void
recording_put_octets(FILE *file, const void *data, size_t size)
{
	static const char digits[] = "0123456789abcdef";

	char text[1024];
	size_t used = 0;

	for (size_t i = 0; i < size; i++) {
		unsigned octet = ((const uint8_t *)data)[i];

		text[used++] = digits[octet >> 4];
		text[used++] = digits[octet & 15];
		if (used == sizeof(text)) {
			fwrite(text, 1, used, file);
			used = 0;
		}
	}
	if (used)
		fwrite(text, 1, used, file);
}

/* Writes " data=" and octets in hexadecimal digits to the line: private data, or the contents of a receive
 * buffer. */
static void
recording_put_data(FILE *file, const void *data, size_t size)
{
	fputs(" data=", file);
	recording_put_octets(file, data, size);
}

static void
recording_put_address(FILE *file, const struct sockaddr *address)
{
	char text[RR_ADDRESS_TEXT];

	rr_address_text(address, text, sizeof(text));
	fputs(text, file);
}

/* ---- Events ---- */

/* The names of the kinds of work requests. */
static const char *const kinds[] = { [RR_WORK_SEND] = "send",
	[RR_WORK_SEND_INVALIDATE] = "send-invalidate",
	[RR_WORK_WRITE] = "write",
	[RR_WORK_READ] = "read" };

/* Writes a line about an event of the endpoint below the filter, and passes the event to the owner of the
 * filter's endpoint. */
static void
recording_note_event(struct rr_filter_endpoint *endpoint, const struct rr_event *event)
{
	static const char *const events[] = { [RR_EVENT_ESTABLISHED] = "established",
		[RR_EVENT_DISCONNECTED] = "disconnected",
		[RR_EVENT_COMPLETED] = "completed",
		[RR_EVENT_RECEIVED] = "received" };
	FILE *file = recording_begin(endpoint, events[event->kind]);

	switch (event->kind) {
	case RR_EVENT_ESTABLISHED: recording_put_data(file, event->data, event->length); break;
	case RR_EVENT_DISCONNECTED:
		fprintf(file, " %d", event->status);
		recording_put_data(file, event->data, event->length);
		fprintf(file, " %s", event->text);
		break;
	case RR_EVENT_COMPLETED: fprintf(file, " %s %d", kinds[event->work], event->status); break;
	case RR_EVENT_RECEIVED:
		if (event->invalidated)
			fprintf(file, " invalidated=0x%08" PRIx32, event->invalidated_handle);
		recording_put_data(file, event->data, event->length);
		break;
	}
	recording_end_line(file);
	rr_filter_emit(endpoint, event);
}

/* Writes a line about a connection request, with its private data. */
static void
recording_note_request(struct rr_filter_endpoint *endpoint, const void *private_data, size_t size)
{
	FILE *file = recording_begin(endpoint, "request");

	recording_put_data(file, private_data, size);
	recording_end_line(file);
}

/* ---- Operations ---- */

/* Listens, and writes a line with the address that was asked for and, after " at=", the address that was
 * chosen. The number 0 shows that the line is about no endpoint. */
static int
recording_listen(struct rr_fabric *base, const struct rr_listen *how, struct rr_listener **listener,
	struct rr_text *text)
{
	struct rr_filter_fabric *filter = rr_filter_fabric_of(base);
	int error = rr_filter_listen(base, how, listener, text);
	FILE *file = recording_begin_line(rr_container(filter, struct recording_fabric, filter), 0, "listen");
	struct sockaddr_storage chosen;

	fputc(' ', file);
	recording_put_address(file, how->address);
	if (!error && rr_filter_listener_address(*listener, &chosen) == 0) {
		fputs(" at=", file);
		recording_put_address(file, (const struct sockaddr *)&chosen);
	}
	return recording_end_with(file, error);
}

/* Begins to connect, and writes a line with the address, the private data and the result. */
static int
recording_connect(struct rr_fabric *base, const struct rr_connect *how, struct rr_endpoint **endpoint,
	struct rr_text *text)
{
	struct rr_filter_fabric *filter = rr_filter_fabric_of(base);
	struct recording_fabric *fabric = rr_container(filter, struct recording_fabric, filter);
	int error = rr_filter_connect(base, how, endpoint, text);
	/* The new endpoint is the last one; 0 stands for no endpoint. */
	FILE *file = recording_begin_line(fabric, error ? 0 : fabric->endpoints, "connect");

	fputc(' ', file);
	recording_put_address(file, how->address);
	recording_put_data(file, how->private_data, how->private_size);
	return recording_end_with(file, error);
}

/* Writes a line with the private data of this side, accepts the connection, and adds the result to the
 * line. */
static int
recording_accept(struct rr_endpoint *base, const void *private_data, size_t private_size)
{
	struct rr_filter_endpoint *endpoint = rr_filter_endpoint_of(base);
	FILE *file = recording_begin(endpoint, "accept");

	recording_put_data(file, private_data, private_size);
	return recording_end_with(file, rr_filter_accept(base, private_data, private_size));
}

/* Writes a line with the private data of this side, and rejects the connection. */
static void
recording_reject(struct rr_endpoint *base, const void *private_data, size_t private_size)
{
	struct rr_filter_endpoint *endpoint = rr_filter_endpoint_of(base);
	FILE *file = recording_begin(endpoint, "reject");

	recording_put_data(file, private_data, private_size);
	recording_end_line(file);
	rr_filter_reject(base, private_data, private_size);
}

static void
recording_allow(struct rr_endpoint *base, uint32_t count)
{
	struct rr_filter_endpoint *endpoint = rr_filter_endpoint_of(base);
	FILE *file = recording_begin(endpoint, "allow");

	fprintf(file, " %" PRIu32, count);
	recording_end_line(file);
	rr_filter_allow(base, count);
}

/* Writes a work request to the line: its length, whether it has a cookie, its remote memory, and the octets
 * of a Send. Of an RDMA Write it writes a checksum in place of the octets; of a Read nothing, as its octets
 * have not come. */
static void
recording_put_work(FILE *file, const struct rr_work *work)
{
	uint32_t length = 0, crc = 0;

	for (uint32_t i = 0; i < work->sge_count; i++) {
		length += work->sges[i].length;
		if (work->kind != RR_WORK_READ)
			crc = rr_crc32c(crc, work->sges[i].addr, work->sges[i].length);
	}
	fprintf(file, " %" PRIu32 " cookie=%d", length, work->cookie != NULL);
	if (work->kind != RR_WORK_SEND)
		fprintf(file, " handle=0x%08" PRIx32, work->remote_handle);
	if (work->kind == RR_WORK_READ || work->kind == RR_WORK_WRITE)
		fprintf(file, " offset=0x%" PRIx64, work->remote_offset);
	if (work->kind == RR_WORK_WRITE)
		fprintf(file, " crc=%08" PRIx32, crc);
	if (work->kind == RR_WORK_READ || work->kind == RR_WORK_WRITE)
		return;
	fputs(" data=", file);
	for (uint32_t i = 0; i < work->sge_count; i++)
		recording_put_octets(file, work->sges[i].addr, work->sges[i].length);
}

/* Posts a work request, and writes a line with the request and the result. */
static int
recording_post(struct rr_endpoint *base, const struct rr_work *work)
{
	struct rr_filter_endpoint *endpoint = rr_filter_endpoint_of(base);
	int error = rr_filter_post(base, work);
	FILE *file = recording_begin(endpoint, kinds[work->kind]);

	recording_put_work(file, work);
	return recording_end_with(file, error);
}

static int
recording_kick(struct rr_endpoint *base)
{
	struct rr_filter_endpoint *endpoint = rr_filter_endpoint_of(base);
	int error = rr_filter_kick(base);

	return recording_end_with(recording_begin(endpoint, "kick"), error);
}

/* Registers a region, and writes a line with its length, the access (r: read, w: write) and, if this
 * succeeds, its handle and offset. */
static int
recording_register(
	struct rr_endpoint *base, void *addr, uint32_t length, unsigned access, struct rr_region *region)
{
	struct rr_filter_endpoint *endpoint = rr_filter_endpoint_of(base);
	int error = rr_filter_register(base, addr, length, access, region);
	FILE *file = recording_begin(endpoint, "register");

	fprintf(file, " %" PRIu32 " %s%s", length, access & RR_REMOTE_READ ? "r" : "",
		access & RR_REMOTE_WRITE ? "w" : "");
	if (!error)
		fprintf(file, " handle=0x%08" PRIx32 " offset=0x%" PRIx64, region->handle, region->offset);
	return recording_end_with(file, error);
}

/* Writes a line about the operation `what`, which ended the peer's access to a region. error: the result of
 * that operation. Returns error. */
static int
recording_end_region(struct rr_filter_endpoint *endpoint, const char *what, uint32_t handle, int error)
{
	FILE *file = recording_begin(endpoint, what);

	fprintf(file, " handle=0x%08" PRIx32, handle);
	return recording_end_with(file, error);
}

/* Invalidates a region, and writes a line about that with the region's handle. The handle is read before, as
 * the region is not valid after the call. */
static int
recording_invalidate(struct rr_endpoint *base, struct rr_region *region)
{
	struct rr_filter_endpoint *endpoint = rr_filter_endpoint_of(base);
	uint32_t handle = region->handle;

	return recording_end_region(endpoint, "invalidate", handle, rr_filter_invalidate(base, region));
}

/* Ends the peer's access to a region, and writes a line about that with the region's handle. */
static int
recording_revoke(struct rr_endpoint *base, struct rr_region *region)
{
	struct rr_filter_endpoint *endpoint = rr_filter_endpoint_of(base);
	uint32_t handle = region->handle;

	return recording_end_region(endpoint, "revoke", handle, rr_filter_revoke(base, region));
}

static void
recording_disconnect(struct rr_endpoint *base)
{
	struct rr_filter_endpoint *endpoint = rr_filter_endpoint_of(base);

	recording_end_line(recording_begin(endpoint, "disconnect"));
	rr_filter_disconnect(base);
}

static void
recording_close(struct rr_endpoint *base)
{
	struct rr_filter_endpoint *endpoint = rr_filter_endpoint_of(base);

	recording_end_line(recording_begin(endpoint, "close"));
	rr_filter_close(base);
}

/* ---- The filter ---- */

/* Gives a new endpoint its number. The lines of the record show this number. */
static void
recording_begin_endpoint(struct rr_filter_endpoint *endpoint)
{
	rr_container(endpoint, struct recording_endpoint, filter)->number =
		++recording_fabric_of(endpoint)->endpoints;
}

static const struct rr_fabric_ops recording_ops = {
	.destroy = rr_filter_destroy,
	.listen = recording_listen,
	.listener_address = rr_filter_listener_address,
	.unlisten = rr_filter_unlisten,
	.connect = recording_connect,
	.accept = recording_accept,
	.reject = recording_reject,
	.allow = recording_allow,
	.release = rr_filter_release,
	.is_short = rr_filter_is_short,
	.post = recording_post,
	.kick = recording_kick,
	.register_region = recording_register,
	.invalidate = recording_invalidate,
	.revoke = recording_revoke,
	.corrupt = rr_filter_corrupt,
	.disconnect = recording_disconnect,
	.close = recording_close,
};

int
rr_recording_fabric_new(struct rr_fabric *below, struct rr_recording *recording, struct rr_fabric **fabric)
{
	struct rr_filter_fabric *filter;
	struct recording_fabric *new;

	filter = rr_filter_new(below, &recording_ops, sizeof(*new));
	if (!filter)
		return -RPCRDMA_ERR_NOMEM;
	new = rr_container(filter, struct recording_fabric, filter);
	*fabric = &filter->base;
	new->recording = recording;
	new->number = ++recording->fabrics;
	new->start = rr_now(new->filter.env);
	new->filter.endpoint_size = sizeof(struct recording_endpoint);
	new->filter.begin = recording_begin_endpoint;
	new->filter.event = recording_note_event;
	new->filter.request = recording_note_request;
	return 0;
}
