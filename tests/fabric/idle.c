/* SPDX-License-Identifier: BSD-3-Clause */
#include "idle.h"

#include "../test.h"
#include "fabric/filter/fault.h"
#include "fabric/filter/record.h"

static suite_fabric_new *provider;
static struct rr_record *record;

static int
make(struct rr_loop *loop, const struct rr_fabric_config *config, struct rr_fabric **fabric)
{
	static const struct rr_fault_script nothing;
	struct rr_fabric *below;
	int error = provider(loop, config, &below);

	if (error)
		return error;
	assert_int_equal(rr_fault_fabric_new(below, &nothing, &below), 0);
	return rr_record_fabric_new(below, record, fabric);
}

int
idle_run(suite_fabric_new *below)
{
	struct rr_text text;
	int failed;

	provider = below;
	if (rr_record_open("/dev/null", &record, &text))
		return 1;
	failed = suite_run(make);
	return failed + (rr_record_close(record, &text) != 0);
}
