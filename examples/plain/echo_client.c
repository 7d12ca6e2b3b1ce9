/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * A whole client on librdmacm and libibverbs alone: sends a message to echo_server, waits until it
 * is back, and measures how long that takes. It sleeps in poll(2), on the channel for events of the
 * connection manager (CM) and on the one for completions, so that it hears of each answer and of
 * the server's end. Read `run` first: it is the connection's life, from its first verb to its last.
 *
 *     echo_client ADDRESS [PORT [COUNT [SIZE]]]
 */
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

#define TIMEOUT_MS 10000 /* limit of each wait */
#define MOMENT_MS  1000
#define N_WR       2  /* outstanding at most: a send and a receive */
#define RNR_TIMER  12 /* 0.64 ms: the InfiniBand specification has the codes */

#define INVALID_SERVICE_ID 8 /* why InfiniBand and RoCE reject a request to a port of nobody's */

enum wr_id {
	SEND,
	RECEIVE
};

struct client {
	struct rdma_event_channel *cm_channel;
	struct rdma_cm_id *id; /* id->qp is the QP */
	int ended;             /* the reason, an errno value; 0: as far as we know, connected */
	struct ibv_pd *pd;
	struct ibv_comp_channel *comp_channel;
	struct ibv_cq *cq;
	bool armed;          /* the next completion will make an event */
	unsigned int events; /* got from comp_channel, and to be acked */
	uint32_t size;       /* bytes in a message */
	uint8_t *sent, *received;
	struct ibv_mr *mr; /* for both buffers */
};

/* Reports what has failed, and returns the errno value. */
static int failed(const char *call, int error)
{
	if (error < 0) /* some providers return the error negated, or -1, with the error in errno */
		error = error == -1 ? errno : -error;
	if (!error) /* the provider gives no reason */
		error = EIO;
	fprintf(stderr, "echo_client: %s: %s (%d)\n", call, strerror(error), error);
	return error;
}

/* ---- Waiting ---- */

/* Returns true for an event that ends nothing: an address has moved, or a QP's number is free. */
static bool is_hint(enum rdma_cm_event_type type)
{
	return type == RDMA_CM_EVENT_ADDR_CHANGE || type == RDMA_CM_EVENT_TIMEWAIT_EXIT;
}

/* Waits for the next event that is no hint. Returns 0, or an errno value; ETIMEDOUT is not reported. */
static int next_cm_event(struct client *client, enum rdma_cm_event_type *type, int *status)
{
	struct pollfd fd = { .fd = client->cm_channel->fd, .events = POLLIN };
	struct rdma_cm_event *event;

	do {
		if (poll(&fd, 1, TIMEOUT_MS) != 1)
			return ETIMEDOUT;
		if (rdma_get_cm_event(client->cm_channel, &event))
			return failed("rdma_get_cm_event", errno);
		*type = event->event;
		*status = event->status;
		rdma_ack_cm_event(event); /* frees the event */
	} while (is_hint(*type));
	return 0;
}

/* Waits for the event that the last CM call causes. */
static int await_cm_event(struct client *client, enum rdma_cm_event_type expected)
{
	enum rdma_cm_event_type type;
	int status, ret;

	ret = next_cm_event(client, &type, &status);
	if (ret == ETIMEDOUT)
		return failed(rdma_event_str(expected), ret);
	if (ret || type == expected)
		return ret;
	fprintf(stderr, "echo_client: %s in place of %s, status %d%s\n", rdma_event_str(type),
		rdma_event_str(expected), status,
		status == INVALID_SERVICE_ID || status == -ECONNREFUSED
			? ": does nobody listen there?"
			: "");
	return ECONNABORTED;
}

/*
 * Takes an event that no call waits for, while the connection stands. Returns 0 if it ends nothing,
 * or an errno value, reported.
 */
