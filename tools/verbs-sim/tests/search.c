/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * search: the scheduler and the ledger of verbs-sim look only at what they are asked about. Everything else
 * is made inaccessible, so that a search through all of it ends this program with SIGSEGV: its time would
 * grow with the square of what there is.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "verbs-sim/core/schedule.h"

#define MANY 1000
#define PAGE 4096ul
#define FAR  1000000000ull /* ns */
#define KIND 1             /* of tasks and of objects: those above core/ know what it means */

static struct sim_program *program;

/* The page in which it begins. */
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

/* One task is due, and a thousand are not, of which the first one may be looked at. */
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

	sim_alloc(PAGE); /* behind the world, whose last page is not hidden */
	for (i = 0; i < MANY; i++)
		objects[i] = sim_create(KIND, 2 * PAGE, program, NULL);
	last = sim_create(KIND, sizeof(*last), program, NULL);
	for (i = 0; i < MANY; i++)
		hide(objects[i]);
	return sim_find(KIND, last->number) == last && !sim_find(KIND, last->number + 1);
}

static void do_nothing(struct sim_task *task)
{
	(void)task;
}

int main(int argc, char **argv)
{
	if (sim_create_world(do_nothing) < 0 || argc != 2) {
		perror("search");
		return 2;
	}
	program = sim_new_program(SIM_THREAD_READY);
	if (!(strcmp(argv[1], "task") ? find_an_object() : find_a_task())) {
		puts("found something else");
		return 1;
	}
	return 0;
}
