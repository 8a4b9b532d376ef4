/* SPDX-License-Identifier: BSD-3-Clause */
/* Clients that have no right to an export, or no right to change it. */
#include <string.h>

#include "../../gate.h"
#include "world.h"

/* Changes the rules of both exports while the server runs. NULL: nobody may use that export. */
static void
rules(struct world *world, const char *first, const char *second)
{
	const char *const texts[] = { first, second };
	struct rr_rules *made;
	struct rr_text why;

	assert_int_equal(rr_rules_new(&rr_env_system, 2, &made), 0);
	for (uint32_t i = 0; i < 2; i++)
		if (texts[i] && rr_rules_add(made, i, texts[i], &rr_right_default, &why) < 0)
			fail_msg("%s", why.text);
	rr_gate_take(&world->gate, made);
	rr_rules_release(made);
}

static struct rpcrdma_bytes
handle_copy(const struct peer *peer, uint32_t index, uint8_t copy[NFS4_FHSIZE])
{
	struct rpcrdma_bytes handle = peer_res(peer, index)->u.opgetfh.u.resok4.object;

	memcpy(copy, handle.data, handle.length);
	return (struct rpcrdma_bytes){ copy, handle.length };
}

static void
a_handle_that_was_got_before_gives_nothing_any_more(void **state)
{
	struct world *world = *state;
	struct peer *peer = world_peer(world, 0, "a", 0);
	struct rpcrdma_bytes file;
	uint8_t copy[NFS4_FHSIZE];
	stateid4 stateid;

	assert_int_equal(
		RUN(peer, op_root(), op_lookup("a"),
			op_open("file", "owner", OPEN4_SHARE_ACCESS_BOTH, 0, true), op_plain(OP_GETFH)),
		NFS4_OK);
	file = handle_copy(peer, 3, copy);
	stateid = peer_res(peer, 2)->u.opopen.u.resok4.stateid;
	rules(world, "192.0.2.1(rw)", "*(rw,insecure)");
	assert_int_equal(RUN(peer, op_putfh(file), op_plain(OP_GETATTR)), NFS4ERR_ACCESS);
	assert_int_equal(RUN(peer, op_putfh(file), op_read(&stateid, 0, 1)), NFS4ERR_ACCESS);
	assert_int_equal(RUN(peer, op_putfh(file), op_write(&stateid, 0, "x")), NFS4ERR_ACCESS);
	assert_int_equal(RUN(peer, op_root(), op_lookup("a")), NFS4ERR_ACCESS);
	assert_int_equal(RUN(peer, op_root(), op_lookup("deep"), op_lookup("b")), NFS4_OK);
}

/* The open was made when writing was allowed. */
static void
who_may_only_read_from_now_on_does_not_write_by_an_open(void **state)
{
	struct world *world = *state;
	struct peer *peer = world_peer(world, 0, "a", 0);
	struct rpcrdma_bytes file;
	uint8_t copy[NFS4_FHSIZE];
	stateid4 stateid;

	assert_int_equal(
		RUN(peer, op_root(), op_lookup("a"),
			op_open("file", "owner", OPEN4_SHARE_ACCESS_BOTH, 0, true), op_plain(OP_GETFH)),
		NFS4_OK);
	file = handle_copy(peer, 3, copy);
	stateid = peer_res(peer, 2)->u.opopen.u.resok4.stateid;
	assert_int_equal(RUN(peer, op_putfh(file), op_write(&stateid, 0, "text")), NFS4_OK);
	rules(world, "*(ro,insecure)", NULL);
	assert_int_equal(RUN(peer, op_putfh(file), op_write(&stateid, 0, "x")), NFS4ERR_ROFS);
	assert_int_equal(RUN(peer, op_putfh(file), op_read(&stateid, 0, 9)), NFS4_OK);
	assert_memory_equal(peer_res(peer, 1)->u.opread.u.resok4.data.data, "text", 4);
}

static nfs_argop4
op_secinfo(const char *name)
{
	return (nfs_argop4){ .argop = OP_SECINFO, .u.opsecinfo.name = text_bytes(name) };
}

