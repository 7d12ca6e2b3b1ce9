/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Creating and destroying objects of the device, with the ledger of who needs whom. See device.h.
 */
#include <errno.h>
#include <string.h>

#include "verbs-sim/device/device.h"

static void init_task(struct sim_task *task, enum sim_task_kind kind, void *object)
{
	task->kind = kind;
	task->object = object;
}

struct sim_pd *sim_create_pd(struct sim_context *context, void *user)
{
	struct sim_pd *pd = sim_create(SIM_PD, sizeof(*pd), context->async.object.program, user);

	pd->context = context;
	context->async.object.users++;
	context->device->used[SIM_PD]++;
	return pd;
}

void sim_destroy_pd(struct sim_pd *pd)
{
	pd->context->async.object.users--;
	pd->context->device->used[SIM_PD]--;
	sim_destroy(pd);
}

struct sim_mr *sim_create_mr(struct sim_pd *pd, void *user, const struct sim_region *region)
{
	struct sim_mr *mr = sim_create(SIM_MR, sizeof(*mr), pd->object.program, user);

	mr->pd = pd;
	mr->key =
		0x1000 + mr->object.number *
				 0x100; /* as drivers do: the lowest byte is a counter of its own */
	mr->address = region->address;
	mr->iova = region->iova;
	mr->length = region->length;
	mr->access = region->access;
	pd->object.users++;
	pd->context->device->used[SIM_MR]++;
	return mr;
}

void sim_destroy_mr(struct sim_mr *mr)
{
	mr->pd->object.users--;
	mr->pd->context->device->used[SIM_MR]--;
	sim_destroy(mr);
}

struct sim_ah *sim_create_ah(struct sim_pd *pd, void *user, const struct ibv_ah_attr *path)
{
	struct sim_ah *ah = sim_create(SIM_AH, sizeof(*ah), pd->object.program, user);

	ah->pd = pd;
	ah->path = *path;
	pd->object.users++;
	return ah;
}

void sim_destroy_ah(struct sim_ah *ah)
{
	ah->pd->object.users--;
	sim_destroy(ah);
}

struct sim_cq *sim_create_cq(struct sim_context *context, uint32_t depth,
			     struct sim_channel *channel, void *user)
{
	struct sim_cq *cq = sim_create(SIM_CQ, sizeof(*cq), context->async.object.program, user);

	cq->context = context;
	cq->depth = depth;
	cq->channel = channel;
	cq->ring = sim_alloc(depth * sizeof(*cq->ring));
	context->async.object.users++;
	if (channel)
		channel->object.users++;
	context->device->used[SIM_CQ]++;
	return cq;
}

void sim_destroy_cq(struct sim_cq *cq)
{
	sim_discard_events(&cq->context->async, &cq->object);
	if (cq->channel) {
		sim_discard_events(cq->channel, &cq->object);
		cq->channel->object.users--;
	}
	cq->context->async.object.users--;
	sim_free(cq->ring);
	cq->context->device->used[SIM_CQ]--;
	sim_destroy(cq);
}

static void init_queue(struct sim_recv_queue *queue, uint32_t max, uint32_t max_sge)
{
	TAILQ_INIT(&queue->posted);
	queue->max = max;
	queue->max_sge = max_sge;
}

struct sim_srq *sim_create_srq(struct sim_pd *pd, uint32_t max, uint32_t max_sge, void *user)
{
	struct sim_srq *srq = sim_create(SIM_SRQ, sizeof(*srq), pd->object.program, user);

	srq->pd = pd;
	init_queue(&srq->queue, max, max_sge);
	pd->object.users++;
	pd->context->device->used[SIM_SRQ]++;
	return srq;
}

void sim_destroy_srq(struct sim_srq *srq)
{
	struct sim_recv *recv;

	while ((recv = TAILQ_FIRST(&srq->queue.posted))) {
		TAILQ_REMOVE(&srq->queue.posted, recv, link);
		sim_free(recv);
	}
	sim_discard_events(&srq->pd->context->async, &srq->object);
	srq->pd->object.users--;
	srq->pd->context->device->used[SIM_SRQ]--;
	sim_destroy(srq);
}

struct sim_qp *sim_create_qp(struct sim_pd *pd, const struct sim_qp_needs *needs, void *user)
{
	struct sim_qp *qp = sim_create(SIM_QP, sizeof(*qp), pd->object.program, user);

	qp->pd = pd;
	qp->send_cq = needs->send_cq;
	qp->recv_cq = needs->recv_cq;
	qp->srq = needs->srq;
	qp->type = needs->type;
	qp->sq_sig_all = needs->sq_sig_all;
	qp->cap = needs->cap;
	TAILQ_INIT(&qp->sends);
	TAILQ_INIT(&qp->wire);
	init_queue(&qp->recvs, needs->cap.max_recv_wr, needs->cap.max_recv_sge);
	init_task(&qp->execute, SIM_TASK_EXECUTE, qp);
	init_task(&qp->acknowledge, SIM_TASK_ACKNOWLEDGE, qp);
	pd->object.users++;
	qp->send_cq->object.users++;
	qp->recv_cq->object.users++;
	if (qp->srq)
		qp->srq->object.users++;
	sim_check_depth(qp);
	pd->context->device->used[SIM_QP]++;
	return qp;
}

void sim_destroy_qp(struct sim_qp *qp)
{
	sim_end_qp(qp);
	if (sim_qp_traits(qp)->forgets_finished) {
		sim_forget_completions(qp->send_cq, qp->object.number);
		sim_forget_completions(qp->recv_cq, qp->object.number);
	}
	sim_discard_events(&qp->pd->context->async, &qp->object);
	qp->pd->object.users--;
	qp->send_cq->object.users--;
	qp->recv_cq->object.users--;
	if (qp->srq)
		qp->srq->object.users--;
	qp->pd->context->device->used[SIM_QP]--;
	sim_destroy(qp);
}

void sim_destroy_channel(struct sim_channel *channel)
{
	sim_discard_events(channel, NULL);
	sim_destroy(channel);
}
