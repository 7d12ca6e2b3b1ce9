/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: the stage tests' main program. Contract: runs every stage on every address (those of the
 * lab, or RDMA_ADDR); exit status 0 if all passed. tests/run starts it in the top directory. With
 * TESTS_ALL it runs every test of every stage on every device; without it, only the tests whose
 * results differ there.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/stages/runs.h"
#include "tests/stages/stages.h"
#include "tests/stages/table.h"
#include "tests/support/resources.h"
#include "tests/support/suite.h"

/*
 * What does not depend on the form of addresses is tested only with the first address of a device.
 */
static bool first_of_device(int target)
{
	return target == 0 || strcmp(targets[target].device, targets[target - 1].device) != 0;
}

/* Tests that depend only on the program: they run on the first device. */
static void add_what_any_device_shows(TCase *tcase, int setting)
{
	if (!setting_of(setting).stage->streams)
		add_output_tests(tcase, setting);
	add_trace_tests(tcase, setting);
	/* The command line is read by the same main: one stage shows it, and one with options of its own. */
	if (getenv("TESTS_ALL") || setting_of(setting).stage->streams ||
	    !setting_of(setting).stage->negotiates)
		add_mistake_tests(tcase, setting);
}

/* Tests of what may break if a part waits in another way and is otherwise the same. */
static void add_what_depends_on_waiting(TCase *tcase, int setting)
{
	if (setting_of(setting).stage->streams)
		add_stream_tests(tcase, setting);
	else
		add_transfer_tests(tcase, setting);
	add_stop_tests(tcase, setting);
	add_death_tests(tcase, setting);
}

/*
 * Without TESTS_ALL, stages outside the ladder, and ping-sr-1, do not repeat tests that other
 * stages run.
 */
static bool wants_all(const struct stage *stage)
{
	return getenv("TESTS_ALL") || (!stage->beside && !stage->only_tells);
}

/*
 * Without TESTS_ALL, only the deaths of a peer are tested on the second device, and for a stage
 * that differs only in how it waits. Everything else is tested on the first device, and in the
 * stage that the other parts come from.
 */
static void add_all_others(TCase *tcase, int setting, bool first_device)
{
	if (!getenv("TESTS_ALL") && first_device == setting_of(setting).stage->only_waits) {
		add_death_tests(tcase, setting);
		return;
	}
	if (!getenv("TESTS_ALL") && !first_device)
		return;
	add_what_depends_on_waiting(tcase, setting);
	if (setting_of(setting).stage->only_waits) {
		add_trace_tests(tcase, setting);
		return;
	}
	add_limit_tests(tcase, setting);
	add_what_any_device_shows(tcase, setting);
}

/* With the second address of a device one size is enough; the suite `sizes` sends the others. */
static void add_arrivals(TCase *tcase, int setting, bool every_size)
{
	if (setting_of(setting).stage->streams)
		add_stream_size_tests(tcase, setting, every_size);
	else
		add_size_tests(tcase, setting, every_size);
}

static void add_tests(TCase *tcase, int setting, int target)
{
	bool only_sizes = getenv("STAGES_SIZES"), all, every_size;

	if (!can_run(setting_of(setting).stage, setting_of(setting).target)) {
		if (setting_of(setting).stage->counts)
			add_no_atomics_tests(tcase, setting);
		else
			add_iwarp_tests(tcase, setting);
		return;
	}
	if (setting_of(setting).stage->counts) {
		if (first_of_device(target))
			add_count_tests(tcase, setting, wants_all(setting_of(setting).stage));
		return;
	}
	all = wants_all(setting_of(setting).stage);
	every_size = all && first_of_device(target) &&
		     (getenv("TESTS_ALL") || !setting_of(setting).stage->only_waits);
	if (all || only_sizes || first_of_device(target))
		add_arrivals(tcase, setting, only_sizes || every_size);
	if (only_sizes || !first_of_device(target))
		return;
	if (setting_of(setting).stage->agent_sees)
		add_arrival_tests(tcase, setting, all);
	if (setting_of(setting).stage->only_writes)
		add_depth_tests(tcase, setting, all);
	if (setting_of(setting).stage->bare)
		add_bare_tests(tcase, setting, all);
	if (setting_of(setting).stage->one_sided)
		add_keepalive_tests(tcase, setting);
	if (all)
		add_all_others(tcase, setting, target == 0);
}

int main(void)
{
	Suite *suite = suite_create("stages");
	int stage, target, setting;
	TCase *tcase;

	choose_stages();
	find_targets();
	resources_remember();
	for (stage = 0; stage < n_stages; stage++) {
		if (!getenv("STAGES_SIZES")) {
			tcase = run_tcase(suite_name("%s any address", stages[stage].name));
			add_any_address_tests(tcase, setting_number(stage, 0));
			suite_add_tcase(suite, tcase);
		}
		for (target = 0; target < n_targets; target++) {
			setting = setting_number(stage, target);
			tcase = run_tcase(setting_name(setting));
			add_tests(tcase, setting, target);
			suite_add_tcase(suite, tcase);
		}
	}
	return suite_run(&suite, 1);
}
