/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * A whole server on librdmacm and libibverbs alone: sends back each message of its client, and
 * serves one client after the other until Ctrl-C or SIGTERM. The next client has to wait for a
 * silent one, up to 10 seconds. It sleeps in poll(2), on the channel for events of the connection
 * manager (CM), the one for completions, and a signalfd(2). Read `run` and `serve` first: the lives
 * of the listener and of one connection, verb by verb.
 *
 *     echo_server ADDRESS [PORT]
 */
#include <errno.h>
#include <inttypes.h>
#include <netdb.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

#define SIZE       65536 /* bytes in the longest message */
#define BACKLOG    16    /* connect requests that wait in the kernel */
#define TIMEOUT_MS 10000 /* limit of each wait for a client that has connected */
#define N_WR       2     /* outstanding at most: a send and a receive */
#define N_BUFFERS  2     /* one to receive into while the other is sent */
#define RNR_TIMER  12    /* 0.64 ms: the InfiniBand specification has the codes */

enum wr_id {
	SEND,
	RECEIVE
};

/* The server's side of one connection. */
struct agent {
	struct rdma_event_channel *cm_channel;
	struct rdma_cm_id *id; /* id->qp is the QP */
	int ended;             /* the reason, an errno value; 0: as far as we know, connected */
	struct ibv_pd *pd;
	struct ibv_comp_channel *comp_channel;
	struct ibv_cq *cq;
	bool armed;          /* the next completion will make an event */
	unsigned int events; /* got from comp_channel, and to be acked */
	uint8_t *buffers;    /* N_BUFFERS of SIZE bytes */
	struct ibv_mr *mr;
	uint64_t messages; /* sent back */
};

static int stop_fd; /* readable when the program was told to stop */

/* Reports what has failed, and returns the errno value. */
static int failed(const char *call, int error)
{
	if (error < 0) /* some providers return the error negated, or -1, with the error in errno */
		error = error == -1 ? errno : -error;
	if (!error) /* the provider gives no reason */
		error = EIO;
	fprintf(stderr, "echo_server: %s: %s (%d)\n", call, strerror(error), error);
	return error;
}

/* ---- Waiting ---- */

/*
 * Sleeps until a descriptor is readable. Returns 0 or an errno value, reported: ETIMEDOUT; or EINTR,
 * not reported, if the program was told to stop. timeout_ms -1: no limit.
 */
static int await_readable(struct pollfd *fds, nfds_t n, int timeout_ms)
{
	fds[n - 1] = (struct pollfd){ .fd = stop_fd, .events = POLLIN };
	if (poll(fds, n, timeout_ms) <= 0)
		return failed("the client is silent", ETIMEDOUT);
	return fds[n - 1].revents ? EINTR : 0;
}

/*
 * Waits for an event. Returns 0, and the caller acks it; or what await_readable returns. Destroying
 * an id discards its events, so that a readable channel may turn out empty: here no id is destroyed
 * while another one uses its channel.
 */
static int await_cm_event(struct rdma_event_channel *channel, int timeout_ms,
			  struct rdma_cm_event **event)
{
	struct pollfd fds[2] = { { .fd = channel->fd, .events = POLLIN } };
	int ret = await_readable(fds, 2, timeout_ms);

	if (ret)
		return ret;
	return rdma_get_cm_event(channel, event) ? failed("rdma_get_cm_event", errno) : 0;
}

/* Returns true for an event that ends nothing: an address has moved, or a QP's number is free. */
static bool is_hint(enum rdma_cm_event_type type)
{
	return type == RDMA_CM_EVENT_ADDR_CHANGE || type == RDMA_CM_EVENT_TIMEWAIT_EXIT;
}

/* Waits for the event that the last CM call causes. */
static int await_expected(struct agent *agent, enum rdma_cm_event_type expected)
{
	enum rdma_cm_event_type type;
	struct rdma_cm_event *event;
	int ret;

	do {
		ret = await_cm_event(agent->cm_channel, TIMEOUT_MS, &event);
		if (ret)
			return ret;
		type = event->event;
		rdma_ack_cm_event(event); /* frees the event */
	} while (is_hint(type));
	return type == expected ? 0 : failed(rdma_event_str(type), ECONNABORTED);
}

/*
 * Takes an event that no call waits for, while the connection stands. Returns 0 if it ends nothing;
 * ECONNRESET, not reported: the client has left; or another errno value, reported.
 */
