/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * verbs-trace, the tool: writes the trace to a file or stderr. See sink.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "verbs-trace/tool/call.h"
#include "verbs-trace/tool/settings.h"
#include "verbs-trace/tool/sink.h"

#define OFTEN_NS 100000000
#define HIGH     1000 /* programs expect to get low descriptors */

static int fd = -1;
static struct stat opened;

/* Opens the same file under a number that no program expects to get. */
static int move_up(int low)
{
	struct rlimit limit = { .rlim_cur = 256 };
	int least = HIGH, high;

	getrlimit(RLIMIT_NOFILE, &limit);
	if (limit.rlim_cur <= HIGH)
		least = (int)limit.rlim_cur - 8;
	high = fcntl(low, F_DUPFD_CLOEXEC, least > 3 ? least : 3);
	return high;
}

void sink_open(void)
{
	int low = STDERR_FILENO;

	if (*settings.output)
		low = open(settings.output, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
	if (low >= 0)
		fd = move_up(low);
	if (*settings.output && low >= 0)
		close(low);
	if (fd >= 0 && fstat(fd, &opened))
		fd = -1;
}

/*
 * Whether the descriptor still refers to the file that was opened. This is not checked each time,
 * because the file may be on a network.
 */
static bool leads_there(void)
{
	static _Atomic uint64_t asked;
	uint64_t moment = call_now();
	struct stat now;

	if (moment - asked < OFTEN_NS)
		return true;
	asked = moment;
	return !fstat(fd, &now) && now.st_dev == opened.st_dev && now.st_ino == opened.st_ino &&
	       now.st_rdev == opened.st_rdev;
}

/* A file can be opened again, stderr cannot. */
static bool is_ours(void)
{
	if (fd >= 0 && fcntl(fd, F_GETFD) == FD_CLOEXEC && leads_there())
		return true;
	fd = -1;
	if (*settings.output)
		sink_open();
	return fd >= 0;
}

/*
 * Whether a reader has gone is not the program's concern: the SIGPIPE of our write is taken back, unless
 * the program had one before.
 */
static ssize_t write_quietly(const char *text, size_t length)
{
	const struct timespec at_once = { 0 };
	sigset_t ours, before, pending;
	ssize_t written;
	int error;

	if (!S_ISFIFO(opened.st_mode) && !S_ISSOCK(opened.st_mode))
		return write(fd, text, length);
	sigemptyset(&ours);
	sigaddset(&ours, SIGPIPE);
	sigpending(&pending);
	pthread_sigmask(SIG_BLOCK, &ours, &before);
	written = write(fd, text, length);
	error = errno;
	if (written < 0 && error == EPIPE && !sigismember(&pending, SIGPIPE))
		sigtimedwait(&ours, NULL, &at_once);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	errno = error;
	return written;
}

void sink_write(const char *text, size_t length)
{
	int saved_errno = errno;
	ssize_t written;

	while (length && is_ours()) {
		written = write_quietly(text, length);
		if (written < 0 && errno != EINTR)
			break;
		if (written > 0) {
			text += written;
			length -= (size_t)written;
		}
	}
	errno = saved_errno;
}

void sink_line(const char *format, ...)
{
	char text[2048];
	int length = 0, more;
	va_list arguments;

	if (settings.follow && !settings.json)
		length = snprintf(text, sizeof(text), "[%d] ", (int)getpid());
	if (*settings.label && !settings.json) /* indented as the lines of the trace are */
		length += snprintf(text + length, sizeof(text) - (size_t)length, "%s  ",
				   settings.label);
	va_start(arguments, format);
	more = vsnprintf(text + length, sizeof(text) - (size_t)length - 1, format, arguments);
	va_end(arguments);
	length += more < (int)sizeof(text) - length - 1 ? more : (int)sizeof(text) - length - 2;
	text[length++] = '\n';
	sink_write(text, (size_t)length);
}
