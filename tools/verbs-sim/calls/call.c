/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Entering a call: counting, noting and tracing it, making it fail if --fail says so, and letting
 * other threads go on. See call.h.
 */
#include <ctype.h>
#include <errno.h>
#include <execinfo.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "verbs-sim/calls/call.h"
#include "verbs-sim/calls/libc.h"

#define CALL_NS 100 /* the cost of each call */
#define IDLE_NS 200 /* the least cost of a call that finds nothing */
#define IDLE_PART \
	2048 /* or this part of the idle time, if more: a program that reads the clock only
			  now and then is not late by much */

__thread struct sim_thread *sim_left;

void sim_use_cpu(uint64_t ns)
{
	sim_world->now_ns += ns;
	if (!sim_world->cpus) /* otherwise core/cpus.c charges it */
		sim_me->program->cpu_ns += ns;
}

/* Tells the runner that the program has written something, if a step awaits its output. */
static void show_output(void)
{
	struct sim_program *program = sim_me->program;
	struct stat out, err;
	int saved = errno;

	if (!program->watched)
		return;
	if (!fstat(STDOUT_FILENO, &out) && !fstat(STDERR_FILENO, &err) &&
	    out.st_size + err.st_size != program->written) {
		program->written = out.st_size + err.st_size;
		__atomic_store_n(&sim_world->runner_is_needed, 1, __ATOMIC_RELEASE);
	}
	errno = saved;
}

/* In a verb, keeps the name of the call that the program has made. */
void sim_name_call(const char *name)
{
	if (sim_in_verb)
		return;
	strncpy(sim_me->call, name, sizeof(sim_me->call) - 1);
}

int sim_enter(const char *name, const int *ways)
{
	int ret;

	if (sim_inside)
		return 0;
	if (!sim_me)
		sim_me = sim_left;
	if (!sim_me)
		sim_unknown(
			"a call into the libraries from a thread that pthread_create did not create");
	sim_name_call(name);
	sim_me->looked_ns = 0;
	sim_use_cpu(CALL_NS);
	sim_note(name, (uint64_t)(sim_me - sim_world->threads));
	sim_count(name);
	ret = sim_commit_fault(name, ways);
	if (*ways && !sim_in_verb && islower((unsigned char)*name)) /* the program's own */
		sim_cover_call(name, ret);
	show_output();
	sim_point();
	sim_run_handlers();
	return sim_number(ret);
}

void sim_pass(const char *name)
{
	sim_name_call(name);
	sim_note(name, (uint64_t)(sim_me - sim_world->threads));
	show_output();
	sim_point();
	sim_run_handlers();
}

static bool block_for(const void *const *awaited, int n, uint64_t deadline_ns)
{
	if (sim_run_handlers())
		return true;
	show_output();
	sim_sleep(awaited, n, deadline_ns);
	return sim_run_handlers();
}

bool sim_block_for(const void *const *awaited, int n, uint64_t deadline_ns)
{
	sim_me->program->sleeps++;
	sim_me->idles = false;
	return block_for(awaited, n, deadline_ns);
}

bool sim_block(const void *awaited, uint64_t deadline_ns)
{
	return sim_block_for(&awaited, 1, deadline_ns);
}

uint64_t sim_step_of(uint64_t spent_ns, uint64_t least_ns, uint64_t part)
{
	return spent_ns / part > least_ns ? spent_ns / part : least_ns;
}

void sim_poll_until(const void *awaited, uint64_t deadline_ns)
{
	uint64_t before_ns = sim_world->now_ns;

	sim_me->polls = sim_me->idles = true;
	block_for(&awaited, 1, deadline_ns);
	sim_me->polls = false;
	if (!sim_world->cpus)
		sim_me->program->cpu_ns += sim_world->now_ns - before_ns;
}

void sim_idle(const void *awaited)
{
	uint64_t before_ns = sim_world->now_ns;
	uint64_t ns = sim_step_of(sim_me->idle_ns, IDLE_NS, IDLE_PART);

	sim_poll_until(awaited, before_ns + ns);
	sim_me->idle_ns += sim_world->now_ns - before_ns;
}

void sim_found(void)
{
	sim_me->idle_ns = 0;
	sim_me->idles = false;
}

#define LOSES_PROCESSOR 16 /* on average, one of this many posts delays */
#define LOST_NS         30000

void sim_lose_processor(void)
{
	if (!sim_world->cpus && sim_rarely(LOSES_PROCESSOR))
		sim_sleep(NULL, 0, sim_world->now_ns + sim_random(LOST_NS));
}

/* Says where a call comes from: the name of a function, if it has one, or a place in a file. */
static void name_caller(char *to, size_t size)
{
	Dl_info own, caller = { .dli_fname = NULL };
	void *places[32];
	int i, n = backtrace(places, 32);

	snprintf(to, size, "an unknown place");
	if (!dladdr(places[0], &own))
		return;
	for (i = 1; i < n; i++) {
		if (!dladdr(places[i], &caller) || caller.dli_fbase == own.dli_fbase)
			continue;
		if (caller.dli_sname)
			snprintf(to, size, "%s in %s", caller.dli_sname, caller.dli_fname);
		else
			snprintf(to, size, "%s+0x%tx", caller.dli_fname,
				 (char *)places[i] - (char *)caller.dli_fbase);
		return;
	}
}

void sim_unknown(const char *what)
{
	char caller[120];

	if (!sim_world) {
		dprintf(STDERR_FILENO, "verbs-sim: %s is not simulated, nor is this process\n",
			what);
		_exit(127);
	}
	name_caller(caller, sizeof(caller));
	sim_give_up(SIM_VERDICT_UNKNOWN, "%s is not simulated, which program %d calls from %s",
		    what, sim_me ? sim_me->program->number : -1, caller);
}

uint64_t sim_deadline(uint64_t ns)
{
	return ns < SIM_FOREVER - sim_world->now_ns ? sim_world->now_ns + ns : SIM_FOREVER;
}

bool sim_is_point(const struct timespec *time)
{
	return time->tv_nsec >= 0 && time->tv_nsec < 1000000000;
}

bool sim_is_span(const struct timespec *time)
{
	return time->tv_sec >= 0 && sim_is_point(time);
}

uint64_t sim_ns_of(const struct timespec *time)
{
	return (uint64_t)time->tv_sec * 1000000000 + (uint64_t)time->tv_nsec;
}
