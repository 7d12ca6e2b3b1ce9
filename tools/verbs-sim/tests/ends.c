/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * ends: a program with both ends of a connection, which prints what the simulated device does: the
 * first argument is a question, and the second a number in it. After "pooled-" the server's
 * receives are in a shared receive queue. Takes nothing of the suite.
 */
#define DEPTH  8
#define BUFFER (1 << 17)

#include <time.h>

#include "verbs/two_ends.h"

#define ADDRESS "192.0.2.1"

static struct ends ends = {
	.param = { .responder_resources = 1,
		   .initiator_depth = 1,
		   .retry_count = 6,
		   .rnr_retry_count = 6 },
};

static int number; /* the second argument */

static void connect_both(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET };

	inet_pton(AF_INET, ADDRESS, &address.sin_addr);
	connect_ends(&ends, &address);
}

/* Prints all completions that come within a simulated second. */
static void print_completions(struct end *end)
{
	struct ibv_wc wc;
	int i;

	for (i = 0; i < 1000; i++) {
		usleep(1000);
		while (ibv_poll_cq(end->cq, 1, &wc) > 0)
			printf("%s: %c %s\n", end->name, (int)wc.wr_id,
			       ibv_wc_status_str(wc.status));
	}
}

/* Posts three receives, `number` bytes apart, and three sends, in a chain each. */
static int post_chains(void)
{
	struct ibv_sge sge, pieces[3];
	struct ibv_recv_wr recvs[3], *bad_recv = NULL;
	struct ibv_send_wr sends[3], *bad_send = NULL;
	int i;

	connect_both();
	for (i = 0; i < 3; i++) {
		pieces[i] = (struct ibv_sge){ (uintptr_t)ends.server.buffer + 256 + i * number, 64,
					      ends.server.mr->lkey };
		recvs[i] = (struct ibv_recv_wr){ 'a' + i, i < 2 ? &recvs[i + 1] : NULL, &pieces[i],
						 1 };
	}
	if (ibv_post_recv(ends.server.id->qp, recvs, &bad_recv))
		printf("receive %c failed\n", (int)bad_recv->wr_id);
	sge = (struct ibv_sge){ (uintptr_t)ends.client.buffer, 64, ends.client.mr->lkey };
	for (i = 0; i < 3; i++)
		sends[i] = (struct ibv_send_wr){ .wr_id = 'x' + i,
						 .next = i < 2 ? &sends[i + 1] : NULL,
						 .sg_list = &sge,
						 .num_sge = 1,
						 .opcode = IBV_WR_SEND };
	if (ibv_post_send(ends.client.id->qp, sends, &bad_send))
		printf("send %c failed\n", (int)bad_send->wr_id);
	print_completions(&ends.server);
	print_completions(&ends.client);
	return 0;
}

/* The sender leaves while a long message is under way. */
static int break_off(void)
{
	struct ibv_sge sge;
	struct ibv_recv_wr wr = { .wr_id = 'r', .sg_list = &sge, .num_sge = 1 }, *bad;

	ends.pooled = true;
	connect_both();
	sge = (struct ibv_sge){ (uintptr_t)ends.server.buffer, BUFFER, ends.server.mr->lkey };
	must(!ibv_post_srq_recv(ends.server.srq, &wr, &bad), "ibv_post_srq_recv");
	must(!post_send(&ends.client, BUFFER, 0), "ibv_post_send");
	usleep(50);
	rdma_destroy_qp(ends.client.id);
	rdma_disconnect(ends.server.id);
	print_completions(&ends.server);
	return 0;
}

/* A WRITE to memory of no region: which event does the server's device make? */
static int write_wildly(void)
{
	struct ibv_sge sge;
	struct ibv_send_wr wr = { .opcode = IBV_WR_RDMA_WRITE, .sg_list = &sge, .num_sge = 1 },
			   *bad;
	struct ibv_async_event event;
	struct pollfd readable;

	connect_both();
	sge = (struct ibv_sge){ (uintptr_t)ends.client.buffer, 8, ends.client.mr->lkey };
	must(!ibv_post_send(ends.client.id->qp, &wr, &bad), "ibv_post_send");
	readable = (struct pollfd){ ends.server.id->verbs->async_fd, POLLIN, 0 };
	while (poll(&readable, 1, 1000) == 1 &&
	       !ibv_get_async_event(ends.server.id->verbs, &event)) {
		printf("%s\n", ibv_event_type_str(event.event_type));
		ibv_ack_async_event(&event);
	}
	return 0;
}

