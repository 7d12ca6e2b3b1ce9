/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * adapter: a program with both ends of a connection. It does what an adapter refuses and soft-RoCE
 * tolerates; or, by the second argument, the like that is correct. Takes nothing of the suite.
 */
#define DEPTH   4
#define BUFFER  4096
#define SIG_ALL 0

#include <time.h>

#include "verbs/two_ends.h"

#define ADDRESS "192.0.2.1"
#define RIGHTS  (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ)

static struct ends ends = { .param = { .retry_count = 6, .rnr_retry_count = 6 } };

static void connect_both(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET };

	inet_pton(AF_INET, ADDRESS, &address.sin_addr);
	connect_ends(&ends, &address);
	ends.client.mr = ibv_reg_mr(ends.client.pd, ends.client.buffer, BUFFER, RIGHTS);
	ends.server.mr = ibv_reg_mr(ends.server.pd, ends.server.buffer, BUFFER, RIGHTS);
	must(ends.client.mr && ends.server.mr, "ibv_reg_mr");
}

/* Prints the completions that come within `ms` simulated milliseconds. */
static void print_completions(struct end *end, int ms)
{
	struct ibv_wc wc;

	for (; ms--; usleep(1000)) {
		while (ibv_poll_cq(end->cq, 1, &wc) > 0)
			printf("%s: %c %s\n", end->name, (int)wc.wr_id,
			       ibv_wc_status_str(wc.status));
	}
}

/* Prints the events of both ends, which have the same context. */
static void print_events(void)
{
	struct pollfd readable = { .fd = ends.server.id->verbs->async_fd, .events = POLLIN };
	struct ibv_async_event event;

	while (poll(&readable, 1, 10) == 1) {
		must(!ibv_get_async_event(ends.server.id->verbs, &event), "ibv_get_async_event");
		printf("%s\n", ibv_event_type_str(event.event_type));
		ibv_ack_async_event(&event);
	}
}

static void print_all(int ms)
{
	print_completions(&ends.client, ms);
	print_completions(&ends.server, ms);
	print_events();
}

/* Makes a request of the client: `length` bytes of its buffer, from `at` on. */
static int post(enum ibv_wr_opcode opcode, uint32_t at, uint32_t length, unsigned int flags)
{
	struct ibv_sge sge = { (uintptr_t)ends.client.buffer + at, length, ends.client.mr->lkey };
	struct ibv_send_wr wr = { .wr_id = 's', .sg_list = &sge, .num_sge = length > 0 }, *bad;

	wr.opcode = opcode;
	wr.send_flags = flags;
	wr.wr.rdma.remote_addr = (uintptr_t)ends.server.buffer + at;
	wr.wr.rdma.rkey = ends.server.mr->rkey;
	return ibv_post_send(ends.client.id->qp, &wr, &bad);
}

/* ---- Queues ---- */

/* Posts until a post is refused, and again when one completion has been polled. Every nth is signaled. */
static void fill(int nth)
{
	struct ibv_wc wc;
	int round, n, ret = 0;

	connect_both();
	for (round = 0; round < 2; round++) {
		for (n = 0; n < 3 * DEPTH && !ret; n++) {
			ret = post(IBV_WR_RDMA_WRITE, 0, 0,
				   n % nth == nth - 1 ? IBV_SEND_SIGNALED : 0);
			usleep(1000);
		}
		printf("%d%s", n - !!ret, round ? "\n" : ", ");
		must(ibv_poll_cq(ends.client.cq, 1, &wc) == 1, "ibv_poll_cq");
		ret = 0;
	}
}

/* Posts `n` WRITEs to a CQ that has room for two; then one that finds the CQ empty again. */
static void overrun(int n)
{
	ends.cq_entries = 2;
	connect_both();
	while (n--)
		must(!post(IBV_WR_RDMA_WRITE, 0, 64, IBV_SEND_SIGNALED), "ibv_post_send");
	usleep(1000);
	print_completions(&ends.client, 10);
	post(IBV_WR_RDMA_WRITE, 0, 64, IBV_SEND_SIGNALED);
	print_completions(&ends.client, 10);
	print_events();
}

/* Puts four completions into a CQ with room for two, of a QP's sends (1) or receives (2). */
static void overrun_one(int which)
{
	struct ibv_context *context;
	int i;

	connect_both();
	context = ends.client.id->verbs;
	ends.client.cq = ibv_create_cq(context, which == 1 ? 2 : DEPTH, NULL, NULL, 0);
	ends.client.recv_cq = ibv_create_cq(context, which == 2 ? 2 : DEPTH, NULL, NULL, 0);
	must(ends.client.cq && ends.client.recv_cq, "ibv_create_cq");
	pair_anew(&ends, IBV_QPT_RC, RIGHTS, 1, 1);
	for (i = 0; i < 4; i++) {
		must(!post_recv(&ends.client, 64), "ibv_post_recv");
		must(which == 1 ? !post(IBV_WR_RDMA_WRITE, 0, 64, IBV_SEND_SIGNALED)
				: !post_send(&ends.server, 64, IBV_SEND_SIGNALED),
		     "ibv_post_send");
	}
	usleep(1000);
	print_events();
}

