/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * verbs-trace, the tool: with -j, the first line of a process. See heading.h.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "verbs-trace/tool/call.h"
#include "verbs-trace/tool/heading.h"
#include "verbs-trace/tool/settings.h"
#include "verbs-trace/tool/sink.h"

#define MOST 2048 /* bytes of the program's arguments that are shown */

static bool written;

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

void heading_write(void)
{
	char text[8 * MOST], words[MOST], boot[64];
	struct out out = { .text = text, .size = sizeof(text), .binary = MOST, .json = true };
	int saved_errno = errno;
	size_t length, at;

	if (written || !settings.json)
		return;
	written = true;
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

void heading_forked(void)
{
	written = false;
}
