/* SPDX-License-Identifier: BSD-3-Clause */
/* The options of a mount, as nfs(5) and mount(8) name them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tool/mount/mount.h"

enum { OPTIONS_WORD = 128, OPTIONS_SECONDS = 86400 };

struct options_row {
	const char *name;
	/* value: behind the '='; NULL: there is none. Returns false where the value is none of this option.
	 */
	bool (*take)(struct rr_mount *mount, const char *value);
	const char *value; /* what the value is, for messages; NULL: the option has none */
};

static bool
options_number(const char *value, uint32_t most, uint32_t *number)
{
	unsigned long taken;

	if (rr_options_number(value, most, &taken) < 0)
		return false;
	*number = (uint32_t)taken;
	return true;
}

static bool
options_seconds(const char *value, uint64_t *time)
{
	uint32_t seconds;

	if (!options_number(value, OPTIONS_SECONDS, &seconds))
		return false;
	*time = seconds * RR_SECOND;
	return true;
}

#define OPTIONS_FLAG(name, member, set)                                                                      \
	static bool options_##name(struct rr_mount *mount, const char *value)                                \
	{                                                                                                    \
		(void)value;                                                                                 \
		mount->member = set;                                                                         \
		return true;                                                                                 \
	}

OPTIONS_FLAG(ro, device.read_only, true)
OPTIONS_FLAG(rw, device.read_only, false)
OPTIONS_FLAG(nosuid, device.nosuid, true)
OPTIONS_FLAG(nodev, device.nodev, true)
OPTIONS_FLAG(noexec, device.noexec, true)
OPTIONS_FLAG(allow_other, has_other, true)
OPTIONS_FLAG(no_allow_other, no_other, true)
OPTIONS_FLAG(nolock, no_lock, true)
OPTIONS_FLAG(noacl, config.no_lists, true)
OPTIONS_FLAG(soft, soft, true)
OPTIONS_FLAG(hard, soft, false)

#define OPTIONS_TIME(name) static bool options_##name(struct rr_mount *mount, const char *value)

OPTIONS_TIME(acregmin)
{
	return options_seconds(value, &mount->config.file_least);
}

OPTIONS_TIME(acregmax)
{
	return options_seconds(value, &mount->config.file_most);
}

OPTIONS_TIME(acdirmin)
{
	return options_seconds(value, &mount->config.directory_least);
}

OPTIONS_TIME(acdirmax)
{
	return options_seconds(value, &mount->config.directory_most);
}

OPTIONS_TIME(actimeo)
{
	struct rr_fuse_config *config = &mount->config;

	if (!options_seconds(value, &config->file_least))
		return false;
	config->file_most = config->directory_least = config->directory_most = config->file_least;
	return true;
}

OPTIONS_TIME(noac)
{
	(void)value;
	return options_actimeo(mount, "0");
}

OPTIONS_TIME(timeo)
{
	return options_number(value, 10 * OPTIONS_SECONDS, &mount->timeo) && mount->timeo > 0;
}

OPTIONS_TIME(retrans)
{
	return options_number(value, 1000, &mount->retrans);
}

OPTIONS_TIME(wsize)
{
	uint32_t size;

	if (!options_number(value, 1 << 30, &size) || size < 1024)
		return false;
	if (size < mount->config.write_max)
		mount->config.write_max = size & ~1023u;
	return true;
}

OPTIONS_TIME(memory)
{
	uint32_t mebibytes;

	if (!options_number(value, 65536, &mebibytes) || mebibytes < 2)
		return false;
	mount->config.behind_max = (uint64_t)mebibytes << 20;
	return true;
}

/* Adds a parameter to the URL. */
static bool
options_add(struct rr_mount *mount, const char *name, const char *value)
{
	size_t length = strlen(mount->query);

	if (!*value || strpbrk(value, "&?#/ "))
		return false;
	return (size_t)snprintf(mount->query + length, sizeof(mount->query) - length, "&%s=%s", name, value) <
	       sizeof(mount->query) - length;
}

OPTIONS_TIME(vers)
{
	return options_add(mount, "version", strcmp(value, "4") == 0 ? "4.2" : value);
}

OPTIONS_TIME(port)
{
	return options_add(mount, "port", value);
}

OPTIONS_TIME(mountport)
{
	return options_add(mount, "mountport", value);
}

OPTIONS_TIME(uid)
{
	return options_add(mount, "uid", value);
}

OPTIONS_TIME(gid)
{
	return options_add(mount, "gid", value);
}

/* nfs(5): which names the kernel may keep: all, those of files that are there, or none. */
OPTIONS_TIME(lookupcache)
{
	mount->config.no_names = strcmp(value, "none") == 0;
	mount->config.no_absent = strcmp(value, "all") != 0;
	return !mount->config.no_absent || mount->config.no_names || strcmp(value, "pos") == 0 ||
	       strcmp(value, "positive") == 0;
}

