/* SPDX-License-Identifier: BSD-3-Clause */
#include "decode/judge/judge_private.h"

#include <string.h>

/* Tells whether the RDMA connection is between the same two hosts as a TCP connection with these ends, and
 * was opened by the same one of them. */
static bool
tcp_same_hosts(const struct rr_judge_connection *connection, const struct rr_packet_end *ends)
{
	const struct rr_packet_end *own = connection->ends;
	size_t size = sizeof(ends[0].address);

	if (own[0].family != ends[0].family)
		return false;
	return memcmp(own[0].address, ends[0].address, size) == 0 &&
	       memcmp(own[1].address, ends[1].address, size) == 0;
}

/* Looks for an NFS call at the front of data, which are octets of a TCP connection that is not MPA: a record
 * mark, then the call. Reports a call if the same two hosts also have an RDMA connection with messages. NULL
 * calls do not count: programs send them over TCP to see whether a server runs. Returns true after a finding,
 * as one finding for each TCP connection is enough; false asks for later octets. */
bool
rr_judge_foreign(void *ctx, const struct rr_moment *moment, struct rpcrdma_bytes data)
{
	struct rpcrdma_message stream = { 0 };
	struct rr_judge *judge = ctx;
	struct rpcrdma_xdr_reader reader;
	struct rr_call_header call;

	if (data.length < RR_RECORD_MARK_SIZE)
		return false;
	stream.stream = (const uint8_t *)data.data + RR_RECORD_MARK_SIZE;
	stream.length = data.length - RR_RECORD_MARK_SIZE;
	rpcrdma_xdr_reader_init(&reader, &stream, NULL);
	if (!rr_rpc_get_call(&reader, &call) || call.prog != 100003 || call.proc == 0)
		return false;
	rr_list_for_each (link, &judge->connection_ages) {
		const struct rr_judge_connection *connection =
			rr_container(link, struct rr_judge_connection, age);

		if (!connection->has_messages || !tcp_same_hosts(connection, moment->ends))
			continue;
		rr_judge_find(judge, RR_RULE_TCP, moment, &call.xid, "the RDMA connection is number %u",
			connection->number);
		return true;
	}
	return false;
}
