/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/filter/script.h"

#include <errno.h>
#include <rpcrdma/error.h>
#include <stdlib.h>
#include <string.h>

#include "base/env.h"

enum { WORD = 64, DELAY_DEFAULT_MS = 20, CUT_DEFAULT = 8 };

/* The longest delay, in nanoseconds. */
static const uint64_t delay_limit = 3600 * RR_SECOND;

/* The names of actions and operations, in the order of their enums. */
static const char *const actions[] = { "fail", "delay", "cut", "reorder", "flush", "drop", "corrupt" };
static const char *const operations[] = { "connect", "accept", "send", "write", "read", "register", "receive",
	"complete" };

/* The bit of an operation. */
#define BIT(operation) (1u << RR_FAULT_##operation)

/* The operations that each action can be done to. */
static const unsigned applicable[RR_FAULT_ACTIONS] = {
	[RR_FAULT_FAIL] = (1u << RR_FAULT_OPERATIONS) - 1,
	[RR_FAULT_DELAY] = ((1u << RR_FAULT_OPERATIONS) - 1) & ~BIT(REGISTER),
	[RR_FAULT_CUT] = BIT(SEND) | BIT(WRITE) | BIT(READ),
	[RR_FAULT_REORDER] = BIT(RECEIVE) | BIT(COMPLETE),
	[RR_FAULT_FLUSH] = BIT(COMPLETE),
	[RR_FAULT_DROP] = (1u << RR_FAULT_OPERATIONS) - 1,
	[RR_FAULT_CORRUPT] = BIT(SEND) | BIT(WRITE) | BIT(READ),
};

bool
rr_fault_applies(enum rr_fault_action action, enum rr_fault_operation operation)
{
	return applicable[action] >> operation & 1;
}

bool
rr_fault_corrupts(const struct rr_fault_script *script)
{
	for (uint32_t i = 0; i < script->rule_count; i++)
		if (script->rules[i].action == RR_FAULT_CORRUPT)
			return true;
	return script->rate && script->kinds >> RR_FAULT_CORRUPT & 1;
}

/* Reads the words of a statement, one after the other. */
struct script_reader {
	const char *next;
	char word[WORD];
	struct rr_text *text;
};

static bool
script_is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\n';
}

/* Reads the next word of the fault script's statement into reader->word, and returns it. A word that is too
 * long is cut. At the end of the statement the word is "". */
static const char *
script_next_word(struct script_reader *reader)
{
	size_t length;

	while (script_is_space(*reader->next))
		reader->next++;
	length = strcspn(reader->next, " \t\n;");
	if (length >= WORD)
		length = WORD - 1;
	memcpy(reader->word, reader->next, length);
	reader->word[length] = 0;
	reader->next += length;
	return reader->word;
}

/* Skips space, and returns whether the statement has no more words. */
static bool
script_at_end(struct script_reader *reader)
{
	while (script_is_space(*reader->next))
		reader->next++;
	return !*reader->next || *reader->next == ';';
}

/* Sets the text of the error to say that wanted is expected in place of the word that was read. Returns
 * -RPCRDMA_ERR_INVAL. */
static int
script_wrong(const struct script_reader *reader, const char *wanted)
{
	return rr_fail(reader->text, -RPCRDMA_ERR_INVAL, "fault script: %s is wanted, not '%s'", wanted,
		reader->word);
}

/* Looks for a name of that length in an array of count names. Returns the index of the name, or count if the
 * array does not have it. */
static int
script_find(const char *const *names, int count, const char *name, size_t length)
{
	for (int i = 0; i < count; i++)
		if (strlen(names[i]) == length && memcmp(names[i], name, length) == 0)
			return i;
	return count;
}

/* Reads a decimal number at the beginning of word; *end becomes the rest of the word. Returns false if the
 * word does not begin with a digit, or the number is too large. */
static bool
script_read_number(const char *word, uint64_t *number, const char **end)
{
	char *after;

	errno = 0;
	*number = strtoull(word, &after, 10);
	*end = after;
	return *word >= '0' && *word <= '9' && !errno;
}

/* Reads a time with its unit, such as "20ms", and sets *time to it in nanoseconds. Returns false if the word
 * is no such time, or the time is too long. */
static bool
script_read_time(const char *word, uint64_t *time)
{
	static const struct {
		const char *name;
		uint64_t ns;
	} units[] = { { "ns", 1 }, { "us", 1000 }, { "ms", RR_MILLISECOND }, { "s", RR_SECOND } };
	const char *unit;

	if (!script_read_number(word, time, &unit))
		return false;
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (strcmp(unit, units[i].name) != 0)
			continue;
		if (*time > delay_limit / units[i].ns)
			return false;
		*time *= units[i].ns;
		return true;
	}
	return false;
}

/* Reads the argument of a rule, if there is one: the time of a delay, or the octets that a cut leaves.
 * Without an argument, the rule gets a default. Returns -RPCRDMA_ERR_INVAL if the argument is wrong for the
 * action. */
static int
script_read_argument(struct script_reader *reader, struct rr_fault_rule *rule)
{
	const char *end = "";

	rule->argument =
		rule->action == RR_FAULT_CUT ? CUT_DEFAULT : (uint64_t)DELAY_DEFAULT_MS * RR_MILLISECOND;
	if (script_at_end(reader))
		return 0;
	script_next_word(reader);
	if (rule->action == RR_FAULT_DELAY || rule->action == RR_FAULT_REORDER)
		return script_read_time(reader->word, &rule->argument)
			       ? 0
			       : script_wrong(reader, "a time such as 20ms");
	if (rule->action != RR_FAULT_CUT)
		return script_wrong(reader, "';'");
	if (!script_read_number(reader->word, &rule->argument, &end) || *end)
		return script_wrong(reader, "a number of octets");
	return 0;
}

