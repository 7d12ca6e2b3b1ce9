/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * ping-ep-0/server: the server, with rdma_create_ep and rdma_verbs.h. It sends every message of its
 * one client back. Read main first, then run in both.h, and the two functions that it calls.
 */
#define NAME  "ping-ep-0/server"
#define PEER  "client"
#define USAGE "[-a ADDRESS] [-p PORT] [-c COUNT] [-s BYTES[k|m|g]]"

#include "both.h"

static bool accepted; /* a client was accepted; refused ones do not count */

static int establish(struct rdma_cm_id *id)
{
	const struct rdma_conn_param *wanted = &id->event->param.conn;
	struct rdma_conn_param param = {
		/* READs that either side may have under way: no more than the client asks for */
		.responder_resources = wanted->responder_resources > 0,
		.initiator_depth = wanted->initiator_depth > 0,
		.rnr_retry_count = 7, /* forever */
	};

	if (rdma_accept(id, &param) || id->event->event != RDMA_CM_EVENT_ESTABLISHED)
		return fail("rdma_accept", errno, "");
	accepted = true;
	return 0;
}

/* There are two buffers: one is received into while the other is sent from. */
static int echo(struct rdma_cm_id *id, struct ibv_mr *mr, uint8_t *buffers, uint64_t message)
{
	uint8_t *received = buffers + message % 2 * size;
	uint8_t *other = buffers + (message + 1) % 2 * size;
	struct ibv_wc wc;
	int ret;

	ret = await(id, rdma_get_recv_comp, &wc);
	if (ret)
		return ret;
	if (wc.byte_len != size)
		return fail("rdma_get_recv_comp", EPROTO, ": is -s not the client's?");
	if (message > 0) /* the last echo must have left the other buffer */
		ret = await(id, rdma_get_send_comp, &wc);
	if (ret)
		return ret;
	if (rdma_post_recv(id, NULL, other, size, mr)) /* posted before the client can send again */
		return fail("rdma_post_recv", errno, "");
	if (rdma_post_send(id, NULL, received, size, mr, 0))
		return fail("rdma_post_send", errno, "");
	return 0;
}

static int exchange(struct rdma_cm_id *id, struct ibv_mr *mr, uint8_t *buffers)
{
	struct pollfd end = { .fd = id->channel->fd, .events = POLLIN };
	uint64_t message = 0;
	int ret = 0;

	while (message < count && !stop) {
		ret = echo(id, mr, buffers, message);
		if (ret)
			break;
		message++;
	}
	printf("%" PRIu64 " messages of %" PRIu64 " bytes sent back\n", message, size);
	alarm(0);
	/* The client ends the connection. If we left first, our last message could be lost. */
	if (!ret && !stop)
		poll(&end, 1, SILENCE_LIMIT_S * 1000);
	return ret;
}

/* Waits for a client, whose id has PD, CQs and QP. What a client does is no failure of the server. */
static int serve(struct rdma_cm_id *listener)
{
	struct rdma_cm_id *id;
	int ret;

	if (rdma_get_request(listener, &id))
		return fail("rdma_get_request", errno, "");
	ret = run(id);
	rdma_destroy_ep(id);
	if (ret == ETIMEDOUT || ret == ECONNRESET || ret == ECONNREFUSED || ret == EPROTO)
		return 0;
	return ret;
}

int main(int argc, char **argv)
{
	struct rdma_cm_id *listener;
	int ret;

	read_options(argc, argv);
	ret = create_endpoint(RAI_PASSIVE, &listener);
	if (ret)
		return ret;
	if (rdma_listen(listener, 0))
		ret = fail("rdma_listen", errno, "");
	else
		fprintf(stderr, NAME ": listening on port %" PRIu64 "\n", port);
	while (!ret && !accepted && !stop)
		ret = serve(listener);
	if (listener->event && listener->event->event == RDMA_CM_EVENT_CONNECT_REQUEST)
		rdma_destroy_ep(listener->event->id); /* the QP for it could not be made */
	rdma_destroy_ep(listener);
	if (fflush(stdout))
		ret = fail("stdout", errno, "");
	return ret && ret != EINTR;
}
