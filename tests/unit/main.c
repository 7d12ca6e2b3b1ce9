/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: the unit tests' main program. Contract: runs every suite; exit status 0 if all passed.
 */
#include "tests/support/suite.h"
#include "tests/unit/unit.h"

int main(void)
{
	Suite *const suites[] = {
		numbers_suite(), options_suite(),   refusals_suite(),  addresses_suite(),
		json_suite(),    results_suite(),   histogram_suite(), statistics_suite(),
		report_suite(),  user_data_suite(), stop_suite(),      stdout_suite(),
		process_suite(), transfers_suite(), sequence_suite(),  connect_info_suite(),
		credits_suite(), shortages_suite(), wc_status_suite(), admission_suite(),
		output_suite(),  run_end_suite(),   wake_up_suite(),   show_suite(),
		trace_suite(),
	};

	return suite_run(suites, UNIT_LENGTH(suites));
}
