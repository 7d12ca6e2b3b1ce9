/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Giving the turn to the next thread, tasks, and sleep. See schedule.h.
 */
#include <linux/futex.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "verbs-sim/core/chance.h"
#include "verbs-sim/core/schedule.h"

#define HELD_UP    16    /* one of this many preemptions is long */
#define HELD_UP_NS 20000 /* the longest */

/* ---- Turns ---- */

/* A forked program has to see by itself that the runner was killed. */
void sim_await_turn(struct sim_thread *thread)
{
	struct timespec while_alive = { 5, 0 };

	while (!__atomic_exchange_n(&thread->turn, 0, __ATOMIC_ACQUIRE)) {
		sim_system(SYS_futex, &thread->turn, FUTEX_WAIT, 0, &while_alive, 0L, 0);
		if (thread->program->forked && sim_signal_runner(0))
			_exit(1);
	}
}

static void give_turn_to(struct sim_thread *thread)
{
	sim_world->running = thread;
	if (thread == &sim_world->runner) {
		sim_signal_runner(SIGUSR1);
		return;
	}
	__atomic_store_n(&thread->turn, 1, __ATOMIC_RELEASE);
	sim_system(SYS_futex, &thread->turn, FUTEX_WAKE, 1, 0L, 0L, 0);
}

struct sim_thread *sim_new_thread(struct sim_program *program, enum sim_thread_state state)
{
	struct sim_thread *thread = sim_world->threads;
	uint32_t i;

	for (i = 0; i < sim_world->n_threads && thread->state != SIM_THREAD_UNUSED; i++)
		thread++;
	if (i == SIM_MOST_THREADS)
		sim_give_up(SIM_VERDICT_BROKEN, "more than %d threads", SIM_MOST_THREADS);
	if (i == sim_world->n_threads)
		sim_world->n_threads++;
	memset(thread, 0, sizeof(*thread));
	thread->state = state;
	thread->program = program;
	thread->number = program->n_threads++;
	sim_name_thread(thread);
	thread->priority = sim_new_priority();
	sim_act_as(&thread->actor);
	thread->pace_ns = sim_new_pace_ns(thread);
	sim_end_task();
	return thread;
}

struct sim_program *sim_new_program(enum sim_thread_state state)
{
	struct sim_program *program = &sim_world->programs[sim_world->n_programs];
	int kind;

	program->number = sim_world->n_programs++;
	for (kind = 0; kind < SIM_MOST_KINDS; kind++)
		TAILQ_INIT(&program->objects[kind]);
	TAILQ_INIT(&program->stale);
	program->main_thread = sim_new_thread(program, state);
	return program;
}

/* ---- The next thread ---- */

static struct sim_thread *find_new_thread(void)
{
	uint32_t i;

	for (i = 0; i < sim_world->n_threads; i++) {
		if (sim_world->threads[i].state == SIM_THREAD_NEW)
			return &sim_world->threads[i];
	}
	return NULL;
}

static bool start_a_new_thread(void)
{
	struct sim_thread *thread = find_new_thread();

	if (thread)
		thread->state = SIM_THREAD_READY;
	return thread;
}

/* Moves time on to the next due time, or the runner's. Returns false if there is none. */
static bool let_time_pass(void)
{
	const struct sim_due *due = sim_next_due();
	uint64_t next_ns = due ? due->ns : SIM_FOREVER;
	uint32_t i;

	if (sim_next_share_ns() < next_ns)
		next_ns = sim_next_share_ns();
	for (i = 0; i < sim_world->n_threads; i++) {
		if (sim_world->threads[i].state == SIM_THREAD_ASLEEP &&
		    !sim_world->threads[i].program->stopped &&
		    sim_wakes_ns(&sim_world->threads[i]) > sim_world->now_ns &&
		    sim_wakes_ns(&sim_world->threads[i]) < next_ns)
			next_ns = sim_wakes_ns(&sim_world->threads[i]);
	}
	if (next_ns == SIM_FOREVER)
		return false;
	if (next_ns > sim_world->patience_ns)
		next_ns = sim_world->patience_ns + 1;
	sim_world->now_ns = next_ns;
	return true;
}

static void do_task(struct sim_task *task)
{
	sim_cancel(task);
	sim_note("task", task->kind);
	sim_begin_task(task);
	sim_do_task(task);
	sim_end_task();
}