/* Asks for 5 work requests, 60 bytes inline, a CQ of 5 and an SRQ of 5; prints the grants. */
static int ask_for_five(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *context = ibv_open_device(list[0]);
	struct ibv_pd *pd = ibv_alloc_pd(context);
	struct ibv_cq *cq = ibv_create_cq(context, 5, NULL, NULL, 0);
	struct ibv_qp_init_attr init = { .send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_RC };
	struct ibv_srq_init_attr pool = { .attr = { 5, 1, 0 } };

	init.cap = (struct ibv_qp_cap){ 5, 5, 1, 1, 60 };
	must(ibv_create_qp(pd, &init), "ibv_create_qp");
	must(ibv_create_srq(pd, &pool), "ibv_create_srq");
	printf("sends %u, receives %u, inline %u, CQ %d, pool %u\n", init.cap.max_send_wr,
	       init.cap.max_recv_wr, init.cap.max_inline_data, cq->cqe, pool.attr.max_wr);
	return 0;
}

/* A QP is destroyed before its completions are polled. */
static int poll_late(void)
{
	ends.receives = 1;
	connect_both();
	must(!post_send(&ends.client, 64, 0), "ibv_post_send");
	usleep(1000);
	rdma_destroy_qp(ends.client.id);
	rdma_destroy_qp(ends.server.id);
	print_completions(&ends.client);
	print_completions(&ends.server);
	return 0;
}

/* A receive that is posted after the end of the connection. */
static int post_late(void)
{
	connect_both();
	rdma_disconnect(ends.client.id);
	rdma_disconnect(ends.server.id);
	must(!post_recv(&ends.server, 64), "ibv_post_recv");
	print_completions(&ends.server);
	return 0;
}

/* A message to a peer that has just left. */
static int send_to_nobody(void)
{
	connect_both();
	rdma_disconnect(ends.server.id);
	usleep(100);
	post_send(&ends.client, 64, 0);
	return 0;
}

/* A message to a host that does not answer. */
static int send_in_vain(void)
{
	struct ibv_wc wc;
	time_t start;

	connect_both();
	start = time(NULL);
	must(!post_send(&ends.client, 64, 0), "ibv_post_send");
	while (!ibv_poll_cq(ends.client.cq, 1, &wc))
		usleep(1000);
	printf("%s after %ld s\n", ibv_wc_status_str(wc.status), (long)(time(NULL) - start));
	return 0;
}

/* A message that arrives, after which the host falls silent at the query. */
static int lose_answer(void)
{
	struct ibv_device_attr device;
	struct ibv_wc wc;
	time_t start;

	ends.receives = 1;
	connect_both();
	start = time(NULL);
	must(!post_send(&ends.client, 64, 0), "ibv_post_send");
	while (!ibv_poll_cq(ends.server.cq, 1, &wc))
		;
	printf("received: %s, ", ibv_wc_status_str(wc.status));
	ibv_query_device(ends.client.id->verbs, &device);
	while (!ibv_poll_cq(ends.client.cq, 1, &wc))
		usleep(1000);
	printf("sent: %s after %ld s\n", ibv_wc_status_str(wc.status), (long)(time(NULL) - start));
	return 0;
}

/* A message whose sender destroys its QP as soon as it has completed. */
static int send_and_leave(void)
{
	struct ibv_wc wc;

	ends.receives = 1;
	connect_both();
	must(!post_send(&ends.client, 64, 0), "ibv_post_send");
	while (!ibv_poll_cq(ends.client.cq, 1, &wc))
		;
	rdma_destroy_qp(ends.client.id);
	print_completions(&ends.server);
	return 0;
}

/* Sends inline, from a QP that was created without. */
static int send_inline(void)
{
	int ret;

	ends.receives = 1;
	connect_both();
	ret = post_send(&ends.client, (uint32_t)number, IBV_SEND_INLINE);
	if (ret)
		printf("%d\n", ret);
	print_completions(&ends.server);
	return 0;
}

/* When `number` messages have arrived, does another one complete before it arrives? */
static int complete_early(void)
{
	struct ibv_wc wc;
	int i;

	connect_both();
	for (i = 0; i <= number; i++) {
		must(!post_recv(&ends.server, BUFFER), "ibv_post_recv");
		must(!post_send(&ends.client, BUFFER, 0), "ibv_post_send");
		while (!ibv_poll_cq(ends.client.cq, 1, &wc))
			;
		if (i == number)
			puts(ibv_poll_cq(ends.server.cq, 1, &wc) ? "late" : "early");
		while (i < number && !ibv_poll_cq(ends.server.cq, 1, &wc))
			;
	}
	return 0;
}

