/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: fake verbs, functions of the C library that can fail. See libc.h. In FAKE_WILD poll(2) is
 * sometimes interrupted by a signal. For clocks and sleep see clock.c, for memory see memory.c.
 */
#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include "tests/fake/libc.h"
#include "tests/fake/state.h"

_Atomic bool fake_threads, fake_over;

int fake_counted(const char *call)
{
	struct fake_fault fault;

	if (!fake_report || fake_over)
		return 0; /* descriptors of the runner */
	fault = fake_begin(call);
	return fake_end(fault.error);
}

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
			  void *(*start)(void *), void *argument)
{
	int error = fake_counted("pthread_create");

	fake_threads = true;
	return error ? error : __real_pthread_create(thread, attributes, start, argument);
}

int __wrap_eventfd(unsigned int value, int flags)
{
	return fake_counted("eventfd") ? -1 : __real_eventfd(value, flags);
}

int __wrap_fcntl(int fd, int command, ...)
{
	va_list arguments;
	void *argument;

	va_start(arguments, command);
	argument = va_arg(arguments, void *); /* or an int, for which there is room, too */
	va_end(arguments);
	return fake_counted("fcntl") ? -1 : __real_fcntl(fd, command, argument);
}

int __wrap_sigaction(int signal_number, const struct sigaction *action, struct sigaction *old)
{
	if (fake_counted("sigaction"))
		return -1;
	return __real_sigaction(signal_number, fake_watch_alarm(signal_number, action), old);
}

/* What is typed comes as it is typed, and each line feed by itself: read(2) may return less. */
ssize_t __wrap_read(int fd, void *buffer, size_t size)
{
	ssize_t length = __real_read(fd, buffer, size);
	const char *end;
	off_t back;

	if (!fake_config || !fake_config->piecemeal || fd != STDIN_FILENO || length <= 1)
		return length;
	end = memchr(buffer, '\n', (size_t)length);
	if (!end)
		return length;
	back = length - (end == buffer ? 1 : end - (const char *)buffer);
	return lseek(fd, -back, SEEK_CUR) < 0 ? -1 : length - back;
}

/* What comes at such a descriptor would wake nobody: it would wait for the end of the sleep. */
static void check_events(const struct pollfd *fds, nfds_t n)
{
	nfds_t i;

	for (i = 0; i < n; i++) {
		if (fds[i].fd >= 0 && !fds[i].events)
			fake_complain("it sleeps, and descriptor %lu of %lu is watched for nothing",
				      (unsigned long)i + 1, (unsigned long)n);
	}
}

static bool interrupted(const char *call, const struct pollfd *fds, nfds_t n)
{
	bool yes;

	if (!fake_report)
		return false;
	fake_begin_sure(call);
	check_events(fds, n);
	yes = fake_interrupts(16);
	fake_end(yes ? EINTR : 0);
	return yes;
}

/*
 * Reports a CM event when there is none. A thread sees this if another thread destroys the id, and
 * with it the event, before the event is read. So this is done only with several threads.
 */
static bool cries_wolf(struct pollfd *fds, nfds_t n)
{
	bool yes;
	nfds_t i;

	if (!fake_report || !fake_threads)
		return false;
	fake_lock();
	yes = fake_chance(4) && fake_is_event_channel(fds[0].fd);
	fake_unlock();
	for (i = 0; yes && i < n; i++)
		fds[i].revents = i ? 0 : POLLIN;
	return yes;
}

/* With a hurried clock, a wait takes at most this long; the rest of its time is skipped. */
#define MOMENT_NS 5000000
/* The same for a program that polls memory, which sleeps longer than it asked for. */
#define SHORT_MOMENT_NS 100000
#define LATE_NS         20000000
#define TURN_NS         10000000 /* talk-rdma-0's */

/*
 * With a hurried clock: sleeps for a moment, and for longer while another thread has yet to act:
 * what it does may end this sleep.
 */
static int sleep_a_moment(struct pollfd *fds, nfds_t n, const struct timespec *moment,
			  const sigset_t *mask)
{
	const struct timespec none = { 0 };
	int ready = __real_ppoll(fds, n, moment, mask);
	bool waits = fake_config->hurried && !fake_time_is_known();

	while (!ready && waits) {
		fake_lock();
		waits = fake_wait_for_thread();
		fake_unlock();
		ready = __real_ppoll(fds, n, &none, mask);
	}
	return ready;
}

/* An example serves any number of clients: when there is nothing left to wait for, it is told to stop. */
static void stop_if_idle(bool idle)
{
	static bool stopped;

	if (stopped || !idle || !fake_report || !fake_config->example)
		return;
	stopped = true;
	raise(SIGTERM);
}

