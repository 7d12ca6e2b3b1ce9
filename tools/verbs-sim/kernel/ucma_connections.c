/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Commands of the connection manager: connections, and events. See ucma.h.
 */
#include <errno.h>
#include <string.h>

#include "verbs-sim/kernel/ucma.h"

static struct sim_terms terms_of(const struct rdma_ucm_conn_param *param)
{
	struct sim_terms terms = {
		.responder_resources = param->responder_resources,
		.initiator_depth = param->initiator_depth,
		.retry_count = param->retry_count & 7,
		.rnr_retry_count = param->rnr_retry_count & 7,
		.qp_num = param->qp_num,
		.data_length = param->private_data_len,
	};

	memcpy(terms.data, param->private_data, param->private_data_len);
	return terms;
}

/* From here on the QP is known by its number. */
static void bind_qp(struct sim_endpoint *endpoint, uint32_t number)
{
	struct sim_qp *qp = kernel_find(SIM_QP, number);

	if (qp && !endpoint->datagram)
		sim_give_qp(endpoint, qp);
}

int ucma_connect(struct ucma *ucma, const void *in, void *out)
{
	const struct rdma_ucm_connect *request = in;
	struct sim_endpoint *client;
	struct sim_terms terms = terms_of(&request->conn_param);
	int ret = ucma_find(ucma, request->id, &client);

	(void)out;
	if (ret)
		return ret;
	bind_qp(client, terms.qp_num);
	return sim_connect(client, &terms);
}

/* Without valid parameters, this is a client whose QP is ready: the server may learn of it. */
int ucma_accept(struct ucma *ucma, const void *in, void *out)
{
	const struct rdma_ucm_accept *request = in;
	struct sim_terms terms = terms_of(&request->conn_param);
	struct sim_endpoint *endpoint;
	int ret = ucma_find(ucma, request->id, &endpoint);

	(void)out;
	if (ret)
		return ret;
	if (!request->conn_param.valid) {
		if (endpoint->state != SIM_CM_CONNECTING)
			return EINVAL;
		sim_take_reply(endpoint);
		return 0;
	}
	bind_qp(endpoint, terms.qp_num);
	endpoint->object.user = (void *)(uintptr_t)request->uid;
	return sim_accept(endpoint, &terms);
}

int ucma_reject(struct ucma *ucma, const void *in, void *out)
{
	const struct rdma_ucm_reject *request = in;
	struct sim_endpoint *server;
	struct sim_terms terms = { .data_length = request->private_data_len };
	int ret = ucma_find(ucma, request->id, &server);

	(void)out;
	if (ret)
		return ret;
	memcpy(terms.data, request->private_data, request->private_data_len);
	return sim_reject(server, &terms);
}

int ucma_disconnect(struct ucma *ucma, const void *in, void *out)
{
	const struct rdma_ucm_disconnect *request = in;
	struct sim_endpoint *endpoint;
	int ret = ucma_find(ucma, request->id, &endpoint);

	(void)out;
	if (ret)
		return ret;
	return sim_disconnect(endpoint);
}

/* The simulated CM knows already that the connection is established. */
int ucma_notify(struct ucma *ucma, const void *in, void *out)
{
	const struct rdma_ucm_notify *request = in;
	struct sim_endpoint *endpoint;

	(void)out;
	return ucma_find(ucma, request->id, &endpoint);
}

