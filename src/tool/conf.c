/* SPDX-License-Identifier: BSD-3-Clause */
#include "tool/conf.h"

#include <errno.h>
#include <fcntl.h>
#include <rpcrdma/error.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/whole.h"

int
rr_conf_read(const char *path, struct rr_conf *conf, struct rr_text *why)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), error;
	char *text = malloc(RR_CONF_MAX + 1);
	ssize_t size = fd >= 0 && text ? rr_whole_read(fd, text, RR_CONF_MAX + 1, RR_WHOLE_HERE) : -1;

	*conf = (struct rr_conf){ 0 };
	if (size < 0)
		error = rr_fail(why, -RPCRDMA_ERR_SYSTEM, "%s", strerror(errno));
	else if (size > RR_CONF_MAX)
		error = rr_fail(
			why, -RPCRDMA_ERR_LIMIT, "a configuration file has at most %d octets", RR_CONF_MAX);
	else
		error = rr_conf_take(text, (size_t)size, conf, why);
	free(text);
	if (fd >= 0)
		close(fd);
	return error;
}

int
rr_conf_take(const char *text, size_t size, struct rr_conf *conf, struct rr_text *why)
{
	*conf = (struct rr_conf){ .size = size, .next = 1, .ended = true };
	if (memchr(text, 0, size))
		return rr_fail(why, -RPCRDMA_ERR_INVAL, "this is no text: there is a zero octet in it");
	conf->text = malloc(size + 1);
	if (!conf->text)
		return rr_fail(why, -RPCRDMA_ERR_NOMEM, "out of memory");
	memcpy(conf->text, text, size);
	conf->text[size] = '\0';
	return 0;
}

void
rr_conf_free(struct rr_conf *conf)
{
	free(conf->text);
	conf->text = NULL;
}

/* Skips the rest of the present line with its line feed, or the rest of the text if no line feed follows.
 * Notes that the line has ended. */
static void
conf_skip_line(struct rr_conf *conf)
{
	while (conf->at < conf->size && conf->text[conf->at] != '\n')
		conf->at++;
	if (conf->at < conf->size) {
		conf->at++;
		conf->next++;
	}
	conf->ended = true;
}

static bool
conf_is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

/* Skips blanks, and pairs of a backslash and a line feed, which join two lines. */
static void
conf_skip_blanks(struct rr_conf *conf)
{
	for (;;) {
		const char *at = conf->text + conf->at;

		if (at[0] == '\\' && at[1] == '\n') {
			conf->at += 2;
			conf->next++;
		} else if (conf_is_blank(at[0])) {
			conf->at++;
		} else {
			return;
		}
	}
}

/* Skips the rest of the present line, up to and including the line feed that ends it, and with it the lines
 * that a backslash joins to it. A "#" that begins a word, outside of quotation marks, begins a comment: the
 * comment ends at the next line feed, even if a backslash stands in front of that. Nothing else is checked.
 * At least one octet of the line was read before, so at[-1] below lies in the text. */
static void
conf_skip_joined(struct rr_conf *conf)
{
	bool quoted = false, between = false;

	for (; conf->at < conf->size; conf->at++) {
		const char *at = conf->text + conf->at;

		if ((*at == '\n' && at[-1] != '\\') || (*at == '#' && between && !quoted))
			break;
		conf->next += *at == '\n';
		quoted ^= *at == '"';
		between = *at == '\n' || conf_is_blank(*at);
	}
	conf_skip_line(conf);
}

static bool
conf_octal(char c)
{
	return c >= '0' && c <= '7';
}

/* Returns the octet that a backslash at `at` and three octal digits behind it stand for ("\040" for a blank).
 * Returns 0 if no such digits follow, or their number is larger than \377. "\000" gives 0, too, so it is an
 * error like these: a word cannot have a zero octet. */
static char
conf_escape(const char *at)
{
	if (!conf_octal(at[1]) || !conf_octal(at[2]) || !conf_octal(at[3]) || at[1] > '3')
		return 0;
	return (char)((at[1] - '0') * 64 + (at[2] - '0') * 8 + (at[3] - '0'));
}

/* Returns the present word, and moves behind the word and the blanks that follow. The word's quotation marks
 * and backslashes are removed in conf->text itself. Returns NULL after a syntax error: the text of the error
 * is then in conf->bad, and the line is skipped with those that are joined to it. */
static char *
conf_take_word(struct rr_conf *conf)
{
	char *word = conf->text + conf->at, *to = word, *at = word;
	bool quoted = false;

	for (; *at && *at != '\n' && (quoted || !conf_is_blank(*at)); at++) {
		if (*at == '"') {
			quoted = !quoted;
		} else if (*at != '\\') {
			*to++ = *at;
		} else if (at[1] == '\n' && !quoted) {
			break;
		} else if ((*to = conf_escape(at))) {
			to++;
			at += 3;
		} else {
			conf->bad = "a backslash stands before three octal digits, as in \\040, or at the "
				    "end of a line";
			break;
		}
	}
	if (!conf->bad && quoted)
		conf->bad = "a quotation mark has no other one in the same line";
	conf->at = (size_t)(at - conf->text);
	if (conf->bad) {
		conf_skip_joined(conf);
		return NULL;
	}
	/* The zero octet below may overwrite the character behind the word, so the reader goes on first. */
	conf_skip_blanks(conf);
	if (conf->at >= conf->size || conf->text[conf->at] == '\n' || conf->text[conf->at] == '#')
		conf_skip_line(conf);
	*to = '\0';
	return word;
}

char *
rr_conf_word(struct rr_conf *conf)
{
	if (conf->ended || conf->bad)
		return NULL;
	conf->line = conf->next;
	return conf_take_word(conf);
}

char *
rr_conf_first(struct rr_conf *conf)
{
	char *word;

	if (!conf->ended)
		conf_skip_joined(conf);
	conf->bad = NULL;
	for (;;) {
		conf_skip_blanks(conf);
		if (conf->at >= conf->size)
			return NULL;
		if (conf->text[conf->at] != '\n' && conf->text[conf->at] != '#')
			break;
		conf_skip_line(conf);
	}
	conf->ended = false;
	word = rr_conf_word(conf);
	return word ? word : conf->text + conf->size; /* the empty word */
}
