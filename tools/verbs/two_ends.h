/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: a connection of a process with itself, by bare verbs, for the questions of
 * tools/verbs-sim/tests/probe and the mistakes of tools/verbs-trace/tests.
 *
 * Contract: who includes it has defined DEPTH, the work requests of a queue, and BUFFER, the bytes
 * of an end's memory; and SIG_ALL as 0, if only what is signaled is to complete. What fails here ends
 * the process with status 3.
 */
#ifndef VERBS_TWO_ENDS_H
#define VERBS_TWO_ENDS_H

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <rdma/rdma_cma.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PATIENCE_MS 5000
#ifndef SIG_ALL
#define SIG_ALL 1
#endif

struct end {
	const char *name;
	struct rdma_cm_id *id;
	struct ibv_pd *pd;
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq;
	struct ibv_cq *recv_cq; /* for receives, with QPs made by hand; NULL: `cq` */
	struct ibv_mr *mr;
	struct ibv_srq *srq; /* NULL: its receives are its own */
	char *buffer;
};

struct ends {
	struct rdma_event_channel *events;
	struct rdma_cm_id *listener;
	struct end client, server;
	/* To be set before connect_ends: */
	struct rdma_conn_param param; /* for both ends */
	int cq_entries;               /* size of the client's CQ; 0: enough */
	uint8_t server_rnr_retries;   /* with which the server accepts; 0: as the client */
	int receives;        /* receives of 4 KiB that the server posts before it accepts */
	int client_receives; /* receives that the client posts before it connects */
	bool pooled;         /* the server's receives are in a shared receive queue */
	/* Called with the connect request before its ack, and just after; or NULL. */
	void (*on_request)(struct rdma_cm_event *event);
	void (*after_ack)(void);
};

static inline void must(bool good, const char *what)
{
	if (good)
		return;
	perror(what);
	_exit(3);
}

/* Everything but the connection. */
static inline void equip(struct end *end, const char *name, struct rdma_cm_id *id, int cq_entries,
			 bool pooled)
{
	struct ibv_qp_init_attr init = { .qp_type = IBV_QPT_RC, .sq_sig_all = SIG_ALL };
	struct ibv_srq_init_attr pool = { .attr = { DEPTH, 1, 0 } };

	end->name = name;
	end->id = id;
	end->buffer = calloc(1, BUFFER);
	must(end->buffer, "calloc");
	end->pd = ibv_alloc_pd(id->verbs);
	must(end->pd, "ibv_alloc_pd");
	end->channel = ibv_create_comp_channel(id->verbs);
	must(end->channel, "ibv_create_comp_channel");
	end->cq =
		ibv_create_cq(id->verbs, cq_entries ? cq_entries : 2 * DEPTH, end, end->channel, 0);
	must(end->cq, "ibv_create_cq");
	end->srq = pooled ? ibv_create_srq(end->pd, &pool) : NULL;
	must(end->srq || !pooled, "ibv_create_srq");
	init.cap = (struct ibv_qp_cap){ DEPTH, DEPTH, 2, 1, 0 };
	init.send_cq = init.recv_cq = end->cq;
	init.srq = end->srq;
	must(!rdma_create_qp(id, end->pd, &init), "rdma_create_qp");
	end->mr = ibv_reg_mr(end->pd, end->buffer, BUFFER, IBV_ACCESS_LOCAL_WRITE);
	must(end->mr, "ibv_reg_mr");
}

static inline int post_recv(struct end *end, uint32_t length)
{
	struct ibv_sge sge = { (uintptr_t)end->buffer, length, end->mr->lkey };
	struct ibv_recv_wr wr = { .wr_id = 'r', .sg_list = &sge, .num_sge = 1 }, *bad;

	if (end->srq)
		return ibv_post_srq_recv(end->srq, &wr, &bad);
	return ibv_post_recv(end->id->qp, &wr, &bad);
}

static inline int post_send(struct end *end, uint32_t length, unsigned int flags)
{
	struct ibv_sge sge = { (uintptr_t)end->buffer, length, end->mr->lkey };
	struct ibv_send_wr wr = { .wr_id = 's', .sg_list = &sge, .num_sge = 1 };
	struct ibv_send_wr *bad = &wr; /* means nothing to anybody if the call succeeds */

	wr.opcode = IBV_WR_SEND;
	wr.send_flags = flags;
	return ibv_post_send(end->id->qp, &wr, &bad);
}

/* The next event, which is for the caller to ack. */
static inline struct rdma_cm_event *next_event(struct rdma_event_channel *events,
					       enum rdma_cm_event_type type)
{
	struct pollfd readable = { .fd = events->fd, .events = POLLIN };
	struct rdma_cm_event *event;

	must(poll(&readable, 1, PATIENCE_MS) == 1, rdma_event_str(type));
	must(!rdma_get_cm_event(events, &event), "rdma_get_cm_event");
	if (event->event != type)
		fprintf(stderr, "%s came instead of %s\n", rdma_event_str(event->event),
			rdma_event_str(type));
	must(event->event == type, "event");
	return event;
}

static inline void await_event(struct rdma_event_channel *events, enum rdma_cm_event_type type)
{
	rdma_ack_cm_event(next_event(events, type));
}

/* A client's id, which knows its way. */
static inline struct rdma_cm_id *resolve_in(struct rdma_event_channel *events, struct sockaddr *to,
					    enum rdma_port_space ps)
{
	struct rdma_cm_id *id;

	must(!rdma_create_id(events, &id, NULL, ps), "rdma_create_id");
	must(!rdma_resolve_addr(id, NULL, to, PATIENCE_MS), "rdma_resolve_addr");
	await_event(events, RDMA_CM_EVENT_ADDR_RESOLVED);
	must(!rdma_resolve_route(id, PATIENCE_MS), "rdma_resolve_route");
	await_event(events, RDMA_CM_EVENT_ROUTE_RESOLVED);
	return id;
}

