/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * verbs-trace, the tool: how a line of the trace begins and ends, in words and in JSON; and with -j the
 * first line of a process, which names the program and the clock. See call.h.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>
#include <infiniband/verbs.h>

#include "verbs-trace/tool/call.h"
#include "verbs-trace/tool/guard.h"
#include "verbs-trace/tool/settings.h"
#include "verbs-trace/tool/sink.h"
#include "verbs.h"

#define MOST 2048 /* bytes of the program's arguments that are shown */

uint64_t trace_start;

static char whole[65536];
static struct out line;

static bool has_heading;

/* Reads the first bytes of a file of /proc, and adds a 0. */
static size_t read_file(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t length = fd < 0 ? 0 : read(fd, text, size - 1);

	if (fd >= 0)
		close(fd);
	text[length > 0 ? length : 0] = '\0';
	return length > 0 ? (size_t)length : 0;
}

/* With the lock held. */
static void write_heading(void)
{
	char text[8 * MOST], words[MOST], boot[64];
	struct out out = { .text = text, .size = sizeof(text), .binary = MOST, .json = true };
	int saved_errno = errno;
	size_t length, at;

	if (has_heading || !settings.json)
		return;
	has_heading = true;
	read_file("/proc/sys/kernel/random/boot_id", boot, sizeof(boot));
	boot[strcspn(boot, "\n")] = '\0';
	length = read_file("/proc/self/cmdline", words, sizeof(words));
	out_raw(&out, "{");
	out_signed(&out, "pid", getpid());
	out_open_list(&out, "program");
	for (at = 0; at < length; at += strlen(words + at) + 1)
		out_string(&out, NULL, words + at);
	out_close_list(&out);
	out_unsigned(&out, "start_ns", trace_start);
	out_word(&out, "boot_id", boot);
	out_raw(&out, "}\n");
	sink_write(out.text, out.length);
	errno = saved_errno;
}

void line_forked(void)
{
	has_heading = false;
}

struct out *line_begin(int verb, uint64_t when, const struct thread *thread)
{
	uint64_t since = when - trace_start;

	guard_lock(GUARD_LINE);
	write_heading();
	line = (struct out){
		.text = whole,
		.size = sizeof(whole),
		.tail = 1024,
		.binary = settings.binary,
		.json = settings.json,
	};
	if (line.json) {
		out_raw(&line,
			"{\"time_ns\":%" PRIu64
			",\"pid\":%d,\"tid\":%d,\"thread\":%d,\"call\":\"%s\",",
			since, (int)getpid(), (int)thread->tid, thread->number, verbs[verb].name);
		return &line;
	}
	if (settings.follow)
		out_raw(&line, "[%d] ", (int)getpid());
	out_raw(&line, "%s%3" PRIu64 ".%06" PRIu64 " t%d %*s%s", settings.label, since / 1000000000,
		since % 1000000000 / 1000, thread->number,
		thread->depth > 1 ? 4 * (thread->depth - 1) : 0, "", verbs[verb].name);
	return &line;
}

void line_end(struct out *out)
{
	out_raw(out, out->json ? "}\n" : "\n");
	sink_write(out->text, out->length);
	guard_unlock(GUARD_LINE);
}

void call_close(struct call *call)
{
	struct out *out = call->out;

	if (out->cut)
		out_raw(out, out->json ? "%s\"cut\":true" : "%s...",
			!out->comma ? ""
			: out->json ? ","
				    : ", ");
	out_raw(out, out->json ? "}," : ")");
	out->comma = false;
	out->tail = 0;
}

struct out *call_result(struct call *call)
{
	call_close(call);
	if (!call->out->json)
		out_raw(call->out, " = ");
	return call->out;
}

void call_done(struct call *call)
{
	struct out *out = call->out;
	uint64_t took = call->ended - call->began;
	const char *name = strerrorname_np(call->error);

	if (call->error && out->json)
		out_raw(out, ",\"error\":\"%s\"", name ? name : "?");
	else if (call->error)
		out_raw(out, " %s (%s)", name ? name : "?", strerrordesc_np(call->error));
	if (out->json)
		out_raw(out, "%s\"took_ns\":%" PRIu64, out->comma ? "," : "", took);
	else
		out_raw(out, " <" SECONDS ">", IN_SECONDS(took));
	line_end(out);
	call->out = NULL;
}
