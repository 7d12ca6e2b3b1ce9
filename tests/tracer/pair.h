/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Tests of verbs-trace: a connection of a process with itself, for sins.c. All functions end the process
 * with status 3 if a call fails that should not.
 */
#ifndef TESTS_TRACER_PAIR_H
#define TESTS_TRACER_PAIR_H

#include <arpa/inet.h>
#include <rdma/rdma_cma.h>
#include <stdio.h>
#include <unistd.h>

#define DEPTH  64  /* work requests */
#define SIZE   256 /* bytes of a buffer */
#define NO_KEY 0xdead

/* What one side has. */
struct side {
	struct rdma_cm_id *id;
	struct ibv_pd *pd;
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq;
	struct ibv_mr *mr;
	char buffer[SIZE];
};

struct pair {
	struct rdma_event_channel *events;
	struct rdma_cm_id *listener;
	struct side client, server;
	/* To be set before: */
	int cq_entries; /* of the client's */
	int receives;   /* that the server posts before it accepts */
	int retry_count, rnr_retry_count;
	/* Called with the request's event before its ack, and just after. */
	void (*on_request)(struct rdma_cm_event *event);
	void (*after_ack)(void);
};

/* Prints what failed, and ends the process, unless `good`. */
static inline void must(int good, const char *what)
{
	if (good)
		return;
	perror(what);
	_exit(3);
}

/* The next event of the channel, which is for the caller to ack. */
static inline struct rdma_cm_event *next_event(struct pair *pair, enum rdma_cm_event_type type)
{
	struct rdma_cm_event *event;

	must(!rdma_get_cm_event(pair->events, &event), "rdma_get_cm_event");
	if (event->event != type)
		fprintf(stderr, "%s instead of %s\n", rdma_event_str(event->event),
			rdma_event_str(type));
	must(event->event == type, "event");
	return event;
}

static inline void await_event(struct pair *pair, enum rdma_cm_event_type type)
{
	rdma_ack_cm_event(next_event(pair, type));
}

static inline void set_up(struct side *side, int cq_entries)
{
	struct ibv_qp_init_attr attr = {
		.cap = { .max_send_wr = DEPTH,
			 .max_recv_wr = DEPTH,
			 .max_send_sge = 1,
			 .max_recv_sge = 1 },
		.qp_type = IBV_QPT_RC,
	};

	side->pd = ibv_alloc_pd(side->id->verbs);
	side->channel = ibv_create_comp_channel(side->id->verbs);
	must(side->pd && side->channel, "ibv_alloc_pd");
	side->cq = ibv_create_cq(side->id->verbs, cq_entries, NULL, side->channel, 0);
	side->mr = ibv_reg_mr(side->pd, side->buffer, SIZE, IBV_ACCESS_LOCAL_WRITE);
	must(side->cq && side->mr, "ibv_create_cq");
	attr.send_cq = side->cq;
	attr.recv_cq = side->cq;
	must(!rdma_create_qp(side->id, side->pd, &attr), "rdma_create_qp");
}

static inline struct ibv_sge sge_of(struct side *side)
{
	return (struct ibv_sge){ (uintptr_t)side->buffer, SIZE, side->mr->lkey };
}

static inline void post_recv(struct side *side)
{
	struct ibv_sge sge = sge_of(side);
	struct ibv_recv_wr *bad_wr, wr = { .wr_id = 1, .sg_list = &sge, .num_sge = 1 };

	must(!ibv_post_recv(side->id->qp, &wr, &bad_wr), "ibv_post_recv");
}

static inline void accept_request(struct pair *pair)
{
	struct rdma_cm_event *event = next_event(pair, RDMA_CM_EVENT_CONNECT_REQUEST);
	struct rdma_conn_param param = {
		.responder_resources = 1,
		.initiator_depth = 1,
		.rnr_retry_count = (uint8_t)pair->rnr_retry_count,
	};
	int i;

	pair->server.id = event->id;
	if (pair->on_request)
		pair->on_request(event);
	rdma_ack_cm_event(event);
	if (pair->after_ack)
		pair->after_ack();
	set_up(&pair->server, 2 * DEPTH);
	for (i = 0; i < pair->receives; i++)
		post_recv(&pair->server);
	must(!rdma_accept(pair->server.id, &param), "rdma_accept");
}

