/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The process: how it joins the world before its main begins, and what it may not do.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <unistd.h>

#include "verbs-sim/calls/call.h"
#include "verbs-sim/calls/libc.h"
#include "verbs-sim/transfer/transfer.h"

static void refuse(const char *why, int error)
{
	fprintf(stderr, "verbs-sim: %s: %s\n", why, strerror(error));
	_exit(127);
}

static void map_world(const char *path)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);
	int ret = fd < 0 ? errno : sim_map_world(fd, sim_carry_out);

	if (ret)
		refuse("this program cannot share the simulation's memory", ret);
	REAL(close)(fd);
}

/* Others copy from and to its memory, for which a kernel with Yama wants its consent. */
static void let_others_copy(void)
{
#ifdef PR_SET_PTRACER
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
#endif
}

/*
 * What runs behind the program's own exit handlers, such as the search for leaks of a sanitizer, is
 * not simulated. The thread keeps its turn: see runner/run.c.
 */
static void leave(void)
{
	sim_me = NULL;
}

/*
 * The first thread of the program waits for its turn; after an execve(2) of its own it has it
 * already.
 */
static void join(struct sim_program *program)
{
	bool again = program->pid == getpid();

	let_others_copy();
	atexit(leave);
	if (again) {
		sim_me = program->main_thread;
		sim_end_objects(program);
		memset(program->left, 0, sizeof(program->left));
		return;
	}
	program->pid = getpid();
	kill(sim_world->runner_pid, SIGUSR1);
	sim_await_turn(program->main_thread);
	sim_me = program->main_thread;
	sim_me->state = SIM_THREAD_READY;
	sim_learn_mask();
}

__attribute__((constructor)) static void join_world(void)
{
	const char *path = getenv(SIM_WORLD_VARIABLE), *number = getenv(SIM_PROGRAM_VARIABLE);
	struct sim_program *program;

	if (!path || !number)
		return;
	map_world(path);
	program = &sim_world->programs[atoi(number)];
	if (!program->pid || program->pid == getpid())
		join(program);
	else
		sim_world = NULL; /* a program that this one has started is not simulated */
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

static struct sim_program *find_child(pid_t pid)
{
	int i;

	for (i = 0; i < sim_world->n_programs; i++) {
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

/* A number of the seed's, as from the kernel's generator. */
EXPORTED ssize_t getrandom(void *buf, size_t buflen, unsigned int flags)
{
	uint8_t *byte = buf;
	size_t i;

	if (!sim_me)
		return REAL(getrandom)(buf, buflen, flags);
	for (i = 0; i < buflen; i++)
		byte[i] = (uint8_t)sim_random(256);
	return (ssize_t)buflen;
}
