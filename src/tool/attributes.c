/* SPDX-License-Identifier: BSD-3-Clause */
#include "tool/attributes.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

static const struct {
	ftype3 type;
	char letter;
	const char *name;
} types[] = {
	{ NF3REG, '-', "regular file" },
	{ NF3DIR, 'd', "directory" },
	{ NF3BLK, 'b', "block device" },
	{ NF3CHR, 'c', "character device" },
	{ NF3LNK, 'l', "symbolic link" },
	{ NF3SOCK, 's', "socket" },
	{ NF3FIFO, 'p', "named pipe" },
};

enum { TYPES = sizeof(types) / sizeof(types[0]) };

const char *
rr_attributes_type(ftype3 type)
{
	for (size_t i = 0; i < TYPES; i++)
		if (types[i].type == type)
			return types[i].name;
	return "unknown";
}

void
rr_attributes_mode(const fattr3 *attributes, char text[11])
{
	uint32_t mode = attributes->mode;

	strcpy(text, "?rwxrwxrwx");
	for (size_t i = 0; i < TYPES; i++)
		if (types[i].type == attributes->type)
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
rr_attributes_time(nfstime3 time, bool brief, char text[48])
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
		snprintf(text, 48, "%s.%09" PRIu32 " %s", date, time.nseconds, zone);
}

/* Two whole numbers: a fraction with nine decimals would not survive in a parser that has doubles. */
static void
put_time(FILE *out, const char *name, nfstime3 time)
{
	fprintf(out, ",\"%s\":%" PRIu32 ",\"%s_nsec\":%" PRIu32, name, time.seconds, name, time.nseconds);
}

void
rr_attributes_json(FILE *out, const fattr3 *attributes)
{
	fprintf(out,
		"\"type\":\"%s\",\"mode\":\"%04" PRIo32 "\",\"nlink\":%" PRIu32 ",\"uid\":%" PRIu32
		",\"gid\":%" PRIu32 ",\"size\":%" PRIu64 ",\"used\":%" PRIu64 ",\"fsid\":%" PRIu64
		",\"fileid\":%" PRIu64,
		rr_attributes_type(attributes->type), attributes->mode & 07777, attributes->nlink,
		attributes->uid, attributes->gid, attributes->size, attributes->used, attributes->fsid,
		attributes->fileid);
	put_time(out, "atime", attributes->atime);
	put_time(out, "mtime", attributes->mtime);
	put_time(out, "ctime", attributes->ctime);
}
