/* SPDX-License-Identifier: BSD-3-Clause */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/address.h"
#include "base/errno.h"
#include "fabric/verbs/device.h"
#include "fabric/verbs/verbs.h"

/*
 * Finds the device that an address belongs to, and the reasons why devices cannot be used. The connection
 * manager knows the device: an identifier that was bound to an address is on its device. Where the kernel has
 * no device at all, that is found out without loading a library.
 */

bool
rr_verbs_kernel_device(char name[RR_VERBS_NAME])
{
	DIR *directory = opendir("/sys/class/infiniband");
	struct dirent *entry = NULL;

	while (directory && (entry = readdir(directory)) && entry->d_name[0] == '.')
		;
	if (entry)
		snprintf(name, RR_VERBS_NAME, "%.63s", entry->d_name);
	if (directory)
		closedir(directory);
	return entry;
}

int
rr_verbs_nothing_there(struct rr_text *text)
{
	char name[RR_VERBS_NAME];

	if (!rr_verbs_kernel_device(name))
		return rr_fail(text, -RPCRDMA_ERR_NOTSUP, "there is no RDMA device on this machine");
	return rr_fail(text, -RPCRDMA_ERR_NOTSUP,
		"the kernel has the RDMA device %s, but no user-space driver takes it: load ib_uverbs, "
		"install ibverbs-providers",
		name);
}

/* Sets text to the reason why a device cannot be opened. The errno of libibverbs is that of the last of
 * several attempts. So access() is tried on the device's file, too: if that fails, its errno is the
 * reason. */
void
rr_verbs_cannot_open(const struct ibv_device *device, struct rr_text *text)
{
	int number = errno;
	char path[80];

	snprintf(path, sizeof(path), "/dev/infiniband/%s", device->dev_name);
	if (access(path, R_OK | W_OK) < 0)
		number = errno;
	if (number == EACCES || number == EPERM)
		rr_fail(text, 0, "no permission on %s: join the group that owns it, or change its mode",
			path);
	else
		rr_fail(text, 0, "%s cannot be opened: %s", path, strerror(number));
}

int
rr_verbs_no_channel(struct rr_text *text)
{
	static const char path[] = "/dev/infiniband/rdma_cm";
	int number = errno;

	/* The library's own errno is that of the last of several ways that it tried. */
	if (access(path, R_OK | W_OK) < 0)
		number = errno;
	if (number == EACCES || number == EPERM)
		return rr_fail(text, -RPCRDMA_ERR_SYSTEM,
			"no permission on %s: join the group that owns it, or change its mode", path);
	return rr_fail(text, -RPCRDMA_ERR_NOTSUP, "%s cannot be opened: %s; `modprobe rdma_ucm`", path,
		strerror(number));
}

int
rr_verbs_bind_to(const struct rr_verbs_library *library, struct rdma_event_channel *channel,
	struct sockaddr *local, char device[RR_VERBS_NAME], struct rr_text *text)
{
	char name[RR_ADDRESS_TEXT];
	struct rdma_cm_id *id;
	int error = 0;

	if (library->create_id(channel, &id, NULL, RDMA_PS_TCP) < 0)
		return rr_fail(text, -RPCRDMA_ERR_SYSTEM, "the RDMA connection manager: %s", strerror(errno));
	rr_address_text(local, name, sizeof(name));
	if (library->bind_addr(id, local) < 0)
		error = rr_fail(text, rr_errno_error(errno), "no RDMA device can be used at %s: %s", name,
			strerror(errno));
	else if (!id->verbs)
		error = rr_fail(text, -RPCRDMA_ERR_UNREACHABLE, "no RDMA device has the address %s", name);
	else
		snprintf(device, RR_VERBS_NAME, "%s", id->verbs->device->name);
	library->destroy_id(id);
	return error;
}

int
rr_verbs_has_address(const struct sockaddr *local, socklen_t size, struct rr_text *text)
{
	struct sockaddr_storage copy = { 0 };
	struct rdma_event_channel *channel;
	struct rr_verbs_library library;
	char name[RR_VERBS_NAME];
	int error;

	if (!rr_verbs_kernel_device(name))
		return rr_fail(text, -RPCRDMA_ERR_NOTSUP, "there is no RDMA device on this machine");
	error = rr_verbs_library_load(&library, text);
	if (error)
		return error;
	channel = library.create_event_channel();
	if (!channel)
		return rr_verbs_no_channel(text);
	memcpy(&copy, local, size < sizeof(copy) ? size : sizeof(copy));
	rr_address_set_port((struct sockaddr *)&copy, 0);
	error = rr_verbs_bind_to(&library, channel, (struct sockaddr *)&copy, name, text);
	library.destroy_event_channel(channel);
	return error;
}
