/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * libc: programs that wait for threads, for children and for signals in the ways of libraries of
 * C++, Rust and Python, and of shells: each argument is one. Each prints its observations and how
 * many seconds it took, so a wait in real time shows. Takes nothing of the suite.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static time_t begun;

static int seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int)(now.tv_sec - begun);
}

static struct timespec in_seconds(clockid_t clock, int n)
{
	struct timespec time;

	clock_gettime(clock, &time);
	time.tv_sec += n;
	return time;
}

/* ---- Threads ---- */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_barrier_t barrier;
static sem_t semaphore;
static uint32_t word;

static void say(const char *what, int ret)
{
	printf("%s: %s, %d s\n", what, strerrorname_np(ret) ? strerrorname_np(ret) : "0",
	       seconds());
}

static void *try_locks(void *unneeded)
{
	struct timespec until = in_seconds(CLOCK_MONOTONIC, 1);

	say("mutex", pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &until));
	until = in_seconds(CLOCK_REALTIME, 1);
	say("read", pthread_rwlock_timedrdlock(&rwlock, &until));
	until = in_seconds(CLOCK_MONOTONIC, 1);
	say("write", pthread_rwlock_clockwrlock(&rwlock, CLOCK_MONOTONIC, &until));
	until = in_seconds(CLOCK_MONOTONIC, 1);
	say("semaphore", sem_clockwait(&semaphore, CLOCK_MONOTONIC, &until) ? errno : 0);
	return unneeded;
}

static void *sleep_for_two(void *unneeded)
{
	sleep(2);
	return unneeded;
}

static int time_out(void)
{
	struct timespec until;
	pthread_t thread;

	sem_init(&semaphore, 0, 0);
	pthread_mutex_lock(&mutex);
	pthread_rwlock_wrlock(&rwlock);
	pthread_create(&thread, NULL, try_locks, NULL);
	pthread_join(thread, NULL);
	pthread_create(&thread, NULL, sleep_for_two, NULL);
	until = in_seconds(CLOCK_REALTIME, 1);
	say("join", pthread_timedjoin_np(thread, NULL, &until));
	say("join", pthread_tryjoin_np(thread, NULL));
	until = in_seconds(CLOCK_MONOTONIC, 2);
	say("join", pthread_clockjoin_np(thread, NULL, CLOCK_MONOTONIC, &until));
	return 0;
}

static void *meet(void *seconds_before)
{
	sleep((unsigned int)(uintptr_t)seconds_before);
	return (void *)(uintptr_t)(pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD);
}

/* Two rounds; in each one thread of three is the serial one. */
static int meet_at_barrier(void)
{
	pthread_t threads[3];
	uintptr_t serial = 0;
	void *result;
	int i, round;

	pthread_barrier_init(&barrier, NULL, 3);
	for (round = 0; round < 2; round++) {
		for (i = 0; i < 3; i++)
			pthread_create(&threads[i], NULL, meet, (void *)(uintptr_t)i);
		for (i = 0; i < 3; i++) {
			pthread_join(threads[i], &result);
			serial += (uintptr_t)result;
		}
		printf("round %d: %d serial, %d s\n", round, (int)serial, seconds());
	}
	return pthread_barrier_destroy(&barrier);
}

static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static int woken;

static void *wait_once(void *unused)
{
	pthread_mutex_lock(&mutex);
	pthread_cond_wait(&cond, &mutex);
	woken++;
	pthread_mutex_unlock(&mutex);
	return unused;
}

/* Three threads wait here. */
static int wake_one_then_all(void)
{
	pthread_t thread;
	int i;

	for (i = 0; i < 3; i++)
		pthread_create(&thread, NULL, wait_once, NULL);
	sleep(1);
	pthread_cond_signal(&cond);
	sleep(1);
	printf("signal: %d\n", woken);
	pthread_cond_broadcast(&cond);
	sleep(1);
	printf("broadcast: %d\n", woken);
	return 0;
}

static void leave_late(void *stack)
{
	(void)stack;
	usleep(20000);
}

static void *leave(void *key)
{
	static char *last;
	char here;

	printf("%s stack\n", !last ? "a" : last == &here ? "the same" : "another");
	last = &here;
	pthread_setspecific(*(pthread_key_t *)key, key);
	return NULL;
}

