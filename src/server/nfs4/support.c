/* SPDX-License-Identifier: BSD-3-Clause */
/* The functions that operations share: the way to storage and back, filehandles, current stateids. */
#include <string.h>

#include "server/nfs4/compound.h"
#include "server/nfs4/errors.h"
#include "server/nfs4/recall.h"
#include "server/nfs4/support.h"

static const nfsstat4 support_statuses[] = {
	[RR_VFS_OK] = NFS4_OK,
	[RR_VFS_PENDING] = NFS4ERR_SERVERFAULT,
	[RR_VFS_PERM] = NFS4ERR_PERM,
	[RR_VFS_ACCESS] = NFS4ERR_ACCESS,
	[RR_VFS_NOENT] = NFS4ERR_NOENT,
	[RR_VFS_EXIST] = NFS4ERR_EXIST,
	[RR_VFS_IO] = NFS4ERR_IO,
	[RR_VFS_NXIO] = NFS4ERR_NXIO,
	[RR_VFS_XDEV] = NFS4ERR_XDEV,
	[RR_VFS_NODEV] = NFS4ERR_IO,
	[RR_VFS_NOTDIR] = NFS4ERR_NOTDIR,
	[RR_VFS_ISDIR] = NFS4ERR_ISDIR,
	[RR_VFS_SYMLINK] = NFS4ERR_SYMLINK,
	[RR_VFS_WRONG_TYPE] = NFS4ERR_WRONG_TYPE,
	[RR_VFS_INVAL] = NFS4ERR_INVAL,
	[RR_VFS_BAD_NAME] = NFS4ERR_BADNAME,
	[RR_VFS_BAD_CHAR] = NFS4ERR_BADCHAR,
	[RR_VFS_NAME_TOO_LONG] = NFS4ERR_NAMETOOLONG,
	[RR_VFS_FBIG] = NFS4ERR_FBIG,
	[RR_VFS_NOSPC] = NFS4ERR_NOSPC,
	[RR_VFS_DQUOT] = NFS4ERR_DQUOT,
	[RR_VFS_ROFS] = NFS4ERR_ROFS,
	[RR_VFS_MLINK] = NFS4ERR_MLINK,
	[RR_VFS_NOTEMPTY] = NFS4ERR_NOTEMPTY,
	[RR_VFS_TEXT_BUSY] = NFS4ERR_FILE_OPEN,
	[RR_VFS_STALE] = NFS4ERR_STALE,
	[RR_VFS_BAD_HANDLE] = NFS4ERR_BADHANDLE,
	[RR_VFS_BAD_COOKIE] = NFS4ERR_BAD_COOKIE,
	[RR_VFS_NOT_SYNC] = NFS4ERR_SERVERFAULT,
	[RR_VFS_NOTSUPP] = NFS4ERR_NOTSUPP,
	[RR_VFS_BUSY] = NFS4ERR_DELAY,
	[RR_VFS_NO_BUFFER] = NFS4ERR_DELAY,
	[RR_VFS_SHARE] = NFS4ERR_SHARE_DENIED,
	[RR_VFS_LOCKED] = NFS4ERR_LOCKED,
	[RR_VFS_OPEN_MODE] = NFS4ERR_OPENMODE,
	[RR_VFS_LOCK] = NFS4ERR_DENIED,
	[RR_VFS_NO_XATTR] = NFS4ERR_NOXATTR,
	[RR_VFS_XATTR_SIZE] = NFS4ERR_XATTR2BIG,
	[RR_VFS_CANCELLED] = NFS4ERR_DELAY,
	[RR_VFS_FAULT] = NFS4ERR_SERVERFAULT,
};

nfsstat4
rr_nfs4_status(enum rr_vfs_status status)
{
	return support_statuses[status];
}

/*
 * Returns the status of an operation that the gate refuses with `status`, and gives the caller the identity
 * of nobody. Returns NFS4ERR_WRONGSEC if that is `status` and the operation may answer with it, else
 * NFS4ERR_ACCESS. An operation that may answer with neither only names an object or lets go of one: it gets
 * NFS4_OK and goes on.
 */
static nfsstat4
support_refuse(struct rr_nfs4_compound *c, nfsstat4 status)
{
	rr_gate_identify(NULL, &rr_right_default, &c->identity);
	if (status == NFS4ERR_WRONGSEC &&
		rr_nfs4_status_allowed(c->args->minor->number, c->op->argop, status))
		return status;
	return rr_nfs4_status_allowed(c->args->minor->number, c->op->argop, NFS4ERR_ACCESS) ? NFS4ERR_ACCESS
											    : NFS4_OK;
}

