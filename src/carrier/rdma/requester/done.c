/* SPDX-License-Identifier: BSD-3-Clause */
#include "carrier/rdma/requester/done.h"

#include "base/probe.h"
#include "wire/rpcrdma2.h"

/* An RDMA_DONE on its way. It belongs to its connection, from rr_done_send() to the completion of its
 * Send. */
struct done {
	struct rr_connection *connection;
	struct rr_list link;
	struct rr_chain chain;
	bool posted, owes_receive;
	uint32_t handle;
	uint8_t header[RR_RDMA_FIXED_SIZE];
};

/* Fills in the Send of the RDMA_DONE; it is a Send With Invalidate if a handle is to be invalidated. Returns
 * false if the Send was posted already. draft-cel-nfsv4-rpcrdma-reliable-reply-02, 4.1.4: "If Remote
 * Invalidation support is indicated by both peers, messages carrying pull completion messages SHOULD be
 * transmitted using RDMA Send With Invalidate", and if not, they "MUST be transmitted using RDMA Send". */
static bool
done_next_work(struct rr_chain *chain, struct rr_work *work, struct rr_sge *sges, uint32_t sge_max)
{
	struct done *done = rr_container(chain, struct done, chain);

	(void)sge_max;
	if (done->posted)
		return false;
	done->posted = true;
	sges[0] = (struct rr_sge){ done->header, sizeof(done->header) };
	work->kind = done->handle ? RR_WORK_SEND_INVALIDATE : RR_WORK_SEND;
	work->remote_handle = done->handle;
	work->sge_count = 1;
	return true;
}

/* Frees the RDMA_DONE, whether its Send completed or not. */
static void
done_end(struct done *done)
{
	rr_list_remove(&done->link);
	rr_list_remove(
		&done->chain
			 .link); /* if the queue was full, the chain still waits in the connection's list */
	rr_cache_put(&done->connection->room->dones, done);
}

/* Is called when the Send of the RDMA_DONE completed: posts the Receive again that the reply used up, if
 * that was put off until now, and frees the RDMA_DONE. */
static void
done_completed(struct rr_chain *chain, enum rr_work_kind kind, int status)
{
	struct done *done = rr_container(chain, struct done, chain);

	(void)kind;
	(void)status;
	rr_driver_allow(done->connection, done->owes_receive);
	done_end(done);
}

/* Encodes the header of the RDMA_DONE, which is the whole message, and records the header in the connection's
 * trace of the last headers. */
static void
done_put_header(struct done *done, uint32_t xid)
{
	const struct rr_rdma_header header = {
		.xid = xid,
		.vers = RR_RPCRDMA_VERSION_2,
		.credit = done->connection->requester.credits.asked,
		.proc = RR_RDMA_DONE,
	};
	const struct rr_chunk_lists nothing = { 0 };
	struct rpcrdma_xdr_writer writer;

	rpcrdma_xdr_writer_init(&writer, done->header, sizeof(done->header), NULL, 0);
	rr_rdma_put_any_header(&writer, &header, NULL);
	rr_trace_add(&done->connection->trace, done->connection->base.engine->loop, true, done->header,
		sizeof(done->header), &nothing);
}

void
rr_done_send(struct rr_connection *connection, uint32_t xid, uint32_t handle, bool owes_receive)
{
	struct done *done;

	if (!connection->endpoint)
		return;
	done = rr_room_get(connection->room, &connection->room->dones, sizeof(*done));
	if (!done) {
		rr_driver_abort(connection, -RPCRDMA_ERR_NOMEM, "%s: no memory for an RDMA_DONE",
			connection->base.peer);
		return;
	}
	done->connection = connection;
	done->posted = false;
	done->owes_receive = owes_receive;
	done->handle = 0;
	if (connection->thresholds[RR_RPCRDMA_VERSION_2 - 1].remote_invalidation)
		done->handle = handle;
	RR_PROBE(done_sent, connection->base.peer, xid, done->handle);
	done->chain.next = done_next_work;
	done->chain.completed = done_completed;
	done->chain.calls_nobody = true;
	rr_list_init(&done->chain.link);
	rr_list_append(&connection->requester.dones, &done->link);
	done_put_header(done, xid);
	connection->base.counters.done_sent++;
	rr_driver_submit(connection, &done->chain);
}

void
rr_done_end(struct rr_connection *connection)
{
	struct rr_list *dones = &connection->requester.dones;

	while (!rr_list_empty(dones))
		done_end(rr_container(dones->next, struct done, link));
}
