/* SPDX-License-Identifier: BSD-3-Clause */
/* LOOKUP, LOOKUPP, SECINFO, SECINFO_NO_NAME: RFC 8881, sections 18.13, 18.14, 18.29 and 18.45. */
#include <string.h>

#include "server/nfs4/ops.h"
#include "server/nfs4/support.h"
#include "wire/gss.h"

/* Returns the error for an object that is not a directory: NFS4ERR_SYMLINK for a symbolic link, else
 * NFS4ERR_NOTDIR. RFC 8881 demands this of LOOKUP (18.13.3). For LOOKUPP the table in 15.2 has
 * NFS4ERR_SYMLINK, while the text names NFS4ERR_NOTDIR alone; Linux answers both operations alike. */
static uint32_t
lookup_not_directory(const struct rr_nfs4_compound *c)
{
	return c->current.attributes.type == RR_VFS_LINK ? NFS4ERR_SYMLINK : NFS4ERR_NOTDIR;
}

/* Returns the error of a lookup that the storage has refused. If the object is not a directory, and its type
 * is known, the type decides between NFS4ERR_SYMLINK and NFS4ERR_NOTDIR. */
static uint32_t
lookup_status(const struct rr_nfs4_compound *c)
{
	if (c->vfs_status == RR_VFS_NOTDIR && c->current.known)
		return lookup_not_directory(c);
	return rr_nfs4_status(c->vfs_status);
}

/* Runs when the storage has looked the name up: the object becomes the current filehandle. */
static uint32_t
lookup_done(struct rr_nfs4_compound *c)
{
	const struct rr_vfs_lookup *lookup = &c->vfs.lookup;

	if (c->vfs_status != RR_VFS_OK)
		return lookup_status(c);
	rr_nfs4_set_fh(&c->current, &lookup->handle);
	c->current.known = true;
	c->current.attributes = lookup->attributes;
	return NFS4_OK;
}

/* Runs when the type of the current filehandle's object is known: has the storage look up c->own.lookup.name,
 * if the object is a directory. */
static uint32_t
lookup_typed(struct rr_nfs4_compound *c)
{
	struct rr_vfs_lookup *lookup;
	struct rr_vfs *vfs = c->server->vfs;

	if (c->vfs_status != RR_VFS_OK)
		return rr_nfs4_status(c->vfs_status);
	if (c->current.attributes.type != RR_VFS_DIRECTORY)
		return lookup_not_directory(c);
	lookup = &rr_nfs4_vfs_begin(c)->lookup;
	lookup->directory = rr_nfs4_object(&c->current);
	lookup->name = c->own.lookup.name;
	return rr_nfs4_vfs(c, rr_vfs_lookup(vfs, lookup), c->own.lookup.then);
}

/* Reads the attributes of the current filehandle's object. If it is a directory, looks up `name` there and
 * goes on with `then`; else fails with the error of lookup_not_directory(). */
static uint32_t
lookup_begin(struct rr_nfs4_compound *c, component4 name, rr_nfs4_step *then)
{
	c->own.lookup.name = name;
	c->own.lookup.then = then;
	return rr_nfs4_attributes(c, &c->current, lookup_typed);
}

/* Looks up `name` in the directory of the current filehandle. If that directory is above the exports, the
 * entry becomes the current filehandle at once, without the storage and without `then`. */
static uint32_t
lookup_name(struct rr_nfs4_compound *c, component4 name, rr_nfs4_step *then)
{
	nfsstat4 status = rr_nfs4_name(name);
	uint32_t entry;

	if (status != NFS4_OK)
		return status;
	if (c->current.kind != RR_NFS4_FH_PSEUDO)
		return lookup_begin(c, name, then);
	status = rr_nfs4_find_entry(c, name, &entry);
	if (status != NFS4_OK)
		return status;
	rr_nfs4_set_entry(c, entry);
	c->vfs_status = RR_VFS_OK;
	return NFS4_OK;
}

