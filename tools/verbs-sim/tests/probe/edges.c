/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: the question of probe.c about the ends and owners of a region: each access that a device
 * must refuse, and the like that it must not, over a connection of its own.
 */
#include <signal.h>

#include "probe.h"

#define REGION 64 /* bytes in a region */
#define TO_CLIENT \
	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE) /* iWARP writes it \
							      by READ */

enum access {
	SEND,    /* a message from the region */
	RECEIVE, /* a message into the region */
	WRITE,
	READ,
	ADD
};

enum how {
	WELL,
	OTHER_PD,
	NO_RIGHT, /* the region lacks the right */
	CLOSED,   /* the QP lacks the right */
	GONE,     /* the region was deregistered before */
	SHIFTED   /* its addresses have another offset in a page than its memory */
};

static const struct attempt {
	const char *what;
	enum access access;
	int at;
	uint32_t length;
	enum how how;
	uint32_t more; /* bytes of the message that are too many for the receive */
} attempts[] = {
	{ "SEND", SEND, 0, REGION, WELL, 0 },
	{ "SEND, last byte", SEND, REGION - 1, 1, WELL, 0 },
	{ "SEND, one beyond", SEND, REGION - 1, 2, WELL, 0 },
	{ "SEND, one before", SEND, -1, 1, WELL, 0 },
	{ "SEND, other PD", SEND, 0, REGION, OTHER_PD, 0 },
	{ "SEND, region gone", SEND, 0, REGION, GONE, 0 },
	{ "SEND, shifted region", SEND, 0, REGION, SHIFTED, 0 },
	{ "RECEIVE", RECEIVE, REGION - 16, 16, WELL, 0 },
	{ "RECEIVE, one beyond", RECEIVE, REGION - 15, 16, WELL, 0 },
	{ "RECEIVE, one beyond, not reached", RECEIVE, REGION - 15, 16, WELL, (uint32_t)-1 },
	{ "RECEIVE, one byte too long", RECEIVE, 0, 16, WELL, 1 },
	{ "RECEIVE, other PD", RECEIVE, 0, 16, OTHER_PD, 0 },
	{ "RECEIVE, no right", RECEIVE, 0, 16, NO_RIGHT, 0 },
	{ "WRITE", WRITE, 0, REGION, WELL, 0 },
	{ "WRITE, last byte", WRITE, REGION - 1, 1, WELL, 0 },
	{ "WRITE, one beyond", WRITE, REGION - 1, 2, WELL, 0 },
	{ "WRITE, behind the last", WRITE, REGION, 1, WELL, 0 },
	{ "WRITE, one before", WRITE, -1, 1, WELL, 0 },
	{ "WRITE, other PD", WRITE, 0, REGION, OTHER_PD, 0 },
	{ "WRITE, no right", WRITE, 0, REGION, NO_RIGHT, 0 },
	{ "WRITE, closed", WRITE, 0, REGION, CLOSED, 0 },
	{ "WRITE, region gone", WRITE, 0, REGION, GONE, 0 },
	{ "READ", READ, 0, REGION, WELL, 0 },
	{ "READ, last byte", READ, REGION - 1, 1, WELL, 0 },
	{ "READ, one beyond", READ, REGION - 1, 2, WELL, 0 },
	{ "READ, other PD", READ, 0, REGION, OTHER_PD, 0 },
	{ "READ, no right", READ, 0, REGION, NO_RIGHT, 0 },
	{ "READ, closed", READ, 0, REGION, CLOSED, 0 },
	{ "ADD, last word", ADD, REGION - 8, 8, WELL, 0 },
	{ "ADD, word beyond", ADD, REGION, 8, WELL, 0 },
	{ "ADD, between words", ADD, 4, 8, WELL, 0 },
	{ "ADD, no right", ADD, 0, 8, NO_RIGHT, 0 },
};

static int rights_of(const struct attempt *attempt, bool iwarp)
{
	static const int needed[] = { [RECEIVE] = IBV_ACCESS_LOCAL_WRITE,
				      [WRITE] = IBV_ACCESS_REMOTE_WRITE,
				      [READ] = IBV_ACCESS_REMOTE_READ,
				      [ADD] = IBV_ACCESS_REMOTE_ATOMIC };
	int rights = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;

	if (!iwarp)
		rights |= IBV_ACCESS_REMOTE_ATOMIC;
	if (attempt->how != NO_RIGHT)
		return rights;
	return attempt->access == RECEIVE ? IBV_ACCESS_REMOTE_READ
					  : rights & ~needed[attempt->access];
}

