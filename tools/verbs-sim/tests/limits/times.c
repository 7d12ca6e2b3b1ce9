/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Times: of alarms, sleeps, and timers with a descriptor; and signals, which end some. See limits.h.
 */
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "verbs-sim/tests/limits/limits.h"

static int rings;
static struct itimerval soon = { { 0, 0 }, { 0, 2000 } };

static void ring(int number)
{
	(void)number;
	rings++;
}

static void alarms(void)
{
	struct itimerval late = { { 0, 0 }, { 1000, 0 } }, left;

	SHOW(alarm(0));
	SHOW(alarm(1000));
	SHOW(alarm(2000) > 900);
	SHOW(setitimer(ITIMER_REAL, &late, &left));
	SHOW(left.it_value.tv_sec > 1900);
	SHOW(left.it_interval.tv_sec);
	SHOW(alarm(0) > 900);
	SHOW(getitimer(ITIMER_REAL, &left));
	SHOW(left.it_value.tv_sec | left.it_value.tv_usec);
}

/* Each has an alarm soon. */
static void interruptions(void)
{
	struct timespec none = { 0 };

	SHOW(setitimer(ITIMER_REAL, &soon, NULL));
	SHOW(pause());
	SHOW(rings);
	SHOW(alarm(0));
	SHOW(setitimer(ITIMER_REAL, &soon, NULL));
	SHOW(poll(NULL, 0, -1));
	SHOW(setitimer(ITIMER_REAL, &soon, NULL));
	SHOW(usleep(900000000));
	SHOW(setitimer(ITIMER_REAL, &soon, NULL));
	SHOW(sleep(1000) > 900);
	SHOW(setitimer(ITIMER_REAL, &soon, NULL));
	SHOW(nanosleep(&(struct timespec){ .tv_sec = 1000 }, &none));
	SHOW(none.tv_sec > 900);
	SHOW(rings);
}

static void sleeps(void)
{
	struct timespec none = { 0 }, odd = { .tv_nsec = 1000000000 }, negative = { .tv_sec = -1 };

	SHOW(nanosleep(&none, NULL));
	SHOW(nanosleep(&odd, NULL));
	SHOW(nanosleep(&negative, NULL));
	SHOW(clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &none, NULL));
	SHOW(clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &odd, NULL));
	SHOW(usleep(0) | (int)sleep(0));
}

static void expirations(void)
{
	struct itimerspec at_once = { .it_value.tv_nsec = 1 }, never = { 0 };
	int fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
	struct pollfd expired = { fd, POLLIN, 0 };
	uint64_t count;

	SHOW(read(fd, &count, sizeof(count)));
	SHOW(timerfd_settime(fd, TFD_TIMER_ABSTIME, &at_once, NULL));
	SHOW(poll(&expired, 1, -1));
	SHOW(read(fd, &count, 4));
	SHOW(read(fd, &count, sizeof(count)));
	SHOW(count);
	SHOW(read(fd, &count, sizeof(count)));
	SHOW(timerfd_settime(fd, 0, &at_once, NULL));
	SHOW(poll(&expired, 1, -1));
	SHOW(timerfd_settime(fd, 0, &never, NULL));
	SHOW(poll(&expired, 1, 2));
	at_once.it_value.tv_nsec = 1000000000;
	SHOW(timerfd_settime(fd, 0, &at_once, NULL));
	SHOW(close(fd));
	SHOW(timerfd_settime(fd, 0, &never, NULL));
}

void show_times(void)
{
	rings = 0;
	signal(SIGALRM, ring);
	alarms();
	interruptions();
	sleeps();
	expirations();
}

void show_signals(void)
{
	struct timespec none = { 0 }, odd = { .tv_nsec = -1 };
	sigset_t usr1, empty, mask;
	siginfo_t info;

	sigemptyset(&empty);
	sigemptyset(&usr1);
	sigaddset(&usr1, SIGUSR1);
	signal(SIGUSR1, ring);
	SHOW(sigprocmask(SIG_BLOCK, &usr1, NULL));
	SHOW(sigtimedwait(&usr1, NULL, &none));
	SHOW(sigtimedwait(&usr1, NULL, &odd));
	SHOW(kill(getpid(), SIGUSR1));
	SHOW(sigtimedwait(&usr1, &info, &none) == SIGUSR1);
	SHOW(kill(getpid(), SIGUSR1));
	SHOW(rings);
	SHOW(sigsuspend(&empty));
	SHOW(rings);
	SHOW(sigprocmask(SIG_UNBLOCK, &usr1, &mask));
	SHOW(sigismember(&mask, SIGUSR1));
	SHOW(kill(getpid(), SIGUSR1));
	SHOW(rings);
	SHOW(kill(getpid(), 65));
}
