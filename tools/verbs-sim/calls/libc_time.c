/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * libc: clocks, sleep and alarms, in simulated time.
 */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#include "verbs-sim/calls/call.h"
#include "verbs-sim/calls/libc.h"
#include "verbs-sim/device/device.h"

#define CLOCK_NS    20  /* the least cost of reading a clock, */
#define CLOCK_PART  256 /* or this part of the time spent on looks at it, if more */
#define SYSTEM_PART 4   /* one in this many ns of a program's CPU time is the system's */

static struct timespec timespec_of(uint64_t ns)
{
	return (struct timespec){ .tv_sec = (time_t)(ns / 1000000000),
				  .tv_nsec = (long)(ns % 1000000000) };
}

static uint64_t clock_ns(clockid_t clock)
{
	switch (clock) {
	case CLOCK_REALTIME:
	case CLOCK_REALTIME_COARSE:
	case CLOCK_TAI:
		return sim_world->now_ns + SIM_REALTIME_NS;
	case CLOCK_PROCESS_CPUTIME_ID:
	case CLOCK_THREAD_CPUTIME_ID:
		return sim_me->program->cpu_ns;
	default:
		return sim_world->now_ns + SIM_MONOTONIC_NS;
	}
}

uint64_t sim_deadline_at(const struct timespec *time)
{
	uint64_t ns = time->tv_sec < 0 ? 0 : sim_ns_of(time);
	uint64_t start_ns = ns >= SIM_REALTIME_NS ? SIM_REALTIME_NS : SIM_MONOTONIC_NS;

	return ns > start_ns ? ns - start_ns : 0;
}

/*
 * A program that does nothing but look at the clock waits for a change in memory, or for a time: a
 * few looks suffice to reach it.
 */
static void look_at_clock(void)
{
	uint64_t ns = sim_step_of(sim_me->looked_ns, CLOCK_NS, CLOCK_PART);

	sim_me->looked_ns += ns;
	sim_pass("clock");
	if (ns == CLOCK_NS)
		sim_use_cpu(ns);
	else
		sim_poll_until(sim_memory, sim_world->now_ns + ns);
}

EXPORTED int clock_gettime(clockid_t clock, struct timespec *time)
{
	if (!sim_me)
		return REAL(clock_gettime)(clock, time);
	look_at_clock();
	*time = timespec_of(clock_ns(clock));
	sim_trace("clock %llu ns", (unsigned long long)sim_ns_of(time));
	return 0;
}

EXPORTED int gettimeofday(struct timeval *restrict tv, void *restrict tz)
{
	uint64_t ns;

	if (!sim_me)
		return REAL(gettimeofday)(tv, tz);
	look_at_clock();
	ns = clock_ns(CLOCK_REALTIME);
	tv->tv_sec = (time_t)(ns / 1000000000);
	tv->tv_usec = (suseconds_t)(ns % 1000000000 / 1000);
	return 0;
}

EXPORTED time_t time(time_t *tloc)
{
	time_t now;

	if (!sim_me)
		return REAL(time)(tloc);
	look_at_clock();
	now = (time_t)(clock_ns(CLOCK_REALTIME) / 1000000000);
	if (tloc)
		*tloc = now;
	return now;
}

EXPORTED clock_t clock(void)
{
	return sim_me ? (clock_t)(sim_me->program->cpu_ns / 1000) : REAL(clock)();
}

static struct timeval timeval_of(uint64_t ns)
{
	return (struct timeval){ (time_t)(ns / 1000000000), (suseconds_t)(ns % 1000000000 / 1000) };
}

static long us_of(struct timeval time)
{
	return time.tv_sec * 1000000 + time.tv_usec;
}

EXPORTED int getrusage(__rusage_who_t who, struct rusage *usage)
{
	int ret = REAL(getrusage)(who, usage);
	uint64_t ns;

	if (!sim_me || ret)
		return ret;
	ns = who == RUSAGE_CHILDREN ? 0 : sim_me->program->cpu_ns;
	usage->ru_utime = timeval_of(ns - ns / SYSTEM_PART);
	usage->ru_stime = timeval_of(ns / SYSTEM_PART);
	usage->ru_nvcsw = who == RUSAGE_CHILDREN ? 0 : (long)sim_me->program->sleeps;
	usage->ru_nivcsw = who == RUSAGE_CHILDREN ? 0 : (long)sim_me->program->preemptions;
	sim_trace("getrusage %ld %ld us, %ld %ld switches", us_of(usage->ru_utime),
		  us_of(usage->ru_stime), usage->ru_nvcsw, usage->ru_nivcsw);
	return 0;
}

/* ---- Sleep ---- */

