/* SPDX-License-Identifier: BSD-3-Clause */
#include "tool/file/attributes.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "tool/tool.h"

static const struct {
	enum rpcrdma_nfs_type type;
	char letter;
	const char *name;
} types[] = {
	{ RPCRDMA_NFS_FILE, '-', "regular file" },
	{ RPCRDMA_NFS_DIRECTORY, 'd', "directory" },
	{ RPCRDMA_NFS_BLOCK_DEVICE, 'b', "block device" },
	{ RPCRDMA_NFS_CHARACTER_DEVICE, 'c', "character device" },
	{ RPCRDMA_NFS_SYMLINK, 'l', "symbolic link" },
	{ RPCRDMA_NFS_SOCKET, 's', "socket" },
	{ RPCRDMA_NFS_FIFO, 'p', "named pipe" },
};

enum { TYPES = sizeof(types) / sizeof(types[0]) };

const char *
rr_attributes_type(enum rpcrdma_nfs_type type)
{
	for (size_t i = 0; i < TYPES; i++)
		if (types[i].type == type)
			return types[i].name;
	return "unknown";
}

void
rr_attributes_mode(const struct rpcrdma_nfs_object *object, char text[11])
{
	uint32_t mode = object->mode;

	strcpy(text, "?rwxrwxrwx");
	for (size_t i = 0; i < TYPES; i++)
		if (types[i].type == object->type)
			text[0] = types[i].letter;
	for (int i = 0; i < 9; i++)
		if (!(mode & 0400u >> i))
			text[i + 1] = '-';
	if (mode & 04000)
		text[3] = mode & 0100 ? 's' : 'S';
	if (mode & 02000)
		text[6] = mode & 0010 ? 's' : 'S';
	if (mode & 01000)
		text[9] = mode & 0001 ? 't' : 'T';
}

void
rr_attributes_time(struct rpcrdma_nfs_time time, bool brief, char text[48])
{
	time_t seconds = time.seconds;
	struct tm tm;
	char date[24] = "?", zone[8] = "";

	text[0] = '\0';
	if (!localtime_r(&seconds, &tm))
		return;
	strftime(date, sizeof(date), brief ? "%Y-%m-%d %H:%M" : "%Y-%m-%d %H:%M:%S", &tm);
	strftime(zone, sizeof(zone), "%z", &tm);
	if (brief)
		strcpy(text, date);
	else
		snprintf(text, 48, "%s.%09" PRIu32 " %s", date, time.nanoseconds, zone);
}

void
rr_attributes_who(const char *name, uint32_t number, int width)
{
	if (name[0])
		rr_tool_put_name(stdout, name);
	else
		printf("%*" PRIu32, width, number);
}

/* Writes a name as a member of a JSON object; writes nothing if there is no name. */
static void
attributes_put_who(FILE *out, const char *member, const char *name)
{
	if (name[0] == '\0')
		return;
	putc(',', out);
	rr_tool_json_name(out, member, name);
}

/* Writes a time as two members of a JSON object: `name` for the whole seconds, and `name` with "_nsec" for
 * the nanoseconds. A single number with nine decimals would lose digits in a parser that keeps numbers as
 * doubles. */
static void
attributes_put_time(FILE *out, const char *name, struct rpcrdma_nfs_time time)
{
	fprintf(out, ",\"%s\":%" PRId64 ",\"%s_nsec\":%" PRIu32, name, time.seconds, name, time.nanoseconds);
}

void
rr_attributes_json(FILE *out, const struct rpcrdma_nfs_object *object)
{
	fprintf(out,
		"\"type\":\"%s\",\"mode\":\"%04" PRIo32 "\",\"nlink\":%" PRIu32 ",\"uid\":%" PRIu32
		",\"gid\":%" PRIu32 ",\"size\":%" PRIu64 ",\"used\":%" PRIu64 ",\"fsid\":\"%" PRIx64
		":%" PRIx64 "\",\"fileid\":%" PRIu64,
		rr_attributes_type(object->type), object->mode, object->links, object->uid, object->gid,
		object->length, object->used, object->filesystem.major, object->filesystem.minor,
		object->number);
	attributes_put_who(out, "owner", object->owner);
	attributes_put_who(out, "group", object->group);
	attributes_put_time(out, "atime", object->accessed);
	attributes_put_time(out, "mtime", object->modified);
	attributes_put_time(out, "ctime", object->changed);
}
