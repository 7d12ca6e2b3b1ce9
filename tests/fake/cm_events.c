/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: fake verbs, librdmacm's events. Contract: a channel's descriptor is an eventfd that counts
 * the events in its queue. So poll(2), O_NONBLOCK and signals have the same effect as with the
 * kernel's descriptor.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "tests/fake/libc.h"
#include "tests/fake/state.h"

static void count_up(const struct fake_channel *channel)
{
	const uint64_t one = 1;

	if (write(channel->pub.fd, &one, sizeof(one)) != sizeof(one))
		fake_complain("event channel %u is broken", channel->object.number);
}

/* The count is the length of the queue, so this read does not block. */
static void count_down(const struct fake_channel *channel)
{
	uint64_t one;

	if (read(channel->pub.fd, &one, sizeof(one)) != sizeof(one))
		fake_complain("event channel %u is broken", channel->object.number);
}

/*
 * Private data in the length that the transport delivers: InfiniBand and RoCE pad it to the length
 * of their message.
 */
static size_t padded(const struct fake_id *id, enum rdma_cm_event_type type, size_t length)
{
	if (fake_config->iwarp)
		return length;
	switch (type) {
	case RDMA_CM_EVENT_CONNECT_REQUEST:
		return 56;
	case RDMA_CM_EVENT_REJECTED:
		return 148;
	case RDMA_CM_EVENT_ESTABLISHED:
		return id->state == FAKE_ROUTE ? 196 : 0; /* the event is for a client */
	default:
		return length;
	}
}

void fake_send_event(struct fake_id *id, enum rdma_cm_event_type type, int status,
		     const uint8_t *private_data, size_t length)
{
	struct fake_event *event = fake_new(struct fake_event, "CM event");

	event->object.hidden = true; /* until the program gets the event */
	event->id = id;
	event->peer = id->peer;
	event->pub.event = type;
	event->pub.status = status;
	/*
	 * The depths from the receiver's side: its initiator_depth is the peer's
	 * responder_resources.
	 */
	event->pub.param.conn.responder_resources = id->peer ? id->peer->initiator_depth : 0;
	event->pub.param.conn.initiator_depth = id->peer ? id->peer->responder_resources : 0;
	if (length)
		memcpy(event->private_data, private_data, length);
	length = padded(id, type, length);
	event->pub.param.conn.private_data = length ? event->private_data : NULL;
	event->pub.param.conn.private_data_len = (uint8_t)length;
	fake_put_event(event);
}

void fake_queue_event(struct fake_event *event)
{
	if (!event->id->object.alive)
		return;
	STAILQ_INSERT_TAIL(&event->id->channel->queue, event, next);
	count_up(event->id->channel);
}

void fake_move_events(struct fake_id *id, struct fake_channel *from, struct fake_channel *to)
{
	struct fake_event *event, *next;

	for (event = STAILQ_FIRST(&from->queue); event; event = next) {
		next = STAILQ_NEXT(event, next);
		if (event->id != id)
			continue;
		STAILQ_REMOVE(&from->queue, event, fake_event, next);
		count_down(from);
		if (!to)
			continue;
		STAILQ_INSERT_TAIL(&to->queue, event, next);
		count_up(to);
	}
}

void fake_drop_events(struct fake_id *id)
{
	fake_move_events(id, id->channel, NULL);
}

/* The id of a connect request is created when the program gets the event, as in librdmacm. */
static void take_request(struct fake_event *event)
{
	struct fake_id *listener = event->id;
	struct fake_id *id = fake_new_id(listener->channel, listener->pub.context, listener->sync);

	id->state = FAKE_REQUESTED;
	id->peer = event->peer;
	id->peer->id = id;
	memcpy(&id->pub.route.addr, &listener->pub.route.addr, sizeof(id->pub.route.addr));
	fake_give_device(id);
	event->pub.listen_id = &listener->pub;
	event->pub.id = &id->pub;
}

/* Until the program has the event it has not waited for it, and may not go on. */
static void take_resolved(struct fake_id *id, enum rdma_cm_event_type type)
{
	if (type == RDMA_CM_EVENT_ADDR_RESOLVED)
		id->state = FAKE_ADDR;
	if (type == RDMA_CM_EVENT_ROUTE_RESOLVED)
		id->state = FAKE_ROUTE;
}

static void take(struct fake_channel *channel, struct fake_event *event)
{
	STAILQ_REMOVE_HEAD(&channel->queue, next);
	count_down(channel);
	event->got = true;
	event->object.hidden = false;
	event->id->unacked++;
	event->pub.id = &event->id->pub;
	if (event->pub.event == RDMA_CM_EVENT_CONNECT_REQUEST)
		take_request(event);
	take_resolved(event->id, event->pub.event);
	if (event->pub.event == RDMA_CM_EVENT_ESTABLISHED && event->id->peer)
		event->id->peer->accepted = true; /* as seen by the program */
	if (event->id->taken_back && event->pub.event == RDMA_CM_EVENT_REJECTED)
		fake_flush(fake_qp_of(event->id));
}