/* ---- Keys and rights ---- */

/* Posts a WRITE with the rkey of another PD (1), or to a QP that allows none (2). */
static void write_wrongly(int how)
{
	connect_both();
	if (how == 1)
		ends.server.mr = ibv_reg_mr(ibv_alloc_pd(ends.server.id->verbs), ends.server.buffer,
					    BUFFER, RIGHTS);
	if (how == 2)
		pair_anew(&ends, IBV_QPT_RC, 0, 1, 1);
	must(!post(IBV_WR_RDMA_WRITE, 0, 64, IBV_SEND_SIGNALED), "ibv_post_send");
	print_all(100);
}

/* Posts a message, or with 2 and 3 a READ, into memory that the program may write (0, 2), or not (1, 3). */
static void write_here(int how)
{
	struct ibv_mr **mr = how < 2 ? &ends.server.mr : &ends.client.mr;

	ends.param.initiator_depth = ends.param.responder_resources = 1;
	connect_both();
	*mr = ibv_reg_mr((*mr)->pd, (*mr)->addr, BUFFER, how % 2 ? 0 : IBV_ACCESS_LOCAL_WRITE);
	if (how < 2)
		must(!post_recv(&ends.server, 64), "ibv_post_recv");
	post(how < 2 ? IBV_WR_SEND : IBV_WR_RDMA_READ, 0, 64, IBV_SEND_SIGNALED);
	print_all(100);
}

/* ---- READs ---- */

/* Posts two READs at once, of which the peer answers `answers`. */
static void read_twice(int answers)
{
	connect_both();
	pair_anew(&ends, IBV_QPT_RC, RIGHTS, 2, (uint8_t)answers);
	must(!post(IBV_WR_RDMA_READ, 0, 64, IBV_SEND_SIGNALED), "ibv_post_send");
	must(!post(IBV_WR_RDMA_READ, 64, 64, IBV_SEND_SIGNALED), "ibv_post_send");
	print_all(100);
}

/* Posts a READ, and a message with its data: with a fence, or without one. */
static void send_what_is_read(int fenced)
{
	ends.param.initiator_depth = ends.param.responder_resources = 1;
	ends.receives = 1;
	connect_both();
	memset(ends.client.buffer, 'o', 64);
	memset(ends.server.buffer, 'n', 64);
	memset(ends.server.buffer + 64, '-', 64);
	must(!post(IBV_WR_RDMA_READ, 0, 64, IBV_SEND_SIGNALED), "ibv_post_send");
	must(!post(IBV_WR_SEND, 0, 64, IBV_SEND_SIGNALED | (fenced ? IBV_SEND_FENCE : 0)),
	     "ibv_post_send");
	print_completions(&ends.client, 100);
	printf("%c\n", ends.server.buffer[0]);
}

/* ---- WRITEs ---- */

#define PIECES 8

/* Prints the largest number of runs of arrived pieces, in a circle, at one time. */
static void watch_write(int unused)
{
	int i, changes, most = 0, looks;

	(void)unused;
	connect_both();
	memset(ends.client.buffer, 1, PIECES * 64);
	must(!post(IBV_WR_RDMA_WRITE, 0, PIECES * 64, IBV_SEND_SIGNALED), "ibv_post_send");
	for (looks = 0; looks < 1000; looks++) {
		usleep(0);
		for (i = changes = 0; i < PIECES; i++)
			changes += ends.server.buffer[i * 64] <
				   ends.server.buffer[(i + 1) % PIECES * 64];
		most = changes > most ? changes : most;
	}
	printf("%d\n", most);
}

/* ---- A peer that leaves ---- */

/* Removes the peer's region (`retries` 0), or its QP, after which the client retries that often. */
static void lose_peer(int retries)
{
	struct ibv_mr gone;
	struct ibv_wc wc;
	time_t start;

	ends.param.retry_count = (uint8_t)retries;
	connect_both();
	gone = *ends.server.mr;
	if (retries)
		rdma_destroy_qp(ends.server.id);
	else
		ibv_dereg_mr(ends.server.mr);
	ends.server.mr = &gone;
	start = time(NULL);
	must(!post(IBV_WR_RDMA_WRITE, 0, 64, IBV_SEND_SIGNALED), "ibv_post_send");
	while (!ibv_poll_cq(ends.client.cq, 1, &wc))
		usleep(1000);
	printf("%s after %ld s\n", ibv_wc_status_str(wc.status), (long)(time(NULL) - start));
}

static const struct {
	const char *name;
	void (*run)(int number);
} questions[] = {
	{ "fill", fill },
	{ "overrun", overrun },
	{ "overrun-one", overrun_one },
	{ "write-wrongly", write_wrongly },
	{ "write-here", write_here },
	{ "read-twice", read_twice },
	{ "send-what-is-read", send_what_is_read },
	{ "watch-write", watch_write },
	{ "lose-peer", lose_peer },
};

int main(int argc, char **argv)
{
	size_t i;

	for (i = 0; argc == 3 && i < sizeof(questions) / sizeof(questions[0]); i++) {
		if (strcmp(questions[i].name, argv[1]))
			continue;
		questions[i].run(atoi(argv[2]));
		return 0;
	}
	return 2;
}
