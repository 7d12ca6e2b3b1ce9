/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * What a flattened program has in place of program/ and measure/: the same functions, as few lines
 * as they can be: exit statuses, and what is measured.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/control.h"
#include "measure/clock.h"
#include "program/options.h"
#include "program/report.h"
#include "tools/flatten/plumbing.h"

int our_options_exit_status(int error)
{
	return error == EINVAL ? OUR_EXIT_USAGE : OUR_EXIT_FAILED;
}

int our_exit_status(int error)
{
	return !error || error == EINTR ? OUR_EXIT_DONE : OUR_EXIT_FAILED;
}

void our_statistics_prepare(struct our_statistics *statistics, uint64_t count, uint64_t size)
{
	(void)count;
	(void)size;
	memset(statistics, 0, sizeof(*statistics));
}

void our_statistics_start(struct our_statistics *statistics)
{
	statistics->started_ns = our_now_ns();
}

void our_statistics_end(struct our_statistics *statistics)
{
	statistics->ended_ns = our_now_ns();
}

int our_report_results(const struct our_control *control)
{
	const struct our_statistics *statistics = &control->statistics;
	double us = (double)(statistics->ended_ns - statistics->started_ns) / OUR_NS_PER_US;

	printf("%s: %" PRIu64 " messages of %u bytes in %.0f us: %.2f us each%s\n", control->role,
	       statistics->messages, control->data_size, us,
	       statistics->messages ? us / (double)statistics->messages : 0,
	       statistics->complete ? "" : ", run not completed");
	return fflush(stdout) ? our_report_error("fflush", errno, NULL) : 0;
}
