/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * verbs-trace: the calls of libibverbs that are functions. Each makes the call that it replaces,
 * and prints it. See trace.h; posting, polling and arming are in data_path.c.
 */
#include <errno.h>

#include <infiniband/verbs.h>

#include "verbs-trace/data_path.h"
#include "verbs-trace/trace.h"

/* The header has a macro of this name, which leads to one of two functions. */
#undef ibv_reg_mr

TRACED(ibv_query_device);
TRACED(ibv_alloc_pd);
TRACED(ibv_dealloc_pd);
TRACED(ibv_reg_mr);
TRACED(ibv_reg_mr_iova2);
TRACED(ibv_dereg_mr);
TRACED(ibv_create_comp_channel);
TRACED(ibv_destroy_comp_channel);
TRACED(ibv_create_cq);
TRACED(ibv_destroy_cq);
TRACED(ibv_get_cq_event);
TRACED(ibv_ack_cq_events);
TRACED(ibv_create_srq);
TRACED(ibv_modify_srq);
TRACED(ibv_destroy_srq);
TRACED(ibv_modify_qp);
TRACED(ibv_query_qp);
TRACED(ibv_get_async_event);
TRACED(ibv_ack_async_event);

/* For calls that return a pointer, or NULL and set errno. */
static void show_pointer(uint64_t since, const char *call, const void *made)
{
	verbs_trace_call(since, call, made ? 0 : errno ? errno : EIO, "%p", made);
}

/* For calls that return 0 or an errno value. */
static void show(uint64_t since, const char *call, int error)
{
	verbs_trace_call(since, call, error < 0 ? -error : error, "ok");
}

int OURS(ibv_query_device)(struct ibv_context *context, struct ibv_device_attr *attr)
{
	uint64_t since = verbs_trace_now();
	int ret = REAL(ibv_query_device)(context, attr);

	verbs_trace_call(since, "ibv_query_device", ret, "max_qp_wr %d", attr->max_qp_wr);
	return ret;
}

struct ibv_pd *OURS(ibv_alloc_pd)(struct ibv_context *context)
{
	uint64_t since = verbs_trace_now();
	struct ibv_pd *pd = REAL(ibv_alloc_pd)(context);

	verbs_trace_device(context);
	show_pointer(since, "ibv_alloc_pd", pd);
	return pd;
}

int OURS(ibv_dealloc_pd)(struct ibv_pd *pd)
{
	uint64_t since = verbs_trace_now();
	int ret = REAL(ibv_dealloc_pd)(pd);

	show(since, "ibv_dealloc_pd", ret);
	return ret;
}

struct ibv_mr *OURS(ibv_reg_mr)(struct ibv_pd *pd, void *data, size_t length, int access)
{
	uint64_t since = verbs_trace_now();
	struct ibv_mr *mr = REAL(ibv_reg_mr)(pd, data, length, access);

	verbs_trace_call(since, "ibv_reg_mr", mr ? 0 : errno, "bytes %zu, access 0x%x", length,
			 (unsigned int)access);
	return mr;
}

struct ibv_mr *OURS(ibv_reg_mr_iova2)(struct ibv_pd *pd, void *data, size_t length, uint64_t iova,
				      unsigned int access)
{
	uint64_t since = verbs_trace_now();
	struct ibv_mr *mr = REAL(ibv_reg_mr_iova2)(pd, data, length, iova, access);

	/* It was called by the name of ibv_reg_mr. */
	verbs_trace_call(since, "ibv_reg_mr", mr ? 0 : errno, "bytes %zu, access 0x%x", length,
			 access);
	return mr;
}

int OURS(ibv_dereg_mr)(struct ibv_mr *mr)
{
	uint64_t since = verbs_trace_now();
	int ret = REAL(ibv_dereg_mr)(mr);

	show(since, "ibv_dereg_mr", ret);
	return ret;
}

struct ibv_srq *OURS(ibv_create_srq)(struct ibv_pd *pd, struct ibv_srq_init_attr *attr)
{
	uint64_t since = verbs_trace_now();
	struct ibv_srq *srq = REAL(ibv_create_srq)(pd, attr);

	verbs_trace_call(since, "ibv_create_srq", srq ? 0 : errno, "%u receives",
			 attr->attr.max_wr);
	return srq;
}

int OURS(ibv_modify_srq)(struct ibv_srq *srq, struct ibv_srq_attr *attr, int mask)
{
	uint64_t since = verbs_trace_now();
	int ret = REAL(ibv_modify_srq)(srq, attr, mask);

	verbs_trace_call(since, "ibv_modify_srq", ret < 0 ? -ret : ret,
			 mask & IBV_SRQ_LIMIT ? "limit %u" : "%u receives",
			 mask & IBV_SRQ_LIMIT ? attr->srq_limit : attr->max_wr);
	return ret;
}

