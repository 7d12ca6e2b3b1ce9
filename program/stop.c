/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * SIGINT and SIGTERM end a program in an orderly way, and stdout loses nothing. See stop.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include "common/clock.h"
#include "program/report.h"
#include "program/stop.h"

/* Two signals so close together count as one: timeout(1) sends to a process and its group. */
#define ONE_REQUEST_NS (OUR_NS_PER_S / 4)

/* Written before the handlers are installed, and after them. */
static struct our_stop *stop;
/* These are lock-free, for the signal handler and for other threads. */
static atomic_bool calls_limited;   /* our_limit_calls is in force */
static _Atomic uint64_t stopped_ns; /* the time of the first request; 0: none has come */

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

/*
 * Waits until write(2) does not block, or fails. Returns false if the program is to leave before.
 * Does not wait in write(2), because a signal may interrupt another thread than this one.
 */
static bool await_reader(void)
{
	struct pollfd fds[] = {
		{ .fd = STDOUT_FILENO, .events = POLLOUT },
		{ .fd = our_leave_fd(stop), .events = POLLIN },
	};

	while (poll(fds, 2, -1) < 0 && errno == EINTR)
		;
	return fds[0].revents || !fds[1].revents;
}

/* Called by the C library when the stream has something to write. Returns 0 if that failed. */
static ssize_t write_all(void *cookie, const char *text, size_t size)
{
	size_t done = 0, part;
	ssize_t written;

	(void)cookie;
	while (done < size) {
		if (!await_reader()) {
			errno = EAGAIN;
			return 0;
		}
		part = size - done < PIPE_BUF ? size - done : PIPE_BUF; /* a ready pipe takes it */
		written = write(STDOUT_FILENO, text + done, part);
		if (written >= 0)
			done += (size_t)written;
		else if (errno != EINTR && errno != EAGAIN)
			return 0;
	}
	return (ssize_t)size;
}

/*
 * Replaces the stream stdout, which glibc allows, by one that loses nothing to a signal: see
 * fopencookie(3). When a signal interrupts write(2), the C library drops what a stream has buffered,
 * and the alarms of a program that was asked to stop interrupt it again and again. Returns 0, or an
 * errno value, reported, and nothing has changed.
 */
static int guard_stdout(void)
{
	cookie_io_functions_t functions = { .write = write_all };
	FILE *stream = fopencookie(NULL, "w", functions);

	if (!stream)
		return our_report_error("fopencookie", errno, NULL);
	setvbuf(stream, NULL, isatty(STDOUT_FILENO) ? _IOLBF : _IOFBF, BUFSIZ);
	fflush(stdout);
	stdout = stream;
	return 0;
}

/* Installs that of the alarm first, because the other handlers set it. */
static const int signals[] = { SIGALRM, SIGINT, SIGTERM };
#define N_SIGNALS (sizeof(signals) / sizeof(signals[0]))

/* Otherwise a later descriptor could get the number of a closed stdout, and its writes. */
static int hold_standard_descriptors(void)
{
	int fd;

	for (fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDONLY) < 0)
			return our_report_error("open", errno, "/dev/null");
	}
	return 0;
}

int our_catch_signals(void)
{
	struct sigaction action = { .sa_handler = SIG_IGN };
	size_t i;
	int ret;

	ret = hold_standard_descriptors();
	if (ret)
		return ret;
	ret = our_create_stop(&stop);
	if (ret)
		return our_report_error(ret == ENOMEM ? "calloc" : "eventfd", ret, NULL);
	our_set_reported_stop(stop);
	sigemptyset(&action.sa_mask);
	/*
	 * soft-iWARP may send SIGPIPE to a process that posts to a connection that is gone:
	 * docs/drivers.md
	 */
	if (sigaction(SIGPIPE, &action, NULL))
		goto err_ignore_signals;
	action.sa_handler = handle_signal;
	for (i = 0; i < N_SIGNALS; i++) {
		if (sigaction(signals[i], &action, NULL))
			goto err_ignore_signals;
	}
	ret = guard_stdout();
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

	fflush(stdout); /* may wait for the reader: the last chance to end that wait */
	for (i = 0; i < N_SIGNALS; i++)
		signal(signals[i], SIG_IGN);
	our_set_reported_stop(NULL);
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
	/* The alarm of an earlier signal has just been replaced. */
	if (our_stop_requested(stop))
		alarm(1);
}
