/* SPDX-License-Identifier: BSD-3-Clause */
#include "../gate.h"
#include "../stage.h"

#include <arpa/inet.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>

#include "base/tls/tls.h"
#include "wire/rpc.h"

static const struct rr_vfs_export exports[] = { { "/a" }, { "/b" } };

/* In this test a handle is one octet, the number of its export. */
static uint32_t
export_of(const struct rr_vfs *vfs, struct rpcrdma_bytes handle)
{
	uint32_t number = handle.length == 1 ? *(const uint8_t *)handle.data : vfs->export_count;

	return number < vfs->export_count ? number : vfs->export_count;
}

static const struct rr_vfs_ops ops = { .export_of = export_of };

struct world {
	struct rr_vfs vfs;
	struct rr_rules *rules;
	struct rr_gate gate;
	struct rr_caller who;
	uint32_t groups[RR_VFS_GROUPS + 1];
	struct rr_gate_caller caller;
	struct rr_vfs_identity identity;
};

static struct rr_rules *
rules_of(const char *const of_exports[2])
{
	struct rr_rules *rules;
	struct rr_text why;

	assert_int_equal(rr_rules_new(&rr_env_system, 2, &rules), 0);
	for (uint32_t i = 0; i < 2; i++) {
		char text[512], *rule;

		snprintf(text, sizeof(text), "%s", of_exports[i]);
		for (rule = strtok(text, " "); rule; rule = strtok(NULL, " "))
			if (rr_rules_add(rules, i, rule, &rr_right_default, &why) < 0)
				fail_msg("%s: %s", rule, why.text);
	}
	return rules;
}

/* Prepares a gate with the rules of both exports, and a caller at an address: an ordinary user, over RDMA. */
static void
world_begin(struct world *world, const char *first, const char *second, const char *from)
{
	*world = (struct world){ .vfs = { .ops = &ops, .exports = exports, .export_count = 2 } };
	world->rules = rules_of((const char *const[]){ first, second });
	rr_gate_init(&world->gate, &world->vfs, world->rules, NULL);
	world->groups[0] = 5;
	world->groups[2] = UINT32_MAX;
	world->who = (struct rr_caller){ RR_AUTH_SYS, RR_CALLER_OPEN, true, 7, 8, 3, world->groups, NULL };
	world->caller = (struct rr_gate_caller){ rr_address_source_of(from), &world->who, RR_RIGHT_V3 };
}

static void
world_end(struct world *world)
{
	rr_gate_end(&world->gate);
	rr_rules_release(world->rules);
}

static enum rr_gate_answer
ask(struct world *world, uint8_t number)
{
	return rr_gate_ask_handle(
		&world->gate, &world->caller, (struct rpcrdma_bytes){ &number, 1 }, &world->identity);
}

static enum rr_gate_answer
ask_from(struct world *world, const char *from)
{
	world->caller.source = rr_address_source_of(from);
	return ask(world, 0);
}

static void
a_caller_without_a_rule_is_let_in_nowhere(void **state)
{
	struct world world;

	(void)state;
	world_begin(&world, "192.0.2.1(rw)", "198.51.100.0/24", "192.0.2.2:700");
	assert_int_equal(ask(&world, 0), RR_GATE_CLOSED);
	assert_int_equal(ask(&world, 1), RR_GATE_CLOSED);
	/* A handle that lies in no export is refused, too. */
	assert_int_equal(ask(&world, 9), RR_GATE_CLOSED);
	assert_int_equal(ask_from(&world, "192.0.2.1:700"), RR_GATE_OPEN);
	assert_int_equal(ask(&world, 1), RR_GATE_CLOSED);
	assert_int_equal(ask(&world, 9), RR_GATE_OPEN);
	assert_true(world.identity.caller.read_only);
	assert_int_equal(world.identity.caller.uid, RR_VFS_NOBODY);
	assert_int_equal(ask_from(&world, "nobody knows"), RR_GATE_CLOSED);
	world_end(&world);
}

