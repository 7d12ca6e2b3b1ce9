/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: the questions of probe.c about shared receive queues: the server's QP takes its receives from
 * one.
 */
#include "probe.h"

static void tell_async(const struct ends *e)
{
	struct ibv_context *verbs = e->server.id->verbs;
	struct pollfd readable = { .fd = verbs->async_fd, .events = POLLIN };
	struct ibv_async_event event;

	while (poll(&readable, 1, 200) == 1) {
		must(!ibv_get_async_event(verbs, &event), "ibv_get_async_event");
		told("server: asynchronous event: %s", ibv_event_type_str(event.event_type));
		ibv_ack_async_event(&event);
	}
}

static void arm(const struct ends *e, uint32_t limit)
{
	struct ibv_srq_attr attr = { .srq_limit = limit };
	int ret = ibv_modify_srq(e->server.srq, &attr, IBV_SRQ_LIMIT);

	told("server: ibv_modify_srq, limit %u, returns %d", limit, ret);
}

static void fill(const struct ends *e, int n)
{
	int i;

	for (i = 0; i < n; i++)
		must(!post_recv((struct end *)&e->server, 4096), "ibv_post_srq_recv");
	told("server: %d receives posted", n);
}

static void spend(struct ends *e, int n)
{
	while (n--) {
		must(!post_send(&e->client, 64, 0), "ibv_post_send");
		watch(e, 500, 2);
		tell_async(e);
	}
}

static void tell_attributes(const struct ends *e)
{
	struct ibv_device_attr device;
	struct ibv_srq_attr attr;
	int ret;

	must(!ibv_query_device(e->server.id->verbs, &device), "ibv_query_device");
	told("the device has at most %d SRQs of %d receives", device.max_srq, device.max_srq_wr);
	ret = ibv_query_srq(e->server.srq, &attr);
	if (ret)
		told("ibv_query_srq fails: %s", strerror(ret));
	else
		told("asked for %d receives, was given %u; limit %u", DEPTH, attr.max_wr,
		     attr.srq_limit);
}

/* What happens to a receive that is posted to the QP, and not to its SRQ? */
void ask_pool_recv(struct ends *e, int unused)
{
	struct ibv_srq *srq = e->server.srq;

	(void)unused;
	e->server.srq = NULL;
	tell_post(&e->server, "ibv_post_recv to the QP", post_recv(&e->server, 64));
	e->server.srq = srq;
}

/* When does the limit's event come, how often, and what comes at the end of a QP? */
void ask_pool(struct ends *e, int limit)
{
	tell_attributes(e);
	fill(e, 5);
	arm(e, (uint32_t)limit);
	spend(e, 4);
	told("armed while fewer than the limit are there:");
	arm(e, (uint32_t)limit);
	tell_async(e);
	fill(e, 1);
	spend(e, 1);
	told("the end:");
	told("server: ibv_destroy_srq returns %d", ibv_destroy_srq(e->server.srq));
	told("client: rdma_disconnect returns %d", rdma_disconnect(e->client.id));
	watch(e, 500, 99);
	told("server: rdma_disconnect returns %d", rdma_disconnect(e->server.id));
	watch(e, 500, 99);
	tell_async(e);
	rdma_destroy_qp(e->server.id);
	told("server: after rdma_destroy_qp, ibv_destroy_srq returns %d",
	     ibv_destroy_srq(e->server.srq));
}

/* A message finds no receive; one is posted half a second later. */
void ask_pool_empty(struct ends *e, int unused)
{
	(void)unused;
	must(!post_send(&e->client, 64, 0), "ibv_post_send");
	watch(e, 500, 99);
	tell_async(e);
	fill(e, 1);
	watch(e, 2000, 99);
}

/*
 * The client's buffer is longer than its memory region. If the device notices after some packets,
 * the server has taken a receive for a message that is never whole.
 */
void ask_pool_torn(struct ends *e, int unused)
{
	struct ibv_sge sge = { (uintptr_t)e->client.buffer + BUFFER / 2, BUFFER,
			       e->client.mr->lkey };
	struct ibv_send_wr wr = { .wr_id = 's', .sg_list = &sge, .num_sge = 1 }, *bad;
	int i;

	(void)unused;
	for (i = 0; i < 3; i++)
		must(!post_recv(&e->server, BUFFER), "ibv_post_srq_recv");
	wr.opcode = IBV_WR_SEND;
	tell_post(&e->client, "ibv_post_send, 32 KiB too long",
		  ibv_post_send(e->client.id->qp, &wr, &bad));
	watch(e, 500, 99);
	told("server: rdma_disconnect returns %d", rdma_disconnect(e->server.id));
	watch(e, 1000, 99);
	tell_async(e);
	rdma_destroy_qp(e->server.id);
	told("server: the QP is destroyed");
	watch(e, 500, 99);
}
