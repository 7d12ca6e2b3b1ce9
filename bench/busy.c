/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Other work beside a measurement, and what helps against it.
 *
 * busy work RATIO [own]: RATIO times as many workers as CPUs, at least one, each on a CPU of its own
 * as far as there are enough; with "own", none on the CPUs of "busy own". Every second worker
 * computes, the others walk through memory. Each 50 ms a line says what they have done so far. It
 * ends when nobody reads its lines.
 *
 * busy nice|batch|fifo|slack|own COMMAND...: executes a command with a nice value of -10, with
 * SCHED_BATCH or SCHED_FIFO, with a timer slack of 1 ns, or on the last CPUs (one; two, if there
 * are four).
 */
#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "common/clock.h"

#define MOST      256     /* workers */
#define STEPS     2000    /* one piece of work has so many: some microseconds */
#define WALKED    8000000 /* bytes: more than a CPU's own caches have */
#define LINE      64      /* bytes of a cache line */
#define PERIOD_NS 50000000

/* The pieces of work that a worker has done. Each is on a cache line of its own. */
struct worker {
	_Atomic uint64_t done;
	pid_t pid;
	char fill[LINE - sizeof(uint64_t) - sizeof(pid_t)];
};

static cpu_set_t cpus; /* those that this process may use */

/* Returns the number of the Nth CPU that may be used. */
static int nth_cpu(int n)
{
	int cpu;

	for (cpu = 0; !CPU_ISSET(cpu, &cpus) || n--; cpu++)
		;
	return cpu;
}

static int own_cpus(void)
{
	return CPU_COUNT(&cpus) >= 4 ? 2 : 1;
}

static void pin(int first, int n)
{
	cpu_set_t chosen;
	int i;

	CPU_ZERO(&chosen);
	for (i = 0; i < n; i++)
		CPU_SET(nth_cpu(first + i), &chosen);
	sched_setaffinity(0, sizeof(chosen), &chosen);
}

static void compute(struct worker *worker)
{
	uint64_t value = 1;
	int i;

	for (;; worker->done++) {
		for (i = 0; i < STEPS; i++)
			value = value * 6364136223846793005u + 1442695040888963407u;
		__asm__ volatile("" : : "r"(value));
	}
}

static void walk(struct worker *worker)
{
	static volatile char memory[WALKED];
	size_t at;
	int i;

	for (at = 0; at < WALKED; at += LINE)
		memory[at] = 1; /* the kernel gives the pages before the first count */
	for (;; worker->done++) {
		for (i = 0; i < STEPS; i++, at = (at + LINE) % WALKED)
			memory[at]++;
	}
}

static bool walks(int number)
{
	return (number + number / CPU_COUNT(&cpus)) % 2;
}

/* Prints what each kind of worker has done, and the CPU time of all. */
static int report(const struct worker *workers, int count, int n)
{
	uint64_t done[2] = { 0 }, cpu_ns = 0;
	struct timespec used;
	clockid_t clock;
	int i, walkers = 0;

	for (i = 0; i < count; i++) {
		walkers += walks(i);
		done[walks(i)] += workers[i].done;
		if (!clock_getcpuclockid(workers[i].pid, &clock) && !clock_gettime(clock, &used))
			cpu_ns += (uint64_t)used.tv_sec * OUR_NS_PER_S + (uint64_t)used.tv_nsec;
	}
	printf("{\"ns\": %" PRIu64
	       ", \"cpus\": %d, \"free\": %d, \"computers\": %d, \"walkers\": %d, \"computed\": %" PRIu64
	       ", \"walked\": %" PRIu64 ", \"cpu_ns\": %" PRIu64 "}\n",
	       our_now_ns(), CPU_COUNT(&cpus), n, count - walkers, walkers, done[0], done[1],
	       cpu_ns);
	return fflush(stdout);
}

static int work(double ratio, bool spares)
{
	const struct timespec period = { .tv_nsec = PERIOD_NS };
	pid_t pid;
	int all = CPU_COUNT(&cpus), n = spares ? all - own_cpus() : all;
	int i, count = (int)(ratio * all + 0.5);
	struct worker *workers = mmap(NULL, MOST * sizeof(*workers), PROT_READ | PROT_WRITE,
				      MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	count = count < 1 ? 1 : count > MOST ? MOST : count;
	if (workers == MAP_FAILED || n < 1) {
		fprintf(stderr, "busy: %s\n",
			n < 1 ? "one CPU is too few for workers and a CPU of one's own"
			      : strerror(errno));
		return 1;
	}
	for (i = 0; i < count; i++) {
		pid = fork();
		if (!pid) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			pin(i % n, 1);
			(walks(i) ? walk : compute)(&workers[i]);
		}
		if (pid < 0) {
			fprintf(stderr, "busy: fork: %s\n", strerror(errno));
			return 1;
		}
		workers[i].pid = pid;
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	setpriority(PRIO_PROCESS, 0, -20); /* if it may; its lines tell the time anyway */
	while (!report(workers, count, n))
		nanosleep(&period, NULL);
	return 1;
}

static int help(const char *how)
{
	struct sched_param param = { .sched_priority = !strcmp(how, "fifo") };

	if (!strcmp(how, "nice"))
		return setpriority(PRIO_PROCESS, 0, -10);
	if (!strcmp(how, "fifo") || !strcmp(how, "batch"))
		return sched_setscheduler(0, *how == 'f' ? SCHED_FIFO : SCHED_BATCH, &param);
	if (!strcmp(how, "slack"))
		return prctl(PR_SET_TIMERSLACK, 1);
	if (!strcmp(how, "own"))
		pin(CPU_COUNT(&cpus) - own_cpus(), own_cpus());
	errno = EINVAL;
	return strcmp(how, "own");
}

int main(int argc, char **argv)
{
	sched_getaffinity(0, sizeof(cpus), &cpus);
	if (argc >= 3 && !strcmp(argv[1], "work") && atof(argv[2]) > 0)
		return work(atof(argv[2]), argc > 3);
	if (argc < 3 || !strcmp(argv[1], "work")) {
		fprintf(stderr,
			"usage: busy work RATIO [own] | busy nice|batch|fifo|slack|own COMMAND...\n");
		return 2;
	}
	if (!help(argv[1]))
		execvp(argv[2], argv + 2);
	fprintf(stderr, "busy: %s: %s\n", argv[1], strerror(errno));
	return 1;
}