static inline void pair_connect(struct pair *pair, const char *text)
{
	struct sockaddr_in address = { .sin_family = AF_INET };
	static const char hello[] = "hello";
	struct rdma_conn_param param = {
		.private_data = hello,
		.private_data_len = sizeof(hello),
		.responder_resources = 1,
		.initiator_depth = 1,
		.retry_count = (uint8_t)pair->retry_count,
		.rnr_retry_count = (uint8_t)pair->rnr_retry_count,
	};

	must(inet_pton(AF_INET, text, &address.sin_addr) == 1, text);
	pair->events = rdma_create_event_channel();
	must(pair->events != NULL, "rdma_create_event_channel");
	must(!rdma_create_id(pair->events, &pair->listener, NULL, RDMA_PS_TCP), "rdma_create_id");
	must(!rdma_bind_addr(pair->listener, (struct sockaddr *)&address), "rdma_bind_addr");
	must(!rdma_listen(pair->listener, 1), "rdma_listen");
	address.sin_port = rdma_get_src_port(pair->listener);
	must(!rdma_create_id(pair->events, &pair->client.id, NULL, RDMA_PS_TCP), "rdma_create_id");
	must(!rdma_resolve_addr(pair->client.id, NULL, (struct sockaddr *)&address, 5000),
	     "rdma_resolve_addr");
	await_event(pair, RDMA_CM_EVENT_ADDR_RESOLVED);
	must(!rdma_resolve_route(pair->client.id, 5000), "rdma_resolve_route");
	await_event(pair, RDMA_CM_EVENT_ROUTE_RESOLVED);
	set_up(&pair->client, pair->cq_entries);
	must(!rdma_connect(pair->client.id, &param), "rdma_connect");
	accept_request(pair);
	await_event(pair, RDMA_CM_EVENT_ESTABLISHED);
	await_event(pair, RDMA_CM_EVENT_ESTABLISHED);
}

static inline void tear_down(struct side *side)
{
	rdma_destroy_qp(side->id);
	must(!ibv_dereg_mr(side->mr), "ibv_dereg_mr");
	must(!ibv_destroy_cq(side->cq), "ibv_destroy_cq");
	must(!ibv_destroy_comp_channel(side->channel), "ibv_destroy_comp_channel");
	must(!ibv_dealloc_pd(side->pd), "ibv_dealloc_pd");
	must(!rdma_destroy_id(side->id), "rdma_destroy_id");
}

/* Who has failed may have left already: no event is waited for. */
static inline void pair_disconnect(struct pair *pair)
{
	rdma_disconnect(pair->client.id);
	rdma_disconnect(pair->server.id);
	tear_down(&pair->client);
	tear_down(&pair->server);
	must(!rdma_destroy_id(pair->listener), "rdma_destroy_id");
	rdma_destroy_event_channel(pair->events);
}

static inline void post(struct side *side, struct ibv_send_wr *wr, struct ibv_sge *sge)
{
	struct ibv_send_wr *bad_wr;

	wr->wr_id = 2;
	wr->sg_list = sge;
	wr->num_sge = 1;
	wr->send_flags = IBV_SEND_SIGNALED;
	must(!ibv_post_send(side->id->qp, wr, &bad_wr), "ibv_post_send");
}

/* A signaled send. */
static inline void post_send(struct side *side)
{
	struct ibv_sge sge = sge_of(side);

	post(side, &(struct ibv_send_wr){ .opcode = IBV_WR_SEND }, &sge);
}

/*
 * A signaled work request whose completion is in error. soft-RoCE of Linux 6.12 reports an error of
 * this side as a flush; soft-iWARP reports no error of the other side (docs/drivers.md). So each makes
 * the one that it reports.
 */
static inline void post_failing(struct side *side)
{
	struct ibv_sge sge = sge_of(side);
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_RDMA_WRITE,
		.wr.rdma = { (uintptr_t)side->buffer, NO_KEY },
	};

	if (side->id->verbs->device->transport_type == IBV_TRANSPORT_IWARP) {
		wr.opcode = IBV_WR_SEND;
		sge.lkey = NO_KEY;
	}
	post(side, &wr, &sge);
}

/* Waits for a completion, and returns its status. */
static inline enum ibv_wc_status poll_one(struct side *side)
{
	struct ibv_wc wc;
	int n;

	while (!(n = ibv_poll_cq(side->cq, 1, &wc)))
		;
	must(n == 1, "ibv_poll_cq");
	return wc.status;
}

#endif