static int close_early(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *context = ibv_open_device(list[0]);

	must(ibv_alloc_pd(context), "ibv_alloc_pd");
	must(ibv_create_cq(context, 1, NULL, NULL, 0), "ibv_create_cq");
	printf("%d\n", ibv_close_device(context));
	ibv_free_device_list(list);
	return 0;
}

static int query_state(void)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	connect_both();
	must(!ibv_query_qp(ends.client.id->qp, &attr, IBV_QP_STATE, &init), "ibv_query_qp");
	printf("%s\n", attr.qp_state == IBV_QPS_RTS ? "RTS" : "unknown");
	return 0;
}

/* Prints the index of the default partition key at each of three ports. */
static int find_pkeys(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *context = ibv_open_device(list[0]);

	for (uint8_t port = 1; port <= 3; port++)
		printf("%d ", ibv_get_pkey_index(context, port, htobe16(0xffff)));
	puts(strerror(errno));
	return ibv_close_device(context);
}

/* ---- Errors that work by chance, or that nobody reports ---- */

static int connect_unprepared(void)
{
	ends.param.retry_count = ends.param.rnr_retry_count = (uint8_t)number;
	connect_both();
	return 0;
}

/* Both sides post `number` receives before they connect. */
static int connect_prepared(void)
{
	ends.receives = ends.client_receives = number;
	connect_both();
	return 0;
}

static void set_depths(struct rdma_cm_event *event)
{
	(void)event;
	ends.param.responder_resources = (uint8_t)(number / 10);
	ends.param.initiator_depth = (uint8_t)(number % 10);
}

/* The client offers to answer three READs, and to post one; the server accepts with the two digits. */
static int accept_depths(void)
{
	ends.param.responder_resources = 3;
	ends.on_request = set_depths;
	connect_both();
	return 0;
}

/* The client, which may have 16 completions, has a CQ of `number`, with two in it. */
static int have_a_small_cq(void)
{
	ends.receives = 2;
	ends.cq_entries = number;
	connect_both();
	must(!post_send(&ends.client, 64, 0), "ibv_post_send");
	must(!post_send(&ends.client, 64, 0), "ibv_post_send");
	usleep(1000);
	return 0;
}

/* Three QPs of two pools in turns, and a CQ of so many entries for all their receives. */
static int have_two_pools(void)
{
	struct ibv_srq_init_attr pool = { .attr = { 7, 1, 0 } };
	struct ibv_qp_init_attr attr = { .cap = { 1, 0, 1, 0, 0 }, .qp_type = IBV_QPT_RC };
	struct ibv_srq *pools[2] = { NULL };
	int i;

	connect_both();
	attr.send_cq = ibv_create_cq(ends.server.id->verbs, 64, NULL, NULL, 0);
	attr.recv_cq = ibv_create_cq(ends.server.id->verbs, number, NULL, NULL, 0);
	for (i = 0; i < 3; i++) {
		if (i < 2)
			pools[i] = ibv_create_srq(ends.server.pd, &pool);
		attr.srq = pools[i % 2];
		must(ibv_create_qp(ends.server.pd, &attr), "ibv_create_qp");
	}
	return 0;
}

/* Frees memory of a receive, or other memory. */
static int free_posted(void)
{
	connect_both();
	must(!post_recv(&ends.server, 64), "ibv_post_recv");
	free(number ? ends.server.buffer : calloc(1, 64));
	return 0;
}

/* Ends a region that begins `number` bytes after the start of a receive of 64. */
static int deregister_posted(void)
{
	struct ibv_mr *mr;

	connect_both();
	must(!post_recv(&ends.server, 64), "ibv_post_recv");
	mr = ibv_reg_mr(ends.server.pd, ends.server.buffer + number, 64, 0);
	must(mr, "ibv_reg_mr");
	return ibv_dereg_mr(mr);
}

/* Ends the region of a send, after its completion (1) or before. */
static int deregister_sent(void)
{
	ends.receives = 1;
	connect_both();
	must(!post_send(&ends.client, 64, 0), "ibv_post_send");
	if (number)
		print_completions(&ends.client);
	return ibv_dereg_mr(ends.client.mr);
}

/* Ends the region of a flushed receive, which has been polled (1) or not. */
static int deregister_flushed(void)
{
	connect_both();
	must(!post_recv(&ends.server, 64), "ibv_post_recv");
	must(!rdma_disconnect(ends.server.id), "rdma_disconnect");
	if (number)
		print_completions(&ends.server);
	return ibv_dereg_mr(ends.server.mr);
}

