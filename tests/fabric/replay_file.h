/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TESTS_FABRIC_REPLAY_FILE_H
#define RR_TESTS_FABRIC_REPLAY_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A record as lines. */
struct replay_line {
	char *text; /* without the time and the numbers before it */
	uint32_t number, endpoint;
	bool event;
};

/* Reads the lines of the record's first fabric, which the caller frees. Returns how many there are. */
size_t replay_lines(const char *path, struct replay_line **lines);
void replay_lines_free(struct replay_line *lines, size_t count);

/* Whether a line is about this operation or event. */
bool replay_is(const char *text, const char *word);

/* Returns the number behind name, 0 where the line has no such name. */
uint64_t replay_number(const char *text, const char *name);

/* Returns the octets behind "data=", which the caller frees. */
uint8_t *replay_data(const char *text, uint32_t *length);

/* Returns the port of the address behind "at=". */
uint16_t replay_port(const char *text);

/* Returns the result at the end of a line, 0 where the line has no result. */
int replay_result(const char *text);

#endif
