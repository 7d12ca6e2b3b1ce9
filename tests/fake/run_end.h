/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: the fake's tests: waits for the end of a run. Contract: the process ends within a limit on
 * the time in which it runs, and a quarter of it in which it sleeps, or is killed. The time in which
 * it waits for a processor or is stopped, or in which the whole machine is stopped, does not count.
 */
#ifndef FAKE_RUN_END_H
#define FAKE_RUN_END_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * Returns true if the process, a child, did not end within the limit. `status` is as from
 * waitpid(2).
 */
bool run_await_end(pid_t pid, int limit_ms, int *status);

/*
 * Waits until the child writes to the socket, or ends. Returns false if it does neither within the
 * limit.
 */
bool run_await_answer(pid_t pid, int fd, int limit_ms);

#endif
