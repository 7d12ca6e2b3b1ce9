/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * verbs-trace: the calls of librdmacm. Each function makes the call that it replaces, and prints
 * it. A device is seen for the first time in an id that has been bound to it. See trace.h.
 */
#include <errno.h>

#include <rdma/rdma_cma.h>

#include "verbs-trace/data_path.h"
#include "verbs-trace/trace.h"
#include "verbs-trace/words.h"

TRACED(rdma_create_event_channel);
TRACED(rdma_destroy_event_channel);
TRACED(rdma_create_id);
TRACED(rdma_destroy_id);
TRACED(rdma_migrate_id);
TRACED(rdma_set_option);
TRACED(rdma_bind_addr);
TRACED(rdma_listen);
TRACED(rdma_resolve_addr);
TRACED(rdma_resolve_route);
TRACED(rdma_connect);
TRACED(rdma_get_request);
TRACED(rdma_accept);
TRACED(rdma_reject);
TRACED(rdma_disconnect);
TRACED(rdma_get_cm_event);
TRACED(rdma_ack_cm_event);
TRACED(rdma_create_qp);
TRACED(rdma_destroy_qp);

/* For calls that return -1 and set errno; "ok" is all there is to say of success. */
static void show(uint64_t since, const char *call, int ret)
{
	verbs_trace_call(since, call, ret ? errno : 0, "ok");
}

static void show_addresses(struct rdma_cm_id *id)
{
	char text[VERBS_TRACE_TEXT];

	if (verbs_trace_calls() && id->verbs)
		verbs_trace_detail("%s", verbs_trace_addresses(id, text, sizeof(text)));
}

static void show_private_data(const void *data, size_t length)
{
	char text[VERBS_TRACE_TEXT];

	if (verbs_trace_calls() && data && length)
		verbs_trace_detail("%s",
				   verbs_trace_private_data(data, length, text, sizeof(text)));
}

static void show_conn_param(const struct rdma_conn_param *param)
{
	if (!verbs_trace_calls() || !param)
		return;
	verbs_trace_detail("retry_count %d, rnr_retry_count %d, responder_resources %d, "
			   "initiator_depth %d",
			   param->retry_count, param->rnr_retry_count, param->responder_resources,
			   param->initiator_depth);
	show_private_data(param->private_data, param->private_data_len);
}

struct rdma_event_channel *OURS(rdma_create_event_channel)(void)
{
	uint64_t since = verbs_trace_now();
	struct rdma_event_channel *channel = REAL(rdma_create_event_channel)();

	verbs_trace_call(since, "rdma_create_event_channel", channel ? 0 : errno, "%p",
			 (void *)channel);
	return channel;
}

void OURS(rdma_destroy_event_channel)(struct rdma_event_channel *channel)
{
	uint64_t since = verbs_trace_now();

	REAL(rdma_destroy_event_channel)(channel);
	show(since, "rdma_destroy_event_channel", 0);
}

int OURS(rdma_create_id)(struct rdma_event_channel *channel, struct rdma_cm_id **id, void *context,
			 enum rdma_port_space ps)
{
	uint64_t since = verbs_trace_now();
	int ret = REAL(rdma_create_id)(channel, id, context, ps);

	verbs_trace_call(since, "rdma_create_id", ret ? errno : 0, "%p", ret ? NULL : (void *)*id);
	return ret;
}

int OURS(rdma_destroy_id)(struct rdma_cm_id *id)
{
	uint64_t since = verbs_trace_now();
	int ret = REAL(rdma_destroy_id)(id);

	show(since, "rdma_destroy_id", ret);
	return ret;
}

int OURS(rdma_migrate_id)(struct rdma_cm_id *id, struct rdma_event_channel *channel)
{
	uint64_t since = verbs_trace_now();
	int ret = REAL(rdma_migrate_id)(id, channel);

	show(since, "rdma_migrate_id", ret);
	return ret;
}

int OURS(rdma_set_option)(struct rdma_cm_id *id, int level, int name, void *value, size_t length)
{
	uint64_t since = verbs_trace_now();
	int ret = REAL(rdma_set_option)(id, level, name, value, length);

	show(since, "rdma_set_option", ret);
	return ret;
}

int OURS(rdma_bind_addr)(struct rdma_cm_id *id, struct sockaddr *address)
{
	uint64_t since = verbs_trace_now();
	int ret = REAL(rdma_bind_addr)(id, address);

	verbs_trace_device(id->verbs);
	show(since, "rdma_bind_addr", ret);
	return ret;
}

int OURS(rdma_listen)(struct rdma_cm_id *id, int backlog)
{
	uint64_t since = verbs_trace_now();
	int ret = REAL(rdma_listen)(id, backlog);

	show(since, "rdma_listen", ret);
	return ret;
}

int OURS(rdma_resolve_addr)(struct rdma_cm_id *id, struct sockaddr *source,
			    struct sockaddr *destination, int timeout_ms)
{
	uint64_t since = verbs_trace_now();
	int ret = REAL(rdma_resolve_addr)(id, source, destination, timeout_ms);