/* Returns the status of the next completion, or why there is none. */
static const char *outcome(const struct end *end)
{
	double until = ms_passed() + PATIENCE_MS;
	struct ibv_wc wc;

	while (ms_passed() < until) {
		if (ibv_poll_cq(end->cq, 1, &wc) == 1)
			return ibv_wc_status_str(wc.status);
		usleep(100);
	}
	return "nothing";
}

static bool is_good(const char *status)
{
	return !strcmp(status, ibv_wc_status_str(IBV_WC_SUCCESS));
}

static int request(struct ends *e, const struct attempt *attempt, struct ibv_mr *mr)
{
	static const enum ibv_wr_opcode opcodes[] = { IBV_WR_SEND, IBV_WR_SEND, IBV_WR_RDMA_WRITE,
						      IBV_WR_RDMA_READ,
						      IBV_WR_ATOMIC_FETCH_AND_ADD };
	uint64_t there = (uintptr_t)mr->addr + (uint64_t)(int64_t)attempt->at;
	struct ibv_sge sge = { (uintptr_t)e->client.buffer, attempt->length + attempt->more,
			       e->client.mr->lkey };
	struct ibv_send_wr wr = { .wr_id = 's', .sg_list = &sge, .num_sge = 1 }, *bad;

	if (attempt->access == SEND)
		sge = (struct ibv_sge){ there, attempt->length, mr->lkey };
	wr.opcode = opcodes[attempt->access];
	wr.wr.rdma.remote_addr = there;
	wr.wr.rdma.rkey = mr->rkey;
	if (attempt->access == ADD) {
		wr.wr.atomic.remote_addr = there;
		wr.wr.atomic.rkey = mr->rkey;
		wr.wr.atomic.compare_add = 1;
	}
	return ibv_post_send(e->client.id->qp, &wr, &bad);
}

/* Posts a receive in the region itself, or one anywhere, for a message after the access. */
static void prepare(struct ends *e, const struct attempt *attempt, const struct ibv_mr *mr)
{
	struct ibv_sge sge = { (uintptr_t)mr->addr + (uint64_t)attempt->at, attempt->length,
			       mr->lkey };
	struct ibv_recv_wr wr = { .wr_id = 'r', .sg_list = &sge, .num_sge = 1 }, *bad;
	struct ibv_qp_attr closed = { .qp_access_flags = 0 };

	if (attempt->how == CLOSED)
		must(!ibv_modify_qp(e->server.id->qp, &closed, IBV_QP_ACCESS_FLAGS), "closing");
	if (attempt->access != RECEIVE)
		must(!post_recv(&e->server, 4096), "ibv_post_recv");
	else
		must(!ibv_post_recv(e->server.id->qp, &wr, &bad), "ibv_post_recv");
}

/* A message after an access that seems to be good shows whether the connection has survived. */
static void try(struct ends *e, const struct attempt *attempt, struct ibv_mr *mr)
{
	const char *here;
	int ret = request(e, attempt, mr);

	here = ret ? "not posted" : outcome(&e->client);
	if (is_good(here) && attempt->access >= WRITE)
		post_send(&e->client, 8, 0);
	told("%s: client: %s", attempt->what, here);
	if (is_good(here) || attempt->access == RECEIVE)
		told("%s: server: %s", attempt->what, outcome(&e->server));
}

static void leave(struct ends *e)
{
	struct end *both[] = { &e->client, &e->server };

	for (int i = 0; i < 2; i++) {
		rdma_destroy_qp(both[i]->id);
		must(!ibv_destroy_cq(both[i]->cq), "ibv_destroy_cq");
	}
	rdma_destroy_id(e->listener);
}

/* Registers a region of client or server, with memory of the same program on both sides. */
void ask_edges(struct ends *e, int unused)
{
	struct sockaddr_in to = *(struct sockaddr_in *)rdma_get_local_addr(e->listener);
	bool iwarp = e->client.id->verbs->device->transport_type == IBV_TRANSPORT_IWARP;
	const struct attempt *attempt;
	struct ibv_mr *mr, left;
	struct end *owner;
	char *at;

	(void)unused;
	signal(SIGPIPE, SIG_IGN); /* soft-iWARP's error for a post to a connection that has ended */
	for (attempt = attempts; attempt < attempts + sizeof(attempts) / sizeof(*attempts);
	     attempt++) {
		struct ends fresh = { .param = e->param };

		if (attempt->access == ADD && iwarp)
			continue;
		connect_ends(&fresh, &to);
		fresh.client.mr =
			ibv_reg_mr(fresh.client.pd, fresh.client.buffer, BUFFER, TO_CLIENT);
		must(fresh.client.mr, "ibv_reg_mr");
		owner = attempt->access == SEND ? &fresh.client : &fresh.server;
		at = owner->buffer + BUFFER / 2;
		mr = ibv_reg_mr_iova(attempt->how == OTHER_PD ? ibv_alloc_pd(owner->id->verbs)
							      : owner->pd,
				     at + (attempt->how == SHIFTED ? 4 : 0), REGION, (uintptr_t)at,
				     rights_of(attempt, iwarp));
		if (attempt->how == SHIFTED) {
			told("%s: %s", attempt->what, mr ? "registered" : strerror(errno));
			leave(&fresh);
			continue;
		}
		must(mr, "ibv_reg_mr_iova");
		prepare(&fresh, attempt, mr);
		left = *mr;
		if (attempt->how == GONE)
			must(!ibv_dereg_mr(mr), "ibv_dereg_mr");
		try(&fresh, attempt, &left);
		leave(&fresh);
	}
}

