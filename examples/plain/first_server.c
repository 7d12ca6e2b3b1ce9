/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The other end of first_client.c: receives one message, sends it back, and ends when its client has
 * left. It also ends at the first error, and the kernel frees its resources. To copy, see
 * echo_server.c, which serves one client after the other and sleeps while it waits.
 *
 *     first_server ADDRESS [PORT]
 */
#include <err.h>
#include <errno.h>
#include <netdb.h>
#include <stdbool.h>
#include <stdio.h>
#include <time.h>

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

#define SIZE    64
#define LIMIT_S 10 /* limit of each wait for a completion: a client may die silently */

enum wr_id {
	SEND,
	RECEIVE
};

static char message[SIZE]; /* received, and sent back from the same memory */

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

/* Listens at the address, which leads to a device of this host. */
static struct rdma_cm_id *listen_at(const char *address, const char *port)
{
	struct addrinfo *own;
	struct rdma_cm_id *id;
	int error;

	error = getaddrinfo(address, port, NULL, &own);
	if (error)
		errx(2, "%s: %s", address, gai_strerror(error));
	/* Without an event channel, each of the id's calls waits until it is done. */
	end_if(rdma_create_id(NULL, &id, NULL, RDMA_PS_TCP), "rdma_create_id");
	end_if(rdma_bind_addr(id, own->ai_addr), "rdma_bind_addr");
	end_if(rdma_listen(id, 1), "rdma_listen");
	freeaddrinfo(own);
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

static void post_recv(struct ibv_qp *qp, const struct ibv_mr *mr)
{
	struct ibv_sge sge = { .addr = (uintptr_t)message, .length = SIZE, .lkey = mr->lkey };
	struct ibv_recv_wr wr = { .wr_id = RECEIVE, .sg_list = &sge, .num_sge = 1 }, *bad_wr;

	end_if_not_posted(ibv_post_recv(qp, &wr, &bad_wr), "ibv_post_recv");
}

static void post_send(struct ibv_qp *qp, const struct ibv_mr *mr, uint32_t length)
{
	struct ibv_sge sge = { .addr = (uintptr_t)message, .length = length, .lkey = mr->lkey };
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

/*
 * Waits for the one work request that is outstanding, and returns its completion. It keeps a CPU busy
 * until then.
 */
static struct ibv_wc await_completion(struct ibv_cq *cq)
{
	time_t until = time(NULL) + LIMIT_S;
	struct ibv_wc wc;
	int polled;

	do {
		polled = ibv_poll_cq(cq, 1, &wc);
	} while (!polled && time(NULL) <= until);
	end_if(polled < 0, "ibv_poll_cq");
	if (!polled)
		errx(1, "no completion for %d s: is the client still there?", LIMIT_S);
	if (wc.status != IBV_WC_SUCCESS)
		errx(1, "%s: %s", wc.wr_id == RECEIVE ? "receive" : "send",
		     ibv_wc_status_str(wc.status));
	return wc;
}

/*
 * Waits until the client has disconnected. Only then has its answer surely arrived: over iWARP a send
 * is complete when TCP has taken the message.
 */
static void await_end(struct rdma_cm_id *id)
{
	struct rdma_cm_event *event;

	end_if(rdma_get_cm_event(id->channel, &event), "rdma_get_cm_event");
	if (event->event != RDMA_CM_EVENT_DISCONNECTED)
		errx(1, "%s", rdma_event_str(event->event));
	rdma_ack_cm_event(event);
}

int main(int argc, char **argv)
{
	struct rdma_cm_id *listener, *id;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_mr *mr;

	if (argc < 2) {
		fprintf(stderr, "usage: first_server ADDRESS [PORT]\n");
		return 2;
	}
	listener = listen_at(argv[1], argc > 2 ? argv[2] : "12321");
	fprintf(stderr, "first_server: listening\n");
	/* The connect request comes with its own id, which is the connection's. */
	end_if(rdma_get_request(listener, &id), "rdma_get_request");

	pd = ibv_alloc_pd(id->verbs);
	end_if(!pd, "ibv_alloc_pd");
	cq = ibv_create_cq(id->verbs, 2, NULL, NULL, 0); /* room for a send and a receive */
	end_if(!cq, "ibv_create_cq");
	create_qp(id, pd, cq);
	mr = ibv_reg_mr(pd, message, SIZE, IBV_ACCESS_LOCAL_WRITE);
	end_if(!mr, "ibv_reg_mr");

	post_recv(id->qp, mr); /* before the accept, after which the message may come */
	end_if(rdma_accept(id, NULL), "rdma_accept");
	post_send(id->qp, mr, await_completion(cq).byte_len);
	await_completion(cq); /* waits for the send */
	await_end(id);
	printf("one message sent back\n");

	rdma_destroy_qp(id); /* without rdma_disconnect, as the client has disconnected */
	ibv_dereg_mr(mr);
	ibv_destroy_cq(cq);
	ibv_dealloc_pd(pd);
	rdma_destroy_id(id);
	rdma_destroy_id(listener);
	end_if(fflush(stdout), "stdout");
	return 0;
}
