/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Tests of verbs-trace: programs with and without each mistake that it reports: sins SIN
 * guilty|worse|innocent ADDRESS [TIMES]. They differ only in the mistake. Before it, the listener
 * refuses TIMES clients, which must change nothing. Exit status 0, or 3 if something else goes wrong.
 */
#define DEPTH  64
#define BUFFER 4096
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "verbs/two_ends.h"

#define SIZE   256 /* bytes in a message */
#define NO_KEY 0xdead

static struct ends pair = {
	.param = { .private_data = "hello",
		   .private_data_len = 6,
		   .responder_resources = 1,
		   .initiator_depth = 1,
		   .retry_count = 6,
		   .rnr_retry_count = 6 },
	.receives = 4,
};
static struct sockaddr_in address = { .sin_family = AF_INET };

static void tear_down(struct end *end)
{
	rdma_destroy_qp(end->id);
	must(!ibv_dereg_mr(end->mr), "ibv_dereg_mr");
	must(!ibv_destroy_cq(end->cq), "ibv_destroy_cq");
	must(!ibv_destroy_comp_channel(end->channel), "ibv_destroy_comp_channel");
	must(!ibv_dealloc_pd(end->pd), "ibv_dealloc_pd");
	must(!rdma_destroy_id(end->id), "rdma_destroy_id");
	free(end->buffer);
}

/* Awaits no event, because a peer that has failed may have left already. */
static void disconnect(void)
{
	rdma_disconnect(pair.client.id);
	rdma_disconnect(pair.server.id);
	tear_down(&pair.client);
	tear_down(&pair.server);
	must(!rdma_destroy_id(pair.listener), "rdma_destroy_id");
	rdma_destroy_event_channel(pair.events);
}

static void send_one(void)
{
	must(!post_send(&pair.client, SIZE, IBV_SEND_SIGNALED), "ibv_post_send");
}

/*
 * Posts a work request whose completion is in error. soft-RoCE of Linux 6.12 reports an error of
 * this side as a flush; soft-iWARP reports no error of the other side (docs/drivers.md). So each
 * device gets the error that it reports.
 */
static void send_failing(void)
{
	struct end *end = &pair.client;
	struct ibv_sge sge = { (uintptr_t)end->buffer, SIZE, end->mr->lkey };
	struct ibv_send_wr *bad, wr = { .sg_list = &sge,
					.num_sge = 1,
					.opcode = IBV_WR_RDMA_WRITE,
					.wr.rdma = { (uintptr_t)end->buffer, NO_KEY } };

	if (end->id->verbs->device->transport_type == IBV_TRANSPORT_IWARP) {
		wr.opcode = IBV_WR_SEND;
		sge.lkey = NO_KEY;
	}
	must(!ibv_post_send(end->id->qp, &wr, &bad), "ibv_post_send");
}

/* Waits for a completion, and returns its status. */
static enum ibv_wc_status poll_one(struct end *end)
{
	struct ibv_wc wc;
	int n;

	while (!(n = ibv_poll_cq(end->cq, 1, &wc)))
		;
	must(n == 1, "ibv_poll_cq");
	return wc.status;
}

#define WORSE 2

/* With other objects that are left, this makes 20, or one more: 20 accusations of a kind are shown. */
static void leak(int guilty)
{
	struct ibv_mr *mrs[7];
	char data[SIZE];
	int i, n = guilty == WORSE ? 7 : 6;

	connect_ends(&pair, &address);
	for (i = 0; i < n; i++) {
		mrs[i] = ibv_reg_mr(pair.client.pd, data, SIZE, 0);
		must(mrs[i] != NULL, "ibv_reg_mr");
	}
	if (guilty)
		exit(0);
	while (i--)
		ibv_dereg_mr(mrs[i]);
	disconnect();
}

/* The worse program has more leaks than are kept, too. */
static void cm_event(int guilty)
{
	struct rdma_cm_event *event;
	char data[SIZE];
	int i;

	connect_ends(&pair, &address);
	for (i = 0; guilty == WORSE && i < 20; i++)
		must(ibv_reg_mr(pair.client.pd, data, SIZE, 0), "ibv_reg_mr");
	must(!rdma_disconnect(pair.client.id), "rdma_disconnect");
	event = next_event(pair.events, RDMA_CM_EVENT_DISCONNECTED);
	if (guilty)
		exit(0); /* rdma_destroy_id would wait forever */
	rdma_ack_cm_event(event);
	disconnect();
}

