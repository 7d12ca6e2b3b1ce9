/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * verbs-sim: one run for each seed, or with --sweep many. See runner.h.
 */
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "verbs-sim/runner/runner.h"

static void on_signal(int number)
{
	(void)number; /* this signal only ends a wait */
}

/*
 * A standard stream that whoever runs it has closed must not become a file of the simulation. The
 * programs find it as before: what they do with it fails with EBADF.
 */
static void occupy_standard_streams(void)
{
	int fd;

	for (fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		if (fcntl(fd, F_GETFD) < 0)
			open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
	}
}

int main(int argc, char **argv)
{
	struct sigaction action = { .sa_handler = on_signal };
	struct sim_options options;
	static struct sim_result result;
	sigset_t news;
	uint64_t seed;
	int ret;

	occupy_standard_streams();
	ret = sim_read_options(argc, argv, &options);
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
	seed = options.seed;
	do
		ret = sim_worse(ret, options.sweep ? sim_sweep(&options, seed)
						   : sim_run(&options, seed, &result));
	while (seed++ != options.last_seed && (!ret || ret == SIM_EXIT_LEFT));
	ret = sim_worse(ret, sim_report_coverage(&options));
	return sim_write_junit(&options) && !ret ? SIM_EXIT_BROKEN : ret;
}