/*
 * A message fails, as the server has no receive; then both QPs are reset, and the next message arrives.
 * `times`: how often.
 */
void ask_reuse(struct ends *e, int times)
{
	struct ibv_qp_attr attr, reset = { .qp_state = IBV_QPS_RESET };
	struct ibv_qp *client, *server;
	struct ibv_qp_init_attr init;

	must(pair_anew(e, IBV_QPT_RC, 0, 0, 0), "ibv_create_qp");
	client = e->client.id->qp;
	server = e->server.id->qp;
	must(!ibv_query_qp(client, &attr, IBV_QP_AV | IBV_QP_PORT, &init), "ibv_query_qp");
	while (times--) {
		must(!post_send(&e->client, 8, 0), "ibv_post_send");
		told("without a receive: client: %s", outcome(&e->client));
		must(!ibv_modify_qp(client, &reset, IBV_QP_STATE) &&
			     !ibv_modify_qp(server, &reset, IBV_QP_STATE),
		     "to RESET");
		must(!bring_up(client, server->qp_num, attr) &&
			     !bring_up(server, client->qp_num, attr),
		     "to RTS");
		must(!post_recv(&e->server, 64) && !post_send(&e->client, 8, 0), "post");
		told("after a reset: client: %s", outcome(&e->client));
		told("after a reset: server: %s", outcome(&e->server));
	}
}

/*
 * Adds to a word, between two words, and to the next word, by ibv_wr_atomic_fetch_add: unlike
 * ibv_post_send of librxe, it does not check the address. Each time the connection is a new one.
 */
void ask_words(struct ends *e, int unused)
{
	struct ibv_qp_init_attr_ex init = {
		.qp_type = IBV_QPT_RC,
		.sq_sig_all = 1,
		.send_cq = e->client.cq,
		.recv_cq = e->client.cq,
		.cap = { 1, 1, 1, 1, 0 },
		.pd = e->client.pd,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.send_ops_flags = IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD,
	};
	struct ibv_mr *mr = ibv_reg_mr(e->server.pd, e->server.buffer, BUFFER,
				       IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_ATOMIC);
	struct ibv_qp_attr attr, reset = { .qp_state = IBV_QPS_RESET };
	struct ibv_qp_init_attr of_server;
	struct ibv_qp_ex *qp;

	(void)unused;
	must(mr, "ibv_reg_mr");
	for (uint64_t at = 0; at <= 8; at += 4) {
		must(pair_anew(e, IBV_QPT_RC, IBV_ACCESS_REMOTE_ATOMIC, 1, 1), "ibv_create_qp");
		must(!ibv_query_qp(e->server.id->qp, &attr, IBV_QP_AV | IBV_QP_PORT, &of_server),
		     "ibv_query_qp");
		qp = ibv_qp_to_qp_ex(ibv_create_qp_ex(e->client.id->verbs, &init));
		must(!ibv_modify_qp(e->server.id->qp, &reset, IBV_QP_STATE), "to RESET");
		must(!bring_up(&qp->qp_base, e->server.id->qp->qp_num, attr) &&
			     !bring_up(e->server.id->qp, qp->qp_base.qp_num, attr),
		     "to RTS");
		ibv_wr_start(qp);
		ibv_wr_atomic_fetch_add(qp, mr->rkey, (uintptr_t)e->server.buffer + at, 1);
		ibv_wr_set_sge(qp, e->client.mr->lkey, (uintptr_t)e->client.buffer, 8);
		must(!ibv_wr_complete(qp), "ibv_wr_complete");
		told("ADD at byte %d: client: %s", (int)at, outcome(&e->client));
	}
}
