/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: the questions of probe.c about datagrams: ids of RDMA_PS_UDP and their UD QPs, and groups
 * of multicast.
 */
#include "probe.h"

#define GRH 40

static struct end asking = { .name = "client" }, answering = { .name = "server" };

/* Creates a UD QP. Returns false if the device has no UD. */
static bool equip_for_datagrams(struct end *end, struct rdma_cm_id *id)
{
	struct ibv_qp_init_attr init = { .qp_type = IBV_QPT_UD, .sq_sig_all = 1 };
	int ret;

	end->id = id;
	end->buffer = calloc(1, BUFFER);
	end->cq = ibv_create_cq(id->verbs, 2 * DEPTH, NULL, NULL, 0);
	end->pd = ibv_alloc_pd(id->verbs);
	must(end->buffer && end->cq && end->pd, "ibv_alloc_pd");
	end->mr = ibv_reg_mr(end->pd, end->buffer, BUFFER, IBV_ACCESS_LOCAL_WRITE);
	must(end->mr, "ibv_reg_mr");
	init.cap = (struct ibv_qp_cap){ DEPTH, DEPTH, 1, 1, 0 };
	init.send_cq = init.recv_cq = end->cq;
	ret = rdma_create_qp(id, end->pd, &init);
	told("%s: rdma_create_qp returns %d%s%s", end->name, ret, ret ? ": " : "",
	     ret ? strerror(errno) : "");
	return !ret;
}

/* Returns false if no event comes, or an error. */
static bool tell_datagram_event(const struct ends *e, const char *who, struct rdma_ud_param *ud)
{
	struct rdma_cm_event event;

	if (!event_within(e->events, PATIENCE_MS, &event)) {
		told("%s: no event", who);
		return false;
	}
	*ud = event.param.ud;
	told("%s: %s, status %d, %d bytes of data, qkey 0x%x, is_global %d, port %d, hop_limit %d",
	     who, rdma_event_str(event.event), event.status, ud->private_data_len, ud->qkey,
	     ud->ah_attr.is_global, ud->ah_attr.port_num, ud->ah_attr.grh.hop_limit);
	if (event.event == RDMA_CM_EVENT_CONNECT_REQUEST)
		answering.id = event.id;
	return !event.status;
}

static void send_datagram(const struct end *end, struct ibv_ah *ah, const struct rdma_ud_param *ud,
			  uint32_t qkey, uint32_t length, enum ibv_wr_opcode opcode)
{
	struct ibv_sge sge = { (uintptr_t)end->buffer, length, end->mr->lkey };
	struct ibv_send_wr wr = { .wr_id = 's', .sg_list = &sge, .num_sge = 1 }, *bad;

	wr.opcode = opcode;
	wr.wr.ud.ah = ah;
	wr.wr.ud.remote_qpn = ud->qp_num;
	wr.wr.ud.remote_qkey = qkey;
	tell_post(end, "ibv_post_send", ibv_post_send(end->id->qp, &wr, &bad));
}

static void tell_completions(const char *what)
{
	struct end *both[] = { &asking, &answering };
	struct ibv_wc wc;
	int i;

	usleep(100000);
	for (i = 0; i < 2; i++) {
		while (both[i]->cq && ibv_poll_cq(both[i]->cq, 1, &wc) == 1) {
			told("%s: %s: %s completed: %s", what, both[i]->name,
			     wc.wr_id == 's' ? "send" : "receive", ibv_wc_status_str(wc.status));
			if (wc.wr_id != 's' && !wc.status)
				told("%s: %u bytes, flags %u, from the client's QP: %d", what,
				     wc.byte_len, wc.wc_flags, wc.src_qp == asking.id->qp->qp_num);
		}
	}
}

static void tell_header(const struct end *end)
{
	const uint8_t *ip = (const uint8_t *)end->buffer + 20;

	told("server: in front: %02x, then at 20 version and length %02x, protocol %d, from %d.%d.%d.%d",
	     (uint8_t)end->buffer[0], ip[0], ip[9], ip[12], ip[13], ip[14], ip[15]);
}