/* Counts a call in the export in which the compound works from now on, unless the compound worked there
 * before. */
static void
support_count(struct rr_nfs4_compound *c)
{
	if (c->identity.export == c->counted)
		return;
	c->counted = c->identity.export;
	rr_gate_count(c->server->gate, &c->identity, (struct rr_gate_count){ .calls = 1 });
}

nfsstat4
rr_nfs4_admit(struct rr_nfs4_compound *c, const struct rr_nfs4_fh *fh)
{
	const struct rpcrdma_bytes handle = { fh->handle.data, fh->handle.length };

	/* The pseudo root is open to all. If c->asked is this operation, PUTFH has asked the gate about the
	 * current filehandle for it already, and the gate has let the caller in. */
	if (fh->kind != RR_NFS4_FH_VFS || (fh == &c->current && c->asked == c->index))
		return NFS4_OK;
	c->asked = 0; /* the identity may become that of another export */
	switch (rr_gate_ask_handle(c->server->gate, &c->caller, handle, &c->identity)) {
	case RR_GATE_OPEN: support_count(c); return NFS4_OK;
	case RR_GATE_CLOSED: return support_refuse(c, NFS4ERR_ACCESS);
	case RR_GATE_LATER: return NFS4ERR_DELAY;
	case RR_GATE_FLAVOR: break;
	}
	if (rr_nfs4_machine_may(c, c->op->argop)) {
		rr_gate_identify(NULL, &rr_right_default, &c->identity);
		return NFS4_OK;
	}
	/* RFC 8881, 2.6.3.1: SECINFO and SECINFO_NO_NAME list the flavors, so they may be called with any
	 * flavor. */
	if (c->op->argop == OP_SECINFO || c->op->argop == OP_SECINFO_NO_NAME) {
		rr_gate_identify(NULL, &rr_right_default, &c->identity);
		return NFS4_OK;
	}
	return support_refuse(c, NFS4ERR_WRONGSEC);
}

enum rr_gate_answer
rr_nfs4_ask(struct rr_nfs4_compound *c, const struct rr_nfs4_fh *fh)
{
	const struct rpcrdma_bytes handle = { fh->handle.data, fh->handle.length };
	enum rr_gate_answer answer = RR_GATE_OPEN;

	if (fh->kind == RR_NFS4_FH_VFS)
		answer = rr_gate_ask_handle(c->server->gate, &c->caller, handle, &c->identity);
	if (answer != RR_GATE_OPEN)
		rr_gate_identify(NULL, &rr_right_default, &c->identity);
	support_count(c);
	return answer;
}

bool
rr_nfs4_sees(struct rr_nfs4_compound *c, const struct rr_pseudo_entry *entry)
{
	return !entry->is_export || rr_gate_rule(c->server->gate, &c->caller, entry->export);
}

nfsstat4
rr_nfs4_find_entry(struct rr_nfs4_compound *c, component4 name, uint32_t *entry)
{
	const struct rr_pseudo *pseudo = &c->server->pseudo;
	struct rr_gate *gate = c->server->gate;

	*entry = rr_pseudo_lookup(pseudo, c->current.pseudo, name);
	if (*entry == pseudo->count)
		return rr_gate_all_open(gate, &c->caller) ? NFS4ERR_NOENT : NFS4ERR_ACCESS;
	if (rr_nfs4_sees(c, &pseudo->entries[*entry]))
		return NFS4_OK;
	if (rr_gate_undecided(gate, &c->caller))
		return NFS4ERR_DELAY;
	rr_gate_log_refusal(gate, &c->caller, pseudo->entries[*entry].export);
	return NFS4ERR_ACCESS;
}

/* Runs when a storage operation that did not end at once has ended: the compound goes on with the step that
 * rr_nfs4_vfs() has noted in c->then. */
static void
support_vfs_done(struct rr_vfs_call *call)
{
	struct rr_nfs4_compound *c = rr_container(call, struct rr_nfs4_compound, vfs.call);

	c->vfs_status = call->status;
	c->vfs_pending = false;
	c->resume(c, c->then);
}

/* The step of rr_nfs4_resume_with(): the operation has ended before it. */
static uint32_t
support_ended(struct rr_nfs4_compound *c)
{
	return c->ended;
}

void
rr_nfs4_resume_with(struct rr_nfs4_compound *c, uint32_t status)
{
	if (status == RR_NFS4_PENDING)
		return;
	c->ended = status;
	c->resume(c, support_ended);
}

