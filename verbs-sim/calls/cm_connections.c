/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * librdmacm: connecting, accepting, refusing and disconnecting.
 */
#include <errno.h>
#include <string.h>

#include "verbs-sim/calls/call.h"
#include "verbs-sim/calls/cm.h"

static struct sim_terms terms_of(const struct user_id *id, const struct rdma_conn_param *param)
{
	struct sim_terms terms = {
		.responder_resources = param->responder_resources,
		.initiator_depth = param->initiator_depth,
		.retry_count = param->retry_count & 7,
		.rnr_retry_count = param->rnr_retry_count & 7,
		.ack_timeout = id->sim->path_timeout,
		.qp_num = id->head.qp ? id->head.qp->qp_num : param->qp_num,
		.data_length = param->private_data_len,
	};

	if (param->private_data_len)
		memcpy(terms.data, param->private_data, param->private_data_len);
	return terms;
}

/* librdmacm refuses depths that the device does not have. */
static bool has_depths(const struct sim_endpoint *endpoint, const struct rdma_conn_param *param)
{
	int most = sim_cm_traits(endpoint)->attr.max_qp_rd_atom;

	return param->responder_resources <= most && param->initiator_depth <= most;
}

/* What librdmacm takes if the program gives no parameters. */
static const struct rdma_conn_param usual = {
	.responder_resources = 1,
	.initiator_depth = 1,
	.retry_count = 7,
	.rnr_retry_count = 7,
};

EXPORTED int rdma_connect(struct rdma_cm_id *id, struct rdma_conn_param *param)
{
	struct sim_endpoint *client = user_id(id)->sim;
	struct rdma_conn_param given = param ? *param : usual;
	struct sim_terms terms;
	int ret;

	SIM_CALL_OR(-1, "rdma_connect", ENOMEM, EINVAL, ECONNREFUSED);
	if (client->state != SIM_CM_IDLE || !id->verbs)
		return sim_fail(EINVAL);
	if (given.responder_resources == RDMA_MAX_RESP_RES)
		given.responder_resources = (uint8_t)sim_cm_traits(client)->attr.max_qp_rd_atom;
	if (given.initiator_depth == RDMA_MAX_INIT_DEPTH)
		given.initiator_depth = (uint8_t)sim_cm_traits(client)->attr.max_qp_rd_atom;
	if (!client->datagram && !has_depths(client, &given))
		return sim_fail(EINVAL);
	terms = terms_of(user_id(id), &given);
	ret = sim_connect(client, &terms);
	return ret ? sim_fail(ret) : sim_complete_call(id);
}

EXPORTED int rdma_get_request(struct rdma_cm_id *listen, struct rdma_cm_id **id)
{
	struct user_id *listener = user_id(listen);
	struct ibv_qp_init_attr attr;
	struct rdma_cm_event *event;

	SIM_CALL_OR(-1, "rdma_get_request", ENOMEM, EINTR, EINVAL);
	if (!listener->synchronous)
		return sim_fail(EINVAL);
	sim_ack_last_event(listen);
	event = sim_get_event(listen->channel);
	if (!event)
		return -1;
	if (event->event != RDMA_CM_EVENT_CONNECT_REQUEST) {
		listen->event = event;
		return sim_fail(event->status ? event->status < 0 ? -event->status : event->status
					      : EINVAL);
	}
	event->id->event = event;
	*id = event->id;
	attr = listener->qp_attr;
	return listener->makes_qps ? sim_make_qp(*id, listener->qp_pd, &attr) : 0;
}

EXPORTED int rdma_accept(struct rdma_cm_id *id, struct rdma_conn_param *param)
{
	struct sim_endpoint *server = user_id(id)->sim;
	struct rdma_conn_param given = param ? *param : usual;
	struct sim_terms terms;
	int ret;

	SIM_CALL_OR(-1, "rdma_accept", ENOMEM, EINVAL, ECONNRESET);
	if (server->state != SIM_CM_REQUESTED)
		return sim_fail(EINVAL);
	if (given.responder_resources == RDMA_MAX_RESP_RES)
		given.responder_resources = server->wanted.responder_resources;
	if (given.initiator_depth == RDMA_MAX_INIT_DEPTH)
		given.initiator_depth = server->wanted.initiator_depth;
	if (!server->datagram && server->peer && !has_depths(server, &given))
		return sim_fail(EINVAL);
	terms = terms_of(user_id(id), &given);
	ret = sim_accept(server, &terms);
	return ret ? sim_fail(ret) : server->datagram ? 0 : sim_complete_call(id);
}

EXPORTED int rdma_reject(struct rdma_cm_id *id, const void *private_data, uint8_t private_data_len)
{
	const struct rdma_conn_param param = { .private_data = private_data,
					       .private_data_len = private_data_len };
	struct sim_terms terms = terms_of(user_id(id), &param);

	SIM_CALL_OR(-1, "rdma_reject", EINVAL, ENOMEM);
	return sim_fail(sim_reject(user_id(id)->sim, &terms));
}

EXPORTED int rdma_disconnect(struct rdma_cm_id *id)
{
	int ret;

	SIM_CALL_OR(-1, "rdma_disconnect", EINVAL);
	ret = sim_disconnect(user_id(id)->sim);
	return ret ? sim_fail(ret) : sim_complete_call(id);
}

/* An established connection is no news to the CM here. */
EXPORTED int rdma_notify(struct rdma_cm_id *id, enum ibv_event_type event)
{
	(void)id;
	(void)event;
	SIM_CALL_OR(-1, "rdma_notify", EINVAL);
	return 0;
}
