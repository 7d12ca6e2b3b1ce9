/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Ending a program early: SIGINT (Ctrl-C) and SIGTERM ask it to stop. Every loop and every blocking
 * call of the suite then ends soon, with statistics and a full tear-down.
 */
#ifndef OUR_STOP_H
#define OUR_STOP_H

#include "common/our_control.h"

/*
 * Installs the handlers of SIGINT, SIGTERM and SIGALRM, without SA_RESTART: a blocking call that is
 * under way returns EINTR. A signal that comes just before the call blocks would be missed.
 * Therefore each signal arms alarm(2) again, which interrupts the call a second later, as long as
 * the program has been asked to stop or our_limit_calls is in force. No other function may call
 * alarm(2).
 *
 * Ignores SIGPIPE: the failed write reports the error. A signal that interrupts a write to stdout
 * loses nothing: stdout waits for its reader also after a signal, until a second one asks to leave, and
 * then fflush(3) fails with EAGAIN.
 *
 * A standard descriptor that is closed is /dev/null from then on, which cannot be written to.
 *
 * Returns 0, and our_ignore_signals undoes it; or an errno value of sigaction(2), eventfd(2) or
 * fopencookie(3), reported. Call it once, from main, before any other thread runs.
 */
int our_catch_signals(void);

/*
 * Limits calls that nothing but a signal can interrupt: after `seconds`, and then every second, a
 * call that blocks returns EINTR, which then does not mean that the program was asked to stop. 0
 * ends the limit. A limit replaces the one before it; none of them delays the alarms of a program
 * that was asked to stop. One thread at a time.
 */
void our_limit_calls(unsigned int seconds);

/*
 * Returns the object that ends the program's waits: the first signal requests the stop, and a
 * signal that comes clearly later requests it for the second time. Without the second a program
 * that is leaving waits some seconds for the peer's answer. NULL before our_catch_signals.
 */
struct our_stop *our_program_stop(void);

/* To be called last in main: signals do nothing any more; frees the stop object. */
void our_ignore_signals(void);

#endif