union rr_vfs_any *
rr_nfs4_vfs_begin_of(struct rr_nfs4_compound *c, size_t size)
{
	rr_nfs4_house_close(c->server);
	memset(&c->vfs, 0, size);
	c->vfs.call.caller = &c->identity.caller;
	c->vfs.call.done = support_vfs_done;
	/* The storage divides its time among the owners of calls: an owner is a connection of a host. */
	c->vfs.call.host = c->request->party ? rr_party_host(c->request->party) : 0;
	c->vfs.call.owner = c->request->party ? c->request->party->number : 0;
	return &c->vfs;
}

union rr_vfs_any *
rr_nfs4_vfs_begin(struct rr_nfs4_compound *c)
{
	return rr_nfs4_vfs_begin_of(c, sizeof(c->vfs));
}

/* Tells whether the owner and the group in "set", as far as it has them, are those of the caller. */
static bool
support_owns(const struct rr_vfs_caller *caller, const struct rr_vfs_set *set)
{
	bool member = !(set->mask & RR_VFS_SET_GID) || set->gid == caller->gid;

	for (uint32_t i = 0; i < caller->group_count && !member; i++)
		member = set->gid == caller->groups[i];
	return member && (!(set->mask & RR_VFS_SET_UID) || set->uid == caller->uid);
}

/* RFC 8881, 18.4.3, of "an owner attribute, group attribute, or ACL that the principal indicated the RPC
 * call's credentials does not have permissions to create files for": "The error to be returned in this
 * instance is NFS4ERR_PERM." Some clients name their own user with each creation: such a client makes its
 * objects also where it is another user in the export. */
bool
rr_nfs4_owner_differs(const struct rr_nfs4_compound *c, const struct rr_vfs_set *set)
{
	const struct rr_caller *who = c->caller.who;
	struct rr_vfs_caller named;

	if (support_owns(&c->identity.caller, set))
		return false;
	if (!who->named)
		return true;
	named = (struct rr_vfs_caller){ who->uid, who->gid, who->group_count, who->groups, false, false };
	return !support_owns(&named, set);
}

uint32_t
rr_nfs4_vfs(struct rr_nfs4_compound *c, enum rr_vfs_status status, rr_nfs4_step *then)
{
	c->then = then;
	c->vfs_pending = status == RR_VFS_PENDING;
	if (c->vfs_pending)
		return RR_NFS4_PENDING;
	c->vfs_status = status;
	return then(c);
}

uint32_t
rr_nfs4_left(const struct rr_nfs4_compound *c)
{
	return (uint32_t)(c->writer.end - c->writer.next);
}

/* The results grow from the beginning of the arena, and the memory of operations from its end. The octets
 * between writer.next and writer.end are left for both. */
void *
rr_nfs4_alloc(struct rr_nfs4_compound *c, size_t size)
{
	size_t left = (size_t)(c->writer.end - c->writer.next);
	uint8_t *memory;

	if (left < size + sizeof(max_align_t))
		return NULL;
	memory = c->writer.end - size;
	memory -= (uintptr_t)memory % _Alignof(max_align_t);
	c->writer.end = memory;
	return memset(memory, 0, size);
}

void
rr_nfs4_set_octets(struct rr_nfs4_fh *fh, nfs_fh4 octets)
{
	fh->kind = RR_NFS4_FH_VFS;
	fh->handle.length = octets.length;
	memcpy(fh->handle.data, octets.data, octets.length);
	fh->known = fh->has_stateid = false;
	fh->open = NULL;
}

void
rr_nfs4_set_fh(struct rr_nfs4_fh *fh, const struct rr_vfs_handle *handle)
{
	rr_nfs4_set_octets(fh, (nfs_fh4){ handle->data, handle->length });
}

void
rr_nfs4_set_stateid(struct rr_nfs4_compound *c, const stateid4 *stateid)
{
	c->current.has_stateid = true;
	c->current.stateid = *stateid;
}

/*
 * Copies the stateid `given` to *stateid; if it is the special stateid that stands for the current stateid,
 * copies the current stateid instead, with seqid 0: another OPEN of the same owner, by another COMPOUND, may
 * have counted up the seqid since. RFC 8881, 8.2.3: "The stateid passed to the operation in place of the
 * special value has its "seqid" value set to zero, except when the current stateid is used by the operation
 * CLOSE or OPEN_DOWNGRADE." Returns NFS4ERR_BAD_STATEID if there is no current stateid, or for a
 * special stateid that is not valid. RFC 8881, 8.2.3: "If there is no operation in the COMPOUND that has
 * returned a stateid value, the server MUST return the error NFS4ERR_BAD_STATEID."
 */