int OURS(ibv_destroy_srq)(struct ibv_srq *srq)
{
	uint64_t since = verbs_trace_now();
	int ret;

	verbs_trace_forget(srq);
	ret = REAL(ibv_destroy_srq)(srq);
	show(since, "ibv_destroy_srq", ret);
	return ret;
}

struct ibv_comp_channel *OURS(ibv_create_comp_channel)(struct ibv_context *context)
{
	uint64_t since = verbs_trace_now();
	struct ibv_comp_channel *channel = REAL(ibv_create_comp_channel)(context);

	show_pointer(since, "ibv_create_comp_channel", channel);
	return channel;
}

int OURS(ibv_destroy_comp_channel)(struct ibv_comp_channel *channel)
{
	uint64_t since = verbs_trace_now();
	int ret;

	if (verbs_trace_calls())
		verbs_trace_forget(channel);
	ret = REAL(ibv_destroy_comp_channel)(channel);
	show(since, "ibv_destroy_comp_channel", ret);
	return ret;
}

struct ibv_cq *OURS(ibv_create_cq)(struct ibv_context *context, int cqe, void *cq_context,
				   struct ibv_comp_channel *channel, int vector)
{
	uint64_t since = verbs_trace_now();
	struct ibv_cq *cq = REAL(ibv_create_cq)(context, cqe, cq_context, channel, vector);

	/* Some providers leave errno alone. */
	verbs_trace_call(since, "ibv_create_cq",
			 cq      ? 0
			 : errno ? errno
				 : ENOMEM,
			 "entries %d", cq ? cq->cqe : 0);
	return cq;
}

int OURS(ibv_destroy_cq)(struct ibv_cq *cq)
{
	uint64_t since = verbs_trace_now();
	int ret;

	if (verbs_trace_calls())
		verbs_trace_forget(cq);
	ret = REAL(ibv_destroy_cq)(cq);
	show(since, "ibv_destroy_cq", ret);
	return ret;
}

/* Of the calls that come with every message, a queue's first is numbered. */
static void show_each(uint64_t since, const char *call, const void *queue,
		      enum verbs_trace_first first, int error)
{
	if (!verbs_trace_calls())
		return;
	if (verbs_trace_is_first(queue, first) || error)
		show(since, call, error);
	else if (verbs_trace_messages())
		verbs_trace_detail("%s: ok, after %.1f us", call,
				   (double)(verbs_trace_now() - since) / 1000);
}

int OURS(ibv_get_cq_event)(struct ibv_comp_channel *channel, struct ibv_cq **cq, void **context)
{
	uint64_t since = verbs_trace_now();
	int ret = REAL(ibv_get_cq_event)(channel, cq, context);

	if (!ret || errno != EAGAIN)
		show_each(since, "ibv_get_cq_event", channel, VERBS_TRACE_FIRST_EVENT,
			  ret ? errno : 0);
	return ret;
}

void OURS(ibv_ack_cq_events)(struct ibv_cq *cq, unsigned int n)
{
	uint64_t since = verbs_trace_now();

	REAL(ibv_ack_cq_events)(cq, n);
	show_each(since, "ibv_ack_cq_events", cq, VERBS_TRACE_FIRST_ACK, 0);
}

/* The attribute that was set, where it is one of those that programs over the CM set. */
int OURS(ibv_modify_qp)(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
	uint64_t since = verbs_trace_now();
	int ret = REAL(ibv_modify_qp)(qp, attr, mask);

	if (mask == IBV_QP_MIN_RNR_TIMER)
		verbs_trace_call(since, "ibv_modify_qp", ret, "min_rnr_timer %d",
				 attr->min_rnr_timer);
	else if (mask & IBV_QP_STATE)
		verbs_trace_call(since, "ibv_modify_qp", ret, "qp_state %d", attr->qp_state);
	else
		verbs_trace_call(since, "ibv_modify_qp", ret, "mask 0x%x", (unsigned int)mask);
	return ret;
}

int OURS(ibv_query_qp)(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask,
		       struct ibv_qp_init_attr *init_attr)
{
	uint64_t since = verbs_trace_now();
	int ret = REAL(ibv_query_qp)(qp, attr, mask, init_attr);

	verbs_trace_call(since, "ibv_query_qp", ret, "qp_state %d", attr->qp_state);
	return ret;
}

int OURS(ibv_get_async_event)(struct ibv_context *context, struct ibv_async_event *event)
{
	uint64_t since = verbs_trace_now();
	int ret = REAL(ibv_get_async_event)(context, event);

	if (!ret || errno != EAGAIN)
		verbs_trace_call(since, "ibv_get_async_event", ret ? errno : 0, "%s",
				 ret ? "" : ibv_event_type_str(event->event_type));
	return ret;
}

void OURS(ibv_ack_async_event)(struct ibv_async_event *event)
{
	uint64_t since = verbs_trace_now();

	REAL(ibv_ack_async_event)(event);
	verbs_trace_call(since, "ibv_ack_async_event", 0, "ok");
}
