/* SPDX-License-Identifier: BSD-3-Clause */
/* The rules which clients may use the exported directories: rules of exports(5), in the lines of the
 * configuration file and in --allow. */
#include <string.h>

#include "tool/serve.h"

/* Adds the rule in text, "CLIENT[(OPTIONS)]", to the export of this number; defaults has the rights that the
 * options do not name. The name of a host is looked up here, so text must come from the user and never from a
 * peer. Returns an exit status, after a message if it is not OK. */
static int
rules_add(const struct rr_tool *tool, struct rr_serve *serve, uint32_t number, const char *text,
	const struct rr_right *defaults)
{
	struct rr_text why;

	serve->ruled[number] = true;
	if (rr_rules_add(serve->rules, number, text, defaults, &why) < 0)
		return rr_tool_usage(tool, "%s", why.text);
	return RR_EXIT_OK;
}

/* The line is "DIRECTORY[=/NAME] [-OPTIONS] CLIENT[(OPTIONS)]...": adds the directory to those that are
 * served, and adds a rule for each CLIENT. -OPTIONS change the defaults of the clients behind them. */
int
rr_serve_take_line(const struct rr_tool *tool, void *state, const char *first, struct rr_conf *conf)
{
	struct rr_serve *serve = state;
	struct rr_right defaults = rr_right_default;
	struct rr_text why;
	const char *word;
	uint32_t number;
	int status = rr_serve_add(tool, serve, first, RR_SERVE_BY_PATH, &number);

	if (status != RR_EXIT_OK)
		return status;
	serve->lines[number] = conf->line;
	while (status == RR_EXIT_OK && (word = rr_conf_word(conf))) {
		if (word[0] != '-')
			status = rules_add(tool, serve, number, word, &defaults);
		else if (rr_rules_options(word + 1, &defaults, &why) < 0)
			status = rr_tool_usage(tool, "%s", why.text);
	}
	return status;
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
		return rules_add(tool, serve, number, "*", &serve->right);
	for (uint32_t i = 0; i < serve->allow_count && status == RR_EXIT_OK; i++)
		status = rules_add(tool, serve, number, serve->allow[i], &serve->right);
	return status;
}

int
rr_serve_rules(const struct rr_tool *tool, struct rr_serve *serve)
{
	int status = RR_EXIT_OK;

	for (uint32_t i = 0; i < RR_SERVE_EXPORTS && status == RR_EXIT_OK; i++)
		if (serve->texts[i] && !serve->ruled[i])
			status = rules_complete(tool, serve, i);
	return status;
}
