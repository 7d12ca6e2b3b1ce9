/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The resources that connections of one device share: a PD, a CQ with its completion channel, and a
 * shared receive queue (SRQ) with its buffers; and the receives that a connection gives back when
 * it ends. See our_control.h and private.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>

#include "common/private.h"

#define LAST_RECEIVE_NS (OUR_NS_PER_S / 100) /* a device that makes the event does so at once */
#define SILENT_ENDS     3  /* after these, assume that the device does not make it */
#define ACK_BATCH       64 /* an ack takes a lock: one for many events */

static int allocate(const struct our_config *config, struct ibv_context *verbs,
		    struct our_device **created)
{
	struct our_shared_device *device = calloc(1, sizeof(*device));

	*created = NULL;
	if (!device)
		return our_tell_error(config, "calloc", ENOMEM, NULL);
	device->head.config = config;
	device->head.verbs = verbs;
	*created = device->async.srq_owner = &device->head;
	return 0;
}

static void join_async(struct our_device *device)
{
	struct our_async *async = &our_shared(device)->async;

	async->verbs = device->verbs;
	async->device = device;
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
	ret = OUR_CREATE((*created)->pd, ibv_alloc_pd(verbs));
	if (ret) {
		our_tell_error(config, "ibv_alloc_pd", ret, NULL);
		free(our_shared(*created));
		*created = NULL;
		return ret;
	}
	join_async(*created);
	return 0;
}

/* Allocates a table: for each buffer of the shared receive queue, the connection that sends it. */
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
	our_shared(*created)->is_part = true;
	if (other->srq)
		our_shared(*created)->async.srq_owner = our_shared(other)->async.srq_owner;
	(*created)->pd = other->pd;
	(*created)->srq = other->srq;
	(*created)->memory = other->memory;
	join_async(*created);
	return 0;
}

static void destroy_srq(struct our_device *device)
{
	int ret = OUR_CALL(ibv_destroy_srq(device->srq));

	if (ret)
		our_tell_error(device->config, "ibv_destroy_srq", ret, NULL);
	device->srq = NULL;
}

static int post_recvs(struct our_device *device, struct ibv_recv_wr *wr)
{
	struct ibv_recv_wr *bad = NULL;
	int ret = OUR_CALL(ibv_post_srq_recv(device->srq, wr, &bad));

	if (!ret && bad)
		ret = EIO;
	return ret ? our_tell_error(device->config, "ibv_post_srq_recv", ret, NULL) : 0;
}

/* Posts all receives in one call. */
static int post_all(struct our_device *device)
{
	struct our_buffer *buffers = device->memory.buffers;
	uint32_t i;
	int ret;

	for (i = 1; i < device->memory.n_buffers; i++)
		buffers[i - 1].recv_wr.next = &buffers[i].recv_wr;
	ret = post_recvs(device, &buffers[0].recv_wr);
	for (i = 1; i < device->memory.n_buffers; i++) /* the program may post one alone */
		buffers[i - 1].recv_wr.next = NULL;
	return ret;
}

static int report_second(const struct our_device *device, const char *call)
{
	return our_tell_error(device->config, call, EINVAL, "the device has one already");
}

