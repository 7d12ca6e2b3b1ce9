/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Creating and destroying objects of the device, with a ledger of which object needs which. See device.h.
 */
#include <errno.h>

#include "verbs-sim/device/device.h"

const char *const sim_kind_names[SIM_KINDS] = {
	[SIM_ENDPOINT] = "cm_id",
	[SIM_QP] = "QP",
	[SIM_MW] = "MW",
	[SIM_MR] = "MR",
	[SIM_SRQ] = "SRQ",
	[SIM_CQ] = "CQ",
	[SIM_COMP_CHANNEL] = "completion channel",
	[SIM_EVENT_CHANNEL] = "event channel",
	[SIM_AH] = "AH",
	[SIM_PD] = "PD",
	[SIM_CONTEXT] = "context",
};

bool sim_has_room(const struct sim_device *device, enum sim_kind kind)
{
	return (!device->traits.most[kind] || device->used[kind] < device->traits.most[kind]) &&
	       sim_has_memory(SIM_MOST_OBJECT);
}

/* Creates an object of this context that needs another one: the context itself or a PD. */
static void *create_object(enum sim_kind kind, size_t size, struct sim_context *context,
			   struct sim_object *needed, void *user)
{
	needed->users++;
	context->device->used[kind]++;
	return sim_create(kind, size, needed->program, user);
}

static void destroy_object(struct sim_object *object, struct sim_context *context,
			   struct sim_object *needed)
{
	SIM_COUNT_DOWN(needed->users);
	SIM_COUNT_DOWN(context->device->used[object->kind]);
	sim_destroy(object);
}

struct sim_pd *sim_create_pd(struct sim_context *context, void *user)
{
	struct sim_pd *pd =
		create_object(SIM_PD, sizeof(*pd), context, &context->async.object, user);

	pd->context = context;
	return pd;
}

void sim_destroy_pd(struct sim_pd *pd)
{
	destroy_object(&pd->object, pd->context, &pd->context->async.object);
}

struct sim_mr *sim_create_mr(struct sim_pd *pd, void *user, const struct sim_region *region)
{
	struct sim_mr *mr = create_object(SIM_MR, sizeof(*mr), pd->context, &pd->object, user);

	mr->pd = pd;
	mr->key = SIM_KEY_OF_MR(mr->object.number);
	mr->region = *region;
	return mr;
}

void sim_destroy_mr(struct sim_mr *mr)
{
	destroy_object(&mr->object, mr->pd->context, &mr->pd->object);
}

struct sim_mw *sim_create_mw(struct sim_pd *pd, enum ibv_mw_type type)
{
	struct sim_mw *mw = create_object(SIM_MW, sizeof(*mw), pd->context, &pd->object, NULL);

	mw->pd = pd;
	mw->type = type;
	mw->key = 0x80000000 + mw->object.number * 0x100; /* no region has this key */
	return mw;
}

void sim_destroy_mw(struct sim_mw *mw)
{
	sim_unbind_mw(mw);
	destroy_object(&mw->object, mw->pd->context, &mw->pd->object);
}

struct sim_ah *sim_create_ah(struct sim_pd *pd, void *user, const struct ibv_ah_attr *path)
{
	struct sim_ah *ah = create_object(SIM_AH, sizeof(*ah), pd->context, &pd->object, user);

	ah->pd = pd;
	ah->path = *path;
	return ah;
}

void sim_destroy_ah(struct sim_ah *ah)
{
	destroy_object(&ah->object, ah->pd->context, &ah->pd->object);
}

struct sim_cq *sim_create_cq(struct sim_context *context, uint32_t depth,
			     struct sim_channel *channel, void *user)
{
	struct sim_cq *cq =
		create_object(SIM_CQ, sizeof(*cq), context, &context->async.object, user);

	cq->context = context;
	cq->depth = depth;
	cq->channel = channel;
	if (channel)
		channel->object.users++;
	return cq;
}

void sim_destroy_cq(struct sim_cq *cq)
{
	sim_discard_events(&cq->context->async, &cq->object);
	if (cq->channel) {
		sim_discard_events(cq->channel, &cq->object);
		SIM_COUNT_DOWN(cq->channel->object.users);
	}
	sim_destroy_ring(&cq->ring);
	destroy_object(&cq->object, cq->context, &cq->context->async.object);
}

static void init_queue(struct sim_recv_queue *queue, uint32_t max, uint32_t max_sge)
{
	TAILQ_INIT(&queue->posted);
	queue->max = max;
	queue->max_sge = max_sge;
}

