/* SPDX-License-Identifier: BSD-3-Clause */
#include "ulb/limits.h"

#include "base/checked.h"
#include "base/endian.h"
#include "ulb/compound.h"
#include "ulb/nfs42.h"

enum { NFS_PROGRAM = 100003, FSINFO = 19 };

/* Bits of the first word of an attribute bitmap. */
#define MAX_READ  (UINT32_C(1) << FATTR4_MAXREAD)
#define MAX_WRITE (UINT32_C(1) << FATTR4_MAXWRITE)

/* Whether proc is the procedure FSINFO of NFS version 3. */
static bool
limits_is_fsinfo(const struct rpcrdma_program *program, uint32_t proc)
{
	return program->prog == NFS_PROGRAM && program->vers == 3 && proc == FSINFO;
}

/* ---- Numbers in place ---- */

/* Returns the address `at` without const, so that the octets there can be changed: the callers of
 * rr_limits_lower_call() and rr_limits_lower_reply() allow that for the message. */
static uint8_t *
limits_place(const uint8_t *at)
{
	return (uint8_t *)(uintptr_t)at;
}

/* If the number at this place of the message is above limit, replaces it by limit. */
static void
limits_lower_u32(const uint8_t *at, uint32_t limit)
{
	if (rr_get_be32(at) > limit)
		rr_put_be32(limits_place(at), limit);
}

/* Reads the next number of 32 bits and, if it is above limit, replaces it by limit in the message. Does
 * nothing if the message ends before. */
static void
limits_lower_next_u32(struct rpcrdma_xdr_reader *reader, uint32_t limit)
{
	const uint8_t *at = reader->next;

	rpcrdma_get_u32(reader);
	if (!reader->failed)
		limits_lower_u32(at, limit);
}

/* Reads the next number of 64 bits and, if it is above limit, replaces it by limit in the message. Does
 * nothing if the message ends before. */
static void
limits_lower_next_u64(struct rpcrdma_xdr_reader *reader, uint32_t limit)
{
	const uint8_t *at = reader->next;

	if (rpcrdma_get_u64(reader) > limit && !reader->failed) {
		rr_put_be32(limits_place(at), 0);
		rr_put_be32(limits_place(at + 4), limit);
	}
}

/* Moves the reader over this many words of four octets. If the message ends before, the reader fails. */
static void
limits_skip_words(struct rpcrdma_xdr_reader *reader, uint32_t words)
{
	while (words-- > 0)
		rpcrdma_get_u32(reader);
}

/* Moves the reader over opaque data or a string of any length. */
static void
limits_skip_opaque(struct rpcrdma_xdr_reader *reader)
{
	rpcrdma_get_bytes(reader, UINT32_MAX);
}

/* ---- Sessions ---- */

/* Where the fields of struct channel_attrs4 lie, in octets from its beginning, and its size without the value
 * of RDMA_IRD, an array of at most one word: RFC 8881, 18.36.1. */
enum { MAX_REQUEST = 4, MAX_RESPONSE = 8, MAX_RESPONSE_CACHED = 12, RDMA_IRD = 24, CHANNEL = 28 };

/* Lowers the largest request and response in the attributes of an NFSv4.1 channel to `request` and
 * `response`. These sizes include the RPC header: RFC 8881, 18.36.3, says of ca_maxrequestsize that it
 * "includes the RPC headers", and says the same of responses. */
static void
limits_lower_channel(const uint8_t *channel, uint32_t request, uint32_t response)
{
	limits_lower_u32(channel + MAX_REQUEST, request);
	limits_lower_u32(channel + MAX_RESPONSE, response);
	limits_lower_u32(channel + MAX_RESPONSE_CACHED, response);
}

/* Returns the attributes of the session's backchannel. In the message they follow those of the fore channel,
 * at fore. */
static const uint8_t *
limits_back_channel(const uint8_t *fore)
{
	return fore + CHANNEL + (size_t)4 * rr_get_be32(fore + RDMA_IRD);
}

/* Lowers the sizes of both channels in the arguments of a CREATE_SESSION; fore is where the attributes of the
 * fore channel are. If the largest size of a response to a callback was lowered, returns the size that the
 * client asked for, else 0. */
