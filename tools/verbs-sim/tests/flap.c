/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * flap: one side of a connection, which says what comes to it while something happens to its link, on
 * a simulated device as on a real one: events, another state of the port, GIDs that come and go, the
 * first error, and pauses of completions. The client sends a message each tenth of a second. Takes
 * nothing of the suite.
 *
 *     flap server|client ADDRESS SECONDS
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <rdma/rdma_verbs.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define DEPTH    512
#define RETRIES  6  /* 7 would be forever */
#define WINDOW   16 /* messages at a time: more than 64 keep soft-RoCE from counting its retries */
#define TICK_MS  10
#define SEND_MS  100
#define PAUSE_MS 500
#define GIDS     16

static const char *name;
static struct rdma_cm_id *id;
static struct ibv_mr *mr;
static char buffer[64];
static long start_ms, last_ms; /* times of the connection, and of its last completion */
static long posted, completed, failed;
static enum ibv_port_state state;
static union ibv_gid gids[GIDS];

static long now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void say(const char *what, const char *more)
{
	printf("%s %6.2f s: %s%s\n", name, (double)(now_ms() - start_ms) / 1e3, what, more);
}

static void must(bool good, const char *what)
{
	if (good)
		return;
	say(what, strerror(errno));
	exit(1);
}

static void look_at_completions(struct ibv_cq *cq)
{
	struct ibv_wc wc;

	while (ibv_poll_cq(cq, 1, &wc) > 0) {
		if (wc.status && !failed++)
			say(ibv_wc_status_str(wc.status), "");
		if (wc.status)
			continue;
		completed++;
		if (now_ms() - last_ms > PAUSE_MS)
			say("a message after a pause", "");
		last_ms = now_ms();
		if (wc.opcode == IBV_WC_RECV &&
		    rdma_post_recv(id, NULL, buffer, sizeof(buffer), mr))
			failed++;
	}
}

static void look_at_port(bool first)
{
	static const union ibv_gid none;
	struct ibv_port_attr port;
	union ibv_gid gid;
	int i;

	must(!ibv_query_port(id->verbs, 1, &port), "ibv_query_port: ");
	if (port.state != state && !first)
		say("the port is ", ibv_port_state_str(port.state));
	state = port.state;
	for (i = 0; i < GIDS && i < port.gid_tbl_len; i++) {
		if (ibv_query_gid(id->verbs, 1, i, &gid))
			gid = none;
		if (memcmp(&gid, &gids[i], sizeof(gid)) && !first)
			say("a GID ", memcmp(&gid, &none, sizeof(gid)) ? "comes" : "goes");
		gids[i] = gid;
	}
}

static void look_at_events(void)
{
	struct rdma_cm_event *event;
	struct ibv_async_event async;

	while (!ibv_get_async_event(id->verbs, &async)) {
		say(ibv_event_type_str(async.event_type), "");
		ibv_ack_async_event(&async);
	}
	while (!rdma_get_cm_event(id->channel, &event)) {
		say(rdma_event_str(event->event), "");
		rdma_ack_cm_event(event);
	}
}

static void connect_to_peer(const char *address, bool listens)
{
	struct ibv_qp_init_attr attr = { .cap = { DEPTH, DEPTH, 1, 1, 0 }, .qp_type = IBV_QPT_RC };
	struct rdma_addrinfo hints = { .ai_flags = listens ? RAI_PASSIVE : 0,
				       .ai_port_space = RDMA_PS_TCP };
	struct rdma_conn_param param = { .retry_count = RETRIES, .rnr_retry_count = 7 };
	struct rdma_cm_id *own;
	struct rdma_addrinfo *to;
	int i;

	must(!rdma_getaddrinfo(address, "7000", &hints, &to), "rdma_getaddrinfo: ");
	must(!rdma_create_ep(&own, to, NULL, &attr), "rdma_create_ep: ");
	must(!listens || !rdma_listen(own, 1), "rdma_listen: ");
	id = own;
	must(!listens || !rdma_get_request(own, &id), "rdma_get_request: ");
	mr = rdma_reg_msgs(id, buffer, sizeof(buffer));
	must(mr, "rdma_reg_msgs: ");
	for (i = 0; i < DEPTH / 2 && listens; i++)
		must(!rdma_post_recv(id, NULL, buffer, sizeof(buffer), mr), "rdma_post_recv: ");
	must(!(listens ? rdma_accept(id, &param) : rdma_connect(id, &param)), "rdma_connect: ");
	fcntl(id->channel->fd, F_SETFL, O_NONBLOCK);
	fcntl(id->verbs->async_fd, F_SETFL, O_NONBLOCK);
}

int main(int argc, char **argv)
{
	struct pollfd tick = { .fd = -1 };
	bool listens = argc == 4 && !strcmp(argv[1], "server");

	if (argc != 4)
		return 2;
	signal(SIGPIPE, SIG_IGN);
	setvbuf(stdout, NULL, _IOLBF, 0);
	name = argv[1];
	start_ms = now_ms();
	connect_to_peer(argv[2], listens);
	start_ms = last_ms = now_ms();
	look_at_port(true);
	say("connected", "");
	while (now_ms() - start_ms < atoi(argv[3]) * 1000) {
		if (!listens && !failed && posted - completed < WINDOW &&
		    now_ms() - start_ms > posted * SEND_MS) {
			failed += rdma_post_send(id, NULL, buffer, sizeof(buffer), mr,
						 IBV_SEND_SIGNALED) != 0;
			posted++;
		}
		look_at_events();
		look_at_completions(listens ? id->recv_cq : id->send_cq);
		look_at_port(false);
		poll(&tick, 1, TICK_MS);
	}
	return 0;
}