int our_device_create_srq(struct our_device *device, uint32_t n, uint32_t size)
{
	struct ibv_srq_init_attr attr = {
		.srq_context = device,
		.attr = { .max_wr = n, .max_sge = 1 },
	};
	int ret;

	if (device->srq)
		return report_second(device, "our_device_create_srq");
	ret = create_sending(device, n);
	if (ret)
		return ret;
	ret = OUR_CREATE(device->srq, ibv_create_srq(device->pd, &attr));
	if (ret) {
		ret = our_report_no_shared_queue(device, "ibv_create_srq", ret, n);
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
	destroy_srq(device); /* before the memory, because receives may be posted */
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
	const struct our_device *owner = our_shared(device)->async.srq_owner;

	return atomic_exchange(&our_shared(owner)->async.srq_is_low, false);
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

/* ---- The shared CQ ---- */

static int create_comp_channel(struct our_device *device)
{
	int ret = OUR_CREATE(device->comp_channel, ibv_create_comp_channel(device->verbs));

	if (ret)
		return our_tell_error(device->config, "ibv_create_comp_channel", ret, NULL);
	if (!fcntl(device->comp_channel->fd, F_SETFL, O_NONBLOCK))
		return 0;
	ret = our_tell_error(device->config, "fcntl", errno, NULL);
	ibv_destroy_comp_channel(device->comp_channel);
	device->comp_channel = NULL;
	return ret;
}

static void destroy_comp_channel(struct our_device *device)
{
	int ret = OUR_CALL(ibv_destroy_comp_channel(device->comp_channel));

	if (ret)
		our_tell_error(device->config, "ibv_destroy_comp_channel", ret, NULL);
	device->comp_channel = NULL;
}

static void destroy_cq(struct our_device *device, struct our_shared_cq *one)
{
	int ret;

	/* ibv_destroy_cq would wait forever for events that are not acked. */
	ibv_ack_cq_events(one->cq, one->events_to_ack);
	ret = OUR_CALL(ibv_destroy_cq(one->cq));
	if (ret)
		our_tell_error(device->config, "ibv_destroy_cq", ret, NULL);
}

static void destroy_cqs(struct our_device *device)
{
	struct our_shared_device *shared = our_shared(device);

	while (shared->n_cqs)
		destroy_cq(device, &shared->cqs[--shared->n_cqs]);
	device->cq = NULL;
	destroy_comp_channel(device);
	free(shared->backlog);
}

/*
 * Makes the backlog as large as all CQs. These have room for all work requests that can be
 * outstanding, and a work request counts as outstanding while its completion is in the backlog.
 */
static int grow_backlog(struct our_device *device)
{
	struct our_shared_device *shared = our_shared(device);
	struct ibv_wc *backlog;
	uint32_t size = 0;
	unsigned int i;

	for (i = 0; i < shared->n_cqs; i++)
		size += (uint32_t)shared->cqs[i].cq->cqe;
	backlog = calloc(size, sizeof(*backlog));
	if (!backlog)
		return our_tell_error(device->config, "calloc", ENOMEM, NULL);
	for (i = 0; i < shared->backlog_n; i++)
		backlog[i] = shared->backlog[(shared->backlog_first + i) % shared->backlog_size];
	free(shared->backlog);
	shared->backlog = backlog;
	shared->backlog_first = 0;
	shared->backlog_size = size;
	return 0;
}

static int add_cq(struct our_device *device, uint32_t depth)
{
	struct our_shared_device *shared = our_shared(device);
	struct our_shared_cq *one;
	int ret;

	if (depth > INT_MAX || shared->n_cqs == OUR_MOST_CQS)
		return our_report_no_shared_queue(device, "ibv_create_cq", EINVAL, depth);
	one = &shared->cqs[shared->n_cqs];
	*one = (struct our_shared_cq){ .taken = shared->depth };
	ret = OUR_CREATE(one->cq, ibv_create_cq(device->verbs, (int)depth, device,
						device->comp_channel, device->comp_vector));
	if (ret)
		return our_report_no_shared_queue(device, "ibv_create_cq", ret, depth);
	shared->n_cqs++;
	ret = grow_backlog(device);
	if (!ret)
		ret = our_moderate_cq(device->config, one->cq);
	if (ret)
		destroy_cq(device, &shared->cqs[--shared->n_cqs]);
	return ret;
}

/* Makes room for `places` more in the last CQ, or in another one. */
static int grow_cqs(struct our_device *device, uint32_t places)
{
	struct our_shared_cq *one = &our_shared(device)->cqs[our_shared(device)->n_cqs - 1];
	uint64_t twice = 2ull * (uint32_t)one->cq->cqe, least = one->taken + (uint64_t)places;
	int ret = EINVAL;

	if (least < twice && twice <= INT_MAX)
		ret = OUR_CALL(ibv_resize_cq(one->cq, (int)twice));
	if (ret && least <= INT_MAX)
		ret = OUR_CALL(ibv_resize_cq(one->cq, (int)least));
	if (!ret)
		return grow_backlog(device);
	if (ret != EOPNOTSUPP && ret != ENOSYS)
		return our_report_no_shared_queue(device, "ibv_resize_cq", ret, (uint32_t)least);
	least = our_shared(device)->depth + (uint64_t)places;
	return add_cq(device, (uint32_t)(least < twice ? twice : least));
}

int our_device_create_cq(struct our_device *device, uint32_t depth)
{
	int ret;

	if (device->cq)
		return report_second(device, "our_device_create_cq");
	ret = create_comp_channel(device);
	if (ret)
		return ret;
	our_shared(device)->depth = depth;
	our_shared(device)->grow_cqs = grow_cqs;
	ret = add_cq(device, depth);
	if (ret)
		destroy_cqs(device);
	else
		device->cq = our_shared(device)->cqs[0].cq;
	return ret;
}

/* Completions that a connection can have outstanding, besides the receives of the device's SRQ. */
static uint32_t places_of(const struct our_control *control)
{
	bool shares_srq = control->srq && control->srq == control->device->srq;

	return control->max_send_wr + (shares_srq ? 0 : control->max_recv_wr);
}

static bool has_places(const struct our_shared_cq *one, uint32_t places)
{
	return one->taken + (uint64_t)places <= (uint32_t)one->cq->cqe;
}

int our_device_enter_cq(struct our_control *control)
{
	struct our_shared_device *shared = our_shared(control->device);
	uint32_t places = places_of(control);
	struct our_shared_cq *one;
	unsigned int i = 0;
	int ret;

	while (i < shared->n_cqs && !has_places(&shared->cqs[i], places))
		i++;
	ret = i == shared->n_cqs ? shared->grow_cqs(control->device, places) : 0;
	if (ret)
		return ret;
	one = &shared->cqs[i < shared->n_cqs ? i : shared->n_cqs - 1];
	one->taken += places;
	control->cq = one->cq;
	return 0;
}

void our_device_leave_cq(struct our_control *control)
{
	struct our_shared_cq *one = our_shared(control->device)->cqs;

	while (one->cq != control->cq)
		one++;
	one->taken -= places_of(control);
}

static int take_event(struct our_device *device)
{
	struct our_shared_cq *one = our_shared(device)->cqs;
	struct ibv_cq *cq;
	void *context;
	int ret = OUR_CALL(ibv_get_cq_event(device->comp_channel, &cq, &context));

	if (ret == EAGAIN)
		return 0;
	if (ret)
		return our_tell_error(device->config, "ibv_get_cq_event", ret, NULL);
	while (one->cq != cq)
		one++;
	one->armed = false;
	if (++one->events_to_ack == ACK_BATCH) {
		ibv_ack_cq_events(cq, ACK_BATCH);
		one->events_to_ack = 0;
	}
	return 0;
}

static int arm(struct our_device *device, struct our_shared_cq *one)
{
	int ret = OUR_CALL(ibv_req_notify_cq(one->cq, 0));

	if (ret)
		return our_tell_error(device->config, "ibv_req_notify_cq", ret, NULL);
	one->armed = true;
	return 0;
}

/* Takes completions from the backlog: they are older than those in the CQ. */
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

/* Polls the CQs, each in its turn. Returns 0: something was polled; EAGAIN: nothing; or EIO. */
static int poll_all(struct our_device *device)
{
	struct our_shared_device *shared = our_shared(device);
	struct our_batch *batch = &shared->batch;
	unsigned int i;

	batch->next = batch->polled = 0;
	for (i = 0; i < shared->n_cqs && !batch->polled; i++) {
		shared->turn = shared->turn + 1 < shared->n_cqs ? shared->turn + 1 : 0;
		batch->polled =
			ibv_poll_cq(shared->cqs[shared->turn].cq, OUR_POLL_BATCH, batch->wc);
	}
	if (batch->polled >= 0)
		return batch->polled ? 0 : EAGAIN;
	batch->polled = 0;
	return our_tell_error(device->config, "ibv_poll_cq", EIO, NULL);
}

/* Arms those that are not armed. Returns EAGAIN if all were. */
static int arm_all(struct our_device *device)
{
	struct our_shared_device *shared = our_shared(device);
	unsigned int i, armed = 0;
	int ret = 0;

	for (i = 0; i < shared->n_cqs && !ret; i++) {
		armed += shared->cqs[i].armed;
		ret = shared->cqs[i].armed ? 0 : arm(device, &shared->cqs[i]);
	}
	return !ret && armed == shared->n_cqs ? EAGAIN : ret;
}

/*
 * Reads an event only when all is empty: until then the channel tells of what is left. See
 * ping-sr-4/completions.c.
 */
static int poll_shared_cq(struct our_device *device)
{
	struct our_shared_device *shared = our_shared(device);
	bool just_armed = false;
	int ret = 0;

	while (!ret) {
		ret = shared->backlog_n && take_backlog(shared) ? 0 : poll_all(device);
		if (ret != EAGAIN || just_armed)
			return ret;
		shared->empties++;
		ret = take_event(device);
		if (!ret)
			ret = arm_all(device);
		just_armed = true;
	}
	return ret;
}

int our_device_next_wc(struct our_device *device, const struct ibv_wc **wc)
{
	struct our_batch *batch = &our_shared(device)->batch;
	int ret = batch->next == batch->polled ? poll_shared_cq(device) : 0;

	if (!ret)
		*wc = &batch->wc[batch->next++];
	return ret;
}

int our_device_completion_fd(const struct our_device *device)
{
	return device->comp_channel->fd;
}

/* ---- The connections, and their receives from the SRQ ---- */

int our_device_post_recv(struct our_device *device, uint32_t index)
{
	struct ibv_recv_wr *wr = &device->memory.buffers[index].recv_wr;

	our_shared(device)->sending[index] = NULL;
	wr->next = NULL;
	return post_recvs(device, wr);
}

void our_add_to_device(struct our_control *control)
{
	uint32_t bucket = control->qp->qp_num % OUR_DEVICE_BUCKETS;

	LIST_INSERT_HEAD(&our_shared(control->device)->connections[bucket], our_private(control),
			 of_device);
}

void our_remove_from_device(struct our_control *control)
{
	const struct our_device *device = control->device;
	uint32_t i;

	LIST_REMOVE(our_private(control), of_device);
	LIST_INSERT_HEAD(&our_shared(device)->without_qp, our_private(control), of_device);
	for (i = 0; i < device->memory.n_buffers; i++) {
		if (our_shared(device)->sending[i] == control)
			our_device_post_recv(control->device, i);
	}
}

/*
 * Waits a little for IBV_EVENT_QP_LAST_WQE_REACHED. Until then receives of a QP in its error state
 * may still complete: see the InfiniBand specification on QPs that have a shared receive queue. Not
 * all drivers make the event.
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
 * program may have posted receives into its own memory: only it can post these again. Their wr_ids
 * differ from those of all buffers, most likely in the upper half.
 */
int our_device_post_again(struct our_device *device, const struct our_control *owner,
			  const struct ibv_wc *wc)
{
	uint64_t index = wc->wr_id & ~OUR_WR_ID_RECV;

	if (!device->srq || !our_is_recv(wc->wr_id) || index >= device->memory.n_buffers ||
	    (owner && owner->srq != device->srq))
		return 0;
	return our_device_post_recv(device, (uint32_t)index);
}

/* The completions that drain_shared_cq removes. */
struct sought {
	const struct our_control *control;
	struct ibv_wc *keepalive; /* gets the keepalive's; NULL: remove all of `control` */
	bool send;                /* look for a send, and remove none */
	bool found;
};

static bool is_sought(struct our_device *device, const struct ibv_wc *wc, struct sought *sought)
{
	if (wc->qp_num != sought->control->qp->qp_num ||
	    (sought->keepalive && wc->wr_id != OUR_WR_ID_KEEPALIVE))
		return false;
	if (sought->send) {
		sought->found |= !our_is_recv(wc->wr_id) && wc->wr_id != OUR_WR_ID_KEEPALIVE;
		return false;
	}
	sought->found = true;
	if (sought->keepalive)
		*sought->keepalive = *wc;
	else
		our_device_post_again(device, sought->control,
				      wc); /* for a send, `sending` has the buffer */
	return true;
}

/* Removes the sought completions from wc[0] to wc[n - 1]. Returns how many are left. */
static int without(struct our_device *device, struct ibv_wc *wc, int n, struct sought *sought)
{
	int i, kept = 0;

	for (i = 0; i < n; i++) {
		if (!is_sought(device, &wc[i], sought))
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

/* Polls as many as the backlog has room for. Returns their number; or a negative one, reported. */
static int poll_into_backlog(struct our_device *device, struct sought *sought)
{
	struct our_shared_device *shared = our_shared(device);
	uint32_t room = shared->backlog_size - shared->backlog_n;
	struct ibv_wc wc[OUR_POLL_BATCH];
	int polled;

	polled = ibv_poll_cq(sought->control->cq,
			     room < OUR_POLL_BATCH ? (int)room : OUR_POLL_BATCH, wc);
	if (polled < 0)
		our_tell_error(device->config, "ibv_poll_cq", EIO, NULL);
	put_into_backlog(shared, wc, without(device, wc, polled, sought));
	return polled;
}

/*
 * Removes the sought completions from batch and backlog, then polls the CQ empty: the others go
 * into the backlog. Returns 0 or EIO, reported.
 *
 * The descriptor stays as it is: if the CQ is armed, each completion that is polled here has made its
 * event, and otherwise the program has not been told EAGAIN yet.
 */
static int drain_shared_cq(struct our_device *device, struct sought *sought)
{
	struct our_shared_device *shared = our_shared(device);
	struct our_batch *batch = &shared->batch;
	uint32_t before = shared->backlog_n;
	struct ibv_wc wc;
	int polled;

	batch->polled = batch->next + without(device, batch->wc + batch->next,
					      batch->polled - batch->next, sought);
	while (before--) { /* once through the backlog, from its front to its end */
		wc = shared->backlog[shared->backlog_first];
		shared->backlog_first = (shared->backlog_first + 1) % shared->backlog_size;
		shared->backlog_n--;
		put_into_backlog(shared, &wc, without(device, &wc, 1, sought));
	}
	do
		polled = poll_into_backlog(device, sought);
	while (polled > 0);
	return polled ? EIO : 0;
}

int our_device_take_keepalive(struct our_control *control, struct ibv_wc *wc)
{
	struct sought sought = { .control = control, .keepalive = wc };
	int ret = drain_shared_cq(control->device, &sought);

	control->counters.completions += sought.found;
	return ret || sought.found ? ret : EAGAIN;
}

int our_device_find_send(struct our_control *control)
{
	struct sought sought = { .control = control, .send = true };
	int ret = drain_shared_cq(control->device, &sought);

	return !ret && sought.found ? EBUSY : ret;
}

/* Drains a CQ of the connection's own, whose completions are lost with the CQ. */
static void drain_own_cq(struct our_control *control)
{
	struct our_batch *batch = &our_private(control)->batch;
	struct our_behind *behind = &our_private(control)->behind;
	struct our_device *device = control->device;

	while (behind->n)
		our_device_post_again(device, control, &behind->wc[--behind->n]);
	do {
		for (; batch->next < batch->polled; batch->next++)
			our_device_post_again(device, control, &batch->wc[batch->next]);
		batch->next = 0;
		batch->polled = ibv_poll_cq(control->cq, OUR_POLL_BATCH, batch->wc);
	} while (batch->polled > 0);
	if (batch->polled < 0)
		our_tell_error(control->config, "ibv_poll_cq", EIO, NULL);
	batch->polled = 0;
}

void our_give_back_receives(struct our_control *control)
{
	struct sought all = { .control = control };
	struct our_device *device = control->device;

	await_last_receive(control);
	if (device->cq)
		drain_shared_cq(device, &all);
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

struct our_control *our_first_of_device(struct our_device *device)
{
	struct our_private *one = LIST_FIRST(&our_shared(device)->without_qp);
	int i;

	for (i = 0; i < OUR_DEVICE_BUCKETS && !one; i++)
		one = LIST_FIRST(&our_shared(device)->connections[i]);
	return one ? &one->head : NULL;
}

void our_for_all_of_device(struct our_device *device, void (*call)(struct our_control *control))
{
	struct our_private *one, *next;
	int i;

	for (i = 0; i < OUR_DEVICE_BUCKETS; i++) {
		one = LIST_FIRST(&our_shared(device)->connections[i]);
		for (; one; one = next) {
			next = LIST_NEXT(one, of_device); /* the call may destroy the QP */
			call(&one->head);
		}
	}
}

void our_free_device(struct our_device *device)
{
	const struct our_shared_device *shared = our_shared(device);
	const struct ibv_context *verbs = device->verbs;
	const struct ibv_device *unused = verbs->device;
	int ret;

	if (shared->leave_group)
		shared->leave_group(device);
	free(shared->sending);
	if (device->srq && shared->async.srq_owner == device) {
		destroy_srq(device); /* the SRQ before its buffers, to which receives are posted */
		our_free_memory(device->config, &device->memory);
	}
	if (device->cq)
		destroy_cqs(device);
	our_leave_async(&our_shared(device)->async);
	ret = shared->is_part ? 0 : OUR_CALL(ibv_dealloc_pd(device->pd));
	if (ret)
		our_tell_error(device->config, "ibv_dealloc_pd", ret, NULL);
	free(our_shared(device));
	our_let_go_of(verbs, unused);
}
