/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Tests of verbs-trace: what it accuses of, done and not done: sins SIN guilty|innocent ADDRESS. The two
 * differ in that one thing. Exit status 0, or 3 if something else goes wrong.
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/tracer/pair.h"

static struct pair pair = {
	.cq_entries = 2 * DEPTH, .receives = 4, .retry_count = 6, .rnr_retry_count = 6
};
static const char *address;

static void leak(int guilty)
{
	char data[SIZE];
	struct ibv_mr *mr;

	pair_connect(&pair, address);
	mr = ibv_reg_mr(pair.client.pd, data, SIZE, 0);
	must(mr != NULL, "ibv_reg_mr");
	if (guilty)
		exit(0);
	ibv_dereg_mr(mr);
	pair_disconnect(&pair);
}

static void cm_event(int guilty)
{
	struct rdma_cm_event *event;

	pair_connect(&pair, address);
	must(!rdma_disconnect(pair.client.id), "rdma_disconnect");
	event = next_event(&pair, RDMA_CM_EVENT_DISCONNECTED);
	if (guilty)
		exit(0); /* rdma_destroy_id would wait forever */
	rdma_ack_cm_event(event);
	pair_disconnect(&pair);
}

/* Sends one, of which the server hears by an event. */
static void one_by_event(void)
{
	struct ibv_cq *cq;
	void *context;

	must(!ibv_req_notify_cq(pair.server.cq, 0), "ibv_req_notify_cq");
	post_send(&pair.client);
	must(!ibv_get_cq_event(pair.server.channel, &cq, &context), "ibv_get_cq_event");
}

static void cq_event(int guilty)
{
	pair_connect(&pair, address);
	one_by_event();
	if (guilty)
		exit(0); /* ibv_destroy_cq would wait forever */
	ibv_ack_cq_events(pair.server.cq, 1);
	pair_disconnect(&pair);
}

/* Nobody polls until the client's CQ has more completions than entries. */
static void overrun(void)
{
	int i, entries;

	pair.cq_entries = 1;
	pair.receives = DEPTH / 2;
	pair_connect(&pair, address);
	entries = pair.client.cq->cqe;
	for (i = 0; i < entries + 4; i++)
		post_send(&pair.client);
}

static void async_event(int guilty)
{
	struct ibv_async_event event;

	overrun();
	must(!ibv_get_async_event(pair.client.id->verbs, &event), "ibv_get_async_event");
	if (guilty)
		exit(0);
	ibv_ack_async_event(&event);
	pair_disconnect(&pair);
}

static void cq_overrun(int guilty)
{
	struct pollfd wait = { .events = POLLIN };

	if (!guilty) {
		pair_connect(&pair, address);
		post_send(&pair.client);
		poll_one(&pair.client);
	} else {
		overrun();
		wait.fd = pair.client.id->verbs->async_fd;
		must(poll(&wait, 1, 10000) == 1, "no asynchronous event");
		exit(0); /* the event has not been read */
	}
	pair_disconnect(&pair);
}

static void unseen_error(int guilty)
{
	struct ibv_cq *cq;
	void *context;

	pair_connect(&pair, address);
	must(!ibv_req_notify_cq(pair.client.cq, 0), "ibv_req_notify_cq");
	post_failing(&pair.client);
	must(!ibv_get_cq_event(pair.client.channel, &cq, &context), "ibv_get_cq_event");
	ibv_ack_cq_events(cq, 1);
	if (!guilty)
		must(poll_one(&pair.client) != IBV_WC_SUCCESS, "what has to fail succeeded");
	pair_disconnect(&pair);
}

static void posted_after_error(int guilty)
{
	pair_connect(&pair, address);
	post_failing(&pair.client);
	must(poll_one(&pair.client) != IBV_WC_SUCCESS, "what has to fail succeeded");
	if (guilty)
		post_send(&pair.client);
	pair_disconnect(&pair);
}

static void rnr(int guilty)
{
	enum ibv_wc_status status;

	pair.receives = !guilty;
	pair.rnr_retry_count = 1;
	pair_connect(&pair, address);
	post_send(&pair.client);
	status = poll_one(&pair.client);
	must((status == IBV_WC_RNR_RETRY_EXC_ERR) == guilty, ibv_wc_status_str(status));
	pair_disconnect(&pair);
}

static void retry_count_0(int guilty)
{
	pair.retry_count = guilty ? 0 : 1;
	pair_connect(&pair, address);
	pair_disconnect(&pair);
}

static void armed_not_polled(int guilty)
{
	struct ibv_wc wc;
	int i;

	pair_connect(&pair, address);
	one_by_event();
	ibv_ack_cq_events(pair.server.cq, 1);
	must(poll_one(&pair.server) == IBV_WC_SUCCESS, "poll");
	for (i = 0; i < 2; i++) {
		must(!ibv_req_notify_cq(pair.server.cq, 0), "ibv_req_notify_cq");
		if (!guilty)
			ibv_poll_cq(pair.server.cq, 1, &wc);
		post_send(&pair.client);
		must(!ibv_get_cq_event(pair.server.channel, &(struct ibv_cq *){ 0 },
				       &(void *){ 0 }),
		     "ibv_get_cq_event");
		ibv_ack_cq_events(pair.server.cq, 1);
		poll_one(&pair.server);
	}
	pair_disconnect(&pair);
}

static const char *private_data;
static int read_late;

static void keep(struct rdma_cm_event *event)
{
	private_data = event->param.conn.private_data;
	if (!read_late)
		must(private_data[0] == 'h', "private data");
}

static void look(void)
{
	if (read_late)
		printf("%c\n", *(const volatile char *)private_data);
}

static void private_data_after_ack(int guilty)
{
	read_late = guilty;
	pair.on_request = keep;
	pair.after_ack = look;
	pair_connect(&pair, address);
	pair_disconnect(&pair);
}

static const struct {
	const char *name;
	void (*commit)(int guilty);
} sins[] = {
	{ "leak", leak },
	{ "cm-event", cm_event },
	{ "cq-event", cq_event },
	{ "async-event", async_event },
	{ "unseen-error", unseen_error },
	{ "posted-after-error", posted_after_error },
	{ "rnr", rnr },
	{ "cq-overrun", cq_overrun },
	{ "retry-count-0", retry_count_0 },
	{ "armed-not-polled", armed_not_polled },
	{ "private-data-after-ack", private_data_after_ack },
};

int main(int argc, char **argv)
{
	size_t i;

	for (i = 0; argc == 4 && i < sizeof(sins) / sizeof(sins[0]); i++) {
		if (strcmp(argv[1], sins[i].name))
			continue;
		address = argv[3];
		sins[i].commit(!strcmp(argv[2], "guilty"));
		return 0;
	}
	fputs("usage: sins SIN guilty|innocent ADDRESS\n", stderr);
	return 2;
}