static int take_cm_event(struct agent *agent)
{
	struct rdma_cm_event *event;
	enum rdma_cm_event_type type;

	if (rdma_get_cm_event(agent->cm_channel, &event))
		return failed("rdma_get_cm_event", errno);
	type = event->event;
	rdma_ack_cm_event(event);
	if (is_hint(type))
		return 0;
	if (type == RDMA_CM_EVENT_DISCONNECTED)
		agent->ended = ECONNRESET;
	else if (type == RDMA_CM_EVENT_DEVICE_REMOVAL)
		agent->ended = failed("the RDMA device was removed", ENODEV);
	else
		agent->ended = failed(rdma_event_str(type), ECONNABORTED);
	return agent->ended;
}

/* Arms the CQ: the next completion makes an event, once. */
static int arm(struct agent *agent)
{
	int ret = ibv_req_notify_cq(agent->cq, 0);

	if (ret)
		return failed("ibv_req_notify_cq", ret);
	agent->armed = true;
	return 0;
}

/* Sleeps until there is an event on one of the two channels. ECONNRESET: the client has left. */
static int sleep_until_event(struct agent *agent)
{
	struct pollfd fds[3] = {
		{ .fd = agent->comp_channel->fd, .events = POLLIN },
		{ .fd = agent->cm_channel->fd, .events = POLLIN },
	};
	struct ibv_cq *cq;
	void *context;
	int ret;

	if (agent->ended) /* known before the completions that were still to be polled */
		return agent->ended;
	ret = await_readable(fds, 3, TIMEOUT_MS);
	if (ret)
		return ret;
	if (fds[1].revents)
		return take_cm_event(agent);
	if (ibv_get_cq_event(agent->comp_channel, &cq, &context))
		return failed("ibv_get_cq_event", errno);
	agent->events++;
	agent->armed = false;
	return 0;
}

/*
 * Waits for the next completion. An event announces only the first completion after the arming, so
 * the CQ is polled once more between the arming and the sleep.
 */
static int await_completion(struct agent *agent, struct ibv_wc *wc)
{
	int polled, ret = 0;

	while (!(polled = ibv_poll_cq(agent->cq, 1, wc)) && !ret)
		ret = agent->armed ? sleep_until_event(agent) : arm(agent);
	if (polled < 0)
		return failed("ibv_poll_cq", EIO);
	if (!polled)
		return ret;
	/* In a completion in error only status, wr_id, qp_num and vendor_err are valid. */
	if (wc->status == IBV_WC_SUCCESS)
		return 0;
	if (wc->status == IBV_WC_WR_FLUSH_ERR)
		return ECONNRESET;
	fprintf(stderr, "echo_server: %s: %s\n", wc->wr_id == SEND ? "send" : "receive",
		ibv_wc_status_str(wc->status));
	return EIO;
}

/* ---- Work requests ---- */

static int post_recv(struct agent *agent, int buffer)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)(agent->buffers + buffer * SIZE),
		.length = SIZE,
		.lkey = agent->mr->lkey,
	};
	struct ibv_recv_wr wr = { .wr_id = RECEIVE, .sg_list = &sge, .num_sge = 1 };
	struct ibv_recv_wr *bad_wr;
	int ret = ibv_post_recv(agent->id->qp, &wr, &bad_wr);

	return ret ? failed("ibv_post_recv", ret) : 0;
}

static int post_send(struct agent *agent, int buffer, uint32_t length)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)(agent->buffers + buffer * SIZE),
		.length = length,
		.lkey = agent->mr->lkey,
	};
	struct ibv_send_wr wr = {
		.wr_id = SEND,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED,
	};
	struct ibv_send_wr *bad_wr;
	int ret = ibv_post_send(agent->id->qp, &wr, &bad_wr);

	return ret ? failed("ibv_post_send", ret) : 0;
}

/*
 * Sends back each message, until the client has left. The next receive is posted before the answer
 * is sent, because the client may send again as soon as it has the answer.
 */
static int echo(struct agent *agent)
{
	bool received = false, sending = false;
	uint32_t length = 0;
	struct ibv_wc wc;
	int buffer = 0, ret;

	for (;;) {
		ret = await_completion(agent, &wc);
		if (ret)
			return ret == ECONNRESET ? 0 : ret;
		if (wc.wr_id == SEND) {
			sending = false;
		} else {
			received = true;
			length = wc.byte_len;
		}
		if (!received || sending)
			continue;
		ret = post_recv(agent, !buffer);
		if (!ret)
			ret = post_send(agent, buffer, length);
		if (ret)
			return ret;
		buffer = !buffer;
		received = false;
		sending = true;
		agent->messages++;
	}
}