/* A thread that has ended gives its stack to the next one, however late its destructors return. */
static int leave_one_by_one(void)
{
	pthread_key_t key;
	pthread_t thread;
	int i;

	pthread_key_create(&key, leave_late);
	for (i = 0; i < 3; i++) {
		pthread_create(&thread, NULL, leave, &key);
		pthread_detach(thread);
		sleep(1);
	}
	return 0;
}

static mtx_t mtx;
static cnd_t cnd;

static int signal_later(void *unneeded)
{
	(void)unneeded;
	thrd_sleep(&(struct timespec){ .tv_sec = 2 }, NULL);
	mtx_lock(&mtx);
	word = 1;
	cnd_signal(&cnd);
	mtx_unlock(&mtx);
	return 7;
}

static int wait_as_c11_does(void)
{
	struct timespec until = in_seconds(CLOCK_REALTIME, 1);
	thrd_t thread;
	int result;

	mtx_init(&mtx, mtx_timed);
	cnd_init(&cnd);
	mtx_lock(&mtx);
	printf("%s\n", mtx_timedlock(&mtx, &until) == thrd_timedout ? "held" : "free");
	until.tv_sec++;
	thrd_create(&thread, signal_later, NULL);
	printf("%s\n", cnd_timedwait(&cnd, &mtx, &until) == thrd_timedout ? "late" : "early");
	while (!word)
		cnd_wait(&cnd, &mtx);
	mtx_unlock(&mtx);
	thrd_join(thread, &result);
	printf("%d, %d s\n", result, seconds());
	return 0;
}

static long futex(int operation, uint32_t value, const struct timespec *timeout)
{
	return syscall(SYS_futex, &word, operation, value, timeout, NULL, FUTEX_BITSET_MATCH_ANY);
}

static void *wake_later(void *unneeded)
{
	sleep(1);
	say("no change", futex(FUTEX_WAKE_PRIVATE, 1, NULL) == 1 ? 0 : EIO);
	sleep(1);
	word = 1;
	futex(FUTEX_WAKE_BITSET_PRIVATE, 1, NULL);
	return unneeded;
}

static int wait_for_futex(void)
{
	struct timespec until = in_seconds(CLOCK_MONOTONIC, 1), second = { 1, 0 };
	pthread_t thread;

	say("changed", futex(FUTEX_WAIT_PRIVATE, 1, NULL) ? errno : 0);
	say("time", futex(FUTEX_WAIT_BITSET_PRIVATE, 0, &until) ? errno : 0);
	say("time", futex(FUTEX_WAIT_PRIVATE, 0, &second) ? errno : 0);
	pthread_create(&thread, NULL, wake_later, NULL);
	while (!word)
		futex(FUTEX_WAIT_PRIVATE, 0, NULL);
	pthread_join(thread, NULL);
	say("end", 0);
	return 0;
}

/* ---- Processes ---- */

static int share_semaphore(void)
{
	sem_t *shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
			     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int status;

	sem_init(shared, 1, 0);
	if (!fork()) {
		sleep(2);
		sem_post(shared);
		_exit(5);
	}
	sem_wait(shared);
	wait(&status);
	printf("status %d, %d s\n", WEXITSTATUS(status), seconds());
	return 0;
}

static void sleep_in_child(const char *seconds)
{
	if (!vfork())
		execlp("sleep", "sleep", seconds, NULL);
}

/* Two children, the first of which ends last; then a wait for a child that does not exist. */
static int wait_for_any(void)
{
	int i, status;

	sleep_in_child("2");
	sleep_in_child("1");
	printf("none: %d\n", waitpid(-1, &status, WNOHANG));
	for (i = 0; i < 2; i++) {
		if (wait3(&status, 0, NULL) > 0)
			printf("status %d, %d s\n", status, seconds());
	}
	say("none left", wait(&status) < 0 ? errno : 0);
	return 0;
}

static int spawn_children(void)
{
	char *argv[] = { "sh", "-c", "sleep 3; exit 4", NULL }, *missing[] = { "missing", NULL };
	siginfo_t info;
	int status;
	pid_t pid;

	say("missing", posix_spawnp(&pid, "missing-program", NULL, NULL, missing, environ));
	say("shell", posix_spawnp(&pid, "sh", NULL, NULL, argv, environ));
	waitid(P_PID, (id_t)pid, &info, WEXITED);
	printf("status %d, %d s\n", info.si_status, seconds());
	status = system("sleep 1; exit 3");
	printf("system %d, %d s\n", WEXITSTATUS(status), seconds());
	return 0;
}

