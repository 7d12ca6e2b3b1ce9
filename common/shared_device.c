/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * A device that several connections share: one PD, and if wanted one CQ and one shared receive
 * queue for all of them. See our_control.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

#include "common/async_events.h"
#include "common/connection_management.h"
#include "common/memory_registration.h"
#include "common/report.h"
#include "common/shared_device.h"
#include "common/transfer_completion.h"
#include "common/transfer_posting.h"

#define ACK_BATCH 64 /* an ack takes a lock: one for many events */

/* Of a send from a buffer of the shared receive queue, with the index of the buffer. */
#define WR_ID_ECHO (OUR_WR_ID_OURS | 1ull << 32)

int our_create_device(const struct our_config *config, struct ibv_context *verbs,
		      struct our_device **created)
{
	struct our_shared_device *device;
	int ret;

	*created = NULL;
	if (!verbs)
		return our_tell_error(config, "our_create_device", EINVAL,
				      "no device yet: is the listener on an address of one?");
	device = calloc(1, sizeof(*device));
	if (!device)
		return our_tell_error(config, "calloc", ENOMEM, NULL);
	device->head.config = config;
	device->head.verbs = verbs;
	device->head.pd = ibv_alloc_pd(verbs);
	if (!device->head.pd) {
		ret = our_tell_error(config, "ibv_alloc_pd", errno, NULL);
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
		our_tell_error(device->config, "ibv_destroy_srq", ret, NULL);
	device->srq = NULL;
}

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

static void destroy_cq(struct our_device *device)
{
	int ret;

	/* ibv_destroy_cq would wait forever for events that are not acked. */
	ibv_ack_cq_events(device->cq, our_shared(device)->events_to_ack);
	ret = ibv_destroy_cq(device->cq);
	if (ret)
		our_tell_error(device->config, "ibv_destroy_cq", ret, NULL);
	destroy_comp_channel(device);
}

static void close_connections(struct our_device *device)
{
	struct our_private *private;
	int i;

	for (i = 0; i < OUR_DEVICE_BUCKETS; i++) {
		while ((private = LIST_FIRST(&our_shared(device)->connections[i])))
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
		free(our_shared(device)->sending);
	}
	if (device->cq)
		destroy_cq(device);
	ret = ibv_dealloc_pd(device->pd);
	if (ret)
		our_tell_error(device->config, "ibv_dealloc_pd", ret, NULL);
	free(our_shared(device));
}

int our_device_create_cq(struct our_device *device, uint32_t depth)
{
	int ret = create_comp_channel(device);

	if (ret)
		return ret;
	errno = 0;
	device->cq = ibv_create_cq(device->verbs, (int)depth, device, device->comp_channel, 0);
	if (device->cq)
		return 0;
	ret = our_tell_error(device->config, "ibv_create_cq", errno ? errno : ENOMEM,
			     "asked %s for %u entries", ibv_get_device_name(device->verbs->device),
			     depth);
	destroy_comp_channel(device);
	return ret;
}

static int post_all(struct our_device *device)
{
	uint32_t i;
	int ret = 0;

	for (i = 0; !ret && i < device->memory.n_buffers; i++) {
		device->memory.buffers[i].send_wr.wr_id = WR_ID_ECHO | i;
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

	our_shared(device)->sending = calloc(n, sizeof(*our_shared(device)->sending));
	if (!our_shared(device)->sending)
		return our_tell_error(device->config, "calloc", ENOMEM, NULL);
	errno = 0;
	device->srq = ibv_create_srq(device->pd, &attr);
	if (!device->srq) {
		ret = our_tell_error(device->config, "ibv_create_srq", errno ? errno : ENOMEM,
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
	free(our_shared(device)->sending);
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
		return our_tell_error(control->config, "our_use_device", EINVAL,
				      "the id is bound to another device");
	control->device = device;
	control->srq = device->srq;
	return 0;
}

static int take_event(struct our_device *device)
{
	struct ibv_cq *same;
	void *context;

	if (ibv_get_cq_event(device->comp_channel, &same, &context)) {
		if (errno == EAGAIN || errno == EINTR)
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

/* Returns 0: something was polled; EAGAIN: nothing, and the CQ is armed; or an errno value. */
static int fill(struct our_device *device)
{
	struct our_batch *batch = &our_shared(device)->batch;
	int ret = our_shared(device)->armed ? take_event(device) : 0;

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

/* A receive that failed, or whose connection is gone, has left the shared queue all the same. */
static int post_again(struct our_device *device, const struct ibv_wc *wc)
{
	if (!device->srq || !our_is_recv(wc->wr_id))
		return 0;
	return our_device_post_recv(device, our_buffer_index(wc->wr_id));
}

static bool is_echo(const struct ibv_wc *wc)
{
	return wc->wr_id >> 32 == WR_ID_ECHO >> 32;
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
		ret = post_again(device, wc);
		return ret ? ret : EAGAIN;
	}
	if (!our_take_out_keepalive(owner, &copy, 1))
		return EAGAIN;
	*control = owner;
	owner->counters.completions++;
	our_private(owner)->keepalive.heard = true;
	ret = our_take_wc(owner, wc, completion);
	if (!ret && !owner->accepted) /* the event for that is on its way */
		ret = our_note_accepted(owner);
	posted = end_of_sending(device, wc);
	if (ret && !posted)
		posted = post_again(device, wc);
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

int our_device_take_async_events(struct our_device *device)
{
	return our_read_async_events_of(device->config, device->verbs);
}