/* ---- The life of one connection ---- */

static int setup_buffers(struct agent *agent)
{
	agent->buffers = calloc(N_BUFFERS, SIZE);
	if (!agent->buffers)
		return failed("calloc", ENOMEM);
	agent->mr = ibv_reg_mr(agent->pd, agent->buffers, N_BUFFERS * SIZE, IBV_ACCESS_LOCAL_WRITE);
	if (!agent->mr) {
		free(agent->buffers);
		return failed("ibv_reg_mr (limit on locked memory: ulimit -l)", errno);
	}
	return 0;
}

static void unsetup_buffers(struct agent *agent)
{
	ibv_dereg_mr(agent->mr);
	free(agent->buffers);
}

static int create_cq(struct agent *agent)
{
	agent->comp_channel = ibv_create_comp_channel(agent->id->verbs);
	if (!agent->comp_channel)
		return failed("ibv_create_comp_channel", errno);
	agent->cq = ibv_create_cq(agent->id->verbs, N_WR, NULL, agent->comp_channel, 0);
	if (!agent->cq) {
		ibv_destroy_comp_channel(agent->comp_channel);
		return failed("ibv_create_cq", errno);
	}
	return 0;
}

static void destroy_cq(struct agent *agent)
{
	ibv_ack_cq_events(agent->cq, agent->events); /* ibv_destroy_cq waits for the acks */
	ibv_destroy_cq(agent->cq);
	ibv_destroy_comp_channel(agent->comp_channel);
}

