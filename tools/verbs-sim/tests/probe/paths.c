/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: the question of probe.c about paths and groups that a device refuses: address handles with
 * wrong GIDs, groups that a QP cannot join, and everything that soft-iWARP lacks.
 */
#include "probe.h"

static void told_error(const char *what, int number, int ret)
{
	told("%s %d: %s", what, number, strerror(ret < 0 ? errno : ret));
}

static int made(const void *object)
{
	return object ? 0 : -1;
}

static void tell_path(struct ends *e, const char *what, int number, struct ibv_ah_attr ah)
{
	errno = 0;
	told_error(what, number, made(ibv_create_ah(e->client.pd, &ah)));
}

/* Indexes and ports at the edge of the tables, and a destination of the other family. */
static void tell_paths(struct ends *e)
{
	struct ibv_ah_attr ipv4 = { .port_num = 1, .is_global = 1 }, ipv6, ah;
	int i;

	ibv_query_gid(e->client.id->verbs, 1, 0, &ipv4.grh.dgid);
	ipv6 = ipv4;
	if (!ibv_query_gid(e->client.id->verbs, 1, 1, &ipv4.grh.dgid))
		ipv4.grh.sgid_index = 1;
	tell_path(e, "to IPv6 from GID", ipv6.grh.sgid_index, ipv6);
	tell_path(e, "to IPv4 from GID", ipv4.grh.sgid_index, ipv4);
	ah = ipv6;
	ah.grh.sgid_index = ipv4.grh.sgid_index;
	tell_path(e, "to IPv6 from GID", ah.grh.sgid_index, ah);
	ah = ipv4;
	ah.grh.sgid_index = 200;
	tell_path(e, "to IPv4 from GID", 200, ah);
	for (i = 0; i < 3; i++) {
		ah = ipv4;
		ah.port_num = (uint8_t)i;
		tell_path(e, "at port", i, ah);
	}
	ah = ipv4;
	ah.is_global = 0;
	tell_path(e, "without a GID", 0, ah);
}

static void tell_groups(struct ends *e)
{
	static const union ibv_gid group = { { 0xff, 0x0e, [15] = 1 } },
				   no_group = { { 0xfe, 0x80 } };
	struct ibv_qp *rc = create_qp_of(&e->client, IBV_QPT_RC);
	struct ibv_qp *ud = create_qp_of(&e->client, IBV_QPT_UD);
	int i;

	told_error("RC QP in group", 0, ibv_attach_mcast(rc, &group, 0));
	told_error("RC QP leaves group", 0, ibv_detach_mcast(rc, &group, 0));
	if (!ud)
		return;
	told_error("UD QP leaves group", 0, ibv_detach_mcast(ud, &group, 0));
	told_error("UD QP in a GID", 0, ibv_attach_mcast(ud, &no_group, 0));
	for (i = 0; i < 2; i++)
		told_error("UD QP in group", i, ibv_attach_mcast(ud, &group, 0));
	told_error("UD QP of a group ends", 0, ibv_destroy_qp(ud));
	for (i = 0; i < 2; i++)
		told_error("UD QP leaves group", i, ibv_detach_mcast(ud, &group, 0));
	told_error("UD QP ends", 0, ibv_destroy_qp(ud));
}

void ask_paths(struct ends *e, int unused)
{
	struct ibv_srq_init_attr pool = { .attr = { 1, 1, 0 } };
	struct ibv_srq *srq = ibv_create_srq(e->client.pd, &pool);
	struct ibv_srq_attr attr;
	uint8_t timeout = 14;
	int type;

	(void)unused;
	tell_paths(e);
	tell_groups(e);
	told_error("ibv_query_srq", 0, ibv_query_srq(srq, &attr));
	attr.max_wr = 2;
	told_error("ibv_modify_srq", 0, ibv_modify_srq(srq, &attr, IBV_SRQ_MAX_WR));
	told_error("ibv_resize_cq", 0, ibv_resize_cq(e->client.cq, 2 * DEPTH));
	for (type = 0; type < 4; type++) {
		errno = 0;
		told_error("memory window of type", type,
			   made(ibv_alloc_mw(e->client.pd, (enum ibv_mw_type)type)));
	}
	told_error("ACK timeout", 0,
		   rdma_set_option(e->client.id, RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT,
				   &timeout, sizeof(timeout)));
}
