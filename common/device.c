/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The device: its properties, the limits of its queues, and its asynchronous events. All
 * connections of a process to a device share its asynchronous events: the thread that reads an
 * event notes its meaning in the connection, or the shared device, that it concerns. See
 * our_control.h and private.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "common/private.h"

const char *our_device_name(const struct our_control *control)
{
	struct ibv_context *verbs = control->verbs;

	return verbs ? ibv_get_device_name(verbs->device) : "any";
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

/* libsiw takes one valid page address for its mark of a missing queue: see docs/drivers.md. */
static bool is_limit_of_siw(const char *device, int error)
{
	return error == EIO && !strncmp(device, "siw", 3);
}

#define LIMIT_OF_SIW                                                                    \
	"soft-iWARP maps at most 144 pages of queues into a process, and a connection " \
	"takes at least three"

int our_report_no_shared_queue(const struct our_device *shared, const char *call, int error,
			       uint32_t n)
{
	const char *device = ibv_get_device_name(shared->verbs->device);

	if (is_limit_of_siw(device, error))
		return our_tell_error(shared->config, call, ENOMEM, LIMIT_OF_SIW);
	return our_tell_error(shared->config, call, error, "asked %s for a queue of %u", device, n);
}

int our_report_no_queue(const struct our_control *control, const char *call, int error)
{
	struct ibv_context *verbs = control->verbs;
	const char *device = our_device_name(control);
	struct ibv_device_attr limits;

	if (is_limit_of_siw(device, error))
		return our_tell_error(control->config, call, ENOMEM, LIMIT_OF_SIW);
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

int our_moderate_cq(const struct our_config *config, struct ibv_cq *cq)
{
	struct ibv_modify_cq_attr attr = {
		.attr_mask = IBV_CQ_ATTR_MODERATE,
		.moderate = { config->event_completions, config->event_us },
	};
	int ret;

	if (!config->event_completions && !config->event_us)
		return 0;
	ret = OUR_CALL(ibv_modify_cq(cq, &attr));
	return ret ? our_tell_error(config, "ibv_modify_cq", ret,
				    "most likely the device cannot wait for several completions "
				    "before it makes an event")
		   : 0;
}

/* ---- The receivers of asynchronous events ---- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards the list below */
static struct our_async *joined;                         /* the list, for all devices */

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

static bool is_used(const struct ibv_context *verbs)
{
	const struct our_async *user;

	pthread_mutex_lock(&lock);
	for (user = joined; user && user->verbs != verbs; user = user->next)
		;
	pthread_mutex_unlock(&lock);
	return user != NULL;
}

static bool is_removed(const struct ibv_device *device)
{
	struct ibv_device **devices = ibv_get_device_list(NULL), **one;
	bool removed;

	if (!devices)
		return false; /* not known */
	for (one = devices; *one && *one != device; one++)
		;
	removed = !*one;
	ibv_free_device_list(devices);
	return removed;
}

/*
 * librdmacm closes the device only when it compares its list with the devices that are left. Until
 * then drivers without hot removal, such as soft-RoCE and soft-iWARP, keep the device, and none of its
 * name can be added. rdma_get_devices compares; as it also opens all that are left, and keeps them
 * open, it is called only if a device was removed.
 */
void our_let_go_of(const struct ibv_context *verbs, const struct ibv_device *device)
{
	struct ibv_context **devices;

	if (is_used(verbs) || !is_removed(device))
		return;
	devices = rdma_get_devices(NULL);
	if (devices)
		rdma_free_devices(devices);
}

static const void *context_of(const struct our_async *async)
{
	return async->control ? (const void *)async->control : async->device;
}

/* Returns the entry whose control or device is at `context`, which it does not read; or NULL. */
static struct our_async *find_async(const void *context)
{
	struct our_async *one;

	pthread_mutex_lock(&lock);
	one = joined;
	while (one && context_of(one) != context)
		one = one->next;
	pthread_mutex_unlock(&lock);
	return one;
}

/* ---- Asynchronous events ---- */

/* The element that an event is about, which decides to whom the event belongs. */
enum element {
	OF_DEVICE,
	OF_PORT,
	OF_QP,
	OF_CQ,
	OF_SRQ
};

static const struct meaning {
	enum ibv_event_type type;
	const char *name;
	enum element element;
	int error;         /* the errno value to report; 0: it is routine, and not reported */
	bool ends;         /* the event ends its owner's connection, or all of the device's */
	const char *cause; /* the text to report */
} meanings[] = {
#define MEANING(type, ...)                                        \
	{                                                         \
		IBV_EVENT_##type, "IBV_EVENT_" #type, __VA_ARGS__ \
	}
	MEANING(DEVICE_FATAL, OF_DEVICE, EIO, true, "the device has failed or is being removed"),
	MEANING(CQ_ERR, OF_CQ, EIO, true, "it had no room for a completion: completions are lost"),
	MEANING(QP_FATAL, OF_QP, EPIPE, true,
		"the device cannot complete its work requests any more"),
	MEANING(QP_REQ_ERR, OF_QP, ECONNABORTED, true,
		"the peer broke the protocol, or asked for what cannot be"),
	MEANING(QP_ACCESS_ERR, OF_QP, ECONNABORTED, true,
		"the peer asked for memory that it may not reach"),
	MEANING(SRQ_ERR, OF_SRQ, EIO, true, "no receives can be posted to it any more"),
	/* A connection's own completions tell it whether a failed port has ended it. */
	MEANING(PORT_ERR, OF_PORT, ENETDOWN, false, "its link is down"),
	MEANING(PORT_ACTIVE, OF_PORT, 0, false, NULL),
	MEANING(GID_CHANGE, OF_PORT, 0, false, NULL),
	MEANING(LID_CHANGE, OF_PORT, 0, false, NULL),
	MEANING(PKEY_CHANGE, OF_PORT, 0, false, NULL),
	MEANING(SM_CHANGE, OF_PORT, 0, false, NULL),
	MEANING(CLIENT_REREGISTER, OF_PORT, 0, false, NULL),
	MEANING(SRQ_LIMIT_REACHED, OF_SRQ, 0, false, NULL), /* the SRQ's owner is told */
	/* Some drivers make this at the end of each QP with an SRQ: see shared_device.c. */
	MEANING(QP_LAST_WQE_REACHED, OF_QP, 0, false, NULL),
	MEANING(SQ_DRAINED, OF_QP, 0, false, NULL), /* soft-iWARP makes this at each flush */
	MEANING(COMM_EST, OF_QP, 0, false, NULL),
	MEANING(PATH_MIG, OF_QP, 0, false, NULL),
#undef MEANING
};

static struct meaning meaning_of(const struct ibv_async_event *event)
{
	size_t i;

	for (i = 0; i < sizeof(meanings) / sizeof(meanings[0]); i++) {
		if (meanings[i].type == event->event_type)
			return meanings[i];
	}
	return (struct meaning){ .name = "event",
				 .error = EIO,
				 .cause = ibv_event_type_str(event->event_type) };
}

/*
 * Returns the connection or shared device that an event is about; NULL: none of ours. Valid until
 * the event is acked. librdmacm opens a device once in a process, so a QP may be somebody else's,
 * whose context means nothing here.
 */
static struct our_async *owner_of(const struct ibv_async_event *event, enum element element)
{
	const void *context = NULL;

	if (element == OF_QP)
		context = event->element.qp->qp_context;
	if (element == OF_SRQ)
		context = event->element.srq->srq_context;
	if (element == OF_CQ)
		context = event->element.cq->cq_context;
	return find_async(context);
}

static void describe(const struct ibv_async_event *event, enum element element,
		     const struct our_async *owner, char *text, size_t size)
{
	const char *queue = element == OF_QP ? "QP" : element == OF_CQ ? "CQ" : "SRQ";
	char peer[OUR_ADDRESS_TEXT];

	*text = '\0';
	if (element == OF_PORT)
		snprintf(text, size, ", port %d", event->element.port_num);
	else if (element != OF_DEVICE && !owner)
		snprintf(text, size, ", %s of the program's own", queue);
	else if (element != OF_DEVICE && !owner->control)
		snprintf(text, size, ", %s that connections share", queue);
	else if (element != OF_DEVICE)
		snprintf(text, size, ", %s of the connection with %s", queue,
			 our_address_text((const struct sockaddr *)&owner->control->peer_address,
					  peer));
}

/*
 * Returns true if an event that ends something ends `one`, because `one` uses the queue that
 * failed. A CQ or an SRQ may be the program's own, and its context mean nothing here: then the
 * connections that use it are found by the queue itself. `owner`: see owner_of.
 */
static bool is_ended(const struct our_async *one, const struct ibv_async_event *event,
		     enum element element, const struct our_async *owner)
{
	const struct our_control *control = one->control;

	switch (element) {
	case OF_DEVICE:
		return true;
	case OF_CQ: /* the CQ of a shared device serves its connections, but not its parts */
		return one == owner || (control && control->send_cq == event->element.cq) ||
		       (owner && !owner->control && one->device == owner->device);
	case OF_SRQ: /* an SRQ serves connections and parts */
		return one == owner || (control && control->srq == event->element.srq) ||
		       (owner && !control && one->srq_owner == owner->device);
	default:
		return one == owner;
	}
}

/* Sets `error` of all that the event has ended, whose own threads find it there. */
static void end_all(const struct ibv_context *verbs, const struct ibv_async_event *event,
		    const struct meaning *meaning, const struct our_async *owner)
{
	struct our_async *one;

	pthread_mutex_lock(&lock);
	for (one = joined; one; one = one->next) {
		if (one->verbs == verbs && is_ended(one, event, meaning->element, owner))
			atomic_store(&one->error, meaning->error);
	}
	pthread_mutex_unlock(&lock);
}

/* Called before the ack, so that the event's QP or CQ cannot be destroyed, and its owner stays. */
static void note(const struct ibv_context *verbs, const struct ibv_async_event *event,
		 const struct meaning *meaning, struct our_async *owner)
{
	if (owner && event->event_type == IBV_EVENT_SRQ_LIMIT_REACHED)
		atomic_store(&owner->srq_is_low, true);
	if (owner && event->event_type == IBV_EVENT_QP_LAST_WQE_REACHED)
		atomic_store(&owner->last_receive, true);
	if (meaning->ends)
		end_all(verbs, event, meaning, owner);
}

/*
 * Acks the event before reporting it: config->report may destroy the QP, and that waits for the
 * ack.
 */
static int take_async_event(const struct our_config *config, struct ibv_context *verbs,
			    struct ibv_async_event *event)
{
	struct meaning meaning = meaning_of(event);
	struct our_async *owner = owner_of(event, meaning.element);
	struct our_control *control = owner ? owner->control : NULL;
	bool judged = meaning.error == EPIPE && control && our_client_may_have_left(control);
	bool of_all = meaning.ends && meaning.element == OF_DEVICE;
	char what[OUR_ADDRESS_TEXT + 48];

	describe(event, meaning.element, owner, what, sizeof(what));
	note(verbs, event, &meaning, owner);
	ibv_ack_async_event(event);
	if (meaning.error && !judged)
		our_tell_error(config, NULL, meaning.error, "%s%s: %s (%s)",
			       ibv_get_device_name(verbs->device), what, meaning.cause,
			       meaning.name);
	return of_all ? meaning.error : 0;
}

int our_read_async_events_of(const struct our_config *config, struct ibv_context *verbs)
{
	struct ibv_async_event event;
	int end, got, ret = 0;

	/* Another thread may read an event first, so a readable descriptor may be empty: never block. */
	if (fcntl(verbs->async_fd, F_SETFL, O_NONBLOCK))
		return our_tell_error(config, "fcntl", errno, NULL);
	while (!(got = OUR_CALL(ibv_get_async_event(verbs, &event)))) {
		end = take_async_event(config, verbs, &event);
		ret = ret ? ret : end;
	}
	if (got != EAGAIN)
		return our_tell_error(config, "ibv_get_async_event", got, NULL);
	return ret;
}

int our_take_async_events(struct our_control *control)
{
	int ret = our_read_async_events_of(control->config, control->verbs);
	int ended = atomic_load(&our_private(control)->async.error);

	return ended ? ended : ret;
}
