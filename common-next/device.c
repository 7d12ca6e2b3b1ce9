/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * A device that several connections share: one PD, and if wanted one CQ and one shared receive
 * queue for all of them. See our_control.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

#include "private.h"

#define BUCKETS 256 /* of QP numbers, which devices count up */

struct shared {
	struct our_device head; /* first: a pointer to one is a pointer to the other */
	struct our_notification notification;
	struct our_batch batch;
	const struct our_control **sending; /* who sends from a buffer; NULL: nobody */
	LIST_HEAD(bucket, our_private) connections[BUCKETS];
};

static struct shared *shared(const struct our_device *device)
{
	return (struct shared *)(uintptr_t)device;
}

int our_create_device(const struct our_config *config, struct ibv_context *verbs,
		      struct our_device **created)
{
	struct shared *device;
	int ret;

	*created = NULL;
	if (!verbs)
		return our_report_error(config, "our_create_device", EINVAL,
					"no device yet: is the listener on an address of one?");
	device = calloc(1, sizeof(*device));
	if (!device)
		return our_report_error(config, "calloc", ENOMEM, NULL);
	device->head.config = config;
	device->head.verbs = verbs;
	device->head.pd = ibv_alloc_pd(verbs);
	if (!device->head.pd) {
		ret = our_report_error(config, "ibv_alloc_pd", errno, NULL);
		free(device);
		return ret;
	}
	*created = &device->head;
	return 0;
}

static void destroy_srq(struct our_device *device)
{
	int ret = ibv_destroy_srq(device->srq);

	if (ret)
		our_report_error(device->config, "ibv_destroy_srq", ret, NULL);
	device->srq = NULL;
}

static void destroy_cq(struct our_device *device)
{
	struct our_notification *notification = &shared(device)->notification;
	int ret;

	our_ack_cq_events(notification, device->cq);
	ret = ibv_destroy_cq(device->cq);
	if (ret)
		our_report_error(device->config, "ibv_destroy_cq", ret, NULL);
	our_destroy_notification(device->config, notification);
}

static void close_connections(struct our_device *device)
{
	struct our_private *private;
	int i;

	for (i = 0; i < BUCKETS; i++) {
		while ((private = LIST_FIRST(&shared(device)->connections[i])))
			our_close(&private->head);
	}
}

void our_close_device(struct our_device *device)
{
	int ret;

	if (!device)
		return;
	close_connections(device);
	if (device->srq) {
		destroy_srq(device); /* its receives are posted to the buffers */
		our_free_memory(device->config, &device->memory);
		free(shared(device)->sending);
	}
	if (device->cq)
		destroy_cq(device);
	ret = ibv_dealloc_pd(device->pd);
	if (ret)
		our_report_error(device->config, "ibv_dealloc_pd", ret, NULL);
	free(shared(device));
}

int our_device_create_cq(struct our_device *device, uint32_t depth)
{
	struct our_notification *notification = &shared(device)->notification;
	int ret;

	ret = our_create_notification(device->config, device->verbs, notification);
	if (ret)
		return ret;
	errno = 0;
	device->cq = ibv_create_cq(device->verbs, (int)depth, device, notification->channel, 0);
	if (device->cq) {
		device->comp_channel = notification->channel;
		return 0;
	}
	ret = our_report_error(device->config, "ibv_create_cq", errno ? errno : ENOMEM,
			       "asked %s for %u entries",
			       ibv_get_device_name(device->verbs->device), depth);
	our_destroy_notification(device->config, notification);
	return ret;
}

static int post_all(struct our_device *device)
{
	uint32_t i;
	int ret = 0;

	for (i = 0; !ret && i < device->memory.n_buffers; i++) {
		device->memory.buffers[i].send_wr.wr_id = OUR_WR_ID_OURS | i;
		ret = our_device_post_recv(device, i);
	}
	return ret;
}

