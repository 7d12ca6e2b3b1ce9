/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * One run: the runner starts the programs, and gets the turn when one of them ends, when none can
 * go on, and when it may do a step. See runner.h.
 */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "verbs-sim/core/chance.h"
#include "verbs-sim/core/schedule.h"
#include "verbs-sim/transfer/transfer.h"
#include "verbs-sim/runner/runner.h"

static void share_cpus(const struct sim_options *options)
{
	uint32_t i;

	sim_world->cpus = sim_world->free_cpus = (uint32_t)options->cpus;
	sim_world->workers = (uint32_t)options->workers;
	sim_world->quantum_ns = (uint64_t)options->quantum_us * 1000;
	for (i = 0; i < sim_world->workers; i++)
		sim_world->worker[i].wants = true;
}

static void set_up_world(const struct sim_options *options, uint64_t seed)
{
	struct rlimit limit = { 0 };

	sim_world->seed = seed;
	sim_world->random = seed * 0x9e3779b97f4a7c15ull + 0x2545f4914f6cdd1dull;
	sim_create_devices(options->devices, options->n_devices);
	getrlimit(RLIMIT_MEMLOCK, &limit);
	sim_world->memory_limit = limit.rlim_cur;
	sim_world->trace = options->trace;
	sim_world->strict = options->strict;
	memcpy(sim_world->allowed, options->allowed, sizeof(sim_world->allowed));
	sim_world->faults = sim_alloc(sizeof(options->faults));
	memcpy(sim_world->faults, options->faults, sizeof(options->faults));
	sim_world->n_faults = options->n_faults;
	sim_world->steps = options->steps;
	sim_world->runner_pid = getpid();
	sim_world->patience_ns = options->patience_ns;
	share_cpus(options);
	sim_world->running = &sim_world->runner;
	sim_world->runner.actor.name = SIM_NAME_OF(0, SIM_NO_PROGRAM, 0);
	sim_give_choices(&options->choices);
	sim_world->draws = options->traced;
	if (options->coverage)
		sim_world->covered = sim_alloc(SIM_MOST_COVERED * sizeof(*sim_world->covered));
	sim_draw(1); /* the first numbers of neighbouring seeds are similar */
	sim_draw_paces();
	sim_choose_strategy(options->strategy == 1 || (options->strategy == 2 && seed % 2));
	sim_world->busy = options->strategy == 3 || (options->strategy == 2 && !(seed % 2));
}

/* ---- Runs that cannot go on ---- */

static bool only_servers_are_left(const struct sim_run *run)
{
	int i;

	for (i = run->options->servers; i < sim_world->n_programs; i++) {
		if (run->pids[i])
			return false;
	}
	return true;
}

/*
 * All programs sleep: sends them SIGTERM once, as a user would. A client that needs it is a
 * finding, and so is a program that sleeps again.
 */
static void wake_sleepers(struct sim_run *run)
{
	int i;

	if (run->stopped || !only_servers_are_left(run))
		sim_say_who_sleeps();
	if (run->stopped) {
		sim_decide(SIM_VERDICT_ASLEEP, "%s",
			   sim_world->now_ns > sim_world->patience_ns ? "it does not end"
								      : "all sleep forever");
		return;
	}
	run->stopped = true;
	sim_world->patience_ns = sim_world->now_ns + run->options->patience_ns;
	for (i = 0; i < sim_world->n_programs; i++) {
		if (!run->pids[i])
			continue;
		sim_world->programs[i].told_to_stop = true;
		sim_world->programs[i].stopped = false;
		sim_send_signal(&sim_world->programs[i], SIGTERM);
	}
}

/* A thread has the turn, and makes no call; or the run has taken too long. */
static void watch(struct sim_run *run, time_t *since, time_t begun)
{
	const struct sim_thread *running = sim_world->running;
	uint64_t now = sim_world->hash;

	if (run->options->most_s && time(NULL) - begun > run->options->most_s)
		sim_decide(SIM_VERDICT_STUCK, "it takes too long");
	if (now != run->seen || sim_has_turn() || run->options->gdb >= 0) {
		*since = time(NULL);
		run->seen = now;
	} else if (time(NULL) - *since > run->options->limit_s) {
		sim_decide(SIM_VERDICT_STUCK,
			   "program %d, thread %u has made no call for %d s, after %s",
			   running->program->number, running->number, run->options->limit_s,
			   running->call);
	}
}

/* ---- The run ---- */

static void go_on(struct sim_run *run)
{
	sim_bury_all(run);
	sim_do_steps(run);
	if ((!sim_any_alive(run) && !run->steps.file) || sim_world->verdict)
		return;
	if (sim_pass_on() || sim_world->verdict)
		return;
	if (run->steps.file)
		sim_end_waiting(run);
	else
		wake_sleepers(run);
}

static jmp_buf left;

static void leave(void)
{
	longjmp(left, 1);
}

static void run_to_end(struct sim_run *run)
{
	time_t begun = time(NULL), since = begun;

	sim_add_programs(run);
	while ((sim_any_alive(run) || run->steps.file) && !sim_world->verdict) {
		if (sim_has_turn())
			go_on(run);
		if (!sim_has_turn()) {
			sim_wait_for_news(run);
			watch(run, &since, begun);
		}
		sim_reap(run);
	}
}

/*
 * A run ends here if the runner gives up while it has the turn itself, for example when it destroys
 * a program's objects.
 */
static void run_or_give_up(struct sim_run *run)
{
	int i;

	sim_leave_run = leave;
	if (!setjmp(left))
		run_to_end(run);
	for (i = 0; i < sim_world->n_programs; i++)
		run->result->killed[i] = run->pids[i] != 0;
	sim_kill_all(run);
	for (i = 0; run->options->apart && i < sim_world->n_programs; i++)
		sim_print_kept(&run->streams[i]);
}

int sim_run(const struct sim_options *options, uint64_t seed, struct sim_result *result)
{
	struct sim_run run = { .options = options, .result = result };

	if (sim_open_steps(&run)) {
		fprintf(stderr, "verbs-sim: --steps %s: %s\n", options->steps, strerror(errno));
		return SIM_EXIT_USAGE;
	}
	run.world_fd = sim_create_world(sim_carry_out);
	if (run.world_fd < 0) {
		fprintf(stderr, "verbs-sim: no memory for the simulation: %s\n", strerror(errno));
		return SIM_EXIT_BROKEN;
	}
	free(result->choices);
	*result = (struct sim_result){ .exit = 0 };
	set_up_world(options, seed);
	sim_world->help.serves = options->users;
	sim_begin_case(options);
	run.helper = options->users ? sim_start_helper() : 0;
	run_or_give_up(&run);
	sim_end_helper(run.helper);
	sim_report(options, result);
	memcpy(result->faults, sim_world->faults, sizeof(result->faults));
	sim_take_choices(result);
	sim_take_coverage();
	sim_end_case(options, result->exit);
	munmap(sim_world, SIM_WORLD_SIZE);
	close(run.world_fd);
	return result->exit;
}
