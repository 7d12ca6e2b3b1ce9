/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Commands of uverbs: shared receive queues. See uverbs.h.
 */
#include <errno.h>

#include "verbs-sim/kernel/uverbs.h"

int uverbs_create_srq(struct uverbs *uverbs, const void *in, void *out)
{
	const struct ib_uverbs_create_srq *request = in;
	struct uverbs_srq_answer *answer = out;
	struct sim_pd *pd = uverbs_find(uverbs, SIM_PD, request->pd_handle);
	uint32_t max_wr = request->max_wr;
	int ret = pd ? sim_judge_srq(uverbs->device, &max_wr, request->max_sge) : ENOENT;
	struct sim_srq *srq;

	if (ret)
		return ret;
	srq = sim_create_srq(pd, max_wr, request->max_sge, (void *)(uintptr_t)request->user_handle);
	srq->asked = request->max_wr;
	if (uverbs->device->traits.iwarp)
		ret = sim_create_siw_ring(&srq->queue.ring, SIM_SIW_RECV, max_wr);
	else
		ret = sim_create_ring(&srq->queue.ring, max_wr,
				      sim_bytes_of_recv(request->max_sge));
	if (ret) {
		sim_destroy_srq(srq);
		return ret;
	}
	if (uverbs->device->traits.exact)
		sim_hold_ring(&srq->queue.ring, max_wr);
	kernel_await_locks(&srq->object);
	answer->core.srq_handle = answer->core.srqn = srq->object.number;
	answer->core.max_wr = max_wr;
	answer->core.max_sge = request->max_sge;
	if (uverbs->device->traits.iwarp) {
		answer->driver.siw.num_rqe = sim_slots_of(&srq->queue.ring);
		answer->driver.siw.srq_key = sim_offset_of(&srq->queue.ring);
		return 0;
	}
	answer->driver.rxe.srq_num = srq->object.number;
	answer->driver.rxe.mi = uverbs_place_of(&srq->queue.ring);
	return 0;
}

int uverbs_modify_srq(struct uverbs *uverbs, const void *in, void *out)
{
	const struct ib_uverbs_modify_srq *request = in;
	const struct ibv_srq_attr attr = { .max_wr = request->max_wr,
					   .srq_limit = request->srq_limit };
	struct sim_srq *srq = uverbs_find(uverbs, SIM_SRQ, request->srq_handle);
	const struct rxe_modify_srq_cmd *driver = (const void *)(request + 1);
	int ret = srq ? sim_modify_srq(srq, &attr, (int)request->attr_mask) : ENOENT;

	(void)out;
	if (!ret && request->attr_mask & IBV_SRQ_MAX_WR)
		*(struct mminfo *)(uintptr_t)driver->mmap_info_addr =
			uverbs_place_of(&srq->queue.ring);
	return ret;
}

int uverbs_query_srq(struct uverbs *uverbs, const void *in, void *out)
{
	const struct ib_uverbs_query_srq *request = in;
	struct ib_uverbs_query_srq_resp *answer = out;
	const struct sim_srq *srq = uverbs_find(uverbs, SIM_SRQ, request->srq_handle);

	if (uverbs->device->traits.iwarp)
		return EOPNOTSUPP; /* soft-iWARP does not return it */
	if (!srq)
		return ENOENT;
	answer->max_wr = srq->queue.max;
	answer->max_sge = srq->queue.max_sge;
	answer->srq_limit = srq->limit;
	return 0;
}

int uverbs_destroy_srq(struct uverbs *uverbs, const void *in, void *out)
{
	const struct ib_uverbs_destroy_srq *request = in;
	struct ib_uverbs_destroy_srq_resp *answer = out;
	struct sim_srq *srq = uverbs_find(uverbs, SIM_SRQ, request->srq_handle);

	if (!srq || srq->object.users)
		return srq ? EBUSY : ENOENT;
	answer->events_reported = srq->object.async_reported;
	kernel_forget_locks(&srq->object);
	sim_destroy_srq(srq);
	return 0;
}
