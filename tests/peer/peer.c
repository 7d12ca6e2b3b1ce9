/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: the other end of the wire tests. An independent implementation of the course's wire,
 * written from its description alone and deliberately sharing no code with common/, so that a
 * misunderstanding there does not meet itself here.
 *
 * Contract: one process plays one role (client or server) of one connection, then exits: 0 after
 * "peer: ok N messages" on stdout, 1 after a sentence on stderr, 2 on bad usage, 3 if it was
 * refused (or refused), 4 if --timeout ran out. Failures leave the tearing down to the kernel;
 * success tears down here, in the reverse order of setting up.
 */
#include "messages.h"

/* ---- the two roles ---- */

static struct addrinfo *look_up(const struct peer *p)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM }, *found;
	int ret = getaddrinfo(p->addr, p->port, &hints, &found);

	if (ret)
		die("address %s port %s: %s", p->addr, p->port, gai_strerror(ret));
	return found;
}

static size_t build_request(const struct peer *p, uint8_t *data)
{
	if (p->raw) {
		memcpy(data, p->raw_data, p->raw_len);
		return p->raw_len;
	}
	if (!p->stage)
		return 0;
	put64(data, p->count);
	put64(data + 8, p->size);
	put64(data + 16, p->blast ? p->n_buf : 0);
	put64(data + 24, (uint64_t)MAGIC << 32 | VERSION << 16 | FULL_LEN);
	return p->full ? FULL_LEN : p->blast ? BLAST_LEN : BASE_LEN;
}

static void fill_param(struct rdma_conn_param *param)
{
	memset(param, 0, sizeof(*param));
	param->responder_resources = 1;
	param->initiator_depth = 1;
	param->retry_count = 7;
	param->rnr_retry_count = 7;
}

static void connect_client(struct peer *p)
{
	struct addrinfo *to = look_up(p);
	struct rdma_conn_param param;
	uint8_t data[255];

	must(!rdma_create_id(p->channel, &p->id, NULL, RDMA_PS_TCP), "rdma_create_id");
	step(p, rdma_resolve_addr(p->id, NULL, to->ai_addr, RESOLVE_MS), "rdma_resolve_addr",
	     RDMA_CM_EVENT_ADDR_RESOLVED);
	freeaddrinfo(to);
	step(p, rdma_resolve_route(p->id, RESOLVE_MS), "rdma_resolve_route",
	     RDMA_CM_EVENT_ROUTE_RESOLVED);
	set_up_transfer(p);
	fill_param(&param);
	param.private_data_len = (uint8_t)build_request(p, data);
	param.private_data = param.private_data_len ? data : NULL;
	step(p, rdma_connect(p->id, &param), "rdma_connect", RDMA_CM_EVENT_ESTABLISHED);
}

static __attribute__((noreturn)) void refuse(struct peer *p, uint64_t reason, const char *why,
					     uint64_t limit)
{
	uint8_t data[16];

	put64(data, (uint64_t)MAGIC << 32 | VERSION << 16 | reason);
	put64(data + 8, limit);
	must(!rdma_reject(p->id, data, sizeof(data)), "rdma_reject");
	rdma_destroy_id(p->id);
	rdma_destroy_id(p->listener);
	fprintf(stderr, "peer: refused the client's %zu bytes of private data: %s\n",
		p->request_len, why);
	exit(3);
}

/* Believes the client's private data, or refuses it with a reason code of our own. */
static void take_request(struct peer *p)
{
	const uint8_t *d = p->request;

	if (p->request_len < (p->blast ? BLAST_LEN : BASE_LEN))
		refuse(p, 1, "too short", p->blast ? BLAST_LEN : BASE_LEN);
	p->count = get_be(d, 8);
	p->size = get_be(d + 8, 8);
	if (p->count < 1 || p->count > MAX_COUNT)
		refuse(p, 2, "bad count", MAX_COUNT);
	if (p->size < 1 || p->size > MAX_SIZE)
		refuse(p, 3, "bad size", MAX_SIZE);
	if (p->blast) {
		p->n_buf = get_be(d + 16, 8);
		if (p->n_buf < 1 || p->n_buf > MAX_BUFFERS || p->n_buf * p->size > MAX_MEMORY)
			refuse(p, 4, "bad number of buffers", MAX_BUFFERS);
	}
	if (p->request_len >= FULL_LEN && get_be(d + 24, 4) == MAGIC) {
		uint64_t length = get_be(d + 30, 2);

		if (length < FULL_LEN || length > p->request_len)
			refuse(p, 5, "bad extension", FULL_LEN);
	}
}

static void accept_client(struct peer *p)
{
	struct addrinfo *at = look_up(p);
	struct rdma_cm_event *ev;
	struct rdma_conn_param param;

	must(!rdma_create_id(p->channel, &p->listener, NULL, RDMA_PS_TCP), "rdma_create_id");
	must(!rdma_bind_addr(p->listener, at->ai_addr), "rdma_bind_addr");
	freeaddrinfo(at);
	must(!rdma_listen(p->listener, 4), "rdma_listen");
	fprintf(stderr, "peer: listening on %s port %s\n", p->addr, p->port);
	must(p->async || !rdma_get_request(p->listener, &p->id), "rdma_get_request");
	ev = p->async ? expect_event(p, RDMA_CM_EVENT_CONNECT_REQUEST) : p->id->event;
	p->id = ev->id;
	if (ev->param.conn.private_data)
		p->request_len = ev->param.conn.private_data_len;
	if (p->request_len)
		memcpy(p->request, ev->param.conn.private_data, p->request_len);
	if (p->verbose)
		note("request: %zu bytes of private data, initiator_depth %u, "
		     "responder_resources %u, rnr_retry %u, retry %u",
		     p->request_len, ev->param.conn.initiator_depth,
		     ev->param.conn.responder_resources, ev->param.conn.rnr_retry_count,
		     ev->param.conn.retry_count);
	if (p->async)
		rdma_ack_cm_event(ev);
	if (p->stage)
		take_request(p);
	set_up_transfer(p);
	fill_param(&param);
	step(p, rdma_accept(p->id, &param), "rdma_accept", RDMA_CM_EVENT_ESTABLISHED);
}