/* Sends one message; an event tells the server. */
static void one_by_event(void)
{
	struct ibv_cq *cq;
	struct ibv_wc wc;
	void *context;

	must(!ibv_req_notify_cq(pair.server.cq, 0), "ibv_req_notify_cq");
	must(!ibv_poll_cq(pair.server.cq, 1, &wc), "ibv_poll_cq");
	send_one();
	must(!ibv_get_cq_event(pair.server.channel, &cq, &context), "ibv_get_cq_event");
}

/* There are two events; the guilty program acks one, the innocent one both at once. */
static void cq_event(int guilty)
{
	connect_ends(&pair, &address);
	one_by_event();
	must(poll_one(&pair.server) == IBV_WC_SUCCESS, "poll");
	one_by_event();
	ibv_ack_cq_events(pair.server.cq, guilty ? 1 : 2);
	if (guilty && guilty != WORSE)
		exit(0);
	disconnect(); /* with an event that is not acked, ibv_destroy_cq waits forever */
}

/* Another QP of the client's CQ takes some receives of a list, and ends: they are not due any more. */
static void receive_in_vain(void)
{
	struct ibv_qp_init_attr init = { .send_cq = pair.client.cq,
					 .recv_cq = pair.client.cq,
					 .cap = { 1, 3, 1, 1, 0 },
					 .qp_type = IBV_QPT_RC };
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1 };
	struct ibv_qp *qp = ibv_create_qp(pair.client.pd, &init);
	struct ibv_recv_wr wrs[4] = { 0 }, *bad;
	int i;

	must(qp && !ibv_modify_qp(qp, &attr,
				  IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
					  IBV_QP_ACCESS_FLAGS),
	     "ibv_modify_qp");
	for (i = 0; i < 3; i++)
		wrs[i].next = &wrs[i + 1];
	must(ibv_post_recv(qp, wrs, &bad), "ibv_post_recv");
	must(!ibv_destroy_qp(qp), "ibv_destroy_qp");
}

/* Nobody polls until the client's CQ, which soft-RoCE makes smaller, has more completions than entries. */
static void overrun(void)
{
	int i, entries;

	pair.cq_entries = 4;
	pair.receives = DEPTH / 2;
	connect_ends(&pair, &address);
	receive_in_vain();
	ibv_resize_cq(pair.client.cq, 1);
	entries = pair.client.cq->cqe;
	for (i = 0; i < entries + 4; i++)
		must(!post_send(&pair.client, SIZE, 0), "ibv_post_send");
}

static void async_event(int guilty)
{
	struct ibv_async_event event;

	overrun();
	must(!ibv_get_async_event(pair.client.id->verbs, &event), "ibv_get_async_event");
	if (guilty)
		exit(0);
	ibv_ack_async_event(&event);
	disconnect();
}

/* Posts a list of receives to the client, most of which the device refuses: the others fit into its CQ. */
static void receive_too_many(void)
{
	static struct ibv_recv_wr list[20 * DEPTH];
	struct ibv_recv_wr *bad;
	size_t i;

	for (i = 0; i + 1 < sizeof(list) / sizeof(list[0]); i++)
		list[i].next = &list[i + 1];
	must(ibv_post_recv(pair.client.id->qp, list, &bad), "ibv_post_recv did not fail");
}

/* Three QPs after each other have receives in the client's CQ, which has room for those of two. */
static void receive_in_turns(void)
{
	static struct ibv_recv_wr list[DEPTH];
	struct ibv_qp_init_attr attr = { .send_cq = pair.client.cq,
					 .recv_cq = pair.client.cq,
					 .cap = { 1, DEPTH, 1, 1, 0 },
					 .qp_type = IBV_QPT_RC };
	struct ibv_qp_attr init = { .qp_state = IBV_QPS_INIT, .port_num = 1 };
	int i, mask = IBV_QP_STATE | IBV_QP_PORT | IBV_QP_PKEY_INDEX | IBV_QP_ACCESS_FLAGS;
	struct ibv_recv_wr *bad;
	struct ibv_qp *qp;

	for (i = 0; i + 1 < DEPTH; i++)
		list[i].next = &list[i + 1];
	for (i = 0; i < 3; i++) {
		qp = ibv_create_qp(pair.client.pd, &attr);
		must(qp && !ibv_modify_qp(qp, &init, mask), "ibv_modify_qp");
		must(!ibv_post_recv(qp, list, &bad), "ibv_post_recv");
		ibv_destroy_qp(qp);
	}
}