/* Reads the rest of a statement, after the action: operation, number and argument, and adds the rule to the
 * script. Returns -RPCRDMA_ERR_INVAL, with a text, if something is wrong. */
static int
script_read_rule(struct script_reader *reader, struct rr_fault_script *script, enum rr_fault_action action)
{
	struct rr_fault_rule *rule = &script->rules[script->rule_count];
	const char *word = script_next_word(reader), *end;
	int operation = script_find(operations, RR_FAULT_OPERATIONS, word, strlen(word));

	if (script->rule_count == RR_FAULT_RULES)
		return rr_fail(reader->text, -RPCRDMA_ERR_INVAL,
			"fault script: there are more than %d statements", RR_FAULT_RULES);
	if (operation == RR_FAULT_OPERATIONS)
		return script_wrong(
			reader, "connect, accept, send, write, read, register, receive or complete");
	*rule = (struct rr_fault_rule){ .action = action, .operation = (enum rr_fault_operation)operation };
	if (!rr_fault_applies(action, rule->operation))
		return rr_fail(reader->text, -RPCRDMA_ERR_INVAL, "fault script: %s does not apply to %s",
			actions[action], operations[operation]);
	if (!script_read_number(script_next_word(reader), &rule->number, &end) || !rule->number)
		return script_wrong(reader, "which one, a number from 1,");
	/* "3+" means the third operation and all after it. */
	rule->onward = *end == '+';
	if (end[rule->onward])
		return script_wrong(reader, "which one, a number from 1,");
	script->rule_count++;
	return script_read_argument(reader, rule);
}

/* Reads a list of actions, such as "drop,delay", and sets *kinds to a bit for each action. Returns false if
 * a word is no action. */
static bool
script_read_kinds(const char *list, uint32_t *kinds)
{
	*kinds = 0;
	for (;;) {
		size_t length = strcspn(list, ",");
		int action = script_find(actions, RR_FAULT_ACTIONS, list, length);

		if (action == RR_FAULT_ACTIONS)
			return false;
		*kinds |= 1u << action;
		if (!list[length])
			return true;
		list += length + 1;
	}
}

/* Reads a fraction above 0 and at most 1, and sets *rate to that fraction of 2^32. Returns false if the word
 * is no such fraction, or if it is below 2^-32: with a rate of 0, there would be no faults at all. */
static bool
script_read_rate(const char *word, uint32_t *rate)
{
	char *end;
	double value = strtod(word, &end);

	if (end == word || *end || !(value > 0 && value <= 1))
		return false;
	*rate = value < 1 ? (uint32_t)(value * 4294967296.0) : UINT32_MAX;
	return *rate > 0;
}

/* Reads the rest of a statement for random faults: its parameters (seed, rate, kinds, delay), each of which
 * may be left out. Returns -RPCRDMA_ERR_INVAL, with a text, if a word is none of these or its value is
 * wrong. */
static int
script_read_random(struct script_reader *reader, struct rr_fault_script *script)
{
	const char *end = "";

	script->rate = UINT32_MAX / 100; /* one operation in a hundred */
	/* Random faults damage octets only if kinds= asks for it: not every connection has checksums. */
	script->kinds = ((1u << RR_FAULT_ACTIONS) - 1) & ~(1u << RR_FAULT_CORRUPT);
	script->delay_max = (uint64_t)DELAY_DEFAULT_MS * RR_MILLISECOND;
	while (!script_at_end(reader)) {
		const char *word = script_next_word(reader);
		bool good = false;

		if (strncmp(word, "seed=", 5) == 0)
			good = script_read_number(word + 5, &script->seed, &end) && !*end;
		else if (strncmp(word, "rate=", 5) == 0)
			good = script_read_rate(word + 5, &script->rate);
		else if (strncmp(word, "kinds=", 6) == 0)
			good = script_read_kinds(word + 6, &script->kinds);
		else if (strncmp(word, "delay=", 6) == 0)
			good = script_read_time(word + 6, &script->delay_max);
		if (!good)
			return script_wrong(reader, "seed=N, rate=0.01, delay=20ms or kinds=drop,delay");
	}
	return 0;
}

/* Reads a statement, which may be empty, and adds its faults to the script. Returns -RPCRDMA_ERR_INVAL, with
 * a text, if it is wrong. */
static int
script_read_statement(struct script_reader *reader, struct rr_fault_script *script)
{
	const char *word = script_next_word(reader);
	int action = script_find(actions, RR_FAULT_ACTIONS, word, strlen(word));

	if (!*word)
		return 0;
	if (strcmp(word, "random") == 0)
		return script_read_random(reader, script);
	if (action == RR_FAULT_ACTIONS)
		return script_wrong(reader, "fail, delay, cut, reorder, flush, drop, corrupt or random");
	return script_read_rule(reader, script, (enum rr_fault_action)action);
}

int
rr_fault_parse(const char *source, struct rr_fault_script *script, struct rr_text *text)
{
	struct script_reader reader = { .next = source, .text = text };
	int error;

	*script = (struct rr_fault_script){ 0 };
	do {
		error = script_read_statement(&reader, script);
		if (!error && !script_at_end(&reader)) {
			script_next_word(&reader);
			error = script_wrong(&reader, "';'");
		}
	} while (!error && *reader.next++ == ';');
	return error;
}
