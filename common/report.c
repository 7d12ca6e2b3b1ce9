/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Telling config->report what has failed. See report.h.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "common/private.h"

int our_tell(const struct our_config *config, struct our_error *error, const char *format,
	     va_list arguments)
{
	char text[512] = "";

	if (!error->error)
		error->error = EIO;
	/* A wait that was told to stop has not failed. */
	if (!config->report || error->error == EINTR)
		return error->error;
	if (format)
		vsnprintf(text, sizeof(text), format, arguments);
	error->text = text;
	config->report(config->context, error);
	return error->error;
}

int our_tell_error(const struct our_config *config, const char *call, int error, const char *text,
		   ...)
{
	struct our_error what = { .call = call, .error = error };
	va_list arguments;
	int ret;

	va_start(arguments, text);
	ret = our_tell(config, &what, text, arguments);
	va_end(arguments);
	return ret;
}
