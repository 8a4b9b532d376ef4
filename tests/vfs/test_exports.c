/* SPDX-License-Identifier: BSD-3-Clause */
/* Lines of exports(5) as they are written in the field, and clients of theirs that only name servers know. */
#include "../gate.h"
#include "../stage.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "vfs/idmap/idmap.h"

/* ---- The name servers of these tests, in place of those of this machine ---- */

/* Names of addresses, and whether the name has that address in turn. */
static const struct {
	const char *address, *name;
	bool confirmed;
} names[] = {
	{ "192.0.2.1", "web.example.com", true },
	{ "192.0.2.2", "forged.example.com", false },
	{ "192.0.2.4", "192.168.5.6", true },
	{ "192.0.2.5", "Db1.Lab.Example.COM", true },
	{ "192.0.2.6", "node07.cluster", true },
	{ "192.0.2.7", "backup.example.org", true },
};

enum { NAMES = sizeof(names) / sizeof(names[0]) };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t opened = PTHREAD_COND_INITIALIZER;
static bool hangs; /* the name server of 203.0.113.1 does not answer */

static void
set_hangs(bool value)
{
	pthread_mutex_lock(&lock);
	hangs = value;
	pthread_cond_broadcast(&opened);
	pthread_mutex_unlock(&lock);
}

int
gethostbyaddr_r(const void *octets, socklen_t size, int family, struct hostent *entry, char *room,
	size_t length, struct hostent **result, int *why)
{
	static char *no_aliases[] = { NULL };
	char text[INET6_ADDRSTRLEN];

	(void)size;
	inet_ntop(family, octets, text, sizeof(text));
	pthread_mutex_lock(&lock);
	while (hangs && strcmp(text, "203.0.113.1") == 0)
		pthread_cond_wait(&opened, &lock);
	pthread_mutex_unlock(&lock);
	*result = NULL;
	*why = HOST_NOT_FOUND;
	for (int i = 0; i < NAMES && !*result; i++) {
		if (strcmp(names[i].address, text) != 0)
			continue;
		snprintf(room, length, "%s", names[i].name);
		*entry = (struct hostent){ .h_name = room, .h_aliases = no_aliases };
		*result = entry;
	}
	return 0;
}

int
getaddrinfo(const char *name, const char *port, const struct addrinfo *hints, struct addrinfo **list)
{
	struct {
		struct addrinfo info;
		struct sockaddr_in address;
	} * made;

	(void)port, (void)hints;
	for (int i = 0; i < NAMES; i++) {
		if (strcmp(names[i].name, name) != 0)
			continue;
		made = calloc(1, sizeof(*made));
		assert_non_null(made);
		made->address.sin_family = AF_INET;
		inet_pton(AF_INET, names[i].confirmed ? names[i].address : "198.51.100.9",
			&made->address.sin_addr);
		made->info = (struct addrinfo){ .ai_family = AF_INET,
			.ai_socktype = SOCK_STREAM,
			.ai_addrlen = sizeof(made->address),
			.ai_addr = (struct sockaddr *)&made->address };
		*list = &made->info;
		return 0;
	}
	return EAI_NONAME;
}

void
freeaddrinfo(struct addrinfo *list)
{
	free(list);
}

int
innetgr(const char *group, const char *host, const char *user, const char *domain)
{
	(void)user, (void)domain;
	return (strcmp(group, "trusted") == 0 && strcmp(host, "web") == 0) ||
	       (strcmp(group, "by-address") == 0 && strcmp(host, "192.0.2.9") == 0);
}

/* ---- The world ---- */

static const struct rr_vfs_export exports[] = { { "/a" } };

static uint32_t
export_of(const struct rr_vfs *vfs, struct rpcrdma_bytes handle)
{
	(void)vfs, (void)handle;
	return 0;
}

static const struct rr_vfs_ops ops = { .export_of = export_of };

struct world {
	struct stage stage;
	struct rr_vfs vfs;
	struct rr_gate gate;
	struct rr_idmap *hosts;
	struct rr_idmap_waiter waiter;
	unsigned woken;
	struct rr_text why;
};

static void
wake(struct rr_idmap_waiter *waiter)
{
	rr_container(waiter, struct world, waiter)->woken++;
}

