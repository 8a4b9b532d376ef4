/* SPDX-License-Identifier: BSD-3-Clause */
/* The limits that a client and a server see of each other through gateways that carry less. */
#include "chain.h"

#include <stdlib.h>
#include <string.h>

#include "base/endian.h"
#include "ulb/nfs42.h"

enum { NFS = 100003, LARGE = 64 << 20, MESSAGE = (1 << 20) + (64 << 10), DATA = 1 << 20, INLINE = 4096 - 28 };
enum { BACK = 4096 }; /* the size that a client asks for in its backchannel */

/* Replaces the body of a message, its last octets, by words. */
static struct message *
with_body(struct message *message, const uint32_t *words, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		rr_put_be32(message->octets + message->length - 4 * (count - i), words[i]);
	return message;
}

static void
send_and_expect(struct chain *chain, int from, int to, struct message *sent, struct message *expected)
{
	send_message(chain, from, sent);
	expect_message(chain, to, expected);
	free(sent);
}

static struct message *
session_call(uint32_t xid, uint32_t size, uint32_t callback, uint32_t callback_reply)
{
	const uint32_t words[] = { 0, 1, 1, OP_CREATE_SESSION, 1, 2, 3, CREATE_SESSION4_FLAG_CONN_BACK_CHAN,
		0, size, size, size, 8, 64, 0, 0, callback, callback_reply, callback_reply, 2, 16, 0,
		0x40000000, 0 };

	return with_body(call_message(xid, NFS, 4, 1, NULL, sizeof(words)), words, sizeof(words) / 4);
}

static struct message *
session_reply(uint32_t xid, uint32_t size, uint32_t callback, uint32_t callback_reply)
{
	const uint32_t words[] = { 0, 0, 1, OP_CREATE_SESSION, 0, 1, 2, 3, 4, 1,
		CREATE_SESSION4_FLAG_CONN_BACK_CHAN, 0, size, size, size, 8, 64, 0, 0, callback,
		callback_reply, INLINE, 2, 16, 0 };

	return with_body(reply_message(xid, sizeof(words)), words, sizeof(words) / 4);
}

/* RFC 8267, 6.5.2: a server sees by ca_maxrequestsize of the backchannel whether it may send Long Calls,
 * which it may not. Linux clients refuse a session whose backchannel has less for responses than they
 * asked for. */
static void
a_session_is_for_messages_that_pass(void **state)
{
	struct chain *chain = *state;

	send_and_expect(chain, chain->client, chain->server, session_call(900, LARGE, BACK, BACK),
		session_call(900, MESSAGE, INLINE, INLINE));
	send_and_expect(chain, chain->server, chain->client, session_reply(900, LARGE, BACK, INLINE),
		session_reply(900, MESSAGE, INLINE, BACK));
	/* Sizes that are small enough are not changed. */
	send_and_expect(chain, chain->client, chain->server, session_call(901, 65536, 1000, 900),
		session_call(901, 65536, 1000, 900));
	send_and_expect(chain, chain->server, chain->client, session_reply(901, 65536, 1000, 900),
		session_reply(901, 65536, 1000, 900));
}

static struct message *
sizes_call(uint32_t xid)
{
	static const uint32_t words[] = { 0, 0, 2, OP_PUTROOTFH, OP_GETATTR, 1, 3u << FATTR4_MAXREAD };

	return with_body(call_message(xid, NFS, 4, 1, NULL, sizeof(words)), words, sizeof(words) / 4);
}

static struct message *
sizes_reply(uint32_t xid, uint32_t size)
{
	const uint32_t words[] = { 0, 0, 2, OP_PUTROOTFH, 0, OP_GETATTR, 0, 1, 3u << FATTR4_MAXREAD, 16, 0,
		size, 0, size };

	return with_body(reply_message(xid, sizeof(words)), words, sizeof(words) / 4);
}

static void
data_is_moved_in_messages_that_pass(void **state)
{
	struct chain *chain = *state;

	send_and_expect(chain, chain->client, chain->server, sizes_call(910), sizes_call(910));
	send_and_expect(chain, chain->server, chain->client, sizes_reply(910, LARGE), sizes_reply(910, DATA));
	send_and_expect(chain, chain->client, chain->server, sizes_call(911), sizes_call(911));
	send_and_expect(
		chain, chain->server, chain->client, sizes_reply(911, 32768), sizes_reply(911, 32768));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			a_session_is_for_messages_that_pass, chain_setup, chain_teardown),
		cmocka_unit_test_setup_teardown(
			data_is_moved_in_messages_that_pass, chain_setup, chain_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
