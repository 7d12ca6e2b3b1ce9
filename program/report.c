/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The messages on stderr when something fails. See report.h. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "program/report.h"

/* Main writes these before threads start and after they have ended; otherwise they are only read. */
static const char *program_name = "?";
static const struct our_stop *program_stop;

void our_set_program_name(const char *name)
{
	program_name = name;
}

const char *our_program_name(void)
{
	return program_name;
}

void our_set_reported_stop(const struct our_stop *stop)
{
	program_stop = stop;
}

int our_report_error(const char *call, int error, const char *advice, ...)
{
	char text[512] = "";
	va_list arguments;

	if (error == EINTR && our_stop_requested(program_stop))
		return error;
	if (advice) {
		va_start(arguments, advice);
		vsnprintf(text, sizeof(text), advice, arguments);
		va_end(arguments);
	}
	fprintf(stderr, "%s: %s: %s (%d)%s%s\n", program_name, call, strerror(error), error,
		*text ? ": " : "", text);
	return error ? error : EIO;
}

void our_report_sentence(const char *sentence, ...)
{
	char text[512];
	va_list arguments;

	va_start(arguments, sentence);
	vsnprintf(text, sizeof(text), sentence, arguments);
	va_end(arguments);
	fprintf(stderr, "%s: %s\n", program_name, text);
}