struct sim_srq *sim_create_srq(struct sim_pd *pd, uint32_t max, uint32_t max_sge, void *user)
{
	struct sim_srq *srq = create_object(SIM_SRQ, sizeof(*srq), pd->context, &pd->object, user);

	srq->pd = pd;
	init_queue(&srq->queue, max, max_sge);
	return srq;
}

/* Works only with a ring. */
static int resize_srq(struct sim_srq *srq, uint32_t max_wr)
{
	const struct sim_traits *traits = sim_traits(srq->pd->context);
	uint32_t most = (uint32_t)traits->attr.max_srq_wr;

	if (traits->iwarp)
		return EOPNOTSUPP;
	/* An adapter cannot resize an SRQ, either: hw/mlx5/srq.c. */
	if (!srq->queue.ring.shared || traits->exact || !max_wr || max_wr > most ||
	    max_wr < srq->limit || max_wr < sim_filled(&srq->queue.ring))
		return EINVAL;
	if (sim_resize_ring(&srq->queue.ring, max_wr))
		return ENOMEM;
	srq->queue.max = sim_slots_of(&srq->queue.ring);
	return 0;
}

int sim_modify_srq(struct sim_srq *srq, const struct ibv_srq_attr *attr, int mask)
{
	int ret = 0;

	if (mask & IBV_SRQ_LIMIT && attr->srq_limit > sim_slots_of(&srq->queue.ring))
		return EINVAL;
	if (mask & IBV_SRQ_MAX_WR)
		ret = resize_srq(srq, attr->max_wr);
	if (ret)
		return ret;
	if (mask & IBV_SRQ_LIMIT)
		srq->limit = attr->srq_limit;
	return 0;
}

void sim_destroy_srq(struct sim_srq *srq)
{
	struct sim_recv *recv;

	while ((recv = TAILQ_FIRST(&srq->queue.posted))) {
		SIM_UNLINK(&srq->queue.posted, recv, link);
		sim_free(recv);
	}
	sim_discard_events(&srq->pd->context->async, &srq->object);
	sim_destroy_ring(&srq->queue.ring);
	destroy_object(&srq->object, srq->pd->context, &srq->pd->object);
}

static void init_task(struct sim_task *task, enum sim_task_kind kind, void *object)
{
	task->kind = kind;
	task->object = object;
}

struct sim_qp *sim_create_qp(struct sim_pd *pd, const struct sim_qp_needs *needs, void *user)
{
	struct sim_qp *qp = create_object(SIM_QP, sizeof(*qp), pd->context, &pd->object, user);

	qp->pd = pd;
	qp->send_cq = needs->send_cq;
	qp->recv_cq = needs->recv_cq;
	qp->srq = needs->srq;
	qp->type = needs->type;
	qp->sq_sig_all = needs->sq_sig_all;
	qp->cap = needs->cap;
	TAILQ_INIT(&qp->sends);
	TAILQ_INIT(&qp->wire);
	TAILQ_INIT(&qp->reads);
	TAILQ_INIT(&qp->unpolled);
	TAILQ_INIT(&qp->flushed);
	init_queue(&qp->recvs, needs->cap.max_recv_wr, needs->cap.max_recv_sge);
	init_task(&qp->execute, SIM_TASK_EXECUTE, qp);
	init_task(&qp->acknowledge, SIM_TASK_ACKNOWLEDGE, qp);
	qp->send_cq->object.users++;
	qp->recv_cq->object.users++;
	if (qp->srq)
		qp->srq->object.users++;
	sim_check_depth(qp);
	return qp;
}

void sim_destroy_qp(struct sim_qp *qp)
{
	sim_reset_qp(qp);
	if (qp->endpoint)
		*qp->of_endpoint = NULL;
	sim_destroy_ring(&qp->ring);
	sim_destroy_ring(&qp->recvs.ring);
	sim_discard_events(&qp->pd->context->async, &qp->object);
	SIM_COUNT_DOWN(qp->send_cq->object.users);
	SIM_COUNT_DOWN(qp->recv_cq->object.users);
	if (qp->srq)
		SIM_COUNT_DOWN(qp->srq->object.users);
	destroy_object(&qp->object, qp->pd->context, &qp->pd->object);
}

void sim_destroy_channel(struct sim_channel *channel)
{
	sim_discard_events(channel, NULL);
	sim_is_shown(channel);
	sim_destroy(channel);
}
