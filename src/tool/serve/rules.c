/* SPDX-License-Identifier: BSD-3-Clause */
/* The rules which clients may use the exported directories: rules of exports(5), in the lines of the
 * configuration file and in --allow. */
#include <rpcrdma/error.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "tool/serve/serve.h"

/* Adds the rule in text, "CLIENT[(OPTIONS)]", to the export of this number in `rules`; defaults has the
 * rights that the options do not name. The name of a host is looked up here, so text must come from the user
 * and never from a peer. If the name has no address now, as at a start of the machine before its name
 * service, a warning is printed, and that client has no rule until the rules are read again. Returns an exit
 * status, after a message if it is not OK. */
static int
rules_add(const struct rr_tool *tool, struct rr_rules *rules, uint32_t number, const char *text,
	const struct rr_right *defaults)
{
	struct rr_text why;
	int error = rr_rules_add(rules, number, text, defaults, &why);

	if (error == -RPCRDMA_ERR_ADDRESS) {
		rr_tool_warn(tool, "%s; it has no access until the rules are read again (SIGHUP)", why.text);
		return RR_EXIT_OK;
	}
	return error < 0 ? rr_tool_usage(tool, "%s", why.text) : RR_EXIT_OK;
}

/* Tells whether a file system is mounted at the directory: its parent is in another one, or it is its own
 * parent. */
static bool
rules_is_mount_point(const char *path)
{
	char above[PATH_MAX + 4];
	struct stat here, there;

	snprintf(above, sizeof(above), "%s/..", path);
	return stat(path, &here) == 0 && stat(above, &there) == 0 &&
	       (here.st_dev != there.st_dev || here.st_ino == there.st_ino);
}

/* Takes away the rules of an export that count only while a file system is mounted at its directory, which is
 * not so now. */
static void
rules_want_mounts(const struct rr_tool *tool, struct rr_serve *serve, uint32_t number)
{
	if (rr_rules_want_mount_point(serve->rules, number) &&
		!rules_is_mount_point(serve->exports[number].path)) {
		rr_rules_drop_mount_points(serve->rules, number);
		rr_tool_warn(tool,
			"%s: no file system is mounted there (mp); its clients have no access until the "
			"rules are "
			"read again (SIGHUP)",
			serve->exports[number].path);
	}
}

/* Prints what this server does instead of what words of the rules ask for, once for each word. */
static void
rules_print_notes(const struct rr_serve *serve)
{
	const struct rr_right all = { .words = rr_rules_words(serve->rules) };
	const char *word, *note;
	uint32_t at = 0;

	while ((note = rr_right_note(&all, &at, &word)))
		printf("%s: %s: %s\n", serve->config.path, word, note);
}

/* Takes the words of a line behind its directory; *ruled becomes true if a client is among them. Goes on
 * after an error, so that all errors of the line are printed. Returns an exit status. */
static int
rules_take_words(const struct rr_tool *tool, struct rr_rules *rules, uint32_t number, bool *ruled,
	struct rr_conf *conf)
{
	struct rr_right defaults = rr_right_default;
	struct rr_text why;
	const char *word;
	int status = RR_EXIT_OK;

	while ((word = rr_conf_word(conf))) {
		int one = RR_EXIT_OK;

		*ruled |= word[0] != '-';
		if (word[0] != '-')
			one = rules_add(tool, rules, number, word, &defaults);
		else if (rr_rules_options(word + 1, &defaults, &why) < 0)
			one = rr_tool_usage(tool, "%s", why.text);
		if (one != RR_EXIT_OK)
			status = one;
	}
	return status;
}

/* Takes the clients of a line whose directory is not served because of an error, only to print what is wrong
 * with them, too. */
static void
rules_try_words(const struct rr_tool *tool, struct rr_conf *conf)
{
	struct rr_rules *rules;
	bool ruled = false; /* nobody looks at it */

	if (rr_rules_new(&rr_env_system, 1, &rules) < 0)
		return;
	rules_take_words(tool, rules, 0, &ruled, conf);
	rr_rules_release(rules);
}

