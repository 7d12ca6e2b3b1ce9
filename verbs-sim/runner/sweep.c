/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * --sweep: a run for each call of one program. See runner.h.
 */
#include <stdio.h>
#include <string.h>

#include "verbs-sim/core/fault.h"
#include "verbs-sim/runner/runner.h"

/* "S[:HOW]" becomes "S:CALL[:HOW]". */
static bool read_fault(const char *sweep, unsigned long long call, struct sim_fault *fault)
{
	size_t side = strcspn(sweep, ":");
	char text[sizeof(fault->text)];

	snprintf(text, sizeof(text), "%.*s:%llu%s", (int)side, sweep, call, sweep + side);
	return sim_read_fault(text, fault);
}

bool sim_is_sweep(const char *text)
{
	struct sim_fault fault;

	return read_fault(text, 1, &fault);
}

int sim_sweep(const struct sim_options *options, uint64_t seed)
{
	struct sim_options one = *options;
	struct sim_fault *fault = &one.faults[one.n_faults++];
	struct sim_result result;
	unsigned long long call;
	int failed = 0, ret = sim_run(options, seed, &result);

	if (ret)
		return ret;
	for (call = 1;; call++) {
		if (!read_fault(options->sweep, call, fault))
			return SIM_EXIT_USAGE;
		failed += sim_run(&one, seed, &result) != 0;
		ret = ret ? ret : result.exit;
		if (result.calls[fault->program] < call) /* there is no such call any more */
			break;
	}
	fprintf(stderr,
		"verbs-sim: %llu calls of program %d, each in a run of its own: %d not as they should be\n",
		call - 1, fault->program, failed);
	return ret;
}
