/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * verbs-trace, the tool: writes events and parameters of connections. See say.h.
 */
#include <string.h>

#include "verbs-trace/tool/say.h"

/*
 * Writes the CM's reason for a refused connection; other statuses are errno values.
 */
static void say_status(struct out *out, const struct rdma_cm_event *event)
{
	static const char *const reasons[] = {
		[1] = "no QP",
		[2] = "no EEC",
		[3] = "no resources",
		[4] = "timeout",
		[5] = "unsupported",
		[6] = "invalid id",
		[8] = "nobody listens",
		[10] = "stale connection",
		[24] = "port redirected",
		[28] = "the program refused",
	};
	int status = event->status, error = status < 0 ? -status : status;
	const char *name = strerrorname_np(error);

	out_signed(out, "status", status);
	if (!status)
		return;
	if (event->event == RDMA_CM_EVENT_REJECTED && status > 0 &&
	    (size_t)status < sizeof(reasons) / sizeof(reasons[0]) && reasons[status])
		out_string(out, "reason", reasons[status]);
	else if (event->event == RDMA_CM_EVENT_REJECTED && status == -ECONNREFUSED)
		out_string(out, "reason", "the program refused, or nobody listens");
	else if (name)
		out_string(out, "reason", strerrordesc_np(error));
}

void say_qp_of_id(struct out *out, const char *name, const struct ibv_qp_init_attr *attr,
		  struct rdma_cm_id *id)
{
	say_qp_init_attr(out, name, attr);
	if (!id || !id->qp)
		return;
	say_labelled(out, "qp", id->qp, KIND_QP);
	out_unsigned(out, "qp_num", id->qp->qp_num);
	say_address(out, "local", rdma_get_local_addr(id));
	say_address(out, "peer", rdma_get_peer_addr(id));
}

static const char *event_name(enum rdma_cm_event_type type)
{
	__typeof__(&rdma_event_str) real = real_function(VERB_rdma_event_str); /* not our own */
	const char *name = real(type), *prefix = "RDMA_CM_EVENT_";

	return strncmp(name, prefix, strlen(prefix)) ? name : name + strlen(prefix);
}

static bool has_param(enum rdma_cm_event_type type)
{
	return type == RDMA_CM_EVENT_CONNECT_REQUEST || type == RDMA_CM_EVENT_CONNECT_RESPONSE ||
	       type == RDMA_CM_EVENT_ESTABLISHED;
}

void say_cm_event(struct out *out, const char *name, struct rdma_cm_event *const *pointer)
{
	const struct rdma_cm_event *event = *pointer;
	bool datagram = event->id && event->id->ps == RDMA_PS_UDP;

	out_object(out, name, KIND_EVENT, event);
	out_open(out, FOR_JSON(out, "what"));
	out_word(out, FOR_JSON(out, "type"), event_name(event->event));
	out_object(out, "id", KIND_ID, event->id);
	if (event->listen_id && event->listen_id != event->id)
		say_labelled(out, "listener", event->listen_id, KIND_ID);
	say_status(out, event);
	if (has_param(event->event) && !datagram) {
		out_unsigned(out, "responder_resources", event->param.conn.responder_resources);
		out_unsigned(out, "initiator_depth", event->param.conn.initiator_depth);
	}
	if (datagram && event->event == RDMA_CM_EVENT_ESTABLISHED)
		out_unsigned(out, "qp_num", event->param.ud.qp_num);
	say_private_data(out, "private_data", event->param.conn.private_data,
			 event->param.conn.private_data_len);
	out_close(out);
}

void say_option(struct out *out, const char *name, int option, int level)
{
	if (level == RDMA_OPTION_ID)
		say_option_id(out, name, (uint64_t)option);
	else
		out_signed(out, name, option);
}