static void cq_overrun(int guilty)
{
	struct pollfd wait = { .events = POLLIN };

	if (!guilty) {
		connect_ends(&pair, &address);
		if (pair.client.id->verbs->device->transport_type != IBV_TRANSPORT_IWARP)
			receive_in_turns(); /* soft-iWARP takes none before it is connected */
		receive_too_many();
		send_one();
		poll_one(&pair.client);
	} else {
		overrun();
		wait.fd = pair.client.id->verbs->async_fd;
		must(poll(&wait, 1, 10000) == 1, "no asynchronous event");
		exit(0); /* the event has not been read */
	}
	disconnect();
}

static void unseen_error(int guilty)
{
	struct ibv_cq *cq;
	void *context;

	connect_ends(&pair, &address);
	must(!ibv_req_notify_cq(pair.client.cq, 0), "ibv_req_notify_cq");
	send_failing();
	must(!ibv_get_cq_event(pair.client.channel, &cq, &context), "ibv_get_cq_event");
	ibv_ack_cq_events(cq, 1);
	if (!guilty)
		must(poll_one(&pair.client) != IBV_WC_SUCCESS, "what has to fail succeeded");
	disconnect();
}

/* Runs in another thread, which has not polled the error. */
static void *send_unaware(void *unused)
{
	post_send(&pair.client, SIZE, 0);
	return unused;
}

/* The error is polled together with a success, if that has waited for it. */
static void posted_after_error(int guilty)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };
	struct ibv_wc wcs[2];
	pthread_t other;
	int n;

	connect_ends(&pair, &address);
	send_one();
	send_failing();
	usleep(1000);
	do
		n = ibv_poll_cq(pair.client.cq, 2, wcs);
	while (!n || wcs[n - 1].status == IBV_WC_SUCCESS);
	if (guilty) {
		send_one();
	} else {
		post_send(&pair.server, SIZE, 0); /* this error is on another QP */
		must(!pthread_create(&other, NULL, send_unaware, NULL), "pthread_create");
		pthread_join(other, NULL);
		must(!ibv_modify_qp(pair.client.id->qp, &attr, IBV_QP_STATE), "ibv_modify_qp");
		post_send(&pair.client, SIZE, 0); /* its state is the program's own */
	}
	disconnect();
}

static void rnr(int guilty)
{
	enum ibv_wc_status status;

	pair.receives = !guilty;
	pair.param.rnr_retry_count = 1;
	connect_ends(&pair, &address);
	send_one();
	status = poll_one(&pair.client);
	must((status == IBV_WC_RNR_RETRY_EXC_ERR) == guilty, ibv_wc_status_str(status));
	disconnect();
}

static void retry_count_0(int guilty)
{
	pair.param.retry_count = guilty ? 0 : 1;
	connect_ends(&pair, &address);
	disconnect();
}

static void armed_not_polled(int guilty)
{
	struct ibv_cq *cq;
	struct ibv_wc wc;
	int i;

	connect_ends(&pair, &address);
	cq = ibv_create_cq(pair.server.id->verbs, 1, NULL, pair.server.channel, 0);
	must(cq && !ibv_destroy_cq(cq), "ibv_destroy_cq"); /* another one of the channel */
	one_by_event();
	ibv_ack_cq_events(pair.server.cq, 1);
	must(poll_one(&pair.server) == IBV_WC_SUCCESS, "poll");
	for (i = 0; i < 2; i++) {
		must(!ibv_req_notify_cq(pair.server.cq, 0), "ibv_req_notify_cq");
		if (!guilty || !i) /* only the second arming */
			ibv_poll_cq(pair.server.cq, 1, &wc);
		send_one();
		must(!ibv_get_cq_event(pair.server.channel, &(struct ibv_cq *){ 0 },
				       &(void *){ 0 }),
		     "ibv_get_cq_event");
		ibv_ack_cq_events(pair.server.cq, 1);
		poll_one(&pair.server);
	}
	disconnect();
}

static const char *private_data;
static int read_late;
static void (*at_fault)(int number) = SIG_DFL;

