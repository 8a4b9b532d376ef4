/* SPDX-License-Identifier: BSD-3-Clause */
#include "replay_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../test.h"
#include "replay.h"

enum { TEXT = 256 };

bool
replay_is(const char *text, const char *word)
{
	size_t length = strlen(word);

	return strncmp(text, word, length) == 0 && (text[length] == ' ' || text[length] == '\0');
}

static bool
is_event(const char *text)
{
	return replay_is(text, "request") || replay_is(text, "established") || replay_is(text, "received") ||
	       replay_is(text, "completed") || replay_is(text, "disconnected");
}

static bool
parse_line(const char *text, uint32_t number, struct replay_line *line)
{
	uint32_t fabric, endpoint;
	int at = 0;

	if (sscanf(text, "%*u.%*u %u.%u %n", &fabric, &endpoint, &at) != 2 || fabric != 1)
		return false;
	*line = (struct replay_line){ strndup(text + at, strcspn(text + at, "\n")), number, endpoint,
		is_event(text + at) };
	return true;
}

size_t
replay_lines(const char *path, struct replay_line **lines)
{
	FILE *file = fopen(path, "re");
	char *text = NULL;
	size_t size, count = 0;

	assert_non_null(file);
	*lines = NULL;
	for (uint32_t number = 1; getline(&text, &size, file) > 0; number++) {
		*lines = realloc(*lines, (count + 1) * sizeof(**lines));
		assert_non_null(*lines);
		count += parse_line(text, number, &(*lines)[count]);
	}
	free(text);
	fclose(file);
	return count;
}

void
replay_lines_free(struct replay_line *lines, size_t count)
{
	for (size_t i = 0; i < count; i++)
		free(lines[i].text);
	free(lines);
}

uint64_t
replay_number(const char *text, const char *name)
{
	const char *at = strstr(text, name);

	return at ? strtoull(at + strlen(name), NULL, 0) : 0;
}

uint8_t *
replay_data(const char *text, uint32_t *length)
{
	const char *at = strstr(text, "data=");
	size_t digits = at ? strspn(at + 5, "0123456789abcdef") : 0;
	uint8_t *data = malloc(digits / 2 + 1);

	assert_non_null(data);
	for (size_t i = 0; i < digits / 2; i++) {
		unsigned octet = 0;

		assert_int_equal(sscanf(at + 5 + 2 * i, "%2x", &octet), 1);
		data[i] = (uint8_t)octet;
	}
	*length = (uint32_t)(digits / 2);
	return data;
}

uint16_t
replay_port(const char *text)
{
	const char *at = strstr(text, " at=");
	const char *port = at ? strrchr(at, ':') : NULL;

	return port ? (uint16_t)atoi(port + 1) : 0;
}

int
replay_result(const char *text)
{
	const char *at = NULL;

	for (const char *next = text; (next = strstr(next, " = ")); next++)
		at = next;
	return at ? atoi(at + 3) : 0;
}

/* Returns the line without its time and, if without_checksum is set, without its checksum. */
static const char *
judged(char *line, bool without_checksum)
{
	char *checksum = strstr(line, " crc=");

	if (checksum && without_checksum)
		memset(checksum + strlen(" crc="), '-', 8);
	return line + strcspn(line, " ");
}

const char *
replay_compare(const char *path, const char *other)
{
	static char text[TEXT];
	FILE *files[2] = { fopen(path, "re"), fopen(other, "re") };
	char *lines[2] = { NULL, NULL };
	size_t sizes[2];
	bool was_read = false, more = true, same = true;
	uint32_t number = 0;

	assert_true(files[0] && files[1]);
	while (more && same) {
		ssize_t first = getline(&lines[0], &sizes[0], files[0]);
		ssize_t second = getline(&lines[1], &sizes[1], files[1]);

		number++;
		more = first > 0 && second > 0;
		was_read |= more && strstr(lines[0], " completed read ");
		same = more ? strcmp(judged(lines[0], was_read), judged(lines[1], was_read)) == 0
			    : first == second;
	}
	snprintf(text, sizeof(text), "line %u: %.200s", number, same || !more ? "the end" : lines[1]);
	for (int i = 0; i < 2; i++) {
		free(lines[i]);
		fclose(files[i]);
	}
	return same ? NULL : text;
}