int ucma_init_qp_attr(struct ucma *ucma, const void *in, void *out)
{
	const struct rdma_ucm_init_qp_attr *request = in;
	struct ibv_qp_attr attr = { .qp_state = (enum ibv_qp_state)request->qp_state };
	struct ib_uverbs_qp_attr *answer = out;
	struct sim_endpoint *endpoint;
	int mask = 0, ret = ucma_find(ucma, request->id, &endpoint);

	if (!ret)
		ret = sim_init_qp_attr(endpoint, &attr, &mask);
	if (ret)
		return ret;
	answer->qp_attr_mask = (uint32_t)mask;
	answer->qp_state = request->qp_state;
#define SAME(member) answer->member = (__typeof__(answer->member))attr.member
	SAME(qkey);
	SAME(qp_access_flags);
	SAME(pkey_index);
	SAME(port_num);
	SAME(path_mtu);
	SAME(dest_qp_num);
	SAME(rq_psn);
	SAME(sq_psn);
	SAME(max_rd_atomic);
	SAME(max_dest_rd_atomic);
	SAME(min_rnr_timer);
	SAME(timeout);
	SAME(retry_cnt);
	SAME(rnr_retry);
	SAME(ah_attr.is_global);
	SAME(ah_attr.port_num);
	SAME(ah_attr.grh.sgid_index);
	SAME(ah_attr.grh.hop_limit);
#undef SAME
	memcpy(answer->ah_attr.grh.dgid, &attr.ah_attr.grh.dgid, sizeof(union ibv_gid));
	return 0;
}

/* ---- Events ---- */

static void translate_connected(const struct sim_terms *terms, struct rdma_ucm_conn_param *param)
{
	memcpy(param->private_data, terms->data, terms->data_length);
	param->private_data_len = terms->data_length;
	param->responder_resources = terms->responder_resources;
	param->initiator_depth = terms->initiator_depth;
	param->retry_count = terms->retry_count;
	param->rnr_retry_count = terms->rnr_retry_count;
	param->qp_num = terms->qp_num;
}

static void translate_datagram(const struct sim_cm_event *event, struct rdma_ucm_ud_param *param)
{
	const struct ibv_ah_attr *path = &event->path;

	memcpy(param->private_data, event->terms.data, event->terms.data_length);
	param->private_data_len = event->terms.data_length;
	if (!path->is_global)
		return;
	memcpy(param->ah_attr.grh.dgid, &path->grh.dgid, sizeof(path->grh.dgid));
	param->ah_attr.grh.sgid_index = path->grh.sgid_index;
	param->ah_attr.grh.hop_limit = path->grh.hop_limit;
	param->ah_attr.is_global = path->is_global;
	param->ah_attr.port_num = path->port_num;
	param->qkey = RDMA_UDP_QKEY;
	param->qp_num = event->type == RDMA_CM_EVENT_ESTABLISHED ? event->terms.qp_num : 0xffffff;
}

/* A connect request names its listener, and brings a new id; an event of multicast names the group. */
static void translate(struct sim_cm_event *event, struct rdma_ucm_event_resp *answer)
{
	struct sim_object *about = event->head.about;

	answer->uid = (uintptr_t)about->user;
	answer->id = about->number;
	answer->event = event->type;
	answer->status = (uint32_t)event->status;
	about->reported++;
	if (event->type == RDMA_CM_EVENT_CONNECT_REQUEST) {
		sim_take_request(event, NULL);
		answer->id = event->request->object.number;
	}
	if (sim_is_of_group(event->type))
		ucma_find_group(about->number, &event->path.grh.dgid, answer);
	if (((struct sim_endpoint *)about)->datagram)
		translate_datagram(event, &answer->param.ud);
	else
		translate_connected(&event->terms, &answer->param.conn);
	sim_note("cm event", event->type);
}

/*
 * Returns false for events that the kernel does not report: of an id that the program has not
 * accepted yet, and of joining a group that the program has left.
 */
static bool concerns_program(const struct sim_event *event)
{
	const struct sim_cm_event *cm_event = (const struct sim_cm_event *)event;

	return event->about->user &&
	       (!sim_is_of_group(cm_event->type) ||
		ucma_find_group(event->about->number, &cm_event->path.grh.dgid, NULL));
}

int ucma_get_event(struct ucma *ucma, const void *in, void *out)
{
	struct sim_event *event = NULL;

	(void)in;
	do {
		sim_free(event);
		event = sim_await_event(ucma->channel, ucma->file.fd);
		if (!event)
			return errno;
	} while (!concerns_program(event));
	translate((struct sim_cm_event *)event, out);
	sim_free(event);
	return 0;
}
