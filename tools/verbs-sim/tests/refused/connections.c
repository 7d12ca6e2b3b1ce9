/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Connections one after the other: a QP in the place of one that has ended, and 300 connections on a
 * device that has room for one. See refused.h.
 */
#include "verbs-sim/tests/refused/refused.h"

void try_place(void)
{
	struct ibv_qp *first = ends.client.id->qp;

	pair_anew(&ends, IBV_QPT_RC, ALL, 1, 1);
	must(!ibv_destroy_qp(first), "ibv_destroy_qp");
	pair_anew(&ends, IBV_QPT_RC, ALL, 1, 1);
	first = ends.client.id->qp;
	ends.client.id->qp = NULL; /* the library does nothing to it */
	must(!rdma_disconnect(ends.client.id), "rdma_disconnect");
	ends.client.id->qp = first;
	must(!post_recv(&ends.server, 64), "ibv_post_recv");
	puts(outcome(&ends.client, operation(IBV_WR_SEND, 0, 0, 8)));
}

/* ---- The 300th time ---- */

static const char data[] = "private data";

static void check_data(struct rdma_cm_event *event)
{
	const struct rdma_conn_param *conn = &event->param.conn;
	const char *got = conn->private_data;
	uint8_t i;

	for (i = 0; i < conn->private_data_len; i++) {
		if (got[i] != (i < ends.param.private_data_len ? data[i] : 0))
			printf("byte %u of the private data is %d\n", i, got[i]);
	}
}

/* Creates one of each with what is left, and expects that there is none; and what is refused. */
static void ask_for_more(void)
{
	struct ibv_context *context = ends.client.id->verbs;
	struct ibv_srq_init_attr pool = { .attr = { 1, 1, 0 } };

	must(!create_qp_of(&ends.client, IBV_QPT_RC) && errno == ENOMEM, "a QP more");
	must(!ibv_create_cq(context, 1, NULL, NULL, 0) && errno == ENOMEM, "a CQ more");
	must(!ibv_alloc_pd(context) && errno == ENOMEM, "a PD more");
	must(!ibv_create_srq(ends.client.pd, &pool) && errno == ENOMEM, "an SRQ more");
	must(!ibv_reg_mr(ends.client.pd, ends.client.buffer, 1, 0) && errno == ENOMEM,
	     "an MR more");
}

static void tear_down(struct end *end)
{
	rdma_destroy_qp(end->id);
	must(!end->srq || !ibv_destroy_srq(end->srq), "ibv_destroy_srq");
	must(!ibv_dereg_mr(end->mr) && !ibv_destroy_cq(end->cq) &&
		     !ibv_destroy_comp_channel(end->channel) && !ibv_dealloc_pd(end->pd) &&
		     !rdma_destroy_id(end->id),
	     "tear down");
	free(end->buffer);
}

/* The listener's backlog is 4. */
static void connect_again(void)
{
	equip(&ends.client, "client", resolve(ends.events, (struct sockaddr *)&address), 0, false);
	must(!rdma_connect(ends.client.id, &ends.param), "rdma_connect");
	accept_request(&ends);
	await_event(ends.events, RDMA_CM_EVENT_ESTABLISHED);
	await_event(ends.events, RDMA_CM_EVENT_ESTABLISHED);
}

/* The device has room for one connection, and is asked for another object of each kind each time. */
void live_often(void)
{
	struct ibv_cq *cq;
	void *context;
	int i;

	for (i = 0; i < 300; i++) {
		ends.param.private_data = data;
		ends.param.private_data_len =
			(uint8_t)(sizeof(data) - (unsigned int)i % sizeof(data));
		ends.on_request = check_data;
		if (i)
			connect_again();
		ask_for_more();
		must(!ibv_req_notify_cq(ends.server.cq, 0), "ibv_req_notify_cq");
		must(!post_recv(&ends.server, 64) && !post_send(&ends.client, 64, 0), "post");
		must(!ibv_get_cq_event(ends.server.channel, &cq, &context), "ibv_get_cq_event");
		ibv_ack_cq_events(cq, 1);
		must(is_good(next_status(&ends.client)) && is_good(next_status(&ends.server)),
		     "a message");
		must(!rdma_disconnect(ends.client.id), "rdma_disconnect");
		await_event(ends.events, RDMA_CM_EVENT_DISCONNECTED);
		tear_down(&ends.client);
		tear_down(&ends.server);
	}
	must(!rdma_destroy_id(ends.listener), "rdma_destroy_id");
	rdma_destroy_event_channel(ends.events);
	printf("%d times\n", i);
}
