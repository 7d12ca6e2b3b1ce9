/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: fake verbs, libibverbs' completion queues and their events. Contract: an armed CQ makes
 * one event, for the next completion. In FAKE_WILD completions come late: between the last poll and
 * the arming, just after the arming, or after some empty polls; and some events come without a
 * completion. With config.while_asleep, completions come only when the program sleeps.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/fake/libc.h"
#include "tests/fake/limits.h"
#include "tests/fake/state.h"

static LIST_HEAD(cq_list, fake_cq) cqs;

struct ibv_cq *ibv_create_cq(struct ibv_context *context, int entries, void *cq_context,
			     struct ibv_comp_channel *channel, int vector)
{
	struct fake_fault fault = fake_begin("ibv_create_cq");
	struct fake_cq *cq = NULL;

	if (vector < 0 || vector >= context->num_comp_vectors || entries < 1 ||
	    (channel && channel->context != context))
		fake_complain("ibv_create_cq: no such vector, no entries, or another's channel");
	if (!fault.error)
		fault.error = fake_check_cqe(entries);
	if (!fault.error) {
		cq = fake_new(struct fake_cq, "CQ");
		cq->ring = fake_allocate((size_t)entries * sizeof(*cq->ring));
		cq->held = fake_allocate((size_t)entries * sizeof(*cq->held));
		cq->channel = channel ? fake_of(struct fake_comp_channel, channel) : NULL;
		if (channel && fake_use(&cq->channel->object, "ibv_create_cq"))
			channel->refcnt = (int)++cq->channel->object.users;
		cq->pub.context = context;
		cq->pub.cq_context = cq_context;
		cq->pub.channel = channel;
		cq->pub.cqe = entries;
		LIST_INSERT_HEAD(&cqs, cq, next);
	}
	fake_end(fault.error);
	return cq ? &cq->pub : NULL;
}

static void add_event(struct fake_cq *cq)
{
	struct fake_comp_channel *channel = cq->channel;
	const uint64_t one = 1;

	if (channel->n == FAKE_MAX_WR || write(channel->pub.fd, &one, sizeof(one)) != sizeof(one)) {
		fake_complain("completion channel %u is broken", channel->object.number);
		return;
	}
	channel->events[(channel->first + channel->n++) % FAKE_MAX_WR] = cq;
}

static struct fake_cq *take_event(struct fake_comp_channel *channel)
{
	struct fake_cq *cq = channel->events[channel->first];
	uint64_t one;

	if (read(channel->pub.fd, &one, sizeof(one)) != sizeof(one))
		fake_complain("completion channel %u is broken", channel->object.number);
	channel->first = (channel->first + 1) % FAKE_MAX_WR;
	channel->n--;
	return cq;
}

/* Events of a CQ that were not read end with the CQ. */
static void drop_events(struct fake_cq *cq)
{
	unsigned int left = cq->channel->n;
	struct fake_cq *other;

	while (left--) {
		other = take_event(cq->channel);
		if (other != cq)
			add_event(other);
	}
}

int ibv_destroy_cq(struct ibv_cq *pub)
{
	struct fake_fault fault = fake_begin("ibv_destroy_cq");
	struct fake_cq *cq = fake_of(struct fake_cq, pub);

	if (cq->unacked)
		fake_complain("ibv_destroy_cq: it would wait forever: CQ %u has %u events that "
			      "are not acked",
			      cq->object.number, cq->unacked);
	if (cq->unacked_async)
		fake_complain(
			"ibv_destroy_cq: it would wait forever: an asynchronous event of CQ %u "
			"is not acked",
			cq->object.number);
	fake_drop_async(&cq->pub);
	if (!fake_retire(&cq->object, "ibv_destroy_cq"))
		return fake_end(EBUSY);
	LIST_REMOVE(cq, next);
	if (cq->channel) {
		drop_events(cq);
		cq->channel->pub.refcnt = (int)--cq->channel->object.users;
	}
	free(cq->ring);
	free(cq->held);
	return fake_end(fault.error);
}

static void insert(struct fake_cq *cq, const struct ibv_wc *wc)
{
	if (cq->n == (unsigned int)cq->pub.cqe) {
		fake_complain("CQ %u overruns its %d entries", cq->object.number, cq->pub.cqe);
		return;
	}
	cq->ring[(cq->first + cq->n++) % (unsigned int)cq->pub.cqe] = *wc;
	if (cq->armed && fake_config->slow_events)
		cq->events_due++;
	else if (cq->armed)
		add_event(cq);
	cq->armed = false;
}

static void release(struct fake_cq *cq)
{
	unsigned int i;

	for (i = 0; i < cq->n_held; i++)
		insert(cq, &cq->held[i]);
	cq->n_held = 0;
}

void fake_make_events(void)
{
	struct fake_cq *cq;

	for (cq = LIST_FIRST(&cqs); cq; cq = LIST_NEXT(cq, next)) {
		for (; cq->events_due; cq->events_due--)
			add_event(cq);
	}
}

void fake_release_completions(void)
{
	struct fake_cq *cq;

	for (cq = LIST_FIRST(&cqs); cq; cq = LIST_NEXT(cq, next)) {
		if (cq->channel)
			release(cq);
	}
}

static bool comes_late(const struct fake_cq *cq)
{
	if (fake_config->while_asleep)
		return cq->channel;
	return cq->n_held || (!cq->armed && fake_chance(4));
}

/*
 * No completion of an armed CQ is held back, because the program may sleep. A CQ that is not armed
 * will be polled again and again, or until it is armed.
 */
