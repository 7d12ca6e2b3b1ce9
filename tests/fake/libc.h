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

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
int __real_posix_memalign(void **memory, size_t alignment, size_t size);
void __real_free(void *memory);
void __real_freeaddrinfo(struct addrinfo *list);
int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
			  void *(*start)(void *), void *argument);
int __real_eventfd(unsigned int value, int flags);
int __real_fcntl(int fd, int command, ...);
int __real_nanosleep(const struct timespec *pause, struct timespec *left);
int __real_poll(struct pollfd *fds, nfds_t n, int timeout);
int __real_ppoll(struct pollfd *fds, nfds_t n, const struct timespec *timeout,
		 const sigset_t *mask);

int __real_sigaction(int signal_number, const struct sigaction *action, struct sigaction *old);
int __real_getaddrinfo(const char *name, const char *port, const struct addrinfo *hints,
		       struct addrinfo **found);
unsigned int __real_alarm(unsigned int seconds);
int __real_pthread_cond_clockwait(pthread_cond_t *changed, pthread_mutex_t *lock, clockid_t clock,
				  const struct timespec *end);
int __real_clock_gettime(clockid_t clock, struct timespec *now);
int __real_getrusage(int who, struct rusage *usage);
FILE *__real_fopen(const char *path, const char *mode);
ssize_t __real_read(int fd, void *buffer, size_t size);

void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
int __wrap_posix_memalign(void **memory, size_t alignment, size_t size);
void __wrap_free(void *memory);
void __wrap_freeaddrinfo(struct addrinfo *list);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
			  void *(*start)(void *), void *argument);
int __wrap_eventfd(unsigned int value, int flags);
int __wrap_fcntl(int fd, int command, ...);
int __wrap_poll(struct pollfd *fds, nfds_t n, int timeout);
int __wrap_ppoll(struct pollfd *fds, nfds_t n, const struct timespec *timeout,
		 const sigset_t *mask);
int __wrap_sigaction(int signal_number, const struct sigaction *action, struct sigaction *old);
int __wrap_getaddrinfo(const char *name, const char *port, const struct addrinfo *hints,
		       struct addrinfo **found);
unsigned int __wrap_alarm(unsigned int seconds);
int __wrap_pthread_cond_clockwait(pthread_cond_t *changed, pthread_mutex_t *lock, clockid_t clock,
				  const struct timespec *end);
int __wrap_clock_gettime(clockid_t clock, struct timespec *now);
int __wrap_getrusage(int who, struct rusage *usage);
FILE *__wrap_fopen(const char *path, const char *mode);
ssize_t __wrap_read(int fd, void *buffer, size_t size);
int __wrap_nanosleep(const struct timespec *pause, struct timespec *left);

#endif
