/* SPDX-License-Identifier: BSD-3-Clause */
/* READDIR: RFC 8881, section 18.23. Entries are encoded as the storage names them, until an entry does not
 * fit. A cookie is the position behind its entry. 0, 1 and 2 belong to no entry (RFC 8881, 18.23.3: cookies 1
 * and 2 are reserved), so the positions 1 and 2 of the storage have cookies of their own: readdir_cookie().
 */
#include <string.h>

#include "base/checked.h"
#include "server/nfs4/gather.h"
#include "server/nfs4/ops.h"
#include "server/nfs4/size.h"
#include "server/nfs4/support.h"

/* READDIR_COOKIES: the difference of a cookie and an index above the exports. READDIR_END: octets of the end
 * of the list: no further entry, and eof. READDIR_DOTS: octets of "." and "..", padded. READDIR_EXPORTS: the
 * most exports of one list, each of which is looked at inside the function that has looked at the one before.
 */
enum { READDIR_COOKIES = 2, READDIR_END = 8, READDIR_DOTS = 8, READDIR_EXPORTS = 64 };

/* Positions of the storage are below this number (struct rr_vfs_entry). */
#define READDIR_BEYOND (UINT64_C(1) << 63)

/* Returns the cookie of a position: the position itself, as clients may keep cookies in a signed number;
 * except for the two that no cookie may have. */
static uint64_t
readdir_cookie(uint64_t position)
{
	return position == 1 || position == 2 ? READDIR_BEYOND + position : position;
}

/* Returns the position of a cookie. One that was never given becomes none of the storage's, either. */
static uint64_t
readdir_position(uint64_t cookie)
{
	return cookie == READDIR_BEYOND + 1 || cookie == READDIR_BEYOND + 2 ? cookie - READDIR_BEYOND
									    : cookie;
}

struct readdir_work {
	struct rr_attr_mask mask;
	uint32_t maxcount, count; /* octets of READDIR4resok; entries */
	uint8_t *begin;           /* of READDIR4resok */
	bool full;                /* an entry did not fit */
	nfsstat4 failed; /* status of the first entry whose attributes cannot be had, without rdattr_error */
	uint32_t looked; /* number of exports whose roots were looked at */
	uint64_t index;  /* of the next entry of a directory above the exports */
	/* An entry whose owner's name is not known yet ended the list: its attributes. */
	bool unnamed;
	struct rr_vfs_attributes nameless;
	struct rr_nfs4_owners owners; /* of the entry that is written */
	struct rr_nfs4_fh export;     /* the root of an export that is an entry there */
};

/* Writes an entry into the reply, with the attributes that mask names, and returns true. If the entry does
 * not fit, writes nothing, sets work->full and returns false. */
static bool
readdir_put(struct rr_nfs4_compound *c, const struct rr_attr_mask *mask, uint64_t cookie,
	struct rpcrdma_bytes name, const struct rr_attr_source *source)
{
	struct readdir_work *work = c->op_memory;
	struct rpcrdma_xdr_writer before = c->writer;

	rpcrdma_put_bool(&c->writer, true);
	rpcrdma_put_u64(&c->writer, cookie);
	rpcrdma_put_bytes(&c->writer, name, RPCRDMA_XDR_UNBOUNDED);
	rr_attr_put(&c->writer, mask, source);
	if (!c->writer.failed && (uint32_t)(c->writer.next - work->begin) + READDIR_END <= work->maxcount &&
		c->writer.end - c->writer.next >= READDIR_END) {
		work->count++;
		return true;
	}
	c->writer = before;
	work->full = true;
	return false;
}

/* Tells whether the mask has no attribute but rdattr_error and mounted_on_fileid. */
static bool
readdir_wants_number_alone(const struct rr_attr_mask *mask)
{
	struct rr_attr_mask known = { { 0 } };

	rr_attr_add(&known, FATTR4_RDATTR_ERROR);
	rr_attr_add(&known, FATTR4_MOUNTED_ON_FILEID);
	return !((mask->words[0] & ~known.words[0]) | (mask->words[1] & ~known.words[1]) | mask->words[2]);
}

