/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: fake verbs, functions of the C library that can fail. Contract: the program is linked with
 * --wrap for each of them; the fake itself calls the real ones.
 */
#ifndef FAKE_LIBC_H
#define FAKE_LIBC_H

#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <sys/resource.h>
#include <time.h>

extern _Atomic bool fake_threads; /* the number of threads that the program has started */
extern _Atomic bool fake_over;    /* the program has ended: later calls are not its own (gcov) */

/*
 * Counts a call, which may be the one that is to fail. Returns 0, or the error, which is also in
 * errno.
 */
int fake_counted(const char *call);

/* Whether the program has freed all that it has allocated; if that was too much to tell, false. */
bool fake_all_freed(void);

/* The function of the library, and the one that the program calls instead. */
#define FAKE_WRAPPED(type, name, ...)    \
	type __real_##name(__VA_ARGS__); \
	type __wrap_##name(__VA_ARGS__)

FAKE_WRAPPED(void *, malloc, size_t size);
FAKE_WRAPPED(void *, calloc, size_t n, size_t size);
FAKE_WRAPPED(int, posix_memalign, void **memory, size_t alignment, size_t size);
FAKE_WRAPPED(void, free, void *memory);
FAKE_WRAPPED(void, freeaddrinfo, struct addrinfo *list);
FAKE_WRAPPED(int, pthread_create, pthread_t *thread, const pthread_attr_t *attributes,
	     void *(*start)(void *), void *argument);
FAKE_WRAPPED(int, eventfd, unsigned int value, int flags);
FAKE_WRAPPED(int, fcntl, int fd, int command, ...);
FAKE_WRAPPED(int, nanosleep, const struct timespec *pause, struct timespec *left);
FAKE_WRAPPED(int, poll, struct pollfd *fds, nfds_t n, int timeout);
FAKE_WRAPPED(int, ppoll, struct pollfd *fds, nfds_t n, const struct timespec *timeout,
	     const sigset_t *mask);
FAKE_WRAPPED(int, epoll_wait, int epoll_fd, struct epoll_event *events, int n, int timeout);
FAKE_WRAPPED(int, timerfd_settime, int fd, int flags, const struct itimerspec *wanted,
	     struct itimerspec *old);
FAKE_WRAPPED(int, sigaction, int signal_number, const struct sigaction *action,
	     struct sigaction *old);
FAKE_WRAPPED(int, getaddrinfo, const char *name, const char *port, const struct addrinfo *hints,
	     struct addrinfo **found);
FAKE_WRAPPED(unsigned int, alarm, unsigned int seconds);
FAKE_WRAPPED(int, pthread_cond_clockwait, pthread_cond_t *changed, pthread_mutex_t *lock,
	     clockid_t clock, const struct timespec *end);
FAKE_WRAPPED(int, clock_gettime, clockid_t clock, struct timespec *now);
FAKE_WRAPPED(int, getrusage, int who, struct rusage *usage);
FAKE_WRAPPED(FILE *, fopen, const char *path, const char *mode);
FAKE_WRAPPED(ssize_t, read, int fd, void *buffer, size_t size);
FAKE_WRAPPED(int, close, int fd);
FAKE_WRAPPED(ssize_t, send, int fd, const void *data, size_t size, int flags);

#endif
