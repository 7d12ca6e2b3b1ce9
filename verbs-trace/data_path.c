/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * verbs-trace: posting, polling and arming. In infiniband/verbs.h these are inline functions that
 * call through pointers in the device's context. The functions here replace these pointers, keep
 * the old ones, and call them. See data_path.h.
 */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>

#include "verbs-trace/data_path.h"
#include "verbs-trace/trace.h"
#include "verbs-trace/words.h"

#define MAX_DEVICES 64 /* those beyond are not traced */

static struct device {
	struct ibv_context *context;
	struct ibv_context_ops ops;
	int (*query_port)(struct ibv_context *context, uint8_t port, struct ibv_port_attr *attr,
			  size_t size);
} devices[MAX_DEVICES];
static int n_devices;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards both */

/* With the lock held. */
static struct device *find(const struct ibv_context *context)
{
	int i;

	for (i = 0; i < n_devices; i++) {
		if (devices[i].context == context)
			return &devices[i];
	}
	return NULL;
}

/* Of a device whose pointers we have replaced; rows never move, but one that was closed leaves its own. */
static const struct device *device_of(const struct ibv_context *context)
{
	const struct device *device;

	pthread_mutex_lock(&lock);
	device = find(context);
	pthread_mutex_unlock(&lock);
	return device;
}

/* Some providers return -1 and set errno, where the man page has an errno value. */
static int error_of(int ret)
{
	return ret == -1 ? errno : ret < 0 ? -ret : ret;
}

/* One call that moves messages: numbered if it failed or was the queue's first. */
static void show(uint64_t since, const char *call, bool first, int ret, const char *text)
{
	if (ret || first)
		verbs_trace_call(since, call, error_of(ret), "%s", text);
	else if (verbs_trace_messages())
		verbs_trace_detail("%s: %s", call, text);
}

static int post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr)
{
	bool first = verbs_trace_is_first(qp, VERBS_TRACE_FIRST_SEND);
	uint64_t since = verbs_trace_now();
	int ret = device_of(qp->context)->ops.post_send(qp, wr, bad_wr);
	char text[VERBS_TRACE_TEXT];

	show(since, "ibv_post_send", first, ret, verbs_trace_send(wr, text, sizeof(text)));
	return ret;
}

static int post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr)
{
	bool first = verbs_trace_is_first(qp, VERBS_TRACE_FIRST_RECV);
	uint64_t since = verbs_trace_now();
	int ret = device_of(qp->context)->ops.post_recv(qp, wr, bad_wr);
	char text[VERBS_TRACE_TEXT];

	show(since, "ibv_post_recv", first, ret, verbs_trace_recv(wr, text, sizeof(text)));
	return ret;
}

static int post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr)
{
	bool first = verbs_trace_is_first(srq, VERBS_TRACE_FIRST_RECV);
	uint64_t since = verbs_trace_now();
	int ret = device_of(srq->context)->ops.post_srq_recv(srq, wr, bad_wr);
	char text[VERBS_TRACE_TEXT];

	show(since, "ibv_post_srq_recv", first, ret, verbs_trace_recv(wr, text, sizeof(text)));
	return ret;
}

static int poll_cq(struct ibv_cq *cq, int n, struct ibv_wc *wc)
{
	uint64_t since = verbs_trace_now(), empty;
	int polled = device_of(cq->context)->ops.poll_cq(cq, n, wc), i;
	char text[VERBS_TRACE_TEXT];
	bool first;

	if (!polled) {
		verbs_trace_empty_poll(cq);
		return 0;
	}
	empty = verbs_trace_empty_polls(cq);
	if (empty && verbs_trace_messages())
		verbs_trace_detail("ibv_poll_cq: nothing, %" PRIu64 " times", empty);
	first = verbs_trace_is_first(cq, VERBS_TRACE_FIRST_POLL);
	if (polled < 0)
		show(since, "ibv_poll_cq", first, polled, "");
	for (i = 0; i < polled; i++)
		show(since, "ibv_poll_cq", first && !i, 0,
		     verbs_trace_completion(&wc[i], text, sizeof(text)));
	return polled;
}

static int req_notify_cq(struct ibv_cq *cq, int solicited_only)
{
	bool first = verbs_trace_is_first(cq, VERBS_TRACE_FIRST_ARM);
	uint64_t since = verbs_trace_now();
	int ret = device_of(cq->context)->ops.req_notify_cq(cq, solicited_only);

	show(since, "ibv_req_notify_cq", first, ret, solicited_only ? "solicited only" : "ok");
	return ret;
}

static int query_port(struct ibv_context *context, uint8_t port, struct ibv_port_attr *attr,
		      size_t size)
{
	uint64_t since = verbs_trace_now();
	int ret = device_of(context)->query_port(context, port, attr, size);

	verbs_trace_call(since, "ibv_query_port", ret, "max_msg_sz %u", attr->max_msg_sz);
	return ret;
}

/* With the lock held. A row of a device that was closed, or a new one; NULL: there is none. */
static struct device *free_row(void)
{
	struct device *row = find(NULL);

	return row || n_devices == MAX_DEVICES ? row : &devices[n_devices++];
}

void verbs_trace_device(struct ibv_context *context)
{
	struct verbs_context *verbs;
	struct device *device;

	if (!context || !verbs_trace_calls())
		return;
	pthread_mutex_lock(&lock);
	device = find(context) ? NULL : free_row();
	if (device) {
		device->context = context;
		device->ops = context->ops;
		context->ops.post_send = post_send;
		context->ops.post_recv = post_recv;
		context->ops.post_srq_recv = post_srq_recv;
		context->ops.poll_cq = poll_cq;
		context->ops.req_notify_cq = req_notify_cq;
		verbs = verbs_get_ctx_op(context, query_port);
		device->query_port = verbs ? verbs->query_port : NULL;
		if (verbs)
			verbs->query_port = query_port;
	}
	pthread_mutex_unlock(&lock);
}

void verbs_trace_forget_device(struct ibv_context *context)
{
	struct verbs_context *verbs = verbs_get_ctx_op(context, query_port);
	struct device *device;

	pthread_mutex_lock(&lock);
	device = find(context);
	if (device) {
		context->ops = device->ops;
		if (verbs && device->query_port)
			verbs->query_port = device->query_port;
		device->context = NULL;
	}
	pthread_mutex_unlock(&lock);
}
