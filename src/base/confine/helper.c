/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two processes are made: the keeper, which only waits, and the helper, which answers. If the helper crashes,
 * the keeper makes another one, up to HELPER_CRASHES times; then it ends, and with it the service, which
 * could not say who its callers are. Both end when the service has ended: their ends of the sockets then
 * report that.
 *
 * The helper keeps the files of the system, but not its programs: it has the filter of calls.c, and no
 * capabilities but those for reading.
 */
#include "base/confine/helper.h"

#include <errno.h>
#include <pthread.h>
#include <rpcrdma/error.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/confine/confine.h"

enum { HELPER_CRASHES = 16 };

/* The service's ends of the sockets, which are set before it has threads; -1 in all other processes. */
static int helper_ends[RR_HELPER_KINDS] = { -1, -1, -1, -1 };

_Static_assert(RR_HELPER_KINDS == 4, "each kind begins without a socket");

/* What a thread of the helper has. */
struct helper_work {
	struct rr_helper_desk desk;
	int fd; /* where questions come from */
};

/* Room for one descriptor that comes with a message. */
union helper_control {
	struct cmsghdr head;
	char octets[CMSG_SPACE(sizeof(int))];
};

/* ---- In the helper ---- */

/* Returns the descriptor that came with the message; -1 if none did. */
static int
helper_descriptor(struct msghdr *message)
{
	const struct cmsghdr *head = CMSG_FIRSTHDR(message);
	int fd;

	if (!head || head->cmsg_level != SOL_SOCKET || head->cmsg_type != SCM_RIGHTS ||
		head->cmsg_len != CMSG_LEN(sizeof(fd)))
		return -1;
	memcpy(&fd, CMSG_DATA(head), sizeof(fd));
	return fd;
}

/* Takes one question and answers it. Ends the process if the service has ended. A question that is too long
 * gets no answer. */
static void
helper_serve(const struct helper_work *work, void *question, void *answer)
{
	struct iovec into = { question, RR_HELPER_MESSAGE };
	union helper_control control;
	struct msghdr message = {
		.msg_iov = &into, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control)
	};
	ssize_t size = recvmsg(work->fd, &message, MSG_CMSG_CLOEXEC);
	size_t told = 0;
	int fd;

	if (size == 0 || (size < 0 && errno != EINTR))
		_exit(0);
	fd = size < 0 ? -1 : helper_descriptor(&message);
	if (fd < 0)
		return;
	if (!(message.msg_flags & MSG_TRUNC))
		told = work->desk.answer(work->desk.ctx, question, (size_t)size, answer);
	if (told > 0)
		(void)!send(fd, answer, told, MSG_NOSIGNAL);
	explicit_bzero(answer, told); /* it may have keys */
	close(fd);
}

static void *
helper_thread(void *ctx)
{
	const struct helper_work *work = ctx;
	char *memory = malloc(2 * RR_HELPER_MESSAGE);

	while (memory)
		helper_serve(work, memory, memory + RR_HELPER_MESSAGE);
	_exit(1);
}

/* The helper: answers until the service has ended. */
static void
helper_run(const struct rr_helper_config *config, const int fds[RR_HELPER_KINDS])
{
	struct helper_work works[RR_HELPER_KINDS];
	struct rr_text ignored;
	pthread_t thread = pthread_self();

	prctl(PR_SET_NAME, "rpcrdma-helper");
	/* The service has said already what the kernel has not got. */
	(void)rr_confine(RR_CONFINE_RELAY, NULL, &ignored);
	for (int i = 0; i < RR_HELPER_KINDS; i++) {
		works[i] = (struct helper_work){ config->desks[i], fds[i] };
		for (uint32_t j = 0; works[i].desk.answer && j < config->threads; j++)
			if (pthread_create(&thread, NULL, helper_thread, &works[i]) != 0)
				_exit(1);
	}
	/* The threads never end. This one waits by futex(2): the filter refuses pause(2). */
	pthread_join(thread, NULL);
	_exit(1);
}

