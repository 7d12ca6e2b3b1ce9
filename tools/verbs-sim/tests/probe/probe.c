/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: asks a driver one question and prints what it does: the source of what docs/drivers.md
 * says. It judges nothing, and no test depends on what it prints.
 *
 * Contract: one process, both ends. Each line begins with the milliseconds since the connection was
 * established; for "rnr", since just before its message. Exit status: 0 if it could ask, whatever
 * the answer; 2 for wrong usage; 3 if it could not ask.
 */
#include "probe.h"

static void tell_state(const struct end *end)
{
	static const char *const names[] = { "RESET", "INIT", "RTR", "RTS", "SQD", "SQE", "ERR" };
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_UNKNOWN };

	must(!ibv_query_qp(end->id->qp, &attr, IBV_QP_STATE | IBV_QP_TIMEOUT, &init),
	     "ibv_query_qp");
	told("%s: ibv_query_qp: state %s, ACK timeout %d", end->name,
	     attr.qp_state <= IBV_QPS_ERR ? names[attr.qp_state] : "none", attr.timeout);
}

static void leave(const struct end *end)
{
	told("%s: rdma_disconnect: %d", end->name, rdma_disconnect(end->id) ? errno : 0);
}

/* The client leaves. What does the server learn before it answers, and what happens to posts? */
static void ask_leave(struct ends *e, int unused)
{
	struct end never = { .name = "an id that was never connected" };

	(void)unused;
	never.id = resolve(rdma_create_event_channel(), rdma_get_local_addr(e->listener));
	tell_state(&e->client);
	tell_state(&e->server);
	leave(&e->client);
	watch(e, 1000, 99);
	leave(&e->client);
	tell_state(&e->server);
	tell_post(&e->server, "ibv_post_recv", post_recv(&e->server, 64));
	tell_post(&e->server, "ibv_post_send", post_send(&e->server, 64, 0));
	watch(e, 1000, 99);
	leave(&e->server);
	watch(e, 5000, 99);
	leave(&e->server);
	leave(&e->client);
	leave(&never);
	tell_post(&e->server, "ibv_post_recv", post_recv(&e->server, 64));
	tell_post(&e->server, "ibv_post_send", post_send(&e->server, 64, 0));
	watch(e, 1000, 99);
}

/* The server destroys its QP, and tells nobody: how long does the client try? */
static void ask_retries(struct ends *e, int seconds)
{
	tell_state(&e->client);
	rdma_destroy_qp(e->server.id);
	tell_post(&e->client, "ibv_post_send", post_send(&e->client, 64, 0));
	if (!watch(e, seconds * 1000, 1))
		told("client: still trying");
}

/* A message whose sender destroys its QP as soon as it has completed. */
static void ask_last(struct ends *e, int unused)
{
	struct ibv_wc wc;

	(void)unused;
	tell_post(&e->client, "ibv_post_send", post_send(&e->client, 64, 0));
	while (!ibv_poll_cq(e->client.cq, 1, &wc))
		;
	told("client: send completed: %s", ibv_wc_status_str(wc.status));
	rdma_destroy_qp(e->client.id);
	watch(e, 1000, 99);
}

static bool woken(const struct end *end)
{
	struct pollfd readable = { .fd = end->channel->fd, .events = POLLIN };
	struct ibv_cq *cq;
	void *context;

	if (poll(&readable, 1, 300) != 1)
		return false;
	must(!ibv_get_cq_event(end->channel, &cq, &context), "ibv_get_cq_event");
	ibv_ack_cq_events(cq, 1);
	return true;
}

static void one_arming(struct ends *e, int solicited_only, unsigned int flags)
{
	struct ibv_wc wc;

	ibv_req_notify_cq(e->server.cq, solicited_only);
	must(!post_recv(&e->server, 4096), "ibv_post_recv");
	must(!post_send(&e->client, 64, flags), "ibv_post_send");
	told("server: armed for %s, %s message: %s", solicited_only ? "solicited only" : "any",
	     flags ? "solicited" : "ordinary", woken(&e->server) ? "event" : "no event");
	while (ibv_poll_cq(e->server.cq, 1, &wc) || ibv_poll_cq(e->client.cq, 1, &wc))
		;
}

/* A moderated CQ makes one event for `number` completions, or when the time is over. */
static void ask_moderation(struct ends *e, int number)
{
	struct ibv_modify_cq_attr attr = { .attr_mask = IBV_CQ_ATTR_MODERATE,
					   .moderate = { (uint16_t)number, UINT16_MAX } };
	int ret = ibv_modify_cq(e->server.cq, &attr);

	told("server: ibv_modify_cq: %s", ret ? strerror(ret) : "moderated");
	one_arming(e, 0, 0);
}