int __wrap_poll(struct pollfd *fds, nfds_t n, int timeout)
{
	const struct timespec moment = { .tv_nsec = MOMENT_NS };
	struct timespec skipped = { .tv_sec = timeout / 1000, .tv_nsec = timeout % 1000 * 1000000 };
	int ready;

	if (fake_any_comp_channel(fds, n)) /* it waits as ppoll(2) does */
		return __wrap_ppoll(fds, n, timeout < 0 ? NULL : &skipped, NULL);
	if (interrupted("poll", fds, n))
		return -1;
	if (cries_wolf(fds, n))
		return 1;
	if (timeout > 1000 && fake_report && fake_report->one_file && !fake_report->stopped &&
	    fake_alarm_s()) {
		fake_lock();
		fake_complain("poll: an alarm ends it after %u s", fake_alarm_s());
		fake_unlock();
	}
	if (timeout > 0) {
		fake_tell_late(fake_to_ns(&skipped));
		if (fake_insist()) {
			errno = EINTR;
			return -1;
		}
	}
	stop_if_idle(timeout < 0 && !__real_poll(fds, n, 0));
	if (timeout <= 0 || !fake_skips_waits())
		return __real_poll(fds, n, timeout);
	ready = sleep_a_moment(fds, n, &moment, NULL);
	if (ready)
		return ready;
	if (!fake_report->stopped || timeout < 1000) {
		fake_skip_time(&skipped);
		return 0;
	}
	skipped = (struct timespec){ .tv_sec = 1 }; /* its alarm */
	fake_skip_time(&skipped);
	errno = EINTR;
	return -1;
}

/*
 * The program goes to sleep: what it waits for comes now. Returns false if the sleep is to be
 * interrupted.
 */
static bool falls_asleep(struct pollfd *fds, nfds_t n)
{
	struct fake_fault fault = fake_begin("ppoll");

	fake_report->looks.ppolls++;
	fake_give_up_dead_hosts(NULL);
	check_events(fds, n);
	if (fake_time_is_known() && !__real_poll(fds, n, 0))
		fake_let_arrive();
	if (!fault.error && fake_interrupts(16))
		fault.error = EINTR;
	fake_make_events();
	if (fake_config->while_asleep)
		fake_release_completions();
	if (fake_config->slow_events && !__real_poll(fds, n, 0))
		fake_make_events(); /* nothing else wakes the program */
	fake_publishers_move();
	return !fake_end(fault.error);
}

/* The program waits for something that none of its other threads does. */
static bool is_alone(void)
{
	return fake_config && fake_config->pushes && fake_time_is_known() &&
	       !fake_config->program_serves;
}

/* A program that talks looks at its slot in turns: else it would sleep most of a run, for nobody. */
static bool is_turn(const struct timespec *timeout)
{
	return fake_config && fake_config->talks && fake_to_ns(timeout) <= TURN_NS;
}

int __wrap_ppoll(struct pollfd *fds, nfds_t n, const struct timespec *timeout, const sigset_t *mask)
{
	const bool often = fake_config && (fake_config->pushes || fake_config->talks);
	const struct timespec moment = { .tv_nsec = is_alone() ? 0
						    : often    ? SHORT_MOMENT_NS
							       : MOMENT_NS };
	const struct timespec late = { .tv_nsec = LATE_NS };
	int ready;

	if (!falls_asleep(fds, n))
		return -1;
	if (timeout) {
		fake_tell_late(fake_to_ns(timeout));
		fake_insist();
	}
	/* A server that looks after its clients every second is idle, too. */
	stop_if_idle((!timeout || timeout->tv_sec == 1) && !__real_poll(fds, n, 0));
	if (!timeout || (!timeout->tv_sec && !timeout->tv_nsec) ||
	    (!fake_skips_waits() && !is_turn(timeout)))
		return __real_ppoll(fds, n, timeout, mask);
	ready = sleep_a_moment(fds, n, &moment, mask);
	if (ready)
		return ready;
	fake_skip_time(timeout);
	if (fake_time_is_known()) {
		fake_lock();
		fake_publishers_move(); /* during the sleep */
		fake_unlock();
	} else if (often && fake_config->hurried) {
		fake_skip_time(&late);
	}
	return 0;
}

#define MOST_EXPIRATIONS 60

/* The timer of a program in an event loop. It expires when there is nothing else to wait for. */
static struct {
	int fd;
	struct timespec period;
	unsigned int expirations;
} timer;

int __wrap_timerfd_settime(int fd, int flags, const struct itimerspec *wanted,
			   struct itimerspec *old)
{
	timer.fd = fd;
	timer.period = wanted->it_interval;
	return __real_timerfd_settime(fd, flags, wanted, old);
}

/* Returns false if no peer is dead, or the program has had the time to notice it. */
static bool expire(void)
{
	const struct itimerspec now = { .it_value.tv_nsec = 1 };

	if (!fake_report || !fake_config->dead || !timer.fd ||
	    timer.expirations++ == MOST_EXPIRATIONS)
		return false;
	fake_skip_time(&timer.period);
	return !__real_timerfd_settime(timer.fd, 0, &now, NULL);
}

int __wrap_epoll_wait(int epoll_fd, struct epoll_event *events, int n, int timeout)
{
	fake_begin_sure("epoll_wait");
	fake_make_events();
	fake_end(0);
	stop_if_idle(timeout < 0 && !__real_epoll_wait(epoll_fd, events, n, 0) && !expire());
	return __real_epoll_wait(epoll_fd, events, n, timeout);
}