/* RFC 8881, 15.1.6.1, of NFS4ERR_ACCESS: "The caller does not have the correct permission to perform the
 * requested operation." An export that the caller may not use and a name that is no export have the same
 * answer: it does not tell which names there are. A caller who may use all exports gets NFS4ERR_NOENT. */
static void
the_name_of_an_export_is_refused_to_who_may_not_use_it(void **state)
{
	struct world *world = *state;
	struct peer *peer = world_peer(world, 0, "a", 0);
	nfs_argop4 with_name[3];

	for (int hidden = 0; hidden < 2; hidden++) {
		const char *const names[] = { "a", "nothing" };
		const nfsstat4 there[] = { NFS4_OK, NFS4ERR_ACCESS };

		for (int name = 0; name < 2; name++) {
			nfsstat4 status = hidden ? NFS4ERR_ACCESS : name == 0 ? NFS4_OK : NFS4ERR_NOENT;

			with_name[0] = op_lookup(names[name]);
			with_name[1] = op_secinfo(names[name]);
			with_name[2] = op_open(names[name], "owner", OPEN4_SHARE_ACCESS_READ, 0, false);
			assert_int_equal(RUN(peer, op_root(), with_name[0]), status);
			assert_int_equal(RUN(peer, op_root(), with_name[1]), status);
			assert_int_equal(RUN(peer, op_root(), with_name[2]),
				status == NFS4_OK ? NFS4ERR_ISDIR : status);
			with_name[2] = op_open(names[name], "owner", OPEN4_SHARE_ACCESS_READ, 0, true);
			assert_int_equal(RUN(peer, op_root(), with_name[2]),
				status == NFS4_OK ? NFS4ERR_ISDIR : NFS4ERR_ROFS);
		}
		assert_int_equal(RUN(peer, op_root(), op_lookup("deep"), op_lookup("b")), NFS4_OK);
		assert_int_equal(RUN(peer, op_root(), op_lookup("a")), there[hidden]);
		rules(world, "192.0.2.1(rw)", "*(rw,insecure)");
	}
}

/* Returns the number of the last operation in the answer. */
static nfs_opnum4
last_op(const struct peer *peer)
{
	return peer->res.resarray.values[peer->res.resarray.count - 1].resop;
}

/* Connects a client with AUTH_SYS, opens a file, and then changes the rule of the export to AUTH_NONE alone.
 * Gives the handle of the file. */
static struct peer *
wrong_flavor(struct world *world, struct rpcrdma_bytes *file, uint8_t copy[NFS4_FHSIZE])
{
	struct peer *peer = world_peer(world, 0, "a", 0);

	assert_int_equal(
		RUN(peer, op_root(), op_lookup("a"),
			op_open("file", "owner", OPEN4_SHARE_ACCESS_READ, 0, true), op_plain(OP_GETFH)),
		NFS4_OK);
	*file = handle_copy(peer, 3, copy);
	rules(world, "*(rw,insecure,sec=none)", "*(rw,insecure,sec=sys)");
	return peer;
}

/* 2.6.3.1.1.7: "the put filehandle operation MUST return NFS4ERR_WRONGSEC when there is a security tuple
 * mismatch. This avoids the complexity of adding NFS4ERR_WRONGSEC as an allowable error to every other
 * operation." 2.6.3.1.1.3: "Instead, it should be returned from the LOOKUP". */
static void
a_flavor_that_the_rule_does_not_name_is_refused(void **state)
{
	nfs_argop4 by_handle = op_open("", "owner", OPEN4_SHARE_ACCESS_READ, 0, false);
	struct rpcrdma_bytes file;
	uint8_t copy[NFS4_FHSIZE];
	struct peer *peer = wrong_flavor(*state, &file, copy);

	by_handle.u.opopen.claim.claim = CLAIM_FH;
	assert_int_equal(RUN(peer, op_root(), op_lookup("a"), op_plain(OP_GETATTR)), NFS4ERR_WRONGSEC);
	assert_int_equal(last_op(peer), OP_LOOKUP);
	assert_int_equal(RUN(peer, op_putfh(file), op_plain(OP_GETATTR)), NFS4ERR_WRONGSEC);
	assert_int_equal(last_op(peer), OP_PUTFH);
	assert_int_equal(RUN(peer, op_putfh(file), by_handle), NFS4ERR_WRONGSEC);
	assert_int_equal(last_op(peer), OP_PUTFH);
	assert_int_equal(
		RUN(peer, op_putfh(file), op_plain(OP_SAVEFH), op_plain(OP_GETFH)), NFS4ERR_WRONGSEC);
	assert_int_equal(last_op(peer), OP_PUTFH);
	assert_int_equal(RUN(peer, op_putfh(file), op_plain(OP_SAVEFH), op_root(), op_plain(OP_RESTOREFH),
				 op_plain(OP_GETATTR)),
		NFS4ERR_WRONGSEC);
	assert_int_equal(last_op(peer), OP_RESTOREFH);
}