/* Returns 0, or EINTR. */
static int block_until(uint64_t deadline_ns)
{
	static const char nothing; /* nobody wakes this address */

	while (sim_world->now_ns < deadline_ns) {
		if (sim_block(&nothing, deadline_ns))
			return EINTR;
	}
	return 0;
}

static int sleep_until(uint64_t deadline_ns)
{
	SIM_STEP("sleep");
	return block_until(deadline_ns);
}

static int sleep_for(uint64_t ns, struct timespec *left)
{
	uint64_t deadline_ns = sim_deadline(ns);
	int ret = sleep_until(deadline_ns);

	if (ret && left)
		*left = timespec_of(
			deadline_ns > sim_world->now_ns ? deadline_ns - sim_world->now_ns : 0);
	return ret;
}

EXPORTED int nanosleep(const struct timespec *time, struct timespec *left)
{
	if (!sim_me)
		return REAL(nanosleep)(time, left);
	if (!sim_is_span(time))
		return sim_fail(EINVAL);
	return sim_fail(sleep_for(sim_ns_of(time), left));
}

EXPORTED int clock_nanosleep(clockid_t clock, int flags, const struct timespec *time,
			     struct timespec *left)
{
	if (!sim_me)
		return REAL(clock_nanosleep)(clock, flags, time, left);
	if (!sim_is_span(time))
		return EINVAL;
	return flags & TIMER_ABSTIME ? sleep_until(sim_deadline_at(time))
				     : sleep_for(sim_ns_of(time), left);
}

EXPORTED int usleep(useconds_t us)
{
	if (!sim_me)
		return REAL(usleep)(us);
	return sim_fail(sleep_for(us * 1000ull, NULL));
}

EXPORTED unsigned int sleep(unsigned int seconds)
{
	struct timespec left = { 0, 0 };

	if (!sim_me)
		return REAL(sleep)(seconds);
	sleep_for(seconds * 1000000000ull, &left);
	return (unsigned int)left.tv_sec; /* whole seconds, as glibc */
}

/* ---- Alarms ---- */

/* Returns how long until the timer that alarm(2) and setitimer(2) share expires; 0: never. */
static uint64_t alarm_left_ns(void)
{
	const struct sim_task *task = &sim_me->program->alarm;

	if (!task->scheduled)
		return 0;
	return task->due.ns > sim_world->now_ns ? task->due.ns - sim_world->now_ns : 1;
}

/* Sets that timer. 0: it does not expire, or only once. */
static void set_alarm(uint64_t ns, uint64_t interval_ns)
{
	struct sim_program *program = sim_me->program;

	sim_cancel(&program->alarm);
	program->alarm.kind = SIM_TASK_ALARM;
	program->alarm.object = program;
	program->alarm_interval_ns = interval_ns;
	if (ns)
		sim_schedule(&program->alarm, sim_deadline(ns));
}

EXPORTED unsigned int alarm(unsigned int seconds)
{
	uint64_t left_ns;

	if (!sim_me)
		return REAL(alarm)(seconds);
	left_ns = alarm_left_ns();
	set_alarm(seconds * 1000000000ull, 0);
	if (left_ns && left_ns < 1000000000)
		return 1;
	return (unsigned int)((left_ns + 500000000) / 1000000000); /* as Linux rounds it */
}

static uint64_t ns_of(const struct timeval *time)
{
	return (uint64_t)us_of(*time) * 1000;
}

EXPORTED int getitimer(__itimer_which_t which, struct itimerval *value)
{
	if (!sim_me)
		return REAL(getitimer)(which, value);
	if (which != ITIMER_REAL)
		sim_unknown("getitimer of another clock than ITIMER_REAL");
	*value = (struct itimerval){ timeval_of(sim_me->program->alarm_interval_ns),
				     timeval_of(alarm_left_ns() + 999) };
	return 0;
}

EXPORTED int setitimer(__itimer_which_t which, const struct itimerval *restrict value,
		       struct itimerval *restrict old)
{
	if (!sim_me)
		return REAL(setitimer)(which, value, old);
	if (which != ITIMER_REAL)
		sim_unknown("setitimer of another clock than ITIMER_REAL");
	if (old)
		getitimer(which, old);
	set_alarm(ns_of(&value->it_value), ns_of(&value->it_interval));
	return 0;
}

EXPORTED int sched_yield(void)
{
	if (!sim_me)
		return REAL(sched_yield)();
	sim_yield_cpu();
	SIM_STEP("sched_yield");
	return 0;
}

EXPORTED int pause(void)
{
	if (!sim_me)
		return REAL(pause)();
	SIM_STEP("pause");
	block_until(SIM_FOREVER);
	errno = EINTR;
	return -1;
}
