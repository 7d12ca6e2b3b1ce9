/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * verbs-trace, the tool: one line in words or in JSON, and the file or stderr to which it is written. See
 * out.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "verbs-trace/tool/out.h"
#include "verbs-trace/tool/settings.h"

#define OFTEN_NS 100000000
#define HIGH     1000 /* programs expect to get low descriptors */

void out_raw(struct out *out, const char *format, ...)
{
	size_t room = out->size - out->length;
	va_list arguments;
	int length;

	va_start(arguments, format);
	length = vsnprintf(out->text + out->length, room, format, arguments);
	va_end(arguments);
	if (length > 0)
		out->length += (size_t)length < room ? (size_t)length : room - 1;
}

/* Returns true if there is room for an item of this length; otherwise the item is left out. */
static bool has_room(struct out *out, size_t bytes)
{
	if (!out->beyond && out->length + bytes + out->tail < out->size)
		return true;
	out->cut = true;
	return false;
}

/* Begins an item of this length: its comma, and its name. Returns false if it is left out. */
static bool item(struct out *out, const char *name, size_t bytes)
{
	if (!has_room(out, 64 + bytes))
		return false;
	if (out->comma)
		out_raw(out, out->json ? "," : ", ");
	if (name && out->json)
		out_raw(out, "\"%s\":", name);
	else if (name)
		out_raw(out, "%s ", name);
	out->comma = true;
	return true;
}

static void open_group(struct out *out, const char *name, char bracket)
{
	if (!item(out, name, 0)) {
		out->beyond++;
		return;
	}
	out_raw(out, "%c", bracket);
	out->comma = false;
}

static void close_group(struct out *out, char bracket)
{
	if (out->beyond) {
		out->beyond--;
		return;
	}
	out_raw(out, "%c", bracket);
	out->comma = true;
}

void out_open(struct out *out, const char *name)
{
	open_group(out, name, '{');
}

void out_close(struct out *out)
{
	close_group(out, '}');
}

void out_open_list(struct out *out, const char *name)
{
	open_group(out, name, '[');
}

void out_close_list(struct out *out)
{
	close_group(out, ']');
}

void out_signed(struct out *out, const char *name, int64_t value)
{
	if (item(out, name, 0))
		out_raw(out, "%" PRId64, value);
}

void out_unsigned(struct out *out, const char *name, uint64_t value)
{
	if (item(out, name, 0))
		out_raw(out, "%" PRIu64, value);
}

void out_hex(struct out *out, const char *name, uint64_t value)
{
	if (item(out, name, 0))
		out_raw(out, out->json ? "\"0x%" PRIx64 "\"" : "0x%" PRIx64, value);
}

void out_word(struct out *out, const char *name, const char *word)
{
	if (item(out, name, strlen(word)))
		out_raw(out, out->json ? "\"%s\"" : "%s", word);
}

void out_name(struct out *out, const char *name, uint64_t value, struct names names)
{
	if (value < names.n && names.names[value])
		out_word(out, name, names.names[value]);
	else
		out_unsigned(out, name, value);
}

void out_flags(struct out *out, const char *name, uint64_t value, struct names names)
{
	const char *before = "";
	uint64_t rest = value;
	size_t bit;

	if (!item(out, name, 448))
		return;
	if (out->json)
		out_raw(out, "\"");
	for (bit = 0; bit < names.n; bit++) {
		if (!(value >> bit & 1) || !names.names[bit])
			continue;
		out_raw(out, "%s%s", before, names.names[bit]);
		rest &= ~((uint64_t)1 << bit);
		before = "|";
	}
	if (rest || !value)
		out_raw(out, rest ? "%s0x%" PRIx64 : "%s%" PRIx64, before, rest);
	if (out->json)
		out_raw(out, "\"");
}

void out_string(struct out *out, const char *name, const char *string)
{
	size_t i, length = string ? strnlen(string, out->binary) : 0;

	if (!item(out, name, 6 * length))
		return;
	if (!string) {
		out_raw(out, out->json ? "null" : "NULL");
		return;
	}
	out_raw(out, "\"");
	for (i = 0; i < length; i++) {
		unsigned char c = (unsigned char)string[i];

		if (c < ' ' || c == 127)
			out_raw(out, "\\u%04x", c);
		else
			out_raw(out, c == '"' || c == '\\' ? "\\%c" : "%c", c);
	}
	out_raw(out, string[length] ? "...\"" : "\"");
}

void out_bytes(struct out *out, const char *name, const void *data, size_t length)
{
	size_t i, shown = length < out->binary ? length : out->binary;
	const uint8_t *bytes = data;

	if (!item(out, name, 2 * shown))
		return;
	if (!out->json)
		out_raw(out, "(%zu byte%s)%s", length, length == 1 ? "" : "s", shown ? " " : "");
	else
		out_raw(out, "{\"bytes\":%zu,\"hex\":\"", length);
	for (i = 0; i < shown; i++)
		out_raw(out, "%02x", bytes[i]);
	out_raw(out, shown < length && !out->json ? "..." : "");
	if (out->json)
		out_raw(out, "\"}");
}

/* ---- The target of lines ---- */

uint64_t clock_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

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
 * Returns true if the descriptor still refers to the file that was opened. This is not checked each
 * time, because the file may be on a network.
 */
static bool leads_there(void)
{
	static _Atomic uint64_t asked;
	uint64_t moment = clock_now();
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
 * Writes without a SIGPIPE for the program if the reader has gone: the signal of our write is taken
 * back, unless the program had one pending before.
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
