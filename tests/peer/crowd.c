/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: the part of the independent peer (see peer.c) that is many clients in one process (--crowd).
 *
 * Contract: it asks for COUNT connections, WINDOW of them at a time, and again
 * for one that nobody has answered, unless it was nonsense. It prints how many were connected, refused or
 * failed, and, unless all are over, keeps those that stand, silent, until its stdin ends. Exit status 0
 * once each has been answered.
 */
#include "peer.h"

struct crowd {
	struct peer *p;
	enum way way;
	struct sockaddr *to;
	uint64_t begun, under_way, connected, refused, failed;
	uint32_t qp_num; /* the QP of the next client without one */
};

static void begin(struct crowd *crowd)
{
	struct rdma_cm_id *id;

	must(!rdma_create_id(crowd->p->channel, &id, NULL, RDMA_PS_TCP), "rdma_create_id");
	must(!rdma_resolve_addr(id, NULL, crowd->to, RESOLVE_MS), "rdma_resolve_addr");
	crowd->begun++;
	crowd->under_way++;
}

/* One CQ serves them all: nobody looks at it. */
static void create_qp(struct peer *p, struct rdma_cm_id *id)
{
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1 },
	};

	if (!p->pd) {
		p->pd = ibv_alloc_pd(id->verbs);
		must(p->pd, "ibv_alloc_pd");
		p->cq = ibv_create_cq(id->verbs, 16, NULL, NULL, 0);
		must(p->cq, "ibv_create_cq");
	}
	attr.send_cq = attr.recv_cq = p->cq;
	must(!rdma_create_qp(id, p->pd, &attr), "rdma_create_qp");
}

static void ask(struct crowd *crowd, struct rdma_cm_id *id)
{
	uint8_t data[BLAST_LEN];
	struct rdma_conn_param param = {
		.private_data = data,
		.private_data_len = sizeof(data),
		.responder_resources = 1,
		.initiator_depth = 1,
		.retry_count = 6,
		.rnr_retry_count = 7,
		.qp_num = crowd->qp_num++,
	};

	put64(data, 1000000);
	put64(data + 8, crowd->p->size);
	put64(data + 16, crowd->p->n_buf);
	if (crowd->way == NONSENSE)
		memset(data, 0xa5, sizeof(data));
	/* For an id without a QP, librdmacm leaves the end of the handshake to us. */
	if (crowd->way != HALF)
		create_qp(crowd->p, id);
	must(!rdma_connect(id, &param), "rdma_connect");
}

/* Ends a client; then it is the next one's turn. */
static void end(struct crowd *crowd, struct rdma_cm_id *id, uint64_t *counter)
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
		must(!rdma_resolve_route(id, RESOLVE_MS), "rdma_resolve_route");
		return;
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		ask(crowd, id);
		return;
	case RDMA_CM_EVENT_ESTABLISHED:
	case RDMA_CM_EVENT_CONNECT_RESPONSE: /* this one is to be left unanswered */
		crowd->connected++;
		crowd->under_way--;
		id->context = crowd; /* the connection stands */
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
static bool take_one(struct crowd *crowd)
{
	struct pollfd fds[] = {
		{ .fd = crowd->p->channel->fd, .events = POLLIN },
		{ .fd = crowd->under_way ? -1 : STDIN_FILENO, .events = POLLIN },
	};
	enum rdma_cm_event_type type;
	struct rdma_cm_event *event;
	struct rdma_cm_id *id;

	must(poll(fds, 2, -1) >= 0, "poll");
	if (fds[1].revents)
		return false;
	must(!rdma_get_cm_event(crowd->p->channel, &event), "rdma_get_cm_event");
	id = event->id;
	type = event->event;
	rdma_ack_cm_event(event);
	handle(crowd, id, type);
	return true;
}

enum way find_way(const char *name)
{
	static const char *const names[] = { "silent", "nonsense", "half" };
	enum way way = SILENT;

	while (way < NO_WAY && strcmp(names[way], name))
		way++;
	return way;
}

void crowd_clients(struct peer *p, enum way way, struct sockaddr *to)
{
	struct crowd crowd = { .p = p, .way = way, .to = to };

	/*
	 * If two clients of a host name the same QP, the kernel's CM (cm_match_req) takes the first one
	 * for stale and disconnects it. So these are numbers that soft-RoCE gives to no QP, for up to
	 * 16384 requests, and others in another process.
	 */
	crowd.qp_num = 0x200000 + (uint32_t)getpid() % 768 * 0x4000;
	p->channel = rdma_create_event_channel();
	must(p->channel, "rdma_create_event_channel");
	do {
		while (crowd.begun < p->count && crowd.under_way < p->window)
			begin(&crowd);
		if (!crowd.under_way)
			break;
	} while (take_one(&crowd));
	printf("crowd: %" PRIu64 " connected, %" PRIu64 " refused, %" PRIu64 " failed\n",
	       crowd.connected, crowd.refused, crowd.failed);
	fflush(stdout);
	while (crowd.connected && take_one(&crowd))
		;
	/* The kernel tears down what stands, as of a process that was killed. */
}
