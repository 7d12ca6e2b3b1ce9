/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * libibverbs: PDs, MRs, CQs and shared receive queues.
 */
#include <errno.h>
#include <stdlib.h>

#include "verbs-sim/calls/call.h"
#include "verbs-sim/calls/verbs.h"

#undef ibv_reg_mr
#undef ibv_reg_mr_iova

#define REMOTE_RIGHTS (IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC)

/* ---- PDs ---- */

EXPORTED struct ibv_pd *ibv_alloc_pd(struct ibv_context *context)
{
	struct user_pd *pd;

	SIM_CALL_OR(NULL, "ibv_alloc_pd", ENOMEM, EINVAL);
	if (!sim_has_room(device_of(context), SIM_PD))
		return sim_null(ENOMEM);
	pd = calloc(1, sizeof(*pd));
	if (!pd)
		return NULL;
	pd->sim = sim_create_pd(user_context(context)->sim, pd);
	pd->sim->object.hidden = sim_inside;
	pd->head.context = context;
	pd->head.handle = pd->sim->object.number;
	return &pd->head;
}

EXPORTED int ibv_dealloc_pd(struct ibv_pd *pd)
{
	int ret = SIM_CALL("ibv_dealloc_pd", EBUSY, EINVAL);

	if (ret || user_pd(pd)->sim->object.users)
		return sim_number(ret ? ret : EBUSY);
	sim_destroy_pd(user_pd(pd)->sim);
	free(pd);
	return 0;
}

/* ---- MRs ---- */

static struct ibv_mr *reg_mr(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova,
			     unsigned int access)
{
	struct sim_region region = { (uintptr_t)addr, iova, length, (int)access };
	struct user_mr *mr;
	int error;

	SIM_CALL_OR(NULL, "ibv_reg_mr", ENOMEM, EINVAL, EACCES);
	error = sim_judge_mr(device_of(pd->context), length, access);
	if (error)
		return sim_null(error);
	mr = calloc(1, sizeof(*mr));
	if (!mr)
		return NULL;
	mr->sim = sim_create_mr(user_pd(pd)->sim, mr, &region);
	mr->head = (struct ibv_mr){
		.context = pd->context,
		.pd = pd,
		.addr = addr,
		.length = length,
		.handle = mr->sim->object.number,
		.lkey = mr->sim->key,
		/* soft-RoCE has none for memory that the peer may not access. */
		.rkey = device_of(pd->context)->traits.iwarp || access & REMOTE_RIGHTS
				? mr->sim->key
				: 0,
	};
	return &mr->head;
}

EXPORTED struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *addr, size_t length, int access)
{
	return reg_mr(pd, addr, length, (uintptr_t)addr, (unsigned int)access);
}

EXPORTED struct ibv_mr *ibv_reg_mr_iova(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova,
					int access)
{
	return reg_mr(pd, addr, length, iova, (unsigned int)access);
}

EXPORTED struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *pd, void *addr, size_t length,
					 uint64_t iova, unsigned int access)
{
	return reg_mr(pd, addr, length, iova, access & ~(unsigned int)IBV_ACCESS_OPTIONAL_RANGE);
}

EXPORTED int ibv_dereg_mr(struct ibv_mr *mr)
{
	int ret = SIM_CALL("ibv_dereg_mr", EINVAL, EBUSY);

	if (ret)
		return ret;
	sim_check_end(sim_me->program, (uintptr_t)mr->addr, mr->length, "deregistered");
	sim_destroy_mr(user_mr(mr)->sim);
	free(mr);
	return 0;
}

/* ---- CQs ---- */

struct ibv_cq *sim_new_cq(struct ibv_context *context, int cqe, void *cq_context,
			  struct ibv_comp_channel *channel, int vector)
{
	struct user_cq *cq;
	uint32_t depth;
	int error;