/*
 * Writes an entry whose attributes cannot be read, as its status says: with rdattr_error alone, or, where a
 * file system is mounted that may hang, so that the storage has not looked at it (RR_VFS_XDEV), also with
 * mounted_on_fileid, which belongs to the directory. RFC 8881, 18.23.3: "If the client does not request the
 * attribute, the server has no choice but to return failure for the entire READDIR operation." Without
 * rdattr_error, an object that is gone meanwhile (RR_VFS_OK) is left out, and any other status ends the
 * READDIR; RR_VFS_XDEV does so with NFS4ERR_IO, as the client would repeat it for ever after NFS4ERR_DELAY.
 * Returns false if the entry does not fit or the READDIR fails.
 */
static bool
readdir_put_lost(struct rr_nfs4_compound *c, uint64_t cookie, const struct rr_vfs_entry *entry)
{
	const struct rr_vfs_attributes known = { .type = RR_VFS_DIRECTORY, .mounted_on = entry->number };
	bool mounted = entry->status == RR_VFS_XDEV;
	struct readdir_work *work = c->op_memory;
	struct rr_attr_source source = c->own.gathered->source;
	struct rr_attr_mask mask = { { 0 } };

	source.attributes = &known;
	if (mounted && readdir_wants_number_alone(&work->mask))
		return readdir_put(c, &work->mask, cookie, entry->name, &source);
	if (!rr_attr_in(&work->mask, FATTR4_RDATTR_ERROR)) {
		work->failed = mounted ? NFS4ERR_IO : rr_nfs4_status(entry->status);
		return work->failed == NFS4_OK;
	}
	source.error = entry->status == RR_VFS_OK ? NFS4ERR_NOENT : rr_nfs4_status(entry->status);
	rr_attr_add(&mask, FATTR4_RDATTR_ERROR);
	if (mounted) {
		source.error = NFS4ERR_DELAY;
		if (rr_attr_in(&work->mask, FATTR4_MOUNTED_ON_FILEID))
			rr_attr_add(&mask, FATTR4_MOUNTED_ON_FILEID);
	}
	return readdir_put(c, &mask, cookie, entry->name, &source);
}

/* Tells whether the name is "." or "..". */
static bool
readdir_is_dot(struct rpcrdma_bytes name)
{
	const char *text = name.data;

	return (name.length == 1 && text[0] == '.') || (name.length == 2 && text[0] == '.' && text[1] == '.');
}

/* Has the source of an entry tell the names of its owner and group, if the caller gets names. Returns false,
 * and notes the entry, if they are not known yet: the list then ends in front of the entry. */
static bool
readdir_name(
	struct rr_nfs4_compound *c, const struct rr_vfs_attributes *attributes, struct rr_attr_source *source)
{
	struct rr_idmap_asking asking = rr_nfs4_asking(c);
	struct readdir_work *work = c->op_memory;

	if (!c->own.gathered->named)
		return true;
	asking.waiter = NULL; /* the listing is under way still: readdir_done() waits */
	if (rr_nfs4_owners(&asking, attributes, &work->owners, source) == RR_IDMAP_FOUND)
		return true;
	work->unnamed = true;
	work->nameless = *attributes;
	return false;
}

/*
 * Writes an entry into the reply; the storage calls this function for each entry that it lists. If the client
 * asks for no attribute but rdattr_error, the storage gives the name alone, which is enough. Returns false to
 * stop the list, if the entry does not fit or the READDIR fails.
 */
