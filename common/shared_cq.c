/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * A CQ for all connections of a device, and handing out its completions to whom they belong. See
 * our_control.h and shared_device.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

#include "common/private.h"

#define ACK_BATCH 64 /* an ack takes a lock: one for many events */

static int create_comp_channel(struct our_device *device)
{
	int ret;

	device->comp_channel = ibv_create_comp_channel(device->verbs);
	if (!device->comp_channel)
		return our_tell_error(device->config, "ibv_create_comp_channel", errno, NULL);
	if (!fcntl(device->comp_channel->fd, F_SETFL, O_NONBLOCK))
		return 0;
	ret = our_tell_error(device->config, "fcntl", errno, NULL);
	ibv_destroy_comp_channel(device->comp_channel);
	device->comp_channel = NULL;
	return ret;
}

static void destroy_comp_channel(struct our_device *device)
{
	int ret = ibv_destroy_comp_channel(device->comp_channel);

	if (ret)
		our_tell_error(device->config, "ibv_destroy_comp_channel", ret, NULL);
	device->comp_channel = NULL;
}

void our_device_destroy_cq(struct our_device *device)
{
	int ret;

	/* ibv_destroy_cq would wait forever for events that are not acked. */
	ibv_ack_cq_events(device->cq, our_shared(device)->events_to_ack);
	ret = ibv_destroy_cq(device->cq);
	if (ret)
		our_tell_error(device->config, "ibv_destroy_cq", ret, NULL);
	destroy_comp_channel(device);
	free(our_shared(device)->backlog);
}

/*
 * As large as the CQ: that has room for all work requests that can be outstanding, and one whose
 * completion waits here is.
 */
static int create_backlog(struct our_device *device)
{
	struct our_shared_device *shared = our_shared(device);

	shared->backlog_size = (uint32_t)device->cq->cqe;
	shared->backlog = calloc(shared->backlog_size, sizeof(*shared->backlog));
	return shared->backlog ? 0 : our_tell_error(device->config, "calloc", ENOMEM, NULL);
}

static int setup_cq(struct our_device *device)
{
	int ret = create_backlog(device);

	if (!ret)
		ret = our_moderate_cq(device->config, device->cq);
	if (ret) {
		our_device_destroy_cq(device);
		device->cq = NULL;
	}
	return ret;
}

int our_device_create_cq(struct our_device *device, uint32_t depth)
{
	int ret = create_comp_channel(device);

	if (ret)
		return ret;
	errno = 0;
	device->cq = ibv_create_cq(device->verbs, (int)depth, device, device->comp_channel,
				   device->comp_vector);
	if (device->cq)
		return setup_cq(device);
	ret = our_tell_error(device->config, "ibv_create_cq", errno ? errno : ENOMEM,
			     "asked %s for %u entries", ibv_get_device_name(device->verbs->device),
			     depth);
	destroy_comp_channel(device);
	return ret;
}

static int take_event(struct our_device *device)
{
	struct ibv_cq *same;
	void *context;

	if (ibv_get_cq_event(device->comp_channel, &same, &context)) {
		if (errno == EAGAIN)
			return 0;
		return our_tell_error(device->config, "ibv_get_cq_event", errno, NULL);
	}
	our_shared(device)->armed = false;
	if (++our_shared(device)->events_to_ack == ACK_BATCH) {
		ibv_ack_cq_events(device->cq, ACK_BATCH);
		our_shared(device)->events_to_ack = 0;
	}
	return 0;
}

static int arm(struct our_device *device)
{
	int ret = ibv_req_notify_cq(device->cq, 0);

	if (ret)
		return our_tell_error(device->config, "ibv_req_notify_cq", ret, NULL);
	our_shared(device)->armed = true;
	return 0;
}

/* What was polled out of turn comes before what is in the CQ. */
static bool take_backlog(struct our_shared_device *shared)
{
	struct our_batch *batch = &shared->batch;

	batch->next = batch->polled = 0;
	while (shared->backlog_n && batch->polled < OUR_POLL_BATCH) {
		batch->wc[batch->polled++] = shared->backlog[shared->backlog_first];
		shared->backlog_first = (shared->backlog_first + 1) % shared->backlog_size;
		shared->backlog_n--;
	}
	return batch->polled;
}

/* Returns 0: something was polled; EAGAIN: nothing, and the CQ is armed; or an errno value. */
static int fill(struct our_device *device)
{
	struct our_batch *batch = &our_shared(device)->batch;
	int ret = our_shared(device)->armed ? take_event(device) : 0;

	if (!ret && take_backlog(our_shared(device)))
		return 0;
	while (!ret) {
		batch->next = 0;
		batch->polled = ibv_poll_cq(device->cq, OUR_POLL_BATCH, batch->wc);
		if (batch->polled > 0)
			return 0;
		if (batch->polled < 0) {
			batch->polled = 0;
			return our_tell_error(device->config, "ibv_poll_cq", EIO, NULL);
		}
		if (our_shared(device)->armed)
			return EAGAIN;
		ret = arm(device);
	}
	return ret;
}

static bool is_echo(const struct ibv_wc *wc)
{
	return wc->wr_id >> 32 == OUR_WR_ID_ECHO >> 32;
}

/* A buffer has been sent, or will not be. */
static int end_of_sending(struct our_device *device, const struct ibv_wc *wc)
{
	return is_echo(wc) ? our_device_post_recv(device, (uint32_t)wc->wr_id) : 0;
}

/* Hands out one completion. Returns EAGAIN if it is none of the user's. */
static int take_one(struct our_device *device, const struct ibv_wc *wc,
		    struct our_control **control, struct our_completion *completion)
{
	struct our_control *owner = our_control_of(device, wc->qp_num);
	struct ibv_wc copy = *wc;
	int ret, posted;

	if (!owner) { /* what was sent from a buffer was given back with the connection */
		ret = our_device_post_again(device, wc);
		return ret ? ret : EAGAIN;
	}
	if (!our_take_out_keepalive(owner, &copy, 1))
		return EAGAIN;
	*control = owner;
	owner->counters.completions++;
	our_private(owner)->keepalive.heard = true;
	ret = our_take_wc(owner, wc, completion);
	if (!ret && !owner->accepted) /* the event for that is on its way */
		ret = our_note_connected(owner);
	owner->device_sends -= is_echo(wc);
	posted = end_of_sending(device, wc);
	if (ret && !posted)
		posted = our_device_post_again(device, wc);
	if (posted)
		*control = NULL;
	if (posted || ret)
		return posted ? posted : ret;
	return is_echo(wc) ? EAGAIN : 0;
}

int our_device_take_completion(struct our_device *device, struct our_control **control,
			       struct our_completion *completion)
{
	struct our_batch *batch = &our_shared(device)->batch;
	int ret = EAGAIN;

	while (ret == EAGAIN) {
		*control = NULL;
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
