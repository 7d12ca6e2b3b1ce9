/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * A stdout that loses nothing to a signal. See stdout.h.
 */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#include "program/report.h"
#include "program/stdout.h"
#include "program/stop.h"

/*
 * Waits until write(2) does not block, or fails. Returns false if the program is to leave before.
 * Does not wait in write(2), because a signal may interrupt another thread than this one.
 */
static bool await_reader(void)
{
	struct pollfd fds[] = {
		{ .fd = STDOUT_FILENO, .events = POLLOUT },
		{ .fd = our_leave_fd(our_program_stop()), .events = POLLIN },
	};

	while (poll(fds, 2, -1) < 0 && errno == EINTR)
		;
	return fds[0].revents || !fds[1].revents;
}

/* What the C library calls when the stream has something to write. 0: it could not be written. */
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

int our_guard_stdout(void)
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
