/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Output that never blocks. See output.h.
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/clock.h"
#include "program/output.h"
#include "program/report.h"

#define RESULT_SIZE (1u << 16) /* bytes printed at once: kept or dropped as a whole */

struct output {
	int fd;
	FILE **stream; /* &stdout or &stderr */
	FILE *before;  /* its former value */
	char *text;    /* a buffer of OUR_OUTPUT_LIMIT bytes */
	size_t used;   /* bytes in it that wait to be written */
	uint64_t dropped;
	int error; /* from write(2): the descriptor can no longer be used */
};

static struct output outputs[OUR_OUTPUTS] = {
	{ .fd = STDOUT_FILENO, .stream = &stdout },
	{ .fd = STDERR_FILENO, .stream = &stderr },
};

/* Called by the C library when a stream has something to write. See fopencookie(3). */
static ssize_t keep(void *cookie, const char *text, size_t size)
{
	struct output *output = cookie;

	if (size > OUR_OUTPUT_LIMIT - output->used) {
		output->dropped++;
		return (ssize_t)size;
	}
	memcpy(output->text + output->used, text, size);
	output->used += size;
	return (ssize_t)size;
}

static int replace_stream(struct output *output, int mode)
{
	cookie_io_functions_t functions = { .write = keep };
	FILE *stream;

	output->text = malloc(OUR_OUTPUT_LIMIT);
	if (!output->text)
		return our_report_error("malloc", ENOMEM, NULL);
	stream = fopencookie(output, "w", functions);
	if (!stream) {
		free(output->text);
		return our_report_error("fopencookie", errno, NULL);
	}
	setvbuf(stream, NULL, mode, RESULT_SIZE);
	fflush(*output->stream);
	output->before = *output->stream;
	*output->stream = stream;
	return 0;
}

static void restore_stream(struct output *output)
{
	FILE *stream = *output->stream;

	*output->stream = output->before;
	fclose(stream);
	free(output->text);
}

int our_start_output(void)
{
	int ret;

	/* A result is flushed when it is whole; a line on stderr is whole as it is. */
	ret = replace_stream(&outputs[0], _IOFBF);
	if (ret)
		return ret;
	ret = replace_stream(&outputs[1], _IONBF);
	if (ret)
		restore_stream(&outputs[0]);
	return ret;
}

void our_list_output(struct pollfd *fds)
{
	int i;

	for (i = 0; i < OUR_OUTPUTS; i++)
		fds[i] = (struct pollfd){
			.fd = outputs[i].used ? outputs[i].fd : -1,
			.events = POLLOUT,
		};
}

/* A pipe that is ready takes this many bytes without blocking: see pipe(7). */
static void write_some(struct output *output)
{
	size_t size = output->used < PIPE_BUF ? output->used : PIPE_BUF;
	ssize_t written = write(output->fd, output->text, size);

	if (written < 0) {
		if (errno == EINTR || errno == EAGAIN)
			return;
		output->error = errno;
		written = (ssize_t)output->used;
	}
	output->used -= (size_t)written;
	memmove(output->text, output->text + written, output->used);
}

void our_write_output(const struct pollfd *fds)
{
	int i;

	for (i = 0; i < OUR_OUTPUTS; i++) {
		if (fds[i].revents)
			write_some(&outputs[i]);
	}
}

static void write_the_rest(uint64_t until_ns)
{
	struct pollfd fds[OUR_OUTPUTS];

	while (outputs[0].used || outputs[1].used) {
		our_list_output(fds);
		if (poll(fds, OUR_OUTPUTS, our_ms_until(until_ns)) > 0)
			our_write_output(fds);
		else if (our_now_ns() >= until_ns)
			break;
	}
}

int our_end_output(uint64_t until_ns)
{
	const struct output *out = &outputs[0], *err = &outputs[1];
	int i;

	fflush(stdout);
	write_the_rest(until_ns);
	for (i = 0; i < OUR_OUTPUTS; i++)
		restore_stream(&outputs[i]);
	/* A reader that has not taken the lines of stderr would not take a report either. */
	if (err->used)
		return out->error || out->dropped || out->used ? EAGAIN : 0;
	if (out->dropped || out->used || err->dropped)
		our_report_sentence("nobody read stdout or stderr: %" PRIu64 " results and %" PRIu64
				    " lines were dropped",
				    out->dropped + !!out->used, err->dropped);
	if (out->error)
		return our_report_error("writing to stdout", out->error, NULL);
	return out->dropped || out->used ? EAGAIN : 0;
}
