/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * SIGINT and SIGTERM end a program in an orderly way. See stop.h.
 */
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include "common/clock.h"
#include "program/report.h"
#include "program/stdout.h"
#include "program/stop.h"

/* Two signals so close together count as one: timeout(1) sends to a process and its group. */
#define ONE_REQUEST_NS (OUR_NS_PER_S / 4)

/* Written before the handlers are installed, and after them. */
static struct our_stop *stop;
/* Lock-free: for the signal handler and for other threads. */
static atomic_bool calls_limited;   /* by our_limit_calls */
static _Atomic uint64_t stopped_ns; /* when the first request came; 0: none has */

static void note_request(void)
{
	uint64_t now_ns = our_now_ns(), first_ns = 0;

	if (atomic_compare_exchange_strong(&stopped_ns, &first_ns, now_ns) ||
	    now_ns - first_ns > ONE_REQUEST_NS)
		our_stop_request(stop);
}

static void handle_signal(int signal_number)
{
	int saved_errno = errno;

	if (signal_number != SIGALRM)
		note_request();
	if (our_stop_requested(stop) || atomic_load(&calls_limited))
		alarm(1); /* again, in case the call does not block yet */
	errno = saved_errno;
}

/* The alarm first, because the other handlers set it. */
static const int signals[] = { SIGALRM, SIGINT, SIGTERM };
#define N_SIGNALS (sizeof(signals) / sizeof(signals[0]))

int our_catch_signals(void)
{
	struct sigaction action = { .sa_handler = SIG_IGN };
	size_t i;
	int ret;

	ret = our_create_stop(&stop);
	if (ret)
		return our_report_error(ret == ENOMEM ? "calloc" : "eventfd", ret, NULL);
	sigemptyset(&action.sa_mask);
	/*
	 * soft-iWARP may send one to a process that posts to a connection that is gone:
	 * docs/drivers.md
	 */
	if (sigaction(SIGPIPE, &action, NULL))
		goto err_ignore_signals;
	action.sa_handler = handle_signal;
	for (i = 0; i < N_SIGNALS; i++) {
		if (sigaction(signals[i], &action, NULL))
			goto err_ignore_signals;
	}
	ret = our_guard_stdout();
	if (ret)
		our_ignore_signals();
	return ret;

err_ignore_signals:
	ret = our_report_error("sigaction", errno, NULL);
	our_ignore_signals();
	return ret;
}

void our_ignore_signals(void)
{
	size_t i;

	fflush(stdout); /* it may wait for its reader: this is the last chance to end that */
	for (i = 0; i < N_SIGNALS; i++)
		signal(signals[i], SIG_IGN);
	our_destroy_stop(stop);
	stop = NULL;
}

struct our_stop *our_program_stop(void)
{
	return stop;
}

void our_limit_calls(unsigned int seconds)
{
	atomic_store(&calls_limited, seconds);
	alarm(seconds);
	/* A signal may have come before that: its alarm has just been replaced. */
	if (our_stop_requested(stop))
		alarm(1);
}
