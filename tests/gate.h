/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TESTS_GATE_H
#define RR_TESTS_GATE_H

#include "test.h"

#include "vfs/gate.h"

/* A rule by which every user, root included, may do everything. */
#define TEST_GATE_OPEN "*(rw,no_root_squash,insecure,sec=sys:none)"

/* Makes a gate to vfs with this rule for each export. */
static inline void
test_gate_init(struct rr_gate *gate, struct rr_vfs *vfs, const char *rule)
{
	struct rr_rules *rules;
	struct rr_text why;

	assert_int_equal(rr_rules_new(&rr_env_system, vfs->export_count, &rules), 0);
	for (uint32_t i = 0; i < vfs->export_count; i++)
		if (rr_rules_add(rules, i, rule, &rr_right_default, &why) < 0)
			fail_msg("%s", why.text);
	rr_gate_init(gate, vfs, rules, NULL);
	rr_rules_release(rules);
}

#endif
