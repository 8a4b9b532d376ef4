/* SPDX-License-Identifier: BSD-3-Clause */
#include "tool/secure.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>

#include "carrier/engine.h"
#include "tool/tool.h"
#include "vfs/key.h"

const struct rr_option rr_tool_secure_options[] = {
	{ .name = "tls-cert",
		.argument = "FILE",
		.help = "offer TLS over TCP (RFC 9289) and iWARP with this certificate, in PEM; SIGHUP takes "
			"a renewed "
			"one",
		.kind = RR_OPTION_TEXT,
		.at = offsetof(struct rr_tool_secure, files.cert) },
	{ .name = "tls-key",
		.argument = "FILE",
		.help = "the private key of --tls-cert (in the file of --tls-cert)",
		.kind = RR_OPTION_TEXT,
		.at = offsetof(struct rr_tool_secure, files.key) },
	{ .name = "tls-ca",
		.argument = "FILE",
		.help = "ask clients for a certificate, too, which must be signed by one of these; the file "
			"may have "
			"lists of revoked ones",
		.kind = RR_OPTION_TEXT,
		.at = offsetof(struct rr_tool_secure, files.ca) },
	{ .name = "tls",
		.help = "offer TLS as --tls-cert does, with a certificate that is made at first use, in the "
			"file of --tls-cert if that is given",
		.kind = RR_OPTION_FLAG,
		.at = offsetof(struct rr_tool_secure, makes) },
	{ .name = "tls-look",
		.argument = "SECONDS",
		.help = "how often to look whether these files were replaced; 0: at SIGHUP alone (60)",
		.kind = RR_OPTION_NUMBER,
		.low = 0,
		.high = 86400,
		.at = offsetof(struct rr_tool_secure, look) },
	{ 0 },
};

uint8_t
rr_tool_secure_offers(const struct rr_tool_secure *secure)
{
	uint8_t offers = 1u << RR_SECURITY_NONE;

	if (secure->files.cert)
		offers |= 1u << RR_SECURITY_TLS;
	if (secure->files.cert && secure->files.ca)
		offers |= 1u << RR_SECURITY_MTLS;
	return offers;
}

int
rr_tool_secure_name(const struct rr_tool *tool, struct rr_tool_secure *secure, const char *key_path)
{
	struct rr_text text;

	if (!secure->makes)
		return RR_EXIT_OK;
	if (secure->files.key)
		return rr_tool_usage(
			tool, "--tls makes a certificate with its key in one file, without --tls-key");
	if (secure->files.cert)
		snprintf(secure->made, sizeof(secure->made), "%s", secure->files.cert);
	else if (rr_vfs_beside_key(key_path, "tls.pem", secure->made, &text) < 0)
		return rr_tool_fail(tool, "--tls: %s", text.text);
	secure->files.cert = secure->made;
	return RR_EXIT_OK;
}

int
rr_tool_secure_make(const struct rr_tool *tool, const struct rr_tool_secure *secure)
{
	struct rr_text text;

	if (secure->made[0] &&
		(rr_vfs_key_directories(secure->made, &text) < 0 || rr_tls_make(secure->made, &text) < 0))
		return rr_tool_fail(tool, "--tls: %s", text.text);
	return RR_EXIT_OK;
}

void
rr_tool_secure_announce(const struct rr_tool_secure *secure)
{
	uint8_t fingerprint[RR_TLS_FINGERPRINT];
	char shown[RR_TLS_FINGERPRINT_TEXT];

	if (!secure->tls || !rr_tls_own_fingerprint(secure->tls, fingerprint))
		return;
	rr_tls_fingerprint_put(fingerprint, shown);
	printf("its key has the fingerprint %s\n", shown);
}

void
rr_tool_keep_core(void)
{
	/* core(5): a limit of 1 also keeps the core from a program that /proc/sys/kernel/core_pattern names.
	 */
	const struct rlimit none = { 1, 1 };

	setrlimit(RLIMIT_CORE, &none);
}

int
rr_tool_secure_begin(
	const struct rr_tool *tool, struct rr_tool_secure *secure, struct rr_engine_config *engine)
{
	struct rr_text text;

	if (!secure->files.cert && (secure->files.key || secure->files.ca))
		return rr_tool_usage(tool, "--tls-key and --tls-ca are of TLS, which needs --tls-cert");
	if (!secure->files.cert)
		return RR_EXIT_OK;
	rr_tool_keep_core();
	if (rr_tls_new(true, &secure->files, &secure->tls, &text) < 0)
		return rr_tool_fail(tool, "%s", text.text);
	engine->tls = secure->tls;
	return RR_EXIT_OK;
}

