/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "base/address.h"
#include "carrier/rdma/provider.h"
#include "nfs/lookup.h"
#include "tool/doctor/doctor.h"
#include "ulb/portmap2.h"

/* The steps to the server, up to a connection of RDMA. */

enum { REACH_ADDRESSES = 8 };

/* ---- Name and route ---- */

/* Makes the step "name" of the diagnosis and prints its result: resolves the server's name, and stores its
 * first address for the next steps. Returns false if the step failed. */
static bool
reach_name(struct rr_doctor *doctor)
{
	struct rr_doctor_step step = { .name = "name" };
	struct sockaddr_storage addresses[REACH_ADDRESSES];
	char text[RR_ADDRESS_TEXT];
	struct rr_text why = { "" };
	int count;

	rr_doctor_begin(doctor);
	count = rr_address_resolve(
		doctor->check.url.host, doctor->check.url.port, addresses, REACH_ADDRESSES, &why);
	step.failed = count <= 0;
	if (step.failed) {
		rr_doctor_found(&step, "%s", why.text);
		rr_doctor_advise(&step, "%s", rr_advice(-RPCRDMA_ERR_ADDRESS));
	} else {
		doctor->check.address = addresses[0];
		rr_address_text((const struct sockaddr *)&addresses[0], text, sizeof(text));
		rr_doctor_found(&step, "%s is %s%s", doctor->check.url.host, text,
			count > 1 ? ", the first of several addresses" : "");
	}
	rr_doctor_end(doctor, &step);
	return !step.failed;
}

/* Tells whether two addresses are equal apart from their ports. */
static bool
reach_same_host(const struct sockaddr_storage *a, const struct sockaddr_storage *b)
{
	struct sockaddr_storage one = *a, other = *b;
	char first[RR_ADDRESS_TEXT], second[RR_ADDRESS_TEXT];

	rr_address_set_port((struct sockaddr *)&one, 0);
	rr_address_set_port((struct sockaddr *)&other, 0);
	rr_address_text((struct sockaddr *)&one, first, sizeof(first));
	rr_address_text((struct sockaddr *)&other, second, sizeof(second));
	return strcmp(first, second) == 0;
}

/* Makes the step "route" of the diagnosis and prints its result: finds the local address from which packets
 * go to the server, and notes whether the server is this machine. Returns false if the step failed. */
static bool
reach_route(struct rr_doctor *doctor)
{
	const struct sockaddr_storage *address = &doctor->check.address;
	struct rr_doctor_step step = { .name = "route" };
	struct sockaddr_storage source;
	char text[RR_ADDRESS_TEXT];

	rr_doctor_begin(doctor);
	step.failed =
		rr_address_source((const struct sockaddr *)address, rr_address_size(address), &source) < 0;
	if (step.failed) {
		rr_doctor_found(&step, "there is no route to it");
		rr_doctor_advise(&step, "%s", rr_advice(-RPCRDMA_ERR_UNREACHABLE));
	} else {
		rr_address_set_port((struct sockaddr *)&source, 0);
		rr_address_text((const struct sockaddr *)&source, text, sizeof(text));
		doctor->is_local = reach_same_host(&source, address);
		/* The text of the address ends with the port, ":0", which is left out. */
		rr_doctor_found(&step, "packets leave from %.*s%s", (int)strlen(text) - 2, text,
			doctor->is_local ? ", the server is this machine" : "");
	}
	rr_doctor_end(doctor, &step);
	return !step.failed;
}

/* ---- rpcbind ---- */

/* Asks the server's rpcbind, at the port url->rpcbind, for the port of NFS over RDMA, and stores the port in
 * *port. Returns 0; or an error, with its text in `why`, and then *port is 0. */
static int
reach_ask_rpcbind(struct rr_doctor *doctor, const struct rr_url *url, uint16_t *port, struct rr_text *why)
{
	const struct rr_check *check = &doctor->check;
	struct rr_lookup lookup = { .engine = check->engine,
		.address = check->address,
		.timeout = check->timeout * RR_SECOND,
		.interrupted = rr_tool_interrupted };
	int error = rr_lookup_nfs(&lookup, url, why);

	*port = error ? 0 : rr_address_port((const struct sockaddr *)&lookup.address);
	return error;
}

