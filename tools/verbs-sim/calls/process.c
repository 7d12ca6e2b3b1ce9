/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The process: joining the world before main begins, and the calls that a program may not make.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "verbs-sim/calls/call.h"
#include "verbs-sim/calls/libc.h"
#include "verbs-sim/transfer/transfer.h"

/* The runner loads this library, too, but does not preload it. */
static void refuse_alone(void)
{
	const char *preloaded = getenv("LD_PRELOAD");

	if (!preloaded || !strstr(preloaded, "libverbs-sim.so"))
		return;
	fputs("verbs-sim: libverbs-sim.so simulates nothing if it is only preloaded: start the program "
	      "by \"verbs-sim -- PROGRAM\", without LD_PRELOAD\n",
	      stderr);
	_exit(127);
}

static void map_world(const char *path)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);
	int ret = fd < 0 ? errno : sim_map_world(fd, sim_carry_out);

	if (ret) {
		fprintf(stderr, "verbs-sim: %s: %s\n",
			ret == EEXIST
				? "this program has something else where the simulation's memory "
				  "has to be"
				: "this program cannot share the simulation's memory",
			strerror(ret));
		_exit(127);
	}
	REAL(close)(fd);
}

/* Other programs copy from and to this one's memory, for which a kernel with Yama wants its consent. */
static void let_others_copy(void)
{
#ifdef PR_SET_PTRACER
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
#endif
}

/*
 * Code that runs behind the program's own exit handlers, such as the search for leaks of a
 * sanitizer, is not simulated, up to a call into the libraries, which a destructor may make. The
 * thread keeps its turn: see runner/run.c.
 */
static void leave(void)
{
	sim_left = sim_me;
	sim_me = NULL;
}

/* Called after an execve(2), which ends all threads but one. */
static void join_again(struct sim_program *program)
{
	struct sim_thread *thread = sim_world->threads;

	for (; thread < sim_world->threads + sim_world->n_threads; thread++) {
		if (thread->program == program)
			thread->state = SIM_THREAD_UNUSED;
	}
	sim_me = sim_world->running = program->main_thread;
	sim_me->state = SIM_THREAD_READY;
	sim_destroy_objects(program);
	memset(program->left, 0, sizeof(program->left));
}

/*
 * The first thread of the program waits for its turn; after an execve(2) it has the turn
 * already.
 */
static void join(struct sim_program *program, bool spawned)
{
	char number[16];

	let_others_copy();
	atexit(leave);
	if (!spawned && program->pid == getpid()) {
		join_again(program);
		return;
	}
	program->pid = getpid();
	if (sim_world->steps) /* stdout is a file, and a step has to see each line there */
		setvbuf(stdout, NULL, _IOLBF, 0);
	if (spawned) { /* a program that this one executes itself is not spawned */
		snprintf(number, sizeof(number), "%d", program->number);
		setenv(SIM_PROGRAM_VARIABLE, number, 1);
	} else {
		sim_learn_streams(program);
	}
	sim_signal_runner(SIGUSR1);
	sim_await_turn(program->main_thread);
	sim_me = program->main_thread;
	sim_me->state = SIM_THREAD_READY;
	sim_learn_mask();
}

__attribute__((constructor)) static void join_world(void)
{
	const char *path = getenv(SIM_WORLD_VARIABLE), *number = getenv(SIM_PROGRAM_VARIABLE);
	struct sim_program *program;

	if (!path || !number) {
		refuse_alone();
		return;
	}
	map_world(path);
	program = &sim_world->programs[atoi(number)];
	if (!program->pid || program->pid == getpid())
		join(program, strchr(number, SIM_SPAWNED));
	else
		sim_world = NULL; /* a program that this one has started is not simulated */
}

/*
 * ---- Calls that a program may not make ----
 *
 * Calls that may block, and that are not simulated: the run ends, and names them. Outside a simulated
 * thread they do as before. The arguments of each fit into registers, whatever their types are, so one
 * form serves all. Each function has another name here, because headers declare some of them.
 */

#define UNKNOWN(name)                                                                       \
	long unknown_##name(long a, long b, long c, long d, long e, long f) __asm__(#name); \
	EXPORTED long unknown_##name(long a, long b, long c, long d, long e, long f)        \
	{                                                                                   \
		long (*real)(long, long, long, long, long, long);                           \
		if (sim_me)                                                                 \
			sim_unknown(#name);                                                 \
		*(void **)&real = dlsym(RTLD_NEXT, #name);                                  \
		return real(a, b, c, d, e, f);                                              \
	}

UNKNOWN(epoll_pwait2)
UNKNOWN(flock)
UNKNOWN(lockf)
UNKNOWN(mq_receive)
UNKNOWN(mq_send)
UNKNOWN(msgrcv)
UNKNOWN(msgsnd)
UNKNOWN(semop)
UNKNOWN(semtimedop)
UNKNOWN(recvmmsg)
UNKNOWN(sendmmsg)
UNKNOWN(timer_create)
UNKNOWN(daemon)
UNKNOWN(io_uring_setup)
UNKNOWN(io_uring_queue_init)
UNKNOWN(io_uring_queue_init_params)
