/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: the questions of probe.c about memory windows, and about UC: QPs that are connected by hand.
 */
#include "probe.h"

#define WINDOW 4096 /* bytes of the window, at the beginning of the server's region */

/* ---- Requests ---- */

static void post(struct ends *e, struct end *end, const char *what, struct ibv_send_wr wr)
{
	struct ibv_send_wr *bad;

	wr.wr_id = 's';
	tell_post(end, what, ibv_post_send(end->id->qp, &wr, &bad));
	watch(e, 100, 99);
}

/* The client accesses 64 bytes of the server's memory. */
static void reach(struct ends *e, const char *what, enum ibv_wr_opcode opcode, uint32_t rkey,
		  uint32_t offset)
{
	struct ibv_sge sge = { (uintptr_t)e->client.buffer, 64, e->client.mr->lkey };
	struct ibv_send_wr wr = { .opcode = opcode, .sg_list = &sge, .num_sge = 1 };

	wr.wr.rdma.remote_addr = (uintptr_t)e->server.buffer + offset;
	wr.wr.rdma.rkey = rkey;
	e->server.buffer[offset] = 's';
	e->client.buffer[0] = 'c';
	post(e, &e->client, what, wr);
	told("%s: the server's memory holds '%c'", what, e->server.buffer[offset]);
}

/* ---- UC ---- */

/* What do both ends report of a message that arrives, and of one that does not, for each reason? */
void ask_uc(struct ends *e, int unused)
{
	struct ibv_mr *open;

	(void)unused;
	if (!pair_anew(e, IBV_QPT_UC, 0, 1, 1)) {
		told("ibv_create_qp: %s", strerror(errno));
		return;
	}
	open = ibv_reg_mr(e->server.pd, e->server.buffer, BUFFER,
			  IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	must(open, "ibv_reg_mr");
	tell_post(&e->client, "a message without a receive", post_send(&e->client, 64, 0));
	watch(e, 100, 99);
	reach(e, "a WRITE, the QP without the right", IBV_WR_RDMA_WRITE, open->rkey, 0);
	must(!post_recv(&e->server, 4096), "ibv_post_recv");
	tell_post(&e->client, "a message", post_send(&e->client, 64, 0));
	watch(e, 100, 99);
	pair_anew(e, IBV_QPT_UC, IBV_ACCESS_REMOTE_WRITE, 1, 1);
	reach(e, "a WRITE", IBV_WR_RDMA_WRITE, open->rkey, 0);
	reach(e, "a WRITE with a wrong key", IBV_WR_RDMA_WRITE, open->rkey ^ 0x5500, 0);
	must(!post_recv(&e->server, 4096), "ibv_post_recv");
	reach(e, "a WRITE with immediate data", IBV_WR_RDMA_WRITE_WITH_IMM, open->rkey, 0);
	must(!post_recv(&e->server, 16), "ibv_post_recv");
	tell_post(&e->client, "a message too long", post_send(&e->client, 64, 0));
	watch(e, 100, 99);
	tell_post(&e->client, "a message after that", post_send(&e->client, 64, 0));
	watch(e, 100, 99);
	reach(e, "a READ", IBV_WR_RDMA_READ, open->rkey, 0);
	pair_anew(e, IBV_QPT_UC, 0, 1, 1);
	ibv_destroy_qp(e->server.id->qp);
	tell_post(&e->client, "a message to nobody", post_send(&e->client, 64, 0));
	watch(e, 100, 99);
}

/* ---- Memory windows ---- */

static struct ibv_mw *allocate(const struct end *end, enum ibv_mw_type type)
{
	struct ibv_mw *mw = ibv_alloc_mw(end->pd, type);

	told("ibv_alloc_mw of type %d: %s", type, mw ? "done" : strerror(errno));
	return mw;
}

static void pair_rc(struct ends *e)
{
	pair_anew(e, IBV_QPT_RC, IBV_ACCESS_REMOTE_WRITE, 1, 1);
}

/* Binds a window of type 1 to the first bytes of a region. Its key changes even if that fails. */
static void bind_first(struct ends *e, struct ibv_mw *mw, struct ibv_mr *mr, uint64_t length,
		       const char *what)
{
	struct ibv_mw_bind bind = { .wr_id = 's', .send_flags = IBV_SEND_SIGNALED };

	bind.bind_info = (struct ibv_mw_bind_info){ mr, (uintptr_t)e->server.buffer, length,
						    IBV_ACCESS_REMOTE_WRITE };
	tell_post(&e->server, what, ibv_bind_mw(e->server.id->qp, mw, &bind));
	watch(e, 100, 99);
}

/* Binds a window of type 2. */
static void bind_by_request(struct ends *e, struct ibv_mw *mw, struct ibv_mr *mr, const char *what)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_BIND_MW };

	wr.bind_mw.mw = mw;
	wr.bind_mw.rkey = ibv_inc_rkey(mw->rkey);
	wr.bind_mw.bind_info = (struct ibv_mw_bind_info){ mr, (uintptr_t)e->server.buffer, WINDOW,
							  IBV_ACCESS_REMOTE_WRITE };
	post(e, &e->server, what, wr);
	mw->rkey = wr.bind_mw.rkey;
}

