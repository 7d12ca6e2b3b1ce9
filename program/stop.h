/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Ending a program early: SIGINT (Ctrl-C) and SIGTERM ask it to stop. Every loop and every blocking
 * call of the suite then ends soon, with statistics and a full tear-down.
 */
#ifndef OUR_STOP_H
#define OUR_STOP_H

#include <stdbool.h>

/*
 * Installs the handlers of SIGINT, SIGTERM and SIGALRM, without SA_RESTART: a blocking call that is
 * under way returns EINTR. A signal that comes just before the call blocks would be missed.
 * Therefore each signal arms alarm(2) again, which interrupts the call a second later, as long as
 * the program has been asked to stop or our_limit_calls is in force. No other function may call
 * alarm(2).
 *
 * SIGPIPE is ignored: the failed write reports the error. What is printed to stdout is not lost
 * when a signal interrupts the write: see program/stdout.h.
 *
 * Returns 0 or an errno value of sigaction(2), eventfd(2) or fopencookie(3), reported. To be called
 * once, from main, before any other thread runs.
 */
int our_catch_signals(void);

/*
 * Limits calls that nothing but a signal can interrupt: after `seconds`, and then every second, a
 * call that blocks returns EINTR, which then does not mean that the program was asked to stop. 0
 * ends the limit. A limit replaces the one before it; none of them delays the alarms of a program
 * that was asked to stop. One thread at a time.
 */
void our_limit_calls(unsigned int seconds);

/* True once a signal has asked the program to stop. Any thread; costs one load. */
bool our_stop_requested(void);

/*
 * True once a second signal, clearly later than the first, has asked the program not to wait for
 * its peer. Without it, a program that is leaving waits some seconds for the peer's answer. Any
 * thread; costs one load.
 */
bool our_leave_requested(void);

/*
 * A file descriptor that becomes readable when the program is asked to stop, and stays readable:
 * for poll(2), together with other descriptors. It is never read. To be called after
 * our_catch_signals.
 */
int our_stop_fd(void);

/* The same for our_leave_requested. */
int our_leave_fd(void);

#endif
