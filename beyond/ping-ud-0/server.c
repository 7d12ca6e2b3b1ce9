/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * ping-ud-0/server: sends every datagram back to where it came from. One QP serves all clients, and
 * nothing is kept of any of them. Read main first, then upwards.
 */
#include <errno.h>
#include <inttypes.h>
#include <netdb.h>
#include <poll.h>
#include <rdma/rdma_verbs.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NAME "ping-ud-0/server"
#define GRH  40           /* bytes in front of what is received: the global route header */
#define SLOT (GRH + 4096) /* room for the longest datagram: with less, one could end the QP */

static uint64_t receives = 64, clients, answered;
static volatile sig_atomic_t stop;

static void on_signal(int number)
{
	(void)number;
	stop = 1;
}

/* Reports a failure and returns the error; EINTR after a signal to stop is no failure. */
static int failed(const char *call, int error, const char *cause)
{
	if (error == EINTR && stop)
		return EINTR;
	if (error <= 0) /* ibv_poll_cq returns -1, not an errno value */
		error = EIO;
	fprintf(stderr, NAME ": %s: %s (%d)%s%s\n", call, strerror(error), error,
		*cause ? ": " : "", cause);
	return error;
}

/* The answer to a client that asks is the number of our QP. After that its id is not needed. */
static void tell_client(struct rdma_cm_id *listener, struct rdma_cm_id *id)
{
	struct rdma_conn_param param = { .qp_num = listener->qp->qp_num };

	if (rdma_accept(id, &param))
		failed("rdma_accept", errno, "");
	else
		clients++;
	rdma_destroy_id(id);
}

/* Handles requests and device removal. Other events, as of a moved address, do not matter. */
static int take_cm_event(struct rdma_cm_id *listener)
{
	struct rdma_cm_event *event;
	enum rdma_cm_event_type type;
	struct rdma_cm_id *id;

	if (rdma_get_cm_event(listener->channel, &event))
		return failed("rdma_get_cm_event", errno, "");
	type = event->event;
	id = event->id;
	rdma_ack_cm_event(event);
	if (type == RDMA_CM_EVENT_CONNECT_REQUEST)
		tell_client(listener, id);
	return type == RDMA_CM_EVENT_DEVICE_REMOVAL ? failed("device", ENODEV, "") : 0;
}

/* An answer counts once it has left. That is soon, so no signal ends the wait. */
static int await_send(struct rdma_cm_id *listener, struct ibv_wc *wc)
{
	while (rdma_get_send_comp(listener, wc) < 0) {
		if (errno != EINTR)
			return failed("rdma_get_send_comp", errno, "");
	}
	if (wc->status)
		return failed("send", EIO, ibv_wc_status_str(wc->status));
	answered++;
	return 0;
}

/* The header says from which address a message came, and the completion from which QP there. */
static int answer(struct rdma_cm_id *listener, struct ibv_mr *mr, struct ibv_wc *wc)
{
	uint8_t *slot = (uint8_t *)(uintptr_t)wc->wr_id;
	uint32_t length = wc->byte_len - GRH, client = wc->src_qp;
	struct ibv_ah *ah =
		ibv_create_ah_from_wc(listener->pd, wc, (struct ibv_grh *)slot, listener->port_num);
	int ret;

	if (!ah) { /* there is no route to the sender: the message is lost */
		failed("ibv_create_ah_from_wc", errno, "");
		return 0;
	}
	if (rdma_post_ud_send(listener, NULL, slot + GRH, length, mr, 0, ah, client))
		ret = failed("rdma_post_ud_send", errno, "");
	else
		ret = await_send(listener, wc);
	ibv_destroy_ah(ah);
	return ret;
}

/* Answers all messages. One that comes while no receive is posted is lost, and nobody is told. */
static int answer_all(struct rdma_cm_id *listener, struct ibv_mr *mr)
{
	struct ibv_wc wc;
	uint8_t *slot;
	int n, ret;

	while ((n = ibv_poll_cq(listener->recv_cq, 1, &wc)) > 0) {
		if (wc.status)
			return failed("receive", EIO, ibv_wc_status_str(wc.status));
		slot = (uint8_t *)(uintptr_t)wc.wr_id;
		ret = answer(listener, mr, &wc);
		if (ret)
			return ret;
		if (rdma_post_recv(listener, slot, slot, SLOT, mr))
			return failed("rdma_post_recv", errno, "");
	}
	return n < 0 ? failed("ibv_poll_cq", EIO, "") : 0;
}

