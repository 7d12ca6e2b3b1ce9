/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Recording the choices that chance makes, and repeating them. See chance.h.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "verbs-sim/core/chance.h"

/* ---- The maker of a choice ---- */

static struct sim_actor *actor_now(void)
{
	return sim_world->in_task ? &sim_world->acting : &sim_world->running->actor;
}

void sim_begin_act(struct sim_actor *actor)
{
	actor->acts++;
	memset(actor->draws, 0, sizeof(actor->draws));
	sim_world->acted = *actor;
}

void sim_name_thread(struct sim_thread *thread)
{
	thread->actor.name = SIM_NAME_OF(0, thread->program->number, thread->number);
}

/* Tasks are numbered by kind within a program: an address of the world would depend on the others. */
void sim_name_task(struct sim_task *task)
{
	int program = SIM_PROGRAM_OF(actor_now()->name);

	task->actor.name = SIM_NAME_OF(task->kind, program,
				       sim_world->tasks_of[program][task->kind % SIM_TASK_KINDS]++);
}

void sim_begin_task(struct sim_task *task)
{
	sim_begin_act(&task->actor);
	sim_act_as(&task->actor);
}

void sim_act_as(const struct sim_actor *actor)
{
	sim_world->acting = *actor;
	sim_world->in_task = true;
}

void sim_end_task(void)
{
	sim_world->in_task = false;
}

/* ---- The list of choices ---- */

int sim_compare_choices(const void *one, const void *other)
{
	const struct sim_choice *a = one, *b = other;

	if (a->who != b->who)
		return a->who < b->who ? -1 : 1;
	if (a->act != b->act)
		return a->act < b->act ? -1 : 1;
	return a->which < b->which ? -1 : a->which > b->which;
}

void sim_record(const struct sim_choice *choice)
{
	struct sim_choice *wider;

	if (sim_world->n_choices == sim_world->room_choices) {
		sim_world->room_choices = 2 * sim_world->room_choices + 1024;
		wider = sim_alloc(sim_world->room_choices * sizeof(*wider));
		memcpy(wider, sim_world->choices, sim_world->n_choices * sizeof(*wider));
		sim_free(sim_world->choices);
		sim_world->choices = wider;
	}
	sim_world->choices[sim_world->n_choices++] = *choice;
}

/* Returns the choice that the run repeats at this actor's act; NULL: the usual one. */
const struct sim_choice *sim_find_choice(const struct sim_actor *actor, uint32_t which)
{
	struct sim_choice key = { .who = actor->name, .act = actor->acts, .which = which };
	struct sim_choice *choice = bsearch(&key, sim_world->choices, sim_world->n_choices,
					    sizeof(key), sim_compare_choices);

	if (choice) {
		choice->at_ns = sim_world->now_ns;
		choice->about = sim_world->about;
		snprintf(choice->call, sizeof(choice->call), "%s",
			 SIM_KIND_OF(choice->who) ? "" : sim_world->running->call);
	}
	return choice;
}

/* ---- Numbers ---- */

/* xorshift64*: Marsaglia's generator, with a multiplication behind it. The state is never 0. */
uint32_t sim_draw(uint32_t below)
{
	uint64_t x = sim_world->random;

	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	sim_world->random = x;
	return (uint32_t)(((x * 0x2545f4914f6cdd1dull) >> 32) * below >> 32);
}

/* Scales a recorded number to `below`, in case it was drawn below another limit. */
static uint32_t repeat(const struct sim_choice *choice, uint32_t below)
{
	if (!choice)
		return below / 2;
	return (uint32_t)((2 * choice->value + 1) * below / (2ull * choice->below));
}

/* Describes the next number that is drawn, without its value. */
static struct sim_choice next_number(struct sim_actor *actor, uint32_t below)
{
	uint32_t purpose = sim_world->purpose;

	return (struct sim_choice){ .who = actor->name,
				    .act = actor->acts,
				    .which = SIM_CHOICE_NUMBER(purpose, actor->draws[purpose]++),
				    .below = below };
}

uint32_t sim_random(uint32_t below)
{
	struct sim_actor *actor;
	struct sim_choice choice;

	if (!sim_world->records && !sim_world->repeats)
		return sim_draw(below);
	actor = actor_now();
	choice = next_number(actor, below);
	if (sim_world->repeats)
		return repeat(sim_find_choice(actor, choice.which), below);
	choice.value = sim_draw(below);
	if (choice.value != below / 2)
		sim_record(&choice);
	return (uint32_t)choice.value;
}

