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
#include <unistd.h>

#include "verbs-sim/calls/call.h"
#include "verbs-sim/calls/signals.h"
#include "verbs-sim/device/objects.h"

static void refuse(const char *why, int error)
{
	fprintf(stderr, "verbs-sim: %s: %s\n", why, strerror(error));
	_exit(127);
}

static void map_world(const char *path)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);
	int ret = fd < 0 ? errno : sim_map_world(fd);

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

EXPORTED pid_t fork(void)
{
	if (sim_me)
		sim_unknown("fork");
	return REAL(fork)();
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