static bool
readdir_take(struct rr_vfs_readdir *readdir, const struct rr_vfs_entry *entry)
{
	struct rr_nfs4_compound *c = rr_container(readdir, struct rr_nfs4_compound, vfs.readdir);
	struct readdir_work *work = c->op_memory;
	struct rr_attr_source source = c->own.gathered->source;
	const struct rr_vfs_attributes nameless = {
		.type = RR_VFS_FILE, .id.number = entry->number, .mounted_on = entry->number
	};
	uint64_t cookie = readdir_cookie(entry->cookie);

	/* RFC 8881, 18.23.4, lets a server leave out the entries "." and "..". */
	if (readdir_is_dot(entry->name))
		return true;
	source.attributes = entry->attributes;
	source.handle = entry->handle;
	if (entry->attributes && entry->handle && !readdir_name(c, entry->attributes, &source))
		return false;
	if (entry->attributes && entry->handle)
		return readdir_put(c, &work->mask, cookie, entry->name, &source);
	if (readdir->attributes)
		return readdir_put_lost(c, cookie, entry);
	source.attributes = &nameless;
	return readdir_put(c, &work->mask, cookie, entry->name, &source);
}

/* Writes the end of the list of entries into the reply. eof: the list has the last entry of the directory.
 * Returns NFS4ERR_TOOSMALL if there are entries, but not a single one fits. */
static uint32_t
readdir_finish(struct rr_nfs4_compound *c, bool eof)
{
	const struct readdir_work *work = c->op_memory;

	if (work->count == 0 && !eof)
		return NFS4ERR_TOOSMALL;
	rpcrdma_put_bool(&c->writer, false);
	rpcrdma_put_bool(&c->writer, eof);
	c->encoded = true;
	return NFS4_OK;
}

static uint32_t readdir_list(struct rr_nfs4_compound *c);

/* Waits for the names of the first entry of a list that is empty because they are not known, and lists the
 * directory once more. */
static uint32_t
readdir_wait(struct rr_nfs4_compound *c)
{
	const struct rr_idmap_asking asking = rr_nfs4_asking(c);
	struct rr_attr_source source = c->own.gathered->source;
	struct readdir_work *work = c->op_memory;

	switch (rr_nfs4_owners(&asking, &work->nameless, &work->owners, &source)) {
	case RR_IDMAP_WAIT: return rr_nfs4_wait_names(c, readdir_wait);
	case RR_IDMAP_BUSY: return NFS4ERR_DELAY;
	default: break;
	}
	work->unnamed = work->full = false;
	return readdir_list(c);
}

/* Runs when the storage has listed the directory: ends the list, or returns an error. */
static uint32_t
readdir_done(struct rr_nfs4_compound *c)
{
	const struct readdir_work *work = c->op_memory;

	if (c->vfs_status != RR_VFS_OK)
		return rr_nfs4_status(c->vfs_status);
	if (work->failed != NFS4_OK)
		return work->failed;
	if (work->unnamed && work->count == 0)
		return readdir_wait(c);
	return readdir_finish(c, c->vfs.readdir.eof && !work->full && !work->unnamed);
}

/* Tells whether the client asks for any attribute other than rdattr_error, so that the storage has to look at
 * each entry. */
static bool
readdir_wants_attributes(const struct rr_attr_mask *mask)
{
	struct rr_attr_mask rest = *mask;

	rest.words[FATTR4_RDATTR_ERROR / 32] &= ~(UINT32_C(1) << FATTR4_RDATTR_ERROR % 32);
	return rest.words[0] || rest.words[1] || rest.words[2];
}

static uint32_t readdir_pseudo(struct rr_nfs4_compound *c);

/* Writes the entry of a directory above the exports that work->index names, with these attributes. */
static bool
readdir_put_pseudo(struct rr_nfs4_compound *c, const struct rr_vfs_attributes *attributes,
	const struct rr_vfs_handle *handle)
{
	struct readdir_work *work = c->op_memory;
	struct rr_attr_source source = c->own.gathered->source;

	source.attributes = attributes;
	source.handle = handle;
	return readdir_put(c, &work->mask, work->index + READDIR_COOKIES,
		c->server->pseudo.entries[work->index].name, &source);
}

