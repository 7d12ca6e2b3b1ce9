/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * search: core/ of verbs-sim alone. The scheduler and the ledger may look only at the objects they are
 * asked about: this program makes all others inaccessible, so a search through them, whose time would grow
 * with the square of their number, ends it with SIGSEGV. And anything done twice, or once too often, ends a
 * run: this program is its own runner, which then prints the reason, and exits with the verdict's status.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "verbs-sim/core/schedule.h"

#define MANY 1000
#define PAGE 4096ul
#define FAR  1000000000ull /* ns */
#define KIND 1             /* for tasks and objects; only layers above core/ know kinds */

static struct sim_program *program;

/* Returns the page in which an object begins. */
static void hide(const void *what)
{
	if (mprotect((void *)((uintptr_t)what / PAGE * PAGE), PAGE, PROT_NONE)) {
		perror("mprotect");
		exit(1);
	}
}

static void *pages_for(size_t size)
{
	void *pages = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (pages == MAP_FAILED) {
		perror("mmap");
		exit(1);
	}
	return pages;
}

/* One task is due, and a thousand are not: only the first of those may be looked at. */
static bool find_a_task(void)
{
	char *later = pages_for(MANY * PAGE);
	struct sim_task now = { .kind = KIND };
	uint64_t i;

	for (i = 0; i < MANY; i++)
		sim_schedule((struct sim_task *)(later + i * PAGE), FAR + i);
	sim_schedule(&now, 1);
	sim_world->now_ns = 2;
	if (sim_first_task() != &now || TAILQ_NEXT(&now, link))
		return false;
	for (i = 1; i < MANY; i++)
		hide(later + i * PAGE);
	return sim_first_task() == &now;
}

static bool find_an_object(void)
{
	struct sim_object *objects[MANY], *last;
	int i;

	sim_alloc(PAGE); /* after the world, whose last page is not hidden */
	for (i = 0; i < MANY; i++)
		objects[i] = sim_create(KIND, 2 * PAGE, program, NULL);
	last = sim_create(KIND, sizeof(*last), program, NULL);
	for (i = 0; i < MANY; i++)
		hide(objects[i]);
	return sim_find(KIND, last->number) == last && !sim_find(KIND, last->number + 1);
}

/* ---- Errors that end a run ---- */

static struct sim_task task = { .kind = KIND };

static void link_twice(void)
{
	SIM_LINK(&sim_world->tasks, &task, link);
	SIM_LINK(&sim_world->tasks, &task, link);
}

static void unlink_twice(void)
{
	SIM_LINK(&sim_world->tasks, &task, link);
	SIM_UNLINK(&sim_world->tasks, &task, link);
	SIM_UNLINK(&sim_world->tasks, &task, link);
}

static void destroy_twice(void)
{
	struct sim_object *object = sim_create(KIND, sizeof(*object), program, NULL);

	sim_destroy(object);
	sim_destroy(object);
}

static void destroy_needed(void)
{
	struct sim_object *object = sim_create(KIND, sizeof(*object), program, NULL);

	object->users = 1;
	sim_destroy(object);
}

static void free_twice(void)
{
	void *memory = sim_alloc(1);

	sim_free(memory);
	sim_free(memory);
}

static void count_below_zero(void)
{
	uint32_t count = 1;

	SIM_COUNT_DOWN(count);
	SIM_COUNT_DOWN(count);
}

static const struct {
	const char *name;
	void (*run)(void);
} mistakes[] = {
	{ "link-twice", link_twice },       { "unlink-twice", unlink_twice },
	{ "destroy-twice", destroy_twice }, { "destroy-needed", destroy_needed },
	{ "free-twice", free_twice },       { "count-below-zero", count_below_zero },
};

static void leave(void)
{
	puts(sim_world->reason);
	fflush(stdout);
	_exit(sim_world->verdict == SIM_VERDICT_BROKEN ? 125 : 1);
}

static void do_nothing(struct sim_task *unneeded)
{
	(void)unneeded;
}

int main(int argc, char **argv)
{
	size_t i;

	if (sim_create_world(do_nothing) < 0 || argc != 2) {
		perror("search");
		return 2;
	}
	program = sim_new_program(SIM_THREAD_READY);
	sim_leave_run = leave;
	for (i = 0; i < sizeof(mistakes) / sizeof(mistakes[0]); i++) {
		if (!strcmp(mistakes[i].name, argv[1]))
			mistakes[i].run();
	}
	if (!(strcmp(argv[1], "task") ? find_an_object() : find_a_task())) {
		puts("found something else");
		return 1;
	}
	return 0;
}
