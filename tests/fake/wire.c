/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: fake verbs, messages on their way between the program, its devices and its peers.
 * Contract: a queue, first in, first out. It advances at the end of each call, or in a thread of
 * its own.
 */
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fake/libc.h"
#include "tests/fake/state.h"

enum sort {
	EVENT,
	SEND,
	MESSAGE,
	BEGIN,
	LEAVE,
	PLACE
};

struct delivery {
	STAILQ_ENTRY(delivery) next;
	enum sort sort;
	struct fake_event *event;
	struct fake_qp *qp;
	struct fake_peer *peer;
	struct fake_wr wr; /* of a send */
	uint32_t length;
	uint8_t data[];
};

static STAILQ_HEAD(deliveries, delivery) queue = STAILQ_HEAD_INITIALIZER(queue);
static struct deliveries waiting = STAILQ_HEAD_INITIALIZER(waiting);
static struct deliveries later = STAILQ_HEAD_INITIALIZER(later); /* from peers, with known_us */
static pthread_t thread;
static pthread_cond_t moved = PTHREAD_COND_INITIALIZER;
static pthread_mutex_t moved_lock = PTHREAD_MUTEX_INITIALIZER;
static bool ending, news, running; /* guarded by moved_lock, but running */

static void free_all(struct deliveries *deliveries)
{
	struct delivery *delivery;

	while ((delivery = STAILQ_FIRST(deliveries))) {
		STAILQ_REMOVE_HEAD(deliveries, next);
		free(delivery);
	}
}

static struct delivery *put_into(struct deliveries *to, enum sort sort, const uint8_t *data,
				 uint32_t length)
{
	struct delivery *delivery = fake_allocate(sizeof(*delivery) + length);

	delivery->sort = sort;
	delivery->length = length;
	if (length)
		memcpy(delivery->data, data, length);
	STAILQ_INSERT_TAIL(to, delivery, next);
	return delivery;
}

static struct delivery *put(enum sort sort, const uint8_t *data, uint32_t length)
{
	return put_into(&queue, sort, data, length);
}

void fake_put_event(struct fake_event *event)
{
	put(EVENT, NULL, 0)->event = event;
}

void fake_put_send(struct fake_qp *qp, const struct fake_wr *wr, const uint8_t *data)
{
	struct delivery *delivery = put(SEND, data, wr->length);

	delivery->qp = qp;
	delivery->wr = *wr;
}

void fake_put_ack(struct fake_qp *qp)
{
	put(SEND, NULL, 0)->qp = qp;
}

bool fake_is_dead(const struct fake_peer *peer)
{
	return fake_config->dead &&
	       peer->received + fake_config->unacknowledged >= fake_config->silent_after;
}

void fake_put_message(struct fake_peer *peer, const uint8_t *data, uint32_t length)
{
	struct deliveries *to = fake_time_is_known() ? &later : &queue;

	put_into(to, MESSAGE, data, length)->peer = peer;
}

void fake_put_immediate(struct fake_peer *peer, uint32_t immediate)
{
	struct deliveries *to = fake_time_is_known() ? &later : &queue;
	struct delivery *delivery = put_into(to, MESSAGE, NULL, 0);

	delivery->peer = peer;
	delivery->wr.has_immediate = true;
	delivery->wr.immediate = immediate;
}

void fake_put_place(struct fake_peer *peer)
{
	put_into(&later, PLACE, NULL, 0)->peer = peer;
}

void fake_put_begin(struct fake_peer *peer)
{
	put(BEGIN, NULL, 0)->peer = peer;
}

void fake_put_leave(struct fake_peer *peer)
{
	/*
	 * A server's last answers come first. A program that waits for a client to leave does not
	 * poll for messages.
	 */
	if (peer->is_client && !peer->done)
		free_all(&later);
	else if (peer->is_client)
		STAILQ_CONCAT(&queue, &later);
	put_into(STAILQ_EMPTY(&later) ? &queue : &later, LEAVE, NULL, 0)->peer = peer;
}

bool fake_let_arrive(void)
{
	struct delivery *delivery = STAILQ_FIRST(&later);

	if (!delivery || fake_report->stopped)
		return false;
	fake_pass_message_time();
	do { /* ... and that the peer leaves just after it */
		STAILQ_REMOVE_HEAD(&later, next);
		STAILQ_INSERT_TAIL(&queue, delivery, next);
		delivery = STAILQ_FIRST(&later);
	} while (delivery && delivery->sort == LEAVE);
	return true;
}

void fake_retry_messages(struct fake_qp *qp)
{
	struct delivery *delivery, *next;

	for (delivery = STAILQ_FIRST(&waiting); delivery; delivery = next) {
		next = STAILQ_NEXT(delivery, next);
		if (delivery->peer->id != qp->id)
			continue;
		STAILQ_REMOVE(&waiting, delivery, delivery, next);
		STAILQ_INSERT_TAIL(&queue, delivery, next);
	}
}

static bool works(const struct fake_peer *peer)
{
	return !peer->left && peer->id->object.alive && !fake_report->stopped;
}

/* Operations that take time: those that bring an answer; in a stream, each completion. */
static bool is_message(const struct fake_wr *wr)
{
	return fake_config->only_writes ? !wr->silent : wr->opcode != IBV_WC_RDMA_WRITE;
}

/* WRITE and READ, which the peer's program does not notice. */
static void carry_out(const struct delivery *delivery)
{
	struct fake_qp *qp = delivery->qp;

	if (!works(qp->id->peer) || !fake_carry_out(qp, &delivery->wr, delivery->data))
		return;
	if (fake_config->late_sends)
		qp->late++;
	else if (fake_time_is_known() && is_message(&delivery->wr))
		put_into(&later, SEND, NULL, 0)->qp = qp;
	else
		fake_complete_send(qp, IBV_WC_SUCCESS);
}

