/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Connections: how they begin and end, and what that does to the QP. See cm.h.
 */
#include <errno.h>
#include <string.h>

#include "verbs-sim/cm/cm.h"
#include "verbs-sim/core/schedule.h"

/*
 * The peer has chosen the retry counts of a QP, except that the client keeps its own retry_count.
 * The depths in an event are those of its receiver: they have been crossed in `wanted`.
 */
void sim_agree(const struct sim_endpoint *endpoint, struct ibv_qp_attr *attr)
{
	const struct sim_terms *wanted = &endpoint->wanted, *offered = &endpoint->offered;
	bool is_client = endpoint->state == SIM_CM_CONNECTING;
	const struct sim_terms *depths = is_client && !sim_cm_traits(endpoint)->iwarp ? wanted
										      : offered;

	attr->dest_qp_num = wanted->qp_num;
	attr->timeout = sim_cm_traits(endpoint)->ack_timeout;
	if (attr->timeout && wanted->ack_timeout)
		attr->timeout = wanted->ack_timeout;
	if (attr->timeout && endpoint->has_ack_timeout)
		attr->timeout = endpoint->ack_timeout;
	attr->retry_cnt = endpoint->state == SIM_CM_REQUESTED ? wanted->retry_count
							      : offered->retry_count;
	attr->rnr_retry = wanted->rnr_retry_count;
	attr->max_rd_atomic = depths->initiator_depth;
	attr->max_dest_rd_atomic = depths->responder_resources;
	attr->path_mtu = IBV_MTU_1024;
}

void sim_connect_qp(struct sim_endpoint *endpoint)
{
	struct sim_qp *qp = endpoint->qp;

	if (!qp || qp->state != IBV_QPS_INIT)
		return;
	qp->state = IBV_QPS_RTS;
	sim_agree(endpoint, &qp->attr);
}

void sim_establish(struct sim_endpoint *server)
{
	if (server->state != SIM_CM_ACCEPTED)
		return;
	server->state = SIM_CM_CONNECTED;
	sim_tell(server, RDMA_CM_EVENT_ESTABLISHED, 0);
}

void sim_take_request(struct sim_cm_event *event, void *user)
{
	struct sim_endpoint *listener = (struct sim_endpoint *)event->head.about;

	event->request->object.user = user;
	event->request->object.hidden = false;
	if (listener->waiting)
		SIM_COUNT_DOWN(listener->waiting);
}

void sim_take_reply(struct sim_endpoint *endpoint)
{
	if (endpoint->state != SIM_CM_CONNECTING)
		return;
	sim_connect_qp(endpoint);
	endpoint->state = SIM_CM_CONNECTED;
	if (endpoint->peer)
		sim_send(endpoint->peer, SIM_MESSAGE_READY, 0, NULL);
}

static bool has_connection(const struct sim_endpoint *endpoint)
{
	return endpoint->state == SIM_CM_CONNECTED || endpoint->state == SIM_CM_ACCEPTED;
}

static void fail_qp_of(const struct sim_endpoint *endpoint)
{
	struct sim_qp *qp = endpoint->qp;

	if (qp)
		sim_fail_qp(qp);
}

void sim_end_connection(struct sim_endpoint *endpoint)
{
	endpoint->state = SIM_CM_ENDED;
	sim_send(endpoint, SIM_MESSAGE_FORGET, 0, NULL);
	sim_postpone(&endpoint->deliver, sim_world->now_ns + sim_cm_traits(endpoint)->timewait_ns);
}

/* Each side sends a disconnect, and the first hears of the second's. */
static int disconnect_roce(struct sim_endpoint *endpoint)
{
	bool answers = endpoint->state == SIM_CM_LEFT;

	if (endpoint->state == SIM_CM_LEAVING)
		return 0; /* the first request is still under way */
	if (endpoint->state == SIM_CM_IDLE)
		return EINVAL;
	fail_qp_of(endpoint);
	if (!answers && !has_connection(endpoint))
		return 0; /* the kernel reports no error if there was nobody to tell */
	if (endpoint->peer)
		sim_send(endpoint->peer,
			 answers ? SIM_MESSAGE_DISCONNECTED : SIM_MESSAGE_DISCONNECT, 0, NULL);
	endpoint->state = SIM_CM_LEAVING;
	if (!answers && sim_passage_from(endpoint)) {
		sim_schedule(&endpoint->give_up,
			     sim_world->now_ns + sim_cm_traits(endpoint)->disconnect_lost_ns);
		return 0;
	}
	if (!answers && !endpoint->peer)
		sim_tell(endpoint, RDMA_CM_EVENT_DISCONNECTED, 0);
	if (answers || !endpoint->peer)
		sim_end_connection(endpoint);
	return 0;
}

/* One side ends the TCP connection, and both know. */
static int disconnect_iwarp(struct sim_endpoint *endpoint)
{
	if (!has_connection(endpoint))
		return endpoint->was_connected || endpoint->state == SIM_CM_ENDED ? 0 : EINVAL;
	sim_establish(endpoint);
	fail_qp_of(endpoint);
	if (endpoint->peer)
		sim_send(endpoint->peer, SIM_MESSAGE_DISCONNECT, 0, NULL);
	endpoint->state = SIM_CM_ENDED;
	endpoint->was_connected = true;
	sim_tell(endpoint, RDMA_CM_EVENT_DISCONNECTED, 0);
	return 0;
}

int sim_disconnect(struct sim_endpoint *endpoint)
{
	if (endpoint->datagram) {
		fail_qp_of(endpoint);
		return 0;
	}
	return sim_cm_traits(endpoint)->iwarp ? disconnect_iwarp(endpoint)
					      : disconnect_roce(endpoint);
}