static int create_qp(struct agent *agent)
{
	struct ibv_qp_init_attr attr = {
		.send_cq = agent->cq,
		.recv_cq = agent->cq,
		.cap = { .max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1 },
		.qp_type = IBV_QPT_RC,
	};

	return rdma_create_qp(agent->id, agent->pd, &attr) ? failed("rdma_create_qp", errno) : 0;
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

/* Accepts the client. `offered` has the terms of its request, from our side. */
static int accept_client(struct agent *agent, const struct rdma_conn_param *offered)
{
	struct rdma_conn_param param = {
		/* READs each way: at most those of the client; some devices refuse 0 */
		.responder_resources = offered->responder_resources ? 1 : 0,
		.initiator_depth = offered->initiator_depth ? 1 : 0,
		.rnr_retry_count = 7, /* for a message that finds no receive posted; 7: forever */
	};
	int ret;

	if (rdma_accept(agent->id, &param))
		return failed("rdma_accept", errno);
	ret = await_expected(agent, RDMA_CM_EVENT_ESTABLISHED);
	if (!ret)
		set_rnr_timer(agent->id);
	return ret;
}

/*
 * Flushes what is posted, and stays until the client has answered, or has left by itself; not after
 * the program was told to stop.
 */
static void disconnect(struct agent *agent)
{
	rdma_disconnect(agent->id); /* also if the client has left: it flushes our receives */
	if (!agent->ended)
		await_expected(agent, RDMA_CM_EVENT_DISCONNECTED);
}

/*
 * Serves one client. `id` came with its connect request, and is destroyed here; `offered` has the terms
 * of the request. The id moves to a channel of its own, so that the requests of the next clients stay
 * on the listener's. Returns 0, EINTR, or another errno value, which concerns this client alone.
 */
static int serve(struct rdma_cm_id *id, const struct rdma_conn_param *offered)
{
	struct agent agent = { .id = id };
	int ret;

	agent.cm_channel = rdma_create_event_channel();
	if (!agent.cm_channel) {
		ret = failed("rdma_create_event_channel", errno);
		goto out_destroy_id;
	}
	if (rdma_migrate_id(id, agent.cm_channel)) {
		ret = failed("rdma_migrate_id", errno);
		goto out_destroy_id;
	}
	agent.pd = ibv_alloc_pd(id->verbs);
	if (!agent.pd) {
		ret = failed("ibv_alloc_pd", errno);
		goto out_destroy_id;
	}
	ret = setup_buffers(&agent); /* ibv_reg_mr */
	if (ret)
		goto out_dealloc_pd;
	ret = create_cq(&agent); /* ibv_create_comp_channel, ibv_create_cq */
	if (ret)
		goto out_unsetup_buffers;
	ret = create_qp(&agent); /* rdma_create_qp */
	if (ret)
		goto out_destroy_cq;
	ret = post_recv(&agent, 0); /* ibv_post_recv: before the client can send */
	if (ret)
		goto out_destroy_qp;
	ret = accept_client(&agent, offered); /* rdma_accept, ibv_modify_qp */
	if (ret)
		goto out_destroy_qp;
	ret = echo(&agent); /* ibv_poll_cq, ibv_post_recv, ibv_post_send, ... */
	printf("%" PRIu64 " messages sent back\n", agent.messages);
	disconnect(&agent); /* rdma_disconnect */

out_destroy_qp:
	rdma_destroy_qp(id); /* the device no longer uses the memory */
out_destroy_cq:
	destroy_cq(&agent); /* ibv_destroy_cq, ibv_destroy_comp_channel */
out_unsetup_buffers:
	unsetup_buffers(&agent); /* ibv_dereg_mr */
out_dealloc_pd:
	ibv_dealloc_pd(agent.pd);
out_destroy_id:
	rdma_destroy_id(id); /* refuses the client if the id was not accepted */
	if (agent.cm_channel)
		rdma_destroy_event_channel(agent.cm_channel);
	return ret;
}

/* ---- The listener's life ---- */

/*
 * Waits for a client. Returns 0, the id of its connect request and its terms; EINTR; or another
 * errno value. The private data of `offered` are gone with the event.
 */
static int get_request(struct rdma_event_channel *channel, struct rdma_cm_id **id,
		       struct rdma_conn_param *offered)
{
	struct rdma_cm_event *event;
	int ret;

	do {
		ret = await_cm_event(channel, -1, &event);
		if (ret)
			return ret;
		*offered = event->param.conn;
		*id = event->event == RDMA_CM_EVENT_CONNECT_REQUEST ? event->id : NULL;
		if (event->event == RDMA_CM_EVENT_DEVICE_REMOVAL)
			ret = failed("the RDMA device was removed", ENODEV);
		rdma_ack_cm_event(event);
	} while (!ret && !*id);
	return ret;
}

static int run(struct sockaddr *address)
{
	struct rdma_event_channel *channel;
	struct rdma_cm_id *listener, *id;
	struct rdma_conn_param offered;
	int ret;

	channel = rdma_create_event_channel();
	if (!channel)
		return failed("rdma_create_event_channel", errno);
	if (rdma_create_id(channel, &listener, NULL, RDMA_PS_TCP)) {
		ret = failed("rdma_create_id", errno);
		goto out_destroy_channel;
	}
	if (rdma_bind_addr(listener, address)) {
		ret = failed("rdma_bind_addr", errno);
		goto out_destroy_id;
	}
	if (rdma_listen(listener, BACKLOG)) {
		ret = failed("rdma_listen", errno);
		goto out_destroy_id;
	}
	fprintf(stderr, "echo_server: listening\n");
	do {
		ret = get_request(channel, &id, &offered);
		if (!ret && serve(id, &offered) == EINTR) /* other errors end this client only */
			ret = EINTR;
	} while (!ret);
out_destroy_id:
	rdma_destroy_id(listener);
out_destroy_channel:
	rdma_destroy_event_channel(channel);
	return ret == EINTR ? 0 : ret; /* told to stop */
}

int main(int argc, char **argv)
{
	struct addrinfo hints = { .ai_flags = AI_PASSIVE }, *address;
	sigset_t signals;
	int ret;

	if (argc < 2) {
		fprintf(stderr, "usage: echo_server ADDRESS [PORT]\n");
		return 2;
	}
	ret = getaddrinfo(argv[1], argc > 2 ? argv[2] : "12321", &hints, &address);
	if (ret) {
		fprintf(stderr, "echo_server: %s: %s\n", argv[1], gai_strerror(ret));
		return 2;
	}
	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	sigprocmask(SIG_BLOCK, &signals, NULL); /* now they make stop_fd readable */
	stop_fd = signalfd(-1, &signals, SFD_CLOEXEC);
	signal(SIGPIPE, SIG_IGN); /* soft-iWARP raises it */
	ret = stop_fd < 0 ? failed("signalfd", errno) : run(address->ai_addr);
	close(stop_fd);
	freeaddrinfo(address);
	if (fflush(stdout))
		ret = failed("stdout", errno);
	return ret ? 1 : 0;
}
