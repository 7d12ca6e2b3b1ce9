/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * limits: calls of the C library at their limits: times that are over, or none, descriptors that
 * are closed, what is there twice or not at all. It prints each call with its result. Those of
 * Linux, without verbs-sim, are right; a second round in the same process has the same results.
 * Takes nothing of the suite.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <limits.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void show(const char *call, long result)
{
	printf("%s = %ld%s%s\n", call, result, result < 0 ? " " : "",
	       result < 0 ? strerrorname_np(errno) : "");
}

#define SHOW(call) (errno = 0, show(#call, (long)(call)))

static void polls(void)
{
	struct timespec none = { 0 }, odd = { .tv_nsec = 1000000000 };
	struct pollfd fds[2] = { { .events = POLLIN }, { .events = POLLOUT } };
	struct timeval soon = { .tv_usec = 2000 };
	fd_set set;
	int ends[2];

	SHOW(pipe(ends));
	fds[0].fd = ends[0];
	fds[1].fd = ends[1];
	SHOW(poll(NULL, 0, 0));
	SHOW(poll(NULL, 0, 1));
	SHOW(poll(fds, 1, 0));
	SHOW(poll(fds, 1, 1));
	SHOW(poll(fds, 2, -1));
	SHOW(fds[0].revents);
	SHOW(ppoll(fds, 1, &none, NULL));
	SHOW(ppoll(fds, 1, &odd, NULL));
	FD_ZERO(&set);
	FD_SET(ends[0], &set);
	SHOW(select(ends[0] + 1, &set, NULL, NULL, &soon));
	SHOW(FD_ISSET(ends[0], &set));
	SHOW(soon.tv_usec);
	FD_SET(ends[1], &set);
	SHOW(select(ends[1] + 1, NULL, &set, NULL, NULL));
	FD_SET(ends[0], &set);
	SHOW(pselect(ends[0] + 1, &set, NULL, NULL, &none, NULL));
	SHOW(select(-1, NULL, NULL, NULL, &soon));
	SHOW(write(ends[1], "ab", 2));
	SHOW(poll(fds, 2, 1000));
	SHOW(fds[0].revents);
	SHOW(read(ends[0], &set, 0));
	SHOW(read(ends[0], &set, 1));
	SHOW(read(ends[0], &set, 9));
	SHOW(close(ends[1]));
	SHOW(poll(fds, 2, -1));
	SHOW(fds[0].revents);
	SHOW(fds[1].revents);
	SHOW(read(ends[0], &set, 1));
	SHOW(close(ends[0]));
	SHOW(close(ends[0]));
	FD_SET(ends[0], &set);
	SHOW(select(ends[0] + 1, &set, NULL, NULL, NULL));
	fds[0].fd = -1;
	SHOW(poll(fds, 1, 1));
}

static void epolls(void)
{
	struct epoll_event once = { EPOLLIN | EPOLLONESHOT, { 0 } }, all = { EPOLLIN, { 0 } },
			   found[2];
	int fd = epoll_create1(0), first = eventfd(0, EFD_NONBLOCK),
	    second = eventfd(2, EFD_SEMAPHORE | EFD_NONBLOCK);
	eventfd_t value;

	SHOW(epoll_ctl(fd, EPOLL_CTL_ADD, first, &once));
	SHOW(epoll_ctl(fd, EPOLL_CTL_ADD, first, &once));
	SHOW(epoll_wait(fd, found, 2, 0));
	SHOW(epoll_wait(fd, found, 2, 1));
	SHOW(epoll_ctl(fd, EPOLL_CTL_ADD, second, &all));
	SHOW(eventfd_write(first, 7));
	SHOW(epoll_wait(fd, found, 0, -1));
	SHOW(epoll_wait(fd, found, 1, -1));
	SHOW(epoll_pwait(fd, found, 2, -1, NULL));
	SHOW(epoll_wait(fd, found, 2, 1));
	SHOW(epoll_wait(fd, found, 2, 1));
	SHOW(eventfd_read(first, &value));
	SHOW(value);
	SHOW(eventfd_read(first, &value));
	SHOW(eventfd_read(second, &value));
	SHOW(value);
	SHOW(eventfd_read(second, &value));
	SHOW(eventfd_read(second, &value));
	SHOW(eventfd_write(second, UINT64_MAX - 1));
	SHOW(eventfd_write(second, 1));
	SHOW(read(second, &value, 4));
	SHOW(epoll_wait(first, found, 2, -1));
	SHOW(close(fd));
	SHOW(epoll_wait(fd, found, 2, -1));
	SHOW(close(first) | close(second));
}

static int rings;
static void ring(int number)
{
	(void)number;
	rings++;
}

