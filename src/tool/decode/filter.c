/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <rpcrdma/error.h>
#include <stdlib.h>
#include <string.h>

#include "decode/names.h"
#include "decode/operations.h"
#include "tool/decode/decode.h"

static const char *const fields[] = {
	[RR_FILTER_XID] = "xid",
	[RR_FILTER_PROCEDURE] = "procedure",
	[RR_FILTER_CONNECTION] = "connection",
};

enum { FIELDS = sizeof(fields) / sizeof(fields[0]) };

/* Reads a number of 32 bits from the text: decimal, hexadecimal ("0x1f") or octal ("017"). Returns false if
 * the text is no such number. */
static bool
filter_number(const char *text, uint32_t *number)
{
	unsigned long value;
	char *end;

	errno = 0;
	value = strtoul(text, &end, 0);
	*number = (uint32_t)value;
	return *text >= '0' && *text <= '9' && *end == '\0' && errno == 0 && value <= UINT32_MAX;
}

/* A value that is no number is the name of a procedure, which may be one of RPC-over-RDMA; whether there is
 * such a procedure is not checked. */
int
rr_decode_filter_add(struct rr_decode *decode, const char *text, struct rr_text *error)
{
	struct rr_decode_filter *filter = &decode->filters[decode->filter_count];
	const char *value = strchr(text, '=');
	size_t field = 0, length = value ? (size_t)(value - text) : 0;

	if (decode->filter_count == RR_DECODE_FILTERS)
		return rr_fail(
			error, -RPCRDMA_ERR_INVAL, "there can be %d filters at most", RR_DECODE_FILTERS);
	while (field < FIELDS &&
		(strlen(fields[field]) != length || strncmp(text, fields[field], length) != 0))
		field++;
	if (field == FIELDS)
		return rr_fail(error, -RPCRDMA_ERR_INVAL,
			"a filter is xid=N, procedure=NAME, procedure=N or connection=N, not '%s'", text);
	*filter = (struct rr_decode_filter){ .field = field };
	if (!filter_number(value + 1, &filter->number)) {
		if (field != RR_FILTER_PROCEDURE || value[1] == '\0')
			return rr_fail(error, -RPCRDMA_ERR_INVAL, "'%s' is no number", value + 1);
		filter->name = value + 1;
	}
	decode->filter_count++;
	return 0;
}

/* Tells whether the message is a COMPOUND or CB_COMPOUND that has the operation of that name. */
static bool
filter_operation(const char *wanted, const struct rr_message *message)
{
	struct rr_operations operations;

	if (!rr_operations_read(message, &operations))
		return false;
	for (uint32_t i = 0; i < operations.count; i++) {
		const char *name = rr_operation_name(&operations, i);

		if (name && strcasecmp(wanted, name) == 0)
			return true;
	}
	return false;
}

/* Tells whether the message is of the procedure that the filter names. A number is that of an RPC procedure;
 * a name, in capital or small letters, is that of a procedure of RPC or of RPC-over-RDMA, or of an operation
 * of NFS version 4. */
static bool
filter_procedure(const struct rr_decode_filter *filter, const struct rr_message *message)
{
	const char *name;

	if (!filter->name)
		return message->has_procedure && message->proc == filter->number;
	if (strcasecmp(filter->name, rr_rdma_proc_name(message->header.vers, message->header.proc)) == 0)
		return true;
	if (!message->has_procedure)
		return false;
	name = rr_decode_procedure_name(message->prog, message->vers, message->proc);
	return (name && strcasecmp(filter->name, name) == 0) || filter_operation(filter->name, message);
}

static bool
filter_holds(const struct rr_decode_filter *filter, const struct rr_message *message)
{
	switch (filter->field) {
	case RR_FILTER_XID: return message->header.xid == filter->number;
	case RR_FILTER_CONNECTION: return message->sent.moment.connection == filter->number;
	default: return filter_procedure(filter, message);
	}
}

bool
rr_decode_filter_message(const struct rr_decode *decode, const struct rr_message *message)
{
	for (uint32_t i = 0; i < decode->filter_count; i++)
		if (!filter_holds(&decode->filters[i], message))
			return false;
	return true;
}

bool
rr_decode_filter_moment(const struct rr_decode *decode, const struct rr_moment *moment)
{
	for (uint32_t i = 0; i < decode->filter_count; i++)
		if (decode->filters[i].field != RR_FILTER_CONNECTION ||
			decode->filters[i].number != moment->connection)
			return false;
	return true;
}

bool
rr_decode_filter_finding(const struct rr_decode *decode, const struct rr_finding *finding)
{
	for (uint32_t i = 0; i < decode->filter_count; i++) {
		const struct rr_decode_filter *filter = &decode->filters[i];

		if (filter->field == RR_FILTER_CONNECTION && filter->number == finding->moment.connection)
			continue;
		if (filter->field != RR_FILTER_XID || !finding->has_xid || filter->number != finding->xid)
			return false;
	}
	return true;
}
