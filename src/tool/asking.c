/* SPDX-License-Identifier: BSD-3-Clause */
#include "tool/asking.h"

void
rr_asking_init(struct rr_asking *asking)
{
	*asking = (struct rr_asking){ .wanted = 0 };
	pthread_mutex_init(&asking->lock, NULL);
	pthread_cond_init(&asking->answered, NULL);
}

void
rr_asking_destroy(struct rr_asking *asking)
{
	pthread_cond_destroy(&asking->answered);
	pthread_mutex_destroy(&asking->lock);
}

void
rr_asking_begin(struct rr_asking *asking, struct rr_measure *measure, uint32_t count)
{
	pthread_mutex_lock(&asking->lock);
	asking->measure = measure;
	asking->wanted = count < RR_ASKING_MAX ? (UINT64_C(1) << count) - 1 : UINT64_MAX;
	pthread_mutex_unlock(&asking->lock);
}

uint32_t
rr_asking_end(struct rr_asking *asking, const struct timespec *limit)
{
	uint32_t silent;
	int error = 0;

	pthread_mutex_lock(&asking->lock);
	while (asking->wanted && error == 0)
		error = pthread_cond_timedwait(&asking->answered, &asking->lock, limit);
	silent = (uint32_t)__builtin_popcountll(asking->wanted);
	asking->wanted = 0;
	pthread_mutex_unlock(&asking->lock);
	return silent;
}

struct rr_measure *
rr_asking_take(struct rr_asking *asking, uint32_t number)
{
	pthread_mutex_lock(&asking->lock);
	if (asking->wanted >> number & 1)
		return asking->measure;
	pthread_mutex_unlock(&asking->lock);
	return NULL;
}

void
rr_asking_give(struct rr_asking *asking, uint32_t number)
{
	asking->wanted &= ~(UINT64_C(1) << number);
	if (!asking->wanted)
		pthread_cond_signal(&asking->answered);
	pthread_mutex_unlock(&asking->lock);
}
