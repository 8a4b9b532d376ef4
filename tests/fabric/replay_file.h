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

/* The lines of the record's first fabric, to be freed; how many. */
size_t replay_lines(const char *path, struct replay_line **lines);
void replay_lines_free(struct replay_line *lines, size_t count);

/* Whether a line is about this. */
bool replay_is(const char *text, const char *word);

/* The number behind name, 0 where there is none. */
uint64_t replay_number(const char *text, const char *name);

/* The octets behind "data=", to be freed. */
uint8_t *replay_data(const char *text, uint32_t *length);

/* The port of the address behind "at=". */
uint16_t replay_port(const char *text);

/* The result at a line's end, 0 where there is none. */
int replay_result(const char *text);

#endif
