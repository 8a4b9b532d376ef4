/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_DECODE_JUDGE_JUDGE_PRIVATE_H
#define RR_DECODE_JUDGE_JUDGE_PRIVATE_H

#include "base/list.h"
#include "base/map.h"
#include "decode/judge/judge.h"

/* The judge keeps each call with the memory that it offers, also after the reply, because a second reply or a
 * late RDMA operation is a finding. It does so apart from match.h, which forgets a call when its reply has
 * come. A call leaves when its XID is used again, when its connection ends, or when newer calls need its
 * room: number and memory are bounded.
 *
 * A connection is whole as long as all of its messages are known: both handshakes were captured, no octets
 * are missing, and the judge had room for all calls. */

enum {
	RR_JUDGE_CONNECTIONS = 1024,
	RR_JUDGE_CALLS = 4096,  /* of all connections together */
	RR_JUDGE_READS = 64,    /* RDMA Reads under way, of each side */
	RR_JUDGE_REPEATS = 1024 /* calls that must be executed once */
};

struct rr_judge_call;

/* A segment that a message offers. */
struct rr_judge_region {
	struct rr_map_link link; /* by connection, owner and handle */
	struct rr_judge_call *call;
	struct rr_segment segment;
	enum rr_region_kind kind;
	uint64_t moved; /* octets moved by RDMA, from the segment's start */
};

/* A call; or, if is_plain is set, another message that an RDMA_ERROR may answer. */
struct rr_judge_call {
	struct rr_map_link link; /* by connection, caller and XID */
	struct rr_list age;
	struct rr_moment moment; /* of the message */
	uint32_t connection, xid, version;
	uint8_t caller;
	bool answered, provided; /* provided: the reply is in a Read chunk, and no RDMA_DONE has come */
	bool is_plain;           /* not a call, but a message that an error may answer */
	bool has_procedure;
	uint32_t prog, vers, proc;
	uint32_t opttype;                  /* of an optional message */
	uint32_t replies;                  /* replies that the caller had received when it sent the call */
	struct rr_judge_region *regions;   /* one for each segment: Read list, Write chunks, Reply chunk */
	uint32_t region_count, read_count; /* read_count: how many of them are of the Read list */
	uint32_t write_count;
	uint32_t *write_sizes; /* number of segments of each Write chunk */
	uint32_t reply_size;   /* number of segments of the Reply chunk */
	bool has_reply;
	struct rr_judge_region *provided_regions; /* the segments of a reply in a Read chunk */
	uint32_t provided_count;
	uint64_t digest; /* rr_judge_digest() of the RPC message, as far as it is in the Send */
};

/* An RDMA Read of iWARP under way: the place in the requester's memory that the next octets of the Response
 * must go to, and how many octets are left. */
struct rr_judge_read {
	uint32_t stag, left;
	uint64_t to;
};

/* The state of a side of a connection. */
struct rr_judge_side {
	bool opened;          /* its handshake was captured */
	bool invalidates;     /* the flag R of its private data, or its transport property of version 2 */
	bool announced_reads; /* version 2: it accepts replies in Read chunks */
	bool calls;           /* it has sent a call */
	uint32_t send_size, receive_size; /* of its private data, octets */
	uint32_t limit_2;                 /* the largest message that it receives in version 2 */
	uint32_t refused;                 /* the version that it refused with ERR_VERS; 0: no version */
	/* Credits for the calls of this side, as the last reply and the reply before it granted them; and how
	 * many of its calls have no reply. */
	uint32_t grant, last_grant, outstanding;
	uint32_t replies;    /* to its calls */
	uint32_t last_error; /* the XID of the last RDMA_ERROR that it sent */
	bool has_error;
	/* The state of DDP, by queue: the last message number; and the offset that the next segment of the
	 * message must have, or 0 if the next segment begins a message. */
	uint32_t msn[RR_DDP_QUEUES], mo[RR_DDP_QUEUES];
	struct rr_judge_read reads[RR_JUDGE_READS];
	uint32_t read_count;
};

struct rr_judge_connection {
	struct rr_map_link link; /* by number */
	struct rr_list age;
	uint32_t number;
	bool lossy;        /* octets are missing, or a call was forgotten */
	bool has_messages; /* a message of RPC-over-RDMA was captured */
	uint32_t version;  /* of the last call of side 0; 0: there was no call */
	struct rr_packet_end ends[2];
	struct rr_judge_side sides[2];
};

/* A call that must not be executed twice, and its reply, which has come. */
struct rr_judge_repeat {
	uint64_t call, reply; /* digests of their RPC messages; call is 0 if the entry is not in use */
	uint32_t xid, connection;
};

/* The inline thresholds that two hosts had agreed on in an earlier connection. */
struct rr_judge_past {
	struct rr_packet_end ends[2];
	uint32_t thresholds[2]; /* octets of a Send from side 0, and of a Send from side 1 */
};

enum { RR_JUDGE_PASTS = 64 }; /* earlier connections that are remembered */

