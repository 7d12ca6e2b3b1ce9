/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * verbs-sim: one run after the other: for each seed and, with --sweep, for each call. See runner.h.
 */
#include <signal.h>
#include <stdio.h>

#include "verbs-sim/runner/runner.h"

static void on_signal(int number)
{
	(void)number; /* it ends a wait */
}

/* Returns the worse of two exit statuses. 121 hides no other; of others, the first is the worse. */
static int worse(int one, int other)
{
	return one && one != SIM_EXIT_LEFT ? one : other ? other : one;
}

/*
 * A run for each call of a program, in which that call fails. It is as it should be if each program
 * ends, by itself, and leaves nothing; its status may be any. Returns the first exit status that is
 * not 0, or 121 only if no other is.
 */
static int sweep(const struct sim_options *options, uint64_t seed)
{
	struct sim_options one = *options;
	struct sim_fault *fault = &one.faults[one.n_faults++];
	static struct sim_result result;
	unsigned long long call = 1;
	int failed = 0, ret = sim_run(options, seed, &result);

	if (ret)
		return ret;
	if (!sim_read_sweep(options->sweep, call, fault) || !result.calls[fault->program]) {
		fprintf(stderr, "verbs-sim: --sweep %s: no program %d has made a call\n",
			options->sweep, fault->program);
		return SIM_EXIT_USAGE;
	}
	for (;; call++) {
		sim_read_sweep(options->sweep, call, fault);
		failed += sim_run(&one, seed, &result) != 0;
		ret = worse(ret, result.exit);
		if (result.calls[fault->program] < call) /* there is no such call any more */
			break;
	}
	fprintf(stderr,
		"verbs-sim: %llu calls of program %d, each in a run of its own: %d not as they should be\n",
		call - 1, fault->program, failed);
	return ret;
}

int main(int argc, char **argv)
{
	struct sigaction action = { .sa_handler = on_signal };
	struct sim_options options;
	static struct sim_result result;
	sigset_t news;
	uint64_t seed;
	int ret = sim_read_options(argc, argv, &options);

	if (ret)
		return ret < 0 ? 0 : ret;
	sigemptyset(&news);
	sigaddset(&news, SIGUSR1);
	sigaddset(&news, SIGCHLD);
	sigprocmask(SIG_BLOCK, &news, NULL);
	sigaction(SIGUSR1, &action, NULL);
	sigaction(SIGCHLD, &action, NULL);
	if (options.shrink)
		return sim_shrink(&options);
	for (seed = options.seed; seed <= options.last_seed && (!ret || ret == SIM_EXIT_LEFT);
	     seed++)
		ret = worse(ret, options.sweep ? sweep(&options, seed)
					       : sim_run(&options, seed, &result));
	ret = worse(ret, sim_report_coverage(&options));
	return sim_write_junit(&options) && !ret ? SIM_EXIT_BROKEN : ret;
}
