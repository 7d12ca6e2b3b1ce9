/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Endpoints: their addresses, their events, and their inboxes. See cm.h.
 */
#include <errno.h>
#include <string.h>

#include "verbs-sim/cm/cm.h"
#include "verbs-sim/core/schedule.h"

const struct sim_traits *sim_cm_traits(const struct sim_endpoint *endpoint)
{
	return &(endpoint->device ? endpoint->device : sim_world->devices->all)->traits;
}

struct sim_endpoint *sim_create_endpoint(struct sim_program *program, struct sim_channel *channel,
					 void *user)
{
	struct sim_endpoint *endpoint = sim_create(SIM_ENDPOINT, sizeof(*endpoint), program, user);

	endpoint->channel = channel;
	channel->object.users++;
	endpoint->deliver.kind = SIM_TASK_DELIVER;
	endpoint->deliver.object = endpoint;
	endpoint->give_up.kind = SIM_TASK_GIVE_UP;
	endpoint->give_up.object = endpoint;
	TAILQ_INIT(&endpoint->inbox);
	return endpoint;
}

void sim_give_qp(struct sim_endpoint *endpoint, struct sim_qp *qp)
{
	endpoint->qp = qp;
	qp->endpoint = endpoint;
	qp->of_endpoint = &endpoint->qp;
}

void sim_move_endpoint(struct sim_endpoint *endpoint, struct sim_channel *to)
{
	struct sim_channel *from = endpoint->channel;
	struct sim_event *event, *next;

	for (event = TAILQ_FIRST(&from->events); event; event = next) {
		next = TAILQ_NEXT(event, link);
		if (event->about != &endpoint->object)
			continue;
		sim_remove_event(from, event);
		sim_post_event(to, event);
	}
	SIM_COUNT_DOWN(from->object.users);
	to->object.users++;
	endpoint->channel = to;
}

/* ---- Addresses ---- */

void sim_unbind(struct sim_endpoint *endpoint)
{
	if (endpoint->bound)
		LIST_REMOVE(endpoint, same_port);
	endpoint->bound = false;
}

in_port_t *sim_port_of(struct sockaddr_storage *address)
{
	return address->ss_family == AF_INET6 ? &((struct sockaddr_in6 *)address)->sin6_port
					      : &((struct sockaddr_in *)address)->sin_port;
}

void sim_copy_address(struct sockaddr_storage *to, const struct sockaddr *from)
{
	memset(to, 0, sizeof(*to));
	memcpy(to, from,
	       from->sa_family == AF_INET6 ? sizeof(struct sockaddr_in6)
					   : sizeof(struct sockaddr_in));
}

bool sim_is_any(const struct sockaddr_storage *address)
{
	const struct sockaddr_in *v4 = (const struct sockaddr_in *)address;
	const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)address;

	return address->ss_family == AF_INET6 ? IN6_IS_ADDR_UNSPECIFIED(&v6->sin6_addr)
					      : v4->sin_addr.s_addr == htonl(INADDR_ANY);
}

bool sim_is_loopback(const struct sockaddr_storage *address)
{
	const struct sockaddr_in *v4 = (const struct sockaddr_in *)address;
	const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)address;

	return address->ss_family == AF_INET6 ? IN6_IS_ADDR_LOOPBACK(&v6->sin6_addr)
					      : ntohl(v4->sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
}

static bool same_host(const struct sockaddr_storage *one, const struct sockaddr_storage *other)
{
	if (one->ss_family == AF_INET6)
		return IN6_ARE_ADDR_EQUAL(&((const struct sockaddr_in6 *)one)->sin6_addr,
					  &((const struct sockaddr_in6 *)other)->sin6_addr);
	return ((const struct sockaddr_in *)one)->sin_addr.s_addr ==
	       ((const struct sockaddr_in *)other)->sin_addr.s_addr;
}

bool sim_same_address(const struct sim_endpoint *listener, const struct sockaddr_storage *address)
{
	struct sockaddr_storage own = listener->source, other = *address;

	if (*sim_port_of(&own) != *sim_port_of(&other))
		return false;
	if (own.ss_family == other.ss_family)
		return sim_is_any(&own) || sim_is_any(&other) || same_host(&own, &other);
	/* On soft-RoCE a listener on :: also takes IPv4 clients, unless it is told not to. */
	return own.ss_family == AF_INET6 && sim_is_any(&own) && !listener->family_only &&
	       !sim_cm_traits(listener)->iwarp;
}

/* ---- Events ---- */

static uint8_t at_least(uint8_t length, uint8_t least)
{
	return length > least ? length : least;
}