void fake_complete(struct fake_qp *qp, struct fake_cq *cq, const struct ibv_wc *wc)
{
	(void)qp;
	if (!cq->object.alive)
		return;
	fake_report->completions++;
	if (cq->n_held == (unsigned int)cq->pub.cqe)
		release(cq);
	if (comes_late(cq)) {
		fake_report->held++;
		cq->held[cq->n_held++] = *wc;
		cq->patience = fake_random(16) ? fake_random(20) : fake_random(10000);
		return;
	}
	insert(cq, wc);
}

static void forget(struct ibv_wc *entries, unsigned int first, unsigned int *n, unsigned int size,
		   uint32_t qp_num)
{
	unsigned int i, kept = 0;

	for (i = 0; i < *n; i++) {
		if (entries[(first + i) % size].qp_num != qp_num)
			entries[(first + kept++) % size] = entries[(first + i) % size];
	}
	*n = kept;
}

void fake_forget_completions(struct fake_cq *cq, uint32_t qp_num)
{
	forget(cq->ring, cq->first, &cq->n, (unsigned int)cq->pub.cqe, qp_num);
	forget(cq->held, 0, &cq->n_held, (unsigned int)cq->pub.cqe, qp_num);
}

static void looked_in_vain(const struct fake_cq *cq)
{
	fake_hurry();
	fake_complete_late_sends(cq);
	fake_give_up_dead_hosts(cq);
	fake_strangers_move();
	fake_finish_torn();
	fake_talkers_move();
}

int fake_poll_cq(struct ibv_cq *pub, int wanted, struct ibv_wc *wc)
{
	struct fake_fault fault = fake_begin("ibv_poll_cq");
	struct fake_cq *cq = fake_of(struct fake_cq, pub);
	int taken = 0;

	if (fault.error || !fake_use(&cq->object, "ibv_poll_cq")) {
		fake_end(fault.error);
		return -1;
	}
	if (cq->n_held && !fake_config->while_asleep && !cq->patience--)
		release(cq);
	fake_note_handled(cq);
	for (; taken < wanted && cq->n; taken++) {
		wc[taken] = cq->ring[cq->first];
		if (wc[taken].status == IBV_WC_SUCCESS) {
			fake_note_talk(wc[taken].qp_num);
			fake_note_seen(&wc[taken]);
		}
		cq->first = (cq->first + 1) % (unsigned int)cq->pub.cqe;
		cq->n--;
	}
	if (!taken)
		looked_in_vain(cq);
	fake_note_look(taken, wc);
	if (taken && cq->channel && fake_chance(8) && cq->channel->n < FAKE_MAX_WR / 2) {
		fake_report->spurious_events++;
		add_event(cq); /* an event for a completion that has been polled, for example */
	}
	fake_end(0);
	if (!taken && fake_config->delivery == FAKE_BY_THREAD)
		sched_yield(); /* otherwise this thread would take the lock again at once */
	return taken;
}

int fake_req_notify_cq(struct ibv_cq *pub, int solicited_only)
{
	struct fake_fault fault = fake_begin("ibv_req_notify_cq");
	struct fake_cq *cq = fake_of(struct fake_cq, pub);

	if (fault.error || !fake_use(&cq->object, "ibv_req_notify_cq"))
		return fake_end(fault.error);
	if (!cq->channel)
		fake_complain("ibv_req_notify_cq: CQ %u has no channel", cq->object.number);
	if (solicited_only)
		fake_complain("ibv_req_notify_cq: no message is solicited, and no event will come");
	if (cq->n_held && fake_chance(2)) {
		fake_report->before_arming++;
		release(cq); /* after the last poll, before the arming: no event comes */
	}
	fake_report->armed++;
	cq->armed = cq->channel;
	if (!fake_config->while_asleep)
		release(cq);
	return fake_end(0);
}

int ibv_get_cq_event(struct ibv_comp_channel *pub, struct ibv_cq **cq, void **context)
{
	struct fake_fault fault = fake_begin("ibv_get_cq_event");
	struct fake_comp_channel *channel = fake_of(struct fake_comp_channel, pub);
	struct pollfd readable = { .fd = pub->fd, .events = POLLIN };
	static unsigned int woken; /* one time after the other */
	struct fake_cq *its;

	if (!fault.error && !fake_use(&channel->object, "ibv_get_cq_event"))
		fault.error = EBADF;
	while (!fault.error && !channel->n) {
		if (__real_fcntl(pub->fd, F_GETFL) & O_NONBLOCK) {
			fault.error = EAGAIN;
			break;
		}
		if (fake_report->one_file && fake_alarm_s() != 1)
			fake_complain("ibv_get_cq_event: it looks after its peer only in %u s",
				      fake_alarm_s());
		fake_unlock();
		if (__real_poll(&readable, 1, -1) < 0)
			fault.error = EINTR;
		fake_lock();
	}
	woken = fault.error == EINTR ? woken + 1 : 0;
	if (woken > fake_report->woken)
		fake_report->woken = woken;
	if (fault.error)
		return fake_end_rdma(fault.error);
	its = take_event(channel);
	its->unacked++;
	fake_report->looks.cq_events++;
	*cq = &its->pub;
	*context = its->pub.cq_context;
	return fake_end_rdma(0);
}

void ibv_ack_cq_events(struct ibv_cq *pub, unsigned int n)
{
	struct fake_cq *cq = fake_of(struct fake_cq, pub);

	fake_begin_sure("ibv_ack_cq_events");
	if (fake_use(&cq->object, "ibv_ack_cq_events") && n > cq->unacked)
		fake_complain("ibv_ack_cq_events: CQ %u: %u acked, %u were got", cq->object.number,
			      n, cq->unacked);
	cq->unacked -= n < cq->unacked ? n : cq->unacked;
	fake_end(0);
}
