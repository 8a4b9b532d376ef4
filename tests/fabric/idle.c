/* SPDX-License-Identifier: BSD-3-Clause */
#include "idle.h"

#include "../test.h"
#include "fabric/filter/fault.h"
#include "fabric/filter/recording.h"

static suite_fabric_new *provider;
static struct rr_recording *recording;

static int
make(struct rr_loop *loop, const struct rr_fabric_config *config, struct rr_fabric **fabric)
{
	static const struct rr_fault_script nothing;
	struct rr_fabric *below;
	int error = provider(loop, config, &below);

	if (error)
		return error;
	assert_int_equal(rr_fault_fabric_new(below, &nothing, &below), 0);
	return rr_recording_fabric_new(below, recording, fabric);
}

int
idle_run(suite_fabric_new *below)
{
	struct rr_text text;
	int failed;

	provider = below;
	if (rr_recording_open("/dev/null", &recording, &text))
		return 1;
	failed = suite_run(make);
	return failed + (rr_recording_close(recording, &text) != 0);
}
