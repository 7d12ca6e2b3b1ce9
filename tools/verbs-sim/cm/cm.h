/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The simulated connection manager: the kernel's part of each rdma_cm_id, and the messages between
 * them.
 *
 * Contract: as for tools/verbs-sim/device/device.h. A message is in the inbox of its receiver, so
 * it arrives even if its sender is gone.
 */
#ifndef VERBS_SIM_CM_CM_H
#define VERBS_SIM_CM_CM_H
#include <netinet/in.h>
#include <rdma/rdma_cma.h>

#include "verbs-sim/device/device.h"

#define SIM_MOST_PRIVATE_DATA 256

/* Datagrams: the fixed sizes of private data in bytes, and the reasons to refuse a client. */
#define SIM_DATAGRAM_REQUEST 180
#define SIM_DATAGRAM_ANSWER  136
enum {
	SIM_SIDR_UNSUPPORTED = 1, /* nobody listens */
	SIM_SIDR_REJECT = 2,
};

enum sim_cm_state {
	SIM_CM_IDLE,
	SIM_CM_LISTENING,
	SIM_CM_CONNECTING, /* has sent a request */
	SIM_CM_REQUESTED,  /* made by a request that is not answered yet */
	SIM_CM_ACCEPTED,   /* has accepted the request */
	SIM_CM_CONNECTED,
	SIM_CM_LEAVING, /* RoCE: has asked to disconnect */
	SIM_CM_LEFT,    /* RoCE: the peer has asked, and has no answer yet */
	SIM_CM_ENDED
};

enum sim_message_kind {
	SIM_MESSAGE_REQUEST, /* in the client's own inbox, until it looks for the listener */
	SIM_MESSAGE_REPLY,
	SIM_MESSAGE_READY, /* RoCE: the client has got the reply */
	SIM_MESSAGE_REJECT,
	SIM_MESSAGE_DISCONNECT,
	SIM_MESSAGE_DISCONNECTED, /* RoCE: the answer to a disconnect */
	SIM_MESSAGE_ESTABLISHED,  /* iWARP, from the kernel to itself: the server has answered */
	SIM_MESSAGE_FORGET        /* RoCE, from the kernel to itself */
};

/* The contents of a connect, accept or reject message. */
struct sim_terms {
	uint8_t data[SIM_MOST_PRIVATE_DATA];
	uint8_t data_length;
	uint8_t responder_resources, initiator_depth, retry_count, rnr_retry_count;
	uint8_t ack_timeout; /* RoCE: the server takes it over; 0: the server's device's own */
	uint32_t qp_num;
};

struct sim_message {
	TAILQ_ENTRY(sim_message) link;
	enum sim_message_kind kind;
	int status;
	struct sim_host from;
	uint32_t lost; /* times that it was lost */
	struct sim_terms terms;
};

struct sim_cm_event {
	struct sim_event head; /* about the endpoint; a request is about its listener */
	enum rdma_cm_event_type type;
	int status;
	struct sim_endpoint *request; /* for a request, the new endpoint */
	struct sim_terms terms;
	struct ibv_ah_attr path; /* datagrams: to the server, or the group */
};

struct sim_endpoint {
	struct sim_object object;
	struct sim_channel *channel;
	struct sim_device *device; /* NULL: not known yet, or a listener on all */
	struct sim_endpoint *peer; /* NULL: none, or it is gone */
	struct sim_qp *qp;         /* NULL: none, or it is destroyed */
	enum sim_cm_state state;
	struct sockaddr_storage source, destination;
	bool bound, resolved, routed, family_only;
	LIST_ENTRY(sim_endpoint) same_port; /* in a list of bound endpoints, by port */
	bool datagram;                      /* RDMA_PS_UDP: never connected */
	bool was_connected;                 /* iWARP: the connection has ended */
	uint32_t backlog, waiting;          /* listener: how many requests may wait, and do */
	uint8_t ack_timeout;                /* value of RDMA_OPTION_ID_ACK_TIMEOUT */
	bool has_ack_timeout;               /* the option was set */
	uint8_t path_timeout;     /* for the request: the option, if set before the route */
	struct sim_terms offered; /* by this side, when it connected or accepted */
	struct sim_terms wanted;  /* by the other side */
	TAILQ_HEAD(sim_messages, sim_message) inbox;
	struct sim_task deliver;
	struct sim_task give_up; /* due when the kernel stops waiting for an answer */
	bool cut;                /* the peer has gone, and this side cannot know */
};

