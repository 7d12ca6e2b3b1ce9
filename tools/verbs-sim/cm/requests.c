/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Asking for a connection, accepting and refusing one. See cm.h.
 */
#include <errno.h>

#include "verbs-sim/cm/cm.h"
#include "verbs-sim/core/schedule.h"

/* Returns the room for private data in a message of RoCE, in bytes; on iWARP, the maximum. */
#define MOST_TO_CONNECT 56
#define MOST_TO_ACCEPT  196
#define MOST_TO_REJECT  148

/* Datagrams: the kernel sends a request that nobody answers 16 times. */
#define ASKED_IN_VAIN_NS 68000000000

bool sim_inject_event(struct sim_endpoint *endpoint)
{
	const struct sim_fault *fault = sim_me->instead;

	sim_me->instead = NULL;
	if (!fault)
		return false;
	sim_report_fault("%s at %s", fault->how, sim_me->call);
	sim_break_off(endpoint, (enum rdma_cm_event_type)fault->value, fault->status);
	return true;
}

/* With --strict, reports terms that work only by chance. */
static void check_terms(const struct sim_endpoint *endpoint, const struct sim_terms *terms)
{
	const struct sim_program *program = endpoint->object.program;
	const struct sim_qp *qp = endpoint->qp;
	bool accepts = endpoint->state == SIM_CM_REQUESTED;

	if (!sim_world->strict)
		return;
	if (qp)
		sim_check_receives(qp);
	if (!accepts && (!terms->retry_count || terms->retry_count == SIM_RETRY_FOREVER))
		sim_blame(program, "retry-count: retry_count is %u: none, or forever on soft-RoCE",
			  terms->retry_count);
	if (!terms->rnr_retry_count)
		sim_blame(
			program,
			"rnr-retry-count: no retries where there is no receive: rnr_retry_count is 0");
	if (accepts && (terms->responder_resources > endpoint->wanted.responder_resources ||
			terms->initiator_depth > endpoint->wanted.initiator_depth))
		sim_blame(program, "depth: a depth above what the client offered");
}

static bool is_too_long(const struct sim_endpoint *endpoint, const struct sim_terms *terms,
			uint8_t most)
{
	return terms->data_length > most && !sim_cm_traits(endpoint)->iwarp;
}

/* iWARP's connection is the QP's. */
static bool lacks_qp(const struct sim_endpoint *endpoint)
{
	return sim_cm_traits(endpoint)->iwarp && !endpoint->qp;
}

/* Sends the request, and waits `wait_ns` for an answer. */
static void request(struct sim_endpoint *client, const struct sim_terms *terms, uint64_t wait_ns)
{
	client->offered = *terms;
	client->offered.ack_timeout = client->path_timeout;
	client->state = SIM_CM_CONNECTING;
	if (sim_inject_event(client))
		return;
	sim_send(client, SIM_MESSAGE_REQUEST, 0, NULL);
	sim_schedule(&client->give_up, sim_world->now_ns + wait_ns);
}

/* Datagrams: asks for the number of the server's QP. This connects nothing. */
static int ask(struct sim_endpoint *client, const struct sim_terms *terms)
{
	if (sim_cm_traits(client)->iwarp || terms->data_length > SIM_DATAGRAM_REQUEST)
		return EINVAL;
	request(client, terms, ASKED_IN_VAIN_NS);
	return 0;
}

int sim_connect(struct sim_endpoint *client, const struct sim_terms *terms)
{
	if (client->state != SIM_CM_IDLE || !client->routed)
		return EINVAL;
	if (client->datagram)
		return ask(client, terms);
	if (is_too_long(client, terms, MOST_TO_CONNECT) || lacks_qp(client))
		return EINVAL;
	check_terms(client, terms);
	request(client, terms, sim_cm_traits(client)->request_lost_ns);
	return 0;
}

/* Datagrams: tells the client the number of a QP, of this endpoint or any other. */
static int answer(struct sim_endpoint *server, const struct sim_terms *terms)
{
	if (terms->data_length > SIM_DATAGRAM_ANSWER)
		return EINVAL;
	if (sim_inject_event(server))
		return 0;
	server->offered = *terms;
	if (server->peer)
		sim_send(server->peer, SIM_MESSAGE_REPLY, 0, &server->offered);
	server->state = SIM_CM_ENDED;
	sim_part(server);
	return 0;
}

int sim_accept(struct sim_endpoint *server, const struct sim_terms *terms)
{
	if (server->state != SIM_CM_REQUESTED)
		return EINVAL;
	if (server->datagram)
		return answer(server, terms);
	if (!server->peer)
		return ECONNRESET;
	if (is_too_long(server, terms, MOST_TO_ACCEPT) || lacks_qp(server))
		return EINVAL;
	check_terms(server, terms);
	if (sim_inject_event(server))
		return 0;
	server->offered = *terms;
	sim_connect_qp(server);
	server->state = SIM_CM_ACCEPTED;
	sim_send(server->peer, SIM_MESSAGE_REPLY, 0, &server->offered);
	if (sim_cm_traits(server)->iwarp) /* nothing more comes from the client */
		sim_send(server, SIM_MESSAGE_ESTABLISHED, 0, NULL);
	return 0;
}

int sim_reject(struct sim_endpoint *server, const struct sim_terms *terms)
{
	if (server->state != SIM_CM_REQUESTED || !server->peer ||
	    is_too_long(server, terms, MOST_TO_REJECT))
		return EINVAL;
	sim_refuse(server, terms);
	server->state = SIM_CM_ENDED;
	return 0;
}