struct rr_judge {
	const struct rr_env *env;
	struct rr_decode_memory memory;
	void (*found)(void *ctx, const struct rr_finding *finding);
	void *ctx;
	struct rr_map connections, calls, regions;
	struct rr_list connection_ages, call_ages; /* oldest first */
	uint32_t call_count;
	uint64_t messages, cut, evicted;
	struct rr_judge_repeat repeats[RR_JUDGE_REPEATS];
	uint32_t repeat_next; /* counts entries; modulo RR_JUDGE_REPEATS: the entry that is replaced next */
	struct rr_judge_past pasts[RR_JUDGE_PASTS];
	uint32_t past_next; /* the same for pasts and RR_JUDGE_PASTS */
};

/* Tells whether the connection is whole: all of its messages so far are known, from its handshakes on. */
bool rr_judge_is_whole(const struct rr_judge_connection *connection);

/* Reports a finding at a moment. xid is NULL if the finding belongs to no transaction. */
void rr_judge_find(struct rr_judge *judge, enum rr_rule rule, const struct rr_moment *moment,
	const uint32_t *xid, const char *format, ...) __attribute__((format(printf, 5, 6)));

/* A message that is being judged, as a value that functions pass on. */
struct rr_judged {
	struct rr_judge *judge;
	struct rr_judge_connection *connection;
	const struct rr_message *message;
	const struct rr_moment *moment;
	uint32_t xid;
	uint8_t from;
};

/* Reports a finding on the message that is being judged. */
#define rr_judge_message(judged, rule, ...)                                                                  \
	rr_judge_find((judged)->judge, rule, (judged)->moment, &(judged)->xid, __VA_ARGS__)

/* header.c: checks what a message shows alone. */
void rr_judge_header(const struct rr_judged *judged);

/* sides.c: checks what both sides had announced and granted before a message. */
void rr_judge_opened(struct rr_judge *judge, struct rr_judge_connection *connection,
	const struct rr_moment *moment, const struct rr_handshake *handshake);
void rr_judge_size(const struct rr_judged *judged);
void rr_judge_grant(const struct rr_judged *judged);
void rr_judge_optional(const struct rr_judged *judged);
/* These count a call of the sender, and a reply or an error that ends a call of its peer. */
void rr_judge_call_begins(const struct rr_judged *judged);
void rr_judge_call_ends(const struct rr_judged *judged);

/* calls.c: checks calls and their replies. */
struct rr_judge_call *rr_judge_find_call(
	const struct rr_judge *judge, uint32_t connection, uint8_t caller, uint32_t xid);
void rr_judge_call(const struct rr_judged *judged);
/* Keeps a message that is not a call, because an error may answer it. */
void rr_judge_plain(const struct rr_judged *judged);
void rr_judge_reply(const struct rr_judged *judged);
/* Notes that the call has its reply, or its error. */
void rr_judge_answered(const struct rr_judged *judged, struct rr_judge_call *call);
void rr_judge_end_call(struct rr_judge *judge, struct rr_judge_call *call);
void rr_judge_end_calls(struct rr_judge *judge, uint32_t connection);

/* errors.c: checks RDMA_ERROR, and RDMA_DONE of version 2. */
void rr_judge_error(const struct rr_judged *judged);
void rr_judge_done(const struct rr_judged *judged);

/* tcp.c: looks for NFS calls in a TCP connection that is not MPA. Returns true if no more of the
 * connection is wanted. */
bool rr_judge_foreign(void *ctx, const struct rr_moment *moment, struct rpcrdma_bytes data);

/* returned.c: checks the chunks that a reply returns, and the handle that it invalidates. */
void rr_judge_returned(const struct rr_judged *judged, const struct rr_judge_call *call);

/* regions.c: keeps the memory that messages offer, and checks RDMA operations. The functions with a
 * result return false if there is no memory. */
bool rr_judge_offer(struct rr_judge *judge, struct rr_judge_call *call, const struct rr_message *message);
bool rr_judge_provide(struct rr_judge *judge, struct rr_judge_call *call, const struct rr_message *message);
void rr_judge_withdraw(struct rr_judge *judge, struct rr_judge_call *call);
void rr_judge_operation(struct rr_judge *judge, const struct rr_judge_connection *connection,
	const struct rr_moment *moment, const struct rr_op *op);
void rr_judge_overlaps(const struct rr_judged *judged, const struct rr_judge_call *call);

/* segments.c: checks DDP segments. */
void rr_judge_segment(struct rr_judge *judge, struct rr_judge_connection *connection,
	const struct rr_moment *moment, const struct rr_ddp_header *header, struct rpcrdma_bytes payload);

/* nfs.c: checks the chunks of procedures of NFS. */
void rr_judge_chunk_kinds(const struct rr_judged *judged);
void rr_judge_read_result(const struct rr_judged *judged, const struct rr_judge_call *call);
/* nfs.c: checks calls that were repeated. */
void rr_judge_repeated(const struct rr_judged *judged, const struct rr_judge_call *call);
uint64_t rr_judge_digest(const void *data, size_t size);

#endif