nfsstat4
rr_nfs4_current_stateid(const struct rr_nfs4_compound *c, const stateid4 *given, stateid4 *stateid)
{
	*stateid = *given;
	switch (rr_nfs4_special(given)) {
	case RR_NFS4_CURRENT:
		/* Version 4.0 has no such stateid. */
		if (!c->current.has_stateid || !c->args->minor->sessions)
			return NFS4ERR_BAD_STATEID;
		*stateid = c->current.stateid;
		if (c->op->argop != OP_CLOSE && c->op->argop != OP_OPEN_DOWNGRADE)
			stateid->seqid = 0;
		return NFS4_OK;
	case RR_NFS4_INVALID:
	case RR_NFS4_UNDEFINED: return NFS4ERR_BAD_STATEID;
	case RR_NFS4_NOT_SPECIAL:
	case RR_NFS4_ANONYMOUS:
	case RR_NFS4_BYPASS: break;
	}
	return NFS4_OK;
}

/* Tells whether the state was made with this very filehandle. Then the filehandle belongs to the file of the
 * state, and the attributes of the file need not be read. */
static bool
support_same_handle(const struct rr_nfs4_fh *fh, const struct rr_nfs4_state *state)
{
	return fh->handle.length == state->handle.length &&
	       memcmp(fh->handle.data, state->handle.data, fh->handle.length) == 0;
}

nfsstat4
rr_nfs4_find_state(struct rr_nfs4_compound *c, const struct rr_nfs4_fh *fh, const stateid4 *given,
	uint32_t kinds, struct rr_nfs4_state **state)
{
	const struct rr_nfs4_tables *tables = &c->server->shared->tables;
	stateid4 stateid;
	nfsstat4 status = rr_nfs4_current_stateid(c, given, &stateid);

	if (status != NFS4_OK)
		return status;
	status = rr_nfs4_state_find(
		tables, c->client, &stateid, fh->known ? &fh->attributes.id : NULL, kinds, state);
	if (status == NFS4_OK && !fh->known && !support_same_handle(fh, *state))
		return NFS4ERR_BAD_STATEID;
	return status;
}

/* Stores the open of the state, with a reference, in c->opened[index]; a delegation without an open leaves it
 * NULL, and so does an open of another user, so that the storage looks at the rights of the caller.
 * c->reserved[index] then keeps the storage from holding what that open denies against the caller. Returns
 * NFS4ERR_OPENMODE if the state was not opened for this access, and NFS4ERR_BAD_STATEID if its OPEN is still
 * under way. The caller holds the lock of the tables. */
static nfsstat4
support_use(struct rr_nfs4_compound *c, const struct rr_nfs4_state *state, uint32_t access, uint32_t index)
{
	const struct rr_nfs4_state *open = state->kind == RR_NFS4_LOCK ? state->parent : state;

	if (access & ~open->access)
		return NFS4ERR_OPENMODE;
	/* The open of this delegation has been closed because its client writes the file, or the storage gave
	 * none. */
	if (!open->opened && open->kind == RR_NFS4_DELEGATION)
		return NFS4_OK;
	/* The first OPEN of this state is under way: no answer has named the stateid yet. */
	if (!open->opened)
		return NFS4ERR_BAD_STATEID;
	/* RFC 8881, 18.16.4: "the server MUST NOT impose any requirement that READs and WRITEs sent for an
	 * open file have the same credentials as the OPEN itself, and the server is REQUIRED to perform
	 * access checking". */
	if (rr_caller_same_principal(&open->opened->opener, c->caller.who))
		c->opened[index] = rr_nfs4_opened_hold(open->opened);
	else
		c->reserved[index] = true;
	return NFS4_OK;
}

nfsstat4
rr_nfs4_may_reclaim(struct rr_nfs4_compound *c)
{
	struct rr_nfs4_tables *tables = &c->server->shared->tables;
	struct rr_nfs4_client *client = c->client;
	nfsstat4 status;

	/* The records are searched once for each client, as it may reclaim thousands of locks. */
	if (!client->looked_up)
		client->known = rr_nfs4_records_known(&tables->records, client);
	client->looked_up = true;
	status = rr_nfs4_grace_reclaim(&tables->grace, client, client->known);
	if (status == NFS4_OK)
		rr_nfs4_grace_reclaimed(&tables->grace, rr_now(c->server->env));
	return status;
}

nfsstat4
rr_nfs4_no_grace(const struct rr_nfs4_compound *c)
{
	bool active = rr_nfs4_lock_tables(c->server)->grace.active;

	rr_nfs4_unlock_tables(c->server);
	return active ? NFS4ERR_GRACE : NFS4_OK;
}

