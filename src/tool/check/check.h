/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TOOL_CHECK_CHECK_H
#define RR_TOOL_CHECK_CHECK_H

#include "fabric/fabric.h"
#include "tool/filters.h"
#include "tool/remote.h"
#include "wire/private_data.h"
#include "wire/rpc.h"
#include "wire/rpcrdma2.h"

/*
 * `rpcrdma check` plays a requester that sends exactly what a test case demands, and judges the responder's
 * answers by the rows of docs/conformance.md. Each case has its own connection, so that cases do not disturb
 * each other. Messages that are known to harm a peer, such as segments of length zero to a responder of
 * version 1, are not sent.
 *
 * "Version" is that of RPC-over-RDMA here, unless that of NFS is named.
 */

/* The verdicts, and their number. */
enum rr_check_verdict { RR_CHECK_PASS, RR_CHECK_FAIL, RR_CHECK_SKIP, RR_CHECK_VERDICTS };

/* RR_CHECK_QUEUE: the most messages that wait to be received. RR_CHECK_SEGMENTS: the most Read segments, and
 * the most Write chunks, in a reply. RR_CHECK_FILE_LEAST: the least octets of the file that cases read. */
enum { RR_CHECK_QUEUE = 128, RR_CHECK_SEGMENTS = 8, RR_CHECK_FILE_LEAST = 5000 };

struct rr_check;

/* A message of the peer, as it was received. */
struct rr_check_message {
	struct rr_check_message *next;
	bool invalidated;        /* it came by Send With Invalidate */
	uint32_t handle, length; /* the handle that it invalidated; octets of data */
	uint8_t data[];
};

/* Memory of a case, for messages and registered data, until its connection is closed. */
struct rr_check_memory {
	struct rr_check_memory *next;
	_Alignas(16) uint8_t data[];
};

/* The connection of a case. */
struct rr_check_peer {
	struct rr_check *check;
	struct rr_endpoint *endpoint;
	bool established, disconnected;
	uint32_t version; /* of RPC-over-RDMA */
	/* What the peer's private data says, or its defaults (RFC 8797, 5) if it sent none: whether it
	 * supports remote invalidation, and the sizes of its messages. */
	bool has_private_data, invalidates;
	uint32_t send_size, receive_size;
	/* The messages that wait to be received; the `next` of the last of them, or &messages. */
	struct rr_check_message *messages, **last;
	uint32_t message_count;
	/* The case takes calls in the reverse direction; called: a call that came while the case waited for a
	 * reply, until rr_check_called() takes it. */
	bool takes_calls;
	struct rr_check_message *called;
	struct rr_check_memory *memory;
	uint32_t completions; /* work requests that completed since rr_check_pull() set this to 0 */
	int status;           /* of a work request that failed, or of the end of the connection */
	struct rr_text why;   /* why the connection ended */
};

/* A message of the peer, decoded. */
struct rr_check_reply {
	struct rr_check_message *message; /* all other members refer to its octets */
	/* If it is not OK, at most the four words that begin every header are set in `header`, and nothing
	 * below it. */
	enum rr_header_result result;
	struct rr_rdma_header header;
	struct rr_chunk_lists lists;
	struct rr_read_segment reads[RR_CHECK_SEGMENTS];
	struct rr_chunk writes[RR_CHECK_SEGMENTS];
	struct rr_segment segments[RR_CHECK_SEGMENTS * 2];
	struct rpcrdma_bytes payload; /* behind the RPC-over-RDMA header */
	bool has_rpc;                 /* the payload begins with the header of an RPC reply, `rpc` */
	struct rr_reply_header rpc;
	struct rpcrdma_bytes results; /* behind the RPC header */
};

/* A call of a case. Zeroes mean a NULL call of NFS version 3, in an RDMA_MSG, with a new XID. */
struct rr_check_call {
	/* xid: 0: rr_check_call() sets a random XID. rpc_xid: the XID in the RPC header; 0: the same.
	 * rdma_proc: the procedure of RPC-over-RDMA. proc: that of NFS. */
	uint32_t xid, rpc_xid, rdma_proc, proc;
	uint32_t vers; /* of NFS; 0: 3 */
	struct rr_chunk_lists lists;
	struct rpcrdma_bytes args;
	bool no_rpc; /* nothing stands behind the RPC-over-RDMA header */
};

