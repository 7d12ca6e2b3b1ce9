/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Reporting: errors go to stderr, once, where they happen, with the likely cause. Every function may be
 * called from any thread, except those that set something.
 */
#ifndef OUR_REPORT_H
#define OUR_REPORT_H

#include "common/our_control.h"

/*
 * Sets the name that starts each line on stderr, for example "ping-sr-0/client". Keeps the string,
 * without a copy. Call it once, first thing in main.
 */
void our_set_program_name(const char *name);
const char *our_program_name(void);

/*
 * Makes EINTR no error once `stop` was requested, because the user asked for it. With NULL, EINTR
 * is always an error. For our_catch_signals and our_ignore_signals.
 */
void our_set_reported_stop(const struct our_stop *stop);

/*
 * Reports that `call` failed with errno value `error`. If `advice` is not NULL (a printf format),
 * adds the likely cause and what to do.
 *
 * Returns `error`, or EIO when it is 0, so that a caller can write `return
 * our_report_error("ibv_alloc_pd", errno, NULL);` and never returns success by accident. Prints
 * nothing of an EINTR that is no error: see our_set_reported_stop.
 */
int our_report_error(const char *call, int error, const char *advice, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * Prints a message on stderr that is not about a failed call: "program: " and the sentence. Any
 * thread.
 */
void our_report_sentence(const char *sentence, ...) __attribute__((format(printf, 1, 2)));
#endif
