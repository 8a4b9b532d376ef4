/* SPDX-License-Identifier: BSD-3-Clause */
#include "fake.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "../fabric/loop/loop.h"
#include "base/checked.h"
#include "fake_private.h"

/* ---- Objects ---- */

uint32_t
fake_add(struct fake *fake, uint32_t parent, const char *name, ftype3 type)
{
	for (uint32_t i = 0; i < FAKE_OBJECTS; i++) {
		struct fake_object *object = &fake->objects[i];

		if (object->used)
			continue;
		assert_true(strlen(name) < sizeof(object->name));
		*object = (struct fake_object){ .used = true, .parent = parent, .type = type };
		strcpy(object->name, name);
		return i;
	}
	fail_msg("no room for %s", name);
	return 0;
}

uint8_t
fake_octet(uint64_t offset)
{
	return (uint8_t)(offset * 2654435761u >> 13);
}

uint32_t
fake_file(struct fake *fake, uint32_t parent, const char *name, uint64_t size)
{
	uint32_t number = fake_add(fake, parent, name, NF3REG);
	struct fake_object *object = &fake->objects[number];

	object->data = malloc(FAKE_FILE_MAX);
	assert_non_null(object->data);
	object->size = object->stable = size;
	for (uint64_t i = 0; i < size; i++)
		object->data[i] = fake_octet(i);
	return number;
}

uint32_t
fake_link(struct fake *fake, uint32_t parent, const char *name, const char *target)
{
	uint32_t number = fake_add(fake, parent, name, NF3LNK);

	strcpy(fake->objects[number].target, target);
	return number;
}

/* ---- The server ---- */

void
fake_serve(struct fake *fake)
{
	struct rr_service services[] = {
		{ &NFS_V3_program, fake_handlers, fake, NULL },
		{ fake_mount_program(), fake_mount_handlers, fake, NULL },
	};
	struct rr_text text;

	assert_int_equal(rr_server_new(fake->stage.engine, &rr_server_config_default, services,
				 fake->mount_apart ? 1 : 2, &fake->server),
		0);
	if (rr_server_listen(fake->server, RR_TRANSPORT_AUTO, (struct sockaddr *)&fake->address,
		    sizeof(struct sockaddr_in), NULL, &text) < 0)
		fail_msg("%s", text.text);
	if (!fake->mount_apart || fake->mountd)
		return;
	assert_int_equal(
		rr_server_new(fake->stage.engine, &rr_server_config_default, &services[1], 1, &fake->mountd),
		0);
	if (rr_server_listen(fake->mountd, RR_TRANSPORT_TCP, (struct sockaddr *)&fake->mount_address,
		    sizeof(struct sockaddr_in), NULL, &text) < 0)
		fail_msg("%s", text.text);
}

void
fake_restart(struct fake *fake)
{
	rr_server_free(fake->server);
	fake->verifier++;
	for (uint32_t i = 0; i < FAKE_OBJECTS; i++)
		if (fake->objects[i].data)
			memset(fake->objects[i].data + fake->objects[i].stable, '?',
				fake->objects[i].size - fake->objects[i].stable);
	fake_serve(fake);
}

static void
crash(struct rr_timer *timer)
{
	fake_restart(rr_container(timer, struct fake, crash));
}

struct fake *
fake_new(void)
{
	struct fake *fake = calloc(1, sizeof(*fake));
	struct sockaddr_in *address = (struct sockaddr_in *)&fake->address;

	assert_non_null(fake);
	stage_init(&fake->stage);
	stage_engine(&fake->stage, NULL, rr_loop_fabric_new);
	stage_tick(&fake->stage);
	rr_timer_init(&fake->crash, crash);
	*address = stage_loopback();
	*(struct sockaddr_in *)&fake->mount_address = *address;
	fake->export = "/export";
	fake->refusal = NFS3ERR_NOENT;
	fake->flavor = RR_AUTH_SYS;
	fake->rtmax = fake->wtmax = 1 << 20;
	fake->read_most = fake->write_most = fake->entry_most = UINT32_MAX;
	fake->crash_at = UINT32_MAX;
	fake_add(fake, 0, "", NF3DIR);
	return fake;
}

void
fake_free(struct fake *fake)
{
	rr_loop_disarm(fake->stage.loop, &fake->crash);
	rr_server_free(fake->server);
	rr_server_free(fake->mountd);
	stage_end(&fake->stage);
	for (uint32_t i = 0; i < FAKE_OBJECTS; i++)
		free(fake->objects[i].data);
	free(fake);
}

/* ---- The client's side ---- */

static bool
interrupted(void *ctx)
{
	return ((struct fake *)ctx)->interrupt;
}

int
fake_open(struct fake *fake, const char *path, struct rpcrdma_nfs **nfs, struct rr_text *text)
{
	struct rr_nfs_config config = {
		.rpc = { .transport = RR_TRANSPORT_AUTO,
			.address = fake->address,
			.address_size = sizeof(struct sockaddr_in),
			.user = { .machine = "test" },
			.retry = 60 * RR_SECOND },
		.server = "fake",
		.path = path,
		.mount_port =
			fake->mount_apart ? ntohs(((struct sockaddr_in *)&fake->mount_address)->sin_port) : 0,
		.timeout = 60 * RR_SECOND,
		.interrupted = interrupted,
		.interrupted_ctx = fake,
	};

	return rr_nfs_open(fake->stage.engine, &config, nfs, text);
}

struct rpcrdma_nfs *
fake_must_open(struct fake *fake, const char *path)
{
	struct rpcrdma_nfs *nfs;
	struct rr_text text;

	if (!fake->server)
		fake_serve(fake);
	if (fake_open(fake, path, &nfs, &text) != 0)
		fail_msg("%s", text.text);
	return nfs;
}