static void invalidate(struct ends *e, struct end *end, const char *what, enum ibv_wr_opcode opcode,
		       uint32_t rkey)
{
	post(e, end, what, (struct ibv_send_wr){ .opcode = opcode, .invalidate_rkey = rkey });
}

static void ask_type_1(struct ends *e, struct ibv_mw *mw, struct ibv_mr *mr)
{
	uint32_t key = mw->rkey;

	pair_rc(e);
	reach(e, "a WRITE through a window bound to nothing", IBV_WR_RDMA_WRITE, mw->rkey, 0);
	pair_rc(e);
	bind_first(e, mw, e->server.mr, WINDOW, "a region without IBV_ACCESS_MW_BIND");
	mw->rkey = key;
	pair_rc(e);
	bind_first(e, mw, mr, 2 * BUFFER, "more than the region");
	mw->rkey = key;
	pair_rc(e);
	bind_first(e, mw, mr, WINDOW, "ibv_bind_mw");
	reach(e, "a WRITE", IBV_WR_RDMA_WRITE, mw->rkey, 0);
	reach(e, "a WRITE behind the window", IBV_WR_RDMA_WRITE, mw->rkey, WINDOW);
	reach(e, "a WRITE with the key that it had", IBV_WR_RDMA_WRITE, mw->rkey - 1, 0);
	pair_rc(e);
	reach(e, "a WRITE by another QP", IBV_WR_RDMA_WRITE, mw->rkey, 0);
	told("ibv_dereg_mr returns %d", ibv_dereg_mr(mr));
	invalidate(e, &e->server, "IBV_WR_LOCAL_INV of type 1", IBV_WR_LOCAL_INV, mw->rkey);
	pair_rc(e);
	bind_first(e, mw, mr, 0, "ibv_bind_mw of no byte");
	reach(e, "a WRITE after that", IBV_WR_RDMA_WRITE, mw->rkey, 0);
}

static void ask_type_2(struct ends *e, struct ibv_mw *mw, struct ibv_mr *mr)
{
	pair_rc(e);
	bind_by_request(e, mw, mr, "IBV_WR_BIND_MW");
	reach(e, "a WRITE", IBV_WR_RDMA_WRITE, mw->rkey, 0);
	invalidate(e, &e->server, "IBV_WR_LOCAL_INV", IBV_WR_LOCAL_INV, mw->rkey);
	reach(e, "a WRITE after that", IBV_WR_RDMA_WRITE, mw->rkey, 0);
	pair_rc(e);
	bind_by_request(e, mw, mr, "IBV_WR_BIND_MW");
	must(!post_recv(&e->server, 64), "ibv_post_recv");
	invalidate(e, &e->client, "IBV_WR_SEND_WITH_INV", IBV_WR_SEND_WITH_INV, mw->rkey);
	bind_by_request(e, mw, mr, "IBV_WR_BIND_MW after that");
	told("ibv_dereg_mr returns %d", ibv_dereg_mr(mr));
	bind_by_request(e, mw, mr, "IBV_WR_BIND_MW of a window that is bound");
	mw->rkey--;
	pair_rc(e);
	reach(e, "a WRITE by another QP", IBV_WR_RDMA_WRITE, mw->rkey, 0);
	told("ibv_dealloc_mw returns %d", ibv_dealloc_mw(mw));
}

/* Which accesses do windows allow, and what ends them? */
void ask_windows(struct ends *e, int unused)
{
	struct ibv_mr *mr = ibv_reg_mr(e->server.pd, e->server.buffer, BUFFER,
				       IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND);
	struct ibv_mw *first = allocate(&e->server, IBV_MW_TYPE_1);
	struct ibv_mw *second = allocate(&e->server, IBV_MW_TYPE_2);

	(void)unused;
	told("ibv_reg_mr with IBV_ACCESS_MW_BIND: %s", mr ? "done" : strerror(errno));
	if (mr && first && second) {
		ask_type_1(e, first, mr);
		ask_type_2(e, second, mr);
		pair_rc(e);
		invalidate(e, &e->server, "IBV_WR_LOCAL_INV of a region", IBV_WR_LOCAL_INV,
			   mr->rkey);
		pair_rc(e);
	}
	must(!post_recv(&e->server, 64), "ibv_post_recv");
	invalidate(e, &e->client, "IBV_WR_SEND_WITH_INV of a region", IBV_WR_SEND_WITH_INV,
		   e->server.mr->lkey);
	tell_post(&e->server, "ibv_post_recv", post_recv(&e->server, 64));
	tell_post(&e->client, "a message after that", post_send(&e->client, 64, 0));
	watch(e, 1000, 99);
}