static int take_cm_event(struct client *client)
{
	struct rdma_cm_event *event;
	enum rdma_cm_event_type type;

	if (rdma_get_cm_event(client->cm_channel, &event))
		return failed("rdma_get_cm_event", errno);
	type = event->event;
	rdma_ack_cm_event(event);
	if (is_hint(type))
		return 0;
	if (type == RDMA_CM_EVENT_DISCONNECTED)
		client->ended = failed("the server has left", ECONNRESET);
	else if (type == RDMA_CM_EVENT_DEVICE_REMOVAL)
		client->ended = failed("the RDMA device was removed", ENODEV);
	else
		client->ended = failed(rdma_event_str(type), ECONNABORTED);
	return client->ended;
}

/* Arms the CQ: the next completion makes an event, once. */
static int arm(struct client *client)
{
	int ret = ibv_req_notify_cq(client->cq, 0);

	if (ret)
		return failed("ibv_req_notify_cq", ret);
	client->armed = true;
	return 0;
}

/* Sleeps until there is an event on one of the two channels. */
static int sleep_until_event(struct client *client)
{
	struct pollfd fds[] = {
		{ .fd = client->comp_channel->fd, .events = POLLIN },
		{ .fd = client->cm_channel->fd, .events = POLLIN },
	};
	struct ibv_cq *cq;
	void *context;

	if (client->ended) /* known before the completions that were still to be polled */
		return client->ended;
	if (poll(fds, 2, TIMEOUT_MS) <= 0)
		return failed("the server is silent", ETIMEDOUT);
	if (fds[1].revents)
		return take_cm_event(client);
	if (ibv_get_cq_event(client->comp_channel, &cq, &context))
		return failed("ibv_get_cq_event", errno);
	client->events++;
	client->armed = false;
	return 0;
}

/* Reports why a work request has failed, and returns an errno value. */
static int report_completion(struct client *client, const struct ibv_wc *wc)
{
	struct pollfd cm_channel = { .fd = client->cm_channel->fd, .events = POLLIN };
	int ret = 0;

	/* The CM event that explains it may come a little later. */
	if (poll(&cm_channel, 1, MOMENT_MS) == 1)
		ret = take_cm_event(client);
	if (ret && wc->status == IBV_WC_WR_FLUSH_ERR)
		return ret;
	fprintf(stderr, "echo_client: %s: %s\n", wc->wr_id == SEND ? "send" : "receive",
		ibv_wc_status_str(wc->status));
	return ECONNABORTED;
}

/*
 * Waits for the next completion. An event announces only the first completion after the arming, so
 * the CQ is polled once more between the arming and the sleep, and again when the connection has
 * ended, because a completion may have come before its end.
 */
static int await_completion(struct client *client, struct ibv_wc *wc)
{
	int polled, ret = 0;

	while (!(polled = ibv_poll_cq(client->cq, 1, wc)) && !ret) {
		ret = client->armed ? sleep_until_event(client) : arm(client);
		if (ret && !client->ended)
			return ret;
	}
	if (polled < 0)
		return failed("ibv_poll_cq", EIO);
	if (!polled)
		return ret;
	/* In a completion in error only status, wr_id, qp_num and vendor_err are valid. */
	return wc->status == IBV_WC_SUCCESS ? 0 : report_completion(client, wc);
}

/* ---- Work requests ---- */

static int post_send(struct client *client)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)client->sent,
		.length = client->size,
		.lkey = client->mr->lkey,
	};
	struct ibv_send_wr wr = {
		.wr_id = SEND,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED,
	};
	struct ibv_send_wr *bad_wr;
	int ret = ibv_post_send(client->id->qp, &wr, &bad_wr);

	return ret ? failed("ibv_post_send", ret) : 0;
}

static int post_recv(struct client *client)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)client->received,
		.length = client->size,
		.lkey = client->mr->lkey,
	};
	struct ibv_recv_wr wr = { .wr_id = RECEIVE, .sg_list = &sge, .num_sge = 1 };
	struct ibv_recv_wr *bad_wr;
	int ret = ibv_post_recv(client->id->qp, &wr, &bad_wr);

	return ret ? failed("ibv_post_recv", ret) : 0;
}