static uint32_t
limits_lower_session_call(const struct rr_limits *limits, const uint8_t *fore)
{
	const uint8_t *back = limits_back_channel(fore);
	uint32_t asked = rr_get_be32(back + MAX_RESPONSE);

	limits_lower_channel(fore, limits->message, limits->message);
	limits_lower_channel(back, limits->callback, limits->callback_reply);
	return asked > limits->callback_reply ? asked : 0;
}

/* Lowers the sizes of both channels in the result of a CREATE_SESSION; fore is where the attributes of the
 * fore channel are. asked is what limits_lower_session_call() returned. If it is not 0 and the server has
 * granted the lowered size of a response to a callback, the result gets the size `asked` instead
 * (rr_limits_lower_reply() says why). */
static void
limits_lower_session_reply(const struct rr_limits *limits, uint32_t asked, const uint8_t *fore)
{
	const uint8_t *back = limits_back_channel(fore);

	limits_lower_channel(fore, limits->message, limits->message);
	limits_lower_u32(back + MAX_REQUEST, limits->callback);
	if (asked > 0 && rr_get_be32(back + MAX_RESPONSE) == limits->callback_reply)
		rr_put_be32(limits_place(back + MAX_RESPONSE), asked);
}

/* ---- Attributes ---- */

/* Octets of the first attributes of version 4, up to MAXREAD; 0: its length varies. */
static const uint8_t attribute_sizes[FATTR4_MAXREAD] = {
	[FATTR4_TYPE] = XDR_MAX_fattr4_type,
	[FATTR4_FH_EXPIRE_TYPE] = XDR_MAX_fattr4_fh_expire_type,
	[FATTR4_CHANGE] = XDR_MAX_fattr4_change,
	[FATTR4_SIZE] = XDR_MAX_fattr4_size,
	[FATTR4_LINK_SUPPORT] = XDR_MAX_fattr4_link_support,
	[FATTR4_SYMLINK_SUPPORT] = XDR_MAX_fattr4_symlink_support,
	[FATTR4_NAMED_ATTR] = XDR_MAX_fattr4_named_attr,
	[FATTR4_FSID] = XDR_MAX_fattr4_fsid,
	[FATTR4_UNIQUE_HANDLES] = XDR_MAX_fattr4_unique_handles,
	[FATTR4_LEASE_TIME] = XDR_MAX_fattr4_lease_time,
	[FATTR4_RDATTR_ERROR] = XDR_MAX_fattr4_rdattr_error,
	[FATTR4_ACLSUPPORT] = XDR_MAX_fattr4_aclsupport,
	[FATTR4_ARCHIVE] = XDR_MAX_fattr4_archive,
	[FATTR4_CANSETTIME] = XDR_MAX_fattr4_cansettime,
	[FATTR4_CASE_INSENSITIVE] = XDR_MAX_fattr4_case_insensitive,
	[FATTR4_CASE_PRESERVING] = XDR_MAX_fattr4_case_preserving,
	[FATTR4_CHOWN_RESTRICTED] = XDR_MAX_fattr4_chown_restricted,
	[FATTR4_FILEID] = XDR_MAX_fattr4_fileid,
	[FATTR4_FILES_AVAIL] = XDR_MAX_fattr4_files_avail,
	[FATTR4_FILES_FREE] = XDR_MAX_fattr4_files_free,
	[FATTR4_FILES_TOTAL] = XDR_MAX_fattr4_files_total,
	[FATTR4_HIDDEN] = XDR_MAX_fattr4_hidden,
	[FATTR4_HOMOGENEOUS] = XDR_MAX_fattr4_homogeneous,
	[FATTR4_MAXFILESIZE] = XDR_MAX_fattr4_maxfilesize,
	[FATTR4_MAXLINK] = XDR_MAX_fattr4_maxlink,
	[FATTR4_MAXNAME] = XDR_MAX_fattr4_maxname,
};

/* Moves the reader over an array of strings. */
static void
limits_skip_strings(struct rpcrdma_xdr_reader *reader)
{
	for (uint32_t count = rpcrdma_get_count(reader, UINT32_MAX, 4); count > 0; count--)
		limits_skip_opaque(reader);
}

/* Moves the reader over an access control list: type, flags, mask and name of each entry. */
static void
limits_skip_acl(struct rpcrdma_xdr_reader *reader)
{
	for (uint32_t count = rpcrdma_get_count(reader, UINT32_MAX, 16); count > 0; count--) {
		limits_skip_words(reader, 3);
		limits_skip_opaque(reader);
	}
}

