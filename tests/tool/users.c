/* SPDX-License-Identifier: BSD-3-Clause */
/* Loaded before the C library: a directory of users from the files passwd and group in the folder USERS.
 * Users and groups whose names begin with "hang" are looked up for as long as nobody writes to the named pipe
 * "gate" in that folder. */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void
users_path(const char *name, char path[4096])
{
	snprintf(path, 4096, "%s/%s", getenv("USERS"), name);
}

static FILE *
users_open(const char *name)
{
	char path[4096];

	users_path(name, path);
	return fopen(path, "re");
}

static void
users_hang(const char *name)
{
	char path[4096];

	if (strncmp(name, "hang", 4) != 0)
		return;
	users_path("gate", path);
	close(open(path, O_RDONLY | O_CLOEXEC));
}

/* Finds a user by name, or by number if name is NULL. */
static int
users_find(
	const char *name, uid_t uid, struct passwd *user, char *memory, size_t size, struct passwd **result)
{
	FILE *file = users_open("passwd");
	int error = 0;

	*result = NULL;
	while (file && (error = fgetpwent_r(file, user, memory, size, result)) == 0)
		if (name ? strcmp(user->pw_name, name) == 0 : user->pw_uid == uid)
			break;
	if (error)
		*result = NULL;
	if (file)
		fclose(file);
	if (*result)
		users_hang((*result)->pw_name);
	return error == ENOENT ? 0 : error;
}

static int
users_find_group(
	const char *name, gid_t gid, struct group *group, char *memory, size_t size, struct group **result)
{
	FILE *file = users_open("group");
	int error = 0;

	*result = NULL;
	while (file && (error = fgetgrent_r(file, group, memory, size, result)) == 0)
		if (name ? strcmp(group->gr_name, name) == 0 : group->gr_gid == gid)
			break;
	if (error)
		*result = NULL;
	if (file)
		fclose(file);
	return error == ENOENT ? 0 : error;
}

__attribute__((visibility("default"))) int
getpwnam_r(const char *name, struct passwd *user, char *memory, size_t size, struct passwd **result)
{
	return users_find(name, 0, user, memory, size, result);
}

__attribute__((visibility("default"))) int
getpwuid_r(uid_t uid, struct passwd *user, char *memory, size_t size, struct passwd **result)
{
	return users_find(NULL, uid, user, memory, size, result);
}

__attribute__((visibility("default"))) int
getgrnam_r(const char *name, struct group *group, char *memory, size_t size, struct group **result)
{
	return users_find_group(name, 0, group, memory, size, result);
}

__attribute__((visibility("default"))) int
getgrgid_r(gid_t gid, struct group *group, char *memory, size_t size, struct group **result)
{
	return users_find_group(NULL, gid, group, memory, size, result);
}

__attribute__((visibility("default"))) int
getgrouplist(const char *name, gid_t gid, gid_t *groups, int *count)
{
	FILE *file = users_open("group");
	struct group group, *found;
	int room = *count, have = 0;
	char memory[65536];

	if (have++ < room)
		groups[0] = gid;
	while (file && fgetgrent_r(file, &group, memory, sizeof(memory), &found) == 0)
		for (char **member = group.gr_mem; *member; member++)
			if (strcmp(*member, name) == 0 && have++ < room)
				groups[have - 1] = group.gr_gid;
	if (file)
		fclose(file);
	*count = have;
	return have <= room ? have : -1;
}