static uint8_t padded(const struct sim_traits *traits, enum rdma_cm_event_type type, uint8_t length)
{
	switch (type) {
	case RDMA_CM_EVENT_CONNECT_REQUEST:
		return at_least(length, traits->padded_request);
	case RDMA_CM_EVENT_CONNECT_RESPONSE:
	case RDMA_CM_EVENT_ESTABLISHED:
		return at_least(length, traits->padded_reply);
	case RDMA_CM_EVENT_REJECTED:
		return at_least(length, traits->padded_reject);
	default:
		return 0;
	}
}

static struct sim_cm_event *create_event(struct sim_endpoint *about, enum rdma_cm_event_type type,
					 int status, const struct sim_terms *terms)
{
	struct sim_cm_event *event = sim_alloc(sizeof(*event));

	event->head.about = &about->object;
	event->type = type;
	event->status = status;
	event->terms = *terms;
	sim_cover_event(about->object.program, "CM", sim_cm_event_name(type), status);
	sim_trace_event(about->object.program, "%s comes", sim_cm_event_name(type));
	return event;
}

/* The terms in the server's event ESTABLISHED: none on RoCE, and on iWARP only depths. */
static struct sim_terms depths_of_server(const struct sim_endpoint *server)
{
	struct sim_terms depths = { .data_length = 0 };

	if (sim_cm_traits(server)->iwarp) {
		depths.responder_resources = server->offered.initiator_depth;
		depths.initiator_depth = server->wanted.responder_resources;
	}
	return depths;
}

void sim_tell_path(struct sim_endpoint *endpoint, enum rdma_cm_event_type type, int status,
		   const union ibv_gid *gid)
{
	const union ibv_gid own = sim_gid_of(&endpoint->source);
	struct sim_terms terms = { .data_length = 0 };
	struct sim_cm_event *event;

	if (!sim_is_of_group(type))
		terms = endpoint->wanted;
	event = create_event(endpoint, type, status, &terms);
	if (gid) {
		event->path.is_global = event->path.port_num = 1;
		event->path.grh.dgid = *gid;
		event->path.grh.sgid_index = (uint8_t)sim_gid_index(sim_host_at(endpoint), 1, &own);
		event->path.grh.hop_limit = 64;
	}
	sim_post_event(endpoint->channel, &event->head);
}

void sim_tell(struct sim_endpoint *endpoint, enum rdma_cm_event_type type, int status)
{
	struct sim_terms terms = endpoint->wanted;
	bool answered = type == RDMA_CM_EVENT_ESTABLISHED || type == RDMA_CM_EVENT_CONNECT_RESPONSE;

	if (answered && endpoint->state != SIM_CM_CONNECTING)
		terms = depths_of_server(endpoint);
	else if (!answered && type != RDMA_CM_EVENT_REJECTED)
		terms = (struct sim_terms){ .data_length = 0 };
	else
		terms.data_length = padded(sim_cm_traits(endpoint), type, terms.data_length);
	sim_post_event(endpoint->channel, &create_event(endpoint, type, status, &terms)->head);
}

/* ---- Messages ---- */

void sim_receive_terms(const struct sim_endpoint *endpoint, struct sim_terms *terms, uint8_t least)
{
	terms->data_length = at_least(terms->data_length, least);
	terms->data_length = (uint8_t)sim_receive(endpoint->object.program, terms->data,
						  terms->data_length,
						  least ? SIM_FIXED : UINT8_MAX);
}

enum sim_passage sim_passage_from(const struct sim_endpoint *endpoint)
{
	return endpoint->cut ? SIM_CUT_OFF
			     : sim_passage(sim_host_at(endpoint),
					   sim_host_at(endpoint->peer ? endpoint->peer : endpoint));
}

void sim_send(struct sim_endpoint *to, enum sim_message_kind kind, int status,
	      const struct sim_terms *terms)
{
	bool stays = kind == SIM_MESSAGE_REQUEST || kind == SIM_MESSAGE_ESTABLISHED ||
		     kind == SIM_MESSAGE_FORGET;
	struct sim_message *message;

	if (!stays && sim_passage_from(to) == SIM_CUT_OFF)
		return;
	message = sim_alloc(sizeof(*message));
	message->kind = kind;
	message->status = status;
	message->from = sim_host_at(stays || !to->peer ? to : to->peer);
	if (terms)
		message->terms = *terms;
	SIM_LINK(&to->inbox, message, link);
	if (TAILQ_FIRST(&to->inbox)->lost)
		return; /* it comes behind that */
	sim_schedule(&to->deliver, sim_world->now_ns + sim_pace_ns(SIM_PACE_CM));
}
