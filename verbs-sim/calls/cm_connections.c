/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * librdmacm: connecting, accepting, refusing and disconnecting.
 */
#include <errno.h>
#include <string.h>

#include "verbs-sim/calls/call.h"
#include "verbs-sim/calls/cm.h"

#define MOST_TO_CONNECT 56
#define MOST_TO_ACCEPT  196
#define MOST_TO_REJECT  148

/* Of datagrams: a request that nobody answers is sent 16 times. */
#define ASKED_IN_VAIN_NS 68000000000

static void copy_data(struct sim_terms *terms, const void *data, uint8_t length)
{
	if (length)
		memcpy(terms->data, data, length);
	terms->data_length = length;
}

static void set_terms(struct sim_terms *terms, const struct user_id *id,
		      const struct rdma_conn_param *param)
{
	*terms = (struct sim_terms){
		.responder_resources = param->responder_resources,
		.initiator_depth = param->initiator_depth,
		.retry_count = param->retry_count & 7,
		.rnr_retry_count = param->rnr_retry_count & 7,
		.ack_timeout = id->sim->path_timeout,
		.qp_num = id->head.qp ? id->head.qp->qp_num : param->qp_num,
	};
	copy_data(terms, param->private_data, param->private_data_len);
}

/* librdmacm refuses depths that the device does not have. */
static bool has_depths(const struct sim_endpoint *endpoint, const struct rdma_conn_param *param)
{
	int most = sim_cm_traits(endpoint)->attr.max_qp_rd_atom;

	return param->responder_resources <= most && param->initiator_depth <= most;
}

/* With --strict: what works only by chance. */
static void check_terms(const struct sim_endpoint *endpoint, const struct rdma_conn_param *param)
{
	const struct sim_program *program = endpoint->object.program;
	const struct sim_qp *qp = endpoint->qp;
	bool accepts = endpoint->state == SIM_CM_REQUESTED;

	if (!sim_world->strict)
		return;
	if (qp)
		sim_check_receives(qp);
	if (!accepts && (!param->retry_count || param->retry_count == SIM_RETRY_FOREVER))
		sim_blame(program, "retry_count is %u: none, or forever on soft-RoCE",
			  param->retry_count);
	if (!param->rnr_retry_count)
		sim_blame(program, "no retries where there is no receive: rnr_retry_count is 0");
	if (accepts && (param->responder_resources > endpoint->wanted.responder_resources ||
			param->initiator_depth > endpoint->wanted.initiator_depth))
		sim_blame(program, "a depth above what the client offered");
}

/* What librdmacm takes if the program gives no parameters. */
static const struct rdma_conn_param usual = {
	.responder_resources = 1,
	.initiator_depth = 1,
	.retry_count = 7,
	.rnr_retry_count = 7,
};

/* Of datagrams: where the server's QP is. Nothing is connected. */
static int ask(struct rdma_cm_id *id, const struct rdma_conn_param *param)
{
	struct sim_endpoint *client = user_id(id)->sim;

	if (sim_cm_traits(client)->iwarp ||
	    (param && param->private_data_len > SIM_DATAGRAM_REQUEST))
		return sim_fail(EINVAL);
	set_terms(&client->offered, user_id(id), param ? param : &usual);
	client->state = SIM_CM_CONNECTING;
	if (!sim_turns_out_otherwise(id)) {
		sim_send(client, SIM_MESSAGE_REQUEST, 0, NULL);
		sim_schedule(&client->give_up, sim_world->now_ns + ASKED_IN_VAIN_NS);
	}
	return sim_complete_call(id);
}