/* Makes the step "rpcbind" of the diagnosis and prints its result: asks the server's rpcbind for the port of
 * NFS over RDMA, which the next steps then use. Does nothing and returns true if the URL does not ask for
 * rpcbind. Returns false if the step failed. */
static bool
reach_rpcbind(struct rr_doctor *doctor)
{
	struct rr_check *check = &doctor->check;
	struct rr_doctor_step step = { .name = "rpcbind" };
	struct rr_text why = { "" };
	uint16_t port;

	if (check->url.rpcbind == 0)
		return true;
	rr_doctor_begin(doctor);
	step.failed = reach_ask_rpcbind(doctor, &check->url, &port, &why) < 0;
	if (step.failed) {
		rr_doctor_found(&step, "%s", why.text);
		rr_doctor_advise(&step,
			"see what is registered there (`rpcinfo -s %s`): `rpcrdma serve --rpcbind PATH "
			"--rpcbind-rdma` "
			"registers NFS over RDMA, the Linux server does not",
			check->url.host);
	} else {
		check->url.port = port;
		rr_address_set_port((struct sockaddr *)&check->address, port);
		rr_doctor_found(&step, "rpcbind at port %u says that NFS over RDMA is at port %u",
			check->url.rpcbind, port);
	}
	rr_doctor_end(doctor, &step);
	return !step.failed;
}

/* ---- The provider ---- */

/* Makes the step "provider" of the diagnosis and prints its result: chooses the provider of RDMA (TCP sockets
 * or an adapter) through which the server is reached. Returns false if the step failed. */
static bool
reach_provider(struct rr_doctor *doctor)
{
	struct rr_check *check = &doctor->check;
	const struct rr_carrier_place place = { check->url.transport,
		(const struct sockaddr *)&check->address, rr_address_size(&check->address) };
	struct rr_doctor_step step = { .name = "provider" };
	struct rr_room *room = rr_room_in(check->engine);
	struct rr_text why = { "" };

	rr_doctor_begin(doctor);
	step.skipped = rr_doctor_over_tcp(doctor);
	step.failed = !step.skipped && (!room || rr_provider_to(room, &place, &check->fabric, &why) < 0);
	if (step.skipped) {
		rr_doctor_found(&step, "of RDMA: the URL asks for TCP");
	} else if (step.failed) {
		rr_doctor_found(&step, "%s", why.text[0] ? why.text : "there is no memory for connections");
		rr_doctor_advise(&step, "%s", rr_advice(-RPCRDMA_ERR_NOTSUP));
	} else {
		rr_doctor_found(&step, "%s",
			strcmp(rr_fabric_name(check->fabric), "iwarp") == 0
				? "iwarp, over TCP sockets: no adapter is on the way"
				: "verbs: an RDMA adapter");
	}
	rr_doctor_end(doctor, &step);
	return !step.failed;
}

/* ---- The port ---- */

/* Tries to connect to a TCP port of the address, and closes the connection. Returns 0 if the port accepts it;
 * otherwise a negative errno, -ETIMEDOUT if no answer came within `seconds` seconds. */