static int
setup(void **state)
{
	const struct rr_idmap_config config = { .domain = "" };
	struct world *world = calloc(1, sizeof(*world));

	assert_non_null(world);
	stage_init(&world->stage);
	stage_loop(&world->stage);
	world->vfs = (struct rr_vfs){
		.ops = &ops, .loop = world->stage.loop, .exports = exports, .export_count = 1
	};
	world->waiter.wake = wake;
	rr_list_init(&world->waiter.link);
	assert_int_equal(rr_idmap_new(&world->stage.env, world->stage.loop, &config, &world->hosts), 0);
	set_hangs(true);
	*state = world;
	return 0;
}

static int
teardown(void **state)
{
	struct world *world = *state;

	set_hangs(false);
	rr_gate_end(&world->gate);
	rr_idmap_free(world->hosts);
	stage_end(&world->stage);
	free(world);
	return 0;
}

/* Puts the clients of a line in force, as `serve` does. Returns false, with the reason, where one is refused.
 */
static bool
takes(struct world *world, const char *clients)
{
	struct rr_right defaults = rr_right_default;
	char text[512], *rest = NULL;
	struct rr_rules *rules;
	int error = 0;

	snprintf(text, sizeof(text), "%s", clients);
	assert_int_equal(rr_rules_new(&rr_env_system, 1, &rules), 0);
	for (char *word = strtok_r(text, " ", &rest); word && error == 0; word = strtok_r(NULL, " ", &rest))
		error = word[0] == '-' ? rr_rules_options(word + 1, &defaults, &world->why)
				       : rr_rules_add(rules, 0, word, &defaults, &world->why);
	rr_gate_end(&world->gate);
	rr_gate_init(&world->gate, &world->vfs, rules, NULL);
	world->gate.hosts = world->hosts;
	rr_rules_release(rules);
	return error == 0;
}

static enum rr_gate_answer
ask(struct world *world, const char *from, struct rr_vfs_identity *identity)
{
	static const struct rr_caller who = { RR_AUTH_SYS, RR_CALLER_OPEN, true, 0, 0, 0, NULL, NULL };
	struct rr_gate_caller caller = { rr_address_source_of(from), &who, RR_RIGHT_V4 };

	caller.source.tcp = true;
	return rr_gate_ask(&world->gate, &caller, 0, identity);
}

/* Asks until the names of the host are known. */
static enum rr_gate_answer
ask_and_wait(struct world *world, const char *from, struct rr_vfs_identity *identity)
{
	const struct rr_gate_caller caller = { .source = rr_address_source_of(from), .version = RR_RIGHT_V4 };
	unsigned woken = world->woken;

	while (rr_gate_know(&world->gate, &caller, 0, &world->waiter) == RR_IDMAP_WAIT) {
		stage_until(&world->stage, world->woken > woken);
		woken = world->woken;
	}
	return ask(world, from, identity);
}

/* What the superuser of a client gets: "rw root" where it stays that, "ro" where it may read as nobody,
 * "rw 99" where it is user 99. */
static void
describe(struct world *world, const char *from, char text[64])
{
	struct rr_vfs_identity identity;

	if (ask_and_wait(world, from, &identity) != RR_GATE_OPEN)
		snprintf(text, 64, "nothing");
	else if (identity.caller.uid == RR_VFS_NOBODY)
		snprintf(text, 64, "%s", identity.caller.read_only ? "ro" : "rw");
	else if (identity.caller.uid == 0)
		snprintf(text, 64, "%s root", identity.caller.read_only ? "ro" : "rw");
	else
		snprintf(text, 64, "%s %u", identity.caller.read_only ? "ro" : "rw", identity.caller.uid);
}

/* ---- The table: what stands behind a directory, who asks, what that caller gets here ---- */

