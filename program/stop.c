/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Miscellaneous layer: SIGINT and SIGTERM end a program in an orderly way. See stop.h.
 */
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "program/report.h"
#include "program/stop.h"

static atomic_bool stop_requested; /* lock-free: for a signal handler and for other threads */
static int stop_fd = -1;           /* written before the handlers are installed, then only read */

static void handle_signal(int signal_number)
{
	static const uint64_t one = 1;
	int saved_errno = errno;

	if (signal_number != SIGALRM)
		atomic_store(&stop_requested, true);
	if (atomic_load(&stop_requested)) {
		alarm(1);
		/* It fails when the counter is full, hence readable: all is well. */
		if (write(stop_fd, &one, sizeof(one)) < 0)
			errno = 0;
	}
	errno = saved_errno;
}

int our_catch_signals(void)
{
	/* The alarm first: from then on the others may set it. */
	static const int signals[] = { SIGALRM, SIGINT, SIGTERM };
	struct sigaction action;
	size_t i;

	stop_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (stop_fd < 0)
		return our_report_error("eventfd", errno, NULL);
	memset(&action, 0, sizeof(action));
	action.sa_handler = handle_signal;
	sigemptyset(&action.sa_mask);
	for (i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
		if (sigaction(signals[i], &action, NULL))
			return our_report_error("sigaction", errno, NULL);
	}
	return 0;
}

int our_stop_fd(void)
{
	return stop_fd;
}

bool our_stop_requested(void)
{
	return atomic_load_explicit(&stop_requested, memory_order_relaxed);
}