static int
reach_tcp(const struct sockaddr_storage *address, uint16_t port, uint32_t seconds)
{
	struct sockaddr_storage to = *address;
	struct pollfd wait = { .events = POLLOUT };
	socklen_t size = sizeof(int);
	int error = 0;

	rr_address_set_port((struct sockaddr *)&to, port);
	wait.fd = socket(to.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (wait.fd < 0)
		return -errno;
	if (connect(wait.fd, (const struct sockaddr *)&to, rr_address_size(&to)) < 0)
		error = -errno;
	if (error == -EINPROGRESS) {
		int ready = poll(&wait, 1, (int)seconds * 1000);

		error = 0;
		if (ready <= 0)
			error = -ETIMEDOUT;
		else if (getsockopt(wait.fd, SOL_SOCKET, SO_ERROR, &error, &size) == 0)
			error = -error;
	}
	close(wait.fd);
	return error;
}

/* Writes the advice for a port that cannot be connected to. For that, tries whether the standard port of NFS
 * over RDMA answers instead, and asks rpcbind whether it knows another port. */
static void
reach_advise_port(struct rr_doctor *doctor, struct rr_doctor_step *step, int error)
{
	const struct rr_check *check = &doctor->check;
	uint16_t port = check->url.port;
	bool has_rdma = !rr_doctor_over_tcp(doctor) && port != RR_URL_RDMA_PORT &&
			reach_tcp(&check->address, RR_URL_RDMA_PORT, 1) == 0;
	struct rr_url asking = check->url;
	struct rr_text why;
	uint16_t registered = 0;

	if (rr_doctor_over_tcp(doctor)) {
		rr_doctor_advise(step, "%s",
			rr_advice_tcp(error == -ECONNREFUSED ? -RPCRDMA_ERR_REFUSED : -RPCRDMA_ERR_TIMEDOUT));
		return;
	}
	asking.rpcbind = PMAP_PORT;
	if (error == -ECONNREFUSED && !has_rdma)
		reach_ask_rpcbind(doctor, &asking, &registered, &why);
	if (error == -ETIMEDOUT || error == -EHOSTUNREACH)
		rr_doctor_advise(step, "%s", rr_advice(-RPCRDMA_ERR_TIMEDOUT));
	else if (has_rdma)
		rr_doctor_advise(
			step, "port %u answers there: leave the port out of the URL", RR_URL_RDMA_PORT);
	else if (registered)
		rr_doctor_advise(step, "rpcbind there says port %u: put :%u or ?rpcbind in the URL",
			registered, registered);
	else
		rr_doctor_advise(step, "%s", rr_advice(-RPCRDMA_ERR_REFUSED));
}

/* Makes the step "port" of the diagnosis and prints its result: connects to the TCP port if NFS, or RDMA,
 * goes over TCP sockets. If an adapter is used, the step is skipped, as only the RDMA handshake can try its
 * ports. Returns false if the step failed. */
static bool
reach_port(struct rr_doctor *doctor)
{
	struct rr_check *check = &doctor->check;
	struct rr_doctor_step step = { .name = "port" };
	int error;

	rr_doctor_begin(doctor);
	if (!rr_doctor_over_tcp(doctor) && strcmp(rr_fabric_name(check->fabric), "iwarp") != 0) {
		step.skipped = true;
		rr_doctor_found(&step, "of an adapter: the handshake shows it");
		rr_doctor_end(doctor, &step);
		return true;
	}
	error = reach_tcp(&check->address, check->url.port, check->timeout);
	step.failed = error != 0;
	if (error == -ECONNREFUSED)
		rr_doctor_found(&step, "no program listens at port %u", check->url.port);
	else if (error == -ETIMEDOUT)
		rr_doctor_found(
			&step, "port %u does not answer within %u s", check->url.port, check->timeout);
	else if (error)
		rr_doctor_found(&step, "port %u: %s", check->url.port, strerror(-error));
	else
		rr_doctor_found(&step, "port %u takes connections", check->url.port);
	if (error)
		reach_advise_port(doctor, &step, error);
	rr_doctor_end(doctor, &step);
	return !step.failed;
}

/* ---- The handshake ---- */

/* Makes the step "handshake" of the diagnosis and prints its result: connects to the server by RDMA, and
 * shows the limits that the server's private data announces. Returns false if the step failed. */
static bool
reach_handshake(struct rr_doctor *doctor)
{
	struct rr_check_peer peer = { .check = &doctor->check, .version = 1 };
	struct rr_doctor_step step = { .name = "handshake" };
	const char *advice;

	rr_doctor_begin(doctor);
	step.failed = rr_check_connect(&peer, NULL, 0) < 0;
	if (step.failed) {
		rr_doctor_found(&step, "%s", peer.why.text);
		advice = rr_advice(peer.status);
		rr_doctor_advise(&step, "%s", advice ? advice : rr_advice(-RPCRDMA_ERR_PEER));
	} else if (peer.has_private_data) {
		rr_doctor_found(&step, "connected; the server sends up to %u octets and receives %u inline%s",
			peer.send_size, peer.receive_size,
			peer.invalidates ? ", with remote invalidation" : "");
	} else {
		rr_doctor_found(&step, "connected; the server has no private data, so 1024 octets go inline");
	}
	rr_check_close(&peer);
	rr_doctor_end(doctor, &step);
	return !step.failed;
}

bool
rr_doctor_reach(struct rr_doctor *doctor)
{
	return reach_name(doctor) && reach_route(doctor) && reach_rpcbind(doctor) && reach_provider(doctor) &&
	       reach_port(doctor) && (rr_doctor_over_tcp(doctor) || reach_handshake(doctor));
}