/*
 * Returns NFS4_OK if an operation with the anonymous or the bypass stateid is allowed now. In the grace
 * period, it may not read or write, but may read with the bypass stateid. RFC 8881, 8.4.2.1: "During the
 * grace period, the server must reject READ and WRITE operations ... with an error of NFS4ERR_GRACE". An
 * operation that writes also recalls the delegations of the file, and gets NFS4ERR_DELAY until these have
 * ended.
 */
static nfsstat4
support_special(struct rr_nfs4_compound *c, const struct rr_nfs4_fh *fh, enum rr_nfs4_special special,
	uint32_t access)
{
	nfsstat4 status;

	if (access == 0 || (special == RR_NFS4_BYPASS && access == OPEN4_SHARE_ACCESS_READ))
		return NFS4_OK;
	status = rr_nfs4_no_grace(c);
	/* If the file is not known yet, the caller looks at it and calls this function again. */
	if (status == NFS4_OK && access & OPEN4_SHARE_ACCESS_WRITE && fh->known)
		status = rr_nfs4_recall(c, &fh->attributes.id, true);
	return status;
}

nfsstat4
rr_nfs4_use_stateid(struct rr_nfs4_compound *c, const struct rr_nfs4_fh *fh, const stateid4 *given,
	uint32_t access, uint32_t index)
{
	enum rr_nfs4_special special = rr_nfs4_special(given);
	struct rr_nfs4_state *state;
	nfsstat4 status;

	if (special == RR_NFS4_ANONYMOUS || special == RR_NFS4_BYPASS)
		return support_special(c, fh, special, access);
	rr_nfs4_lock_tables(c->server);
	status = rr_nfs4_find_state(c, fh, given, RR_NFS4_OPEN | RR_NFS4_LOCK | RR_NFS4_DELEGATION, &state);
	if (status == NFS4_OK)
		status = support_use(c, state, access, index);
	rr_nfs4_unlock_tables(c->server);
	return status;
}

nfsstat4
rr_nfs4_regular(const struct rr_nfs4_fh *fh)
{
	switch (fh->attributes.type) {
	case RR_VFS_FILE: return NFS4_OK;
	case RR_VFS_DIRECTORY: return NFS4ERR_ISDIR;
	case RR_VFS_LINK: return NFS4ERR_SYMLINK;
	default: return NFS4ERR_WRONG_TYPE;
	}
}

nfsstat4
rr_nfs4_regular_only(const struct rr_nfs4_fh *fh)
{
	return fh->attributes.type == RR_VFS_FILE ? NFS4_OK : NFS4ERR_WRONG_TYPE;
}

/* Fills *info, which tells the client how a directory or file has changed. If the value before the change is
 * not known, `before` gets a value that differs from `after`, and atomic is false: the client then reads the
 * directory or file again. */
void
rr_nfs4_change_info(const struct rr_vfs_change *change, change_info4 *info)
{
	info->atomic = change->exact && change->after.valid;
	info->after = change->after.valid ? change->after.attributes.change : 0;
	info->before = change->exact ? change->before.change : info->after - 1;
}

nfsstat4
rr_nfs4_name(component4 name)
{
	char text[RR_VFS_NAME_MAX + 1];

	/* RFC 8881, 14.5: an empty name is NFS4ERR_INVAL. */
	if (name.length == 0)
		return NFS4ERR_INVAL;
	return rr_nfs4_status(rr_vfs_name(name, text));
}

/* Runs when the storage has answered to the request for the attributes: the filehandle keeps them, and the
 * operation goes on with c->attributes_then(). After an error, too: the attributes are then not known, and
 * c->vfs_status has the error. */
static uint32_t
support_attributes_done(struct rr_nfs4_compound *c)
{
	struct rr_nfs4_fh *fh = c->attributes_of;

	fh->known = c->vfs_status == RR_VFS_OK;
	if (fh->known)
		fh->attributes = c->vfs.getattr.attributes;
	return c->attributes_then(c);
}

uint32_t
rr_nfs4_attributes(struct rr_nfs4_compound *c, struct rr_nfs4_fh *fh, rr_nfs4_step *then)
{
	struct rr_vfs *vfs = c->server->vfs;

	c->vfs_status = RR_VFS_OK;
	if (fh->known)
		return then(c);
	c->attributes_of = fh;
	c->attributes_then = then;
	rr_nfs4_vfs_begin(c)->getattr.object = rr_nfs4_object(fh);
	return rr_nfs4_vfs(c, rr_vfs_getattr(vfs, &c->vfs.getattr), support_attributes_done);
}
