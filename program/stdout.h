/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * A stdout that loses nothing to a signal. When a signal interrupts write(2), the C library drops
 * what a stream has buffered, and the alarms of a program that was asked to stop interrupt it again
 * and again.
 */
#ifndef OUR_STDOUT_H
#define OUR_STDOUT_H

/*
 * Replaces the stream stdout, which glibc allows: see fopencookie(3). The new one waits for its
 * reader also after a signal, until a second one asks to leave: then fflush(3) fails with EAGAIN. Returns
 * 0, or an errno value, reported, and nothing has changed. Called once, by our_catch_signals.
 */
int our_guard_stdout(void);

#endif
