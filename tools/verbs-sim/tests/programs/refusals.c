/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Calls of which one way is simulated, and another is not. See programs.h.
 */
#include <linux/futex.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "verbs-sim/tests/programs/programs.h"

static int share(bool wrong)
{
	return wrong ? PTHREAD_PROCESS_SHARED : PTHREAD_PROCESS_PRIVATE;
}

static void make_condition(bool wrong)
{
	pthread_condattr_t attr;

	pthread_condattr_init(&attr);
	pthread_condattr_setpshared(&attr, share(wrong));
}

static void make_barrier(bool wrong)
{
	pthread_barrierattr_t attr;
	pthread_barrier_t barrier;

	pthread_barrierattr_init(&attr);
	pthread_barrierattr_setpshared(&attr, share(wrong));
	pthread_barrier_init(&barrier, &attr, 1);
}

static void wait_for_child(bool wrong)
{
	waitpid(wrong ? -2 : -1, NULL, WNOHANG);
}

static void wait_for_id(bool wrong)
{
	siginfo_t info;

	waitid(wrong ? P_PGID : P_ALL, 0, &info, WEXITED | WNOHANG);
}

static void wake_by_futex(bool wrong)
{
	static uint32_t word;

	syscall(SYS_futex, &word, wrong ? FUTEX_REQUEUE : FUTEX_WAKE, 1, 1, &word, 0);
}

static void ask_timer(bool wrong)
{
	struct itimerval value;

	getitimer(wrong ? ITIMER_VIRTUAL : ITIMER_REAL, &value);
}

static void set_timer(bool wrong)
{
	static const struct itimerval never;

	setitimer(wrong ? ITIMER_PROF : ITIMER_REAL, &never, NULL);
}

static void set_descriptor(bool wrong)
{
	static const struct itimerspec never;
	struct itimerspec old;

	timerfd_settime(timerfd_create(CLOCK_MONOTONIC, 0), 0, &never, wrong ? &old : NULL);
}

static const struct {
	const char *name;
	void (*call)(bool wrong);
} calls[] = {
	{ "condition", make_condition }, { "barrier", make_barrier },
	{ "waitpid", wait_for_child },   { "waitid", wait_for_id },
	{ "futex", wake_by_futex },      { "getitimer", ask_timer },
	{ "setitimer", set_timer },      { "timerfd", set_descriptor },
};

int call_in_a_way(const char *name, bool wrong)
{
	size_t i;

	for (i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		if (!strcmp(calls[i].name, name))
			calls[i].call(wrong);
	}
	return 0;
}
