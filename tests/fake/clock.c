/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: fake verbs, the program's clock. Contract: a program that sleeps for a time does not wait:
 * its clock is advanced instead. With fake_hurry, the same is true for a program that waits in
 * poll(2) while nothing is ready. A second of alarm(2) takes a hundredth of a second if nothing
 * else would end a wait.
 */
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/time.h>

#include "common/clock.h"
#include "tests/fake/known_time.h"
#include "tests/fake/libc.h"
#include "tests/fake/state.h"

uint64_t fake_to_ns(const struct timespec *time)
{
	return (uint64_t)time->tv_sec * OUR_NS_PER_S + (uint64_t)time->tv_nsec;
}

void fake_skip_time(const struct timespec *time)
{
	fake_report->skipped_ns += fake_to_ns(time);
}

bool fake_skips_waits(void)
{
	return fake_report && (fake_config->hurried || fake_config->known_us);
}

void fake_let_others_run(void)
{
	const struct timespec moment = { .tv_nsec = 1000000 };

	fake_unlock();
	__real_nanosleep(&moment, NULL);
	fake_lock();
}

void fake_hurry(void)
{
	uint64_t look_us = fake_config->look_us ? fake_config->look_us : KNOWN_LOOK_US;

	static unsigned int looks;

	if ((!fake_config->pauses || ++looks % fake_config->pauses == 0) && fake_time_is_known() &&
	    fake_let_arrive())
		return;
	/*
	 * A program that polls memory polls the CQ rarely, and then many times: only messages take
	 * time.
	 */
	if (fake_time_is_known() && fake_config->spins)
		return;
	if (fake_time_is_known()) {
		fake_report->skipped_ns += look_us * OUR_NS_PER_US;
	} else if (fake_config->hurried && !fake_config->pushes) {
		fake_note_poll_in_vain();
		fake_report->skipped_ns += OUR_NS_PER_S / 1000;
	}
	fake_return_rest();
}

int __wrap_clock_gettime(clockid_t clock, struct timespec *now)
{
	int ret = __real_clock_gettime(clock, now);
	uint64_t ns = fake_to_ns(now) + (fake_report ? fake_report->skipped_ns : 0);

	if (fake_time_is_known())
		ns = fake_known_now_ns();
	if (fake_report)
		fake_report->skipped_ns += fake_config->tick_us * OUR_NS_PER_US;
	now->tv_sec = (time_t)(ns / OUR_NS_PER_S);
	now->tv_nsec = (long)(ns % OUR_NS_PER_S);
	return ret;
}

/* A program that was told to stop is interrupted by its alarm again and again. */
static bool interrupted(const char *call)
{
	bool yes;

	fake_begin_sure(call);
	yes = fake_report->stopped;
	fake_end(0);
	return yes;
}

int __wrap_nanosleep(const struct timespec *pause, struct timespec *left)
{
	(void)left;
	if (pause->tv_sec < 0 || pause->tv_nsec < 0 || pause->tv_nsec >= (long)OUR_NS_PER_S) {
		errno = EINVAL;
		return -1;
	}
	if (interrupted("nanosleep")) {
		errno = EINTR;
		return -1;
	}
	fake_skip_time(pause);
	return 0;
}

/* The second signal comes a second later, because two at the same time count as one. */
bool fake_insist(void)
{
	const struct timespec second = { .tv_sec = 1 };

	if (!fake_report || !fake_config->insists || !fake_report->stopped ||
	    !fake_report->disconnects || fake_report->insisted)
		return false;
	fake_report->insisted = true;
	fake_skip_time(&second);
	raise(SIGTERM);
	return true;
}

#define SHORT_NS 10000000
#define LONG_NS  (OUR_NS_PER_S / 2)

/* The end of a wait: when the timer expires, if that is soon; otherwise in a moment. */
static struct timespec in_a_moment(const struct timespec *now, uint64_t left_ns)
{
	uint64_t ns = fake_to_ns(now) + (left_ns < SHORT_NS ? left_ns : SHORT_NS);

	return (struct timespec){ .tv_sec = (time_t)(ns / OUR_NS_PER_S),
				  .tv_nsec = (long)(ns % OUR_NS_PER_S) };
}

static bool another_thread_is_busy(void)
{
	bool busy;

	fake_lock();
	busy = fake_wait_for_thread();
	fake_unlock();
	return busy;
}

/*
 * A thread that changes a record waits for moments that are one period apart, whatever each change
 * takes. Others wait for seconds.
 */
