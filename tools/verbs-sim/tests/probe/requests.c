/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: the questions of probe.c about connect requests and limits: which terms of one side the
 * other side gets, and what a device grants.
 */
#include "probe.h"

#define WORDS "xyz" /* private data */

static void tell_event(const char *who, const struct rdma_cm_event *event)
{
	const struct rdma_conn_param *conn = &event->param.conn;

	told("%s: %s: status %d, responder_resources %d, initiator_depth %d, %d bytes of private data",
	     who, rdma_event_str(event->event), event->status, conn->responder_resources,
	     conn->initiator_depth, conn->private_data_len);
}

/* Makes a client with its own channel, up to its request. Returns rdma_connect's errno value. */
static int request(struct rdma_event_channel *channel, struct sockaddr *to, struct end *end)
{
	struct rdma_conn_param param = {
		.responder_resources = 3,
		.initiator_depth = 5,
		.private_data = WORDS,
		.private_data_len = 3,
		.retry_count = 6,
	};

	equip(end, "client", resolve(channel, to), 0, false);
	return rdma_connect(end->id, &param) ? errno : 0;
}

/* Which depths and private data does each side get from the other, in an accept and in a reject? */
void ask_request(struct ends *e, int accept)
{
	struct rdma_event_channel *own = rdma_create_event_channel();
	struct rdma_conn_param param = { .responder_resources = 4,
					 .initiator_depth = 2,
					 .private_data = WORDS,
					 .private_data_len = 3 };
	struct rdma_cm_event event;
	struct end client, server;

	told("client: rdma_connect with responder_resources 3, initiator_depth 5: %d",
	     request(own, rdma_get_local_addr(e->listener), &client));
	must(event_within(e->events, PATIENCE_MS, &event), "no request");
	tell_event("server", &event);
	if (accept) {
		equip(&server, "server", event.id, 0, false);
		told("server: rdma_accept with responder_resources 4, initiator_depth 2: %d",
		     rdma_accept(event.id, &param) ? errno : 0);
	} else {
		told("server: rdma_reject: %d", rdma_reject(event.id, WORDS, 3) ? errno : 0);
	}
	if (event_within(own, PATIENCE_MS, &event))
		tell_event("client", &event);
	if (event_within(e->events, 500, &event))
		tell_event("server", &event);
}

/* More requests than the listener's backlog, which nobody takes. */
void ask_backlog(struct ends *e, int backlog)
{
	struct rdma_event_channel *own, *silent = rdma_create_event_channel();
	struct sockaddr_in to = *(struct sockaddr_in *)rdma_get_local_addr(e->listener);
	struct rdma_cm_event event;
	struct end client;
	int i, n, error;

	listen_at(silent, &to, backlog);
	for (i = 0; i < backlog + 3; i++) {
		own = rdma_create_event_channel();
		error = request(own, (struct sockaddr *)&to, &client);
		told("client %d: rdma_connect: %d", i, error);
		if (event_within(own, 500, &event))
			tell_event("client", &event);
	}
	for (n = 0; event_within(silent, 200, &event);)
		n++;
	told("server: %d requests with a backlog of %d", n, backlog);
}

static void tell_qp(struct ends *e, const char *what, struct ibv_qp_cap cap)
{
	struct ibv_qp_init_attr init = { .qp_type = IBV_QPT_RC, .cap = cap };
	struct ibv_qp *qp;

	init.send_cq = init.recv_cq = e->client.cq;
	errno = 0;
	qp = ibv_create_qp(e->client.id->qp->pd, &init);
	if (!qp) {
		told("%s: errno %d", what, errno);
		return;
	}
	told("%s: %u sends, %u receives, %u and %u pieces, %u bytes inline", what,
	     init.cap.max_send_wr, init.cap.max_recv_wr, init.cap.max_send_sge,
	     init.cap.max_recv_sge, init.cap.max_inline_data);
	ibv_destroy_qp(qp);
}

