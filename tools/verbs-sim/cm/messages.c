/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Messages of the connection manager: the effect of each on arrival. See cm.h.
 */
#include <errno.h>

#include "verbs-sim/cm/cm.h"
#include "verbs-sim/core/schedule.h"

/* The depths in an event are those of its receiver. */
static struct sim_terms crossed(const struct sim_terms *terms)
{
	struct sim_terms other = *terms;

	other.responder_resources = terms->initiator_depth;
	other.initiator_depth = terms->responder_resources;
	return other;
}

static void create_request(struct sim_endpoint *client, struct sim_endpoint *listener)
{
	struct sim_endpoint *request =
		sim_create_endpoint(listener->object.program, listener->channel, NULL);
	struct sim_cm_event *event = sim_alloc(sizeof(*event));
	uint8_t least = client->datagram ? SIM_DATAGRAM_REQUEST
					 : sim_cm_traits(client)->padded_request;

	request->object.hidden = true;
	request->state = SIM_CM_REQUESTED;
	request->source = client->destination;
	request->destination = client->source;
	request->wanted = crossed(&client->offered);
	request->datagram = client->datagram;
	request->device = sim_is_loopback(&client->destination)
				  ? client->device
				  : sim_device_at(&client->destination, listener->object.program);
	request->peer = client;
	client->peer = request;

	event->head.about = &listener->object;
	event->type = RDMA_CM_EVENT_CONNECT_REQUEST;
	sim_cover_event(listener->object.program, "CM", sim_cm_event_name(event->type), false);
	sim_trace_event(listener->object.program, "%s comes", sim_cm_event_name(event->type));
	event->request = request;
	event->terms = request->wanted;
	sim_receive_terms(listener, &event->terms, least);
	listener->waiting++;
	if (!client->datagram) {
		sim_cancel(&client->give_up);
		sim_schedule(&client->give_up,
			     sim_world->now_ns + sim_cm_traits(client)->not_answered_ns);
	}
	sim_post_event(listener->channel, &event->head);
}

/* Datagrams: the answer, yes or no, is the last message. */
static void take_answer(struct sim_endpoint *client, int status, const struct sim_terms *terms)
{
	const union ibv_gid server = sim_gid_of(&client->destination);

	if (client->state != SIM_CM_CONNECTING)
		return;
	client->state = SIM_CM_ENDED;
	sim_cancel(&client->give_up);
	sim_part(client);
	client->wanted = *terms;
	sim_receive_terms(client, &client->wanted, SIM_DATAGRAM_ANSWER);
	if (status)
		sim_tell_path(client, RDMA_CM_EVENT_UNREACHABLE, status, NULL);
	else
		sim_tell_path(client, RDMA_CM_EVENT_ESTABLISHED, 0, &server);
}

static void refuse(struct sim_endpoint *client, int status)
{
	client->state = SIM_CM_ENDED;
	sim_cancel(&client->give_up);
	client->wanted = (struct sim_terms){ 0 };
	sim_tell(client, RDMA_CM_EVENT_REJECTED, status);
}

static struct sim_host host_of_listener(const struct sim_endpoint *client)
{
	const struct sim_endpoint *listener = sim_find_listener(client);
	const struct sim_program *program = listener ? listener->object.program : NULL;

	return program ? (struct sim_host){ program, sim_device_at(&client->destination, program) }
		       : sim_host_at(client);
}

static void request_arrives(struct sim_endpoint *client)
{
	struct sim_endpoint *listener = sim_find_listener(client);

	if (client->state != SIM_CM_CONNECTING ||
	    sim_passage(sim_host_at(client), host_of_listener(client)) == SIM_CUT_OFF)
		return; /* client->give_up ends this, or has */
	if (!listener && client->datagram) {
		take_answer(client, SIM_SIDR_UNSUPPORTED, &client->wanted);
	} else if (!listener) {
		refuse(client, sim_cm_traits(client)->nobody_listens);
	} else if (listener->waiting < listener->backlog) {
		create_request(client, listener);
	} else if (sim_cm_traits(client)->backlog_full) {
		refuse(client, sim_cm_traits(client)->backlog_full);
	} else {
		sim_send(client, SIM_MESSAGE_REQUEST, 0, NULL);
		sim_postpone(&client->deliver,
			     sim_world->now_ns + sim_cm_traits(client)->resend_ns);
	}
}

/*
 * On RoCE the client's library makes the QP ready, when the program takes the event:
 * sim_take_reply. A client whose id has no QP does that itself, and calls rdma_establish.
 */
static void reply_arrives(struct sim_endpoint *client, const struct sim_terms *terms)
{
	if (client->state != SIM_CM_CONNECTING)
		return;
	sim_cancel(&client->give_up);
	client->wanted = crossed(terms);
	sim_receive_terms(client, &client->wanted, sim_cm_traits(client)->padded_reply);
	if (sim_cm_traits(client)->iwarp) { /* docs/drivers.md, "Connecting" */
		client->wanted.responder_resources = client->offered.initiator_depth;
		client->wanted.initiator_depth = terms->initiator_depth;
	}
	if (!sim_cm_traits(client)->iwarp) {
		sim_tell(client, RDMA_CM_EVENT_CONNECT_RESPONSE, 0);
		return;
	}
	sim_tell(client, RDMA_CM_EVENT_ESTABLISHED, 0);
	sim_connect_qp(client);
	client->state = SIM_CM_CONNECTED;
}