/* Runs when the attributes of an export's root are known: writes its entry, and goes on behind it. */
static uint32_t
readdir_pseudo_known(struct rr_nfs4_compound *c)
{
	struct readdir_work *work = c->op_memory;
	const struct rr_vfs_entry lost = { .name = c->server->pseudo.entries[work->index].name,
		.status = c->vfs_status };
	bool taken = c->vfs_status == RR_VFS_OK
			     ? readdir_put_pseudo(c, &work->export.attributes, &work->export.handle)
			     : readdir_put_lost(c, work->index + READDIR_COOKIES, &lost);

	if (!taken)
		return work->failed == NFS4_OK ? readdir_finish(c, false) : work->failed;
	work->index++;
	return readdir_pseudo(c);
}

/* Lists a directory above the exports from work->index on, with the entries that the caller may see, and
 * returns the status of the READDIR. An entry that is an export has the attributes of the export's root, as
 * LOOKUP and GETATTR have them. The list ends without eof if an entry does not fit, or READDIR_EXPORTS
 * exports were looked at. */
static uint32_t
readdir_pseudo(struct rr_nfs4_compound *c)
{
	const struct rr_pseudo *pseudo = &c->server->pseudo;
	struct readdir_work *work = c->op_memory;

	for (; work->index < pseudo->count; work->index++) {
		const struct rr_pseudo_entry *entry = &pseudo->entries[work->index];
		struct rr_vfs_attributes attributes;
		struct rr_vfs_handle handle;

		if (entry->parent != c->current.pseudo || !rr_nfs4_sees(c, entry))
			continue;
		if (entry->is_export && work->looked == READDIR_EXPORTS)
			return readdir_finish(c, false);
		if (entry->is_export && readdir_wants_attributes(&work->mask)) {
			work->looked++;
			rr_vfs_root(c->server->vfs, entry->export, &handle);
			rr_nfs4_set_fh(&work->export, &handle);
			return rr_nfs4_attributes(c, &work->export, readdir_pseudo_known);
		}
		rr_pseudo_attributes(pseudo, (uint32_t)work->index, &attributes);
		rr_pseudo_handle(pseudo, (uint32_t)work->index, &handle);
		if (!readdir_put_pseudo(c, &attributes, &handle))
			return readdir_finish(c, false);
	}
	return readdir_finish(c, true);
}

/*
 * Returns how much of the directory the reply has room for. An entry is taken to be as large as one with the
 * attributes of the directory itself would be: that is written into the reply for a moment. RFC
 * 8881, 18.23.4: "If dircount is zero, the server bounds the reply's size based on the request's maxcount
 * field." "." and
 * "..", which the storage lists and the reply leaves out, are not to use up the client's bounds.
 */
static struct rr_vfs_readdir_room
readdir_room(struct rr_nfs4_compound *c, const READDIR4args *args)
{
	const struct readdir_work *work = c->op_memory;
	struct rr_attr_source source = c->own.gathered->source;
	struct rpcrdma_xdr_writer before = c->writer;
	uint32_t entry = 4 + 8 + 4; /* that an entry follows, the cookie, the length of the name */
	struct rr_vfs_readdir_room room = { 0 };

	source.attributes = &c->current.attributes;
	source.handle = &c->current.handle;
	rr_attr_put(&c->writer, &work->mask, &source);
	if (!c->writer.failed)
		entry += (uint32_t)(c->writer.next - before.next);
	c->writer = before;
	room.names.octets = args->dircount == 0 || args->dircount > UINT32_MAX - READDIR_DOTS
				    ? UINT32_MAX
				    : args->dircount + READDIR_DOTS;
	room.reply.octets = work->maxcount + READDIR_DOTS + 2 * entry;
	room.reply.entry = entry;
	return room;
}

/* Runs when the attributes of the directory are known: writes the beginning of the result (number, status and
 * verifier) into the reply, and lists the directory. */
