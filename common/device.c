/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Miscellaneous layer: queries of the device, and who hears of its asynchronous events. See device.h.
 */
#include <errno.h>
#include <pthread.h>
#include <string.h>

#include "common/private.h"

const char *our_device_name(const struct our_control *control)
{
	struct ibv_context *verbs = control->verbs;

	return verbs ? ibv_get_device_name(verbs->device) : "any";
}

bool our_is_iwarp(const struct our_control *control)
{
	return control->verbs->device->transport_type == IBV_TRANSPORT_IWARP;
}

const char *our_transport_name(const struct our_control *control)
{
	struct ibv_context *verbs = control->verbs;
	struct ibv_port_attr port;

	if (!verbs)
		return "?";
	if (our_is_iwarp(control))
		return "iWARP";
	if (verbs->device->transport_type != IBV_TRANSPORT_IB ||
	    ibv_query_port(verbs, control->port_num, &port))
		return "?";
	return port.link_layer == IBV_LINK_LAYER_ETHERNET ? "RoCE" : "InfiniBand";
}

int our_report_no_queue(const struct our_control *control, const char *call, int error)
{
	struct ibv_context *verbs = control->verbs;
	const char *device = our_device_name(control);
	struct ibv_device_attr limits;

	if (!error)
		error = ENOMEM;
	/* Measured with Linux 6.1 and 6.12; see docs/drivers.md. */
	if (!strncmp(device, "siw", 3) && error == ENOMEM)
		return our_tell_error(control->config, call, error,
				      "soft-iWARP maps at most 144 pages of queues into a "
				      "process, and a connection takes at least three");
	if (!strcmp(call, "ibv_modify_qp") || ibv_query_device(verbs, &limits))
		return our_tell_error(control->config, call, error, NULL);
	/*
	 * If the client has left, librdmacm cannot ask the kernel for the QP's attributes of its
	 * id.
	 */
	if (error == EINVAL && !strcmp(call, "rdma_create_qp") &&
	    control->cm_event.type == RDMA_CM_EVENT_CONNECT_REQUEST)
		return our_tell_error(control->config, call, error,
				      "most likely the client has left meanwhile");
	return our_tell_error(control->config, call, error,
			      "asked %s for %u sends and %u receives outstanding; it has at most "
			      "%d CQs of %d entries and %d QPs of %d work requests, for all "
			      "programs together",
			      device, control->max_send_wr, control->max_recv_wr, limits.max_cq,
			      limits.max_cqe, limits.max_qp, limits.max_qp_wr);
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards all below */
static struct our_async *joined;                         /* a list, of all devices */

void our_join_async(struct our_async *async)
{
	pthread_mutex_lock(&lock);
	async->next = joined;
	joined = async;
	pthread_mutex_unlock(&lock);
}

void our_leave_async(struct our_async *async)
{
	struct our_async **link = &joined;

	pthread_mutex_lock(&lock);
	while (*link != async)
		link = &(*link)->next;
	*link = async->next;
	pthread_mutex_unlock(&lock);
}

static const void *context_of(const struct our_async *async)
{
	return async->control ? (const void *)async->control : async->device;
}

struct our_async *our_joined(const void *context)
{
	struct our_async *one;

	pthread_mutex_lock(&lock);
	one = joined;
	while (one && context_of(one) != context)
		one = one->next;
	pthread_mutex_unlock(&lock);
	return one;
}

/* A queue of a shared device: an SRQ, which all parts have, or the CQ of one. */
static bool of_device(const struct our_async *one, const struct our_async *owner)
{
	return one->device == owner->device || (one->whole && one->whole == owner->device);
}

void our_end_by_async(const struct our_async *owner, int error)
{
	struct our_async *one;

	pthread_mutex_lock(&lock);
	for (one = joined; one; one = one->next) {
		if (one == owner || (!owner->control && of_device(one, owner)))
			atomic_store(&one->error, error);
	}
	pthread_mutex_unlock(&lock);
}

void our_end_all_on_device(const struct ibv_context *verbs, int error)
{
	struct our_async *one;

	pthread_mutex_lock(&lock);
	for (one = joined; one; one = one->next) {
		if (one->verbs == verbs)
			atomic_store(&one->error, error);
	}
	pthread_mutex_unlock(&lock);
}
