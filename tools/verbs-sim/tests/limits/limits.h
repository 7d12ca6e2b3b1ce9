/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: the calls of tools/verbs-sim/tests/limits.c, one topic in each file, and how they are
 * printed.
 *
 * Contract: each leaves nothing behind that changes what comes of another, or of itself. They take
 * nothing of the suite.
 */
#ifndef VERBS_SIM_TESTS_LIMITS_H
#define VERBS_SIM_TESTS_LIMITS_H

#include <errno.h>
#include <stdio.h>
#include <string.h>

static inline void show(const char *call, long result)
{
	printf("%s = %ld%s%s\n", call, result, result < 0 ? " " : "",
	       result < 0 ? strerrorname_np(errno) : "");
}

/* Makes a call, and prints it with its result. */
#define SHOW(call) (errno = 0, show(#call, (long)(call)))

/* descriptors.c */
void show_polls(void);
void show_epolls(void);

/* times.c */
void show_times(void);
void show_signals(void);

/* threads.c, sockets.c and processes.c */
void show_locks(void);
void show_sockets(void);
void show_children(void);

#endif
