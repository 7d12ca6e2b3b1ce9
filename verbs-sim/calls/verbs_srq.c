/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * libibverbs: shared receive queues.
 */
#include <errno.h>
#include <stdlib.h>

#include "verbs-sim/calls/call.h"
#include "verbs-sim/calls/verbs.h"

struct ibv_srq *sim_new_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *init)
{
	struct ibv_srq_attr *attr = &init->attr;
	const struct sim_traits *traits = &device_of(pd->context)->traits;
	uint32_t asked = attr->max_wr;
	struct user_srq *srq;

	if (!attr->max_wr || attr->max_wr > (uint32_t)traits->max_srq_wr ||
	    attr->max_sge > (uint32_t)traits->max_sge) {
		errno = EINVAL;
		return NULL;
	}
	if (!sim_has_room(pd->context, SIM_SRQ, traits->max_srq))
		return NULL;
	srq = calloc(1, sizeof(*srq));
	if (!srq)
		return NULL;
	if (traits->rounds_srq) /* soft-RoCE keeps one slot free */
		attr->max_wr = sim_round_up(attr->max_wr + 1) - 1;
	srq->sim = sim_create_srq(user_pd(pd)->sim, attr->max_wr, attr->max_sge, srq);
	srq->sim->asked = asked;
	srq->head.context = pd->context;
	srq->head.srq_context = init->srq_context;
	srq->head.pd = pd;
	srq->head.handle = srq->sim->object.number;
	return &srq->head;
}

int sim_delete_srq(struct ibv_srq *srq)
{
	struct user_srq *deleted = user_srq(srq);

	while (deleted->async_unacked)
		sim_block(srq, SIM_FOREVER);
	if (deleted->sim->object.users)
		return EBUSY;
	sim_destroy_srq(deleted->sim);
	free(deleted);
	return 0;
}

EXPORTED struct ibv_srq *ibv_create_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *init)
{
	SIM_CALL_OR(NULL, "ibv_create_srq", ENOMEM, EINVAL, ENOSYS);
	return sim_new_srq(pd, init);
}

EXPORTED int ibv_destroy_srq(struct ibv_srq *srq)
{
	int ret = SIM_CALL("ibv_destroy_srq", EBUSY, EINVAL);

	return ret ? ret : sim_delete_srq(srq);
}

EXPORTED int ibv_modify_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr, int mask)
{
	struct sim_srq *sim = user_srq(srq)->sim;
	int ret = SIM_CALL("ibv_modify_srq", EINVAL, ENOMEM);

	if (ret)
		return ret;
	if (mask & IBV_SRQ_MAX_WR || attr->srq_limit > sim->queue.max)
		return EINVAL;
	if (mask & IBV_SRQ_LIMIT)
		sim->limit = attr->srq_limit;
	return 0;
}

EXPORTED int ibv_query_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr)
{
	const struct sim_srq *sim = user_srq(srq)->sim;
	int ret = SIM_CALL("ibv_query_srq", ENOMEM, EINVAL);

	if (!ret && sim_traits(sim->pd->context)->iwarp)
		ret = errno = ENOSPC; /* soft-iWARP does not say */
	if (ret)
		return ret;
	*attr = (struct ibv_srq_attr){ sim->queue.max, sim->queue.max_sge, sim->limit };
	return 0;
}
