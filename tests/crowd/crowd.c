/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: many hostile clients in one process, for tests/live. Shares no code with the programs that
 * it is sent against. Contract: it asks for COUNT connections, WINDOW of them at a time, each with the
 * private data that its way has, and again for one that nobody has answered, unless it was nonsense.
 * It prints how many were connected, refused or failed, and, unless all are over, keeps those that stand,
 * silent, until its stdin ends. Exit status 0 once each has been answered, 1 after a sentence on stderr,
 * 2 on wrong usage.
 */
#include <endian.h>
#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rdma/rdma_cma.h>

#define TIME_LIMIT_S 240
#define RESOLVE_MS   2000

enum way {
	NONSENSE, /* private data that nobody understands */
	SILENT,   /* sound ones; once connected, not a word */
	HALF,     /* sound ones; what the server answers is not acknowledged */
};

struct crowd {
	enum way way;
	uint32_t count, window, begun, under_way, connected, refused, failed, size, buffers;
	uint32_t qp_num; /* of the next one without a QP of its own */
	struct sockaddr_storage to;
	struct rdma_event_channel *channel;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
};

static void die(const char *what)
{
	fprintf(stderr, "crowd: %s: %s (%d)\n", what, strerror(errno), errno);
	exit(1);
}

static void usage(void)
{
	fputs("usage: crowd nonsense|silent|half ADDRESS PORT COUNT WINDOW [SIZE [BUFFERS]]\n",
	      stderr);
	exit(2);
}

static void begin(struct crowd *crowd)
{
	struct rdma_cm_id *id;

	if (rdma_create_id(crowd->channel, &id, NULL, RDMA_PS_TCP))
		die("rdma_create_id");
	if (rdma_resolve_addr(id, NULL, (struct sockaddr *)&crowd->to, RESOLVE_MS))
		die("rdma_resolve_addr");
	crowd->begun++;
	crowd->under_way++;
}

/* One CQ serves them all: nobody looks at it. */
static void create_qp(struct crowd *crowd, struct rdma_cm_id *id)
{
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1 },
	};

	if (!crowd->pd) {
		crowd->pd = ibv_alloc_pd(id->verbs);
		crowd->cq = crowd->pd ? ibv_create_cq(id->verbs, 16, NULL, NULL, 0) : NULL;
		if (!crowd->cq)
			die("ibv_create_cq");
	}
	attr.send_cq = attr.recv_cq = crowd->cq;
	if (rdma_create_qp(id, crowd->pd, &attr))
		die("rdma_create_qp");
}

static void ask(struct crowd *crowd, struct rdma_cm_id *id)
{
	/* Count, size and buffers, as docs/protocol.md has them; or noise. */
	uint64_t data[] = { htobe64(1000000), htobe64(crowd->size), htobe64(crowd->buffers) };
	struct rdma_conn_param param = {
		.private_data = data,
		.private_data_len = sizeof(data),
		.responder_resources = 1,
		.initiator_depth = 1,
		.retry_count = 6,
		.rnr_retry_count = 7,
		.qp_num = crowd->qp_num++,
	};

	if (crowd->way == NONSENSE)
		memset(data, 0xa5, sizeof(data));
	/* Of an id without a QP of its own librdmacm leaves it to us to finish the handshake. */
	if (crowd->way != HALF)
		create_qp(crowd, id);
	if (rdma_connect(id, &param))
		die("rdma_connect");
}

/* It is over; the next one's turn. */
static void end(struct crowd *crowd, struct rdma_cm_id *id, uint32_t *counter)
{
	if (id->qp)
		rdma_destroy_qp(id);
	rdma_destroy_id(id);
	++*counter;
	crowd->under_way--;
}