static const struct {
	const char *clients, *from,
		*gets; /* gets: with '!' in front: a part of the message that refuses it */
} field[] = {
	{ "*(rw,sync,no_subtree_check)", "192.0.2.1:700", "rw" },
	{ "*(ro)", "192.0.2.1:700", "ro" },
	{ "*", "192.0.2.1:700", "ro" },
	{ "*(rw)", "192.0.2.1:2000", "nothing" },
	{ "*(rw,insecure)", "192.0.2.1:2000", "rw" },
	{ "*(rw,sync,no_root_squash,no_all_squash)", "192.0.2.1:700", "rw root" },
	{ "*(rw,all_squash,anonuid=1000,anongid=1000)", "192.0.2.1:700", "rw 1000" },
	{ "*(rw,all_squash,no_all_squash)", "192.0.2.1:700", "rw" },
	{ "*(rw,async,no_wdelay,insecure_locks,no_root_squash)", "192.0.2.1:700", "rw root" },
	{ "*(rw,fsid=0,insecure,no_subtree_check,crossmnt)", "192.0.2.1:2000", "rw" },
	{ "*(ro,fsid=root)", "192.0.2.1:700", "ro" },
	{ "*(rw,nohide,insecure,no_subtree_check,async)", "192.0.2.1:2000", "rw" },
	{ "*(rw,hide)", "192.0.2.1:700", "rw" },
	{ "*(rw,fsid=25,sec=sys)", "192.0.2.1:700", "rw" },
	{ "*(rw,fsid=6ba7b810-9dad-11d1-80b4-00c04fd430c8)", "192.0.2.1:700", "rw" },
	{ "*(rw,sec=krb5p)", "192.0.2.1:700", "nothing" },
	{ "*(rw,sec=krb5p:krb5i:krb5:sys)", "192.0.2.1:700", "rw" },
	{ "*(rw,acl,no_acl)", "192.0.2.1:700", "rw" },
	{ "*(rw,sign_fh)", "192.0.2.1:700", "rw" },
	{ "*(rw,pnfs,no_pnfs)", "192.0.2.1:700", "rw" },
	{ "*(rw,security_label,nordirplus)", "192.0.2.1:700", "rw" },
	{ "*(rw,replicas=/a@one:/a@two)", "192.0.2.1:700", "rw" },
	{ "*(rw,reexport=auto-fsidnum)", "192.0.2.1:700", "rw" },
	{ "*(rw,mp)", "192.0.2.1:700", "rw" },
	{ "*(rw,mountpoint,auth_nlm,secure_locks)", "192.0.2.1:700", "rw" },
	{ "*(rw,xprtsec=tls:mtls)", "192.0.2.1:700", "nothing" },
	{ "192.0.2.0/24(rw)", "192.0.2.200:700", "rw" },
	{ "192.0.2.0/255.255.255.0(rw)", "192.0.3.1:700", "nothing" },
	{ "10.0.0.0/8(rw) 192.0.2.1(ro)", "10.9.8.7:700", "rw" },
	{ "2001:db8::/32(rw,sync)", "[2001:db8:1::5]:700", "rw" },
	{ "fe80::/64(rw)", "[2001:db8::5]:700", "nothing" },
	{ "192.0.2.1", "192.0.2.1:700", "ro" },
	{ "192.0.*.*(rw)", "192.0.2.77:700", "rw" },
	{ "192.0.*.*(rw)", "192.1.2.77:700", "nothing" },
	{ "192.0.2.?(rw)", "192.0.2.8:700", "rw" },
	{ "192.0.2.?(rw)", "192.0.2.88:700", "nothing" },
	{ "192.0.2.[1-4]*(rw)", "192.0.2.30:700", "rw" },
	{ "192.0.2.[1-4]*(rw)", "192.0.2.50:700", "nothing" },
	{ "*.example.com(rw)", "192.0.2.1:700", "rw" },
	{ "*.example.com(rw)", "192.0.2.2:700", "nothing" },
	{ "*.example.com(rw)", "192.0.2.99:700", "nothing" },
	{ "*.example.com(ro)", "192.0.2.5:700", "ro" },
	{ "*.lab.example.com(rw,no_root_squash)", "192.0.2.5:700", "rw root" },
	{ "*.lab.example.com(rw)", "192.0.2.1:700", "nothing" },
	{ "web?.example.com(rw)", "192.0.2.1:700", "nothing" },
	{ "w*(rw)", "192.0.2.1:700", "rw" },
	{ "node[0-9][0-9].cluster(rw)", "192.0.2.6:700", "rw" },
	{ "node[!0-9]*.cluster(rw)", "192.0.2.6:700", "nothing" },
	{ "192.168.*(rw)", "192.0.2.4:700", "nothing" },
	{ "@trusted(rw)", "192.0.2.1:700", "rw" },
	{ "@trusted(rw)", "192.0.2.5:700", "nothing" },
	{ "@trusted(rw) *(ro)", "192.0.2.5:700", "ro" },
	{ "@by-address(rw,no_root_squash)", "192.0.2.9:700", "rw root" },
	{ "backup.example.org(rw,no_root_squash) *(ro)", "192.0.2.7:700", "rw root" },
	{ "-rw,sync 192.0.2.1 192.0.2.7(ro)", "192.0.2.1:700", "rw" },
	{ "-rw,sync 192.0.2.1 192.0.2.7(ro)", "192.0.2.7:700", "ro" },
	{ "master(rw) trusty(rw,no_root_squash)", "192.0.2.1:700", "!master" },
	{ "(rw)", "192.0.2.1:700", "!no client in front" },
	{ "gss/krb5(rw)", "192.0.2.1:700", "!Kerberos" },
	{ "*(rw,squash_uids=0-15,squash_gids=0-10)", "192.0.2.1:700", "!squash_uids" },
	{ "*(rw,map_daemon)", "192.0.2.1:700", "!map_daemon" },
	{ "*(rw,refer=/srv@192.0.2.8)", "192.0.2.1:700", "!refer" },
	{ "192.168.1.0/40(rw)", "192.0.2.1:700", "!bits up to 32" },
};