/* 2.6.3.1.1.2 to 2.6.3.1.1.6 */
static void
putting_a_filehandle_leaves_a_wrong_flavor_to_what_follows(void **state)
{
	struct rpcrdma_bytes file;
	uint8_t copy[NFS4_FHSIZE];
	struct peer *peer = wrong_flavor(*state, &file, copy);

	assert_int_equal(RUN(peer, op_putfh(file)), NFS4_OK);
	assert_int_equal(RUN(peer, op_putfh(file), op_plain(OP_SAVEFH)), NFS4_OK);
	assert_int_equal(RUN(peer, op_putfh(file), op_root(), op_plain(OP_GETATTR)), NFS4_OK);
	assert_int_equal(RUN(peer, op_putfh(file), op_plain(OP_SECINFO_NO_NAME)), NFS4_OK);
	assert_int_equal(RUN(peer, op_putfh(file), op_lookup("name")), NFS4ERR_WRONGSEC);
	assert_int_equal(last_op(peer), OP_LOOKUP);
	assert_int_equal(RUN(peer, op_putfh(file), op_plain(OP_LOOKUPP)), NFS4ERR_WRONGSEC);
	assert_int_equal(last_op(peer), OP_LOOKUPP);
	assert_int_equal(
		RUN(peer, op_putfh(file), op_open("name", "owner", OPEN4_SHARE_ACCESS_READ, 0, false)),
		NFS4ERR_WRONGSEC);
	assert_int_equal(last_op(peer), OP_OPEN);
}

static void
assert_flavors(const struct peer *peer, uint32_t index, uint32_t first, uint32_t count)
{
	const SECINFO4resok *ok = &peer_res(peer, index)->u.opsecinfo.u.resok4;

	assert_int_equal(ok->count, count);
	assert_int_equal(ok->values[0].flavor, first);
}

/* 18.29.3: "a list of valid RPC authentication flavors for a specific directory filehandle, file name pair"
 */
static void
an_export_says_which_flavors_it_may_be_used_with(void **state)
{
	struct rpcrdma_bytes file;
	uint8_t copy[NFS4_FHSIZE];
	struct peer *peer = wrong_flavor(*state, &file, copy);

	assert_int_equal(RUN(peer, op_root(), op_secinfo("a")), NFS4_OK);
	assert_flavors(peer, 1, AUTH_NONE, 1);
	assert_int_equal(RUN(peer, op_root(), op_lookup("deep"), op_secinfo("b")), NFS4_OK);
	assert_flavors(peer, 2, AUTH_SYS, 1);
	assert_int_equal(RUN(peer, op_putfh(file), op_plain(OP_SECINFO_NO_NAME)), NFS4_OK);
	assert_flavors(peer, 1, AUTH_NONE, 1);
	assert_int_equal(RUN(peer, op_root(), op_plain(OP_SECINFO_NO_NAME)), NFS4_OK);
	assert_flavors(peer, 1, AUTH_SYS, 2);
	rules(*state, "*(rw,insecure,sec=sys:none)", NULL);
	assert_int_equal(RUN(peer, op_root(), op_secinfo("a")), NFS4_OK);
	assert_flavors(peer, 1, AUTH_SYS, 2);
}

/* 18.29: with RPCSEC_GSS come the mechanism, the quality of protection and the service, in the order of the
 * rule. */
