/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Telling config->report what has failed. See waiting.h.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "private.h"

static void tell(const struct our_config *config, struct our_error *error, const char *format,
		 va_list arguments)
{
	char text[512] = "";

	if (!config->report)
		return;
	if (format)
		vsnprintf(text, sizeof(text), format, arguments);
	error->text = text;
	config->report(config->context, error);
}

int our_report_error(const struct our_config *config, const char *call, int error, const char *text,
		     ...)
{
	struct our_error what = { .call = call, .error = error ? error : EIO };
	va_list arguments;

	va_start(arguments, text);
	tell(config, &what, text, arguments);
	va_end(arguments);
	return what.error;
}

int our_report_cm_error(const struct our_control *control, const char *call, int error,
			const char *text, ...)
{
	struct our_error what = { .call = call, .error = error ? error : EIO };
	va_list arguments;

	/* No call expects this one, so only the event's own meaning is left. */
	if (error == our_judge_cm_event(&control->cm_event, RDMA_CM_EVENT_MULTICAST_JOIN))
		what.event = &control->cm_event;
	va_start(arguments, text);
	tell(control->config, &what, text, arguments);
	va_end(arguments);
	return what.error;
}

const char *our_error_text(const struct our_error *error, char *text, size_t size)
{
	const char *status = "";

	if (error->wc)
		status = ibv_wc_status_str(error->wc->status);
	else if (error->event)
		status = rdma_event_str(error->event->type);
	snprintf(text, size, "%s%s%s (%d)%s%s%s%s", error->call ? error->call : "",
		 error->call ? ": " : "", strerror(error->error), error->error, *status ? ", " : "",
		 status, *error->text ? ": " : "", error->text);
	return text;
}