/* Carries out LOOKUP. If the name leads from the pseudo root, above the exports, into an export that the
 * caller may not use with its security flavor, LOOKUP fails: RFC 8881, 2.6.3.1.1.3: NFS4ERR_WRONGSEC "should
 * be returned from the LOOKUP". */
uint32_t
rr_op_lookup(struct rr_nfs4_compound *c)
{
	bool pseudo = c->current.kind == RR_NFS4_FH_PSEUDO;
	uint32_t status = lookup_name(c, c->op->u.oplookup.objname, lookup_done);

	if (pseudo && status == NFS4_OK && rr_nfs4_ask(c, &c->current) == RR_GATE_FLAVOR)
		return NFS4ERR_WRONGSEC;
	return status;
}

/* ---- The directory above ---- */

/* Tells whether `a` and `b` identify the same directory. Unlike rr_locks_is_same(), does not compare the
 * times of birth: both directories exist now, so two different ones cannot have the same number. */
static bool
op_lookupp_is_same(const struct rr_vfs_id *a, const struct rr_vfs_id *b)
{
	return a->fsid[0] == b->fsid[0] && a->fsid[1] == b->fsid[1] && a->number == b->number;
}

/* Returns the index of the export whose root is the current filehandle. The caller knows that there is such
 * an export, so the last export is not compared, but returned if no other export fits. */
static uint32_t
op_lookupp_export(struct rr_nfs4_compound *c)
{
	struct rr_vfs *vfs = c->server->vfs;
	struct rr_vfs_handle root;
	uint32_t i;

	for (i = 0; i + 1 < vfs->export_count; i++) {
		rr_vfs_root(vfs, i, &root);
		if (root.length == c->current.handle.length &&
			memcmp(root.data, c->current.handle.data, root.length) == 0)
			break;
	}
	return i;
}

/* Completes the lookup of "..". If the storage answers with the directory itself, that directory is the root
 * of an export, and the directory above it is in the pseudo root, the tree above the exports. */
static uint32_t
op_lookupp_done(struct rr_nfs4_compound *c)
{
	const struct rr_pseudo *pseudo = &c->server->pseudo;
	uint32_t entry;

	if (c->vfs_status != RR_VFS_OK ||
		!op_lookupp_is_same(&c->vfs.lookup.attributes.id, &c->current.attributes.id))
		return lookup_done(c);
	/* 0: the directory is the root of the whole tree. */
	entry = pseudo->is_empty ? 0 : rr_pseudo_of_export(pseudo, op_lookupp_export(c));
	/* RFC 8881, 18.14.3: "If the current filehandle is ... the root ... NFS4ERR_NOENT" */
	if (entry == 0)
		return NFS4ERR_NOENT;
	rr_nfs4_set_entry(c, pseudo->entries[entry].parent);
	return NFS4_OK;
}

/* Carries out LOOKUPP. In the pseudo root, entry 0 is the root, which has no parent directory. */
uint32_t
rr_op_lookupp(struct rr_nfs4_compound *c)
{
	if (c->current.kind == RR_NFS4_FH_PSEUDO) {
		if (c->current.pseudo == 0)
			return NFS4ERR_NOENT;
		rr_nfs4_set_entry(c, c->server->pseudo.entries[c->current.pseudo].parent);
		return NFS4_OK;
	}
	return lookup_begin(c, (struct rpcrdma_bytes){ "..", 2 }, op_lookupp_done);
}

/* ---- Flavors ---- */

/* Kerberos version 5: RFC 8881, 2.2.1.1.1.2.1: "1.2.840.113554.1.2.2", in the octets that the encoding of
 * ASN.1 has for it, without those of its type and length: so Linux has it at both ends. */
static const uint8_t lookup_krb5[] = { 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x12, 0x01, 0x02, 0x02 };