/* Moves the reader over the attribute fs_locations: a path, and for each location the names of its servers
 * and a path. */
static void
limits_skip_locations(struct rpcrdma_xdr_reader *reader)
{
	limits_skip_strings(reader);
	for (uint32_t count = rpcrdma_get_count(reader, UINT32_MAX, 8); count > 0; count--) {
		limits_skip_strings(reader);
		limits_skip_strings(reader);
	}
}

/* Moves the reader over the value of the NFSv4 attribute `number`. */
static void
limits_skip_attribute(struct rpcrdma_xdr_reader *reader, uint32_t number)
{
	switch (number) {
	case FATTR4_SUPPORTED_ATTRS:
		limits_skip_words(reader, rpcrdma_get_count(reader, UINT32_MAX, 4));
		break;
	case FATTR4_ACL: limits_skip_acl(reader); break;
	case FATTR4_FILEHANDLE: limits_skip_opaque(reader); break;
	case FATTR4_FS_LOCATIONS: limits_skip_locations(reader); break;
	default: limits_skip_words(reader, attribute_sizes[number] / 4); break;
	}
}

/* Lowers maxread and maxwrite in a fattr4 to limits->data. A bitmap says which attributes the fattr4 has;
 * their values follow in the order of their numbers, so the values in front of maxread are skipped. */
static void
limits_lower_attributes(const struct rr_limits *limits, struct rpcrdma_xdr_reader *reader)
{
	uint32_t words = rpcrdma_get_count(reader, UINT32_MAX, 4);
	uint32_t present = words > 0 ? rpcrdma_get_u32(reader) : 0;
	struct rpcrdma_xdr_reader values;
	struct rpcrdma_bytes list;

	if (words > 0)
		limits_skip_words(reader, words - 1);
	list = rpcrdma_get_bytes(reader, UINT32_MAX);
	if (reader->failed || !(present & (MAX_READ | MAX_WRITE)))
		return;
	rpcrdma_xdr_reader_init(
		&values, &(struct rpcrdma_message){ .stream = list.data, .length = list.length }, NULL);
	for (uint32_t number = 0; number < FATTR4_MAXREAD; number++) {
		if (present & UINT32_C(1) << number)
			limits_skip_attribute(&values, number);
	}
	if (present & MAX_READ)
		limits_lower_next_u64(&values, limits->data);
	if (present & MAX_WRITE)
		limits_lower_next_u64(&values, limits->data);
}

/* Lowers maxread and maxwrite in the attributes of each entry in the result of a READDIR. */
static void
limits_lower_entries(const struct rr_limits *limits, struct rpcrdma_xdr_reader *reader)
{
	limits_skip_words(reader, 2); /* the verifier of cookies */
	while (rpcrdma_get_bool(reader)) {
		limits_skip_words(reader, 2); /* cookie */
		limits_skip_opaque(reader);   /* name */
		limits_lower_attributes(limits, reader);
	}
}

/* ---- NFS version 3 ---- */

/* Lowers the sizes for READ, WRITE and READDIR in the result of FSINFO to limits->data. RFC 1813, 3.3.19:
 * behind the attributes stand rtmax, rtpref, rtmult, wtmax, wtpref, wtmult and dtpref; rtmult and wtmult are
 * left as they are. */
static void
limits_lower_fsinfo(const struct rr_limits *limits, struct rpcrdma_xdr_reader *reader)
{
	enum { ATTRIBUTES = 21 };

	/* The result of an FSINFO that failed has no sizes. */
	if (rpcrdma_get_u32(reader) != 0)
		return;
	if (rpcrdma_get_bool(reader))
		limits_skip_words(reader, ATTRIBUTES);
	limits_lower_next_u32(reader, limits->data);
	limits_lower_next_u32(reader, limits->data);
	limits_skip_words(reader, 1);
	limits_lower_next_u32(reader, limits->data);
	limits_lower_next_u32(reader, limits->data);
	limits_skip_words(reader, 1);
	limits_lower_next_u32(reader, limits->data);
}

/* ---- Operation by operation ---- */

/* Where the channels of CREATE_SESSION lie behind the operation: in a call, client, sequence and flags are
 * in front of them; in a result, the session's name stands in the place of the client. */
