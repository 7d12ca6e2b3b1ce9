/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * lost: a server, and a client that gets an answer to each of its messages. "lost server PORT" answers one
 * client, and leaves. "lost client PORT [MESSAGES]" waits correctly: it polls the CQ again after arming
 * it. If its first allocation fails, it does not, and may sleep forever: the usual lost wake-up.
 */
#include <stdlib.h>

#define DEPTH  16
#define BUFFER 4096

#include "verbs/two_ends.h"

static int messages = 4;
static struct ends ends = { .param = { .retry_count = 6, .rnr_retry_count = 6 }, .receives = 8 };
static struct sockaddr_in address = { .sin_family = AF_INET };

static int poll_all(struct end *end)
{
	struct ibv_wc wc;
	int received = 0;

	while (ibv_poll_cq(end->cq, 1, &wc) == 1) {
		must(!wc.status, "completion");
		received += wc.opcode == IBV_WC_RECV;
	}
	return received;
}

static void await_message(struct end *end, bool careful)
{
	void *context;
	struct ibv_cq *cq;

	for (;;) {
		if (poll_all(end))
			return;
		must(!ibv_req_notify_cq(end->cq, 0), "ibv_req_notify_cq");
		if (careful && poll_all(end))
			return;
		must(!ibv_get_cq_event(end->channel, &cq, &context), "ibv_get_cq_event");
		ibv_ack_cq_events(cq, 1);
	}
}

static void leave(struct end *end)
{
	rdma_disconnect(end->id);
	await_event(ends.events, RDMA_CM_EVENT_DISCONNECTED);
	rdma_destroy_qp(end->id);
	ibv_destroy_cq(end->cq);
	ibv_destroy_comp_channel(end->channel);
	ibv_dereg_mr(end->mr);
	ibv_dealloc_pd(end->pd);
	free(end->buffer);
	rdma_destroy_id(end->id);
	rdma_destroy_event_channel(ends.events);
}

static int serve(void)
{
	int i;

	must(!rdma_create_id(ends.events, &ends.listener, NULL, RDMA_PS_TCP), "rdma_create_id");
	must(!rdma_bind_addr(ends.listener, (struct sockaddr *)&address), "rdma_bind_addr");
	must(!rdma_listen(ends.listener, 1), "rdma_listen");
	accept_request(&ends);
	await_event(ends.events, RDMA_CM_EVENT_ESTABLISHED);
	for (i = 0; i < messages; i++) {
		await_message(&ends.server, true);
		must(!post_send(&ends.server, 8, 0), "ibv_post_send");
	}
	rdma_destroy_id(ends.listener);
	leave(&ends.server);
	return 0;
}

static int ask(void)
{
	char *memory = malloc(64);
	bool careful = memory;
	int i;

	free(memory);
	equip(&ends.client, "client", resolve(ends.events, (struct sockaddr *)&address), 0, false);
	for (i = 0; i < messages; i++)
		must(!post_recv(&ends.client, 64), "ibv_post_recv");
	must(!rdma_connect(ends.client.id, &ends.param), "rdma_connect");
	await_event(ends.events, RDMA_CM_EVENT_ESTABLISHED);
	for (i = 0; i < messages; i++) {
		must(!post_send(&ends.client, 8, 0), "ibv_post_send");
		await_message(&ends.client, careful);
	}
	leave(&ends.client);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	if (argc > 3)
		messages = atoi(argv[3]);
	inet_pton(AF_INET, "192.0.2.1", &address.sin_addr);
	address.sin_port = htons((uint16_t)atoi(argv[2]));
	ends.events = rdma_create_event_channel();
	must(ends.events, "rdma_create_event_channel");
	return strcmp(argv[1], "server") ? ask() : serve();
}