static void
an_export_names_the_services_of_kerberos(void **state)
{
	static const uint8_t krb5[] = { 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x12, 0x01, 0x02, 0x02 };
	static const uint32_t services[] = { RPC_GSS_SVC_PRIVACY, RPC_GSS_SVC_NONE, 0,
		RPC_GSS_SVC_INTEGRITY };
	struct peer *peer = world_peer(*state, 0, "a", 0);
	const SECINFO4resok *ok;

	rules(*state, "*(rw,insecure,sec=krb5p:krb5:sys:krb5i)", "*(rw,insecure,sec=krb5)");
	assert_int_equal(RUN(peer, op_root(), op_secinfo("a")), NFS4_OK);
	ok = &peer_res(peer, 1)->u.opsecinfo.u.resok4;
	assert_int_equal(ok->count, 4);
	for (uint32_t i = 0; i < 4; i++) {
		const rpcsec_gss_info *info = &ok->values[i].u.flavor_info;

		assert_int_equal(ok->values[i].flavor, i == 2 ? AUTH_SYS : RPCSEC_GSS);
		if (i == 2)
			continue;
		assert_int_equal(info->oid.length, sizeof(krb5));
		assert_memory_equal(info->oid.data, krb5, sizeof(krb5));
		assert_int_equal(info->qop, 0);
		assert_int_equal(info->service, services[i]);
	}
}

static void
handles_of_two_exports_in_one_call_are_both_looked_at(void **state)
{
	struct world *world = *state;
	struct peer *peer = world_peer(world, 0, "a", 0);
	struct rpcrdma_bytes a, b;
	uint8_t copies[2][NFS4_FHSIZE];

	assert_int_equal(RUN(peer, op_root(), op_lookup("a"), op_plain(OP_GETFH)), NFS4_OK);
	a = handle_copy(peer, 2, copies[0]);
	assert_int_equal(
		RUN(peer, op_root(), op_lookup("deep"), op_lookup("b"), op_plain(OP_GETFH)), NFS4_OK);
	b = handle_copy(peer, 3, copies[1]);
	rules(world, NULL, "*(rw,insecure)");
	assert_int_equal(RUN(peer, op_putfh(a), op_plain(OP_SAVEFH), op_putfh(b), op_plain(OP_RESTOREFH),
				 op_plain(OP_GETATTR)),
		NFS4ERR_ACCESS);
	assert_int_equal(RUN(peer, op_putfh(a), op_plain(OP_SAVEFH), op_putfh(b), op_rename("file", "new")),
		NFS4ERR_ACCESS);
	assert_int_equal(RUN(peer, op_putfh(b), op_plain(OP_SAVEFH), op_putfh(a), op_rename("file", "new")),
		NFS4ERR_ACCESS);
	assert_int_equal(RUN(peer, op_putfh(b), op_plain(OP_GETATTR)), NFS4_OK);
}

/* A SETATTR that lets everybody read and write the file. */
static nfs_argop4
op_open_to_all(void)
{
	static uint32_t words[2] = { 0, 1 << (FATTR4_MODE - 32) };
	static const uint8_t mode[4] = { 0, 0, 1, 0266 };

	return (nfs_argop4){ .argop = OP_SETATTR,
		.u.opsetattr = { .obj_attributes = { { 2, words }, { mode, sizeof(mode) } } } };
}

/* Makes a file with a few octets in one of the exports, which everybody may read and write, and returns its
 * handle. */
static struct rpcrdma_bytes
make_file(struct peer *peer, bool in_first, uint8_t copy[NFS4_FHSIZE])
{
	const nfs_argop4 open = op_open("file", "owner", OPEN4_SHARE_ACCESS_BOTH, 0, true);
	struct rpcrdma_bytes file;
	stateid4 stateid;
	uint32_t at = in_first ? 2 : 3;

	if (in_first)
		assert_int_equal(RUN(peer, op_root(), op_lookup("a"), open, op_plain(OP_GETFH)), NFS4_OK);
	else
		assert_int_equal(
			RUN(peer, op_root(), op_lookup("deep"), op_lookup("b"), open, op_plain(OP_GETFH)),
			NFS4_OK);
	stateid = peer_res(peer, at)->u.opopen.u.resok4.stateid;
	file = handle_copy(peer, at + 1, copy);
	assert_int_equal(RUN(peer, op_putfh(file), op_write(&stateid, 0, "text"), op_open_to_all()), NFS4_OK);
	assert_int_equal(RUN(peer, op_putfh(file), op_close(&stateid)), NFS4_OK);
	return file;
}