static void
networks_are_matched_bit_by_bit(void **state)
{
	struct world world;

	(void)state;
	world_begin(&world, "10.1.2.3/12 192.0.2.0/255.255.255.128 2001:db8:8000::/33", "", "10.16.0.1:1");
	assert_int_equal(ask(&world, 0), RR_GATE_CLOSED);
	assert_int_equal(ask_from(&world, "10.15.255.255:1"), RR_GATE_OPEN);
	assert_int_equal(ask_from(&world, "10.0.0.0:1"), RR_GATE_OPEN);
	assert_int_equal(ask_from(&world, "9.255.255.255:1"), RR_GATE_CLOSED);
	assert_int_equal(ask_from(&world, "192.0.2.127:1"), RR_GATE_OPEN);
	assert_int_equal(ask_from(&world, "192.0.2.128:1"), RR_GATE_CLOSED);
	assert_int_equal(ask_from(&world, "[2001:db8:8000::1]:1"), RR_GATE_OPEN);
	assert_int_equal(ask_from(&world, "[2001:db8:7fff::1]:1"), RR_GATE_CLOSED);
	/* This is the same host, over an IPv6 socket. */
	assert_int_equal(ask_from(&world, "[::ffff:192.0.2.127]:1"), RR_GATE_OPEN);
	world_end(&world);
}

static void
ipv4_and_ipv6_addresses_are_apart(void **state)
{
	struct world world;

	(void)state;
	world_begin(&world, "0.0.0.0/0", "::/0", "192.0.2.1:1");
	assert_int_equal(ask(&world, 0), RR_GATE_OPEN);
	assert_int_equal(ask(&world, 1), RR_GATE_CLOSED);
	assert_int_equal(ask_from(&world, "[2001:db8::1]:1"), RR_GATE_CLOSED);
	assert_int_equal(ask(&world, 1), RR_GATE_OPEN);
	world_end(&world);
}

static void
a_host_counts_before_a_network_and_that_before_everybody(void **state)
{
	struct world world;

	(void)state;
	world_begin(&world,
		"*(ro) 192.0.2.0/24(all_squash,anonuid=1) 192.0.2.0/28(rw) 192.0.2.1(no_root_squash)", "",
		"192.0.2.1:1");
	world.who.uid = 0;
	assert_int_equal(ask(&world, 0), RR_GATE_OPEN);
	assert_int_equal(world.identity.caller.uid, 0);
	/* Of two networks, the first counts. */
	assert_int_equal(ask_from(&world, "192.0.2.2:1"), RR_GATE_OPEN);
	assert_int_equal(world.identity.caller.uid, 1);
	assert_true(world.identity.caller.read_only);
	assert_int_equal(ask_from(&world, "198.51.100.1:1"), RR_GATE_OPEN);
	assert_int_equal(world.identity.caller.uid, RR_VFS_NOBODY);
	world_end(&world);
}

static void
root_is_squashed_unless_the_rule_says_otherwise(void **state)
{
	const struct rr_vfs_caller *caller;
	struct world world;

	(void)state;
	world_begin(&world, "*(rw,anonuid=11,anongid=12)", "*(rw,no_root_squash)", "192.0.2.1:1");
	caller = &world.identity.caller;
	world.who.uid = world.who.gid = 0;
	assert_int_equal(ask(&world, 0), RR_GATE_OPEN);
	assert_int_equal(caller->uid, 11);
	assert_int_equal(caller->gid, 12);
	assert_int_equal(caller->group_count, 3);
	assert_int_equal(caller->groups[0], 5);
	assert_int_equal(caller->groups[1], 12);
	assert_int_equal(caller->groups[2], 12);
	assert_false(caller->read_only);
	assert_int_equal(ask(&world, 1), RR_GATE_OPEN);
	assert_int_equal(caller->uid, 0);
	assert_int_equal(caller->gid, 0);
	assert_int_equal(caller->groups[1], 0);
	/* The number that stands for no user in system calls is replaced by nobody. */
	assert_int_equal(caller->groups[2], RR_VFS_NOBODY);
	world_end(&world);
}

static void
all_are_squashed_where_the_rule_says_so(void **state)
{
	struct world world;

	(void)state;
	world_begin(&world, "*(all_squash,anonuid=11,anongid=12)", "", "192.0.2.1:1");
	assert_int_equal(ask(&world, 0), RR_GATE_OPEN);
	assert_int_equal(world.identity.caller.uid, 11);
	assert_int_equal(world.identity.caller.gid, 12);
	assert_int_equal(world.identity.caller.group_count, 0);
	world_end(&world);
}

static void
all_groups_of_a_credential_count(void **state)
{
	struct world world;

	(void)state;
	world_begin(&world, "*", "", "192.0.2.1:1");
	world.who.group_count = RR_VFS_GROUPS;
	for (uint32_t i = 0; i < RR_VFS_GROUPS; i++)
		world.groups[i] = 100 + i;
	assert_int_equal(ask(&world, 0), RR_GATE_OPEN);
	assert_int_equal(world.identity.caller.group_count, RR_VFS_GROUPS);
	assert_int_equal(world.identity.caller.groups[15], 115);
	world_end(&world);
}

