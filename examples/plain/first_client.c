/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The first program of docs/primer.md: one message to first_server.c or another echo server, and
 * back. It ends at the first error, and the kernel frees its resources. To copy, see echo_client.c.
 *
 *     first_client ADDRESS [PORT]
 */
#include <err.h>
#include <errno.h>
#include <netdb.h>
#include <stdbool.h>
#include <stdio.h>
#include <time.h>

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

#define SIZE       64
#define TIMEOUT_MS 2000
#define LIMIT_S    10 /* limit of each wait for a completion: a server may die silently */

enum wr_id {
	SEND,
	RECEIVE
};

static char sent[SIZE] = "hello, RDMA", received[SIZE];

static void end_if(bool failed, const char *call)
{
	if (failed)
		err(1, "%s", call);
}

/* A post returns the error, or, with soft-iWARP, -1 and errno. */
static void end_if_not_posted(int error, const char *call)
{
	if (error > 0)
		errno = error;
	end_if(error, call);
}

/* Finds the device that leads to the server, and the way there. */
static struct rdma_cm_id *find(const char *address, const char *port)
{
	struct addrinfo *server;
	struct rdma_cm_id *id;
	int error;

	error = getaddrinfo(address, port, NULL, &server);
	if (error)
		errx(2, "%s: %s", address, gai_strerror(error));
	/* Without an event channel, each of the id's calls waits until it is done. */
	end_if(rdma_create_id(NULL, &id, NULL, RDMA_PS_TCP), "rdma_create_id");
	end_if(rdma_resolve_addr(id, NULL, server->ai_addr, TIMEOUT_MS), "rdma_resolve_addr");
	end_if(rdma_resolve_route(id, TIMEOUT_MS), "rdma_resolve_route");
	freeaddrinfo(server);
	return id;
}

static void create_qp(struct rdma_cm_id *id, struct ibv_pd *pd, struct ibv_cq *cq)
{
	struct ibv_qp_init_attr attr = {
		.send_cq = cq,
		.recv_cq = cq,
		.cap = { .max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1 },
		.qp_type = IBV_QPT_RC,
	};

	end_if(rdma_create_qp(id, pd, &attr), "rdma_create_qp");
}

static void connect_to_server(struct rdma_cm_id *id)
{
	struct rdma_conn_param param = {
		.responder_resources = 1,
		.initiator_depth = 1,
		.retry_count = 6,
		.rnr_retry_count = 7,
	};

	end_if(rdma_connect(id, &param), "rdma_connect");
}

static void post_recv(struct ibv_qp *qp, const struct ibv_mr *mr)
{
	struct ibv_sge sge = { .addr = (uintptr_t)received, .length = SIZE, .lkey = mr->lkey };
	struct ibv_recv_wr wr = { .wr_id = RECEIVE, .sg_list = &sge, .num_sge = 1 }, *bad_wr;

	end_if_not_posted(ibv_post_recv(qp, &wr, &bad_wr), "ibv_post_recv");
}

static void post_send(struct ibv_qp *qp, const struct ibv_mr *mr)
{
	struct ibv_sge sge = { .addr = (uintptr_t)sent, .length = SIZE, .lkey = mr->lkey };
	struct ibv_send_wr wr = {
		.wr_id = SEND,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED,
	};
	struct ibv_send_wr *bad_wr;

	end_if_not_posted(ibv_post_send(qp, &wr, &bad_wr), "ibv_post_send");
}

/* Waits for whichever work request is done first, and keeps a whole CPU busy. */
static void await_completion(struct ibv_cq *cq)
{
	time_t until = time(NULL) + LIMIT_S;
	struct ibv_wc wc;
	int polled;

	do {
		polled = ibv_poll_cq(cq, 1, &wc);
	} while (!polled && time(NULL) <= until);
	end_if(polled < 0, "ibv_poll_cq");
	if (!polled)
		errx(1, "no completion for %d s: is the server still there?", LIMIT_S);
	if (wc.status != IBV_WC_SUCCESS)
		errx(1, "%s: %s", wc.wr_id == RECEIVE ? "receive" : "send",
		     ibv_wc_status_str(wc.status));
}

int main(int argc, char **argv)
{
	struct rdma_cm_id *id;
	struct ibv_mr *mr_sent, *mr_received;
	struct ibv_pd *pd;
	struct ibv_cq *cq;

	if (argc < 2) {
		fprintf(stderr, "usage: first_client ADDRESS [PORT]\n");
		return 2;
	}
	id = find(argv[1], argc > 2 ? argv[2] : "12321");
	pd = ibv_alloc_pd(id->verbs);
	end_if(!pd, "ibv_alloc_pd");
	cq = ibv_create_cq(id->verbs, 2, NULL, NULL, 0); /* room for a send and a receive */
	end_if(!cq, "ibv_create_cq");
	create_qp(id, pd, cq);
	mr_sent = ibv_reg_mr(pd, sent, SIZE, 0);
	mr_received = ibv_reg_mr(pd, received, SIZE, IBV_ACCESS_LOCAL_WRITE);
	end_if(!mr_sent || !mr_received, "ibv_reg_mr");

	post_recv(id->qp, mr_received); /* before the answer can come */
	connect_to_server(id);
	post_send(id->qp, mr_sent);
	await_completion(cq); /* waits for the send, or the receive */
	await_completion(cq); /* waits for the other one */
	printf("'%s' came back\n", received);

	rdma_disconnect(id);
	rdma_destroy_qp(id);
	ibv_dereg_mr(mr_received);
	ibv_dereg_mr(mr_sent);
	ibv_destroy_cq(cq);
	ibv_dealloc_pd(pd);
	rdma_destroy_id(id);
	end_if(fflush(stdout), "stdout");
	return 0;
}