static void ask_solicited(struct ends *e, int unused)
{
	struct ibv_wc wc;

	(void)unused;
	one_arming(e, 0, 0);
	one_arming(e, 1, 0);
	one_arming(e, 1, IBV_SEND_SOLICITED);
	must(!post_recv(&e->server, 4096), "ibv_post_recv");
	must(!post_send(&e->client, 64, 0), "ibv_post_send");
	while (!ibv_poll_cq(e->client.cq, 1, &wc))
		;
	usleep(100000);
	ibv_req_notify_cq(e->server.cq, 0);
	told("server: armed for any after the message: %s",
	     woken(&e->server) ? "event" : "no event");
}

/* A message longer than the receive that it meets. */
static void ask_too_long(struct ends *e, int unused)
{
	uint32_t length = 0;

	(void)unused;
	memset(e->client.buffer, 0xaa, 8192);
	memset(e->server.buffer, 0, 8192);
	tell_post(&e->client, "ibv_post_send of 8192 bytes for 4096",
		  post_send(&e->client, 8192, 0));
	watch(e, 2000, 99);
	while (length < 8192 && e->server.buffer[length])
		length++;
	told("server: %u bytes of the message are in its memory", length);
	tell_state(&e->client);
	tell_state(&e->server);
}

/* The region of a receive ends before its QP, as when the kernel destroys a dead program's objects. */
static void ask_region_gone(struct ends *e, int unused)
{
	(void)unused;
	told("server: ibv_dereg_mr returns %d", ibv_dereg_mr(e->server.mr));
	tell_post(&e->client, "ibv_post_send", post_send(&e->client, 64, 0));
	watch(e, 2000, 99);
	tell_state(&e->client);
	tell_state(&e->server);
}

/* A send from memory that its key does not cover, and a good one after it. */
static void ask_bad_key(struct ends *e, int unused)
{
	(void)unused;
	e->client.mr->lkey ^= 0x5500;
	tell_post(&e->client, "ibv_post_send with a wrong key", post_send(&e->client, 64, 0));
	e->client.mr->lkey ^= 0x5500;
	tell_post(&e->client, "ibv_post_send", post_send(&e->client, 64, 0));
	watch(e, 2000, 99);
	tell_state(&e->client);
}

/* A message that comes 10 ms before its receive, with the server's RNR timer at "code". */
static void ask_rnr(struct ends *e, int code)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RTS, .min_rnr_timer = (uint8_t)code };

	if (ibv_modify_qp(e->server.id->qp, &attr, IBV_QP_MIN_RNR_TIMER))
		told("server: ibv_modify_qp of the RNR timer: %s", strerror(errno));
	restart_clock();
	tell_post(&e->client, "ibv_post_send", post_send(&e->client, 64, 0));
	usleep(10000);
	tell_post(&e->server, "ibv_post_recv", post_recv(&e->server, 64));
	watch(e, 3000, 2);
}

/* Creates more and more QPs with one CQ, then CQs: where is the limit, and what is the error? */
static void ask_queues(struct ends *e, int most)
{
	struct ibv_qp_init_attr init = { .qp_type = IBV_QPT_RC };
	struct ibv_context *verbs = e->client.id->verbs;
	int n = 0;

	init.cap = (struct ibv_qp_cap){ 1, 1, 1, 1, 0 };
	init.send_cq = init.recv_cq = e->client.cq;
	errno = 0;
	while (n < most && ibv_create_qp(e->client.id->qp->pd, &init))
		n++;
	told("QPs besides the two: %d, then errno %d", n, errno);
	errno = 0;
	for (n = 0; n < most && ibv_create_cq(verbs, 1, NULL, NULL, 0);)
		n++;
	told("CQs after that: %d, then errno %d", n, errno);
}

