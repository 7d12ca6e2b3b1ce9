/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * bounds: both ends of a connection, which ask the device for something that it just allows, or just
 * does not. The first argument is a question, and the second a number in it.
 */
#define DEPTH  8
#define BUFFER 4096

#include <time.h>

#include "verbs/two_ends.h"

static struct ends ends = {
	.param = { .retry_count = 6, .rnr_retry_count = 6 },
	.pooled = true,
};
static int number;

static void print_completion(const struct end *end)
{
	struct ibv_wc wc;

	while (!ibv_poll_cq(end->cq, 1, &wc))
		usleep(100);
	puts(ibv_wc_status_str(wc.status));
}

/* Prints how long each of six retries without a receive takes, by this code of the server's QP. */
static void time_retries(void)
{
	struct ibv_qp_attr attr = { .min_rnr_timer = (uint8_t)number };
	struct timespec start, end;
	struct ibv_cq *cq;
	void *context;

	must(!ibv_modify_qp(ends.server.id->qp, &attr, IBV_QP_MIN_RNR_TIMER), "ibv_modify_qp");
	must(!ibv_req_notify_cq(ends.client.cq, 0), "ibv_req_notify_cq");
	clock_gettime(CLOCK_MONOTONIC, &start);
	must(!post_send(&ends.client, 64, 0), "ibv_post_send");
	must(!ibv_get_cq_event(ends.client.channel, &cq, &context), "ibv_get_cq_event");
	clock_gettime(CLOCK_MONOTONIC, &end);
	ibv_ack_cq_events(cq, 1);
	printf("%ld0 us, ",
	       ((end.tv_sec - start.tv_sec) * 1000000000 + end.tv_nsec - start.tv_nsec) / 60000);
	print_completion(&ends.client);
}

/* A CQ of so many entries, in which two completions wait. */
static void resize(void)
{
	int i;

	for (i = 0; i < 2; i++) {
		must(!post_recv(&ends.server, 64), "ibv_post_srq_recv");
		must(!post_send(&ends.client, 64, 0), "ibv_post_send");
	}
	usleep(1000);
	puts(strerror(ibv_resize_cq(ends.client.cq, number)));
}

/* The test has asynchronous events come. They are acked (1) or not before their objects are destroyed. */
static void destroy(void)
{
	struct ibv_context *context = ends.server.id->verbs;
	struct pollfd readable = { .fd = context->async_fd, .events = POLLIN };
	struct ibv_async_event event;
	struct ibv_device_attr attr;

	ibv_query_device(context, &attr);
	while (poll(&readable, 1, 1000) == 1 && !ibv_get_async_event(context, &event)) {
		if (number)
			ibv_ack_async_event(&event);
	}
	rdma_destroy_qp(ends.client.id);
	rdma_destroy_qp(ends.server.id);
	must(!ibv_destroy_srq(ends.server.srq), "ibv_destroy_srq");
	must(!ibv_destroy_cq(ends.client.cq), "ibv_destroy_cq");
	must(!ibv_destroy_cq(ends.server.cq), "ibv_destroy_cq");
	puts("destroyed");
}

/* An event of completions is acked (1) or not before the CQ is destroyed. */
static void destroy_cq(void)
{
	struct ibv_cq *cq;
	void *context;

	must(!ibv_req_notify_cq(ends.server.cq, 0), "ibv_req_notify_cq");
	must(!post_recv(&ends.server, 64) && !post_send(&ends.client, 64, 0), "post");
	must(!ibv_get_cq_event(ends.server.channel, &cq, &context), "ibv_get_cq_event");
	if (number)
		ibv_ack_cq_events(cq, 1);
	rdma_destroy_qp(ends.server.id);
	must(!ibv_destroy_cq(cq), "ibv_destroy_cq");
	puts("destroyed");
}

/* Each side asks for retries that the other one makes: the client for 6, the server for as many as told. */
static void agree(void)
{
	struct end *both[] = { &ends.client, &ends.server };
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;
	int i;

	for (i = 0; i < 2; i++) {
		must(!ibv_query_qp(both[i]->id->qp, &attr, IBV_QP_RNR_RETRY, &init),
		     "ibv_query_qp");
		printf("%u%s", attr.rnr_retry, i ? "\n" : " ");
	}
}

/* An ordinary message comes to a CQ armed for solicited ones (0), or for any and then for those (1). */
static void arm(void)
{
	struct pollfd readable = { .fd = ends.server.channel->fd, .events = POLLIN };

	must(!post_recv(&ends.server, 64), "ibv_post_srq_recv");
	must(!number || !ibv_req_notify_cq(ends.server.cq, 0), "ibv_req_notify_cq");
	must(!ibv_req_notify_cq(ends.server.cq, 1), "ibv_req_notify_cq");
	must(!post_send(&ends.client, 64, 0), "ibv_post_send");
	puts(poll(&readable, 1, 1000) ? "event" : "no event");
}

/* A client whose own port another id has (0), or has not (1). */
static void resolve_from(void)
{
	struct sockaddr_in own = { .sin_family = AF_INET, .sin_port = htons(7000) }, to;
	struct rdma_cm_id *other, *id;

	inet_pton(AF_INET, "192.0.2.1", &own.sin_addr);
	to = own;
	must(!rdma_create_id(ends.events, &other, NULL, RDMA_PS_TCP), "rdma_create_id");
	must(!rdma_create_id(ends.events, &id, NULL, RDMA_PS_TCP), "rdma_create_id");
	must(!rdma_bind_addr(other, (struct sockaddr *)&own), "rdma_bind_addr");
	own.sin_port = htons((uint16_t)(7000 + number));
	puts(rdma_resolve_addr(id, (struct sockaddr *)&own, (struct sockaddr *)&to, 1000)
		     ? strerror(errno)
		     : "Success");
}

/* As many receives as the QP grants, so many times: before each but the first it is reset. */
static void reset(void)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RESET };
	struct ibv_qp *qp = ends.client.id->qp;
	int i, n;

	for (i = 0; i < number; i++) {
		attr.qp_state = IBV_QPS_RESET;
		must(!i || !ibv_modify_qp(qp, &attr, IBV_QP_STATE), "to RESET");
		attr = (struct ibv_qp_attr){ .qp_state = IBV_QPS_INIT, .port_num = 1 };
		must(!i || !ibv_modify_qp(qp, &attr,
					  IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
						  IBV_QP_ACCESS_FLAGS),
		     "to INIT");
		for (n = 0; !post_recv(&ends.client, 64); n++)
			;
		printf("%d\n", n);
	}
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*ask)(void);
	} questions[] = {
		{ "rnr-timer", time_retries },
		{ "resize", resize },
		{ "destroy", destroy },
		{ "destroy-cq", destroy_cq },
		{ "agree", agree },
		{ "arm", arm },
		{ "reset", reset },
		{ "source", resolve_from },
	};
	struct sockaddr_in address = { .sin_family = AF_INET };
	size_t i;

	number = argc == 3 ? atoi(argv[2]) : 0;
	inet_pton(AF_INET, "192.0.2.1", &address.sin_addr);
	if (argc == 3 && !strcmp(argv[1], "agree"))
		ends.server_rnr_retries = (uint8_t)number;
	connect_ends(&ends, &address);
	for (i = 0; argc == 3 && i < sizeof(questions) / sizeof(questions[0]); i++) {
		if (!strcmp(questions[i].name, argv[1]))
			questions[i].ask();
	}
	return 0;
}