/* A test case. */
struct rr_check_case {
	/* Its name; the row of docs/conformance.md, as "B4"; the section of a specification; and the property
	 * that the case checks, in words. */
	const char *name, *row, *section, *text;
	/* The versions in which the case is run; whether it changes what the server exports, and so needs
	 * --destructive; and which objects of the server it needs. */
	bool version_1, version_2, destructive, needs_file, needs_directory;
	/* run() makes the connection itself; otherwise it gets a connection that is established. */
	bool connects;
	enum rr_check_verdict (*run)(struct rr_check_peer *peer, struct rr_text *why);
};

/* Tables of cases. The last entry of each table has no name. */
extern const struct rr_check_case rr_check_change_cases[], rr_check_header_cases[], rr_check_error_cases[],
	rr_check_data_cases[], rr_check_long_cases[], rr_check_nfs4_cases[], rr_check_optional_cases[],
	rr_check_reverse_cases[];

enum rr_check_format { RR_CHECK_TEXT, RR_CHECK_JSON, RR_CHECK_TAP, RR_CHECK_JUNIT };

struct rr_check_result {
	const struct rr_check_case *which;
	uint32_t version;
	enum rr_check_verdict verdict;
	uint64_t took; /* ns */
	struct rr_text why;
};

/* The most results, and the most options --only. */
enum { RR_CHECK_RESULTS = 256, RR_CHECK_ONLY = 32 };

/* `rpcrdma check` at work. */
struct rr_check {
	const struct rr_tool *tool;
	struct rr_filters filters;
	enum rr_check_format format;
	bool list, serve, destructive;
	const char *only[RR_CHECK_ONLY];
	uint32_t only_count;
	uint32_t timeout; /* seconds to wait for an answer */
	struct rpcrdma_engine *engine;
	struct rr_url url;
	struct rr_fabric *fabric;
	struct sockaddr_storage address; /* of the server: rr_check_connect() connects to it */
	/* The objects that the URL names: a directory and a file in it; or a file, and the directory that was
	 * mounted. */
	struct rpcrdma_nfs_handle directory, file;
	bool has_directory, has_file;
	char file_path[RR_URL_PATH + 256]; /* the path of the file, as in a URL */
	struct rpcrdma_auth_sys cred;      /* of all calls but NULL */
	const char *tls, *tls_cipher;      /* what protected the search for them; NULL: nothing */
	const char *flavor;                /* of its calls */
	char principal[256];               /* for whom they were made, by Kerberos; "": by another flavor */
	struct rr_text no_objects;         /* why there is no directory or file */
	struct rr_text no_right; /* why the user may not read what the URL names; "": the user may */
	struct rr_check_result results[RR_CHECK_RESULTS];
	uint32_t result_count;
};

/* ---- peer.c: the connection ---- */

/* Connects to the server with `size` octets of private data. If private_data is NULL, sends the private data
 * that this library always sends, with remote invalidation. Returns 0; or an error, with its text in
 * peer->why. */
int rr_check_connect(struct rr_check_peer *peer, const void *private_data, size_t size);
/* Closes the connection, if there is one, and frees its messages and the memory of rr_check_keep(). The peer
 * can then be connected again. */
void rr_check_close(struct rr_check_peer *peer);
/* Returns zeroed memory that is freed when the connection is closed; NULL if there is no memory. */
void *rr_check_keep(struct rr_check_peer *peer, size_t size);
/* Sends a copy of the data as one message. If invalidate is not 0, sends it by Send With Invalidate, with
 * this handle of the peer. Returns 0, or an error. */
int rr_check_send(struct rr_check_peer *peer, const void *data, uint32_t size, uint32_t invalidate);
/* Waits for the next message and returns it; the caller frees it. Returns NULL if no message came in time, or
 * the connection ended. */
