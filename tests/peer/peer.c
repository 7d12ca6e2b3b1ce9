/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: the other end of the wire tests. An independent implementation of the course's wire,
 * written from its description alone and deliberately sharing no code with common/, so that a
 * misunderstanding there does not meet itself here.
 *
 * Contract: one process plays one role (client or server) of one connection, or with --crowd all the
 * clients that crowd.c describes, then exits: 0 after
 * "peer: ok N messages" on stdout, 1 after a sentence on stderr, 2 on bad usage, 3 if it was
 * refused (or refused), 4 if --timeout ran out. Failures leave the tearing down to the kernel;
 * success tears down here, in the reverse order of setting up.
 */
#include "peer.h"

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
	put64(data, p->announce ? p->announce : p->count);
	put64(data + 8, p->size);
	put64(data + 16, p->blast ? p->n_buf : 0);
	put64(data + 24, (uint64_t)MAGIC << 32 | VERSION << 16 | FULL_LEN);
	return p->full ? FULL_LEN : p->blast ? BLAST_LEN : BASE_LEN;
}

static void fill_param(const struct peer *p, struct rdma_conn_param *param)
{
	memset(param, 0, sizeof(*param));
	param->responder_resources = (uint8_t)p->depth;
	param->initiator_depth = (uint8_t)p->depth;
	param->retry_count = 7;
	/* A message that met none of the few receives for credits is not to be sent again. */
	param->rnr_retry_count = p->blast && p->client && !p->full ? 0 : (uint8_t)p->rnr_retries;
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
	fill_param(p, &param);
	param.private_data_len = (uint8_t)build_request(p, data);
	param.private_data = param.private_data_len ? data : NULL;
	if (p->die_connecting) {
		must(!rdma_connect(p->id, &param), "rdma_connect");
		raise(SIGKILL);
	}
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
	if (p->count < 1 || (p->count > MAX_COUNT && !p->talks))
		refuse(p, 2, "bad count", MAX_COUNT);
	if (p->size < 1 || p->size > MAX_SIZE)
		refuse(p, 3, "bad size", MAX_SIZE);
	if (p->memory && p->size < COUNTER_LEN)
		p->size = COUNTER_LEN; /* a counter's message has 8 bytes, its buffer more */
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
	uint8_t said[255];
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
	if (p->refuses) {
		must(!rdma_reject(p->id, p->raw_data, (uint8_t)p->raw_len), "rdma_reject");
		exit(0);
	}
	if (p->stage)
		take_request(p);
	set_up_transfer(p);
	fill_param(p, &param);
	memset(said, 0xa5, sizeof(said)); /* no program may use these bytes */
	param.private_data = said;
	param.private_data_len = (uint8_t)p->accept_data;
	step(p, rdma_accept(p->id, &param), "rdma_accept", RDMA_CM_EVENT_ESTABLISHED);
}

static void be_crowd(struct peer *p)
{
	struct addrinfo *to = look_up(p);

	crowd_clients(p, find_way(p->crowd), to->ai_addr);
	freeaddrinfo(to);
}

static void run(struct peer *p)
{
	if (p->async) {
		p->channel = rdma_create_event_channel();
		must(p->channel, "rdma_create_event_channel");
	}
	if (p->server) {
		accept_client(p);
		(p->talks       ? talker
		 : p->one_sided ? one_sided_server
		 : p->blast     ? blast_server
				: ping_server)(p);
	} else {
		connect_client(p);
		(p->reach       ? reaching_client
		 : p->talks     ? talker
		 : p->one_sided ? one_sided_client
		 : p->blast     ? blast_client
		 : p->greedy    ? greedy_client
		 : p->torn      ? torn_client
				: ping_client)(p);
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

/* ---- rounds ---- */

static void on_alarm(int sig)
{
	static const char text[] = "peer: --timeout ran out\n";

	(void)sig;
	if (write(STDERR_FILENO, text, sizeof(text) - 1) < 0)
		_exit(4);
	_exit(4);
}

static void play(struct peer *p)
{
	signal(SIGALRM, on_alarm);
	alarm((unsigned int)p->timeout);
	(p->crowd ? be_crowd : run)(p);
}

/*
 * Many clients, one after the other, each a process of its own, and cheap: what the start of a
 * program costs is loading the drivers, which is done once, here.
 */
static void play_rounds(const struct peer *p)
{
	bool dies = p->die_after != NEVER;
	int status;

	ibv_free_device_list(ibv_get_device_list(NULL));
	for (uint64_t i = 1; i <= p->rounds; i++) {
		struct peer one = *p;
		pid_t pid = fork();

		must(pid >= 0, "fork");
		if (!pid) {
			play(&one);
			exit(0);
		}
		must(waitpid(pid, &status, 0) == pid, "waitpid");
		if (dies ? !WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL : status)
			die("round %" PRIu64 " of %" PRIu64 ": wait status %#x", i, p->rounds,
			    status);
	}
}

int main(int argc, char **argv)
{
	struct peer p = { .port = "12321",
			  .count = 10,
			  .size = 64,
			  .n_buf = 16,
			  .window = 1,
			  .batch = 1,
			  .depth = 1,
			  .rnr_retries = 7,
			  .leave_after = NEVER,
			  .silent_after = NEVER,
			  .die_after = NEVER,
			  .timeout = 60 };

	parse(&p, argc, argv);
	if (p.rounds)
		play_rounds(&p);
	else
		play(&p);
	return 0;
}
