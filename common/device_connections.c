/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The connections of a device that shares its CQ or its receives, the buffers that they share, and
 * what a connection gives back when it ends. See our_control.h and shared_device.h.
 */
#include <errno.h>
#include <poll.h>

#include "common/private.h"

#define LAST_RECEIVE_NS (OUR_NS_PER_S / 100) /* a device that says which it was does so at once */
#define SILENT_ENDS     3 /* from then on this device is taken for one that does not */

void our_add_to_device(struct our_control *control)
{
	if (control->device)
		LIST_INSERT_HEAD(&our_shared(control->device)
					  ->connections[control->qp->qp_num % OUR_DEVICE_BUCKETS],
				 our_private(control), of_device);
}

void our_remove_from_device(struct our_control *control)
{
	const struct our_device *device = control->device;
	uint32_t i;

	if (!device)
		return;
	LIST_REMOVE(our_private(control), of_device);
	for (i = 0; i < device->memory.n_buffers; i++) {
		if (our_shared(device)->sending[i] == control)
			our_device_post_recv(control->device, i);
	}
}

/*
 * Until this event, receives of a QP in its error state may still complete: see the InfiniBand
 * specification on QPs that have a shared receive queue. Not all drivers make the event.
 */
static void await_last_receive(struct our_control *control)
{
	struct our_shared_device *shared = our_shared(control->device);
	struct our_async *async = &our_private(control)->async;
	uint64_t until_ns = our_now_ns() + LAST_RECEIVE_NS;
	struct pollfd events = { .fd = control->verbs->async_fd, .events = POLLIN };
	int ret = 0;

	if (!control->srq || !control->accepted || shared->silent_ends == SILENT_ENDS ||
	    atomic_load(&async->error))
		return;
	while (!ret && !atomic_load(&async->last_receive) && our_now_ns() < until_ns) {
		if (poll(&events, 1, our_ms_until(until_ns)) > 0)
			ret = our_read_async_events_of(control->config, control->verbs);
	}
	if (!ret)
		shared->silent_ends = atomic_load(&async->last_receive) ? 0
									: shared->silent_ends + 1;
}

/*
 * A receive that failed, or whose connection is gone, has left the shared queue all the same. The
 * program may have posted others to the queue, into memory of its own: only it can post these again.
 */
int our_device_post_again(struct our_device *device, const struct ibv_wc *wc)
{
	if (!device->srq || !our_is_recv(wc->wr_id) ||
	    our_buffer_index(wc->wr_id) >= device->memory.n_buffers)
		return 0;
	return our_device_post_recv(device, our_buffer_index(wc->wr_id));
}

/* Of wc[0] to wc[n - 1], keeps those of other QPs. Returns how many these are. */
static int without_qp(struct our_device *device, struct ibv_wc *wc, int n, uint32_t qp_num)
{
	int i, kept = 0;

	for (i = 0; i < n; i++) {
		if (wc[i].qp_num == qp_num)
			our_device_post_again(device, &wc[i]); /* what was sent: see `sending` */
		else
			wc[kept++] = wc[i];
	}
	return kept;
}

static void put_into_backlog(struct our_shared_device *shared, const struct ibv_wc *wc, int n)
{
	int i;

	for (i = 0; i < n; i++)
		shared->backlog[(shared->backlog_first + shared->backlog_n++) %
				shared->backlog_size] = wc[i];
}

/*
 * The descriptor stays as it is: if the CQ is armed, each completion that is polled here has made its
 * event, and otherwise the program has not been told EAGAIN yet.
 */
void our_device_drain_cq(struct our_device *device, uint32_t qp_num)
{
	struct our_shared_device *shared = our_shared(device);
	struct our_batch *batch = &shared->batch;
	struct ibv_wc wc[OUR_POLL_BATCH];
	uint32_t before = shared->backlog_n;
	int polled;

	batch->polled = batch->next + without_qp(device, batch->wc + batch->next,
						 batch->polled - batch->next, qp_num);
	while (before--) { /* through all of it once, from its front to its end */
		wc[0] = shared->backlog[shared->backlog_first];
		shared->backlog_first = (shared->backlog_first + 1) % shared->backlog_size;
		shared->backlog_n--;
		put_into_backlog(shared, wc, without_qp(device, wc, 1, qp_num));
	}
	do {
		polled = ibv_poll_cq(device->cq, OUR_POLL_BATCH, wc);
		if (polled < 0)
			our_tell_error(device->config, "ibv_poll_cq", EIO, NULL);
		put_into_backlog(shared, wc, without_qp(device, wc, polled, qp_num));
	} while (polled > 0);
}

/* A CQ of the connection's own, whose completions end with it. */
static void drain_own_cq(struct our_control *control)
{
	struct our_batch *batch = &our_private(control)->batch;
	struct our_device *device = control->device;

	do {
		for (; batch->next < batch->polled; batch->next++)
			our_device_post_again(device, &batch->wc[batch->next]);
		batch->next = 0;
		batch->polled = ibv_poll_cq(control->cq, OUR_POLL_BATCH, batch->wc);
	} while (batch->polled > 0);
	if (batch->polled < 0)
		our_tell_error(control->config, "ibv_poll_cq", EIO, NULL);
	batch->polled = 0;
}

void our_give_back_receives(struct our_control *control)
{
	struct our_device *device = control->device;

	if (!device)
		return;
	await_last_receive(control);
	if (device->cq)
		our_device_drain_cq(device, control->qp->qp_num);
	else if (device->srq)
		drain_own_cq(control);
}

struct our_control *our_control_of(struct our_device *device, uint32_t qp_num)
{
	struct our_private *one =
		LIST_FIRST(&our_shared(device)->connections[qp_num % OUR_DEVICE_BUCKETS]);

	for (; one; one = LIST_NEXT(one, of_device)) {
		if (one->head.qp->qp_num == qp_num)
			return &one->head;
	}
	return NULL;
}

int our_report_no_recv(const struct our_device *device, int ret)
{
	return our_tell_error(device->config, "ibv_post_srq_recv", ret < 0 ? errno : ret, NULL);
}

int our_device_post_recv(struct our_device *device, uint32_t index)
{
	struct ibv_recv_wr *wr = &device->memory.buffers[index].recv_wr, *bad_wr;
	int ret;

	our_shared(device)->sending[index] = NULL;
	wr->next = NULL;
	ret = ibv_post_srq_recv(device->srq, wr, &bad_wr);
	return ret ? our_report_no_recv(device, ret) : 0;
}

int our_device_post_send(struct our_device *device, struct our_control *control, uint32_t index,
			 uint32_t length)
{
	struct our_buffer *buffer = &device->memory.buffers[index];
	int ret;

	buffer->send_wr.wr_id = OUR_WR_ID_ECHO | index;
	buffer->send_sge.length = length;
	our_set_inline(control, &buffer->send_wr, length);
	our_shared(device)->sending[index] = control;
	ret = length > device->memory.size
		      ? our_report_too_long(control, length, device->memory.size)
		      : our_post(control, &buffer->send_wr, NULL);
	if (ret)
		our_device_post_recv(device, index); /* it was not sent */
	else
		control->device_sends++;
	return ret;
}