/* What is a QP or CQ granted, at the device's limits and beyond them? */
void ask_caps(struct ends *e, int unused)
{
	static const uint32_t inline_data[] = { 0, 32, 64, 65, 80, 81, 128, 256, 512, 1024 };
	struct ibv_context *verbs = e->client.id->verbs;
	struct ibv_device_attr device;
	struct ibv_cq *cq;
	uint32_t i, wr, sge;
	char what[64];

	(void)unused;
	must(!ibv_query_device(verbs, &device), "ibv_query_device");
	wr = (uint32_t)device.max_qp_wr;
	sge = (uint32_t)device.max_sge;
	told("max_qp_wr %u, max_sge %u, max_cqe %d, max_qp_rd_atom %d, max_qp_init_rd_atom %d", wr,
	     sge, device.max_cqe, device.max_qp_rd_atom, device.max_qp_init_rd_atom);
	for (i = 0; i < sizeof(inline_data) / sizeof(*inline_data); i++) {
		snprintf(what, sizeof(what), "%u bytes inline asked for", inline_data[i]);
		tell_qp(e, what, (struct ibv_qp_cap){ 2, 2, 1, 1, inline_data[i] });
	}
	tell_qp(e, "max_qp_wr", (struct ibv_qp_cap){ wr, wr, 1, 1, 0 });
	tell_qp(e, "one send more", (struct ibv_qp_cap){ wr + 1, 1, 1, 1, 0 });
	tell_qp(e, "one receive more", (struct ibv_qp_cap){ 1, wr + 1, 1, 1, 0 });
	tell_qp(e, "max_sge", (struct ibv_qp_cap){ 1, 1, sge, sge, 0 });
	tell_qp(e, "one piece more", (struct ibv_qp_cap){ 1, 1, sge + 1, 1, 0 });
	for (i = 0; i < 3; i++) {
		int n = i ? device.max_cqe + (int)i - 1 : 3;

		errno = 0;
		cq = ibv_create_cq(verbs, n, NULL, NULL, 0);
		told("a CQ of %d entries: %d, errno %d", n, cq ? cq->cqe : -1, cq ? 0 : errno);
	}
}

/* An RDMA WRITE, or a READ, of memory for which the server has granted no right. */
void ask_remote(struct ends *e, int opcode)
{
	struct ibv_sge sge = { (uintptr_t)e->client.buffer, 64, e->client.mr->lkey };
	struct ibv_send_wr wr = { .wr_id = 's', .sg_list = &sge, .num_sge = 1 }, *bad;

	memset(e->client.buffer, 'c', 64);
	memset(e->server.buffer, 's', 64);
	wr.opcode = (enum ibv_wr_opcode)opcode;
	wr.wr.rdma.remote_addr = (uintptr_t)e->server.buffer;
	wr.wr.rdma.rkey = e->server.mr->rkey;
	tell_post(&e->client, "ibv_post_send", ibv_post_send(e->client.id->qp, &wr, &bad));
	watch(e, 2000, 99);
	told("the client's memory holds '%c', the server's '%c'", e->client.buffer[0],
	     e->server.buffer[0]);
}

/* Posts a list longer than the send queue, and more when some requests have completed. */
void ask_full(struct ends *e, int unused)
{
	struct ibv_send_wr list[4 * DEPTH] = { 0 }, *bad = NULL;
	struct ibv_wc wc;
	int i, n, ret;

	(void)unused;
	for (i = 0; i < 4 * DEPTH; i++) {
		list[i].wr_id = 'e';
		list[i].opcode = IBV_WR_RDMA_WRITE; /* empty, so it needs no receive */
		list[i].send_flags = IBV_SEND_SIGNALED;
		list[i].next = i + 1 < 4 * DEPTH ? &list[i + 1] : NULL;
	}
	ret = ibv_post_send(e->client.id->qp, list, &bad);
	n = bad ? (int)(bad - list) : 0;
	told("client: ibv_post_send of %d requests to a queue of %d returns %d: %s", 4 * DEPTH,
	     DEPTH, ret, strerror(ret == -1 ? errno : abs(ret)));
	told("client: those before *bad_wr are posted: %s as many as were asked for",
	     n < DEPTH ? "not" : "at least");
	for (i = 0; i < n;)
		i += ibv_poll_cq(e->client.cq, 1, &wc) == 1;
	list[n].next = NULL;
	tell_post(&e->client, "ibv_post_send of *bad_wr, when those have been polled,",
		  ibv_post_send(e->client.id->qp, &list[n], &bad));
}

/* Messages with more inline bytes than the QP has been granted. */
void ask_inline(struct ends *e, int unused)
{
	static const uint32_t sizes[] = { 1, 16, 17, 64, 65, 80, 81, 96, 128 };
	struct ibv_sge sge = { (uintptr_t)e->client.buffer, 0, 0 };
	struct ibv_send_wr wr = { .wr_id = 's', .sg_list = &sge, .num_sge = 1 }, *bad;
	char what[64];

	(void)unused;
	wr.opcode = IBV_WR_SEND;
	wr.send_flags = IBV_SEND_INLINE;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		sge.length = sizes[i];
		snprintf(what, sizeof(what), "ibv_post_send of %u bytes inline", sge.length);
		tell_post(&e->client, what, ibv_post_send(e->client.id->qp, &wr, &bad));
		watch(e, 300, 2);
	}
}

static struct ibv_context *open_again(const struct ends *e)
{
	struct ibv_context *verbs = ibv_open_device(e->client.id->verbs->device);

	must(verbs, "ibv_open_device");
	return verbs;
}