/* Pipes to and from a child. */
static int run_shells(void)
{
	FILE *out = popen("sleep 1; head -c 30000 /dev/zero; sleep 1; exit 6", "r");
	size_t size = 0;
	int status;

	while (fgetc(out) != EOF)
		size++;
	status = pclose(out);
	printf("%zu bytes, status %d, %d s\n", size, WEXITSTATUS(status), seconds());
	out = popen("sleep 1; wc -c", "w");
	for (size = 0; size < 30000; size++)
		fputc('x', out);
	fflush(stdout);
	return pclose(out);
}

static int ends_seen;

static void note_end(int number)
{
	(void)number;
	ends_seen++;
}

/* Waits as dash does: the handler has run when sigsuspend returns, and never earlier. */
static int wait_as_shells_do(void)
{
	struct sigaction action = { .sa_handler = note_end };
	sigset_t none, child;
	int status;

	sigaction(SIGCHLD, &action, NULL);
	sigemptyset(&none);
	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	sigprocmask(SIG_BLOCK, &child, NULL);
	if (!fork())
		execlp("sleep", "sleep", "2", NULL);
	sigsuspend(&none);
	printf("%d end, %d s, %s\n", ends_seen, seconds(),
	       waitpid(-1, &status, WNOHANG) > 0 ? "there" : "not there");
	return 0;
}

static void *kill_later(void *unneeded)
{
	sleep(1);
	kill(getpid(), SIGUSR1);
	return unneeded;
}

static int wait_for_signals(void)
{
	struct timespec second = { 1, 0 };
	pthread_t thread;
	sigset_t usr1;
	int number;

	sigemptyset(&usr1);
	sigaddset(&usr1, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &usr1, NULL);
	say("none", sigtimedwait(&usr1, NULL, &second) < 0 ? errno : 0);
	pthread_create(&thread, NULL, kill_later, NULL);
	sigwait(&usr1, &number);
	printf("%s, %d s\n", sigabbrev_np(number), seconds());
	pthread_join(thread, NULL);
	return 0;
}

static void *write_later(void *fd)
{
	sleep(1);
	return (void *)write((int)(uintptr_t)fd, "x", 1);
}

/* Two loops that ask a socket without waiting. */
static int ask_in_a_loop(void)
{
	pthread_t thread;
	char byte;
	int fds[2], i;

	for (i = 0; i < 2; i++) {
		socketpair(AF_UNIX, SOCK_STREAM | (i ? SOCK_NONBLOCK : 0), 0, fds);
		pthread_create(&thread, NULL, write_later, (void *)(uintptr_t)fds[1]);
		while (recv(fds[0], &byte, 1, i ? 0 : MSG_DONTWAIT) < 0)
			;
		printf("%c, %d s\n", byte, seconds());
		pthread_join(thread, NULL);
	}
	return 0;
}

static const struct {
	const char *name;
	int (*run)(void);
} programs[] = {
	{ "time-out", time_out },
	{ "barrier", meet_at_barrier },
	{ "wake", wake_one_then_all },
	{ "leave", leave_one_by_one },
	{ "c11", wait_as_c11_does },
	{ "futex", wait_for_futex },
	{ "shared-semaphore", share_semaphore },
	{ "any-child", wait_for_any },
	{ "spawn", spawn_children },
	{ "popen", run_shells },
	{ "sigsuspend", wait_as_shells_do },
	{ "sigwait", wait_for_signals },
	{ "non-blocking", ask_in_a_loop },
};

int main(int argc, char **argv)
{
	struct timespec now;
	size_t i;

	setvbuf(stdout, NULL, _IOLBF, 0);
	clock_gettime(CLOCK_MONOTONIC, &now);
	begun = now.tv_sec;
	for (i = 0; argc == 2 && i < sizeof(programs) / sizeof(programs[0]); i++) {
		if (!strcmp(programs[i].name, argv[1]))
			return programs[i].run();
	}
	return 2;
}
