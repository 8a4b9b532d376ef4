/* SPDX-License-Identifier: BSD-3-Clause */
#include "tool/asking.h"

#include <sys/eventfd.h>

void
rr_asking_init(struct rr_asking *asking)
{
	*asking = (struct rr_asking){ .wanted = NULL };
	pthread_mutex_init(&asking->lock, NULL);
	pthread_cond_init(&asking->answered, NULL);
}

void
rr_asking_destroy(struct rr_asking *asking)
{
	pthread_cond_destroy(&asking->answered);
	pthread_mutex_destroy(&asking->lock);
}

bool
rr_asking_ask(struct rr_asking *asking, struct rr_measure *measure, const void *who, int fd, uint64_t request,
	const struct timespec *limit)
{
	bool answered;
	int error = 0;

	pthread_mutex_lock(&asking->lock);
	asking->measure = measure;
	asking->wanted = who;
	eventfd_write(fd, request);
	while (asking->wanted && error == 0)
		error = pthread_cond_timedwait(&asking->answered, &asking->lock, limit);
	answered = !asking->wanted;
	asking->wanted = NULL;
	pthread_mutex_unlock(&asking->lock);
	return answered;
}

struct rr_measure *
rr_asking_take(struct rr_asking *asking, const void *who)
{
	pthread_mutex_lock(&asking->lock);
	if (asking->wanted == who)
		return asking->measure;
	pthread_mutex_unlock(&asking->lock);
	return NULL;
}

void
rr_asking_give(struct rr_asking *asking)
{
	asking->wanted = NULL;
	pthread_cond_signal(&asking->answered);
	pthread_mutex_unlock(&asking->lock);
}
