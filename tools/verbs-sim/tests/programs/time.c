/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Time: the clocks, timers, and the processor and its counter. See programs.h.
 */
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>
#ifdef __x86_64__
#include <x86intrin.h>
#endif
#include <rdma/rdma_cma.h>

#include "verbs-sim/tests/programs/programs.h"

static void on_signal(int number)
{
	(void)number;
}

int spin(void)
{
	static volatile int never;

	while (!never)
		;
	return 0;
}

/* Reads the processor's counter, in simulated ns; except on x86-64 it is not simulated: reads the clock. */
static uint64_t counter(void)
{
#ifdef __x86_64__
	return __rdtsc();
#else
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
#endif
}

int count_an_hour(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *context = ibv_open_device(list[0]);
	struct timespec hour = { 3600, 0 };
	uint64_t start = counter();

	nanosleep(&hour, NULL);
	printf("%.6f s\n", (double)(counter() - start) / 1e9);
	ibv_close_device(context);
	ibv_free_device_list(list);
	return 0;
}

/* Without verbs-sim: SIGSEGV ends this program where verbs-sim can simulate the counter. */
int trap_counter(void)
{
	prctl(PR_SET_TSC, PR_TSC_SIGSEGV);
	counter();
	return 0;
}

static long ms_between(const struct timespec *start, const struct timespec *end)
{
	return (end->tv_sec - start->tv_sec) * 1000 + (end->tv_nsec - start->tv_nsec) / 1000000;
}

/* Sleeps by a system call that the simulation passes on. */
static long real_cpu_ms(void)
{
	struct rusage usage;

	syscall(SYS_getrusage, RUSAGE_THREAD, &usage);
	return usage.ru_utime.tv_sec * 1000 + usage.ru_utime.tv_usec / 1000;
}

/* Makes no call for several ticks of CPU time, but does not wait: that takes no simulated time. */
int compute(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *context = ibv_open_device(list[0]);
	static volatile unsigned int sum;
	struct timespec start, now;
	long begun_ms, now_ms;

	clock_gettime(CLOCK_MONOTONIC, &start);
	begun_ms = real_cpu_ms();
	do {
		for (unsigned int i = 0; i < 1000000; i++)
			sum += i;
		now_ms = real_cpu_ms();
	} while (now_ms < begun_ms + 40);
	clock_gettime(CLOCK_MONOTONIC, &now);
	printf("%ld ms\n", ms_between(&start, &now));
	ibv_close_device(context);
	ibv_free_device_list(list);
	return 0;
}

/* Sleeps for an hour of simulated time, by each clock. */
int sleep_an_hour(void)
{
	struct timespec before, after, hour = { 3600, 0 };
	time_t start = time(NULL);

	clock_gettime(CLOCK_MONOTONIC, &before);
	if (nanosleep(&hour, NULL))
		return 1;
	clock_gettime(CLOCK_MONOTONIC, &after);
	printf("%ld s, %ld s\n", (long)(after.tv_sec - before.tv_sec), (long)(time(NULL) - start));
	return 0;
}

/* Three expirations, of a timer with a descriptor that is read without poll. */
int tick(void)
{
	struct itimerspec second = { { 1, 0 }, { 1, 0 } };
	int fd = timerfd_create(CLOCK_MONOTONIC, 0), i;
	uint64_t count;

	timerfd_settime(fd, 0, &second, NULL);
	for (i = 0; i < 3; i++) {
		if (read(fd, &count, sizeof(count)) != sizeof(count))
			return 1;
	}
	printf("%d ticks\n", i);
	close(fd);
	return 0;
}

/*
 * Timers that are set anew when they have expired, unread: the old expirations count no more;
 * and two that count.
 */
int set_anew(void)
{
	const struct itimerspec soon = { { 0, 1000000 }, { 0, 1000000 } }, never = { 0 };
	const struct itimerspec second = { { 0, 0 }, { 1, 0 } }, *const next[] = { &second,
										   &never };
	int fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK), i;
	struct pollfd expired = { .fd = fd, .events = POLLIN };
	uint64_t count;

	for (i = 0; i < 4; i++) { /* also when poll(2) has seen them */
		timerfd_settime(fd, 0, &soon, NULL);
		usleep(5000);
		if (i / 2)
			poll(&expired, 1, -1);
		timerfd_settime(fd, 0, next[i % 2], NULL);
		count = 0;
		printf("%zd ", read(fd, &count, sizeof(count)));
		printf("%d ", poll(&expired, 1, 2000));
		printf("%zd ", read(fd, &count, sizeof(count)));
		printf("%d\n", (int)count);
	}
	close(fd);
	fd = timerfd_create(CLOCK_MONOTONIC, 0);
	timerfd_settime(fd, 0, &(struct itimerspec){ { 1, 0 }, { 1, 0 } }, NULL);
	usleep(2500000);
	printf("%zd", read(fd, &count, sizeof(count)));
	printf(" %d\n", (int)count);
	return close(fd);
}

/*
 * Does the same with the timer that sends SIGALRM; and the rest of a sleep, whole seconds, and
 * of alarms, rounded.
 */
int ring(void)
{
	struct itimerval second = { { 1, 0 }, { 1, 0 } }, left;
	time_t start = time(NULL);

	signal(SIGALRM, on_signal);
	setitimer(ITIMER_REAL, &second, NULL);
	for (int i = 0; i < 3; i++)
		pause();
	usleep(250000);
	alarm(0);
	setitimer(ITIMER_REAL, &second, &left);
	printf("%ld s, %ld ", (long)(time(NULL) - start), (long)left.it_value.tv_sec);
	usleep(250000);
	getitimer(ITIMER_REAL, &left);
	printf("%ld us of %ld s", (long)left.it_value.tv_usec / 1000 * 1000,
	       (long)left.it_interval.tv_sec);
	printf(", sleep %u", sleep(3));
	alarm(3);
	usleep(600000);
	printf(", alarm %u", alarm(1));
	usleep(900000);
	printf(" %u\n", alarm(0));
	return 0;
}
