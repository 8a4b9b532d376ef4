/* SPDX-License-Identifier: BSD-3-Clause */
/* EXCHANGE_ID: RFC 8881, section 18.35.4, case by case; leases. */
#include "../../test.h"

#include <string.h>

#include "server/nfs4/errors.h"
#include "server/nfs4/tables/client.h"

#define LEASE (90 * RR_SECOND)

struct world {
	struct rr_nfs4_clients clients;
	uint64_t now;
	uint32_t ended;
};

static bool
count_end(void *ctx, struct rr_nfs4_client *client)
{
	(void)client;
	((struct world *)ctx)->ended++;
	return true;
}

static int
setup(void **state)
{
	struct world *world = rr_alloc(&rr_env_system, sizeof(*world));

	assert_int_equal(rr_nfs4_clients_init(&world->clients, &rr_env_system, LEASE, 8), 0);
	world->clients.ended = count_end;
	world->clients.ctx = world;
	world->now = 1000 * RR_SECOND;
	*state = world;
	return 0;
}

static int
teardown(void **state)
{
	struct world *world = *state;

	rr_nfs4_clients_free(&world->clients);
	rr_free(&rr_env_system, world);
	return 0;
}

/* Makes an EXCHANGE_ID, and checks that EXCHANGE_ID may answer with the status that it returns. */
static nfsstat4
exchange_by(struct world *world, const client_owner4 *owner, const struct rr_caller *caller, bool update,
	struct rr_nfs4_client **client)
{
	const struct rr_nfs4_exchange exchange = { owner, caller, update };
	nfsstat4 status = rr_nfs4_exchange_id(&world->clients, &exchange, world->now, client);

	assert_true(rr_nfs4_status_allowed(1, OP_EXCHANGE_ID, status));
	return status;
}

/* Makes the EXCHANGE_ID of a client with this name, by the user with this number. */
static nfsstat4
exchange(struct world *world, const char *name, uint8_t verifier, uint32_t uid, bool update,
	struct rr_nfs4_client **client)
{
	client_owner4 owner = { .co_verifier = { verifier }, .co_ownerid = { name, (uint32_t)strlen(name) } };
	const struct rr_caller caller = { .flavor = RR_AUTH_SYS, .named = true, .uid = uid };

	return exchange_by(world, &owner, &caller, update, client);
}

static struct rr_nfs4_client *
confirmed(struct world *world, const char *name, uint8_t verifier, uint32_t uid)
{
	struct rr_nfs4_client *client;

	assert_int_equal(exchange(world, name, verifier, uid, false, &client), NFS4_OK);
	rr_nfs4_client_confirm(client, world->now);
	return client;
}

/* "1. New Owner ID", "4. Replacement of Unconfirmed Record" */
static void
an_unconfirmed_record_is_replaced_by_a_new_id(void **state)
{
	struct rr_nfs4_client *client;
	clientid4 first;

	assert_int_equal(exchange(*state, "a", 1, 0, false, &client), NFS4_OK);
	first = rr_nfs4_client_id(client);
	assert_int_equal(exchange(*state, "a", 1, 0, false, &client), NFS4_OK);
	assert_true(rr_nfs4_client_id(client) != first);
	assert_null(rr_nfs4_client_find(&((struct world *)*state)->clients, first));
}

/* "2. Non-Update on Existing Client ID" */
static void
a_confirmed_record_keeps_its_id(void **state)
{
	struct rr_nfs4_client *client = confirmed(*state, "a", 1, 0), *again;

	assert_int_equal(exchange(*state, "a", 1, 0, false, &again), NFS4_OK);
	assert_ptr_equal(again, client);
}

/* "3. Client Collision" */
static void
another_principal_is_refused_while_there_is_state_in_a_lease(void **state)
{
	struct world *world = *state;
	struct rr_nfs4_client *client = confirmed(world, "a", 1, 0), *other;

	client->session_count = 1;
	assert_int_equal(exchange(world, "a", 1, 7, false, &other), NFS4ERR_CLID_INUSE);
	world->now += LEASE;
	client->session_count = 0;
	assert_int_equal(exchange(world, "a", 1, 7, false, &other), NFS4_OK);
	assert_int_equal(world->ended, 1);
	assert_int_equal(other->phase, RR_NFS4_UNCONFIRMED);
}

/* 18.35.3: "the result spo_must_enforce MUST include the operations the client requested from that set." What
 * the machine proves needs integrity, and operations that let go of state are allowed to it. */
