/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Queues of events, of completions and of receives. See device.h.
 */
#include <string.h>

#include "verbs-sim/core/schedule.h"
#include "verbs-sim/device/device.h"

/* ---- Events ---- */

void sim_init_channel(struct sim_channel *channel, int fd)
{
	channel->fd = fd;
	TAILQ_INIT(&channel->events);
}

static void make_stale(struct sim_channel *channel)
{
	if (!channel->stale)
		SIM_LINK(&channel->object.program->stale, channel, link);
	channel->stale = true;
}

void sim_is_shown(struct sim_channel *channel)
{
	if (channel->stale)
		SIM_UNLINK(&channel->object.program->stale, channel, link);
	channel->stale = false;
}

void sim_post_event(struct sim_channel *channel, struct sim_event *event)
{
	SIM_LINK(&channel->events, event, link);
	if (event->about)
		event->about->queued++;
	make_stale(channel);
	sim_wake_descriptor(channel->object.program, channel);
}

struct sim_event *sim_take_event(struct sim_channel *channel)
{
	struct sim_event *event = TAILQ_FIRST(&channel->events);

	if (event)
		sim_remove_event(channel, event);
	return event;
}

void sim_remove_event(struct sim_channel *channel, struct sim_event *event)
{
	SIM_UNLINK(&channel->events, event, link);
	if (event->about)
		SIM_COUNT_DOWN(event->about->queued);
	make_stale(channel);
}

void sim_discard_events(struct sim_channel *channel, const struct sim_object *about)
{
	struct sim_event *event, *next;

	for (event = TAILQ_FIRST(&channel->events); event && (!about || about->queued);
	     event = next) {
		next = TAILQ_NEXT(event, link);
		if (about && event->about != about)
			continue;
		sim_remove_event(channel, event);
		sim_free(event);
	}
}

void sim_post_async(struct sim_context *context, enum ibv_event_type type, struct sim_object *about)
{
	struct sim_async_event *event = sim_alloc(sizeof(*event));

	event->type = type;
	event->head.about = about;
	sim_cover_event(context->async.object.program, "asynchronous", sim_async_name(type), false);
	sim_trace_event(context->async.object.program, "asynchronous event %s comes",
			sim_async_name(type));
	sim_post_event(&context->async, &event->head);
}

/* ---- Completions ---- */

static void tell_channel(struct sim_cq *cq)
{
	struct sim_event *event;

	cq->armed = SIM_NOT_ARMED;
	if (cq->ring.entries)
		sim_siw_disarm(&cq->ring);
	if (!cq->channel)
		return;
	event = sim_alloc(sizeof(*event));
	event->about = &cq->object;
	sim_post_event(cq->channel, event);
}

uint32_t sim_pending(const struct sim_cq *cq)
{
	return sim_filled(&cq->ring);
}

/* libsiw arms a CQ without a call. */
static void read_arming(struct sim_cq *cq)
{
	bool solicited_only;

	if (!cq->ring.entries)
		return;
	cq->armed = !sim_siw_is_armed(&cq->ring, &solicited_only) ? SIM_NOT_ARMED
		    : solicited_only                              ? SIM_ARMED_SOLICITED
								  : SIM_ARMED;
}

/* Each QP of a dead CQ fails when it would do something next: see sim_fails_with_cq. */
static void end_cq(struct sim_cq *cq)
{
	struct sim_object *object;
	struct sim_qp *qp;

	cq->dead = true;
	SIM_EACH(object, SIM_QP)
	{
		qp = (struct sim_qp *)object;
		if (qp->send_cq == cq || qp->recv_cq == cq)
			sim_schedule(&qp->execute, sim_world->now_ns);
	}
}

void sim_complete(struct sim_cq *cq, const struct ibv_wc *wc, bool solicited)
{
	const char *name;
	bool tells;

	if (cq->dead)
		return;
	if (sim_pending(cq) == cq->depth) {
		sim_blame(cq->object.program, "cq-overrun: a CQ of %u entries overruns", cq->depth);
		sim_post_async(cq->context, IBV_EVENT_CQ_ERR, &cq->object);
		if (sim_traits(cq->context)->dies_of_overrun)
			end_cq(cq);
		return;
	}
	sim_put_completion(&cq->ring, wc);
	read_arming(cq);
	tells = cq->armed == SIM_ARMED || (cq->armed == SIM_ARMED_SOLICITED && solicited &&
					   sim_traits(cq->context)->solicited);
	sim_note("completion", (uint64_t)wc->status << 8 | wc->opcode);
	name = wc->status ? sim_status_name(wc->status) : sim_opcode_name(wc->opcode);
	sim_cover_event(cq->object.program, "completion", name, wc->status);
	sim_trace_event(cq->object.program, "%s in CQ %u%s", name, cq->object.number,
			!cq->channel ? ""
			: tells      ? ", event"
				     : ", not armed");
	sim_wake(cq->object.program, cq);
	if (tells)
		tell_channel(cq);
}

void sim_complete_recv(struct sim_qp *qp, const struct sim_recv *recv, enum ibv_wc_status status)
{
	struct ibv_wc wc = {
		.wr_id = recv->wr_id,
		.status = status,
		.opcode = IBV_WC_RECV,
		.qp_num = qp->object.number,
	};

	sim_complete(qp->recv_cq, &wc, true);
}

enum ibv_wc_status sim_judge(struct sim_program *program, enum ibv_wc_status status)
{
	if (!program->next_status || status)
		return status;
	status = (enum ibv_wc_status)program->next_status->value;
	sim_report_fault("a completion with %s", program->next_status->how);
	program->next_status->happened = true;
	program->next_status = NULL;
	return status;
}

/* ---- Receives ---- */

static void tell_limit(struct sim_srq *srq)
{
	if (srq->queue.count >= srq->limit)
		return;
	srq->limit = 0;
	sim_post_async(srq->pd->context, IBV_EVENT_SRQ_LIMIT_REACHED, &srq->object);
}

struct sim_recv_queue *sim_recvs_of(struct sim_qp *qp)
{
	return qp->srq ? &qp->srq->queue : &qp->recvs;
}

const struct sim_pd *sim_recv_pd(const struct sim_qp *qp)
{
	return qp->srq && sim_qp_traits(qp)->srq_has_pd ? qp->srq->pd : qp->pd;
}

void sim_read_recvs(const struct sim_program *program, struct sim_recv_queue *queue)
{
	struct sim_recv *recv;

	while (sim_has_memory(SIM_MOST_OBJECT) && (recv = sim_read_recv(&queue->ring))) {
		sim_check_recv(program, queue, recv->sge, recv->num_sge);
		SIM_LINK(&queue->posted, recv, link);
		queue->count++;
	}
}

struct sim_recv *sim_next_recv(struct sim_qp *qp)
{
	return TAILQ_FIRST(&sim_recvs_of(qp)->posted);
}

struct sim_recv *sim_take_recv(struct sim_qp *qp)
{
	struct sim_recv_queue *queue = sim_recvs_of(qp);
	struct sim_recv *recv = sim_next_recv(qp);

	if (!recv)
		return NULL;
	SIM_UNLINK(&queue->posted, recv, link);
	SIM_COUNT_DOWN(queue->count);
	if (!sim_qp_traits(qp)->frees_polled)
		sim_release_entry(&queue->ring);
	if (qp->srq)
		tell_limit(qp->srq);
	return recv;
}

bool sim_fits(const struct sim_recv *recv, uint32_t length)
{
	uint64_t room = 0;
	int i;

	for (i = 0; i < recv->num_sge; i++)
		room += recv->sge[i].length;
	return length <= room;
}
