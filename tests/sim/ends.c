/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * ends: a program with both ends of a connection, which says what it sees of the simulated device:
 * each argument is one question. Takes nothing of the suite.
 */
#define DEPTH  8
#define BUFFER (1 << 17)

#include "tests/support/two_ends.h"

#define ADDRESS "192.0.2.1"

static struct ends ends = {
	.param = { .responder_resources = 1,
		   .initiator_depth = 1,
		   .retry_count = 6,
		   .rnr_retry_count = 6 },
};

static void connect_both(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET };

	inet_pton(AF_INET, ADDRESS, &address.sin_addr);
	connect_ends(&ends, &address);
}

/* All completions that come within a simulated second. */
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

/* Three receives, and three sends, in a chain each. */
static int post_chains(void)
{
	struct ibv_sge sge;
	struct ibv_recv_wr recvs[3], *bad_recv = NULL;
	struct ibv_send_wr sends[3], *bad_send = NULL;
	int i;

	connect_both();
	sge = (struct ibv_sge){ (uintptr_t)ends.server.buffer, 64, ends.server.mr->lkey };
	for (i = 0; i < 3; i++)
		recvs[i] = (struct ibv_recv_wr){ 'a' + i, i < 2 ? &recvs[i + 1] : NULL, &sge, 1 };
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

/* A WRITE to memory that is nobody's: what the server's device says of itself. */
static int write_wildly(void)
{
	struct ibv_sge sge;
	struct ibv_send_wr wr = { .opcode = IBV_WR_RDMA_WRITE, .sg_list = &sge, .num_sge = 1 }, *bad;
	struct ibv_async_event event;
	struct pollfd readable;

	connect_both();
	sge = (struct ibv_sge){ (uintptr_t)ends.client.buffer, 8, ends.client.mr->lkey };
	must(!ibv_post_send(ends.client.id->qp, &wr, &bad), "ibv_post_send");
	readable = (struct pollfd){ ends.server.id->verbs->async_fd, POLLIN, 0 };
	while (poll(&readable, 1, 1000) == 1 && !ibv_get_async_event(ends.server.id->verbs, &event)) {
		printf("%s\n", ibv_event_type_str(event.event_type));
		ibv_ack_async_event(&event);
	}
	return 0;
}

static const struct {
	const char *name;
	int (*run)(void);
} questions[] = {
	{ "chains", post_chains },
	{ "break-off", break_off },
	{ "wild-write", write_wildly },
};

int main(int argc, char **argv)
{
	size_t i;

	for (i = 0; argc == 2 && i < sizeof(questions) / sizeof(questions[0]); i++) {
		if (!strcmp(questions[i].name, argv[1]))
			return questions[i].run();
	}
	return 2;
}