/*
 * Chooses a thread, and does tasks until one is chosen. The runner is chosen when no thread will
 * ever run.
 */
static struct sim_thread *choose(void)
{
	struct sim_thread *thread;
	struct sim_task *task;

	for (;;) {
		if (__atomic_load_n(&sim_world->runner_is_needed, __ATOMIC_ACQUIRE) ||
		    sim_world->now_ns > sim_world->patience_ns)
			return &sim_world->runner;
		sim_share_cpus();
		sim_find_next(&thread, &task);
		if (thread)
			return thread;
		if (task)
			do_task(task);
		else if (!start_a_new_thread() && !let_time_pass())
			return &sim_world->runner;
	}
}

/* Lets devices do some due tasks, perhaps none; this thread goes on. */
static void do_some_tasks(void)
{
	struct sim_task *task;

	while ((task = sim_find_task()))
		do_task(task);
}

/* Gives the turn to the next thread. Returns false if that is this one. */
static bool let_others_run(void)
{
	struct sim_thread *next = choose();

	if (next == sim_me)
		return false;
	sim_world->in_turn = 0;
	if (sim_me->state == SIM_THREAD_READY)
		sim_me->ready_ns = sim_world->now_ns;
	sim_note("turn", next->program ? (uint64_t)(next - sim_world->threads) : 0);
	give_turn_to(next);
	sim_await_turn(sim_me);
	return true;
}

/* With CPUs that are shared, it is preempted if it loses one: cpus.c. */
static void pass_turn(void)
{
	if (let_others_run() && !sim_world->cpus)
		sim_me->program->preemptions++;
}

/*
 * Lets others run for some time, though this thread could: a program that only polls sleeps in
 * between, and would give its turn back at once. Not before all have started: a program that starts
 * when all before it sleep would find a server that is held up, and does not listen yet.
 */
static void hold_up(uint64_t ns)
{
	static const char nothing; /* nobody wakes this address */

	sim_me->program->preemptions++;
	sim_sleep_for(&nothing, sim_world->now_ns + ns);
}

/* Returns how long this thread is held up at this call, while others run; 0: it is not. */
static uint64_t draw_hold(void)
{
	uint64_t ns;

	if (sim_world->repeats)
		return sim_repeat_hold();
	if (!sim_world->busy || sim_draw(HELD_UP) || find_new_thread())
		return 0;
	ns = sim_draw(HELD_UP_NS);
	sim_record_hold(ns);
	return ns;
}

void sim_point(void)
{
	uint64_t ns;

	sim_begin_act(&sim_me->actor);
	sim_share_cpus();
	sim_world->in_turn++;
	if (__atomic_load_n(&sim_world->runner_is_needed, __ATOMIC_ACQUIRE) ||
	    sim_me->program->stopped || sim_world->now_ns > sim_world->patience_ns)
		pass_turn();
	else if (!sim_may_others_run() && (!sim_world->cpus || sim_me->share.has))
		do_some_tasks();
	else if ((ns = draw_hold()))
		hold_up(ns);
	else
		pass_turn();
}

bool sim_pass_on(void)
{
	struct sim_thread *next;

	sim_begin_act(&sim_world->running->actor);
	next = choose();
	give_turn_to(next);
	return next != &sim_world->runner;
}

void sim_end_thread(void)
{
	struct sim_thread *ended = sim_me;

	ended->state = ended->detached ? SIM_THREAD_UNUSED : SIM_THREAD_ENDED;
	sim_wake(ended->program, ended);
	sim_me = NULL;
	sim_pass_on();
}

/* ---- Sleep ---- */

void sim_sleep(const void *const *awaited, int n, uint64_t deadline_ns)
{
	int i;

	sim_me->n_awaited = n > SIM_MOST_AWAITED ? 0 : n;
	for (i = 0; i < sim_me->n_awaited; i++)
		sim_me->awaited[i] = awaited[i];
	sim_me->deadline_ns = deadline_ns;
	sim_me->woken = sim_me->pending_signals != 0;
	sim_me->ready_ns = sim_world->now_ns;
	sim_me->state = SIM_THREAD_ASLEEP;
	sim_begin_act(&sim_me->actor);
	let_others_run();
	sim_me->state = SIM_THREAD_READY;
	sim_me->program->runs++;
}

void sim_sleep_for(const void *awaited, uint64_t deadline_ns)
{
	sim_sleep(&awaited, 1, deadline_ns);
}