struct rr_check_message *rr_check_receive(struct rr_check_peer *peer);
/* Allocates and registers `size` octets of memory, filled with RR_CHECK_PATTERN. access: RR_REMOTE_READ and
 * RR_REMOTE_WRITE, as the peer may read or write it. Stores the address of this memory in *data, and its
 * description for the peer in *segment. The memory is freed when the connection is closed. Returns 0, or an
 * error. */
int rr_check_register(struct rr_check_peer *peer, uint32_t size, unsigned access, uint8_t **data,
	struct rr_segment *segment);
/* Reads the peer's segment into `data` by RDMA Read, and waits until that is done. `data` is memory of
 * rr_check_keep(), as an RDMA Read may still write there after a timeout. Returns 0, or an error. */
int rr_check_pull(struct rr_check_peer *peer, const struct rr_segment *segment, void *data);

/* ---- talk.c: messages ---- */

/* Sends the call. If call->xid is 0, first sets it to a new XID. Returns 0, or an error. */
int rr_check_call(struct rr_check_peer *peer, struct rr_check_call *call);
/* Writes to out the RPC message of the call: its RPC header and its arguments. rr_check_call() puts it behind
 * the RPC-over-RDMA header; a test case calls this function if the RPC message is to be in a chunk instead.
 * Returns the number of octets; 0 if they do not fit. A NULL call has no credential, any other call that of
 * check->cred. */
uint32_t rr_check_put_rpc(
	const struct rr_check_peer *peer, const struct rr_check_call *call, void *out, uint32_t size);
/* Waits for the next message and decodes it. If peer->takes_calls is set, keeps one call in the reverse
 * direction for rr_check_called(), and waits for the message after it. While a call is kept, a further call
 * counts as a message. Returns false if no message came; `why` then has the reason. */
bool rr_check_reply(struct rr_check_peer *peer, struct rr_check_reply *reply, struct rr_text *why);
/* Frees the message of the reply, to which the reply's chunk lists and octets refer. */
void rr_check_forget(struct rr_check_reply *reply);
/* Stores in *call the call in the reverse direction that rr_check_reply() kept, or waits for such a call.
 * Returns false if no message came, or a message that is no call; `why` then has the reason. */
bool rr_check_called(struct rr_check_peer *peer, struct rr_check_reply *call, struct rr_text *why);

/* Writes the reason why a case has failed into `why`. Returns RR_CHECK_FAIL. */
enum rr_check_verdict rr_check_fail(struct rr_text *why, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Writes the reason why a case is skipped into `why`. Returns RR_CHECK_SKIP. */
enum rr_check_verdict rr_check_skip(struct rr_text *why, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Makes a NULL call, and checks that the next message is its correct reply. */
enum rr_check_verdict rr_check_null(struct rr_check_peer *peer, struct rr_text *why);
/* Checks that the message that was sent last gets no answer: makes two NULL calls, and checks that the next
 * two messages are the replies to these calls. */
enum rr_check_verdict rr_check_silence(struct rr_check_peer *peer, struct rr_text *why);
/* Checks that the next message is an RDMA_ERROR with this XID and this error. Then makes a NULL call, and
 * checks that it is answered. */
enum rr_check_verdict rr_check_error(
	struct rr_check_peer *peer, uint32_t xid, uint32_t error, struct rr_text *why);

/* ---- check.c ---- */

/* Sets the user in whose name calls are made: the user that the URL names, or else the user who runs the
 * command. */
void rr_check_identify(struct rr_check *check);
/* Finds the directory and the file that the URL names. If one of them is missing, check->no_objects may have
 * the reason. If the user may not read what the URL names, check->no_right has the reason. */
void rr_check_find_objects(struct rr_check *check, const char *url);
/* Runs a test case on a new connection, in this version of RPC-over-RDMA. Returns the verdict; `why` has the
 * reason if the case failed or was skipped. */
enum rr_check_verdict rr_check_make(
	struct rr_check *check, const struct rr_check_case *which, uint32_t version, struct rr_text *why);

/* ---- report.c ---- */

/* Prints all results, in the format of the option --format. */
void rr_check_report(const struct rr_check *check);

#endif