OPTIONS_TIME(xprtsec)
{
	return options_add(mount, "xprtsec", value);
}

OPTIONS_TIME(sec)
{
	return strcmp(value, "sys") == 0 || options_add(mount, "sec", value);
}

/* proto=rdma is the transport "auto": an adapter, or iWARP. */
OPTIONS_TIME(proto)
{
	if (strcmp(value, "rdma") == 0)
		return options_add(mount, "transport", "auto");
	return strcmp(value, "udp") != 0 &&
	       options_add(mount, "transport", strcmp(value, "tcp6") == 0 ? "tcp" : value);
}

/* Words of mount(8), fstab(5) and nfs(5) that change nothing here: a mount is so anyway, or other programs
 * read them. */
static const char *const options_nothing[] = { "defaults", "auto", "noauto", "nofail", "_netdev", "user",
	"users", "nouser", "owner", "group", "async", "suid", "dev", "exec", "atime", "noatime", "relatime",
	"norelatime", "nodiratime", "strictatime", "bg", "fg", "intr", "nointr", "ac", "cto", "sharecache",
	"rdma", "tcp", "acl", "lock", NULL };
static const char *const options_ignored[] = { "rsize", "nconnect", "comment", "x-", "addr", "clientaddr",
	"retry", "namlen", NULL };

static const struct options_row options_rows[] = {
	{ "ro", options_ro, NULL },
	{ "rw", options_rw, NULL },
	{ "nosuid", options_nosuid, NULL },
	{ "nodev", options_nodev, NULL },
	{ "noexec", options_noexec, NULL },
	{ "allow_other", options_allow_other, NULL },
	{ "no_allow_other", options_no_allow_other, NULL },
	{ "nolock", options_nolock, NULL },
	{ "noacl", options_noacl, NULL },
	{ "soft", options_soft, NULL },
	{ "hard", options_hard, NULL },
	{ "noac", options_noac, NULL },
	{ "lookupcache", options_lookupcache, "all, positive or none" },
	{ "acregmin", options_acregmin, "seconds" },
	{ "acregmax", options_acregmax, "seconds" },
	{ "acdirmin", options_acdirmin, "seconds" },
	{ "acdirmax", options_acdirmax, "seconds" },
	{ "actimeo", options_actimeo, "seconds" },
	{ "timeo", options_timeo, "tenths of a second" },
	{ "retrans", options_retrans, "a number" },
	{ "wsize", options_wsize, "a number of bytes from 1024 on" },
	{ "memory", options_memory, "a number of MiB from 2 on" },
	{ "vers", options_vers, "3, 4.1 or 4.2" },
	{ "nfsvers", options_vers, "3, 4.1 or 4.2" },
	{ "proto", options_proto, "rdma, iwarp, verbs or tcp" },
	{ "port", options_port, "a number" },
	{ "mountport", options_mountport, "a number" },
	{ "uid", options_uid, "a number" },
	{ "gid", options_gid, "a number" },
	{ "sec", options_sec, "a flavor" },
	{ "xprtsec", options_xprtsec, "none, tls or mtls" },
};

static bool
options_is_nothing(const char *word)
{
	for (const char *const *name = options_nothing; *name; name++)
		if (strcmp(word, *name) == 0)
			return true;
	for (const char *const *name = options_ignored; *name; name++)
		if (strncmp(word, *name, strlen(*name)) == 0)
			return true;
	return false;
}

static int
options_word(const struct rr_tool *tool, struct rr_mount *mount, char *word)
{
	char *value = strchr(word, '=');

	if (!*word || options_is_nothing(word))
		return RR_EXIT_OK;
	if (value)
		*value++ = '\0';
	for (size_t i = 0; i < sizeof(options_rows) / sizeof(*options_rows); i++) {
		const struct options_row *row = &options_rows[i];

		if (strcmp(row->name, word) != 0)
			continue;
		if (!row->value && value)
			return rr_tool_usage(tool, "-o: '%s' takes no value", word);
		if ((row->value && !value) || !row->take(mount, value))
			return rr_tool_usage(
				tool, "-o: '%s' takes %s, not '%s'", word, row->value, value ? value : "");
		return RR_EXIT_OK;
	}
	return rr_tool_usage(tool, "-o: '%s' is no option of a mount; rpcrdma-mount(1) lists them", word);
}

int
rr_mount_take(const struct rr_tool *tool, void *state, const char *argument)
{
	while (true) {
		size_t length = strcspn(argument, ",");
		char word[OPTIONS_WORD] = "";
		int status;

		if (length >= sizeof(word))
			return rr_tool_usage(tool, "-o: '%.24s...' is too long", argument);
		memcpy(word, argument, length);
		status = options_word(tool, state, word);
		if (status != RR_EXIT_OK || !argument[length])
			return status;
		argument += length + 1;
	}
}