static const struct question {
	const char *name;
	void (*ask)(struct ends *e, int number);
	int number;
	int receives;
	const char *help;
} questions[] = {
	{ "leave", ask_leave, 0, 2, "one side disconnects: events, flushes, states, later posts" },
	{ "retries", ask_retries, 60, 1, "[SECONDS] a peer that has gone, retry_count 6" },
	{ "retries-7", ask_retries, 60, 1, "[SECONDS] the same with retry_count 7" },
	{ "last", ask_last, 0, 2, "a message just before its sender's QP is destroyed" },
	{ "solicited", ask_solicited, 0, 0, "which message wakes a CQ armed for which" },
	{ "moderation", ask_moderation, 4, 0, "[N] an event for N messages, or after 65 ms" },
	{ "too-long", ask_too_long, 0, 2, "a message longer than its receive" },
	{ "region-gone", ask_region_gone, 0, 2, "a receive whose region was deregistered" },
	{ "bad-key", ask_bad_key, 0, 2, "a send with a wrong lkey" },
	{ "rnr", ask_rnr, 0, 0, "[CODE] a message before its receive, min_rnr_timer CODE" },
	{ "empty", ask_empty, 0, 1, "WRITEs and a READ of no byte, READs allowed" },
	{ "empty-0", ask_empty, 0, 1, "the same, READs not allowed" },
	{ "empty-gone", ask_empty_gone, 60, 1, "[SECONDS] such a WRITE to a peer that has gone" },
	{ "meet", ask_meet, 2000, 0, "[N] READs of a byte, from a side that sends meanwhile" },
	{ "meet-empty", ask_meet_empty, 2000, 0, "[N] the same, READs of no byte" },
	{ "queues", ask_queues, 2000, 0, "[N] how many QPs and CQs, up to N" },
	{ "accept", ask_request, 1, 0, "what each side is told of the other's depths and data" },
	{ "reject", ask_request, 0, 0, "the same of a client that is refused" },
	{ "ack-timeout", ask_ack_timeout, 0, 0, "RDMA_OPTION_ID_ACK_TIMEOUT: of which side" },
	{ "backlog", ask_backlog, 2, 0, "[N] more requests than a backlog of N" },
	{ "write", ask_remote, IBV_WR_RDMA_WRITE, 1, "to memory without the right to" },
	{ "read", ask_remote, IBV_WR_RDMA_READ, 1, "likewise" },
	{ "pool", ask_pool, 3, 0, "[LIMIT] a shared receive queue: its limit event, its end" },
	{ "pool-recv", ask_pool_recv, 0, 0, "a receive that is posted to a QP with one" },
	{ "pool-empty", ask_pool_empty, 0, 0,
	  "a message when it is empty, and a receive after it" },
	{ "pool-torn", ask_pool_torn, 0, 0, "a message that breaks off" },
	{ "datagrams", ask_datagrams, 0, 0, "UD: who is told of what, and what is lost" },
	{ "multicast", ask_multicast, 0, 0, "joining a group, sending to it, leaving it" },
	{ "full", ask_full, 0, 0, "more requests than the send queue has places" },
	{ "attributes", ask_attributes, 0, 0, "of the device and its port" },
	{ "gids", ask_gids, 0, 0, "which GIDs there are, and are not" },
	{ "inline", ask_inline, 0, 9, "more bytes inline than the QP was granted" },
	{ "close", ask_close, 0, 0, "a context that is closed before what is in it" },
	{ "pkeys", ask_pkeys, 0, 0, "which partition keys there are, and are not" },
	{ "pieces", ask_pieces, 0, 1, "a READ into two pieces of memory" },
	{ "uc", ask_uc, 0, 0, "UC: who is told of what, and what is lost" },
	{ "windows", ask_windows, 0, 0, "memory windows: what they open, and what ends them" },
	{ "edges", ask_edges, 0, 0, "accesses at a region's ends, and without a right" },
	{ "words", ask_words, 0, 0, "ADDs at a word, and between words, by ibv_wr_start" },
	{ "reuse", ask_reuse, 2, 0, "a QP that has failed, and was reset" },
	{ "limits", ask_limits, 0, 0, "as much as a device has, and one more" },
	{ "handles", ask_handles, 0, 0, "handles that name nothing" },
	{ "paths", ask_paths, 0, 0, "paths and groups that are wrong" },
	{ "busy", ask_busy, 0, 0, "what is destroyed while another needs it" },
	{ "terms", ask_terms, 0, 0, "private data that are too long, and calls out of turn" },
	{ "turns", ask_turns, 0, 0, "each call of rdma_cm with an id in each state" },
	{ "regions", ask_regions, 0, 0, "what memory is registered with which right" },
	{ "steps", ask_steps, 0, 0, "a QP's way to RTS, with right and wrong attributes" },
	{ "caps", ask_caps, 0, 0, "what queues are given, at the limits and beyond" },
};

static __attribute__((noreturn)) void usage(void)
{
	fputs("usage: probe IPV4-ADDRESS QUESTION [NUMBER]\n", stderr);
	for (size_t i = 0; i < sizeof(questions) / sizeof(*questions); i++)
		fprintf(stderr, "  %-10s %s\n", questions[i].name, questions[i].help);
	exit(2);
}

static int number(const char *text)
{
	char *end;
	long value;

	errno = 0;
	value = strtol(text, &end, 10);
	if (errno || end == text || *end || value < 0 || value > 100000)
		usage();
	return (int)value;
}

int main(int argc, char **argv)
{
	struct sockaddr_in to = { .sin_family = AF_INET };
	const struct question *q = NULL;
	struct ends e = { .param = { .retry_count = 6, .rnr_retry_count = 7 } };
	int value;

	if (argc < 3 || argc > 4 || inet_pton(AF_INET, argv[1], &to.sin_addr) != 1)
		usage();
	for (size_t i = 0; i < sizeof(questions) / sizeof(*questions); i++)
		if (!strcmp(argv[2], questions[i].name))
			q = &questions[i];
	if (!q)
		usage();
	value = argc == 4 ? number(argv[3]) : q->number;
	e.pooled = !strncmp(q->name, "pool", 4);
	if (!strcmp(q->name, "retries-7"))
		e.param.retry_count = 7;
	if (!strcmp(q->name, "empty") || !strcmp(q->name, "pieces") || q->ask == ask_edges ||
	    q->ask == ask_meet || q->ask == ask_meet_empty)
		e.param.initiator_depth = e.param.responder_resources = 1;
	e.receives = q->receives;
	connect_ends(&e, &to);
	restart_clock();
	q->ask(&e, value);
	return 0;
}