static inline struct sim_host sim_host_at(const struct sim_endpoint *endpoint)
{
	return (struct sim_host){ endpoint->object.program, endpoint->device };
}

struct sim_endpoint *sim_create_endpoint(struct sim_program *program, struct sim_channel *channel,
					 void *user);

/* Moves an endpoint, and what is queued about it, to another channel. */
void sim_move_endpoint(struct sim_endpoint *endpoint, struct sim_channel *to);

/*
 * ---- Requests of a program: addresses.c, requests.c, attributes.c ----
 *
 * Each that returns an int returns 0, or the errno value with which the kernel refuses.
 */

/* Returns the access that the kernel grants to the peer of a connected QP. */
#define SIM_ALL_ACCESS (IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC)

int sim_bind_address(struct sim_endpoint *endpoint, const struct sockaddr *address);

/* Resolves an address, even one that no device serves: see sim_find_route. `source` may be NULL. */
int sim_resolve_address(struct sim_endpoint *endpoint, const struct sockaddr *source,
			const struct sockaddr *destination);

/* Unbinds an endpoint from its address, if it has one. */
void sim_unbind(struct sim_endpoint *endpoint);

/* Returns the listener that a client wants to connect to; NULL: there is none. */
struct sim_endpoint *sim_find_listener(const struct sim_endpoint *client);

/* Finds the route. ENODEV: no device serves the address. EINVAL: none is resolved, or a route is. */
int sim_find_route(struct sim_endpoint *endpoint);

/* Sets an option of rdma_set_option(3), whose value has `bytes` bytes. */
int sim_set_option(struct sim_endpoint *endpoint, int level, int optname, const void *value,
		   size_t bytes);

/* Listens. `backlog` 0 or less: as many as the kernel allows. */
int sim_listen(struct sim_endpoint *endpoint, int backlog);

int sim_connect(struct sim_endpoint *client, const struct sim_terms *terms);
int sim_accept(struct sim_endpoint *server, const struct sim_terms *terms);
int sim_reject(struct sim_endpoint *server, const struct sim_terms *terms);

/* Joins a multicast group, and returns its GID; an event tells the endpoint when it has joined. */
int sim_join(struct sim_endpoint *endpoint, const struct sockaddr *address, union ibv_gid *gid);

/*
 * Fills in the attributes that move the QP of an endpoint into attr->qp_state, and sets `mask` for
 * them.
 */
int sim_init_qp_attr(const struct sim_endpoint *endpoint, struct ibv_qp_attr *attr, int *mask);

/*
 * If --fail wants another event than the one that the call leads to, reports the other. Returns
 * true if it has; the caller then does nothing more.
 */
bool sim_inject_event(struct sim_endpoint *endpoint);

/* Gives this endpoint a QP to connect, until one of the two is destroyed. */
void sim_give_qp(struct sim_endpoint *endpoint, struct sim_qp *qp);

/* Returns what would become of a message to the peer of this endpoint. */
enum sim_passage sim_passage_from(const struct sim_endpoint *endpoint);

/* The time for an answer is over: to a connect request, or to a disconnect. */
void sim_give_up_waiting(struct sim_endpoint *endpoint);

/* Queues an event about an endpoint. */
void sim_tell(struct sim_endpoint *endpoint, enum rdma_cm_event_type type, int status);