/* Stores a flavor, which rr_right_flavors() has listed, as SECINFO tells it. */
static void
lookup_tell_flavor(uint32_t flavor, secinfo4 *told)
{
	told->flavor = flavor;
	if (flavor < RR_FLAVOR_KRB5 || flavor > RR_FLAVOR_KRB5P)
		return;
	told->flavor = RPCSEC_GSS;
	told->u.flavor_info = (rpcsec_gss_info){ .oid = { lookup_krb5, sizeof(lookup_krb5) },
		.service = (rpc_gss_svc_t)(RR_GSS_SVC_NONE + (flavor - RR_FLAVOR_KRB5)) };
}

/* Fills the result of SECINFO or SECINFO_NO_NAME with the security flavors that the caller may use. After
 * that there is no current filehandle: RFC 8881, 18.29.3 and 18.45.3: "On success, the current filehandle is
 * consumed". */
static uint32_t
op_secinfo_answer(struct rr_nfs4_compound *c)
{
	uint32_t flavors[RR_RIGHT_FLAVORS];
	/* The result of SECINFO_NO_NAME is of the same type, in the same place. */
	SECINFO4resok *ok = &c->res.u.opsecinfo.u.resok4;

	ok->values = rr_nfs4_alloc(c, RR_RIGHT_FLAVORS * sizeof(*ok->values));
	if (!ok->values)
		return NFS4ERR_DELAY;
	ok->count = rr_nfs4_security_flavors(c, flavors);
	for (uint32_t i = 0; i < ok->count; i++)
		lookup_tell_flavor(flavors[i], &ok->values[i]);
	/* In version 4.0 it stays: RFC 7530, 16.31. */
	if (c->args->minor->sessions)
		c->current.kind = RR_NFS4_FH_NONE;
	return NFS4_OK;
}

/* Runs when the storage has looked up the name of a SECINFO: lists the security flavors if the name exists,
 * else returns the error. The object of that name lies in the same export as the directory, which still is
 * the current filehandle, so both have the same flavors. */
static uint32_t
op_secinfo_done(struct rr_nfs4_compound *c)
{
	return c->vfs_status == RR_VFS_OK ? op_secinfo_answer(c) : lookup_status(c);
}

/* Carries out SECINFO. In the pseudo root, lookup_name() ends at once and does not run op_secinfo_done(). */
uint32_t
rr_op_secinfo(struct rr_nfs4_compound *c)
{
	bool pseudo = c->current.kind == RR_NFS4_FH_PSEUDO;
	uint32_t status = lookup_name(c, c->op->u.opsecinfo.name, op_secinfo_done);

	return pseudo && status == NFS4_OK ? op_secinfo_answer(c) : status;
}

/* Runs when ".." was looked up for SECINFO_NO_NAME: lists the security flavors for the parent directory. */
static uint32_t
op_secinfo_parent_done(struct rr_nfs4_compound *c)
{
	uint32_t status = op_lookupp_done(c);

	return status == NFS4_OK ? op_secinfo_answer(c) : status;
}

/* Runs when the type of the current filehandle's object is known: looks up ".." for SECINFO_NO_NAME, if the
 * object is a directory. */
static uint32_t
op_secinfo_parent_typed(struct rr_nfs4_compound *c)
{
	if (c->vfs_status != RR_VFS_OK)
		return rr_nfs4_status(c->vfs_status);
	if (c->current.attributes.type != RR_VFS_DIRECTORY)
		return NFS4ERR_NOTDIR;
	return lookup_begin(c, (struct rpcrdma_bytes){ "..", 2 }, op_secinfo_parent_done);
}

/* Carries out SECINFO_NO_NAME, for the current filehandle or for the directory above it. In the pseudo root,
 * all directories have the same flavors, and entry 0, the root, has no directory above. */
uint32_t
rr_op_secinfo_no_name(struct rr_nfs4_compound *c)
{
	if (c->op->u.opsecinfo_no_name == SECINFO_STYLE4_CURRENT_FH)
		return op_secinfo_answer(c);
	if (c->current.kind != RR_NFS4_FH_PSEUDO)
		return rr_nfs4_attributes(c, &c->current, op_secinfo_parent_typed);
	return c->current.pseudo == 0 ? NFS4ERR_NOENT : op_secinfo_answer(c);
}