static void
lines_of_the_field(void **state)
{
	struct world *world = *state;

	_Static_assert(sizeof(field) / sizeof(field[0]) >= 60, "as many lines");
	for (size_t i = 0; i < sizeof(field) / sizeof(field[0]); i++) {
		char gets[64];

		if (!takes(world, field[i].clients)) {
			if (field[i].gets[0] != '!' || !strstr(world->why.text, field[i].gets + 1))
				fail_msg("%s: %s", field[i].clients, world->why.text);
			continue;
		}
		describe(world, field[i].from, gets);
		if (strcmp(gets, field[i].gets) != 0)
			fail_msg("%s, from %s: %s, not %s", field[i].clients, field[i].from, gets,
				field[i].gets);
	}
}

/* exports(5) has the order of the kinds: a host, a network, a pattern, a netgroup, everybody, whatever their
 * order in the line. */
static void
the_kinds_of_clients_have_an_order(void **state)
{
	static const char *const clients[] = { "192.0.2.1(rw,all_squash,anonuid=1)",
		"192.0.2.0/24(rw,all_squash,anonuid=2)", "*.example.com(rw,all_squash,anonuid=3)",
		"@trusted(rw,all_squash,anonuid=4)", "*(rw,all_squash,anonuid=5)" };
	struct world *world = *state;

	for (unsigned first = 0; first < 5; first++) {
		char line[256] = "", gets[64], wanted[64];

		for (unsigned i = 5; i-- > first;) {
			strcat(line, clients[i]);
			strcat(line, " ");
		}
		assert_true(takes(world, line));
		describe(world, "192.0.2.1:700", gets);
		snprintf(wanted, sizeof(wanted), "rw %u", first + 1);
		assert_string_equal(gets, wanted);
	}
}

/* While a name server hangs, nothing waits: who is admitted by an address is served, and others are to come
 * again. They never get what a rule for everybody gives before it is known that no rule for names counts. */
static void
a_name_server_that_hangs_holds_up_its_own_hosts_alone(void **state)
{
	struct world *world = *state;
	struct rr_vfs_identity identity;

	assert_true(takes(world, "192.0.2.1(rw) *.example.com(rw) *(ro)"));
	assert_int_equal(ask(world, "203.0.113.1:700", &identity), RR_GATE_LATER);
	assert_int_equal(ask(world, "192.0.2.1:700", &identity), RR_GATE_OPEN);
	assert_int_equal(rr_idmap_under_way(world->hosts), 1);
	assert_int_equal(ask_and_wait(world, "192.0.2.5:700", &identity), RR_GATE_OPEN);
	assert_false(identity.caller.read_only);
	stage_pass(&world->stage, 6 * RR_SECOND);
	assert_int_equal(ask(world, "203.0.113.1:700", &identity), RR_GATE_LATER);
	set_hangs(false);
	stage_until(&world->stage, rr_idmap_under_way(world->hosts) == 0);
	assert_int_equal(ask(world, "203.0.113.1:700", &identity), RR_GATE_OPEN);
	assert_true(identity.caller.read_only);
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(lines_of_the_field),
		TEST(the_kinds_of_clients_have_an_order),
		TEST(a_name_server_that_hangs_holds_up_its_own_hosts_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