static uint32_t
readdir_gathered(struct rr_nfs4_compound *c)
{
	const READDIR4args *args = &c->op->u.opreaddir;
	struct readdir_work *work = c->op_memory;
	static const verifier4 verifier = { 0 };

	if (c->vfs_status != RR_VFS_OK)
		return rr_nfs4_status(c->vfs_status);
	if (c->current.attributes.type != RR_VFS_DIRECTORY)
		return NFS4ERR_NOTDIR;
	rpcrdma_put_u32(&c->writer, OP_READDIR);
	rpcrdma_put_u32(&c->writer, NFS4_OK);
	work->begin = c->writer.next;
	rpcrdma_put_fixed(&c->writer, verifier, sizeof(verifier));
	if (c->current.kind == RR_NFS4_FH_PSEUDO && rr_gate_undecided(c->server->gate, &c->caller))
		return NFS4ERR_DELAY;
	if (c->current.kind == RR_NFS4_FH_PSEUDO) {
		/* The cookie of an entry is its index plus READDIR_COOKIES. Entry 0 is the root. */
		work->index = args->cookie > READDIR_COOKIES ? args->cookie - READDIR_COOKIES + 1 : 1;
		return readdir_pseudo(c);
	}
	return readdir_list(c);
}

/* Has the storage list the directory, behind what the reply has of the result. */
static uint32_t
readdir_list(struct rr_nfs4_compound *c)
{
	const READDIR4args *args = &c->op->u.opreaddir;
	const struct readdir_work *work = c->op_memory;
	struct rr_vfs_readdir *readdir = &rr_nfs4_vfs_begin(c)->readdir;
	struct rr_vfs *vfs = c->server->vfs;

	readdir->directory = rr_nfs4_object(&c->current);
	readdir->cookie = readdir_position(args->cookie);
	readdir->attributes = readdir_wants_attributes(&work->mask);
	readdir->room = readdir_room(c, args);
	readdir->take = readdir_take;
	return rr_nfs4_vfs(c, rr_vfs_readdir(vfs, readdir), readdir_done);
}

/* Carries out READDIR. The verifier is always zero, as positions in the storage's list stay valid when a
 * directory changes; a client with another verifier gets NFS4ERR_NOT_SAME. RFC 8881, 18.23.3: cookies 1 and 2
 * are never returned, so a client that sends one of them gets NFS4ERR_BAD_COOKIE. */
uint32_t
rr_op_readdir(struct rr_nfs4_compound *c)
{
	const READDIR4args *args = &c->op->u.opreaddir;
	struct readdir_work *work = c->op_memory = rr_nfs4_alloc(c, sizeof(*work));
	static const verifier4 zero = { 0 };

	if (!work)
		return NFS4ERR_DELAY;
	work->mask = rr_attr_mask(&args->attr_request);
	if (rr_attr_has_write_only(&work->mask, c->args->minor->number))
		return NFS4ERR_INVAL;
	if (args->cookie == 1 || args->cookie == 2)
		return NFS4ERR_BAD_COOKIE;
	if (memcmp(args->cookieverf, zero, sizeof(zero)) != 0)
		return NFS4ERR_NOT_SAME;
	/* RFC 8881, 18.23.3: maxcount is "the maximum total size of all of the data being returned within the
	 * READDIR4resok structure". Its number and status, 8 octets, stand in front of this structure. At
	 * least an empty list must fit. */
	work->maxcount =
		(uint32_t)rr_min(args->maxcount, rr_nfs4_size_left(c) > 8 ? rr_nfs4_size_left(c) - 8 : 0);
	work->maxcount = (uint32_t)rr_min(work->maxcount, rr_min(RR_VFS_LISTING_MAX, rr_nfs4_left(c)));
	if (work->maxcount < sizeof(verifier4) + READDIR_END)
		return NFS4ERR_TOOSMALL;
	return rr_nfs4_gather(c, &c->current, &work->mask, readdir_gathered);
}