enum { CALL_CHANNELS = 4 + 16, REPLY_CHANNELS = 8 + 24 };

/* Whether the result of the operation may have sizes that must be lowered: those of a session, or the
 * attributes maxread and maxwrite. args are the operation's arguments; in READDIR a cookie, a verifier and
 * two counts precede the bitmap of attributes. */
static bool
limits_asks_for_sizes(uint32_t operation, const uint8_t *args)
{
	const uint8_t *bitmap = operation == OP_READDIR ? args + 24 : args;

	if (operation == OP_CREATE_SESSION)
		return true;
	if (operation != OP_READDIR && operation != OP_GETATTR)
		return false;
	return rr_get_be32(bitmap) > 0 && rr_get_be32(bitmap + 4) & (MAX_READ | MAX_WRITE);
}

bool
rr_limits_concern(
	const struct rpcrdma_program *program, uint32_t proc, const struct rpcrdma_xdr_reader *reader)
{
	struct rr_walk walk;

	if (!rr_compound_is(program, proc))
		return limits_is_fsinfo(program, proc);
	rr_walk_begin(&walk, reader, NULL, 0);
	for (uint32_t count = rr_compound_begin_call(&walk); count > 0 && walk.answer == RR_WALKED; count--) {
		/* The number of an operation takes 4 octets; its arguments follow. */
		const uint8_t *operation = walk.reader.next;
		uint32_t number = rr_compound_next_call(&walk);

		if (walk.answer == RR_WALKED && limits_asks_for_sizes(number, operation + 4))
			return true;
	}
	return false;
}

uint32_t
rr_limits_lower_call(const struct rr_limits *limits, const struct rpcrdma_program *program, uint32_t proc,
	const struct rpcrdma_xdr_reader *reader)
{
	uint32_t asked = 0;
	struct rr_walk walk;

	if (!rr_compound_is(program, proc))
		return 0;
	rr_walk_begin(&walk, reader, NULL, 0);
	for (uint32_t count = rr_compound_begin_call(&walk); count > 0 && walk.answer == RR_WALKED; count--) {
		const uint8_t *operation = walk.reader.next;

		if (rr_compound_next_call(&walk) == OP_CREATE_SESSION && walk.answer == RR_WALKED)
			asked = limits_lower_session_call(limits, operation + CALL_CHANNELS);
	}
	return asked;
}

/* Lowers the sizes in one result of a COMPOUND. `operation` is where the result begins, of `octets` octets:
 * the operation's number, the status NFS4_OK, and the rest. asked is as for rr_limits_lower_reply(). */
static void
limits_lower_result(const struct rr_limits *limits, uint32_t asked, const uint8_t *operation, uint32_t octets)
{
	const struct rpcrdma_message result = { .stream = operation + 8, .length = octets - 8 };
	struct rpcrdma_xdr_reader reader;

	rpcrdma_xdr_reader_init(&reader, &result, NULL);
	switch (rr_get_be32(operation)) {
	case OP_CREATE_SESSION: limits_lower_session_reply(limits, asked, operation + REPLY_CHANNELS); break;
	case OP_GETATTR: limits_lower_attributes(limits, &reader); break;
	case OP_READDIR: limits_lower_entries(limits, &reader); break;
	default: break;
	}
}

void
rr_limits_lower_reply(const struct rr_limits *limits, uint32_t asked, const struct rpcrdma_program *program,
	uint32_t proc, const struct rpcrdma_xdr_reader *reader)
{
	struct rpcrdma_xdr_reader results = *reader;
	struct rr_walk walk;

	if (limits_is_fsinfo(program, proc))
		limits_lower_fsinfo(limits, &results);
	if (!rr_compound_is(program, proc))
		return;
	rr_walk_begin(&walk, reader, NULL, 0);
	for (uint32_t count = rr_compound_begin_reply(&walk); count > 0 && walk.answer == RR_WALKED;
		count--) {
		const uint8_t *operation = walk.reader.next;
		uint32_t octets;

		rr_compound_next_reply(&walk);
		octets = (uint32_t)(walk.reader.next - operation);
		/* A result begins with the operation's number and its status. The result of an operation that
		 * failed has no sizes. */
		if (walk.answer == RR_WALKED && rr_get_be32(operation + 4) == NFS4_OK)
			limits_lower_result(limits, asked, operation, octets);
	}
}