static void reject_arrives(struct sim_endpoint *endpoint, const struct sim_message *message)
{
	if (endpoint->state == SIM_CM_ENDED)
		return;
	endpoint->state = SIM_CM_ENDED;
	sim_cancel(&endpoint->give_up);
	endpoint->wanted = message->terms;
	sim_receive_terms(endpoint, &endpoint->wanted, sim_cm_traits(endpoint)->padded_reject);
	sim_tell(endpoint, RDMA_CM_EVENT_REJECTED, message->status);
}

static void disconnect_arrives(struct sim_endpoint *endpoint)
{
	if (sim_cm_traits(endpoint)->iwarp) {
		sim_lose_connection(endpoint);
	} else if (endpoint->state == SIM_CM_CONNECTED || endpoint->state == SIM_CM_ACCEPTED) {
		endpoint->state = SIM_CM_LEFT;
		sim_tell(endpoint, RDMA_CM_EVENT_DISCONNECTED, 0);
	} else if (endpoint->state == SIM_CM_LEAVING) {
		sim_tell(endpoint, RDMA_CM_EVENT_DISCONNECTED, 0);
		sim_end_connection(endpoint);
	}
}

static void arrive(struct sim_endpoint *endpoint, const struct sim_message *message)
{
	sim_note("message", (uint64_t)message->kind);
	switch (message->kind) {
	case SIM_MESSAGE_REQUEST:
		request_arrives(endpoint);
		break;
	case SIM_MESSAGE_REPLY:
		if (endpoint->datagram)
			take_answer(endpoint, 0, &message->terms);
		else
			reply_arrives(endpoint, &message->terms);
		break;
	case SIM_MESSAGE_READY:
	case SIM_MESSAGE_ESTABLISHED:
		sim_establish(endpoint);
		break;
	case SIM_MESSAGE_REJECT:
		if (endpoint->datagram)
			take_answer(endpoint, message->status, &message->terms);
		else
			reject_arrives(endpoint, message);
		break;
	case SIM_MESSAGE_DISCONNECT:
		disconnect_arrives(endpoint);
		break;
	case SIM_MESSAGE_DISCONNECTED:
		if (endpoint->state == SIM_CM_LEAVING) {
			sim_tell(endpoint, RDMA_CM_EVENT_DISCONNECTED, 0);
			sim_end_connection(endpoint);
		}
		break;
	case SIM_MESSAGE_FORGET:
		sim_tell(endpoint, RDMA_CM_EVENT_TIMEWAIT_EXIT, 0);
		break;
	}
}

#define MOST_TIMES   16         /* CMA_MAX_CM_RETRIES, and the first time */
#define SYN_NS       1000000000 /* TCP_TIMEOUT_INIT: the first time after which TCP repeats a SYN, */
#define TCP_NS       200000000  /* TCP_RTO_MIN: or anything else; then each time twice as long */
#define MOST_DOUBLES 7

static uint64_t resend_ns(const struct sim_endpoint *endpoint, const struct sim_message *message)
{
	uint32_t doubles = message->lost > MOST_DOUBLES ? MOST_DOUBLES : message->lost - 1;
	uint64_t tcp_ns = message->kind == SIM_MESSAGE_REQUEST ? SYN_NS : TCP_NS;

	return sim_cm_traits(endpoint)->iwarp ? tcp_ns << doubles
					      : sim_cm_traits(endpoint)->resend_ns;
}

/* Returns true if a message is lost on its way. One on its way when a host falls silent for good is not. */
static bool is_lost(const struct sim_endpoint *endpoint, const struct sim_message *message)
{
	struct sim_host from = message->from, to = sim_host_at(endpoint);

	if (message->kind == SIM_MESSAGE_ESTABLISHED || message->kind == SIM_MESSAGE_FORGET)
		return false;
	if (message->kind == SIM_MESSAGE_REQUEST)
		to = host_of_listener(endpoint);
	return sim_passage(from, to) == SIM_LOST || sim_loses(from, to);
}

void sim_deliver(struct sim_endpoint *endpoint)
{
	struct sim_message *message = TAILQ_FIRST(&endpoint->inbox);

	if (is_lost(endpoint, message) && ++message->lost < MOST_TIMES) {
		sim_schedule(&endpoint->deliver, sim_world->now_ns + resend_ns(endpoint, message));
		return;
	}
	SIM_UNLINK(&endpoint->inbox, message, link);
	if (!TAILQ_EMPTY(&endpoint->inbox))
		sim_schedule(&endpoint->deliver, sim_world->now_ns + sim_pace_ns(SIM_PACE_CM));
	if (message->lost < MOST_TIMES)
		arrive(endpoint, message);
	sim_free(message);
}
