/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * order: both ends of a connection, and two things that may happen in either order. The first argument
 * names the pair, the second one the address of the device, which may be a real one. Prints what the
 * program saw first.
 *
 * Contract: takes nothing of the suite. After 20 s it ends with SIGALRM.
 */
#define DEPTH  8
#define BUFFER 4096

#include <pthread.h>
#include <stdatomic.h>

#include "verbs/two_ends.h"

#define LONG_MS 2000

static struct sockaddr_in address = { .sin_family = AF_INET };
static struct rdma_event_channel *at_server;
static struct end clients[2] = { { .name = "0" }, { .name = "1" } }, servers[2];
static _Atomic(const char *) first;
static atomic_bool flushed;
static pthread_t threads[4];
static int n_threads;

static void saw(const char *what)
{
	const char *none = NULL;

	atomic_compare_exchange_strong(&first, &none, what);
}

static void start(void *(*function)(void *), void *argument)
{
	must(!pthread_create(&threads[n_threads++], NULL, function, argument), "pthread_create");
}

/* Starts a thread that has time to fall asleep before something happens. */
static void watch(void *(*function)(void *), void *argument)
{
	start(function, argument);
	usleep(1000);
}

static void join_all(void)
{
	while (n_threads)
		pthread_join(threads[--n_threads], NULL);
}

/* ---- A connection ---- */

static void make_client(struct end *client)
{
	struct rdma_event_channel *events = rdma_create_event_channel();

	must(events, "rdma_create_event_channel");
	equip(client, client->name, resolve(events, (struct sockaddr *)&address), 0, false);
	must(!ibv_req_notify_cq(client->cq, 0), "ibv_req_notify_cq");
}

/* Connects a client; the request has its name. */
static void *request(void *end)
{
	const struct end *client = end;
	struct rdma_conn_param param = {
		.retry_count = 6,
		.rnr_retry_count = 6,
		.private_data = client->name,
		.private_data_len = 1,
	};

	must(!rdma_connect(client->id, &param), "rdma_connect");
	return NULL;
}

/* Takes a request, and does everything but the accept. */
static void make_server(struct end *server, bool pooled)
{
	struct rdma_cm_event *event = next_event(at_server, RDMA_CM_EVENT_CONNECT_REQUEST);

	equip(server, "message", event->id, 0, pooled);
	rdma_ack_cm_event(event);
	must(!ibv_req_notify_cq(server->cq, 0), "ibv_req_notify_cq");
	must(!post_recv(server, 64) && !post_recv(server, 64), "post_recv");
}

static void accept_client(struct end *server, struct end *client)
{
	struct rdma_conn_param param = { .rnr_retry_count = 6 };

	must(!rdma_accept(server->id, &param), "rdma_accept");
	await_event(client->id->channel, RDMA_CM_EVENT_ESTABLISHED);
}

static void connect_both(bool pooled)
{
	make_client(&clients[0]);
	request(&clients[0]);
	make_server(&servers[0], pooled);
	accept_client(&servers[0], &clients[0]);
	await_event(at_server, RDMA_CM_EVENT_ESTABLISHED);
}

static void *send_from(void *end)
{
	must(!post_send(end, 64, 0), "post_send");
	return NULL;
}

/* ---- Threads that sleep until something happens, and note when they have seen it ---- */

static void take_event(struct end *end)
{
	struct ibv_cq *cq;
	void *context;

	must(!ibv_get_cq_event(end->channel, &cq, &context), "ibv_get_cq_event");
	ibv_ack_cq_events(cq, 1);
	must(!ibv_req_notify_cq(cq, 0), "ibv_req_notify_cq");
}

static struct ibv_wc next_completion(struct end *end)
{
	struct ibv_wc wc;

	while (!ibv_poll_cq(end->cq, 1, &wc))
		take_event(end);
	return wc;
}

static void *see_completion(void *end)
{
	flushed = next_completion(end).status != IBV_WC_SUCCESS;
	saw(flushed ? "flush" : ((struct end *)end)->name);
	return NULL;
}

static void *see_cm_event(void *events)
{
	struct rdma_cm_event *event;

	must(!rdma_get_cm_event(events, &event), "rdma_get_cm_event");
	saw("CM event");
	if (event->event == RDMA_CM_EVENT_DISCONNECTED)
		rdma_disconnect(event->id);
	rdma_ack_cm_event(event);
	return NULL;
}

static void *see_async_event(void *context)
{
	struct ibv_async_event event;

	must(!ibv_get_async_event(context, &event), "ibv_get_async_event");
	saw("asynchronous event");
	ibv_ack_async_event(&event);
	return NULL;
}

static void *see(void *what)
{
	saw(what);
	return NULL;
}

static void *echo(void *end)
{
	next_completion(end);
	return send_from(end);
}

/* ---- Pairs ---- */

/* The completions of a request, and of the receive for its answer. */
static void sent_or_answered(void)
{
	connect_both(false);
	watch(echo, &servers[0]);
	must(!post_recv(&clients[0], 64) && !post_send(&clients[0], 64, 0), "post");
	saw(next_completion(&clients[0]).wr_id == 's' ? "request" : "answer");
}

