/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * An error as one line of text, for programs with a terminal. See our_control.h.
 */
#include <stdio.h>
#include <string.h>

#include "common/our_control.h"

const char *our_error_text(const struct our_error *error, char *text, size_t size)
{
	const char *status = error->event_name ? error->event_name : "";

	if (error->wc)
		status = ibv_wc_status_str(error->wc->status);
	snprintf(text, size, "%s%s%s (%d)%s%s%s%s", error->call ? error->call : "",
		 error->call ? ": " : "", strerror(error->error), error->error, *status ? ", " : "",
		 status, *error->text ? ": " : "", error->text);
	return text;
}
