/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: the questions of probe.c about a READ that meets messages of the other side: READs of some
 * bytes or of none, one at a time, while the side that has to answer them sends without a pause;
 * and about empty requests, alone.
 */
#include "probe.h"

#define READ_LIMIT_MS 30000

struct meeting {
	struct end *end;
	int recvs, sends, reads; /* under way */
	int sent, done;
};

static int post_read(struct end *reader, struct ibv_mr *sink, const struct end *owner,
		     struct ibv_mr *source, uint32_t length)
{
	struct ibv_sge sge = { (uintptr_t)reader->buffer, length, sink->lkey };
	struct ibv_send_wr wr = { .wr_id = 'e', .sg_list = &sge, .num_sge = 1 }, *bad;

	wr.opcode = IBV_WR_RDMA_READ;
	wr.wr.rdma.remote_addr = (uintptr_t)owner->buffer;
	wr.wr.rdma.rkey = source->rkey;
	return ibv_post_send(reader->id->qp, &wr, &bad);
}

/* Counts completions. Prints the first that did not succeed, and returns false. */
static bool reap(struct meeting *meeting)
{
	struct ibv_wc wc;

	while (ibv_poll_cq(meeting->end->cq, 1, &wc) == 1) {
		if (wc.status) {
			told("%s: %s completed: %s", meeting->end->name,
			     wc.wr_id == 'r'   ? "receive"
			     : wc.wr_id == 'e' ? "READ"
					       : "send",
			     ibv_wc_status_str(wc.status));
			return false;
		}
		if (wc.wr_id == 'e') {
			meeting->reads--;
			meeting->done++;
		} else if (wc.wr_id == 'r') {
			meeting->recvs--;
		} else {
			meeting->sends--;
		}
	}
	return true;
}

/* The client makes this many READs, one after the other; the server sends whenever it can. */
static void meet(struct ends *e, int reads, uint32_t length)
{
	struct meeting client = { .end = &e->client }, server = { .end = &e->server };
	struct ibv_mr *sink, *source;

	/* iWARP also wants REMOTE_WRITE of the memory that a READ fills. */
	sink = ibv_reg_mr(client.end->id->qp->pd, client.end->buffer, 4096,
			  IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	source = ibv_reg_mr(server.end->id->qp->pd, server.end->buffer, 4096,
			    IBV_ACCESS_REMOTE_READ);
	must(sink && source, "ibv_reg_mr");
	while (client.done < reads && ms_passed() < READ_LIMIT_MS) {
		for (; client.recvs < DEPTH; client.recvs++)
			must(!post_recv(client.end, 4096), "ibv_post_recv");
		if (!server.sends && server.sent < client.done + DEPTH) {
			must(!post_send(server.end, 64, 0), "ibv_post_send of the server");
			server.sends++;
			server.sent++;
		}
		if (!client.reads) {
			must(!post_read(client.end, sink, server.end, source, length),
			     "ibv_post_send of a READ");
			client.reads++;
		}
		if (!reap(&client) || !reap(&server))
			break;
	}
	told("%d READs of %u bytes were answered, while the server sent %d messages", client.done,
	     length, server.sent);
	watch(e, 500, 4);
}

void ask_meet(struct ends *e, int reads)
{
	meet(e, reads, 1);
}

void ask_meet_empty(struct ends *e, int reads)
{
	meet(e, reads, 0);
}

static void tell_access(const struct end *end)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr = { 0 };

	must(!ibv_query_qp(end->id->qp, &attr,
			   IBV_QP_ACCESS_FLAGS | IBV_QP_MAX_QP_RD_ATOMIC |
				   IBV_QP_MAX_DEST_RD_ATOMIC,
			   &init),
	     "ibv_query_qp");
	told("%s: the peer may %s, and have %d READs under way; we %d", end->name,
	     attr.qp_access_flags & IBV_ACCESS_REMOTE_WRITE ? "write" : "not write",
	     attr.max_dest_rd_atomic, attr.max_rd_atomic);
}

/* Posts an empty work request: an RDMA WRITE or READ, to no address, with no key. */
static int post_empty(struct end *end, enum ibv_wr_opcode opcode)
{
	struct ibv_sge none = { 0 };
	struct ibv_send_wr wr = { .wr_id = 'e', .sg_list = &none, .opcode = opcode }, *bad;

	/* soft-iWARP wants a READ to have an SGE. */
	wr.num_sge = opcode == IBV_WR_RDMA_READ;
	return ibv_post_send(end->id->qp, &wr, &bad);
}

/* An empty WRITE and READ: done while the peer lives, noticed by it, and when it has gone? */
void ask_empty(struct ends *e, int unused)
{
	(void)unused;
	tell_access(&e->client);
	tell_access(&e->server);
	tell_post(&e->client, "ibv_post_send of an empty WRITE",
		  post_empty(&e->client, IBV_WR_RDMA_WRITE));
	watch(e, 1000, 99);
	tell_post(&e->client, "ibv_post_send of an empty READ",
		  post_empty(&e->client, IBV_WR_RDMA_READ));
	watch(e, 1000, 99);
	tell_post(&e->server, "ibv_post_send of an empty WRITE",
		  post_empty(&e->server, IBV_WR_RDMA_WRITE));
	watch(e, 1000, 99);
	tell_post(&e->client, "ibv_post_send", post_send(&e->client, 64, 0));
	watch(e, 1000, 99);
}

/* An empty WRITE to a QP that was destroyed without a disconnect. */
void ask_empty_gone(struct ends *e, int seconds)
{
	rdma_destroy_qp(e->server.id);
	tell_post(&e->client, "ibv_post_send of an empty WRITE",
		  post_empty(&e->client, IBV_WR_RDMA_WRITE));
	if (!watch(e, seconds * 1000, 1))
		told("client: still trying");
}
