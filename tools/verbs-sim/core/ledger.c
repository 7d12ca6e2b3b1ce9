/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Memory of the world, and the ledger of the objects in it. See world.h.
 */
#include <string.h>

#include "verbs-sim/core/world.h"

#undef memcpy
#undef memset

/* ---- Memory: blocks of powers of two, and a list of free ones for each size ---- */

#define SMALLEST 6 /* 64 bytes, a cache line */

/* The header of each block. Its size keeps the block aligned for any type. */
struct header {
	uint64_t order;
	struct header *next; /* the next free block; in a block in use, the block itself */
};

static uint64_t order_of(size_t size)
{
	uint64_t order = SMALLEST;

	while ((1ull << order) < size + sizeof(struct header))
		order++;
	return order;
}

static struct header *cut_off(uint64_t order)
{
	struct header *header;

	if (sim_world->used + (1ull << order) > SIM_WORLD_SIZE)
		sim_give_up(SIM_VERDICT_BROKEN, "the memory of the simulation is full");
	header = (struct header *)(SIM_WORLD_ADDRESS + ((sim_world->used + 15) & ~15ull));
	sim_world->used = (uint64_t)header - SIM_WORLD_ADDRESS + (1ull << order);
	return header;
}

bool sim_has_memory(size_t size)
{
	uint64_t order = order_of(size);

	return sim_world->free_blocks[order] ||
	       sim_world->used + (1ull << order) <= SIM_WORLD_SIZE - SIM_RESERVE;
}

/* Memory that has never been used is zero. */
void *sim_alloc(size_t size)
{
	uint64_t order = order_of(size);
	struct header *header = sim_world->free_blocks[order];

	if (header) {
		sim_world->free_blocks[order] = header->next;
		memset(header + 1, 0, size);
	} else {
		header = cut_off(order);
	}
	header->order = order;
	header->next = header;
	return header + 1;
}

void sim_free(void *memory)
{
	struct header *header = memory;

	if (!memory)
		return;
	header--;
	SIM_ASSERT(header->next == header);
	header->next = sim_world->free_blocks[header->order];
	sim_world->free_blocks[header->order] = header;
}

void *sim_widen(void *array, uint32_t *room)
{
	uint32_t old = *room;
	void **wider;

	*room = old ? 2 * old : 64;
	wider = sim_alloc(*room * sizeof(*wider));
	if (old)
		memcpy(wider, array, old * sizeof(*wider));
	sim_free(array);
	return wider;
}

/*
 * The library's own copies of these functions. A sanitizer's would take its accesses to the world
 * for the program's, and report them as races: ThreadSanitizer does not know of turns.
 */
void *memcpy(void *restrict to, const void *restrict from, size_t length)
{
	uint8_t *byte = to;
	const uint8_t *source = from;

	while (length--)
		*byte++ = *source++;
	return to;
}

void *memset(void *memory, int value, size_t length)
{
	uint8_t *byte = memory;

	while (length--)
		*byte++ = (uint8_t)value;
	return memory;
}

/* ---- The ledger ---- */

void *sim_create(uint32_t kind, size_t size, struct sim_program *program, void *user)
{
	struct sim_object *object = sim_alloc(size);

	object->kind = kind;
	object->number = ++sim_world->numbers[kind];
	object->program = program;
	object->user = user;
	SIM_LINK(&sim_world->objects[kind], object, link);
	SIM_LINK(&program->objects[kind], object, of_program);
	if (object->number >= sim_world->room[kind])
		sim_world->by_number[kind] =
			sim_widen(sim_world->by_number[kind], &sim_world->room[kind]);
	sim_world->by_number[kind][object->number] = object;
	return object;
}

void *sim_find(uint32_t kind, uint32_t number)
{
	return number < sim_world->room[kind] ? sim_world->by_number[kind][number] : NULL;
}

void sim_destroy(void *gone)
{
	struct sim_object *object = gone;

	SIM_ASSERT(!object->users && sim_find(object->kind, object->number) == object);
	SIM_UNLINK(&sim_world->objects[object->kind], object, link);
	SIM_UNLINK(&object->program->objects[object->kind], object, of_program);
	sim_world->by_number[object->kind][object->number] = NULL;
	sim_free(object);
}