bool sim_rarely(uint32_t of)
{
	struct sim_actor *actor;
	struct sim_choice choice;

	if (!sim_world->records && !sim_world->repeats)
		return !sim_draw(of);
	actor = actor_now();
	choice = next_number(actor, of);
	if (sim_world->repeats)
		return sim_find_choice(actor, choice.which) || of < 2;
	if (sim_draw(of))
		return false;
	if (of > 1)
		sim_record(&choice);
	return true;
}

/* Uses a generator apart from that of choices, so that a run that repeats choices gets the same bytes. */
uint8_t sim_random_byte(struct sim_program *program)
{
	uint64_t x = sim_world->seed * 0x9e3779b97f4a7c15ull +
		     (uint64_t)program->number * 0xbf58476d1ce4e5b9ull + ++program->random_bytes;

	x = (x ^ x >> 31) * 0x2545f4914f6cdd1dull;
	return (uint8_t)(x >> 32);
}

/* ---- Times ---- */

_Static_assert(SIM_FOR_WAKING + 1 == SIM_PURPOSES, "an actor counts more purposes");

static uint32_t draw_for(enum sim_purpose purpose, uint64_t about, uint32_t below)
{
	uint32_t number;

	sim_world->purpose = purpose;
	sim_world->about = about;
	number = sim_random(below);
	sim_world->purpose = SIM_FOR_ANY;
	return number;
}

#define SHORTEST_NS 100u
#define LENGTHS     11 /* delays, each twice as long as the one before: 100 us at most */

uint32_t sim_new_pace_ns(const struct sim_thread *thread)
{
	return SHORTEST_NS << draw_for(SIM_FOR_THREAD, thread->actor.name, LENGTHS);
}

/*
 * Drawn once for a run: if paces changed within it, an order that depends on two would be as rare
 * as both are extreme at once. See Groce and others, "Swarm testing" (2012).
 */
void sim_draw_paces(void)
{
	static const uint32_t preempts[] = { 2, 3, 8, 30 };
	unsigned int pace;

	sim_world->preempt = preempts[sim_draw(4)];
	for (pace = 0; pace < SIM_PACES; pace++)
		sim_world->pace_ns[pace] = SHORTEST_NS << draw_for(SIM_FOR_PACE, pace, LENGTHS);
}

/* Draws a time near the longest. */
static uint64_t near_ns(enum sim_purpose purpose, uint64_t about, uint32_t pace_ns)
{
	return pace_ns / 2 + draw_for(purpose, about, pace_ns / 2);
}

uint64_t sim_waking_ns(const struct sim_thread *thread)
{
	return near_ns(SIM_FOR_WAKING, thread->actor.name, thread->pace_ns);
}

#define LATE    32 /* one of this many is late */
#define LATE_NS 300000

uint64_t sim_pace_ns(unsigned int pace)
{
	uint64_t late_ns = 0;

	sim_world->purpose = SIM_FOR_LATE;
	sim_world->about = pace;
	if (sim_rarely(LATE))
		late_ns = draw_for(SIM_FOR_LATENESS, pace, LATE_NS);
	return near_ns(SIM_FOR_DELAY, pace, sim_world->pace_ns[pace]) + late_ns;
}

uint64_t sim_chosen_ns(const struct sim_choice *choice, uint64_t value)
{
	enum sim_purpose purpose = SIM_PURPOSE_OF(choice->which);

	if (purpose == SIM_FOR_PACE || purpose == SIM_FOR_THREAD)
		return SHORTEST_NS << value % LENGTHS;
	return value + (purpose == SIM_FOR_LATENESS ? 0 : choice->below);
}

uint32_t sim_new_priority(void)
{
	return sim_world->by_priority ? SIM_LOWEST + sim_draw(1u << 30) : 0;
}

/* ---- The time that a thread is held up ---- */

void sim_record_hold(uint64_t ns)
{
	struct sim_choice choice = { .who = sim_world->acted.name,
				     .act = sim_world->acted.acts,
				     .which = SIM_CHOICE_HOLD,
				     .value = ns };

	if (sim_world->records)
		sim_record(&choice);
}

uint64_t sim_repeat_hold(void)
{
	const struct sim_choice *choice = sim_find_choice(&sim_world->acted, SIM_CHOICE_HOLD);

	return choice ? choice->value : 0;
}
