/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * broken: spoils the world of its own simulation, as a fault of the simulation would: a PD seems to be
 * in no list, or nothing seems to need the context. The run ends when this program destroys the PD,
 * or with "leave" when the runner does, after the program has ended.
 */
#include <infiniband/verbs.h>
#include <string.h>

#include "verbs-sim/device/kinds.h"

int main(int argc, char **argv)
{
	struct sim_world *world = (struct sim_world *)SIM_WORLD_ADDRESS;
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *context = ibv_open_device(list[0]);
	struct ibv_pd *pd = ibv_alloc_pd(context);

	if (!pd || argc < 2)
		return 2;
	if (!strcmp(argv[1], "list"))
		TAILQ_FIRST(&world->objects[SIM_PD])->link.tqe_prev = NULL;
	else
		TAILQ_FIRST(&world->objects[SIM_CONTEXT])->users = 0;
	return argc > 2 ? 0 : ibv_dealloc_pd(pd);
}
