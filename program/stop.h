/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Ending a program early: SIGINT (Ctrl-C) and SIGTERM ask it to stop, and every loop and every
 * blocking call of the suite comes to an end soon after, with statistics and a full tear-down.
 */
#ifndef OUR_STOP_H
#define OUR_STOP_H

#include <stdbool.h>

/*
 * Installs the handlers of SIGINT, SIGTERM and SIGALRM, without SA_RESTART: a blocking call that
 * is under way returns EINTR. A signal that comes just before the call blocks would be missed, so
 * once asked to stop, alarm(2) is armed again and again: the call is interrupted a second later.
 * Before that, a stage may use alarm(2) to bound a call: EINTR, but nobody asked to stop.
 *
 * SIGPIPE is ignored: the write that fails says so.
 *
 * Returns 0 or an errno value of sigaction(2) or eventfd(2), reported. Call it once, from main, before any
 * other thread runs.
 */
int our_catch_signals(void);

/* True once a signal has asked the program to stop. Any thread; costs one load. */
bool our_stop_requested(void);

/*
 * True once a second signal, more than a moment after the first, has asked not to wait for anybody: a
 * program that is leaving stays until its peer has heard so, or some seconds. Any thread; costs one load.
 */
bool our_leave_requested(void);

/*
 * A file descriptor that becomes readable when the program is asked to stop, and stays so: for
 * poll(2), together with what else there is to wait for. Nobody reads it. After our_catch_signals.
 */
int our_stop_fd(void);

/* The same for our_leave_requested. */
int our_leave_fd(void);

#endif