int our_device_create_srq(struct our_device *device, uint32_t n, uint32_t size)
{
	struct ibv_srq_init_attr attr = {
		.srq_context = device,
		.attr = { .max_wr = n, .max_sge = 1 },
	};
	int ret;

	shared(device)->sending = calloc(n, sizeof(*shared(device)->sending));
	if (!shared(device)->sending)
		return our_report_error(device->config, "calloc", ENOMEM, NULL);
	errno = 0;
	device->srq = ibv_create_srq(device->pd, &attr);
	if (!device->srq) {
		ret = our_report_error(device->config, "ibv_create_srq", errno ? errno : ENOMEM,
				       "asked %s for a shared queue of %u receives",
				       ibv_get_device_name(device->verbs->device), n);
		goto err_free_sending;
	}
	ret = our_make_memory(device->config, device->pd, n, size, IBV_ACCESS_LOCAL_WRITE,
			      &device->memory);
	if (ret)
		goto err_destroy_srq;
	ret = post_all(device);
	if (ret)
		goto err_free_memory;
	return 0;

err_free_memory:
	destroy_srq(device); /* first, because receives may be posted */
	our_free_memory(device->config, &device->memory);
	goto err_free_sending;
err_destroy_srq:
	destroy_srq(device);
err_free_sending:
	free(shared(device)->sending);
	return ret;
}

int our_device_setup_mr(struct our_device *device, void *data, size_t length, int access,
			struct ibv_mr **mr)
{
	return our_register(device->config, device->pd, data, length, access, mr);
}

int our_use_device(struct our_control *control, struct our_device *device)
{
	if (control->verbs != device->verbs)
		return our_report_error(control->config, "our_use_device", EINVAL,
					"the id is bound to another device");
	control->device = device;
	return 0;
}

void our_add_to_device(struct our_control *control)
{
	if (control->device)
		LIST_INSERT_HEAD(
			&shared(control->device)->connections[control->qp->qp_num % BUCKETS],
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
		if (shared(device)->sending[i] == control)
			our_device_post_recv(control->device, i);
	}
}

static struct our_control *control_of(struct our_device *device, uint32_t qp_num)
{
	struct our_private *private = LIST_FIRST(&shared(device)->connections[qp_num % BUCKETS]);

	for (; private; private = LIST_NEXT(private, of_device)) {
		if (private->head.qp->qp_num == qp_num)
			return &private->head;
	}
	return NULL;
}

/* Returns 0: something was polled; EAGAIN: nothing, and the CQ is armed; or an errno value. */
static int fill(struct our_device *device)
{
	struct our_notification *notification = &shared(device)->notification;
	struct our_batch *batch = &shared(device)->batch;
	int ret = 0;

	if (notification->armed)
		ret = our_take_cq_event(device->config, notification, device->cq);
	while (!ret) {
		batch->next = 0;
		batch->polled = ibv_poll_cq(device->cq, OUR_POLL_BATCH, batch->wc);
		if (batch->polled > 0)
			return 0;
		if (batch->polled < 0) {
			batch->polled = 0;
			return our_report_error(device->config, "ibv_poll_cq", EIO, NULL);
		}
		if (notification->armed)
			return EAGAIN;
		ret = our_arm(device->config, notification, device->cq);
	}
	return ret;
}

/* A receive that failed, or whose connection is gone, has left the shared queue all the same. */
static int post_again(struct our_device *device, const struct ibv_wc *wc)
{
	if (!device->srq || !our_is_recv(wc->wr_id))
		return 0;
	return our_device_post_recv(device, our_buffer_index(wc->wr_id));
}

/* A buffer has been sent, or will not be. */
static int end_of_sending(struct our_device *device, const struct ibv_wc *wc)
{
	if (our_is_recv(wc->wr_id) || !(wc->wr_id & OUR_WR_ID_OURS))
		return 0;
	return our_device_post_recv(device, (uint32_t)wc->wr_id);
}

/* Hands out one completion. Returns EAGAIN if it is none of the user's. */
static int take_one(struct our_device *device, const struct ibv_wc *wc,
		    struct our_control **control, struct our_completion *completion)
{
	struct our_control *owner = control_of(device, wc->qp_num);
	struct ibv_wc copy = *wc;
	int ret, posted;