EXPORTED int rdma_connect(struct rdma_cm_id *id, struct rdma_conn_param *param)
{
	struct sim_endpoint *client = user_id(id)->sim;
	struct rdma_conn_param given = param ? *param : usual;

	SIM_CALL_OR(-1, "rdma_connect", ENOMEM, EINVAL, ECONNREFUSED);
	if (client->state != SIM_CM_IDLE || !id->verbs)
		return sim_fail(EINVAL);
	if (client->datagram)
		return ask(id, param);
	if (given.responder_resources == RDMA_MAX_RESP_RES)
		given.responder_resources = (uint8_t)sim_cm_traits(client)->attr.max_qp_rd_atom;
	if (given.initiator_depth == RDMA_MAX_INIT_DEPTH)
		given.initiator_depth = (uint8_t)sim_cm_traits(client)->attr.max_qp_rd_atom;
	if (!has_depths(client, &given))
		return sim_fail(EINVAL);
	if (given.private_data_len > MOST_TO_CONNECT && !sim_cm_traits(client)->iwarp)
		return sim_fail(EINVAL);
	check_terms(client, &given);
	set_terms(&client->offered, user_id(id), &given);
	client->state = SIM_CM_CONNECTING;
	if (!sim_turns_out_otherwise(id)) {
		sim_send(client, SIM_MESSAGE_REQUEST, 0, NULL);
		sim_schedule(&client->give_up,
			     sim_world->now_ns + sim_cm_traits(client)->request_lost_ns);
	}
	return sim_complete_call(id);
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

/* Of datagrams: the client is told of a QP, this one's or any other. */
static int answer(struct rdma_cm_id *id, const struct rdma_conn_param *param)
{
	struct sim_endpoint *server = user_id(id)->sim;

	if (param->private_data_len > SIM_DATAGRAM_ANSWER)
		return sim_fail(EINVAL);
	if (sim_turns_out_otherwise(id))
		return 0;
	set_terms(&server->offered, user_id(id), param);
	if (server->peer)
		sim_send(server->peer, SIM_MESSAGE_REPLY, 0, &server->offered);
	server->state = SIM_CM_ENDED;
	sim_part(server);
	return 0;
}

EXPORTED int rdma_accept(struct rdma_cm_id *id, struct rdma_conn_param *param)
{
	struct sim_endpoint *server = user_id(id)->sim;
	struct rdma_conn_param given = param ? *param : usual;

	SIM_CALL_OR(-1, "rdma_accept", ENOMEM, EINVAL, ECONNRESET);
	if (server->state != SIM_CM_REQUESTED)
		return sim_fail(EINVAL);
	if (server->datagram)
		return answer(id, &given);
	if (!server->peer)
		return sim_fail(ECONNRESET);
	if (given.private_data_len > MOST_TO_ACCEPT && !sim_cm_traits(server)->iwarp)
		return sim_fail(EINVAL);
	if (given.responder_resources == RDMA_MAX_RESP_RES)
		given.responder_resources = server->wanted.responder_resources;
	if (given.initiator_depth == RDMA_MAX_INIT_DEPTH)
		given.initiator_depth = server->wanted.initiator_depth;
	if (!has_depths(server, &given))
		return sim_fail(EINVAL);
	check_terms(server, &given);
	if (sim_turns_out_otherwise(id))
		return sim_complete_call(id);
	set_terms(&server->offered, user_id(id), &given);
	sim_connect_qp(server);
	server->state = SIM_CM_ACCEPTED;
	sim_send(server->peer, SIM_MESSAGE_REPLY, 0, &server->offered);
	if (sim_cm_traits(server)->iwarp) { /* nothing more comes from the client */
		server->state = SIM_CM_CONNECTED;
		sim_tell(server, RDMA_CM_EVENT_ESTABLISHED, 0);
	}
	return sim_complete_call(id);
}

EXPORTED int rdma_reject(struct rdma_cm_id *id, const void *private_data, uint8_t private_data_len)
{
	struct sim_endpoint *server = user_id(id)->sim;
	struct sim_terms terms = { .data_length = 0 };

	SIM_CALL_OR(-1, "rdma_reject", EINVAL, ENOMEM);
	if (server->state != SIM_CM_REQUESTED || !server->peer ||
	    (private_data_len > MOST_TO_REJECT && !sim_cm_traits(server)->iwarp))
		return sim_fail(EINVAL);
	copy_data(&terms, private_data, private_data_len);
	sim_refuse(server, &terms);
	server->state = SIM_CM_ENDED;
	return 0;
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