static inline struct rdma_cm_id *resolve(struct rdma_event_channel *events, struct sockaddr *to)
{
	return resolve_in(events, to, RDMA_PS_TCP);
}

/* A listener on a free port, which it puts into the address. */
static inline struct rdma_cm_id *listen_at(struct rdma_event_channel *events,
					   struct sockaddr_in *address, int backlog)
{
	struct rdma_cm_id *id;

	address->sin_port = 0;
	must(!rdma_create_id(events, &id, NULL, RDMA_PS_TCP), "rdma_create_id");
	must(!rdma_bind_addr(id, (struct sockaddr *)address), "rdma_bind_addr");
	must(!rdma_listen(id, backlog), "rdma_listen");
	address->sin_port = rdma_get_src_port(id);
	return id;
}

static inline void accept_request(struct ends *ends)
{
	struct rdma_cm_event *event = next_event(ends->events, RDMA_CM_EVENT_CONNECT_REQUEST);
	struct rdma_conn_param param;
	struct rdma_cm_id *id = event->id;
	int i;

	if (ends->on_request)
		ends->on_request(event);
	rdma_ack_cm_event(event);
	if (ends->after_ack)
		ends->after_ack();
	equip(&ends->server, "server", id, 0, ends->pooled);
	for (i = 0; i < ends->receives; i++)
		must(!post_recv(&ends->server, 4096), "ibv_post_recv");
	param = ends->param;
	if (ends->server_rnr_retries)
		param.rnr_retry_count = ends->server_rnr_retries;
	must(!rdma_accept(id, &param), "rdma_accept");
}

/* Returns when both ends know that they are connected. */
static inline void connect_ends(struct ends *ends, struct sockaddr_in *address)
{
	int i;

	ends->events = rdma_create_event_channel();
	must(ends->events, "rdma_create_event_channel");
	ends->listener = listen_at(ends->events, address, 4);
	equip(&ends->client, "client", resolve(ends->events, (struct sockaddr *)address),
	      ends->cq_entries, false);
	for (i = 0; i < ends->client_receives; i++)
		must(!post_recv(&ends->client, 4096), "ibv_post_recv");
	must(!rdma_connect(ends->client.id, &ends->param), "rdma_connect");
	accept_request(ends);
	await_event(ends->events, RDMA_CM_EVENT_ESTABLISHED);
	await_event(ends->events, RDMA_CM_EVENT_ESTABLISHED);
}

/* ---- QPs connected by hand ---- */

static inline struct ibv_qp *create_qp_of(struct end *end, enum ibv_qp_type type)
{
	struct ibv_qp_init_attr init = { .qp_type = type, .sq_sig_all = SIG_ALL };

	init.cap = (struct ibv_qp_cap){ DEPTH, DEPTH, 1, 1, 0 };
	init.send_cq = end->cq;
	init.recv_cq = end->recv_cq ? end->recv_cq : end->cq;
	return ibv_create_qp(end->pd, &init);
}

/* `attr` has a path, access flags, depths and a timeout. Returns what ibv_modify_qp does. */
static inline int bring_up(struct ibv_qp *qp, uint32_t peer, struct ibv_qp_attr attr)
{
	int of_rc = qp->qp_type == IBV_QPT_RC, ret;

	attr.dest_qp_num = peer;
	attr.pkey_index = 0;
	attr.rq_psn = attr.sq_psn = 0;
	attr.qp_state = IBV_QPS_INIT;
	ret = ibv_modify_qp(qp, &attr,
			    IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
	attr.qp_state = IBV_QPS_RTR;
	if (!ret)
		ret = ibv_modify_qp(
			qp, &attr,
			IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
				IBV_QP_RQ_PSN |
				(of_rc ? IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER : 0));
	attr.qp_state = IBV_QPS_RTS;
	if (!ret)
		ret = ibv_modify_qp(qp, &attr,
				    IBV_QP_STATE | IBV_QP_SQ_PSN |
					    (of_rc ? IBV_QP_MAX_QP_RD_ATOMIC | IBV_QP_TIMEOUT |
							     IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY
						   : 0));
	return ret;
}

/*
 * From now on the two ends have QPs of this type in the place of those that they had, with these access
 * flags, and these depths: of the client's READs, and of those that the server answers. Returns false if
 * the device has none.
 */
static inline bool pair_anew(struct ends *e, enum ibv_qp_type type, int access, uint8_t reads,
			     uint8_t answers)
{
	static struct ibv_qp_attr attr;
	struct ibv_qp_init_attr init;
	struct ibv_qp *qp = create_qp_of(&e->client, type);

	if (!qp)
		return false;
	if (!attr.port_num)
		must(!ibv_query_qp(e->client.id->qp, &attr, IBV_QP_AV | IBV_QP_PORT, &init),
		     "ibv_query_qp");
	attr.qp_access_flags = (unsigned int)access;
	attr.min_rnr_timer = 12;
	attr.timeout = 14;
	attr.retry_cnt = attr.rnr_retry = 0;
	e->client.id->qp = qp;
	e->server.id->qp = create_qp_of(&e->server, type);
	must(e->server.id->qp, "ibv_create_qp");
	attr.max_rd_atomic = reads;
	attr.max_dest_rd_atomic = answers;
	must(!bring_up(qp, e->server.id->qp->qp_num, attr) &&
		     !bring_up(e->server.id->qp, qp->qp_num, attr),
	     "ibv_modify_qp");
	return true;
}

#endif