	/* If no event is there, another thread may be about to take it, and this sets id->verbs. */
	if (!ret && id->event)
		verbs_trace_device(id->verbs);
	show(since, "rdma_resolve_addr", ret);
	return ret;
}

int OURS(rdma_resolve_route)(struct rdma_cm_id *id, int timeout_ms)
{
	uint64_t since = verbs_trace_now();
	int ret = REAL(rdma_resolve_route)(id, timeout_ms);

	show(since, "rdma_resolve_route", ret);
	if (!ret && id->event) /* of an id that is synchronous; else its event will say */
		show_addresses(id);
	return ret;
}

int OURS(rdma_connect)(struct rdma_cm_id *id, struct rdma_conn_param *param)
{
	uint64_t since = verbs_trace_now();
	int ret = REAL(rdma_connect)(id, param);

	show(since, "rdma_connect", ret);
	show_conn_param(param);
	return ret;
}

int OURS(rdma_get_request)(struct rdma_cm_id *listener, struct rdma_cm_id **id)
{
	uint64_t since = verbs_trace_now();
	int ret = REAL(rdma_get_request)(listener, id);

	verbs_trace_call(since, "rdma_get_request", ret ? errno : 0, "%p",
			 ret ? NULL : (void *)*id);
	if (ret)
		return ret;
	verbs_trace_device((*id)->verbs);
	show_addresses(*id);
	if ((*id)->event)
		show_private_data((*id)->event->param.conn.private_data,
				  (*id)->event->param.conn.private_data_len);
	return 0;
}

int OURS(rdma_accept)(struct rdma_cm_id *id, struct rdma_conn_param *param)
{
	uint64_t since = verbs_trace_now();
	int ret = REAL(rdma_accept)(id, param);

	show(since, "rdma_accept", ret);
	show_conn_param(param);
	return ret;
}

int OURS(rdma_reject)(struct rdma_cm_id *id, const void *data, uint8_t length)
{
	uint64_t since = verbs_trace_now();
	int ret = REAL(rdma_reject)(id, data, length);

	show(since, "rdma_reject", ret);
	show_private_data(data, length);
	return ret;
}

int OURS(rdma_disconnect)(struct rdma_cm_id *id)
{
	uint64_t since = verbs_trace_now();
	int ret = REAL(rdma_disconnect)(id);

	show(since, "rdma_disconnect", ret);
	return ret;
}

/* That nothing is there, on a channel that does not block, is no news. */
int OURS(rdma_get_cm_event)(struct rdma_event_channel *channel, struct rdma_cm_event **event)
{
	uint64_t since = verbs_trace_now();
	int ret = REAL(rdma_get_cm_event)(channel, event);

	if (ret && (errno == EAGAIN || errno == EWOULDBLOCK))
		return ret;
	verbs_trace_call(since, "rdma_get_cm_event", ret ? errno : 0, "%s, id %p",
			 ret ? "" : rdma_event_str((*event)->event),
			 ret ? NULL : (void *)(*event)->id);
	if (ret)
		return ret;
	verbs_trace_device((*event)->id->verbs);
	if ((*event)->event == RDMA_CM_EVENT_CONNECT_REQUEST ||
	    (*event)->event == RDMA_CM_EVENT_ROUTE_RESOLVED)
		show_addresses((*event)->id);
	if ((*event)->status && verbs_trace_calls())
		verbs_trace_detail("FAILED, status %d", (*event)->status);
	if ((*event)->event == RDMA_CM_EVENT_CONNECT_REQUEST ||
	    (*event)->event == RDMA_CM_EVENT_REJECTED)
		show_private_data((*event)->param.conn.private_data,
				  (*event)->param.conn.private_data_len);
	return 0;
}

int OURS(rdma_ack_cm_event)(struct rdma_cm_event *event)
{
	uint64_t since = verbs_trace_now();
	int ret = REAL(rdma_ack_cm_event)(event);

	show(since, "rdma_ack_cm_event", ret);
	return ret;
}

int OURS(rdma_create_qp)(struct rdma_cm_id *id, struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	uint32_t wanted = attr->cap.max_inline_data;
	uint64_t since = verbs_trace_now();
	int ret = REAL(rdma_create_qp)(id, pd, attr);

	verbs_trace_device(id->verbs);
	verbs_trace_call(since, "rdma_create_qp", ret ? errno : 0, "QP %u",
			 ret ? 0 : id->qp->qp_num);
	if (!verbs_trace_calls())
		return ret;
	verbs_trace_detail("max_send_wr %u, max_recv_wr %u, max_send_sge %u, max_recv_sge %u, "
			   "max_inline_data %u of %u",
			   attr->cap.max_send_wr, attr->cap.max_recv_wr, attr->cap.max_send_sge,
			   attr->cap.max_recv_sge, attr->cap.max_inline_data, wanted);
	return ret;
}

void OURS(rdma_destroy_qp)(struct rdma_cm_id *id)
{
	uint64_t since = verbs_trace_now();

	if (verbs_trace_calls())
		verbs_trace_forget(id->qp);
	REAL(rdma_destroy_qp)(id);
	show(since, "rdma_destroy_qp", 0);
}
