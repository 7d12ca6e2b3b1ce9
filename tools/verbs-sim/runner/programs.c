/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The programs of a run as processes: loading, waiting, killing; and telling others of their ends.
 * See runner.h.
 */
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "verbs-sim/core/schedule.h"
#include "verbs-sim/runner/runner.h"
#include "verbs-sim/transfer/transfer.h"

#define LOADING_NS 1000000 /* the time that a program takes to begin: others go on meanwhile */

bool sim_has_turn(void)
{
	return __atomic_load_n(&sim_world->running, __ATOMIC_ACQUIRE) == &sim_world->runner;
}

bool sim_any_alive(const struct sim_run *run)
{
	int i;

	for (i = 0; i < sim_world->n_programs; i++) {
		if (run->pids[i])
			return true;
	}
	return false;
}

/* Adopts forked programs: the runner is not their parent. */
static void adopt(struct sim_run *run)
{
	const struct sim_program *program;
	int i;

	for (i = 0; i < sim_world->n_programs; i++) {
		program = &sim_world->programs[i];
		if (!program->forked || !program->pid || run->pidfds[i])
			continue;
		run->pids[i] = program->pid;
		run->pidfds[i] = (int)syscall(SYS_pidfd_open, program->pid, 0);
	}
}

void sim_wait_for_news(struct sim_run *run)
{
	struct pollfd fds[SIM_MOST_PROGRAMS];
	struct timespec second = { 1, 0 };
	sigset_t none;
	int i;

	adopt(run);
	for (i = 0; i < sim_world->n_programs; i++)
		fds[i] = (struct pollfd){ .fd = run->pids[i] ? run->pidfds[i] : -1,
					  .events = POLLIN };
	sigemptyset(&none);
	ppoll(fds, (nfds_t)sim_world->n_programs, &second, &none);
}

/* ---- Ends ---- */

static void keep_status(struct sim_result *result, int number, int status)
{
	result->signal[number] = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
	result->status[number] = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* Handles the end of a program: destroys what it has left, and tells its peers. Needs the turn. */
static void bury(struct sim_run *run, int number)
{
	struct sim_program *program = &sim_world->programs[number];
	uint32_t i;

	for (i = 0; i < sim_world->n_threads; i++) {
		if (sim_world->threads[i].program == program)
			sim_world->threads[i].state = SIM_THREAD_UNUSED;
	}
	program->state = SIM_PROGRAM_ENDED;
	if (run->options->hushed)
		sim_take_last_words(&run->streams[number], program->last_words,
				    sizeof(program->last_words));
	else if (!run->options->apart)
		sim_print_kept(&run->streams[number]);
	if (!run->steps.file)
		sim_world->patience_ns = sim_world->now_ns + run->options->patience_ns;
	sim_cancel(&program->alarm);
	sim_destroy_objects(program);
	sim_wake_descriptor(NULL, sim_any_file);
	sim_wake(NULL, program);
	if (program->parent && program->parent->state != SIM_PROGRAM_ENDED) {
		sim_wake(NULL, program->parent);
		sim_send_signal(program->parent, SIGCHLD);
	}
	sim_note("end", (uint64_t)number << 32 | (unsigned int)run->result->status[number]);
}

/* Takes the turn of a program that has ended, or asks for it if another one has it. */
static void take_turn(int number)
{
	const struct sim_thread *running = sim_world->running;
	struct sim_program *program = &sim_world->programs[number];

	if (running->program == program) {
		memcpy(program->last_call, running->call, sizeof(running->call));
		sim_world->running = &sim_world->runner;
	} else if (!sim_has_turn()) {
		__atomic_store_n(&sim_world->runner_is_needed, 1, __ATOMIC_RELEASE);
	}
}

/* Returns true if a program has ended. Only the parent of a forked program learns its status. */
static bool has_ended(struct sim_run *run, int number)
{
	struct pollfd pollfd = { .fd = run->pidfds[number], .events = POLLIN };
	int status;

	if (sim_world->programs[number].forked)
		return pollfd.fd < 0 || poll(&pollfd, 1, 0) > 0;
	if (waitpid(run->pids[number], &status, WNOHANG) <= 0)
		return false;
	keep_status(run->result, number, status);
	return true;
}

void sim_reap(struct sim_run *run)
{
	int i;

	adopt(run); /* a child may outlive its parent */
	for (i = 0; i < sim_world->n_programs; i++) {
		if (!run->pids[i] || !has_ended(run, i))
			continue;
		run->pids[i] = 0;
		close(run->pidfds[i]);
		take_turn(i);
	}
}

void sim_bury_all(struct sim_run *run)
{
	int i;

	adopt(run);
	for (i = 0; i < sim_world->n_programs; i++) {
		if (!run->pids[i] && sim_world->programs[i].state != SIM_PROGRAM_ENDED)
			bury(run, i);
	}
	__atomic_store_n(&sim_world->runner_is_needed, 0, __ATOMIC_RELEASE);
}

static void kill_one(struct sim_run *run, int number)
{
	kill(run->pids[number], SIGKILL);
	while (run->pids[number]) {
		sim_reap(run);
		if (run->pids[number])
			sim_wait_for_news(run);
	}
}

void sim_kill_program(struct sim_run *run, int number)
{
	kill_one(run, number);
	sim_bury_all(run);
}

void sim_kill_all(struct sim_run *run)
{
	int i;

	for (i = 0; i < sim_world->n_programs; i++) {
		if (run->pids[i])
			kill_one(run, i);
	}
	if (sim_has_turn())
		sim_bury_all(run);
}

/* ---- Beginnings ---- */

static bool all_have_joined(const struct sim_run *run)
{
	int i;

	for (i = 0; i < sim_world->n_programs; i++) {
		if (run->pids[i] && !sim_world->programs[i].pid)
			return false;
	}
	return true;
}

static void await_joined(struct sim_run *run)
{
	while (!all_have_joined(run)) {
		sim_wait_for_news(run);
		sim_reap(run);
	}
}

static struct sim_thread *add(struct sim_run *run, char **argv, enum sim_thread_state state,
			      const struct sim_streams *streams)
{
	struct sim_program *program = sim_new_program(state);
	int number = program->number;

	run->streams[number] = *streams;
	run->pids[number] = sim_start(run->options, number, run->world_fd, argv, streams);
	run->pidfds[number] = (int)syscall(SYS_pidfd_open, run->pids[number], 0);
	sim_close_streams(&run->streams[number]);
	return program->main_thread;
}

void sim_add_program(struct sim_run *run, char **argv, const struct sim_streams *streams)
{
	struct sim_thread *thread = add(run, argv, SIM_THREAD_ASLEEP, streams);

	thread->awaited[0] = thread;
	thread->n_awaited = 1;
	thread->deadline_ns = sim_world->now_ns + LOADING_NS;
	await_joined(run);
	sim_bury_all(run); /* it has ended if its file was not found */
}

/* Loads all programs at once. */
void sim_add_programs(struct sim_run *run)
{
	struct sim_streams streams;
	int i;

	for (i = 0; i < run->options->n_programs; i++) {
		sim_default_streams(run, &streams);
		add(run, run->options->programs[i], SIM_THREAD_NEW, &streams);
	}
	await_joined(run);
}