static void run(struct peer *p)
{
	if (p->async) {
		p->channel = rdma_create_event_channel();
		must(p->channel, "rdma_create_event_channel");
	}
	if (p->server) {
		accept_client(p);
		(p->blast ? blast_server : ping_server)(p);
	} else {
		connect_client(p);
		(p->blast ? blast_client : ping_client)(p);
	}
	if (!p->abrupt) {
		disconnect(p);
		tear_down(p);
	}
	printf("peer: ok %" PRIu64 " messages\n", p->count);
	fflush(stdout);
	if (p->abrupt)
		_exit(0);
}

/* ---- command line ---- */

static void on_alarm(int sig)
{
	static const char text[] = "peer: --timeout ran out\n";

	(void)sig;
	if (write(STDERR_FILENO, text, sizeof(text) - 1) < 0)
		_exit(4);
	_exit(4);
}

static __attribute__((noreturn)) void usage(void)
{
	fputs("usage: peer --server|--client [--stage 0|1] [--blast] [--async] [--events] -a ADDR\n"
	      "  [-p PORT] [-c COUNT] [-s SIZE] [-n BUFFERS] [--timeout S] [-v]\n"
	      "  client: [--full] [--raw-private HEX] [--exit-without-disconnect]\n"
	      "  blast server: [--credit-batch N] [--bad-credit huge|zero|short]\n",
	      stderr);
	exit(2);
}

static uint64_t number(const char *text, uint64_t low, uint64_t high)
{
	char *end;
	uint64_t value;

	errno = 0;
	value = strtoull(text, &end, 0);
	if (errno || end == text || *end || *text == '-' || value < low || value > high) {
		fprintf(stderr, "peer: %s is not a number from %" PRIu64 " to %" PRIu64 "\n", text,
			low, high);
		exit(2);
	}
	return value;
}

static void parse_hex(struct peer *p, const char *text)
{
	size_t len = strlen(text);

	if (len % 2 || len / 2 > sizeof(p->raw_data) ||
	    strspn(text, "0123456789abcdefABCDEF") != len)
		usage();
	for (p->raw_len = 0; p->raw_len < len / 2; p->raw_len++)
		if (sscanf(text + 2 * p->raw_len, "%2hhx", &p->raw_data[p->raw_len]) != 1)
			usage();
	p->raw = true;
}

static int parse_bad(const char *text)
{
	if (strcmp(text, "huge") && strcmp(text, "zero") && strcmp(text, "short"))
		usage();
	return *text;
}

static void parse(struct peer *p, int argc, char **argv)
{
	const struct option longs[] = {
		{ "server", 0, &p->server, 1 },
		{ "client", 0, &p->client, 1 },
		{ "async", 0, &p->async, 1 },
		{ "events", 0, &p->events, 1 },
		{ "blast", 0, &p->blast, 1 },
		{ "full", 0, &p->full, 1 },
		{ "exit-without-disconnect", 0, &p->abrupt, 1 },
		{ "verbose", 0, &p->verbose, 1 },
		{ "stage", 1, NULL, 'g' },
		{ "raw-private", 1, NULL, 'R' },
		{ "credit-batch", 1, NULL, 'b' },
		{ "bad-credit", 1, NULL, 'x' },
		{ "timeout", 1, NULL, 't' },
		{ 0 },
	};
	uint64_t timeout = 60;
	int c;

	while ((c = getopt_long(argc, argv, "a:p:c:s:n:v", longs, NULL)) != -1) {
		if (c == 'a')
			p->addr = optarg;
		else if (c == 'p')
			p->port = optarg;
		else if (c == 'c')
			p->count = number(optarg, 1, UINT64_MAX);
		else if (c == 's')
			p->size = number(optarg, 1, MAX_SIZE);
		else if (c == 'n')
			p->n_buf = number(optarg, 1, MAX_BUFFERS);
		else if (c == 'v')
			p->verbose = 1;
		else if (c == 'g')
			p->stage = (int)number(optarg, 0, 1);
		else if (c == 'R')
			parse_hex(p, optarg);
		else if (c == 'b')
			p->batch = number(optarg, 1, MAX_BUFFERS);
		else if (c == 'x')
			p->bad_credit = parse_bad(optarg);
		else if (c == 't')
			timeout = number(optarg, 1, 86400);
		else if (c)
			usage();
	}
	if (optind != argc || p->server == p->client || !p->addr)
		usage();
	if (p->blast)
		p->stage = 1;
	if (p->blast && p->n_buf * p->size > MAX_MEMORY)
		die("%" PRIu64 " buffers of %" PRIu64 " bytes are too much", p->n_buf, p->size);
	alarm((unsigned int)timeout);
}

int main(int argc, char **argv)
{
	struct peer p = { .port = "12321", .count = 10, .size = 64, .n_buf = 16, .batch = 1 };

	signal(SIGALRM, on_alarm);
	parse(&p, argc, argv);
	run(&p);
	return 0;
}
