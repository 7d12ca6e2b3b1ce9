/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Memory of the world: blocks of powers of two, and a list of free ones for each size. See world.h.
 */
#include <string.h>

#include "verbs-sim/core/world.h"

#define SMALLEST 6 /* 64 bytes, a cache line */

/* In front of each block. Its size keeps what follows aligned for any type. */
struct header {
	uint64_t order;
	struct header *next; /* of the free ones */
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

void *sim_alloc(size_t size)
{
	uint64_t order = order_of(size);
	struct header *header = sim_world->free_blocks[order];

	if (header)
		sim_world->free_blocks[order] = header->next;
	else
		header = cut_off(order);
	header->order = order;
	return memset(header + 1, 0, size);
}

void sim_free(void *memory)
{
	struct header *header = memory;

	if (!memory)
		return;
	header--;
	header->next = sim_world->free_blocks[header->order];
	sim_world->free_blocks[header->order] = header;
}