/* The operations with two filehandles, each with arguments that are good within one export. */
static const nfs_argop4 *
operations_of_two(uint32_t *count)
{
	static nfs_argop4 operations[4];

	operations[0] = (nfs_argop4){ .argop = OP_COPY,
		.u.opcopy = { .ca_count = 4, .ca_consecutive = true, .ca_synchronous = true } };
	operations[1] = (nfs_argop4){ .argop = OP_CLONE };
	operations[2] = (nfs_argop4){ .argop = OP_LINK, .u.oplink.newname = text_bytes("new") };
	operations[3] = op_rename("file", "new");
	*count = 4;
	return operations;
}

/* A rule of an export, whether it names the caller, and which user it makes of the caller, who is root. */
struct rule {
	const char *text;
	bool named, read_only;
	uint32_t user;
};

/* Returns what an operation from a file of one export to one of another is to end with. */
static nfsstat4
expected_across(nfs_opnum4 number, const struct rule *from, const struct rule *to)
{
	if (!from->named || !to->named)
		return NFS4ERR_ACCESS;
	if (from->user != to->user)
		return NFS4ERR_XDEV;
	if (to->read_only)
		return NFS4ERR_ROFS;
	if (number == OP_LINK || number == OP_RENAME)
		return NFS4ERR_XDEV;
	return number == OP_CLONE ? NFS4ERR_NOTSUPP
				  : NFS4_OK; /* the provider of these tests clones nothing */
}

/* Runs each operation with two filehandles from each export to the other. */
static void
assert_across(struct peer *peer, const struct rpcrdma_bytes files[2], const struct rpcrdma_bytes roots[2],
	const struct rule *const rules[2])
{
	uint32_t count;
	const nfs_argop4 *operations = operations_of_two(&count);

	for (uint32_t i = 0; i < 2 * count; i++) {
		nfs_opnum4 number = operations[i / 2].argop;
		uint32_t from = i % 2, to = 1 - from;
		const struct rpcrdma_bytes *saved = number == OP_RENAME ? roots : files;
		const struct rpcrdma_bytes *current = number == OP_COPY || number == OP_CLONE ? files : roots;

		assert_int_equal(RUN(peer, op_putfh(saved[from]), op_plain(OP_SAVEFH), op_putfh(current[to]),
					 operations[i / 2]),
			expected_across(number, rules[from], rules[to]));
	}
}

/* RFC 8881, 15.1.4.12: "an operation, such as linking, that inappropriately crosses a boundary". The
 * rule of each export counts for its own files alone, whatever the rule of the other one gives. */
static void
operations_of_two_exports_need_one_user(void **state)
{
	static const struct rule texts[] = {
		{ "*(rw,insecure,no_root_squash)", true, false, 0 },
		{ "*(ro,insecure,root_squash)", true, true, 65534 },
		{ "*(rw,insecure,root_squash)", true, false, 65534 },
		{ "*(ro,insecure,no_root_squash)", true, true, 0 },
		{ "*(rw,insecure,all_squash,anonuid=7)", true, false, 7 },
		{ "*(ro,insecure,all_squash,anonuid=7)", true, true, 7 },
		{ "192.0.2.1(rw)", false, false, 0 },
		{ NULL, false, false, 0 },
	};
	const uint32_t count = sizeof(texts) / sizeof(texts[0]);
	struct peer *peer = world_peer(*state, 0, "a", 0);
	uint8_t copies[4][NFS4_FHSIZE];
	struct rpcrdma_bytes files[2], roots[2];

	files[0] = make_file(peer, true, copies[0]);
	files[1] = make_file(peer, false, copies[1]);
	assert_int_equal(RUN(peer, op_root(), op_lookup("a"), op_plain(OP_GETFH)), NFS4_OK);
	roots[0] = handle_copy(peer, 2, copies[2]);
	assert_int_equal(
		RUN(peer, op_root(), op_lookup("deep"), op_lookup("b"), op_plain(OP_GETFH)), NFS4_OK);
	roots[1] = handle_copy(peer, 3, copies[3]);
	for (uint32_t i = 0; i < count * count; i++) {
		const struct rule *const pair[2] = { &texts[i / count], &texts[i % count] };

		rules(*state, pair[0]->text, pair[1]->text);
		assert_across(peer, files, roots, pair);
	}
}