static void lose(struct sim_endpoint *endpoint)
{
	struct sim_qp *qp = endpoint->qp;
	bool tell = has_connection(endpoint);

	if (!tell && endpoint->state != SIM_CM_CONNECTING)
		return;
	if (sim_cm_traits(endpoint)->iwarp)
		sim_establish(endpoint);
	endpoint->state = SIM_CM_ENDED;
	endpoint->was_connected = tell;
	if (qp && !TAILQ_EMPTY(&qp->sends) && sim_rarely(4))
		sim_post_async(qp->pd->context, IBV_EVENT_QP_FATAL, &qp->object);
	fail_qp_of(endpoint);
	if (tell)
		sim_tell(endpoint, RDMA_CM_EVENT_DISCONNECTED, 0);
	else
		sim_tell(endpoint, RDMA_CM_EVENT_CONNECT_ERROR, -ECONNRESET);
}

void sim_lose_connection(struct sim_endpoint *endpoint)
{
	if (!endpoint)
		return;
	if (endpoint->peer && !sim_passage_from(endpoint))
		lose(endpoint->peer);
	else if (endpoint->peer)
		sim_send(endpoint->peer, SIM_MESSAGE_DISCONNECT, 0, NULL);
	lose(endpoint);
}

void sim_part(struct sim_endpoint *endpoint)
{
	if (!endpoint->peer)
		return;
	endpoint->peer->cut |= sim_passage_from(endpoint) == SIM_CUT_OFF;
	endpoint->peer->peer = NULL;
	endpoint->peer = NULL;
}

void sim_break_off(struct sim_endpoint *endpoint, enum rdma_cm_event_type type, int status)
{
	if (endpoint->peer)
		sim_refuse(endpoint, NULL);
	sim_part(endpoint);
	if (endpoint->state == SIM_CM_CONNECTING || endpoint->state == SIM_CM_REQUESTED)
		endpoint->state = SIM_CM_ENDED;
	endpoint->wanted = (struct sim_terms){ .data_length = 0 };
	sim_tell(endpoint, type, status);
}

void sim_give_up_waiting(struct sim_endpoint *endpoint)
{
	if (endpoint->state == SIM_CM_CONNECTING) {
		sim_part(endpoint);
		endpoint->state = SIM_CM_ENDED;
		sim_tell(endpoint, RDMA_CM_EVENT_UNREACHABLE, -ETIMEDOUT);
	} else if (endpoint->state == SIM_CM_LEAVING) {
		sim_tell(endpoint, RDMA_CM_EVENT_DISCONNECTED, -ETIMEDOUT);
		sim_end_connection(endpoint);
	}
}

/* Refuses a listener's requests. */
static void drop_requests(struct sim_endpoint *listener)
{
	struct sim_event *event, *next;
	struct sim_endpoint *request;

	for (event = TAILQ_FIRST(&listener->channel->events); event && listener->object.queued;
	     event = next) {
		next = TAILQ_NEXT(event, link);
		request = ((struct sim_cm_event *)event)->request;
		if (event->about != &listener->object || !request)
			continue;
		sim_remove_event(listener->channel, event);
		sim_free(event);
		sim_destroy_endpoint(request);
	}
}

void sim_refuse(struct sim_endpoint *server, const struct sim_terms *terms)
{
	int status = server->datagram ? SIM_SIDR_REJECT : sim_cm_traits(server)->rejected;

	sim_send(server->peer, SIM_MESSAGE_REJECT, status, terms);
}

/*
 * A RoCE server that is destroyed before it knows that the client has its reply rejects the client: see
 * cm_destroy_id of the kernel.
 */
static void tell_peer(struct sim_endpoint *endpoint)
{
	bool asks = endpoint->state == SIM_CM_CONNECTING;
	bool accepts = endpoint->state == SIM_CM_ACCEPTED && !sim_cm_traits(endpoint)->iwarp;

	if (endpoint->datagram && asks)
		return;
	if (asks || accepts || endpoint->state == SIM_CM_REQUESTED)
		sim_refuse(endpoint, NULL);
	else
		sim_disconnect(endpoint);
}

void sim_destroy_endpoint(struct sim_endpoint *endpoint)
{
	struct sim_qp *qp = endpoint->qp;
	struct sim_message *message;

	if (endpoint->peer)
		tell_peer(endpoint);
	sim_part(endpoint);
	sim_unbind(endpoint);
	drop_requests(endpoint);
	sim_discard_events(endpoint->channel, &endpoint->object);
	while ((message = TAILQ_FIRST(&endpoint->inbox))) {
		SIM_UNLINK(&endpoint->inbox, message, link);
		sim_free(message);
	}
	sim_cancel(&endpoint->deliver);
	sim_cancel(&endpoint->give_up);
	if (qp)
		qp->endpoint = NULL;
	SIM_COUNT_DOWN(endpoint->channel->object.users);
	sim_destroy(endpoint);
}

void sim_destroy_endpoints_of(const struct sim_channel *channel)
{
	struct sim_object *object, *next;

	for (object = TAILQ_FIRST(&channel->object.program->objects[SIM_ENDPOINT]);
	     object && channel->object.users; object = next) {
		next = TAILQ_NEXT(object, link);
		if (((struct sim_endpoint *)object)->channel != channel)
			continue;
		object->program->left[SIM_ENDPOINT] += !object->hidden;
		sim_destroy_endpoint((struct sim_endpoint *)object);
	}
}
