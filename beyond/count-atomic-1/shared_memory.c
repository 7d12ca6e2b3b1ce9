/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * count-atomic-1: what an agent needs for a client that accesses the server's memory. See
 * shared_memory.h.
 */
#include "beyond/count-atomic-1/shared_memory.h"
#include "common/private.h"

int our_setup_shared_memory(struct our_control *agent, struct our_one_sided *one_sided,
			    void *memory, size_t length, int access)
{
	int ret;

	/* ibv_alloc_pd, ibv_create_cq, rdma_create_qp */
	ret = our_setup_qp(agent, OUR_EXCHANGE_WRS, OUR_EXCHANGE_WRS);
	if (ret)
		return ret;
	ret = our_setup_mr(agent, memory, length, access, &one_sided->open); /* ibv_reg_mr */
	if (ret)
		goto err_unsetup_qp;
	/* ibv_reg_mr; ibv_post_recv: before the client can send */
	ret = our_setup_exchange(agent, &one_sided->exchange);
	if (ret)
		goto err_close_buffer;
	return 0;

err_close_buffer:
	our_close_buffer(agent, &one_sided->open);
err_unsetup_qp:
	our_unsetup_qp(agent);
	return ret;
}

void our_unsetup_shared_memory(struct our_control *agent, struct our_one_sided *one_sided)
{
	our_unsetup_exchange(agent, &one_sided->exchange);
	our_close_buffer(agent, &one_sided->open);
	our_unsetup_qp(agent);
}