/*
 * verbs-sim has SIGSEGV for the processor's counter, which nothing here reads, until
 * verbs-trace needs it at the ack.
 */
static void keep(struct rdma_cm_event *event)
{
	prctl(PR_SET_TSC, PR_TSC_ENABLE);
	signal(SIGSEGV, at_fault);
	private_data = event->param.conn.private_data;
	if (!read_late)
		must(private_data[0] == 'h', "private data");
}

static void look(void)
{
	if (read_late)
		printf("%c\n", *(const volatile char *)private_data);
	must(at_fault == SIG_DFL || signal(SIGSEGV, SIG_DFL) == at_fault, "signal");
}

static void ignore_fault(int number)
{
	(void)number;
}

/* The worse program has a handler of its own, which stays, so that nobody sees what it does. */
static void private_data_after_ack(int guilty)
{
	at_fault = guilty == WORSE ? ignore_fault : SIG_DFL;
	read_late = guilty;
	pair.on_request = keep;
	pair.after_ack = look;
	connect_ends(&pair, &address);
	disconnect();
}

/*
 * Each third reason is longer, so a page of verbs-trace, which has 256, gets both: behind a
 * short one is nothing of a long one.
 */
static void refuse_client(struct rdma_event_channel *events, struct rdma_cm_id *listener, int left)
{
	struct rdma_cm_id *id = resolve(events, rdma_get_local_addr(listener));
	static struct ibv_pd *pd; /* shared by all */
	static struct ibv_cq *cq;
	struct ibv_qp_init_attr init = { .qp_type = IBV_QPT_RC, .cap = { 1, 1, 1, 1, 0 } };
	char reason[100] = "sorry";
	struct rdma_cm_event *event;
	struct rdma_cm_id *asked;
	const char *data;

	memset(reason + 6, 'x', sizeof(reason) - 6);
	pd = pd ? pd : ibv_alloc_pd(id->verbs);
	init.send_cq = init.recv_cq = cq = cq ? cq : ibv_create_cq(id->verbs, 1, NULL, NULL, 0);
	must(!rdma_create_qp(id, pd, &init), "rdma_create_qp");
	must(!rdma_connect(id, &pair.param), "rdma_connect");
	event = next_event(events, RDMA_CM_EVENT_CONNECT_REQUEST);
	asked = event->id;
	must(!strcmp(event->param.conn.private_data, "hello"), "private data");
	rdma_ack_cm_event(event);
	must(!rdma_reject(asked, reason, left % 3 ? 6 : sizeof(reason)), "rdma_reject");
	event = next_event(events, RDMA_CM_EVENT_REJECTED);
	data = event->param.conn.private_data;
	must(!strcmp(data, "sorry") && !data[event->param.conn.private_data_len], "private data");
	rdma_ack_cm_event(event);
	rdma_destroy_qp(id);
	must(!rdma_destroy_id(asked) && !rdma_destroy_id(id), "rdma_destroy_id");
	if (!left)
		must(!ibv_destroy_cq(cq) && !ibv_dealloc_pd(pd), "ibv_dealloc_pd");
}

static void refuse_clients(int n)
{
	struct rdma_event_channel *events = rdma_create_event_channel();
	struct sockaddr_in to = address;
	struct rdma_cm_id *listener = listen_at(events, &to, 4);

	while (n--)
		refuse_client(events, listener, n);
	must(!rdma_destroy_id(listener), "rdma_destroy_id");
	rdma_destroy_event_channel(events);
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

	for (i = 0; argc >= 4 && i < sizeof(sins) / sizeof(sins[0]); i++) {
		if (strcmp(argv[1], sins[i].name))
			continue;
		must(inet_pton(AF_INET, argv[3], &address.sin_addr) == 1, argv[3]);
		if (argc > 4)
			refuse_clients(atoi(argv[4]));
		sins[i].commit(!strcmp(argv[2], "worse")   ? WORSE
			       : !strcmp(argv[2], "forks") ? 1
							   : !strcmp(argv[2], "guilty"));
		if (strcmp(argv[2], "forks"))
			return 0;
		if (!fork())
			ibv_free_device_list(ibv_get_device_list(NULL)); /* an innocent child */
		wait(NULL);
		return 0;
	}
	fputs("usage: sins SIN guilty|worse|innocent ADDRESS [TIMES]\n", stderr);
	return 2;
}