/* A program's message reaches the peer, and is acknowledged: either may come first. */
static void hand_over(struct delivery *delivery)
{
	bool recv_first = fake_config->recv_first || fake_chance(2);
	struct fake_qp *qp = delivery->qp;
	struct fake_peer *peer;

	if (!qp->object.alive || qp->pub.state != IBV_QPS_RTS)
		return;
	peer = qp->id->peer;
	if (fake_is_dead(peer)) {
		fake_raise(qp->id);
		/* TCP has accepted the data; but a READ completes only when its answer is there. */
		if (fake_config->iwarp && delivery->wr.opcode != IBV_WC_RDMA_READ &&
		    !fake_config->pushes) /* later the TCP window would be full */
			fake_complete_send(qp, IBV_WC_SUCCESS);
		return;
	}
	if (delivery->wr.opcode != IBV_WC_SEND) {
		carry_out(delivery);
		return;
	}
	if (fake_config->late_sends)
		qp->late++;
	else if (!recv_first)
		fake_complete_send(qp, IBV_WC_SUCCESS);
	if (works(peer))
		peer->wire->hear(peer, delivery->data, delivery->length);
	else if (!peer->left && peer->id->object.alive && peer->wire->overhear)
		peer->wire->overhear(peer, delivery->data, delivery->length);
	if (recv_first && !fake_config->late_sends)
		fake_put_ack(qp); /* after the answer, if there is one */
}

void fake_leave(struct fake_peer *peer)
{
	struct fake_id *id = peer->id;
	struct fake_qp *qp;

	peer->left = true;
	if (!id->object.alive || id->state != FAKE_CONNECTED)
		return;
	id->state = FAKE_PEER_LEFT;
	qp = fake_qp_of(id);
	if (fake_config->cannot_send && qp && qp->sends.n) {
		fake_raise_of(qp->pub.context, IBV_EVENT_QP_FATAL, &qp->pub);
		fake_complete_send(qp, IBV_WC_LOC_QP_OP_ERR);
	}
	if (fake_config->iwarp && qp)
		fake_flush(qp);
	id->gone_late = fake_config->late_gone;
	if (!id->gone_late)
		fake_tell_gone(id);
}

/*
 * Whether the event comes from the peer. The others come from the program's own device, such as the
 * end of a disconnect.
 */
static bool is_answer(const struct fake_event *event)
{
	return event->pub.event < RDMA_CM_EVENT_DISCONNECTED;
}

/* Returns true if the delivery has to wait. */
static bool bring_message(struct delivery *delivery)
{
	struct fake_peer *peer = delivery->peer;
	struct fake_qp *qp = works(peer) ? fake_qp_of(peer->id) : NULL;

	if (!qp || qp->pub.state != IBV_QPS_RTS)
		return false;
	if (delivery->wr.has_immediate)
		fake_place_message(peer);
	if (delivery->wr.has_immediate
		    ? fake_receive_immediate(qp, delivery->wr.immediate, peer->size)
		    : fake_receive(qp, delivery->data, delivery->length))
		return false;
	if (!fake_config->short_pool)
		fake_complain("a message met no receive on QP %u", qp->object.number);
	STAILQ_INSERT_TAIL(&waiting, delivery, next);
	return true;
}

static bool deliver(struct delivery *delivery)
{
	switch (delivery->sort) {
	case EVENT:
		if (!fake_report->stopped || !is_answer(delivery->event))
			fake_queue_event(delivery->event);
		break;
	case SEND:
		if (delivery->length)
			hand_over(delivery);
		else if (delivery->qp->object.alive)
			fake_complete_send(delivery->qp, IBV_WC_SUCCESS);
		break;
	case MESSAGE:
		return bring_message(delivery);
	case PLACE:
		if (works(delivery->peer) && fake_qp_of(delivery->peer->id))
			fake_write_now(delivery->peer);
		break;
	case BEGIN:
		if (works(delivery->peer))
			delivery->peer->wire->begin(delivery->peer);
		break;
	case LEAVE:
		fake_leave(delivery->peer);
		break;
	}
	return false;
}

static void wake_thread(void)
{
	if (STAILQ_EMPTY(&queue))
		return;
	pthread_mutex_lock(&moved_lock);
	news = true;
	pthread_cond_signal(&moved);
	pthread_mutex_unlock(&moved_lock);
}

void fake_pump(void)
{
	struct delivery *delivery;

	if (fake_config->delivery == FAKE_BY_THREAD && !pthread_equal(pthread_self(), thread)) {
		wake_thread();
		return;
	}
	while ((delivery = STAILQ_FIRST(&queue))) {
		STAILQ_REMOVE_HEAD(&queue, next);
		if (!deliver(delivery))
			free(delivery);
	}
}

static void *run(void *nothing)
{
	bool last = false;

	while (!last) {
		pthread_mutex_lock(&moved_lock);
		while (!news && !ending)
			pthread_cond_wait(&moved, &moved_lock);
		news = false;
		last = ending;
		pthread_mutex_unlock(&moved_lock);
		sched_yield();
		fake_lock();
		fake_pump();
		fake_unlock();
	}
	return nothing;
}

void fake_start_wire(void)
{
	fake_lock(); /* the thread finds its own name */
	running = !__real_pthread_create(&thread, NULL, run, NULL);
	fake_unlock();
	if (!running)
		abort();
}

void fake_stop_wire(void)
{
	if (running) {
		pthread_mutex_lock(&moved_lock);
		ending = true;
		pthread_cond_signal(&moved);
		pthread_mutex_unlock(&moved_lock);
		pthread_join(thread, NULL);
	}
	free_all(&queue);
	free_all(&waiting);
	free_all(&later);
}
