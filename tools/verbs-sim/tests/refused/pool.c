/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Sizes and limits of a shared receive queue that has been created with 7 receives, and in which three
 * wait. See refused.h.
 */
#include "verbs-sim/tests/refused/refused.h"

static void change(enum ibv_srq_attr_mask what, uint32_t number)
{
	struct ibv_srq_attr attr = { .max_wr = number, .srq_limit = number };

	printf("%s %u: %s\n", what == IBV_SRQ_LIMIT ? "limit" : "size", number,
	       strerror(abs(ibv_modify_srq(ends.server.srq, &attr, (int)what))));
}

void try_pool(void)
{
	struct ibv_srq_init_attr init = { .attr = { 7, 1, 0 } };
	struct ibv_device_attr device;
	int i;

	must(!ibv_query_device(ends.server.id->verbs, &device), "ibv_query_device");
	ends.server.srq = ibv_create_srq(ends.server.pd, &init);
	must(ends.server.srq, "ibv_create_srq");
	for (i = 0; i < 3; i++)
		must(!post_recv(&ends.server, 64), "ibv_post_srq_recv");
	change(IBV_SRQ_MAX_WR, 0);
	change(IBV_SRQ_MAX_WR, 2);
	change(IBV_SRQ_MAX_WR, 3);
	change(IBV_SRQ_LIMIT, 3);
	change(IBV_SRQ_LIMIT, 4);
	change(IBV_SRQ_MAX_WR, 15);
	change(IBV_SRQ_LIMIT, 6);
	change(IBV_SRQ_MAX_WR, 5);
	change(IBV_SRQ_MAX_WR, 6);
	change(IBV_SRQ_MAX_WR, (uint32_t)device.max_srq_wr);
	change(IBV_SRQ_MAX_WR, (uint32_t)device.max_srq_wr + 1);
}