/* A list from a directory of users is in rising order: the group of root stands first. */
static void
a_long_list_of_groups_counts_without_that_of_root(void **state)
{
	struct world world;

	(void)state;
	world_begin(&world, "*", "*(no_root_squash)", "192.0.2.1:1");
	world.who.group_count = RR_VFS_GROUPS + 1;
	for (uint32_t i = 0; i <= RR_VFS_GROUPS; i++)
		world.groups[i] = i;
	assert_int_equal(ask(&world, 0), RR_GATE_OPEN);
	assert_int_equal(world.identity.caller.group_count, RR_VFS_GROUPS);
	assert_int_equal(world.identity.caller.groups[0], 1);
	assert_int_equal(world.identity.caller.groups[15], 16);
	assert_int_equal(ask(&world, 1), RR_GATE_OPEN);
	assert_int_equal(world.identity.caller.group_count, RR_VFS_GROUPS + 1);
	assert_int_equal(world.identity.caller.groups[0], 0);
	world_end(&world);
}

static void
a_flavor_that_the_rule_does_not_name_is_refused(void **state)
{
	struct world world;

	(void)state;
	world_begin(&world, "*", "*(sec=none)", "192.0.2.1:1");
	assert_int_equal(ask(&world, 0), RR_GATE_OPEN);
	assert_int_equal(ask(&world, 1), RR_GATE_FLAVOR);
	world.who = (struct rr_caller){ .flavor = RR_AUTH_NONE };
	assert_int_equal(ask(&world, 0), RR_GATE_FLAVOR);
	assert_int_equal(ask(&world, 1), RR_GATE_OPEN);
	assert_int_equal(world.identity.caller.uid, RR_VFS_NOBODY);
	assert_int_equal(world.identity.caller.group_count, 0);
	/* A flavor for which rules have no word. */
	world.who = (struct rr_caller){
		.flavor = RR_RPCSEC_GSS, .named = true, .uid = 7, .principal = "alice@HERE"
	};
	assert_int_equal(ask(&world, 0), RR_GATE_FLAVOR);
	assert_int_equal(ask(&world, 1), RR_GATE_FLAVOR);
	world_end(&world);
}

/* What the word refuses is a principal of Kerberos that is no user: not AUTH_NONE, which is nobody by its
 * nature. */
static void
a_principal_that_is_no_user_is_anonymous_or_refused(void **state)
{
	static const char words[] = "*(sec=krb5:none,refuse_unknown)";
	struct world world;

	(void)state;
	world_begin(&world, "*(sec=krb5)", words, "192.0.2.1:1");
	world.who = (struct rr_caller){ .flavor = RR_RPCSEC_GSS, .principal = "eve@HERE" };
	assert_int_equal(ask(&world, 0), RR_GATE_OPEN);
	assert_int_equal(world.identity.caller.uid, RR_VFS_NOBODY);
	assert_int_equal(ask(&world, 1), RR_GATE_CLOSED);
	assert_false(rr_gate_all_open(&world.gate, &world.caller));
	world.who.named = true;
	world.who.uid = 7;
	assert_int_equal(ask(&world, 1), RR_GATE_OPEN);
	assert_int_equal(world.identity.caller.uid, 7);
	world.who = (struct rr_caller){ .flavor = RR_AUTH_NONE };
	assert_int_equal(ask(&world, 1), RR_GATE_OPEN);
	world_end(&world);
}

