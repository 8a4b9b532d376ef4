/* SPDX-License-Identifier: BSD-3-Clause */
/* Target functions: all that reads and writes parts of RPCSEC_GSS messages (wire/gss.h), and the window of
 * sequence numbers.
 *
 * Properties: what is read lies inside of the message, and is written as it was read; a body is that of its
 * number alone; a number of the window is taken once, and only within or above the window. */
#include "fuzz.h"
#include "rpc/auth/gss_window.h"
#include "wire/gss.h"

static const uint8_t *start;
static size_t length;

/* The octets lie inside of the message. */
static void
require_inside(struct rpcrdma_bytes bytes)
{
	const uint8_t *octets = bytes.data;

	rr_require(bytes.length == 0 || (octets >= start && octets + bytes.length <= start + length));
}

/* The writer has written the message, but for padding, which may be any octets in it. */
static void
require_written(const struct rpcrdma_xdr_writer *writer)
{
	rr_require(!writer->failed && rpcrdma_xdr_length(writer) == length);
}

static void
read_credential(uint8_t *out)
{
	struct rr_gss_cred cred, again;
	struct rpcrdma_xdr_writer writer;

	if (!rr_gss_get_cred((struct rpcrdma_bytes){ start, (uint32_t)length }, &cred) ||
		cred.version != RR_GSS_VERSION)
		return;
	require_inside(cred.handle);
	rr_require(length <= RR_AUTH_BODY_MAX + 3);
	rpcrdma_xdr_writer_init(&writer, out, length, NULL, 0);
	rr_gss_put_cred(&writer, &cred);
	require_written(&writer);
	rr_require(rr_gss_get_cred((struct rpcrdma_bytes){ out, (uint32_t)length }, &again));
	rr_require(again.proc == cred.proc && again.seq_num == cred.seq_num &&
		   again.service == cred.service && again.handle.length == cred.handle.length);
}

static void
read_creation(const struct rpcrdma_message *message, uint8_t *out)
{
	struct rpcrdma_xdr_reader reader;
	struct rpcrdma_xdr_writer writer;
	struct rr_gss_init_arg arg;
	struct rr_gss_init_res res;

	rpcrdma_xdr_reader_init(&reader, message, NULL);
	rr_gss_get_init_arg(&reader, &arg);
	if (rpcrdma_xdr_done(&reader)) {
		require_inside(arg.token);
		rpcrdma_xdr_writer_init(&writer, out, length, NULL, 0);
		rr_gss_put_init_arg(&writer, &arg);
		require_written(&writer);
	}
	rpcrdma_xdr_reader_init(&reader, message, NULL);
	rr_gss_get_init_res(&reader, &res);
	if (rpcrdma_xdr_done(&reader)) {
		require_inside(res.handle);
		require_inside(res.token);
		rpcrdma_xdr_writer_init(&writer, out, length, NULL, 0);
		rr_gss_put_init_res(&writer, &res);
		require_written(&writer);
	}
}

static void
read_body(const struct rpcrdma_message *message)
{
	struct rpcrdma_bytes data, checksum, body;

	if (rr_gss_get_integ(message, &data, &checksum)) {
		require_inside(data);
		require_inside(checksum);
		if (rr_gss_get_data(data, 7, &body)) {
			require_inside(body);
			rr_require(body.length + 4 == data.length && !rr_gss_get_data(data, 8, &body));
		}
	}
	if (rr_gss_get_priv(message, &data))
		require_inside(data);
}

/* The octets are steps from number to number, forwards and back. */
static void
take_numbers(void)
{
	struct rr_gss_window window = { 0 };
	uint32_t number = 1000;

	for (size_t i = 0; i + 1 < length; i += 2) {
		uint32_t newest = window.newest;
		int16_t step = (int16_t)(start[i] << 8 | start[i + 1]);

		number += (uint32_t)(int32_t)step;
		if (rr_gss_window_take(&window, number))
			rr_require(i == 0 || number > newest || newest - number < RR_GSS_WINDOW);
		else
			rr_require(number <= newest);
		rr_require(!rr_gss_window_take(&window, number));
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct rpcrdma_message message = { .stream = data, .length = (uint32_t)size };
	uint8_t *out = malloc(size + 1);

	rr_require(out != NULL);
	start = data;
	length = size;
	read_credential(out);
	read_creation(&message, out);
	read_body(&message);
	take_numbers();
	free(out);
	return 0;
}
