/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * A device that several connections share: one PD, and if wanted one CQ and one shared receive
 * queue for all of them. See our_control.h.
 */
#include <errno.h>
#include <stdlib.h>

#include "common/private.h"

static int allocate(const struct our_config *config, struct ibv_context *verbs,
		    struct our_device **created)
{
	struct our_shared_device *device = calloc(1, sizeof(*device));

	*created = NULL;
	if (!device)
		return our_tell_error(config, "calloc", ENOMEM, NULL);
	device->head.config = config;
	device->head.verbs = verbs;
	*created = device->whole = &device->head;
	return 0;
}

static void join_async(struct our_device *device)
{
	struct our_async *async = &our_shared(device)->async;

	async->verbs = device->verbs;
	async->device = device;
	async->whole = our_shared(device)->whole;
	our_join_async(async);
}

int our_create_device(const struct our_config *config, struct ibv_context *verbs,
		      struct our_device **created)
{
	int ret;

	*created = NULL;
	if (!verbs)
		return our_tell_error(config, "our_create_device", EINVAL,
				      "no device yet: is the listener on an address of one?");
	ret = allocate(config, verbs, created);
	if (ret)
		return ret;
	(*created)->pd = ibv_alloc_pd(verbs);
	if (!(*created)->pd) {
		ret = our_tell_error(config, "ibv_alloc_pd", errno, NULL);
		free(our_shared(*created));
		*created = NULL;
		return ret;
	}
	join_async(*created);
	return 0;
}

/* Who sends from which buffer of the shared receive queue. */
static int create_sending(struct our_device *device, uint32_t n)
{
	our_shared(device)->sending = calloc(n, sizeof(*our_shared(device)->sending));
	return our_shared(device)->sending ? 0
					   : our_tell_error(device->config, "calloc", ENOMEM, NULL);
}

int our_join_device(const struct our_config *config, struct our_device *other,
		    struct our_device **created)
{
	int ret = allocate(config, other->verbs, created);

	if (!ret && other->srq)
		ret = create_sending(*created, other->memory.n_buffers);
	if (ret) {
		free(*created ? our_shared(*created) : NULL);
		*created = NULL;
		return ret;
	}
	our_shared(*created)->whole = our_shared(other)->whole;
	(*created)->pd = other->pd;
	(*created)->srq = other->srq;
	(*created)->memory = other->memory;
	join_async(*created);
	return 0;
}

static void destroy_srq(struct our_device *device)
{
	int ret = ibv_destroy_srq(device->srq);

	if (ret)
		our_tell_error(device->config, "ibv_destroy_srq", ret, NULL);
	device->srq = NULL;
}

static void close_connections(struct our_device *device)
{
	struct our_private *one;
	int i;

	for (i = 0; i < OUR_DEVICE_BUCKETS; i++) {
		while ((one = LIST_FIRST(&our_shared(device)->connections[i])))
			our_close(&one->head);
	}
}

void our_close_device(struct our_device *device)
{
	bool is_part;
	int ret;

	if (!device)
		return;
	is_part = our_shared(device)->whole != device;
	close_connections(device);
	free(our_shared(device)->sending);
	if (device->srq && !is_part) {
		destroy_srq(device); /* its receives are posted to the buffers */
		our_free_memory(device->config, &device->memory);
	}
	if (device->cq)
		our_device_destroy_cq(device);
	our_leave_async(&our_shared(device)->async);
	ret = is_part ? 0 : ibv_dealloc_pd(device->pd);
	if (ret)
		our_tell_error(device->config, "ibv_dealloc_pd", ret, NULL);
	free(our_shared(device));
}

/* All receives, in one call. */
static int post_all(struct our_device *device)
{
	struct our_buffer *buffers = device->memory.buffers;
	struct ibv_recv_wr *bad_wr;
	uint32_t i;
	int ret;

	for (i = 1; i < device->memory.n_buffers; i++)
		buffers[i - 1].recv_wr.next = &buffers[i].recv_wr;
	ret = ibv_post_srq_recv(device->srq, &buffers[0].recv_wr, &bad_wr);
	return ret ? our_report_no_recv(device, ret) : 0;
}

int our_device_create_srq(struct our_device *device, uint32_t n, uint32_t size)
{
	struct ibv_srq_init_attr attr = {
		.srq_context = device,
		.attr = { .max_wr = n, .max_sge = 1 },
	};
	int ret;

	ret = create_sending(device, n);
	if (ret)
		return ret;
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
	our_shared(device)->sending = NULL;
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
	our_private(control)->async.whole = our_shared(device)->whole;
	return 0;
}

int our_device_take_async_events(struct our_device *device)
{
	int ret = our_read_async_events_of(device->config, device->verbs);
	int ended = our_device_end(device);

	return ended ? ended : ret;
}

int our_device_end(const struct our_device *device)
{
	return atomic_load(&our_shared(device)->async.error);
}

bool our_device_srq_was_low(struct our_device *device)
{
	const struct our_device *whole = our_shared(device)->whole; /* the event is the SRQ's */

	return atomic_exchange(&our_shared(whole)->async.srq_is_low, false);
}