static void
a_machine_that_proves_itself_manages_its_client_alone(void **state)
{
	static const struct rr_caller machine = { RR_RPCSEC_GSS, RR_CALLER_INTEGRITY,
		.principal = "host/a@HERE" },
				      open = { RR_RPCSEC_GSS, RR_CALLER_OPEN, .principal = "host/a@HERE" },
				      alice = { RR_RPCSEC_GSS, RR_CALLER_PRIVACY, .principal = "alice@HERE" };
	/* What Linux sends. */
	uint32_t enforce[] = { 0, 0x02001e00, 0, 0 }, allow[] = { 0x00204130, 0x00982042, 0, 0 };
	const state_protect_ops4 asked = { { 4, enforce }, { 4, allow } };
	client_owner4 owner = { .co_ownerid = { "a", 1 } };
	struct rr_nfs4_exchange exchange = { &owner, &machine, .machine = &asked };
	struct world *world = *state;
	struct rr_nfs4_client *client;

	assert_int_equal(rr_nfs4_exchange_id(&world->clients, &exchange, world->now, &client), NFS4_OK);
	rr_nfs4_client_confirm(client, world->now);
	assert_true(client->machine);
	assert_int_equal(client->machine_ops.enforce[0], 0);
	assert_int_equal(client->machine_ops.enforce[1], 0x02001e00);
	/* As knfsd answers: CLOSE, DELEGRETURN, LOCKU, OPEN_DOWNGRADE, FREE_STATEID, TEST_STATEID. */
	assert_int_equal(client->machine_ops.allow[0], 0x00204110);
	assert_int_equal(client->machine_ops.allow[1], 0x00802000);
	assert_true(rr_nfs4_client_may_manage(client, &machine));
	assert_false(rr_nfs4_client_may_manage(client, &open));
	assert_false(rr_nfs4_client_may_manage(client, &alice));
	assert_true(rr_nfs4_client_must_allow(client, &machine, OP_CLOSE));
	assert_true(rr_nfs4_client_must_allow(client, &machine, OP_FREE_STATEID));
	assert_false(rr_nfs4_client_must_allow(client, &machine, OP_WRITE));
	assert_false(rr_nfs4_client_must_allow(client, &machine, 1000));
	assert_false(rr_nfs4_client_must_allow(client, &open, OP_CLOSE));
	assert_false(rr_nfs4_client_must_allow(client, &alice, OP_CLOSE));
	assert_int_equal(exchange_by(world, &owner, &open, true, &client), NFS4ERR_PERM);
	/* DELEGPURGE of the arguments must be in the result. */
	enforce[0] = UINT32_C(1) << OP_DELEGPURGE;
	owner.co_ownerid.data = "b";
	assert_int_equal(rr_nfs4_exchange_id(&world->clients, &exchange, world->now, &client), NFS4_OK);
	assert_int_equal(client->machine_ops.enforce[0], enforce[0]);
}

/* 2.10.8.3: a principal that its flavor names is known by its name, whatever user it is mapped to. */
static void
a_principal_with_a_name_is_known_by_the_name(void **state)
{
	static const struct rr_caller alice = { RR_RPCSEC_GSS, RR_CALLER_OPEN, true, 7,
		.principal = "alice@HERE" },
				      elsewhere = { RR_RPCSEC_GSS, RR_CALLER_OPEN, true, 8,
					      .principal = "alice@HERE" },
				      bob = { RR_RPCSEC_GSS, RR_CALLER_OPEN, true, 7,
					      .principal = "bob@HERE" },
				      claimed = { RR_AUTH_SYS, RR_CALLER_OPEN, true, 7 };
	client_owner4 owner = { .co_ownerid = { "a", 1 } };
	struct world *world = *state;
	struct rr_nfs4_client *client, *other;

	assert_int_equal(exchange_by(world, &owner, &alice, false, &client), NFS4_OK);
	rr_nfs4_client_confirm(client, world->now);
	client->session_count = 1;
	assert_int_equal(exchange_by(world, &owner, &elsewhere, false, &other), NFS4_OK);
	assert_ptr_equal(other, client);
	assert_int_equal(exchange_by(world, &owner, &bob, false, &other), NFS4ERR_CLID_INUSE);
	assert_int_equal(exchange_by(world, &owner, &claimed, false, &other), NFS4ERR_CLID_INUSE);
	assert_int_equal(exchange_by(world, &owner, &bob, true, &other), NFS4ERR_PERM);
	client->session_count = 0;
}

/* "5. Client Restart" */
static void
a_restarted_client_keeps_its_old_record_until_the_new_one_is_confirmed(void **state)
{
	struct world *world = *state;
	clientid4 old = rr_nfs4_client_id(confirmed(world, "a", 1, 0));
	struct rr_nfs4_client *client;

	assert_int_equal(exchange(world, "a", 2, 0, false, &client), NFS4_OK);
	assert_non_null(rr_nfs4_client_find(&world->clients, old));
	rr_nfs4_client_confirm(client, world->now);
	assert_null(rr_nfs4_client_find(&world->clients, old));
	assert_int_equal(world->ended, 1);
}