/* Releases the lock during the wait. Returns 0 or an errno value. */
static int wait_event(struct fake_channel *channel, struct fake_event **event)
{
	struct pollfd readable = { .fd = channel->pub.fd, .events = POLLIN };

	for (;;) {
		fake_pump();
		*event = STAILQ_FIRST(&channel->queue);
		if (*event) {
			take(channel, *event);
			return 0;
		}
		if (__real_fcntl(channel->pub.fd, F_GETFL) & O_NONBLOCK)
			return EAGAIN;
		fake_check_end();
		fake_unlock();
		if (__real_poll(&readable, 1, -1) < 0) {
			fake_lock();
			return EINTR;
		}
		fake_lock();
	}
}

/* librdmacm modifies the QP of the id that an event is about. Other threads go on meanwhile. */
static void modify_qp_of(struct fake_id *id)
{
	struct fake_qp *qp = fake_qp_of(id);
	int turns = 20;

	if (!qp)
		return;
	qp->in_cm_calls++;
	while (turns--) {
		fake_unlock();
		sched_yield();
		fake_lock();
	}
	qp->in_cm_calls--;
}

int rdma_get_cm_event(struct rdma_event_channel *pub, struct rdma_cm_event **got)
{
	struct fake_fault fault = fake_begin("rdma_get_cm_event");
	struct fake_channel *channel = fake_of(struct fake_channel, pub);
	struct fake_event *event;

	if (!fault.error && !fake_use(&channel->object, "rdma_get_cm_event"))
		fault.error = EBADF;
	if (!fault.error && fake_interrupts(8))
		fault.error = EINTR;
	if (!fault.error)
		fault.error = wait_event(channel, &event);
	if (!fault.error) {
		modify_qp_of(event->id);
		*got = &event->pub;
	}
	return fake_end_rdma(fault.error);
}

void fake_ack(struct fake_event *event, const char *call)
{
	if (fake_retire(&event->object, call))
		event->id->unacked--;
	fake_changed();
}

void fake_await_acks(struct fake_id *id, const char *call)
{
	bool hope = true;

	while (id->unacked && hope)
		hope = fake_await_change();
	if (id->unacked)
		fake_complain("%s: it would wait forever: id %u has %u events that are not acked",
			      call, id->object.number, id->unacked);
}

int rdma_ack_cm_event(struct rdma_cm_event *event)
{
	fake_begin_sure("rdma_ack_cm_event");
	fake_ack(fake_of(struct fake_event, event), "rdma_ack_cm_event");
	return fake_end_rdma(0);
}

/* What librdmacm does at the end of each call on a synchronous id. */
int fake_wait_if_sync(struct fake_id *id)
{
	struct fake_event *event;
	int error;

	if (!id->sync)
		return 0;
	if (id->pub.event)
		fake_ack(fake_of(struct fake_event, id->pub.event), "a synchronous call");
	id->pub.event = NULL;
	error = wait_event(id->channel, &event);
	if (error)
		return error;
	id->pub.event = &event->pub;
	if (!event->pub.status)
		return 0;
	if (event->pub.event == RDMA_CM_EVENT_REJECTED)
		return ECONNREFUSED;
	return event->pub.status < 0 ? -event->pub.status : event->pub.status;
}

static int get_request(struct fake_id *listener, struct rdma_cm_id **id)
{
	struct fake_event *event;
	int error;

	if (listener->pub.event)
		fake_ack(fake_of(struct fake_event, listener->pub.event), "rdma_get_request");
	listener->pub.event = NULL;
	error = wait_event(listener->channel, &event);
	if (error)
		return error;
	if (event->pub.event != RDMA_CM_EVENT_CONNECT_REQUEST) {
		listener->pub.event = &event->pub;
		return event->pub.status < 0 ? -event->pub.status : EINVAL;
	}
	*id = event->pub.id;
	(*id)->event = &event->pub;
	return 0;
}

int rdma_get_request(struct rdma_cm_id *pub, struct rdma_cm_id **id)
{
	struct fake_fault fault = fake_begin("rdma_get_request");
	struct fake_id *listener = fake_of(struct fake_id, pub);

	if (!fault.error && (!fake_use(&listener->object, "rdma_get_request") || !listener->sync))
		fault.error = EINVAL;
	if (!fault.error && fake_interrupts(8))
		fault.error = EINTR;
	if (!fault.error)
		fault.error = get_request(listener, id);
	if (fake_end_rdma(fault.error))
		return -1;
	fault.error = fake_equip_request(pub, *id);
	if (fault.error)
		errno = fault.error;
	return fault.error ? -1 : 0;
}

#define NAME(type) [RDMA_CM_EVENT_##type] = "RDMA_CM_EVENT_" #type

const char *rdma_event_str(enum rdma_cm_event_type type)
{
	static const char *const names[] = {
		NAME(ADDR_RESOLVED),  NAME(ADDR_ERROR),      NAME(ROUTE_RESOLVED),
		NAME(ROUTE_ERROR),    NAME(CONNECT_REQUEST), NAME(CONNECT_RESPONSE),
		NAME(CONNECT_ERROR),  NAME(UNREACHABLE),     NAME(REJECTED),
		NAME(ESTABLISHED),    NAME(DISCONNECTED),    NAME(DEVICE_REMOVAL),
		NAME(MULTICAST_JOIN), NAME(MULTICAST_ERROR), NAME(ADDR_CHANGE),
		NAME(TIMEWAIT_EXIT),
	};

	return names[type];
}
