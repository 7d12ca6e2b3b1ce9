/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * One run: the programs are started, and the runner has the turn when one of them ends, and when
 * none can go on. See runner.h.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "verbs-sim/core/schedule.h"
#include "verbs-sim/device/objects.h"
#include "verbs-sim/runner/runner.h"

struct run {
	const struct sim_options *options;
	struct sim_result *result;
	pid_t pids[SIM_MOST_PROGRAMS]; /* of the children; 0: it has ended */
	int pidfds[SIM_MOST_PROGRAMS]; /* readable when the program has ended */
	bool stopped;                  /* all were told to stop, because all slept */
	uint64_t seen;                 /* turns so far, when the runner last looked */
};

/* ---- Starting ---- */

static void set_up_world(const struct sim_options *options, uint64_t seed)
{
	static const uint32_t preempts[] = { 2, 3, 8, 30 };

	sim_world->seed = seed;
	sim_world->random = seed * 0x9e3779b97f4a7c15ull + 0x2545f4914f6cdd1dull;
	sim_make_devices(options->devices, options->n_devices);
	sim_world->trace = options->trace;
	sim_world->strict = options->strict;
	memcpy(sim_world->faults, options->faults, sizeof(sim_world->faults));
	sim_world->n_faults = options->n_faults;
	sim_world->runner_pid = getpid();
	sim_world->patience_ns = options->patience_ns;
	sim_world->running = &sim_world->runner;
	sim_random(1); /* the first numbers of neighbouring seeds are alike */
	sim_world->preempt = preempts[sim_random(4)];
	sim_choose_strategy(options->strategy == 1 || (options->strategy == 2 && seed % 2));
}

static void start_all(struct run *run, int world_fd)
{
	const struct sim_options *options = run->options;
	struct sim_program *program;
	int i;

	sim_world->n_programs = options->n_programs;
	for (i = 0; i < options->n_programs; i++) {
		program = &sim_world->programs[i];
		program->number = i;
		program->main_thread = sim_new_thread(program, SIM_THREAD_NEW);
		run->pids[i] = sim_start(options, i, world_fd);
		run->pidfds[i] = (int)syscall(SYS_pidfd_open, run->pids[i], 0);
	}
}

/* ---- Waiting ---- */

/*
 * Sleeps until a program ends, or a signal says that it is the runner's turn; not longer than a
 * second.
 */
static void wait_for_news(struct run *run)
{
	struct pollfd fds[SIM_MOST_PROGRAMS];
	struct timespec second = { 1, 0 };
	sigset_t none;
	int i;

	for (i = 0; i < run->options->n_programs; i++)
		fds[i] = (struct pollfd){ .fd = run->pids[i] ? run->pidfds[i] : -1,
					  .events = POLLIN };
	sigemptyset(&none);
	ppoll(fds, (nfds_t)run->options->n_programs, &second, &none);
}