/* Sleeps until a client asks, or a message is there. */
static int serve(struct rdma_cm_id *listener, struct ibv_mr *mr)
{
	struct pollfd fds[] = { { .fd = listener->channel->fd, .events = POLLIN },
				{ .fd = listener->recv_cq_channel->fd, .events = POLLIN } };
	struct ibv_cq *cq;
	void *context;
	int ret = 0;

	while (!ret && !stop) {
		ret = ibv_req_notify_cq(listener->recv_cq, 0);
		if (ret)
			return failed("ibv_req_notify_cq", ret, "");
		ret = answer_all(listener, mr);     /* takes also messages from before the arming */
		if (ret || poll(fds, 2, 1000) <= 0) /* a second, as stop may just have been set */
			continue;
		if (fds[0].revents)
			ret = take_cm_event(listener);
		if (!fds[1].revents)
			continue;
		if (ibv_get_cq_event(listener->recv_cq_channel, &cq, &context))
			return failed("ibv_get_cq_event", errno, "");
		ibv_ack_cq_events(cq, 1);
	}
	return ret;
}

static int run(struct rdma_cm_id *listener)
{
	struct ibv_qp_init_attr attr = { .cap = { 1, (uint32_t)receives, 1, 1, 0 },
					 .qp_type = IBV_QPT_UD,
					 .sq_sig_all = 1 };
	uint8_t *memory, *slot;
	struct ibv_mr *mr;
	int ret = 0;

	if (!listener->verbs)
		return failed("-a", EINVAL, "this is no address of an RDMA device");
	if (rdma_create_qp(listener, NULL, &attr)) /* also PD and CQs; the QP is ready at once */
		return failed("rdma_create_qp", errno,
			      errno == EOPNOTSUPP ? "no UD here, as on any iWARP device" : "");
	memory = calloc(receives, SLOT);
	mr = memory ? rdma_reg_msgs(listener, memory, receives * SLOT) : NULL;
	if (!mr)
		ret = failed("rdma_reg_msgs", errno, "see ulimit -l");
	for (slot = memory; !ret && slot < memory + receives * SLOT; slot += SLOT) {
		if (rdma_post_recv(listener, slot, slot, SLOT, mr))
			ret = failed("rdma_post_recv", errno, "");
	}
	if (!ret && rdma_listen(listener, 0))
		ret = failed("rdma_listen", errno, "");
	if (!ret) {
		fprintf(stderr, NAME ": listening\n");
		ret = serve(listener, mr);
		printf("%" PRIu64 " clients asked, %" PRIu64 " messages sent back\n", clients,
		       answered);
	}
	rdma_destroy_qp(listener); /* the QP's receives point to the memory */
	if (mr)
		rdma_dereg_mr(mr);
	free(memory);
	return ret;
}

/* Reads a number that has only digits. */
static bool read_number(const char *text, uint64_t *value)
{
	*value = strtoull(text, NULL, 10);
	return *text && strspn(text, "0123456789") == strlen(text);
}

int main(int argc, char **argv)
{
	struct rdma_addrinfo *info, want = { .ai_flags = RAI_PASSIVE,
					     .ai_port_space = RDMA_PS_UDP,
					     .ai_qp_type = IBV_QPT_UD };
	struct sigaction action = { .sa_handler = on_signal }; /* no SA_RESTART */
	const char *address = NULL, *port = "12321";
	struct rdma_event_channel *channel;
	struct rdma_cm_id *listener = NULL;
	bool known = true;
	int ret, letter;

	if (sigaction(SIGINT, &action, NULL) || sigaction(SIGTERM, &action, NULL))
		return failed("sigaction", errno, "") ? 1 : 0;
	while (known && (letter = getopt(argc, argv, "a:p:r:")) != -1) {
		if (letter == 'a')
			address = optarg;
		else if (letter == 'p')
			port = optarg;
		else
			known = letter == 'r' && read_number(optarg, &receives);
	}
	if (!known || !address || !receives || receives > 4096) {
		fprintf(stderr, "usage: " NAME " -a ADDRESS [-p PORT] [-r RECEIVES]\n");
		return 2;
	}
	ret = rdma_getaddrinfo(address, port, &want, &info);
	if (ret == -1)
		failed("rdma_getaddrinfo", errno, "");
	else if (ret)
		fprintf(stderr, NAME ": %s: %s\n", address, gai_strerror(ret));
	if (ret)
		return ret == -1 ? 1 : 2;
	channel = rdma_create_event_channel();
	if (!channel)
		ret = failed("rdma_create_event_channel", errno, "");
	else if (rdma_create_id(channel, &listener, NULL, RDMA_PS_UDP))
		ret = failed("rdma_create_id", errno, "");
	else if (rdma_bind_addr(listener, info->ai_src_addr)) /* an address of one device */
		ret = failed("rdma_bind_addr", errno, "");
	else
		ret = run(listener);
	rdma_freeaddrinfo(info);
	if (listener)
		rdma_destroy_id(listener);
	if (channel)
		rdma_destroy_event_channel(channel);
	if (fflush(stdout))
		ret = failed("stdout", errno, "");
	return ret && ret != EINTR;
}