/* Returns true if an event names a multicast group of its endpoint. */
static inline bool sim_is_of_group(enum rdma_cm_event_type type)
{
	return type == RDMA_CM_EVENT_MULTICAST_JOIN || type == RDMA_CM_EVENT_MULTICAST_ERROR;
}

/* Queues an event about an endpoint of datagrams, with the path to this GID. */
void sim_tell_path(struct sim_endpoint *endpoint, enum rdma_cm_event_type type, int status,
		   const union ibv_gid *gid);

/*
 * Gives a program the private data of a message, with their padding: on RoCE, and for datagrams,
 * there are `least` bytes; 0: as many as were sent.
 */
void sim_receive_terms(const struct sim_endpoint *endpoint, struct sim_terms *terms, uint8_t least);

/* Sends a message; `terms` may be NULL. */
void sim_send(struct sim_endpoint *to, enum sim_message_kind kind, int status,
	      const struct sim_terms *terms);

/* Handles the next message in the inbox, which has arrived. */
void sim_deliver(struct sim_endpoint *endpoint);

/* Sets the attributes of a QP that follow from what both sides have sent. */
void sim_agree(const struct sim_endpoint *endpoint, struct ibv_qp_attr *attr);

/* Tells the server that the connection is established, unless it was told before. */
void sim_establish(struct sim_endpoint *server);

/* Moves the QP into RTS, with the attributes of sim_agree. */
void sim_connect_qp(struct sim_endpoint *endpoint);

/*
 * Takes a connection request's event from its listener: the new endpoint is the program's from now
 * on.
 */
void sim_take_request(struct sim_cm_event *event, void *user);

/* Gives the client its reply: on RoCE only this makes the QP, if there is one, ready. */
void sim_take_reply(struct sim_endpoint *endpoint);

/* Tells the client of a request that it is refused; `terms` may be NULL. */
void sim_refuse(struct sim_endpoint *server, const struct sim_terms *terms);

/* Makes the two ends forget each other. */
void sim_part(struct sim_endpoint *endpoint);

/* Disconnects. Returns 0, or EINVAL if there is no connection to end. */
int sim_disconnect(struct sim_endpoint *endpoint);

/* RoCE: to be called when both sides know of the end; the kernel forgets the connection later. */
void sim_end_connection(struct sim_endpoint *endpoint);

/* iWARP: breaks the connection. `endpoint` may be NULL. */
void sim_lose_connection(struct sim_endpoint *endpoint);

/*
 * Aborts the attempt to connect: the endpoint gets this event, and its peer, if it has one, is
 * refused.
 */
void sim_break_off(struct sim_endpoint *endpoint, enum rdma_cm_event_type type, int status);

/* Destroys the endpoint, and tells its peer. */
void sim_destroy_endpoint(struct sim_endpoint *endpoint);

/*
 * When a channel is closed, the kernel ends the endpoints that it still has; the program has
 * forgotten them.
 */
void sim_destroy_endpoints_of(const struct sim_channel *channel);

/*
 * Returns true if the listener takes clients that connect to `address`, or conflicts with another
 * listener there.
 */
bool sim_same_address(const struct sim_endpoint *listener, const struct sockaddr_storage *address);

/*
 * ---- What happens to a host: disturb.c ----
 *
 * Does to the host of a program what the fault says, if that is none of a call or a message.
 */
void sim_disturb(struct sim_program *program, const struct sim_fault *fault);

/* Ends a disturbance, which is over. */
void sim_end_disturbance(struct sim_disturbance *disturbance);

/* Returns the traits of the endpoint's device or, while it has none, of the first device. */
const struct sim_traits *sim_cm_traits(const struct sim_endpoint *endpoint);
in_port_t *sim_port_of(struct sockaddr_storage *address);
void sim_copy_address(struct sockaddr_storage *to, const struct sockaddr *from);

/* Return true if this is the wildcard or a loopback address, neither of which has a device. */
bool sim_is_any(const struct sockaddr_storage *address);
bool sim_is_loopback(const struct sockaddr_storage *address);
#endif