static int status_of(int status)
{
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static bool has_turn(void)
{
	return __atomic_load_n(&sim_world->running, __ATOMIC_ACQUIRE) == &sim_world->runner;
}

/* A program has ended: what it has left is destroyed, and its peers are told. With the turn. */
static void bury(struct run *run, int number)
{
	struct sim_program *program = &sim_world->programs[number];
	uint32_t i;

	for (i = 0; i < sim_world->n_threads; i++) {
		if (sim_world->threads[i].program == program)
			sim_world->threads[i].state = SIM_THREAD_ENDED;
	}
	program->state = SIM_PROGRAM_ENDED;
	sim_world->patience_ns = sim_world->now_ns + run->options->patience_ns;
	sim_cancel(&program->alarm);
	sim_end_objects(program);
	sim_wake_descriptor(NULL, sim_any_file);
	sim_note("end", (uint64_t)number << 32 | (unsigned int)run->result->status[number]);
}

/* The program that had the turn has ended, or one that had not: then the turn is asked for. */
static void take_turn(const struct run *run, int number)
{
	const struct sim_thread *running = sim_world->running;

	(void)run;
	if (running->program == &sim_world->programs[number])
		sim_world->running = &sim_world->runner;
	else if (!has_turn())
		__atomic_store_n(&sim_world->runner_is_needed, 1, __ATOMIC_RELEASE);
}

/* Returns true if a program has ended whose end was not handled yet. */
static bool reap(struct run *run)
{
	int i, status;

	for (i = 0; i < run->options->n_programs; i++) {
		if (!run->pids[i] || waitpid(run->pids[i], &status, WNOHANG) <= 0)
			continue;
		run->pids[i] = 0;
		close(run->pidfds[i]);
		run->result->status[i] = status_of(status);
		take_turn(run, i);
	}
	for (i = 0; i < run->options->n_programs; i++) {
		if (!run->pids[i] && sim_world->programs[i].state != SIM_PROGRAM_ENDED)
			return true;
	}
	return false;
}

static void bury_all(struct run *run)
{
	int i;

	for (i = 0; i < run->options->n_programs; i++) {
		if (!run->pids[i] && sim_world->programs[i].state != SIM_PROGRAM_ENDED)
			bury(run, i);
	}
	__atomic_store_n(&sim_world->runner_is_needed, 0, __ATOMIC_RELEASE);
}

/* ---- When nobody can go on ---- */

static bool any_alive(const struct run *run)
{
	int i;

	for (i = 0; i < run->options->n_programs; i++) {
		if (run->pids[i])
			return true;
	}
	return false;
}

static void kill_all(struct run *run)
{
	int i;

	for (i = 0; i < run->options->n_programs; i++) {
		if (run->pids[i])
			kill(run->pids[i], SIGKILL);
	}
	for (i = 0; i < run->options->n_programs; i++) {
		if (run->pids[i])
			waitpid(run->pids[i], NULL, 0);
	}
}

static void say_who_sleeps(void)
{
	const struct sim_thread *thread = sim_world->threads;

	for (; thread < sim_world->threads + sim_world->n_threads; thread++) {
		if (thread->state == SIM_THREAD_ASLEEP)
			fprintf(stderr, "verbs-sim: program %d, thread %u sleeps in %s\n",
				thread->program->number, thread->number, thread->call);
	}
}

/*
 * All sleep: they are told to stop, once, as a user would; if they sleep again, that is the
 * finding.
 */
static void wake_sleepers(struct run *run)
{
	int i;

	if (run->stopped) {
		say_who_sleeps();
		sim_world->verdict = SIM_VERDICT_ASLEEP;
		snprintf(sim_world->reason, sizeof(sim_world->reason), "%s",
			 sim_world->now_ns > sim_world->patience_ns ? "it does not end"
								    : "all sleep forever");
		return;
	}
	run->stopped = true;
	sim_world->patience_ns = sim_world->now_ns + run->options->patience_ns;
	for (i = 0; i < run->options->n_programs; i++) {
		if (!run->pids[i])
			continue;
		sim_world->programs[i].told = true;
		sim_send_signal(&sim_world->programs[i], SIGTERM);
	}
}

/* Somebody has the turn, and makes no call. */
static void watch(struct run *run, int *seconds)
{
	const struct sim_thread *running = sim_world->running;
	uint64_t now = sim_world->hash;

	if (now != run->seen || has_turn() || run->options->gdb >= 0) {
		*seconds = 0;
		run->seen = now;
	} else if (++*seconds > run->options->limit_s) {
		sim_world->verdict = SIM_VERDICT_STUCK;
		snprintf(sim_world->reason, sizeof(sim_world->reason),
			 "program %d, thread %u has made no call for %d s, after %s",
			 running->program->number, running->number, run->options->limit_s,
			 running->call);
	}
}

/* ---- The run ---- */

static bool all_have_joined(const struct run *run)
{
	int i;

	for (i = 0; i < run->options->n_programs; i++) {
		if (run->pids[i] && !sim_world->programs[i].pid)
			return false;
	}
	return true;
}

static void go_on(struct run *run)
{
	bury_all(run);
	if (!any_alive(run) || sim_world->verdict)
		return;
	sim_pass_on();
	/* The runner itself was chosen: no thread will ever go on by itself. */
	if (has_turn() && !sim_world->verdict)
		wake_sleepers(run);
}

static void run_to_end(struct run *run)
{
	int seconds = 0;

	while (!all_have_joined(run)) {
		wait_for_news(run);
		reap(run);
	}
	while (any_alive(run) && !sim_world->verdict) {
		if (has_turn())
			go_on(run);
		if (!has_turn()) {
			wait_for_news(run);
			watch(run, &seconds);
		}
		reap(run);
	}
	kill_all(run);
	if (has_turn())
		bury_all(run);
}

int sim_run(const struct sim_options *options, uint64_t seed)
{
	struct sim_result result = { .exit = 0 };
	struct run run = { .options = options, .result = &result };
	int world_fd = sim_create_world();

	if (world_fd < 0) {
		fprintf(stderr, "verbs-sim: no memory for the simulation: %s\n", strerror(errno));
		return SIM_EXIT_BROKEN;
	}
	set_up_world(options, seed);
	start_all(&run, world_fd);
	run_to_end(&run);
	sim_report(options, &result);
	munmap(sim_world, SIM_WORLD_SIZE);
	close(world_fd);
	return result.exit;
}