static void times(void)
{
	struct timespec none = { 0 }, odd = { .tv_nsec = 1000000000 }, negative = { .tv_sec = -1 };
	struct itimerspec at_once = { .it_value.tv_nsec = 1 }, never = { 0 };
	struct itimerval late = { { 0, 0 }, { 1000, 0 } }, soon = { { 0, 0 }, { 0, 2000 } }, left;
	int fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
	struct pollfd expired = { fd, POLLIN, 0 };
	uint64_t count;

	signal(SIGALRM, ring);
	SHOW(alarm(0));
	SHOW(alarm(1000));
	SHOW(alarm(2000) > 900);
	SHOW(setitimer(ITIMER_REAL, &late, &left));
	SHOW(left.it_value.tv_sec > 1900);
	SHOW(left.it_interval.tv_sec);
	SHOW(alarm(0) > 900);
	SHOW(getitimer(ITIMER_REAL, &left));
	SHOW(left.it_value.tv_sec | left.it_value.tv_usec);
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
	none.tv_sec = none.tv_nsec = 0;
	SHOW(nanosleep(&none, NULL));
	SHOW(nanosleep(&odd, NULL));
	SHOW(nanosleep(&negative, NULL));
	SHOW(clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &none, NULL));
	SHOW(clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &odd, NULL));
	SHOW(usleep(0) | (int)sleep(0));
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

static void signals(void)
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

static void *nothing(void *unneeded)
{
	return unneeded;
}

static void locks(void)
{
	struct timespec past = { .tv_nsec = 1 }, odd = { .tv_nsec = 1000000000 };
	pthread_mutex_t plain = PTHREAD_MUTEX_INITIALIZER,
			checked = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP,
			again = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
	pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
	pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
	pthread_barrier_t barrier;
	pthread_spinlock_t spin;
	pthread_t thread;
	void *result;
	sem_t sem;
	int value;

	SHOW(pthread_mutex_timedlock(&plain, &past));
	SHOW(pthread_mutex_timedlock(&plain, &past));
	SHOW(pthread_mutex_clocklock(&plain, CLOCK_MONOTONIC, &past));
	SHOW(pthread_mutex_timedlock(&plain, &odd));
	SHOW(pthread_mutex_trylock(&plain));
	SHOW(pthread_cond_timedwait(&cond, &plain, &past));
	SHOW(pthread_cond_timedwait(&cond, &plain, &odd));
	SHOW(pthread_cond_signal(&cond));
	SHOW(pthread_cond_broadcast(&cond));
	SHOW(pthread_mutex_unlock(&plain));
	SHOW(pthread_mutex_lock(&checked));
	SHOW(pthread_mutex_lock(&checked));
	SHOW(pthread_mutex_unlock(&checked));
	SHOW(pthread_mutex_unlock(&checked));
	SHOW(pthread_mutex_lock(&again));
	SHOW(pthread_mutex_timedlock(&again, &past));
	SHOW(pthread_mutex_unlock(&again));
	SHOW(pthread_mutex_unlock(&again));
	SHOW(pthread_mutex_unlock(&again));
	SHOW(pthread_rwlock_rdlock(&rwlock));
	SHOW(pthread_rwlock_timedrdlock(&rwlock, &past));
	SHOW(pthread_rwlock_trywrlock(&rwlock));
	SHOW(pthread_rwlock_timedwrlock(&rwlock, &past));
	SHOW(pthread_rwlock_unlock(&rwlock));
	SHOW(pthread_rwlock_clockwrlock(&rwlock, CLOCK_MONOTONIC, &past));
	SHOW(pthread_rwlock_unlock(&rwlock));
	SHOW(pthread_rwlock_clockwrlock(&rwlock, CLOCK_MONOTONIC, &past));
	SHOW(pthread_rwlock_tryrdlock(&rwlock));
	SHOW(pthread_rwlock_wrlock(&rwlock));
	SHOW(pthread_rwlock_unlock(&rwlock));
	SHOW(sem_init(&sem, 0, 1));
	SHOW(sem_timedwait(&sem, &past));
	SHOW(sem_timedwait(&sem, &past));
	SHOW(sem_clockwait(&sem, CLOCK_MONOTONIC, &past));
	SHOW(sem_timedwait(&sem, &odd));
	SHOW(sem_trywait(&sem));
	SHOW(sem_post(&sem));
	SHOW(sem_wait(&sem));
	SHOW(sem_getvalue(&sem, &value) | value);
	SHOW(sem_init(&sem, 0, SEM_VALUE_MAX));
	SHOW(sem_post(&sem));
	SHOW(pthread_barrier_init(&barrier, NULL, 0));
	SHOW(pthread_barrier_init(&barrier, NULL, 1));
	SHOW(pthread_barrier_wait(&barrier));
	SHOW(pthread_barrier_wait(&barrier));
	SHOW(pthread_barrier_destroy(&barrier));
	SHOW(pthread_spin_init(&spin, 0) | pthread_spin_lock(&spin));
	SHOW(pthread_spin_trylock(&spin));
	SHOW(pthread_spin_unlock(&spin) | pthread_spin_trylock(&spin));
	SHOW(pthread_create(&thread, NULL, nothing, &sem));
	SHOW(pthread_join(thread, &result));
	SHOW(result == &sem);
	SHOW(pthread_join(pthread_self(), NULL));
	SHOW(pthread_create(&thread, NULL, nothing, NULL) | pthread_detach(thread));
}