/* RFC 9289, 4.2: the server cannot know whether a certificate is that of one user; the rule says so. */
static void
a_client_with_a_certificate_is_the_user_of_the_rule(void **state)
{
	const struct passwd *root = getpwuid(0);
	char rule[128];
	struct world world;

	(void)state;
	assert_non_null(root);
	snprintf(rule, sizeof(rule), "*(sec=sys:krb5:none,all_squash,anonuid=9,tlsuser=%s)", root->pw_name);
	world_begin(&world, rule, "*", "192.0.2.1:1");
	assert_int_equal(ask(&world, 0), RR_GATE_OPEN);
	assert_int_equal(world.identity.caller.uid, 9);
	world.caller.source.security = RR_SECURITY_TLS;
	assert_int_equal(ask(&world, 0), RR_GATE_OPEN);
	assert_int_equal(world.identity.caller.uid, 9);
	world.caller.source.security = RR_SECURITY_MTLS;
	assert_int_equal(ask(&world, 0), RR_GATE_OPEN);
	assert_int_equal(world.identity.caller.uid, 0);
	assert_int_equal(world.identity.caller.gid, root->pw_gid);
	assert_true(world.identity.caller.group_count >= 1);
	assert_int_equal(ask(&world, 1), RR_GATE_OPEN);
	assert_int_equal(world.identity.caller.uid, 7);
	world.who.flavor = RR_AUTH_NONE;
	assert_int_equal(ask(&world, 0), RR_GATE_OPEN);
	assert_int_equal(world.identity.caller.uid, 0);
	world.who =
		(struct rr_caller){ .flavor = RR_RPCSEC_GSS, .named = true, .uid = 7, .principal = "a@B" };
	assert_int_equal(ask(&world, 0), RR_GATE_OPEN);
	assert_int_equal(world.identity.caller.uid, 9);
	world_end(&world);
}

static void
a_version_that_the_rule_does_not_name_is_refused(void **state)
{
	struct world world;

	(void)state;
	world_begin(&world, "*(vers=4)", "*", "192.0.2.1:1");
	assert_int_equal(ask(&world, 0), RR_GATE_CLOSED);
	assert_int_equal(ask(&world, 1), RR_GATE_OPEN);
	assert_false(rr_gate_all_open(&world.gate, &world.caller));
	world.caller.version = RR_RIGHT_V4;
	assert_int_equal(ask(&world, 0), RR_GATE_OPEN);
	assert_true(rr_gate_all_open(&world.gate, &world.caller));
	world_end(&world);
}

/* Over RDMA, a caller's port says nothing of its privileges. */
static void
over_tcp_a_secure_export_wants_a_port_below_1024(void **state)
{
	struct world world;

	(void)state;
	world_begin(&world, "*", "*(insecure)", "192.0.2.1:1024");
	assert_int_equal(ask(&world, 0), RR_GATE_OPEN);
	world.caller.source.tcp = true;
	assert_int_equal(ask(&world, 0), RR_GATE_CLOSED);
	assert_int_equal(ask(&world, 1), RR_GATE_OPEN);
	/* The next caller has the same address and another port. */
	world.caller.source.port = 1023;
	assert_int_equal(ask(&world, 0), RR_GATE_OPEN);
	world_end(&world);
}

static void
new_rules_count_at_once(void **state)
{
	struct world world;
	struct rr_rules *rules = rules_of((const char *const[]){ "192.0.2.2", "" });

	(void)state;
	world_begin(&world, "192.0.2.1", "", "192.0.2.1:1");
	assert_int_equal(ask(&world, 0), RR_GATE_OPEN);
	rr_gate_take(&world.gate, rules);
	rr_rules_release(rules);
	assert_int_equal(ask(&world, 0), RR_GATE_CLOSED);
	assert_int_equal(ask_from(&world, "192.0.2.2:1"), RR_GATE_OPEN);
	world_end(&world);
}

/* More callers ask than fit into the gate's cache. */
static void
what_the_gate_remembers_of_one_caller_is_no_other_ones(void **state)
{
	struct world world;

	(void)state;
	world_begin(&world, "10.0.0.0/9(rw)", "10.128.0.0/9", "10.0.0.0:1");
	for (uint32_t i = 0; i < 100000; i++) {
		uint32_t at = i * 2654435761u, high = at >> 23 & 1;

		world.caller.source.address[13] = (uint8_t)(at >> 16);
		world.caller.source.address[14] = (uint8_t)(at >> 8);
		world.caller.source.address[15] = (uint8_t)at;
		assert_int_equal(ask(&world, 0), high ? RR_GATE_CLOSED : RR_GATE_OPEN);
		assert_int_equal(ask(&world, 1), high ? RR_GATE_OPEN : RR_GATE_CLOSED);
	}
	world_end(&world);
}

/* ---- The log ---- */

/* A gate with a log, and the lines that it wrote. */
struct logged {
	struct stage stage;
	struct world world;
	uint32_t lines;
	char last[256];
};

static void
logged_line(void *ctx, enum rr_log_level level, const char *line)
{
	struct logged *logged = rr_container(ctx, struct logged, stage);

	assert_int_equal(level, RR_LOG_WARNING);
	logged->lines++;
	snprintf(logged->last, sizeof(logged->last), "%s", line);
}