static void handle(struct crowd *crowd, struct rdma_cm_id *id, enum rdma_cm_event_type type)
{
	switch (type) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		if (rdma_resolve_route(id, RESOLVE_MS))
			die("rdma_resolve_route");
		return;
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		ask(crowd, id);
		return;
	case RDMA_CM_EVENT_ESTABLISHED:
	case RDMA_CM_EVENT_CONNECT_RESPONSE: /* to be left unanswered */
		crowd->connected++;
		crowd->under_way--;
		id->context = crowd; /* it stands */
		return;
	case RDMA_CM_EVENT_REJECTED:
		if (!id->context)
			end(crowd, id, &crowd->refused);
		return;
	case RDMA_CM_EVENT_DISCONNECTED:
		if (id->qp)
			rdma_disconnect(id);
		return;
	case RDMA_CM_EVENT_TIMEWAIT_EXIT:
		return;
	default:
		if (id->context)
			return;
		end(crowd, id, &crowd->failed);
		/* A busy server may answer too late: then another one asks. */
		if (crowd->way != NONSENSE)
			crowd->begun--;
	}
}

/* Waits for the next event. False: stdin has ended. */
static bool take_event(struct crowd *crowd)
{
	struct pollfd fds[] = {
		{ .fd = crowd->channel->fd, .events = POLLIN },
		{ .fd = crowd->under_way ? -1 : STDIN_FILENO, .events = POLLIN },
	};
	enum rdma_cm_event_type type;
	struct rdma_cm_event *event;
	struct rdma_cm_id *id;

	if (poll(fds, 2, -1) < 0)
		die("poll");
	if (fds[1].revents)
		return false;
	if (rdma_get_cm_event(crowd->channel, &event))
		die("rdma_get_cm_event");
	id = event->id;
	type = event->event;
	rdma_ack_cm_event(event);
	handle(crowd, id, type);
	return true;
}

static uint32_t number(const char *text)
{
	char *end;
	unsigned long value = strtoul(text, &end, 10);

	if (end == text || *end || value > UINT32_MAX)
		usage();
	return (uint32_t)value;
}

/*
 * If two clients of a host name the same QP, the kernel's CM (cm_match_req) takes the first one for
 * stale and disconnects it. So these are numbers that soft-RoCE gives to no QP, for up to 16384
 * requests, and others in another process.
 */
static uint32_t first_qp_num(void)
{
	return 0x200000 + (uint32_t)getpid() % 768 * 0x4000;
}

static void read_arguments(struct crowd *crowd, int argc, char **argv)
{
	static const char *const ways[] = { "nonsense", "silent", "half" };
	struct addrinfo *found;

	if (argc < 6 || argc > 8)
		usage();
	while (crowd->way <= HALF && strcmp(argv[1], ways[crowd->way]))
		crowd->way++;
	if (crowd->way > HALF || getaddrinfo(argv[2], argv[3], NULL, &found))
		usage();
	memcpy(&crowd->to, found->ai_addr, found->ai_addrlen);
	freeaddrinfo(found);
	crowd->qp_num = first_qp_num();
	crowd->count = number(argv[4]);
	crowd->window = number(argv[5]);
	crowd->size = argc > 6 ? number(argv[6]) : 64;
	crowd->buffers = argc > 7 ? number(argv[7]) : 0;
}

int main(int argc, char **argv)
{
	static struct crowd crowd;

	read_arguments(&crowd, argc, argv);
	alarm(TIME_LIMIT_S);
	crowd.channel = rdma_create_event_channel();
	if (!crowd.channel)
		die("rdma_create_event_channel");
	do {
		while (crowd.begun < crowd.count && crowd.under_way < crowd.window)
			begin(&crowd);
		if (!crowd.under_way)
			break;
	} while (take_event(&crowd));
	printf("crowd: %u connected, %u refused, %u failed\n", crowd.connected, crowd.refused,
	       crowd.failed);
	fflush(stdout);
	if (crowd.connected) {
		while (take_event(&crowd))
			;
	}
	return 0; /* the kernel tears down what stands, as of a process that was killed */
}