static void sockets(void)
{
	struct sockaddr_in to = { .sin_family = AF_INET,
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) },
			   from;
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0),
	    other = socket(AF_INET, SOCK_STREAM, 0), accepted;
	socklen_t size = sizeof(from);
	char data[8] = "";

	SHOW(getpeername(fd, (struct sockaddr *)&from, &size));
	SHOW(bind(fd, (struct sockaddr *)&to, sizeof(to)));
	SHOW(getsockname(fd, (struct sockaddr *)&to, &size));
	SHOW(size);
	SHOW(to.sin_port != 0);
	SHOW(bind(other, (struct sockaddr *)&to, sizeof(to)));
	SHOW(connect(other, (struct sockaddr *)&to, sizeof(to)));
	SHOW(close(other));
	other = socket(AF_INET, SOCK_STREAM, 0);
	SHOW(listen(fd, 1));
	SHOW(accept(fd, NULL, NULL));
	SHOW(connect(other, (struct sockaddr *)&to, sizeof(to)));
	accepted = accept4(fd, (struct sockaddr *)&from, &size, SOCK_NONBLOCK);
	SHOW(size);
	SHOW(from.sin_port != 0 && from.sin_addr.s_addr == to.sin_addr.s_addr);
	SHOW(getsockname(accepted, (struct sockaddr *)&from, &size));
	SHOW(from.sin_port == to.sin_port && from.sin_addr.s_addr == to.sin_addr.s_addr);
	size = 4;
	SHOW(getpeername(accepted, (struct sockaddr *)&from, &size));
	SHOW(size);
	SHOW(recv(accepted, data, 8, 0));
	SHOW(recv(other, data, 8, MSG_DONTWAIT));
	SHOW(send(other, "abcd", 4, 0));
	SHOW(recv(accepted, data, 8, MSG_PEEK));
	SHOW(recv(accepted, data, 3, 0));
	SHOW(read(accepted, data, 3));
	SHOW(send(other, data, 0, 0));
	SHOW(shutdown(other, SHUT_WR));
	SHOW(recv(accepted, data, 8, 0));
	SHOW(send(other, "x", 1, MSG_NOSIGNAL));
	SHOW(send(accepted, "x", 1, 0));
	SHOW(close(accepted));
	SHOW(recv(other, data, 8, 0));
	SHOW(recv(other, data, 8, 0));
	SHOW(close(other));
	other = socket(AF_INET, SOCK_STREAM, 0);
	SHOW(connect(other, (struct sockaddr *)&to, sizeof(to)));
	accepted = accept(fd, NULL, NULL);
	SHOW(close(other));
	SHOW(send(accepted, "x", 1, MSG_NOSIGNAL));
	SHOW(send(accepted, "x", 1, MSG_NOSIGNAL));
	SHOW(close(accepted) | close(fd));
	SHOW(send(other, "x", 1, 0));
	SHOW(accept(other, NULL, NULL));
}

static void children(void)
{
	siginfo_t info = { 0 };
	int status = 0, ends[2];
	pid_t pid;

	SHOW(wait(&status));
	SHOW(waitpid(-1, &status, WNOHANG));
	SHOW(waitpid(1, &status, 0));
	SHOW(pipe(ends));
	pid = fork();
	if (!pid)
		_exit(read(ends[0], &status, 1) == 1 ? 0x1ff : 0);
	SHOW(waitpid(pid, &status, WNOHANG));
	SHOW(kill(pid, 0));
	SHOW(write(ends[1], "", 1));
	SHOW(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT));
	SHOW(info.si_status);
	SHOW(waitpid(-1, &status, 0) == pid);
	SHOW(status);
	SHOW(waitpid(pid, &status, 0));
	SHOW(kill(pid, 0));
	pid = fork();
	if (!pid)
		pause();
	SHOW(kill(pid, SIGTERM));
	SHOW(wait4(pid, &status, 0, NULL) == pid);
	SHOW(status);
	SHOW(system("exit 255"));
	SHOW(system("kill -KILL $$"));
	SHOW(pclose(popen("exit 3", "r")));
	SHOW(close(ends[0]) | close(ends[1]));
	SHOW(execl("/no/such/file", "file", NULL));
}

static void ask_all(bool early)
{
	int round;

	setvbuf(stdout, NULL, _IOLBF, 0);
	for (round = 0; round < 2; round++) {
		rings = 0;
		polls();
		epolls();
		times();
		signals();
		locks();
		sockets();
		if (!early) /* a child would join in the program's place */
			children();
	}
}

/* With an argument it asks before the program has joined the run: no call is simulated yet. */
static void ask_early(int argc, char **argv, char **environment)
{
	(void)argv;
	(void)environment;
	if (argc > 1)
		ask_all(true);
}

__attribute__((section(".preinit_array"),
	       used)) static void (*const first)(int argc, char **argv,
						 char **environment) = ask_early;

int main(int argc, char **argv)
{
	(void)argv;
	if (argc == 1)
		ask_all(false);
	return 0;
}
