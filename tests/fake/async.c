/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: fake verbs, asynchronous events. Contract: as in ibv_get_async_event(3). All connections
 * to a device share its events. If there is no event, a program that reads one would wait forever.
 * So would a program that destroys a QP or CQ whose event it has read and not acknowledged. Events
 * that were not read end with their object.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "tests/fake/libc.h"
#include "tests/fake/machines.h"
#include "tests/fake/state.h"

struct async {
	STAILQ_ENTRY(async) next;
	struct ibv_context *context;
	struct ibv_async_event pub;
};

static STAILQ_HEAD(asyncs, async) queue = STAILQ_HEAD_INITIALIZER(queue);
static int fds[FAKE_MAX_DEVICES];
static bool raised;
static unsigned int unacked; /* events of ports and devices */

void fake_open_async(void)
{
	unsigned int i, n = fake_count_adapters();

	for (i = 0; i < n || i < fake_config->devices; i++)
		fds[i] = __real_eventfd(0, EFD_SEMAPHORE | EFD_CLOEXEC);
}

int fake_async_fd(unsigned int device)
{
	return fds[device];
}

static bool is_of_cq(enum ibv_event_type type)
{
	return type == IBV_EVENT_CQ_ERR;
}

static bool is_of_qp(enum ibv_event_type type)
{
	return (type >= IBV_EVENT_QP_FATAL && type <= IBV_EVENT_PATH_MIG_ERR) ||
	       type == IBV_EVENT_QP_LAST_WQE_REACHED;
}

static bool is_of_srq(enum ibv_event_type type)
{
	return type == IBV_EVENT_SRQ_ERR || type == IBV_EVENT_SRQ_LIMIT_REACHED;
}

static struct async *add(struct ibv_context *context, enum ibv_event_type type)
{
	struct async *async = fake_allocate(sizeof(*async));

	async->context = context;
	async->pub.event_type = type;
	STAILQ_INSERT_TAIL(&queue, async, next);
	if (eventfd_write(context->async_fd, 1))
		fake_complain("the asynchronous events are broken");
	return async;
}

void fake_raise_of(struct ibv_context *context, enum ibv_event_type type, void *element)
{
	struct async *async = add(context, type);

	if (is_of_srq(type))
		async->pub.element.srq = element;
	else
		async->pub.element.qp = element;
}

void fake_raise(struct fake_id *id)
{
	struct fake_qp *qp = fake_qp_of(id);
	struct async *async;

	if (raised || !qp || !fake_config->has_async)
		return;
	raised = true;
	if (fake_config->drained_first)
		fake_raise_of(qp->pub.context, IBV_EVENT_SQ_DRAINED, &qp->pub);
	async = add(qp->pub.context, (enum ibv_event_type)fake_config->async_event);
	if (is_of_qp(async->pub.event_type))
		async->pub.element.qp = &qp->pub;
	else if (is_of_cq(async->pub.event_type))
		async->pub.element.cq = &qp->recv_cq->pub;
	else
		async->pub.element.port_num = 1;
}

static unsigned int *count_of(const struct ibv_async_event *event)
{
	if (is_of_qp(event->event_type))
		return &fake_of(struct fake_qp, event->element.qp)->unacked;
	if (is_of_srq(event->event_type))
		return &fake_of(struct fake_srq, event->element.srq)->unacked;
	if (is_of_cq(event->event_type))
		return &fake_of(struct fake_cq, event->element.cq)->unacked_async;
	return &unacked;
}

static void take(struct async *async, struct ibv_async_event *event)
{
	eventfd_t one;

	*event = async->pub;
	++*count_of(event);
	STAILQ_REMOVE(&queue, async, async, next);
	if (eventfd_read(async->context->async_fd, &one))
		fake_complain("the asynchronous events are broken");
	free(async);
}

static struct async *first_of(const struct ibv_context *context)
{
	struct async *async = STAILQ_FIRST(&queue);

	while (async && async->context != context)
		async = STAILQ_NEXT(async, next);
	return async;
}

int ibv_get_async_event(struct ibv_context *context, struct ibv_async_event *event)
{
	struct fake_fault fault = fake_begin("ibv_get_async_event");
	struct async *async = first_of(context);

	if (!fault.error && !async) {
		if (!(__real_fcntl(context->async_fd, F_GETFL) & O_NONBLOCK))
			fake_complain("ibv_get_async_event: there is none: it would wait forever");
		fault.error = EAGAIN;
	}
	if (!fault.error)
		take(async, event);
	return fake_end_rdma(fault.error);
}

/* After this another thread may destroy the object: nobody may look for it any more. */
void ibv_ack_async_event(struct ibv_async_event *event)
{
	fake_begin_sure("ibv_ack_async_event");
	if (!*count_of(event))
		fake_complain("ibv_ack_async_event: there is nothing to ack");
	else
		--*count_of(event);
	memset(&event->element, 0, sizeof(event->element));
	fake_end(0);
}

const char *ibv_event_type_str(enum ibv_event_type type)
{
	(void)type;
	return "event";
}

void fake_drop_async(const void *element)
{
	struct async *async, *next;
	struct ibv_async_event event;

	for (async = STAILQ_FIRST(&queue); async; async = next) {
		next = STAILQ_NEXT(async, next);
		if (element != async->pub.element.qp) /* or of a CQ or SRQ: it is a union */
			continue;
		take(async, &event);
		--*count_of(&event);
		fake_report->low_unread += event.event_type == IBV_EVENT_SRQ_LIMIT_REACHED;
	}
}

void fake_judge_async(void)
{
	struct async *async;

	if (unacked)
		fake_complain("%u asynchronous events were never acked", unacked);
	while ((async = STAILQ_FIRST(&queue))) {
		STAILQ_REMOVE_HEAD(&queue, next);
		free(async);
	}
}