/* A program that takes one completion for an event: the second may come before it arms the CQ again. */
static void woken_or_lost(void)
{
	struct pollfd readable = { .events = POLLIN };
	struct ibv_wc wc;
	int taken = 0;

	connect_both(false);
	watch(echo, &servers[0]);
	must(!post_recv(&clients[0], 64) && !post_send(&clients[0], 64, 0), "post");
	readable.fd = clients[0].channel->fd;
	while (taken < 2 && poll(&readable, 1, LONG_MS)) {
		take_event(&clients[0]);
		taken += ibv_poll_cq(clients[0].cq, 1, &wc);
	}
	saw(taken == 2 ? "woken" : "lost");
}

/* The completions of a message at its two ends. */
static void sent_or_arrived(void)
{
	connect_both(false);
	watch(see_completion, &servers[0]);
	watch(see_completion, &clients[0]);
	send_from(&clients[0]);
}

/* The client sends as soon as it is connected. */
static void established_or_message(void)
{
	make_client(&clients[0]);
	request(&clients[0]);
	make_server(&servers[0], false);
	watch(see_completion, &servers[0]);
	watch(see_cm_event, at_server);
	accept_client(&servers[0], &clients[0]);
	send_from(&clients[0]);
}

/* The client sends, and leaves at once. */
static void disconnected_or_message(void)
{
	connect_both(false);
	watch(see_completion, &servers[0]);
	watch(see_cm_event, at_server);
	send_from(&clients[0]);
	rdma_disconnect(clients[0].id);
	join_all();
	first = flushed ? "lost" : first;
}

/* The client, which leaves. */
static void disconnected_or_flushed(void)
{
	connect_both(false);
	must(!post_recv(&clients[0], 64), "post_recv");
	watch(see_completion, &clients[0]);
	watch(see_cm_event, clients[0].id->channel);
	rdma_disconnect(clients[0].id);
	await_event(at_server, RDMA_CM_EVENT_DISCONNECTED);
	rdma_disconnect(servers[0].id);
}

static void two_requests(void)
{
	struct rdma_cm_event *event;
	int i;

	make_client(&clients[0]);
	make_client(&clients[1]);
	start(request, &clients[0]);
	start(request, &clients[1]);
	for (i = 0; i < 2; i++) {
		event = next_event(at_server, RDMA_CM_EVENT_CONNECT_REQUEST);
		saw(*(const char *)event->param.conn.private_data == '0' ? "0" : "1");
		must(!rdma_reject(event->id, NULL, 0), "rdma_reject");
		rdma_ack_cm_event(event);
	}
}

/* Two clients send a message each; their completions share a CQ of the server. */
static void two_messages(void)
{
	struct ibv_qp_init_attr init = { .qp_type = IBV_QPT_RC, .cap = { 1, 1, 1, 1, 0 } };
	struct rdma_cm_event *event;

	connect_both(false);
	make_client(&clients[1]);
	request(&clients[1]);
	event = next_event(at_server, RDMA_CM_EVENT_CONNECT_REQUEST);
	servers[1] = servers[0];
	servers[1].id = event->id;
	init.send_cq = init.recv_cq = servers[0].cq;
	must(!rdma_create_qp(event->id, servers[0].pd, &init), "rdma_create_qp");
	rdma_ack_cm_event(event);
	must(!post_recv(&servers[1], 64), "post_recv");
	accept_client(&servers[1], &clients[1]);
	start(send_from, &clients[0]);
	start(send_from, &clients[1]);
	saw(next_completion(&servers[0]).qp_num == servers[0].id->qp->qp_num ? "0" : "1");
}

/* A message takes the shared receive queue below its limit. */
static void limit_or_message(void)
{
	struct ibv_srq_attr attr = { .srq_limit = 2 };

	connect_both(true);
	must(!ibv_modify_srq(servers[0].srq, &attr, IBV_SRQ_LIMIT), "ibv_modify_srq");
	watch(see_completion, &servers[0]);
	watch(see_async_event, servers[0].id->verbs);
	send_from(&clients[0]);
}

static void two_threads(void)
{
	start(see, "0");
	start(see, "1");
}

static const struct {
	const char *name;
	void (*see)(void);
} pairs[] = {
	{ "sent-or-answered", sent_or_answered },
	{ "woken-or-lost", woken_or_lost },
	{ "sent-or-arrived", sent_or_arrived },
	{ "established-or-message", established_or_message },
	{ "disconnected-or-message", disconnected_or_message },
	{ "disconnected-or-flushed", disconnected_or_flushed },
	{ "two-requests", two_requests },
	{ "two-messages", two_messages },
	{ "limit-or-message", limit_or_message },
	{ "two-threads", two_threads },
};

int main(int argc, char **argv)
{
	size_t i;

	alarm(20);
	inet_pton(AF_INET, argc > 2 ? argv[2] : "192.0.2.1", &address.sin_addr);
	at_server = rdma_create_event_channel();
	must(at_server, "rdma_create_event_channel");
	listen_at(at_server, &address, 4);
	for (i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		if (argc < 2 || strcmp(pairs[i].name, argv[1]))
			continue;
		pairs[i].see();
		join_all();
		puts(first);
		return 0;
	}
	fputs("usage: order PAIR [ADDRESS]\n", stderr);
	return 2;
}
