/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * ping-ep-0/client: the client, with rdma_create_ep and rdma_verbs.h. It sends messages, and waits
 * for each to come back. Read main first, then run in both.h, and the two functions that it calls.
 */
#define NAME  "ping-ep-0/client"
#define PEER  "server"
#define USAGE "-a ADDRESS [-p PORT] [-c COUNT] [-s BYTES[k|m|g]]"

#include "both.h"

#include <endian.h>
#include <time.h>

static int establish(struct rdma_cm_id *id)
{
	uint64_t info[] = { htobe64(count), htobe64(size) }; /* see docs/protocol.md */
	struct rdma_conn_param param = {
		.private_data = info,
		.private_data_len = sizeof(info),
		.responder_resources = 1, /* the server's READs: none, but some devices refuse 0 */
		.initiator_depth = 1,     /* our READs: none, but some devices refuse 0 */
		.retry_count = 6,         /* soft-RoCE takes 7 for "forever" */
		.rnr_retry_count = 7,     /* forever */
	};

	if (rdma_connect(id, &param) || id->event->event != RDMA_CM_EVENT_ESTABLISHED)
		return fail("rdma_connect", errno,
			    ": does nobody listen there, or has the server refused us?");
	return 0;
}

/* Sends one message and gets it back. The receive for it was posted before. */
static int ping(struct rdma_cm_id *id, struct ibv_mr *mr, uint8_t *received, uint64_t message)
{
	uint8_t *sent = received + size;
	struct ibv_wc wc;
	int ret;

	memcpy(sent, &message, size < sizeof(message) ? size : sizeof(message));
	if (rdma_post_send(id, NULL, sent, size, mr, 0))
		return fail("rdma_post_send", errno, "");
	ret = await(id, rdma_get_send_comp, &wc);
	if (!ret)
		ret = await(id, rdma_get_recv_comp, &wc);
	if (ret)
		return ret;
	if (wc.byte_len != size || memcmp(sent, received, size))
		return fail("rdma_get_recv_comp", EBADMSG, ": the message came back changed");
	if (message + 1 < count && rdma_post_recv(id, NULL, received, size, mr)) /* the next */
		return fail("rdma_post_recv", errno, "");
	return 0;
}

/* Sends all messages, and measures the time. */
static int exchange(struct rdma_cm_id *id, struct ibv_mr *mr, uint8_t *buffers)
{
	struct timespec from, to;
	uint64_t message = 0;
	double us;
	int ret = 0;

	clock_gettime(CLOCK_MONOTONIC, &from);
	while (message < count && !stop) {
		ret = ping(id, mr, buffers, message);
		if (ret)
			break;
		message++;
	}
	clock_gettime(CLOCK_MONOTONIC, &to);
	us = (double)(to.tv_sec - from.tv_sec) * 1e6 + (double)(to.tv_nsec - from.tv_nsec) / 1e3;
	printf("%" PRIu64 " messages of %" PRIu64 " bytes", message, size);
	if (message)
		printf(", there and back in %.1f us each", us / (double)message);
	printf("\n");
	return ret;
}

int main(int argc, char **argv)
{
	struct rdma_cm_id *id;
	int ret;

	read_options(argc, argv);
	if (!address)
		wrong_usage("no address");
	ret = create_endpoint(0, &id);
	if (ret)
		return ret;
	ret = run(id);
	rdma_destroy_ep(id);
	if (fflush(stdout))
		ret = fail("stdout", errno, "");
	return ret && ret != EINTR;
}
