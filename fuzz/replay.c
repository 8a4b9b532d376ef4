/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs a fuzz target over the files of the folder that is named, in the Test Anything Protocol. */
#include <dirent.h>
#include <stdio.h>

#include "fuzz.h"

enum { SEED_MAX = 1 << 20 };

static uint8_t memory[SEED_MAX];

/* Each seed lies in memory of exactly its size, so that AddressSanitizer sees an octet read too many. */
static int
replay(const char *folder, const char *name)
{
	char path[4096];
	uint8_t *copy;
	size_t size;
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	file = fopen(path, "rb");
	if (!file)
		return -1;
	size = fread(memory, 1, sizeof(memory), file);
	fclose(file);
	copy = malloc(size ? size : 1);
	if (!copy)
		return -1;
	memcpy(copy, memory, size);
	LLVMFuzzerTestOneInput(copy, size);
	free(copy);
	return 0;
}

int
main(int argc, char **argv)
{
	struct dirent *entry;
	int count = 0, failed = 0;
	DIR *folder = argc == 2 ? opendir(argv[1]) : NULL;

	if (!folder)
		return 2;
	while ((entry = readdir(folder))) {
		if (entry->d_name[0] == '.')
			continue;
		fprintf(stderr, "# %s\n", entry->d_name);
		failed |= replay(argv[1], entry->d_name) < 0;
		count++;
		printf("ok %d - %s\n", count, entry->d_name);
	}
	closedir(folder);
	printf("1..%d\n", count);
	return failed || count == 0;
}