/* Whoever may use no export gets no client ID, no session, and cannot use a session. A connection that the
 * client bound before the rules changed may let go of what the client has. */
static void
who_may_use_no_export_gets_no_state(void **state)
{
	struct world *world = *state;
	struct peer *peer = world_peer(world, 0, "a", 0), *other = &world->peers[1];

	rules(world, "192.0.2.1(rw)", NULL);
	other->world = world;
	other->minor = 2;
	peer_connect(other, 0);
	assert_int_equal(peer_exchange(other, "b", 1, 0), NFS4ERR_PERM);
	memcpy(other->session, peer->session, sizeof(other->session));
	assert_int_equal(RUN(other, op_root()), NFS4ERR_BADSESSION);
	assert_int_equal(RUN(peer, op_root()), NFS4_OK);
	rules(world, NULL, "*(rw,insecure)");
	assert_int_equal(peer_exchange(other, "b", 1, 0), NFS4_OK);
}

/* 18.50: a client ID is destroyed by the principal that it was made for, also before it is confirmed. */
static void
a_client_is_destroyed_by_its_own_principal(void **state)
{
	struct world *world = *state;
	struct peer *victim = &world->peers[0], *other = &world->peers[1];
	nfs_argop4 destroy = { .argop = OP_DESTROY_CLIENTID };

	victim->world = other->world = world;
	victim->minor = other->minor = 2;
	peer_connect(victim, 0);
	peer_connect(other, 1000);
	assert_int_equal(peer_exchange(victim, "a", 1, 0), NFS4_OK);
	destroy.u.opdestroy_clientid.dca_clientid = victim->clientid;
	assert_int_equal(peer_raw(other, &destroy, 1), NFS4ERR_WRONG_CRED);
	assert_int_equal(peer_create_session(victim), NFS4_OK);
	destroy.u.opdestroy_clientid.dca_clientid = victim->clientid;
	assert_int_equal(peer_raw(other, &destroy, 1), NFS4ERR_WRONG_CRED);
}

/* The stateids of opens that follow each other do not. */
static void
no_stateid_can_be_guessed_from_another(void **state)
{
	struct peer *peer = world_peer(*state, 0, "a", 0);
	uint64_t numbers[3];

	for (int i = 0; i < 3; i++) {
		const char *const names[] = { "one", "two", "three" };

		assert_int_equal(RUN(peer, op_root(), op_lookup("a"),
					 op_open(names[i], "owner", OPEN4_SHARE_ACCESS_BOTH, 0, true)),
			NFS4_OK);
		memcpy(&numbers[i], peer_res(peer, 2)->u.opopen.u.resok4.stateid.other, sizeof(numbers[i]));
	}
	for (int i = 0; i < 2; i++)
		assert_true(
			numbers[i + 1] - numbers[i] > UINT32_MAX && numbers[i] - numbers[i + 1] > UINT32_MAX);
}

#define two_exports(function)                                                                                \
	cmocka_unit_test_setup_teardown(function, world_setup_two_exports, world_teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		two_exports(a_handle_that_was_got_before_gives_nothing_any_more),
		two_exports(the_name_of_an_export_is_refused_to_who_may_not_use_it),
		two_exports(who_may_only_read_from_now_on_does_not_write_by_an_open),
		two_exports(a_flavor_that_the_rule_does_not_name_is_refused),
		two_exports(putting_a_filehandle_leaves_a_wrong_flavor_to_what_follows),
		two_exports(an_export_says_which_flavors_it_may_be_used_with),
		two_exports(an_export_names_the_services_of_kerberos),
		two_exports(handles_of_two_exports_in_one_call_are_both_looked_at),
		two_exports(operations_of_two_exports_need_one_user),
		two_exports(who_may_use_no_export_gets_no_state),
		two_exports(a_client_is_destroyed_by_its_own_principal),
		two_exports(no_stateid_can_be_guessed_from_another),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
