/* SPDX-License-Identifier: BSD-3-Clause */
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "peer.h"

/*
 * peer [OPTION...] listen|connect verbs|iwarp ADDRESS PORT WHAT
 *
 * One side of one connection between two providers, of which one may be in another machine: see peer.h. A
 * listener says "listening" when it does. Exit status 0: all was as it must be; 1: not, and a line says why.
 *
 *   --crc           ask for CRCs
 *   --peer-to-peer  ask for peer-to-peer mode
 *   --expect TEXT   with what the end of the connection must be explained
 */

static const char reason[] = "no room for you";

static void
rejection(struct peer *peer)
{
	if (!peer->options.connects)
		return;
	peer_need(peer->status == -RPCRDMA_ERR_REJECTED, "it is no rejection: %s", peer->text);
	peer_need(strcmp(peer->reason, reason) == 0, "the reason is '%s'", peer->reason);
}

static const struct {
	const char *name;
	void (*run)(struct peer *peer);
} actions[] = {
	{ "exchange", peer_exchange },
	{ "rping", peer_rping },
	{ "write-astray", peer_write_astray },
	{ "read-astray", peer_read_astray },
	{ "damage", peer_damage },
	{ "overrun", peer_overrun },
	{ "reject", rejection },
};

static void
act(const struct peer_options *options, const char *name)
{
	struct peer peer;

	for (size_t i = 0; i < sizeof(actions) / sizeof(actions[0]); i++) {
		if (strcmp(actions[i].name, name))
			continue;
		peer_open(&peer, options);
		actions[i].run(&peer);
		peer_close(&peer);
		return;
	}
	peer_fail("there is no '%s'", name);
}

int
main(int argc, char **argv)
{
	static const struct option longs[] = { { "crc", no_argument, NULL, 'c' },
		{ "peer-to-peer", no_argument, NULL, 'p' }, { "expect", required_argument, NULL, 'e' },
		{ 0 } };
	struct peer_options options = { 0 };
	int option;

	while ((option = getopt_long(argc, argv, "", longs, NULL)) != -1) {
		options.crc |= option == 'c';
		options.peer_to_peer |= option == 'p';
		if (option == 'e')
			options.expect = optarg;
		peer_need(option != '?', "see the top of %s", __FILE__);
	}
	argv += optind;
	peer_need(argc - optind == 5, "five arguments are needed");
	options.connects = strcmp(argv[0], "connect") == 0;
	options.verbs = strcmp(argv[1], "verbs") == 0;
	options.address = argv[2];
	options.port = argv[3];
	if (strcmp(argv[4], "reject") == 0)
		options.reject = reason;
	act(&options, argv[4]);
	return 0;
}