/* Changes a byte of the client's memory, of which the first 64 are on their way. */
static int change_sent(void)
{
	ends.receives = 1;
	connect_both();
	must(!post_send(&ends.client, 64, 0), "ibv_post_send");
	ends.client.buffer[number]++;
	usleep(1000);
	return 0;
}

/* A READ into `number` pieces that only the program itself may write; 0: one that others may. */
static int read_into_own(void)
{
	struct ibv_sge sges[2];
	struct ibv_send_wr wr = { .opcode = IBV_WR_RDMA_READ, .sg_list = sges }, *bad;

	connect_both();
	if (!number)
		ends.client.mr = ibv_reg_mr(ends.client.pd, ends.client.buffer, BUFFER,
					    IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	sges[0] = (struct ibv_sge){ (uintptr_t)ends.client.buffer, 8, ends.client.mr->lkey };
	sges[1] = (struct ibv_sge){ (uintptr_t)ends.client.buffer + 8, 8, ends.client.mr->lkey };
	wr.num_sge = number ? number : 1;
	wr.wr.rdma.remote_addr = (uintptr_t)ends.server.buffer;
	wr.wr.rdma.rkey = ends.server.mr->rkey;
	must(!ibv_post_send(ends.client.id->qp, &wr, &bad), "ibv_post_send");
	usleep(1000);
	return 0;
}

/* ---- Waits without an end ---- */

/* Two messages, one event, and one completion polled. */
static int await_another_event(bool arms)
{
	struct ibv_cq *cq;
	struct ibv_wc wc;
	void *context;
	int i;

	ends.receives = 2;
	connect_both();
	must(!ibv_req_notify_cq(ends.server.cq, 0), "ibv_req_notify_cq");
	for (i = 0; i < 2; i++)
		must(!post_send(&ends.client, 64, 0), "ibv_post_send");
	usleep(1000);
	must(ibv_poll_cq(ends.client.cq, 1, &wc) && ibv_poll_cq(ends.client.cq, 1, &wc), "sent");
	must(!ibv_get_cq_event(ends.server.channel, &cq, &context), "ibv_get_cq_event");
	must(!arms || !ibv_req_notify_cq(cq, 0), "ibv_req_notify_cq");
	must(ibv_poll_cq(cq, 1, &wc), "received");
	return ibv_get_cq_event(ends.server.channel, &cq, &context);
}

static int lose_wake_up(void)
{
	return await_another_event(true);
}

static int forget_to_arm(void)
{
	return await_another_event(false);
}

static int read_no_event(void)
{
	connect_both();
	must(!rdma_disconnect(ends.client.id), "rdma_disconnect");
	return pause();
}

static const struct {
	const char *name;
	int (*run)(void);
} questions[] = {
	{ "chains", post_chains },
	{ "break-off", break_off },
	{ "wild-write", write_wildly },
	{ "five", ask_for_five },
	{ "poll-late", poll_late },
	{ "post-late", post_late },
	{ "state", query_state },
	{ "pkeys", find_pkeys },
	{ "unprepared", connect_unprepared },
	{ "prepared", connect_prepared },
	{ "depths", accept_depths },
	{ "small-cq", have_a_small_cq },
	{ "two-pools", have_two_pools },
	{ "free-posted", free_posted },
	{ "deregister-posted", deregister_posted },
	{ "deregister-sent", deregister_sent },
	{ "deregister-flushed", deregister_flushed },
	{ "change-sent", change_sent },
	{ "read-into-own", read_into_own },
	{ "send-in-vain", send_in_vain },
	{ "lose-answer", lose_answer },
	{ "send-and-leave", send_and_leave },
	{ "inline", send_inline },
	{ "complete-early", complete_early },
	{ "close-early", close_early },
	{ "send-to-nobody", send_to_nobody },
	{ "lose-wake-up", lose_wake_up },
	{ "forget-to-arm", forget_to_arm },
	{ "read-no-event", read_no_event },
};

int main(int argc, char **argv)
{
	size_t i;

	number = argc == 3 ? atoi(argv[2]) : 0;
	ends.pooled = argc > 1 && !strncmp(argv[1], "pooled-", 7);
	argv[1] += ends.pooled ? 7 : 0;
	for (i = 0; argc > 1 && i < sizeof(questions) / sizeof(questions[0]); i++) {
		if (!strcmp(questions[i].name, argv[1]))
			return questions[i].run();
	}
	return 2;
}