/* "6. Update", "7. Update but No Confirmed Record", "8. Update but Wrong Verifier", "9. ... Wrong Principal"
 */
static void
an_update_needs_the_confirmed_record_as_it_is(void **state)
{
	struct rr_nfs4_client *client, *found;

	assert_int_equal(exchange(*state, "a", 1, 0, true, &found), NFS4ERR_NOENT);
	assert_int_equal(exchange(*state, "a", 1, 0, false, &found), NFS4_OK);
	assert_int_equal(exchange(*state, "a", 1, 0, true, &found), NFS4ERR_NOENT);
	client = confirmed(*state, "a", 1, 0);
	assert_int_equal(exchange(*state, "a", 1, 0, true, &found), NFS4_OK);
	assert_ptr_equal(found, client);
	assert_int_equal(exchange(*state, "a", 2, 0, true, &found), NFS4ERR_NOT_SAME);
	assert_int_equal(exchange(*state, "a", 1, 7, true, &found), NFS4ERR_PERM);
}

/* 18.35.4: "Any unconfirmed record that is not confirmed within a lease period SHOULD be removed" */
static void
leases_end(void **state)
{
	struct world *world = *state;
	struct rr_nfs4_client *unconfirmed, *busy = confirmed(world, "busy", 1, 0);

	confirmed(world, "idle", 1, 0);
	assert_int_equal(exchange(world, "new", 1, 0, false, &unconfirmed), NFS4_OK);
	assert_true(rr_nfs4_client_in_lease(busy, world->now));
	assert_false(rr_nfs4_client_in_lease(unconfirmed, world->now));
	busy->state_count = 1;
	assert_int_equal(rr_nfs4_clients_expire(&world->clients, world->now), LEASE);
	world->now += LEASE;
	rr_nfs4_clients_expire(&world->clients, world->now);
	assert_int_equal(world->ended, 2);
	assert_int_equal(busy->phase, RR_NFS4_COURTESY);
	rr_nfs4_client_renew(busy, world->now);
	assert_int_equal(busy->phase, RR_NFS4_CONFIRMED);
	busy->state_count = 0;
}

/* 8.3: a lease that one thread has just renewed is not ended by another, which had asked for the time
 * earlier. */
static void
a_time_before_the_renewal_ends_no_lease(void **state)
{
	struct world *world = *state;
	struct rr_nfs4_client *client = confirmed(world, "client", 1, 0), *other;

	client->state_count = 1;
	assert_true(rr_nfs4_clients_expire(&world->clients, world->now - 1) == LEASE + 1);
	assert_int_equal(client->phase, RR_NFS4_CONFIRMED);
	assert_true(rr_nfs4_client_in_lease(client, world->now - 1));
	assert_true(rr_nfs4_client_in_lease(client, world->now + LEASE - 1));
	assert_false(rr_nfs4_client_in_lease(client, world->now + LEASE));
	world->now--;
	assert_int_equal(exchange(world, "client", 1, 7, false, &other), NFS4ERR_CLID_INUSE);
	client->state_count = 0;
}

/* A full table takes a new client as long as some client in it has no lease or no state. */
static void
newcomers_take_the_place_of_those_without_state(void **state)
{
	struct world *world = *state;
	struct rr_nfs4_client *kept[8], *client;
	char name[] = "0";

	for (int i = 0; i < 8; i++) {
		name[0] = (char)('0' + i);
		kept[i] = confirmed(world, name, 1, 0);
		kept[i]->state_count = i == 3 ? 0 : 1;
	}
	assert_int_equal(exchange(world, "x", 1, 0, false, &client), NFS4_OK);
	assert_int_equal(world->ended, 1);
	rr_nfs4_client_confirm(client, world->now);
	client->state_count = 1;
	assert_int_equal(exchange(world, "y", 1, 0, false, &client), NFS4ERR_DELAY);
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(an_unconfirmed_record_is_replaced_by_a_new_id),
		TEST(a_confirmed_record_keeps_its_id),
		TEST(another_principal_is_refused_while_there_is_state_in_a_lease),
		TEST(a_machine_that_proves_itself_manages_its_client_alone),
		TEST(a_principal_with_a_name_is_known_by_the_name),
		TEST(a_restarted_client_keeps_its_old_record_until_the_new_one_is_confirmed),
		TEST(an_update_needs_the_confirmed_record_as_it_is),
		TEST(leases_end),
		TEST(a_time_before_the_renewal_ends_no_lease),
		TEST(newcomers_take_the_place_of_those_without_state),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
