/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The objects of librdmacm as the program has them, and what its calls have in common.
 */
#ifndef VERBS_SIM_CALLS_CM_H
#define VERBS_SIM_CALLS_CM_H
#include "verbs-sim/calls/verbs.h"
#include "verbs-sim/cm/cm.h"

struct user_event_channel {
	struct rdma_event_channel head;
	struct sim_channel *sim;
};

/* A group of multicast that an id has joined. */
struct user_group {
	TAILQ_ENTRY(user_group) link;
	union ibv_gid gid;
	void *context;
	uint32_t unacked; /* events of it */
};

struct user_id {
	struct rdma_cm_id head;
	struct sim_endpoint *sim;
	bool synchronous; /* it has a channel of its own, and its calls wait for their events */
	bool makes_qps; /* a listener of rdma_create_ep: its requests get QPs of these attributes */
	struct ibv_qp_init_attr qp_attr;
	struct ibv_pd *qp_pd;
	uint32_t unacked; /* events that the program got and has not acked */
	TAILQ_HEAD(user_groups, user_group) groups;
};

struct user_event {
	struct rdma_cm_event head;
	struct user_group *group; /* that it is about; or NULL */
	struct user_id *counted;  /* whose `unacked` it is in: of a request, the listener's */
	uint8_t data[SIM_MOST_PRIVATE_DATA];
};

USER(id, rdma_cm_id)
USER(event_channel, rdma_event_channel)
#undef USER

/* A program's id for an endpoint. NULL and errno. */
struct user_id *sim_new_id(struct sim_endpoint *endpoint, struct rdma_event_channel *channel,
			   void *context, enum rdma_port_space ps);

/* Moves an id to another channel, or to one of its own. Returns 0 or an errno value. */
int sim_move_id(struct user_id *id, struct rdma_event_channel *channel);

/* The next event of a channel; NULL and errno. */
struct rdma_cm_event *sim_get_event(struct rdma_event_channel *channel);

void sim_ack_event(struct rdma_cm_event *event);

/* Acks the event that the last call of a synchronous id left in it. */
void sim_ack_last_event(struct rdma_cm_id *id);

/* A synchronous id waits for the event of its call. Returns 0, or -1 and errno. */
int sim_complete_call(struct rdma_cm_id *id);

/* A device as librdmacm has opened it, once for all ids of the program. */
struct ibv_context *sim_context_of_library(struct sim_device *device);

/* Makes the device known to an id, if its address belongs to one. */
void sim_bind_device(struct user_id *id);

/* What the calls of these names do. Those that can fail return 0, or -1 and errno. */
int sim_make_id(struct rdma_event_channel *channel, struct rdma_cm_id **created, void *id_context,
		enum rdma_port_space ps);
void sim_delete_id(struct rdma_cm_id *id);
int sim_bind(struct rdma_cm_id *id, struct sockaddr *addr);
int sim_resolve_addr(struct rdma_cm_id *id, struct sockaddr *src_addr, struct sockaddr *dst_addr);
int sim_resolve_route(struct rdma_cm_id *id);
void sim_unmake_qp(struct rdma_cm_id *id);
void sim_unmake_srq(struct rdma_cm_id *id);

/* The QP of an id. Returns 0, or -1 and errno. */
int sim_make_qp(struct rdma_cm_id *id, struct ibv_pd *pd, struct ibv_qp_init_attr *attr);
#endif