/* Contexts that are closed before the objects in them are destroyed. */
void ask_close(struct ends *e, int unused)
{
	struct ibv_qp_init_attr init = { .qp_type = IBV_QPT_RC, .cap = { 1, 1, 1, 1, 0 } };
	struct ibv_context *verbs = open_again(e);
	struct ibv_pd *pd;

	(void)unused;
	must(ibv_alloc_pd(verbs), "ibv_alloc_pd");
	told("ibv_close_device with a PD left returns %d", ibv_close_device(verbs));
	verbs = open_again(e);
	must(ibv_reg_mr(ibv_alloc_pd(verbs), e->client.buffer, 64, 0), "ibv_reg_mr");
	told("ibv_close_device with a region left returns %d", ibv_close_device(verbs));
	verbs = open_again(e);
	must(ibv_create_cq(verbs, 1, NULL, ibv_create_comp_channel(verbs), 0), "ibv_create_cq");
	told("ibv_close_device with a CQ left returns %d", ibv_close_device(verbs));
	verbs = open_again(e);
	pd = ibv_alloc_pd(verbs);
	init.send_cq = init.recv_cq = ibv_create_cq(verbs, 1, NULL, NULL, 0);
	must(ibv_create_qp(pd, &init), "ibv_create_qp");
	told("ibv_close_device with a QP left returns %d", ibv_close_device(verbs));
}

/* ---- The ACK timeout ---- */

enum {
	BEFORE_ROUTE = 1,
	AFTER_ROUTE = 2,
	OF_SERVER = 4
};

static void set_ack_timeout(const struct rdma_cm_id *id, bool wanted, uint8_t timeout)
{
	if (wanted)
		must(!rdma_set_option((struct rdma_cm_id *)(uintptr_t)id, RDMA_OPTION_ID,
				      RDMA_OPTION_ID_ACK_TIMEOUT, &timeout, sizeof(timeout)),
		     "rdma_set_option");
}

static int ack_timeout_of(const struct end *end)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	must(!ibv_query_qp(end->id->qp, &attr, IBV_QP_TIMEOUT, &init), "ibv_query_qp");
	return attr.timeout;
}

static void tell_ack_timeouts(struct ends *e, uint8_t timeout, int when)
{
	struct rdma_event_channel *own = rdma_create_event_channel();
	struct sockaddr *to = rdma_get_local_addr(e->listener);
	struct ends two = { .param = e->param };
	struct rdma_cm_event event;
	struct rdma_cm_id *id;

	must(!rdma_create_id(own, &id, NULL, RDMA_PS_TCP), "rdma_create_id");
	set_ack_timeout(id, when & BEFORE_ROUTE, timeout);
	must(!rdma_resolve_addr(id, NULL, to, PATIENCE_MS), "rdma_resolve_addr");
	await_event(own, RDMA_CM_EVENT_ADDR_RESOLVED);
	must(!rdma_resolve_route(id, PATIENCE_MS), "rdma_resolve_route");
	await_event(own, RDMA_CM_EVENT_ROUTE_RESOLVED);
	set_ack_timeout(id, when & AFTER_ROUTE, timeout);
	equip(&two.client, "client", id, 0, false);
	must(!rdma_connect(id, &two.param), "rdma_connect");
	must(event_within(e->events, PATIENCE_MS, &event), "no request");
	equip(&two.server, "server", event.id, 0, false);
	set_ack_timeout(event.id, when & OF_SERVER, timeout);
	must(!rdma_accept(event.id, &two.param), "rdma_accept");
	await_event(own, RDMA_CM_EVENT_ESTABLISHED);
	await_event(e->events, RDMA_CM_EVENT_ESTABLISHED);
	told("%d set at %d: client %d, server %d", timeout, when, ack_timeout_of(&two.client),
	     ack_timeout_of(&two.server));
}

/* When does RDMA_OPTION_ID_ACK_TIMEOUT of each side take effect, and which options are refused? */
void ask_ack_timeout(struct ends *e, int unused)
{
	static const uint8_t timeouts[] = { 1, 10, 14, 15, 16, 17, 18, 22, 31 };
	uint32_t value = 14;
	size_t i;

	(void)unused;
	tell_ack_timeouts(e, 14, 0);
	tell_ack_timeouts(e, 14, AFTER_ROUTE);
	tell_ack_timeouts(e, 14, OF_SERVER);
	tell_ack_timeouts(e, 14, BEFORE_ROUTE | OF_SERVER);
	for (i = 0; i < sizeof(timeouts); i++)
		tell_ack_timeouts(e, timeouts[i], BEFORE_ROUTE);
	told("of 4 bytes: %d",
	     rdma_set_option(e->client.id, RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, &value, 4)
		     ? errno
		     : 0);
	told("an option that there is not: %d",
	     rdma_set_option(e->client.id, RDMA_OPTION_ID, 77, &value, 1) ? errno : 0);
}