/* Sends datagrams: one that the peer takes, and for each reason to drop one another. */
static void ask_exchange(struct ibv_ah *ah, const struct rdma_ud_param *ud)
{
	send_datagram(&asking, ah, ud, ud->qkey, 64, IBV_WR_SEND);
	tell_completions("no receive");
	must(!post_recv(&answering, 4096), "ibv_post_recv");
	send_datagram(&asking, ah, ud, ud->qkey + 1, 64, IBV_WR_SEND);
	tell_completions("another qkey");
	send_datagram(&asking, ah, ud, ud->qkey, 1025, IBV_WR_SEND);
	tell_completions("more than the MTU");
	send_datagram(&asking, ah, ud, ud->qkey, 1024, IBV_WR_SEND_WITH_IMM);
	tell_completions("the MTU");
	tell_header(&answering);
	must(!post_recv(&answering, GRH + 4), "ibv_post_recv");
	send_datagram(&asking, ah, ud, ud->qkey, 64, IBV_WR_SEND);
	tell_completions("a small receive");
	must(!post_recv(&answering, 4096), "ibv_post_recv");
	send_datagram(&asking, ah, ud, ud->qkey, 64, IBV_WR_SEND);
	tell_completions("after that");
	send_datagram(&asking, ah, ud, ud->qkey, 64, IBV_WR_RDMA_WRITE);
	tell_completions("a WRITE");
}

/* A client asks for a server's QP: nobody listens, it is refused, it is told. */
void ask_datagrams(struct ends *e, int unused)
{
	struct sockaddr_in to = *(struct sockaddr_in *)rdma_get_local_addr(e->listener);
	struct rdma_conn_param param = { .private_data = "?", .private_data_len = 1 };
	struct rdma_cm_id *listener, *id[3];
	struct rdma_ud_param ud;
	int i, ret;

	(void)unused;
	for (i = 0; i < 3; i++)
		id[i] = resolve_in(e->events, (struct sockaddr *)&to, RDMA_PS_UDP);
	if (!equip_for_datagrams(&asking, id[2])) {
		ret = rdma_connect(id[0], &param);
		told("client: rdma_connect returns %d: errno %d", ret, errno);
		return;
	}
	rdma_connect(id[0], &param);
	tell_datagram_event(e, "nobody listens: client", &ud);
	must(!rdma_create_id(e->events, &listener, NULL, RDMA_PS_UDP), "rdma_create_id");
	must(!rdma_bind_addr(listener, (struct sockaddr *)&to), "rdma_bind_addr");
	must(!rdma_listen(listener, 4), "rdma_listen");
	for (i = 1; i < 3; i++) {
		rdma_connect(id[i], &param);
		tell_datagram_event(e, "server", &ud);
		if (i == 1)
			rdma_reject(answering.id, NULL, 0);
		else if (equip_for_datagrams(&answering, answering.id))
			told("server: rdma_accept returns %d", rdma_accept(answering.id, &param));
		tell_datagram_event(e, "client", &ud);
	}
	ask_exchange(ibv_create_ah(asking.pd, &ud.ah_attr), &ud);
	told("client: rdma_disconnect returns %d", rdma_disconnect(asking.id));
	watch(e, 200, 1);
}

/* Joining a group, sending to it, and leaving it. */
void ask_multicast(struct ends *e, int unused)
{
	struct sockaddr_in own = *(struct sockaddr_in *)rdma_get_local_addr(e->listener);
	struct sockaddr_in group = { .sin_family = AF_INET };
	struct rdma_ud_param ud;
	struct rdma_cm_id *id;
	int i, ret;

	(void)unused;
	own.sin_port = 0;
	inet_pton(AF_INET, "224.1.2.9", &group.sin_addr);
	must(!rdma_create_id(e->events, &id, NULL, RDMA_PS_UDP), "rdma_create_id");
	ret = rdma_join_multicast(id, (struct sockaddr *)&group, NULL);
	told("rdma_join_multicast without an address: %d, errno %d", ret, errno);
	must(!rdma_bind_addr(id, (struct sockaddr *)&own), "rdma_bind_addr");
	if (equip_for_datagrams(&asking, id))
		must(!post_recv(&asking, 4096), "ibv_post_recv");
	errno = 0;
	ret = rdma_join_multicast(id, (struct sockaddr *)&group, NULL);
	told("rdma_join_multicast: %d, errno %d", ret, errno);
	if (!ret && tell_datagram_event(e, "client", &ud)) {
		told("the number of the group's QP is 0x%x", ud.qp_num);
		send_datagram(&asking, ibv_create_ah(asking.pd, &ud.ah_attr), &ud, ud.qkey, 64,
			      IBV_WR_SEND);
		tell_completions("a member sends");
		told("ibv_destroy_qp of a member returns %d", ibv_destroy_qp(id->qp));
	}
	for (i = 0; i < 2; i++) {
		errno = 0;
		ret = rdma_leave_multicast(id, (struct sockaddr *)&group);
		told("rdma_leave_multicast: %d, errno %d", ret, errno);
	}
}