/* Sends a message and waits for the answer. The send and the receive complete in either order. */
static int ping(struct client *client)
{
	bool sent = false, received = false;
	struct ibv_wc wc;
	int ret = post_send(client);

	while (!ret && (!sent || !received)) {
		ret = await_completion(client, &wc);
		if (ret)
			break;
		if (wc.wr_id == SEND) {
			sent = true;
		} else {
			received = true;
			if (wc.byte_len != client->size)
				ret = failed("the answer has another length", EPROTO);
		}
	}
	/* Post the receive for the next answer before the message can be sent. */
	return ret ? ret : post_recv(client);
}

static int ping_all(struct client *client, unsigned long count)
{
	struct timespec from, to;
	unsigned long i;
	double us;
	int ret;

	clock_gettime(CLOCK_MONOTONIC, &from);
	for (i = 0; i < count; i++) {
		memset(client->sent, (int)i, client->size);
		ret = ping(client);
		if (ret)
			return ret;
		if (memcmp(client->sent, client->received, client->size))
			return failed("the answer has other contents", EPROTO);
	}
	clock_gettime(CLOCK_MONOTONIC, &to);
	us = (double)(to.tv_sec - from.tv_sec) * 1e6 + (double)(to.tv_nsec - from.tv_nsec) / 1e3;
	printf("%lu messages of %u bytes, there and back in %.1f us each\n", count, client->size,
	       us / (double)count);
	return 0;
}

/* ---- The connection's life ---- */

static int setup_buffers(struct client *client)
{
	client->sent = calloc(2, client->size);
	if (!client->sent)
		return failed("calloc", ENOMEM);
	client->received = client->sent + client->size;
	client->mr = ibv_reg_mr(client->pd, client->sent, 2 * (size_t)client->size,
				IBV_ACCESS_LOCAL_WRITE);
	if (!client->mr) {
		free(client->sent);
		return failed("ibv_reg_mr (limit on locked memory: ulimit -l)", errno);
	}
	return 0;
}

static void unsetup_buffers(struct client *client)
{
	ibv_dereg_mr(client->mr);
	free(client->sent);
}

static int create_cq(struct client *client)
{
	client->comp_channel = ibv_create_comp_channel(client->id->verbs);
	if (!client->comp_channel)
		return failed("ibv_create_comp_channel", errno);
	client->cq = ibv_create_cq(client->id->verbs, N_WR, NULL, client->comp_channel, 0);
	if (!client->cq) {
		ibv_destroy_comp_channel(client->comp_channel);
		return failed("ibv_create_cq", errno);
	}
	return 0;
}

static void destroy_cq(struct client *client)
{
	ibv_ack_cq_events(client->cq, client->events); /* ibv_destroy_cq waits for the acks */
	ibv_destroy_cq(client->cq);
	ibv_destroy_comp_channel(client->comp_channel);
}

static int create_qp(struct client *client)
{
	struct ibv_qp_init_attr attr = {
		.send_cq = client->cq,
		.recv_cq = client->cq,
		.cap = { .max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1 },
		.qp_type = IBV_QPT_RC,
	};

	return rdma_create_qp(client->id, client->pd, &attr) ? failed("rdma_create_qp", errno) : 0;
}

/*
 * Sets the time that a peer waits whose message has found no receive. rdma_cm leaves this at 0,
 * which means 655 ms. The call fails if the peer has left already, and the next wait says so.
 */
static void set_rnr_timer(const struct rdma_cm_id *id)
{
	struct ibv_qp_attr attr = { .min_rnr_timer = RNR_TIMER };

	if (id->verbs->device->transport_type == IBV_TRANSPORT_IB) /* iWARP has none */
		ibv_modify_qp(id->qp, &attr, IBV_QP_MIN_RNR_TIMER);
}

static int connect_to_server(struct client *client)
{
	struct rdma_conn_param param = {
		.responder_resources = 1, /* READs each way: some devices refuse 0 */
		.initiator_depth = 1,
		.retry_count = 6,     /* for a message that is not acknowledged */
		.rnr_retry_count = 7, /* for one that finds no receive posted; 7: forever */
	};
	int ret;

	if (rdma_connect(client->id, &param))
		return failed("rdma_connect", errno);
	ret = await_cm_event(client, RDMA_CM_EVENT_ESTABLISHED);
	if (!ret)
		set_rnr_timer(client->id);
	return ret;
}