	error = sim_judge_cq(device_of(context), (uint32_t)cqe, (uint32_t)vector, &depth);
	if (error)
		return sim_null(error);
	cq = calloc(1, sizeof(*cq));
	if (!cq)
		return NULL;
	cq->sim = sim_create_cq(user_context(context)->sim, depth,
				channel ? user_channel(channel)->sim : NULL, cq);
	cq->sim->object.hidden = sim_inside;
	cq->head.context = context;
	cq->head.channel = channel;
	cq->head.cq_context = cq_context;
	cq->head.handle = cq->sim->object.number;
	cq->head.cqe = (int)cq->sim->depth;
	return &cq->head;
}

EXPORTED struct ibv_cq *ibv_create_cq(struct ibv_context *context, int cqe, void *cq_context,
				      struct ibv_comp_channel *channel, int comp_vector)
{
	SIM_CALL_OR(NULL, "ibv_create_cq", ENOMEM, EINVAL);
	return sim_new_cq(context, cqe, cq_context, channel, comp_vector);
}

/* Waits until the program has acked the events that it got, as ibv_destroy_cq(3) says. */
EXPORTED int ibv_destroy_cq(struct ibv_cq *cq)
{
	struct user_cq *destroyed = user_cq(cq);
	int ret = SIM_CALL("ibv_destroy_cq", EBUSY, EINVAL);

	while (!ret && (destroyed->unacked || destroyed->async_unacked))
		sim_block(cq, SIM_FOREVER);
	if (ret || destroyed->sim->object.users)
		return sim_number(ret ? ret : EBUSY);
	sim_destroy_cq(destroyed->sim);
	free(destroyed);
	return 0;
}

/* ---- SRQs ---- */

EXPORTED struct ibv_srq *ibv_create_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *init)
{
	struct ibv_srq_attr *attr = &init->attr;
	uint32_t asked = attr->max_wr;
	struct user_srq *srq;
	int error;

	SIM_CALL_OR(NULL, "ibv_create_srq", ENOMEM, EINVAL, ENOSYS);
	error = sim_judge_srq(device_of(pd->context), &attr->max_wr, attr->max_sge);
	if (error)
		return sim_null(error);
	srq = calloc(1, sizeof(*srq));
	if (!srq)
		return NULL;
	srq->sim = sim_create_srq(user_pd(pd)->sim, attr->max_wr, attr->max_sge, srq);
	srq->sim->asked = asked;
	srq->head.context = pd->context;
	srq->head.srq_context = init->srq_context;
	srq->head.pd = pd;
	srq->head.handle = srq->sim->object.number;
	return &srq->head;
}

EXPORTED int ibv_destroy_srq(struct ibv_srq *srq)
{
	struct user_srq *destroyed = user_srq(srq);
	int ret = SIM_CALL("ibv_destroy_srq", EBUSY, EINVAL);

	while (!ret && destroyed->async_unacked)
		sim_block(srq, SIM_FOREVER);
	if (ret || destroyed->sim->object.users)
		return sim_number(ret ? ret : EBUSY);
	sim_destroy_srq(destroyed->sim);
	free(destroyed);
	return 0;
}

EXPORTED int ibv_modify_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr, int mask)
{
	struct sim_srq *sim = user_srq(srq)->sim;
	int ret = SIM_CALL("ibv_modify_srq", EINVAL, ENOMEM);

	return ret ? ret : sim_number(sim_modify_srq(sim, attr, mask));
}

EXPORTED int ibv_query_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr)
{
	const struct sim_srq *sim = user_srq(srq)->sim;
	int ret = SIM_CALL("ibv_query_srq", ENOMEM, EINVAL);

	if (!ret && sim_traits(sim->pd->context)->iwarp)
		ret = EOPNOTSUPP; /* soft-iWARP does not say */
	if (ret)
		return ret;
	*attr = (struct ibv_srq_attr){ sim->queue.max, sim->queue.max_sge, sim->limit };
	return 0;
}