static void
logged_begin(struct logged *logged, const char *first, const char *second, const char *from)
{
	stage_init(&logged->stage);
	logged->stage.env.log = logged_line;
	stage_loop(&logged->stage);
	world_begin(&logged->world, first, second, from);
	logged->world.gate.log = rr_loop_peer_log(logged->stage.loop);
	logged->lines = 0;
	logged->last[0] = '\0';
}

static void
logged_end(struct logged *logged)
{
	world_end(&logged->world);
	stage_end(&logged->stage);
}

static void
the_log_says_why_an_address_is_refused(void **state)
{
	static const struct {
		const char *first, *second, *from;
		uint8_t number; /* 2: a handle of no export */
		const char *line;
	} rows[] = {
		{ "192.0.2.1(rw)", "*(rw)", "192.0.2.7:900", 0,
			"192.0.2.7:900: refused: there is no rule for this address at /a" },
		{ "2001:db8::1(rw)", "*(rw)", "[2001:db8::2]:900", 0,
			"[2001:db8::2]:900: refused: there is no rule for this address at /a" },
		{ "*(rw)", "*(rw,vers=4)", "192.0.2.7:900", 1,
			"192.0.2.7:900: refused: the rule for this address has no NFS version 3 at /b" },
		{ "*(rw,secure)", "*(rw)", "192.0.2.7:1024", 0,
			"192.0.2.7:1024: refused: the rule for this address has the option secure, which "
			"wants a port below 1024, at /a" },
		{ "192.0.2.1(rw)", "192.0.2.2(rw)", "192.0.2.7:900", 2,
			"192.0.2.7:900: refused: no export has a rule for this address" },
		{ "192.0.2.1(rw)", "192.0.2.7(rw,vers=4)", "192.0.2.7:900", 2,
			"192.0.2.7:900: refused: the rule for this address has no NFS version 3 at /b" },
		{ "192.0.2.7(rw)", "*(rw)", "192.0.2.7:900", 0, NULL },
		{ "192.0.2.1(rw)", "*(rw)", "192.0.2.7:900", 2, NULL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct logged logged;

		logged_begin(&logged, rows[i].first, rows[i].second, rows[i].from);
		logged.world.caller.source.tcp = true;
		assert_int_equal(
			ask(&logged.world, rows[i].number), rows[i].line ? RR_GATE_CLOSED : RR_GATE_OPEN);
		assert_string_equal(logged.last, rows[i].line ? rows[i].line : "");
		logged_end(&logged);
	}
}

/* However often an address asks, there is one line for each export, until the rules change. */
static void
a_refused_address_is_logged_once(void **state)
{
	struct logged logged;

	(void)state;
	logged_begin(&logged, "192.0.2.1(rw)", "192.0.2.1(rw)", "192.0.2.7:900");
	for (int i = 0; i < 100; i++)
		assert_int_equal(ask(&logged.world, (uint8_t)(i % 3)), RR_GATE_CLOSED);
	assert_int_equal(logged.lines, 3);
	rr_gate_take(&logged.world.gate, logged.world.rules);
	assert_int_equal(ask(&logged.world, 1), RR_GATE_CLOSED);
	assert_int_equal(logged.lines, 4);
	logged_end(&logged);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_caller_without_a_rule_is_let_in_nowhere),
		cmocka_unit_test(networks_are_matched_bit_by_bit),
		cmocka_unit_test(ipv4_and_ipv6_addresses_are_apart),
		cmocka_unit_test(a_host_counts_before_a_network_and_that_before_everybody),
		cmocka_unit_test(root_is_squashed_unless_the_rule_says_otherwise),
		cmocka_unit_test(all_are_squashed_where_the_rule_says_so),
		cmocka_unit_test(all_groups_of_a_credential_count),
		cmocka_unit_test(a_long_list_of_groups_counts_without_that_of_root),
		cmocka_unit_test(a_flavor_that_the_rule_does_not_name_is_refused),
		cmocka_unit_test(a_principal_that_is_no_user_is_anonymous_or_refused),
		cmocka_unit_test(a_client_with_a_certificate_is_the_user_of_the_rule),
		cmocka_unit_test(a_version_that_the_rule_does_not_name_is_refused),
		cmocka_unit_test(over_tcp_a_secure_export_wants_a_port_below_1024),
		cmocka_unit_test(new_rules_count_at_once),
		cmocka_unit_test(what_the_gate_remembers_of_one_caller_is_no_other_ones),
		cmocka_unit_test(the_log_says_why_an_address_is_refused),
		cmocka_unit_test(a_refused_address_is_logged_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