/* Flushes what is posted, and stays until the server has answered, or has left by itself. */
static void disconnect(struct client *client)
{
	enum rdma_cm_event_type type;
	int status;

	rdma_disconnect(client->id); /* also if the server has left: it flushes our receives */
	if (!client->ended && next_cm_event(client, &type, &status) == ETIMEDOUT)
		failed("the server does not answer", ETIMEDOUT);
}

/* Finds the device, and the way to the server. */
static int resolve(struct client *client, struct sockaddr *server)
{
	int ret;

	if (rdma_resolve_addr(client->id, NULL, server, TIMEOUT_MS))
		return failed("rdma_resolve_addr", errno);
	ret = await_cm_event(client, RDMA_CM_EVENT_ADDR_RESOLVED);
	if (ret)
		return ret;
	if (rdma_resolve_route(client->id, TIMEOUT_MS))
		return failed("rdma_resolve_route", errno);
	return await_cm_event(client, RDMA_CM_EVENT_ROUTE_RESOLVED);
}

static int run(struct client *client, struct sockaddr *server, unsigned long count)
{
	int ret;

	client->cm_channel = rdma_create_event_channel();
	if (!client->cm_channel)
		return failed("rdma_create_event_channel", errno);
	if (rdma_create_id(client->cm_channel, &client->id, NULL, RDMA_PS_TCP)) {
		ret = failed("rdma_create_id", errno);
		goto out_destroy_channel;
	}
	ret = resolve(client, server); /* rdma_resolve_addr, rdma_resolve_route */
	if (ret)
		goto out_destroy_id;
	client->pd = ibv_alloc_pd(client->id->verbs);
	if (!client->pd) {
		ret = failed("ibv_alloc_pd", errno);
		goto out_destroy_id;
	}
	ret = setup_buffers(client); /* ibv_reg_mr */
	if (ret)
		goto out_dealloc_pd;
	ret = create_cq(client); /* ibv_create_comp_channel, ibv_create_cq */
	if (ret)
		goto out_unsetup_buffers;
	ret = create_qp(client); /* rdma_create_qp */
	if (ret)
		goto out_destroy_cq;
	ret = post_recv(client); /* ibv_post_recv: before the server can answer */
	if (ret)
		goto out_destroy_qp;
	ret = connect_to_server(client); /* rdma_connect, ibv_modify_qp */
	if (ret)
		goto out_destroy_qp;
	ret = ping_all(client, count); /* ibv_post_send, ibv_poll_cq, ... */
	disconnect(client);            /* rdma_disconnect */

out_destroy_qp:
	rdma_destroy_qp(client->id); /* the device no longer uses the memory */
out_destroy_cq:
	destroy_cq(client); /* ibv_destroy_cq, ibv_destroy_comp_channel */
out_unsetup_buffers:
	unsetup_buffers(client); /* ibv_dereg_mr */
out_dealloc_pd:
	ibv_dealloc_pd(client->pd);
out_destroy_id:
	rdma_destroy_id(client->id);
out_destroy_channel:
	rdma_destroy_event_channel(client->cm_channel);
	return ret;
}

int main(int argc, char **argv)
{
	unsigned long count = argc > 3 ? strtoul(argv[3], NULL, 10) : 1000;
	struct client client = { .size = argc > 4 ? (uint32_t)strtoul(argv[4], NULL, 10) : 64 };
	struct addrinfo *server;
	int ret;

	if (argc < 2 || !count || !client.size) {
		fprintf(stderr, "usage: echo_client ADDRESS [PORT [COUNT [SIZE]]]\n");
		return 2;
	}
	ret = getaddrinfo(argv[1], argc > 2 ? argv[2] : "12321", NULL, &server);
	if (ret) {
		fprintf(stderr, "echo_client: %s: %s\n", argv[1], gai_strerror(ret));
		return 2;
	}
	signal(SIGPIPE, SIG_IGN); /* soft-iWARP raises it */
	ret = run(&client, server->ai_addr, count);
	freeaddrinfo(server);
	if (fflush(stdout))
		ret = failed("stdout", errno);
	return ret ? 1 : 0;
}