void
rr_tool_secure_renew(const struct rr_tool *tool, const struct rr_tool_secure *secure)
{
	struct rr_text text;

	if (!secure->tls)
		return;
	if (rr_tls_renew(secure->tls, &text) < 0)
		rr_tool_warn(tool, "%s; new connections get the certificate as it was", text.text);
	else
		fprintf(stderr, "rpcrdma %s: %s: the certificate was read again, for new connections\n",
			tool->name, secure->files.cert);
}

/* ---- A thread that looks at the files ---- */

enum { SECURE_FILES = 3 };

struct rr_tool_minder {
	const struct rr_tool *tool;
	const struct rr_tool_secure *secure;
	pthread_t thread;
	pthread_mutex_t lock; /* of ended */
	pthread_cond_t changed;
	bool ended;
	struct stat seen[SECURE_FILES]; /* the files as they were at the last look */
};

/* Looks at the files. Returns true if one of them is not the one that was seen before, or was written. */
static bool
secure_looks(struct rr_tool_minder *minder)
{
	const struct rr_tls_files *files = &minder->secure->files;
	const char *const paths[SECURE_FILES] = { files->cert, files->key, files->ca };
	bool changed = false;

	for (int i = 0; i < SECURE_FILES; i++) {
		struct stat *seen = &minder->seen[i], now;

		/* A file that is not there is being replaced: the next look finds it. */
		if (!paths[i] || stat(paths[i], &now) != 0)
			continue;
		changed |= now.st_dev != seen->st_dev || now.st_ino != seen->st_ino ||
			   now.st_size != seen->st_size || now.st_mtim.tv_sec != seen->st_mtim.tv_sec ||
			   now.st_mtim.tv_nsec != seen->st_mtim.tv_nsec;
		*seen = now;
	}
	return changed;
}

/* The thread. */
static void *
secure_mind(void *ctx)
{
	struct rr_tool_minder *minder = ctx;
	struct timespec next;

	clock_gettime(CLOCK_MONOTONIC, &next);
	pthread_mutex_lock(&minder->lock);
	for (;;) {
		next.tv_sec += minder->secure->look;
		while (!minder->ended && pthread_cond_timedwait(&minder->changed, &minder->lock, &next) == 0)
			;
		if (minder->ended)
			break;
		pthread_mutex_unlock(&minder->lock);
		if (secure_looks(minder))
			rr_tool_secure_renew(minder->tool, minder->secure);
		pthread_mutex_lock(&minder->lock);
	}
	pthread_mutex_unlock(&minder->lock);
	return NULL;
}

void
rr_tool_secure_mind(const struct rr_tool *tool, struct rr_tool_secure *secure)
{
	struct rr_tool_minder *minder;
	pthread_condattr_t attributes;
	sigset_t all, before;

	minder = secure->tls && secure->look > 0 ? calloc(1, sizeof(*minder)) : NULL;
	if (!minder)
		return;
	minder->tool = tool;
	minder->secure = secure;
	secure_looks(minder);
	pthread_mutex_init(&minder->lock, NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&minder->changed, &attributes);
	pthread_condattr_destroy(&attributes);
	/* Signals are for the other threads. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	if (pthread_create(&minder->thread, NULL, secure_mind, minder) == 0) {
		secure->minder = minder;
	} else {
		rr_tool_warn(tool, "there is no thread that looks whether certificates were renewed; SIGHUP "
				   "takes renewed ones");
		free(minder);
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* Ends the thread. */
static void
secure_stop_minding(struct rr_tool_minder *minder)
{
	pthread_mutex_lock(&minder->lock);
	minder->ended = true;
	pthread_cond_signal(&minder->changed);
	pthread_mutex_unlock(&minder->lock);
	pthread_join(minder->thread, NULL);
	pthread_cond_destroy(&minder->changed);
	pthread_mutex_destroy(&minder->lock);
	free(minder);
}

void
rr_tool_secure_end(struct rr_tool_secure *secure)
{
	if (secure->minder)
		secure_stop_minding(secure->minder);
	secure->minder = NULL;
	if (secure->tls)
		rr_tls_free(secure->tls);
	secure->tls = NULL;
}
