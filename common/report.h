/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * How the library tells its user what has failed: once, where it happens, with the likely cause in
 * its own words. What is printed, and which option helps, the program knows.
 */
#ifndef OUR_TELL_H
#define OUR_TELL_H

#include <stdarg.h>

#include "common/our_control.h"

/*
 * Tells config->report that `call` has failed with errno value `error`. `text`, a printf format,
 * says cause and remedy; NULL: neither is known. `call` NULL: the text is a sentence that says it
 * all.
 *
 * Returns `error`, or EIO when it is 0, so that a caller can write `return
 * our_tell_error(control->config, "ibv_alloc_pd", errno, NULL);` and never returns success by
 * accident.
 */
int our_tell_error(const struct our_config *config, const char *call, int error, const char *text,
		   ...) __attribute__((format(printf, 4, 5)));

/* The same with control->cm_event, if that brought the error. cm_event.c. */
int our_tell_cm_error(const struct our_control *control, const char *call, int error,
		      const char *text, ...) __attribute__((format(printf, 4, 5)));

/* Completes `error` and tells it: for the functions above. Returns as they do. */
int our_tell(const struct our_config *config, struct our_error *error, const char *format,
	     va_list arguments) __attribute__((format(printf, 3, 0)));

#endif