/* Notes that the export keeps the rules that it has, as the line that begins with `first` has an error; the
 * directory of an export may be missing, so its name is looked for. Nothing is noted of other directories. */
static void
rules_stay(struct rr_serve *serve, const char *first)
{
	const char *equals = strstr(first, "=/"), *name = equals ? equals + 1 : first;

	for (uint32_t i = 0; i < serve->running->tree.export_count; i++)
		if (strcmp(serve->running->exports[i].name, name) == 0)
			serve->bad[i] = serve->ruled[i] = true;
}

/* The line is "DIRECTORY[=/NAME] [-OPTIONS] CLIENT[(OPTIONS)]...": adds the directory to those that are
 * served, and adds a rule for each CLIENT. -OPTIONS change the defaults of the clients behind them. Of a
 * server that runs, a line with an error, which was named, leaves the rules of its directory as they are. */
int
rr_serve_take_line(const struct rr_tool *tool, void *state, const char *first, struct rr_conf *conf)
{
	struct rr_serve *serve = state;
	uint32_t number;
	int status = rr_serve_add(tool, serve, first, RR_SERVE_BY_PATH, &number);

	if (status != RR_EXIT_OK) {
		rules_try_words(tool, conf);
	} else {
		serve->lines[number] = conf->line;
		status = rules_take_words(tool, serve->rules, number, &serve->ruled[number], conf);
	}
	/* A server that runs takes the other lines. */
	if (status == RR_EXIT_OK || !serve->running)
		return status;
	rules_stay(serve, first);
	return RR_EXIT_OK;
}

/* Only notes the argument: rr_serve_rules() makes rules of it when all exports and their defaults are
 * known. */
int
rr_serve_take_allow(const struct rr_tool *tool, void *state, const char *text)
{
	struct rr_serve *serve = state;

	if (serve->allow_count == RR_SERVE_ALLOWS)
		return rr_tool_usage(tool,
			"--allow can be given %d times; write networks, or a file for "
			"--config",
			RR_SERVE_ALLOWS);
	serve->allow[serve->allow_count++] = text;
	return RR_EXIT_OK;
}

/* Gives rules to a directory that has none of its own: the rules of --allow. Without --allow, a directory of
 * the command line may be used by everybody, and a directory of the configuration file is an error. Returns
 * an exit status, after a message if it is not OK. */
static int
rules_complete(const struct rr_tool *tool, struct rr_serve *serve, uint32_t number)
{
	int status = RR_EXIT_OK;

	if (serve->lines[number] && serve->allow_count == 0)
		return rr_tool_usage(tool, "%s:%u: no clients: write *(ro) to serve everybody",
			serve->config.path, serve->lines[number]);
	if (serve->allow_count == 0)
		return rules_add(tool, serve->rules, number, "*", &serve->right);
	for (uint32_t i = 0; i < serve->allow_count && status == RR_EXIT_OK; i++)
		status = rules_add(tool, serve->rules, number, serve->allow[i], &serve->right);
	return status;
}

int
rr_serve_rules(const struct rr_tool *tool, struct rr_serve *serve)
{
	bool any = false;
	int status = RR_EXIT_OK;

	if (serve->config.check)
		rules_print_notes(serve);
	for (uint32_t i = 0; i < RR_SERVE_EXPORTS && status == RR_EXIT_OK; i++) {
		if (serve->texts[i])
			rules_want_mounts(tool, serve, i);
		if (!serve->texts[i] || serve->ruled[i])
			continue;
		any = true;
		status = rules_complete(tool, serve, i);
	}
	if (status == RR_EXIT_OK && !any && serve->right.squash == RR_SQUASH_NONE)
		return rr_tool_usage(tool,
			"--no-root-squash is for directories without clients of their own, and there are "
			"none: write no_root_squash behind a client, as 192.0.2.7(rw,no_root_squash)");
	return status;
}
