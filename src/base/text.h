/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_BASE_TEXT_H
#define RR_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/*
 * The text that goes with an error: what failed, on which peer, what to do. A text lives on the handle whose
 * operation failed.
 */
struct rr_text {
	char text[256];
};

/* Writes a formatted text to text and returns error. It is used as `return rr_fail(&h->text, -RPCRDMA_ERR_X,
 * "...")`. */
int rr_fail(struct rr_text *text, int error, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Appends an item to the list in `list`, which has room for size octets (at least 16), as in "one, two". If
 * there is no room for the whole item, appends ", ..." instead and returns false; nothing is to be appended
 * after that. */
bool rr_text_list(char *list, size_t size, const char *item);

#endif
