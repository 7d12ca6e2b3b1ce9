/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * libc: threads and children. Each is a real one, and runs when the simulation gives it its turn.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "verbs-sim/calls/call.h"
#include "verbs-sim/calls/libc.h"

struct start {
	void *(*function)(void *);
	void *argument;
	struct sim_thread *thread;
};

/* Threads of this program that were not joined, to find one by its id. */
struct known {
	LIST_ENTRY(known) link;
	pthread_t id;
	struct sim_thread *thread;
};
static LIST_HEAD(knowns, known) known = LIST_HEAD_INITIALIZER(known);

/* Also if the thread ends by pthread_exit(3). */
static void end(void *unneeded)
{
	(void)unneeded;
	sim_end_thread();
}

static void *run(void *argument)
{
	struct start start = *(struct start *)argument;
	void *result;

	free(argument);
	sim_me = start.thread;
	sim_await_turn(sim_me);
	sim_learn_mask();
	sim_interrupt_spinning();
	pthread_cleanup_push(end, NULL);
	result = start.function(start.argument);
	pthread_cleanup_pop(1);
	return result;
}

static void remember(pthread_t id, struct sim_thread *thread)
{
	struct known *one = malloc(sizeof(*one));

	if (!one)
		sim_give_up(SIM_VERDICT_BROKEN, "out of memory");
	one->id = id;
	one->thread = thread;
	LIST_INSERT_HEAD(&known, one, link);
}

/* It sleeps until it is there: a library that replaces mmap(2) makes calls while it is created. */
static struct sim_thread *new_thread(void)
{
	struct sim_thread *thread = sim_new_thread(sim_me->program, SIM_THREAD_ASLEEP);

	thread->awaited[thread->n_awaited++] = thread;
	thread->deadline_ns = SIM_FOREVER;
	return thread;
}

EXPORTED int pthread_create(pthread_t *id, const pthread_attr_t *attr, void *(*function)(void *),
			    void *argument)
{
	struct sim_thread *thread;
	struct start *start;
	int ret;

	if (!sim_me)
		return REAL(pthread_create)(id, attr, function, argument);
	ret = SIM_CALL("pthread_create", EAGAIN);
	if (ret)
		return ret;
	start = malloc(sizeof(*start));
	if (!start)
		return EAGAIN;
	thread = new_thread();
	thread->blocked_signals = sim_me->blocked_signals;
	*start = (struct start){ function, argument, thread };
	ret = REAL(pthread_create)(id, attr, run, start);
	if (ret) {
		thread->state = SIM_THREAD_ENDED;
		free(start);
		return ret;
	}
	remember(*id, thread);
	thread->state = SIM_THREAD_READY;
	return 0; /* cppcheck-suppress memleak ; run frees it */
}

static struct known *find(pthread_t id)
{
	struct known *one;

	for (one = LIST_FIRST(&known); one; one = LIST_NEXT(one, link)) {
		if (pthread_equal(one->id, id))
			return one;
	}
	return NULL;
}

/* Its id may be used again. */
static void forget(struct known *one)
{
	LIST_REMOVE(one, link);
	free(one);
}

EXPORTED int pthread_join(pthread_t id, void **result)
{
	struct known *joined = sim_me ? find(id) : NULL;

	if (joined) {
		SIM_STEP("pthread_join");
		while (joined->thread->state != SIM_THREAD_ENDED)
			sim_block(joined->thread, SIM_FOREVER);
		joined->thread->state = SIM_THREAD_UNUSED;
		forget(joined);
	}
	return REAL(pthread_join)(id, result);
}

EXPORTED int pthread_detach(pthread_t id)
{
	struct known *detached = sim_me ? find(id) : NULL;

	if (detached) {
		detached->thread->detached = true;
		if (detached->thread->state == SIM_THREAD_ENDED)
			detached->thread->state = SIM_THREAD_UNUSED;
		forget(detached);
	}
	return REAL(pthread_detach)(id);
}

/* ---- Children ---- */

static void begin_child(struct sim_thread *thread)
{
	char number[16];

	snprintf(number, sizeof(number), "%d", thread->program->number);
	setenv(SIM_PROGRAM_VARIABLE, number, 1); /* it may execute another program */
	sim_me = thread;
	sim_await_turn(thread);
}

/* What the parent has of the device stays the parent's. */
EXPORTED pid_t fork(void)
{
	struct sim_program *child;
	pid_t pid;

	if (!sim_me)
		return REAL(fork)();
	SIM_CALL_OR(-1, "fork", EAGAIN, ENOMEM);
	if (sim_world->n_programs == SIM_MOST_PROGRAMS)
		sim_give_up(SIM_VERDICT_BROKEN, "more than %d programs", SIM_MOST_PROGRAMS);
	child = &sim_world->programs[sim_world->n_programs];
	child->number = sim_world->n_programs++;
	child->forked = child->excused = true;
	child->main_thread = sim_new_thread(child, SIM_THREAD_READY);
	child->main_thread->blocked_signals = sim_me->blocked_signals;
	pid = REAL(fork)();
	if (pid < 0)
		sim_give_up(SIM_VERDICT_BROKEN, "fork: %s", strerror(errno));
	if (!pid) {
		begin_child(child->main_thread);
		return 0;
	}
	child->pid = pid;
	kill(sim_world->runner_pid, SIGUSR1); /* it has to notice the end */
	return pid;
}

/* The newest: a run with many programs may use a number again. */
static struct sim_program *find_child(pid_t pid)
{
	int i;

	for (i = sim_world->n_programs - 1; i >= 0; i--) {
		if (sim_world->programs[i].forked && sim_world->programs[i].pid == pid)
			return &sim_world->programs[i];
	}
	return NULL;
}

EXPORTED pid_t waitpid(pid_t pid, int *status, int options)
{
	struct sim_program *child;

	if (!sim_me)
		return REAL(waitpid)(pid, status, options);
	SIM_CALL_OR(-1, "waitpid", EINTR, ECHILD);
	child = find_child(pid);
	if (!child)
		sim_unknown("waitpid for another than a child that was forked");
	while (child->state != SIM_PROGRAM_ENDED && !(options & WNOHANG)) {
		if (sim_block(child, SIM_FOREVER) && !sim_restarts()) {
			errno = EINTR;
			return -1;
		}
	}
	return child->state == SIM_PROGRAM_ENDED ? REAL(waitpid)(pid, status, options) : 0;
}
