/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Both ways to post and to poll, over one connection: ibv_post_send and ibv_poll_cq, and the
 * extended verbs, ibv_wr_* and ibv_start_poll. Sends messages to echo_server in turn by one and by
 * the other, and says how long each takes, as a median. Read the four functions of the two ways first, then
 * `run`. A device without extended verbs refuses: soft-iWARP is one.
 *
 *     extended_client ADDRESS [PORT [COUNT [SIZE]]]
 */
#include <errno.h>
#include <netdb.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

#define LIMIT_NS 10000000000 /* limit for each message */
#define BLOCK    100         /* messages by one way, before as many by the other */

enum wr_id {
	SEND,
	RECEIVE
};

struct client {
	struct rdma_cm_id *id; /* synchronous: calls with it wait */
	struct ibv_pd *pd;
	struct ibv_cq_ex *cq;
	struct ibv_qp_ex *qp;
	struct ibv_mr *mr; /* for two messages: the sent one, and the one that comes back */
	uint8_t *memory;
	uint32_t size;
};

struct completion {
	uint64_t wr_id;
	enum ibv_wc_status status;
	uint32_t byte_len; /* valid for a receive that has succeeded */
};

static int failed(const char *call, int error)
{
	if (error <= 0) /* ibv_poll_cq has no errno but -1 */
		error = EIO;
	fprintf(stderr, "extended_client: %s: %s (%d)\n", call, strerror(error), error);
	return error;
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* ---- Posting ---- */

/* The request is written into a structure, and the driver writes it once more, into its queue. */
static int post_ordinary(struct client *client)
{
	struct ibv_sge sge = { (uintptr_t)client->memory, client->size, client->mr->lkey };
	struct ibv_send_wr *bad, wr = { .wr_id = SEND, .sg_list = &sge, .num_sge = 1 };

	wr.opcode = IBV_WR_SEND;
	wr.send_flags = IBV_SEND_SIGNALED;
	return ibv_post_send(client->id->qp, &wr, &bad);
}

/*
 * Each call is a function of the driver for just this operation, and may write into the queue. The
 * device learns of all requests since ibv_wr_start at ibv_wr_complete: all of them, or none.
 */
static int post_extended(struct client *client)
{
	ibv_wr_start(client->qp);
	client->qp->wr_id = SEND;
	client->qp->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_send(client->qp);
	ibv_wr_set_sge(client->qp, client->mr->lkey, (uintptr_t)client->memory, client->size);
	return ibv_wr_complete(client->qp);
}

/* ---- Polling: returns how many completions it has taken, 0 or 1; or a negative number ---- */

/* All fields of a completion are written, whether they are needed or not. */
static int poll_ordinary(struct client *client, struct completion *completion)
{
	struct ibv_wc wc;
	int n = ibv_poll_cq(ibv_cq_ex_to_cq(client->cq), 1, &wc);

	if (n > 0)
		*completion = (struct completion){ wc.wr_id, wc.status, wc.byte_len };
	return n;
}

/* Reads only the fields it needs; a CQ has only those that were asked for at its creation. */
static int poll_extended(struct client *client, struct completion *completion)
{
	struct ibv_poll_cq_attr attr = { 0 };
	int ret = ibv_start_poll(client->cq, &attr);

	if (ret)
		return ret == ENOENT ? 0 : -1; /* without ibv_end_poll */
	*completion = (struct completion){ client->cq->wr_id, client->cq->status, 0 };
	if (completion->status == IBV_WC_SUCCESS && completion->wr_id == RECEIVE)
		completion->byte_len = ibv_wc_read_byte_len(client->cq);
	ibv_end_poll(client->cq);
	return 1;
}

#define MOST_TIMES 10000 /* later ones are not kept */

struct times {
	uint64_t ns[MOST_TIMES];
	size_t n;
};

static void add_time(struct times *times, uint64_t ns)
{
	if (times->n < MOST_TIMES)
		times->ns[times->n++] = ns;
}

static int compare(const void *one, const void *other)
{
	const uint64_t *left = one, *right = other;

	return (*left > *right) - (*left < *right);
}

/*
 * Returns the median and not the mean, because a call during which the program loses the processor
 * takes a thousand times as long.
 */
static double median_us(struct times *times)
{
	qsort(times->ns, times->n, sizeof(*times->ns), compare);
	return (double)times->ns[times->n / 2] / 1000;
}

static struct way {
	const char *name;
	int (*post)(struct client *client);
	int (*poll)(struct client *client, struct completion *completion);
	struct times posts, polls; /* polls only if they found something */
} ways[] = {
	{ .name = "ordinary", .post = post_ordinary, .poll = poll_ordinary },
	{ .name = "extended", .post = post_extended, .poll = poll_extended },
};

/* ---- Messages ---- */

static int post_recv(struct client *client)
{
	struct ibv_sge sge = { (uintptr_t)client->memory + client->size, client->size,
			       client->mr->lkey };
	struct ibv_recv_wr *bad, wr = { .wr_id = RECEIVE, .sg_list = &sge, .num_sge = 1 };
	int ret = ibv_post_recv(client->id->qp, &wr, &bad);

	return ret ? failed("ibv_post_recv", ret < 0 ? errno : ret) : 0;
}

static int await_completion(struct client *client, struct way *way)
{
	uint64_t until_ns = now_ns() + LIMIT_NS, begun_ns;
	struct completion completion;
	int n;

	do {
		begun_ns = now_ns();
		if (begun_ns > until_ns)
			return failed("the server says nothing", ETIMEDOUT);
		n = way->poll(client, &completion);
	} while (!n);
	add_time(&way->polls, now_ns() - begun_ns);
	if (n < 0)
		return failed("poll", EIO);
	if (completion.status)
		return failed(ibv_wc_status_str(completion.status), ECONNABORTED);
	if (completion.wr_id == RECEIVE && completion.byte_len != client->size)
		return failed("a message of another length", EPROTO);
	return 0;
}

static int ping(struct client *client, struct way *way)
{
	uint64_t begun_ns = now_ns();
	int ret = way->post(client);

	add_time(&way->posts, now_ns() - begun_ns);
	if (ret)
		return failed("post", ret < 0 ? errno : ret);
	ret = await_completion(client, way); /* the send's and the receive's, in either order */
	if (!ret)
		ret = await_completion(client, way);
	return ret ? ret : post_recv(client);
}

static int ping_all(struct client *client, unsigned long count)
{
	unsigned long i;
	int ret = 0, w;

	for (i = 0; i < 2 * count && !ret; i++)
		ret = ping(client, &ways[count < BLOCK ? i % 2 : i / BLOCK % 2]);
	for (w = 0; w < 2 && !ret; w++)
		printf("%s: %.2f us to post, %.2f us to take a completion\n", ways[w].name,
		       median_us(&ways[w].posts), median_us(&ways[w].polls));
	return ret;
}

/* ---- The connection ---- */

/* A program has to name the functions that it will call: the QP and CQ may lack others. */
static int create_extended(struct client *client)
{
	struct ibv_cq_init_attr_ex cq = { .cqe = 2, .wc_flags = IBV_WC_EX_WITH_BYTE_LEN };
	struct ibv_qp_init_attr_ex qp = {
		.cap = { 1, 1, 1, 1, 0 },
		.qp_type = IBV_QPT_RC,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.pd = client->pd,
		.send_ops_flags = IBV_QP_EX_WITH_SEND,
	};

	client->cq = ibv_create_cq_ex(client->id->verbs, &cq);
	if (!client->cq)
		return failed("ibv_create_cq_ex", errno);
	qp.send_cq = qp.recv_cq = ibv_cq_ex_to_cq(client->cq);
	if (rdma_create_qp_ex(client->id, &qp))
		return failed("rdma_create_qp_ex", errno);
	client->qp = ibv_qp_to_qp_ex(client->id->qp);
	return 0;
}

static int set_up(struct client *client, struct sockaddr *server)
{
	if (rdma_create_id(NULL, &client->id, NULL, RDMA_PS_TCP))
		return failed("rdma_create_id", errno);
	if (rdma_resolve_addr(client->id, NULL, server, 2000))
		return failed("rdma_resolve_addr", errno);
	if (rdma_resolve_route(client->id, 2000))
		return failed("rdma_resolve_route", errno);
	client->pd = ibv_alloc_pd(client->id->verbs);
	if (!client->pd)
		return failed("ibv_alloc_pd", errno);
	client->memory = calloc(2, client->size);
	if (!client->memory)
		return failed("calloc", errno);
	client->mr =
		ibv_reg_mr(client->pd, client->memory, 2ull * client->size, IBV_ACCESS_LOCAL_WRITE);
	return client->mr ? create_extended(client) : failed("ibv_reg_mr", errno);
}

static int run(struct client *client, struct sockaddr *server, unsigned long count)
{
	struct rdma_conn_param param = { .retry_count = 6, .rnr_retry_count = 7 };
	int ret;

	ret = set_up(client, server);
	if (!ret)
		ret = post_recv(client);
	if (ret)
		return ret;
	if (rdma_connect(client->id, &param))
		return failed("rdma_connect", errno);
	ret = ping_all(client, count);
	rdma_disconnect(client->id);
	return ret;
}

/* Undoes as much as has been done. */
static void tear_down(struct client *client)
{
	if (client->id && client->id->qp)
		rdma_destroy_qp(client->id);
	if (client->cq)
		ibv_destroy_cq(ibv_cq_ex_to_cq(client->cq));
	if (client->mr)
		ibv_dereg_mr(client->mr);
	free(client->memory);
	if (client->pd)
		ibv_dealloc_pd(client->pd);
	if (client->id)
		rdma_destroy_id(client->id);
}

int main(int argc, char **argv)
{
	unsigned long count = argc > 3 ? strtoul(argv[3], NULL, 10) : 1000;
	struct client client = { .size = argc > 4 ? (uint32_t)strtoul(argv[4], NULL, 10) : 64 };
	struct addrinfo *server;
	int ret;

	if (argc < 2 || !count || !client.size) {
		fprintf(stderr, "usage: extended_client ADDRESS [PORT [COUNT [SIZE]]]\n");
		return 2;
	}
	ret = getaddrinfo(argv[1], argc > 2 ? argv[2] : "12321", NULL, &server);
	if (ret) {
		fprintf(stderr, "extended_client: %s: %s\n", argv[1], gai_strerror(ret));
		return 2;
	}
	signal(SIGPIPE, SIG_IGN); /* soft-iWARP raises it */
	ret = run(&client, server->ai_addr, count);
	tear_down(&client);
	freeaddrinfo(server);
	if (fflush(stdout))
		ret = failed("stdout", errno);
	return ret ? 1 : 0;
}