static void check_period(const struct timespec *end)
{
	static uint64_t last_ns;
	uint64_t end_ns = fake_to_ns(end);
	struct timespec now;

	if (!fake_report || !fake_config->period_ns)
		return;
	__wrap_clock_gettime(CLOCK_MONOTONIC, &now);
	if (end_ns > fake_to_ns(&now) + LONG_NS)
		return;
	fake_lock();
	if (last_ns && end_ns != last_ns && end_ns != last_ns + fake_config->period_ns)
		fake_complain("a change is due %lld ns after the one before",
			      (long long)(end_ns - last_ns));
	fake_report->periods += last_ns && end_ns != last_ns;
	last_ns = end_ns;
	fake_unlock();
}

#define LOOKS 3 /* at other threads, which all sleep, before a wait is over */

/*
 * Waits for a moment. Returns ETIMEDOUT when `end` may come: it is near, or all other threads sleep.
 * Otherwise it returns early, as pthread_cond_clockwait may, and the program calls it again. It gives
 * the lock away before it looks: a thread that sleeps until it gets the lock is busy, too.
 */
static int wait_a_moment(pthread_cond_t *changed, pthread_mutex_t *lock, clockid_t clock,
			 uint64_t left_ns)
{
	static _Thread_local unsigned int looks;
	struct timespec soon;
	int ret;

	__real_clock_gettime(clock, &soon);
	soon = in_a_moment(&soon, left_ns);
	ret = __real_pthread_cond_clockwait(changed, lock, clock, &soon);
	if (ret == ETIMEDOUT && left_ns > SHORT_NS) {
		pthread_mutex_unlock(lock);
		looks = another_thread_is_busy() ? 0 : looks + 1;
		pthread_mutex_lock(lock);
		if (looks < LOOKS)
			return 0;
	}
	looks = 0;
	return ret;
}

int __wrap_pthread_cond_clockwait(pthread_cond_t *changed, pthread_mutex_t *lock, clockid_t clock,
				  const struct timespec *end)
{
	struct timespec now;
	uint64_t left_ns;
	int ret;

	if (fake_report) {
		fake_begin_sure("pthread_cond_clockwait");
		fake_end(0);
	}
	check_period(end);
	__wrap_clock_gettime(clock, &now);
	left_ns = fake_to_ns(end) > fake_to_ns(&now) ? fake_to_ns(end) - fake_to_ns(&now) : 0;
	fake_tell_late(left_ns);
	fake_insist();
	if (!fake_skips_waits())
		return __real_pthread_cond_clockwait(changed, lock, clock, end);
	ret = wait_a_moment(changed, lock, clock, left_ns);
	__wrap_clock_gettime(clock, &now);
	if (ret == ETIMEDOUT && fake_to_ns(end) > fake_to_ns(&now))
		fake_report->skipped_ns += fake_to_ns(end) - fake_to_ns(&now);
	return ret;
}

static atomic_bool alarmed;
static atomic_uint alarm_s;

static volatile sig_atomic_t rings;
static void (*on_alarm)(int);

static void ring(int number)
{
	rings = 1;
	on_alarm(number);
	rings = 0;
}

/* An alarm that its own handler sets again is not what the program has set for its next call. */
const struct sigaction *fake_watch_alarm(int number, const struct sigaction *action)
{
	static struct sigaction watched;

	if (number != SIGALRM || !fake_report || !fake_report->one_file)
		return action;
	watched = *action;
	on_alarm = action->sa_handler;
	watched.sa_handler = ring;
	return &watched;
}

unsigned int fake_alarm_s(void)
{
	return alarm_s;
}

void fake_check_alarm(const char *call)
{
	if (alarmed && !fake_report->stopped && !fake_report->one_file)
		fake_complain("%s: the alarm of an earlier call is still to come", call);
}

/* Of a program of one file, what is left for the peer's answer: see REPEATED_S. */
#define ANSWER_S 7

void fake_check_end(void)
{
	unsigned int most_s = fake_report->one_file ? ANSWER_S : 1;

	if (fake_report->stopped && (!alarmed || alarm_s > most_s))
		fake_complain("it was told to stop, and waits for an event without an alarm");
}

/*
 * Also called by the signal handler. If a program is told to stop at each of its calls, one in each
 * run, there are many alarms to wait for. This is one of these calls: the alarm that the handler
 * sets just before is replaced.
 */
unsigned int __wrap_alarm(unsigned int seconds)
{
	const struct timeval moment = { .tv_usec = (suseconds_t)seconds * 10000 };
	struct itimerval soon = { .it_value = moment };

	if (fake_report && fake_config->stop_call && !fake_report->stopped && !rings) {
		fake_begin("alarm");
		fake_end(0);
	}
	alarmed = seconds;
	if (!rings)
		alarm_s = seconds;
	if (!fake_report || (!fake_config->one_file && !fake_report->stopped &&
			     !fake_config->deaf && !fake_config->mute))
		return __real_alarm(seconds);
	setitimer(ITIMER_REAL, &soon, NULL);
	return 0;
}
