/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: fake verbs, calls of the C library that can fail, too. See libc.h. poll and ppoll do not
 * fail, but in FAKE_WILD a signal interrupts them now and then. The clock goes on as fake_hurry has it,
 * and a second of alarm(2) is a hundredth where the program has been told to stop.
 */
#include <errno.h>
#include <stdarg.h>
#include <sys/time.h>

#include "tests/fake/libc.h"
#include "tests/fake/state.h"

static _Atomic uint64_t skipped_ms;
_Atomic bool fake_threads, fake_over;

void fake_hurry(void)
{
	if (fake_config->hurried)
		skipped_ms++;
}

int __wrap_clock_gettime(clockid_t clock, struct timespec *now)
{
	int ret = __real_clock_gettime(clock, now);

	now->tv_sec += (time_t)(skipped_ms / 1000);
	return ret;
}

/* Called by the signal handler, too. A program that is told to stop at each call has many to wait for. */
unsigned int __wrap_alarm(unsigned int seconds)
{
	const struct itimerval soon = { .it_value.tv_usec = (suseconds_t)seconds * 10000 };

	if (!fake_report || !fake_report->stopped)
		return __real_alarm(seconds);
	setitimer(ITIMER_REAL, &soon, NULL);
	return 0;
}

static int counted(const char *call)
{
	struct fake_fault fault;

	if (!fake_report || fake_over)
		return 0; /* the runner's own */
	fault = fake_begin(call);
	return fake_end(fault.error);
}

void *__wrap_malloc(size_t size)
{
	return counted("malloc") ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t n, size_t size)
{
	return counted("calloc") ? NULL : __real_calloc(n, size);
}

int __wrap_posix_memalign(void **memory, size_t alignment, size_t size)
{
	int error = counted("posix_memalign");

	return error ? error : __real_posix_memalign(memory, alignment, size);
}

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
			  void *(*start)(void *), void *argument)
{
	int error = counted("pthread_create");

	fake_threads = true;
	return error ? error : __real_pthread_create(thread, attributes, start, argument);
}

int __wrap_eventfd(unsigned int value, int flags)
{
	return counted("eventfd") ? -1 : __real_eventfd(value, flags);
}

int __wrap_fcntl(int fd, int command, ...)
{
	va_list arguments;
	void *argument;

	va_start(arguments, command);
	argument = va_arg(arguments, void *); /* or an int, which it has room for */
	va_end(arguments);
	return counted("fcntl") ? -1 : __real_fcntl(fd, command, argument);
}

static bool interrupted(const char *call)
{
	bool yes;

	if (!fake_report)
		return false;
	fake_begin_sure(call);
	yes = fake_chance(16);
	fake_end(yes ? EINTR : 0);
	return yes;
}

/*
 * Says that there is a CM event when there is none. That is what a thread sees if another destroys
 * the id, and with it the event, before it gets to read it: so, only where there are several.
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

int __wrap_poll(struct pollfd *fds, nfds_t n, int timeout)
{
	if (interrupted("poll"))
		return -1;
	return cries_wolf(fds, n) ? 1 : __real_poll(fds, n, timeout);
}

int __wrap_ppoll(struct pollfd *fds, nfds_t n, const struct timespec *timeout, const sigset_t *mask)
{
	return interrupted("ppoll") ? -1 : __real_ppoll(fds, n, timeout, mask);
}
