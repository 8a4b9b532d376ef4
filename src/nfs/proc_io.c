/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/checked.h"
#include "base/pool.h"
#include "nfs/attr.h"

/*
 * READ, WRITE, COMMIT: RFC 1813, sections 3.3.6, 3.3.7 and 3.3.21.
 *
 * The data of a READ lies in a buffer of the pool, which belongs to the
 * request from then on and goes back when the reply was sent. The data of a
 * WRITE stays where the transport put it.
 */

/* Reads until size octets are there or the file ends; -1 only where nothing was read. */
static ssize_t
read_fully(int fd, uint8_t *data, size_t size, uint64_t offset)
{
	size_t done = 0;

	while (done < size) {
		ssize_t n = pread(fd, data + done, size - done, (off_t)(offset + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && done == 0)
			return -1;
		if (n <= 0)
			break;
		done += (size_t)n;
	}
	return (ssize_t)done;
}

/* Octets of data that the reply can convey; where no chunk waits for them, inside the stream. */
static uint32_t
read_room(const struct rr_request *request)
{
	uint32_t beside = request->header + RR_NFS_STATUS_SIZE + XDR_MAX_READ3resok;

	if (request->item_room > 0)
		return request->item_room;
	return request->stream_room > beside ? request->stream_room - beside : 0;
}

/* The most that can come back: what was asked for, what the reply can convey, what the file has. */
static uint32_t
read_size(const struct rr_request *request, const READ3args *read, uint64_t size)
{
	uint32_t most = (uint32_t)rr_min(rr_min(read->count, RR_NFS_IO_MAX), read_room(request));

	if (read->offset >= size)
		return 0;
	return (uint32_t)rr_min(most, size - read->offset);
}

/*
 * RFC 1813, 3.3.6: "it is possible for the server to return fewer than count bytes of data." Where memory is
 * short, a client that holds none gets so many octets at once, and need not wait for those that hold the
 * rest.
 */
enum { READ_SHORT = 64 << 10 };

/* RR_HANDLE_LATER: there is no buffer now, and nothing was done. */
static enum rr_handled
read_data(struct rr_nfs_server *server, struct rr_request *request, struct rr_object *object,
	const READ3args *read, READ3res *res)
{
	size_t size = read_size(request, read, object->st.stx_size);
	READ3resok ok = { 0 };
	ssize_t length;
	int fd;

	res->status = rr_tree_open(server->tree, object, O_RDONLY, &fd);
	if (res->status != NFS3_OK)
		return RR_HANDLED;
	if (size > 0) {
		request->payload = rr_pool_get_some(server->pool, request->party, &size, READ_SHORT);
		if (!request->payload)
			return RR_HANDLE_LATER;
	}
	length = read_fully(fd, request->payload, size, read->offset);
	if (length < 0) {
		res->status = rr_nfs_status(errno);
		return RR_HANDLED;
	}
	rr_nfs_post_op(object, &ok.file_attributes);
	ok.count = (uint32_t)length;
	ok.data = (struct rpcrdma_bytes){ request->payload, (uint32_t)length };
	/* RFC 1813, 3.3.6: "if READ3args.offset plus READ3resok.count is equal to the size of the file".
	 * Where the file grows meanwhile, no octet at all still means its end: a client could only ask for
	 * ever. */
	ok.eof = length == 0 ? read->count > 0 || read->offset >= object->st.stx_size
			     : read->offset + (uint32_t)length >= object->st.stx_size;
	res->u.resok = ok;
	return RR_HANDLED;
}

enum rr_handled
rr_proc_read(struct rr_nfs_server *server, struct rr_request *request, const void *args, void *result)
{
	const READ3args *read = args;
	READ3res *res = result;
	enum rr_handled handled = RR_HANDLED;
	struct rr_object object;

	res->status = rr_tree_resolve(server->tree, read->file.data, &object);
	if (res->status != NFS3_OK)
		return RR_HANDLED;
	/* RFC 1813, 3.3.6: "The correct return value for the NFS version 3 protocol is NFS3ERR_INVAL." */
	if (!S_ISREG(object.st.stx_mode))
		res->status = NFS3ERR_INVAL;
	else if (read->count > 0 && read_room(request) == 0)
		res->status = NFS3ERR_SERVERFAULT; /* a client that leaves no room would ask for ever */
	else
		handled = read_data(server, request, &object, read, res);
	if (handled == RR_HANDLED && res->status != NFS3_OK)
		rr_nfs_post_op(&object, &res->u.resfail.file_attributes);
	rr_object_put(server->tree, &object);
	return handled;
}

/* Writes all, or as much as there is space for; -1 only where nothing was written. */
static ssize_t
write_fully(int fd, const uint8_t *data, size_t size, uint64_t offset)
{
	size_t done = 0;

	while (done < size) {
		ssize_t n = pwrite(fd, data + done, size - done, (off_t)(offset + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && done == 0)
			return -1;
		if (n <= 0)
			break;
		done += (size_t)n;
	}
	return (ssize_t)done;
}

static nfsstat3
write_data(struct rr_nfs_server *server, struct rr_object *object, const WRITE3args *write, uint32_t *count)
{
	size_t size = rr_min(write->data.length, RR_NFS_IO_MAX);
	nfsstat3 status;
	ssize_t length;
	int fd;

	if (!S_ISREG(object->st.stx_mode) || write->count != write->data.length)
		return NFS3ERR_INVAL;
	status = rr_tree_open(server->tree, object, O_WRONLY, &fd);
	if (status != NFS3_OK)
		return status;
	if (write->offset > INT64_MAX - size)
		return NFS3ERR_FBIG;
	length = write_fully(fd, write->data.data, size, write->offset);
	if (length < 0)
		return rr_nfs_status(errno);
	*count = (uint32_t)length;
	if (write->stable != UNSTABLE)
		rr_nfs_store_fd(server, fd, write->stable == DATA_SYNC);
	return NFS3_OK;
}

enum rr_handled
rr_proc_write(struct rr_nfs_server *server, struct rr_request *request, const void *args, void *result)
{
	const WRITE3args *write = args;
	WRITE3res *res = result;
	WRITE3resok ok = { .committed = write->stable };
	struct rr_object object;

	(void)request;
	/* Before the data is written: a failure to store it that another thread meets then shows as a change.
	 */
	rr_nfs_verifier(server, ok.verf);
	res->status = rr_tree_resolve(server->tree, write->file.data, &object);
	if (res->status != NFS3_OK)
		return RR_HANDLED;
	res->status = write_data(server, &object, write, &ok.count);
	/* No "before": others may write to the file at the same time, without any lock. */
	rr_nfs_after(&object, &ok.file_wcc);
	rr_object_put(server->tree, &object);
	if (res->status == NFS3_OK)
		res->u.resok = ok;
	else
		res->u.resfail.file_wcc = ok.file_wcc;
	return RR_HANDLED;
}

/*
 * RFC 1813, 3.3.21: "COMMIT will always return NFS3_OK, unless there has been an unexpected error": it was
 * the WRITE that needed permission, so this acts as the server itself. The descriptor for writing is most
 * likely open already.
 */
static nfsstat3
commit(struct rr_nfs_server *server, struct rr_object *object)
{
	nfsstat3 status;
	int fd;

	if (!S_ISREG(object->st.stx_mode))
		return NFS3ERR_INVAL;
	rr_tree_as_self(server->tree);
	status = rr_tree_open(server->tree, object, O_WRONLY, &fd);
	if (status != NFS3_OK)
		status = rr_tree_open(server->tree, object, O_RDONLY, &fd);
	if (status == NFS3_OK)
		rr_nfs_store_fd(server, fd, false);
	return status;
}

/* After the data was stored: see WRITE. */
static void
committed(struct rr_nfs_server *server, void *result)
{
	COMMIT3res *res = result;

	rr_nfs_verifier(server, res->u.resok.verf);
}

enum rr_handled
rr_proc_commit(struct rr_nfs_server *server, struct rr_request *request, const void *args, void *result)
{
	const COMMIT3args *range = args;
	COMMIT3res *res = result;
	COMMIT3resok ok = { 0 };
	struct rr_object object;

	(void)request;
	res->status = rr_tree_resolve(server->tree, range->file.data, &object);
	if (res->status != NFS3_OK)
		return RR_HANDLED;
	res->status = commit(server, &object);
	rr_nfs_after(&object, &ok.file_wcc);
	rr_object_put(server->tree, &object);
	server->stored = committed;
	if (res->status == NFS3_OK)
		res->u.resok = ok;
	else
		res->u.resfail.file_wcc = ok.file_wcc;
	return RR_HANDLED;
}