	if (!owner) { /* what was sent from a buffer was given back with the connection */
		ret = post_again(device, wc);
		return ret ? ret : EAGAIN;
	}
	if (!our_take_out_keepalive(owner, &copy, 1))
		return EAGAIN;
	*control = owner;
	owner->counters.completions++;
	our_private(owner)->keepalive.heard = true;
	ret = our_take_wc(owner, wc, completion);
	posted = end_of_sending(device, wc);
	if (ret && !posted)
		posted = post_again(device, wc);
	if (posted)
		*control = NULL;
	if (posted || ret)
		return posted ? posted : ret;
	return wc->wr_id & OUR_WR_ID_OURS ? EAGAIN : 0;
}

int our_device_take_completion(struct our_device *device, struct our_control **control,
			       struct our_completion *completion)
{
	struct our_batch *batch = &shared(device)->batch;
	int ret = EAGAIN;

	*control = NULL;
	while (ret == EAGAIN) {
		if (batch->next == batch->polled) {
			ret = fill(device);
			if (ret)
				return ret;
		}
		ret = take_one(device, &batch->wc[batch->next++], control, completion);
	}
	return ret;
}

int our_device_completion_fd(const struct our_device *device)
{
	return device->comp_channel->fd;
}

int our_device_post_recv(struct our_device *device, uint32_t index)
{
	struct ibv_recv_wr *bad_wr;
	int ret = ibv_post_srq_recv(device->srq, &device->memory.buffers[index].recv_wr, &bad_wr);

	shared(device)->sending[index] = NULL;
	return ret ? our_report_error(device->config, "ibv_post_srq_recv", ret < 0 ? errno : ret,
				      NULL)
		   : 0;
}

int our_device_post_send(struct our_device *device, struct our_control *control, uint32_t index,
			 uint32_t length)
{
	struct our_buffer *buffer = &device->memory.buffers[index];
	int ret;

	buffer->send_sge.length = length;
	buffer->send_wr.send_flags = IBV_SEND_SIGNALED;
	if (length <= control->max_inline)
		buffer->send_wr.send_flags |= IBV_SEND_INLINE;
	shared(device)->sending[index] = control;
	ret = our_post(control, &buffer->send_wr, NULL);
	if (ret)
		our_device_post_recv(device, index); /* it was not sent */
	return ret;
}

static const char *cause_of(enum ibv_event_type type)
{
	switch (type) {
	case IBV_EVENT_DEVICE_FATAL:
		return "the device has failed or is being removed";
	case IBV_EVENT_CQ_ERR:
		return "a CQ had no room for a completion: completions are lost";
	case IBV_EVENT_SRQ_ERR:
		return "no receives can be posted to a shared receive queue any more";
	case IBV_EVENT_QP_FATAL:
		return "the device cannot complete a connection's work requests any more";
	case IBV_EVENT_QP_REQ_ERR:
		return "a peer broke the protocol, or asked for what cannot be";
	case IBV_EVENT_QP_ACCESS_ERR:
		return "a peer asked for memory that it may not reach";
	case IBV_EVENT_PORT_ERR:
		return "its link is down";
	default: /* none of these changes anything for a connection */
		return NULL;
	}
}

/* What concerns one connection also flushes its work. */
static bool ends_all(enum ibv_event_type type)
{
	return type == IBV_EVENT_DEVICE_FATAL || type == IBV_EVENT_CQ_ERR ||
	       type == IBV_EVENT_SRQ_ERR;
}

int our_device_take_async_events(struct our_device *device)
{
	struct ibv_async_event event;
	const char *cause;
	int ret = 0;

	if (fcntl(device->verbs->async_fd, F_SETFL, O_NONBLOCK))
		return our_report_error(device->config, "fcntl", errno, NULL);
	while (!ibv_get_async_event(device->verbs, &event)) {
		cause = cause_of(event.event_type);
		if (ends_all(event.event_type))
			ret = EIO;
		if (cause)
			our_report_error(device->config, "ibv_get_async_event", EIO, "%s: %s (%s)",
					 ibv_get_device_name(device->verbs->device), cause,
					 ibv_event_type_str(event.event_type));
		ibv_ack_async_event(&event);
	}
	return ret;
}
