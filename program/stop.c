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

#include "measure/clock.h"
#include "program/report.h"
#include "program/stdout.h"
#include "program/stop.h"

/* Two signals so close together count as one: timeout(1) sends to a process and its group. */
#define ONE_REQUEST_NS (OUR_NS_PER_S / 4)

/* Lock-free: for a signal handler and for other threads. */
static atomic_bool stop_requested, leave_requested;
static atomic_bool calls_limited;   /* by our_limit_calls */
static _Atomic uint64_t stopped_ns; /* when the first request came */
/* Written before the handlers are installed, then only read. */
static int stop_fd = -1, leave_fd = -1;

static void note_request(void)
{
	uint64_t now_ns = our_now_ns();

	if (!atomic_load(&stop_requested))
		atomic_store(&stopped_ns, now_ns);
	else if (now_ns - atomic_load(&stopped_ns) > ONE_REQUEST_NS)
		atomic_store(&leave_requested, true);
	atomic_store(&stop_requested, true);
}

/* It fails when the counter is full, and then the descriptor is readable, too: no error. */
static void make_readable(int fd)
{
	static const uint64_t one = 1;

	if (write(fd, &one, sizeof(one)) < 0)
		errno = 0;
}

static void handle_signal(int signal_number)
{
	int saved_errno = errno;

	if (signal_number != SIGALRM)
		note_request();
	if (atomic_load(&stop_requested) || atomic_load(&calls_limited))
		alarm(1); /* again, in case the call does not block yet */
	if (atomic_load(&stop_requested))
		make_readable(stop_fd);
	if (atomic_load(&leave_requested))
		make_readable(leave_fd);
	errno = saved_errno;
}

int our_catch_signals(void)
{
	/* The alarm first, because the other handlers set it. */
	static const int signals[] = { SIGALRM, SIGINT, SIGTERM };
	struct sigaction action;
	size_t i;

	stop_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	leave_fd = stop_fd < 0 ? -1 : eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (leave_fd < 0)
		return our_report_error("eventfd", errno, NULL);
	memset(&action, 0, sizeof(action));
	sigemptyset(&action.sa_mask);
	/*
	 * soft-iWARP may send one to a process that posts to a connection that is gone:
	 * docs/drivers.md
	 */
	action.sa_handler = SIG_IGN;
	if (sigaction(SIGPIPE, &action, NULL))
		return our_report_error("sigaction", errno, NULL);
	action.sa_handler = handle_signal;
	for (i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
		if (sigaction(signals[i], &action, NULL))
			return our_report_error("sigaction", errno, NULL);
	}
	return our_guard_stdout();
}

void our_limit_calls(unsigned int seconds)
{
	atomic_store(&calls_limited, seconds);
	alarm(seconds);
	/* A signal may have come before that: its alarm has just been replaced. */
	if (our_stop_requested())
		alarm(1);
}

int our_stop_fd(void)
{
	return stop_fd;
}

bool our_stop_requested(void)
{
	return atomic_load_explicit(&stop_requested, memory_order_relaxed);
}

int our_leave_fd(void)
{
	return leave_fd;
}

bool our_leave_requested(void)
{
	return atomic_load_explicit(&leave_requested, memory_order_relaxed);
}