/* ---- In the keeper ---- */

/* Makes helpers until one ends because the service has ended. */
static void
helper_keep(const struct rr_helper_config *config, const int fds[RR_HELPER_KINDS])
{
	static const int ignored[] = { SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGPIPE };
	int status = 0;

	for (size_t i = 0; i < sizeof(ignored) / sizeof(ignored[0]); i++)
		signal(ignored[i], SIG_IGN);
	prctl(PR_SET_NAME, "rpcrdma-keeper");
	for (int i = 0; i <= HELPER_CRASHES; i++) {
		pid_t child = fork();

		if (child == 0)
			helper_run(config, fds);
		while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
			continue;
		if (child < 0 || (WIFEXITED(status) && WEXITSTATUS(status) == 0))
			_exit(0);
		fprintf(stderr, "rpcrdma: the helper for names and tickets has crashed (%s %d)%s\n",
			WIFSIGNALED(status) ? "signal" : "status",
			WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status),
			i < HELPER_CRASHES ? "; another one takes its place" : ", too often");
	}
	_exit(1);
}

/* ---- In the service ---- */

int
rr_helper_start(const struct rr_helper_config *config, struct rr_text *text)
{
	int pairs[RR_HELPER_KINDS][2], far[RR_HELPER_KINDS];
	int made = 0;
	pid_t keeper = -1;

	while (made < RR_HELPER_KINDS &&
		socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pairs[made]) == 0)
		made++;
	for (int i = 0; i < made; i++)
		far[i] = pairs[i][1];
	fflush(NULL);
	if (made == RR_HELPER_KINDS)
		keeper = fork();
	for (int i = 0; i < made; i++) {
		close(pairs[i][keeper == 0 ? 0 : 1]);
		if (keeper > 0 && config->desks[i].answer)
			helper_ends[i] = pairs[i][0];
		else if (keeper != 0)
			close(pairs[i][0]);
	}
	if (keeper == 0)
		helper_keep(config, far);
	return keeper > 0 ? 0
			  : rr_fail(text, -RPCRDMA_ERR_SYSTEM, "no process for names and tickets: %s",
				    strerror(errno));
}

bool
rr_helper_has(enum rr_helper_kind kind)
{
	return helper_ends[kind] >= 0;
}

/* Sends a question with this end of a socket for the answer. */
static bool
helper_send(int to, const void *question, size_t size, int fd)
{
	struct iovec from = { (void *)(uintptr_t)question, size };
	union helper_control control = { .octets = { 0 } };
	struct msghdr message = {
		.msg_iov = &from, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control)
	};
	ssize_t sent;

	control.head = (struct cmsghdr){
		.cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(sizeof(fd))
	};
	memcpy(CMSG_DATA(&control.head), &fd, sizeof(fd));
	do
		sent = sendmsg(to, &message, MSG_NOSIGNAL);
	while (sent < 0 && errno == EINTR);
	if (sent < 0 && (errno == EPIPE || errno == ECONNRESET)) {
		fprintf(stderr, "rpcrdma: the helper for names and tickets is gone: the service ends\n");
		fflush(NULL);
		_exit(EXIT_FAILURE);
	}
	return sent == (ssize_t)size;
}

ptrdiff_t
rr_helper_ask(enum rr_helper_kind kind, const void *question, size_t size, void *answer, size_t room)
{
	int pair[2];
	ssize_t got = -1;
	bool sent;

	if (size == 0 || size > RR_HELPER_MESSAGE ||
		socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0)
		return -RPCRDMA_ERR_SYSTEM;
	sent = helper_send(helper_ends[kind], question, size, pair[1]);
	close(pair[1]);
	while (sent && (got = recv(pair[0], answer, room, 0)) < 0 && errno == EINTR)
		continue;
	close(pair[0]);
	return got > 0 ? got : -RPCRDMA_ERR_SYSTEM;
}
