/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: the questions of probe.c about a device's own attributes: those of device and port, GIDs
 * and partition keys; and about the meaning of one, max_sge_rd.
 */
#include "probe.h"

/* Prints the attributes of the device, without its names and counters. */
void ask_attributes(struct ends *e, int unused)
{
	struct ibv_context *verbs = e->client.id->verbs;
	struct ibv_device_attr d;
	struct ibv_port_attr p;

	(void)unused;
	fprintf(stderr, "device %s\n", ibv_get_device_name(verbs->device)); /* for probe/ask */
	must(!ibv_query_device(verbs, &d), "ibv_query_device");
	must(!ibv_query_port(verbs, 1, &p), "ibv_query_port");
	told("max_mr_size 0x%llx, page_size_cap 0x%llx, device_cap_flags 0x%x",
	     (unsigned long long)d.max_mr_size, (unsigned long long)d.page_size_cap,
	     d.device_cap_flags);
	told("max_qp %d, max_cq %d, max_mr %d, max_pd %d, max_ah %d, max_srq %d", d.max_qp,
	     d.max_cq, d.max_mr, d.max_pd, d.max_ah, d.max_srq);
	told("max_qp_wr %d, max_cqe %d, max_srq_wr %d, max_sge %d, max_sge_rd %d, max_srq_sge %d",
	     d.max_qp_wr, d.max_cqe, d.max_srq_wr, d.max_sge, d.max_sge_rd, d.max_srq_sge);
	told("max_qp_rd_atom %d, max_qp_init_rd_atom %d, max_res_rd_atom %d, max_ee_rd_atom %d",
	     d.max_qp_rd_atom, d.max_qp_init_rd_atom, d.max_res_rd_atom, d.max_ee_rd_atom);
	told("max_ee_init_rd_atom %d, max_ee %d, max_rdd %d, max_mw %d", d.max_ee_init_rd_atom,
	     d.max_ee, d.max_rdd, d.max_mw);
	told("max_raw_ipv6_qp %d, max_raw_ethy_qp %d, max_fmr %d, max_map_per_fmr %d",
	     d.max_raw_ipv6_qp, d.max_raw_ethy_qp, d.max_fmr, d.max_map_per_fmr);
	told("max_mcast_grp %d, max_mcast_qp_attach %d, max_total_mcast_qp_attach %d",
	     d.max_mcast_grp, d.max_mcast_qp_attach, d.max_total_mcast_qp_attach);
	told("atomic_cap %d, max_pkeys %d, local_ca_ack_delay %d, phys_port_cnt %d, hw_ver 0x%x",
	     d.atomic_cap, d.max_pkeys, d.local_ca_ack_delay, d.phys_port_cnt, d.hw_ver);
	/* Leaves out vendor_part_id, where siw counts the devices that it has made. */
	told("vendor 0x%x, firmware %s, num_comp_vectors %d", d.vendor_id, d.fw_ver,
	     verbs->num_comp_vectors);
	told("port: state %d, max_mtu %d, active_mtu %d, gid_tbl_len %d, port_cap_flags 0x%x",
	     p.state, p.max_mtu, p.active_mtu, p.gid_tbl_len, p.port_cap_flags);
	told("port: max_msg_sz %u, pkey_tbl_len %d", p.max_msg_sz, p.pkey_tbl_len);
	told("port: lid %d, sm_lid %d, lmc %d, max_vl_num %d, sm_sl %d, subnet_timeout %d", p.lid,
	     p.sm_lid, p.lmc, p.max_vl_num, p.sm_sl, p.subnet_timeout);
	told("port: init_type_reply %d, active_width %d, active_speed %d, phys_state %d",
	     p.init_type_reply, p.active_width, p.active_speed, p.phys_state);
	told("port: link_layer %d, flags 0x%x, port_cap_flags2 0x%x", p.link_layer, p.flags,
	     p.port_cap_flags2);
}

/* ---- GIDs ---- */

static void tell_gid(struct ibv_context *verbs, uint8_t port, int index)
{
	static const union ibv_gid none;
	struct ibv_gid_entry entry = { 0 };
	union ibv_gid gid = none;
	int ret;

	errno = 0;
	ret = ibv_query_gid(verbs, port, index, &gid);
	told("ibv_query_gid of port %d, index %d: %d, %s, errno %d", port, index, ret,
	     memcmp(&gid, &none, sizeof(gid)) ? "a GID" : "zeroes", errno);
	errno = 0;
	ret = ibv_query_gid_ex(verbs, port, (uint32_t)index, &entry, 0);
	told("ibv_query_gid_ex of port %d, index %d: %d, type %u, errno %d", port, index, ret,
	     entry.gid_type, errno);
}

/* Which places has the table of GIDs, and what do queries for other places, or another port, return? */
void ask_gids(struct ends *e, int unused)
{
	struct ibv_context *verbs = e->client.id->verbs;
	struct ibv_port_attr port;
	int index, others[] = { -1, 15, 16, 1023, 1024 };
	uint8_t number;
	int ret;

	(void)unused;
	for (number = 0; number <= 2; number += 2) {
		errno = 0;
		ret = ibv_query_port(verbs, number, &port);
		told("ibv_query_port of port %d: %d, errno %d", number, ret, errno);
		tell_gid(verbs, number, 0);
	}
	for (index = 0; index < 2; index++) /* a new device may have no third GID */
		tell_gid(verbs, 1, index);
	for (index = 0; index < 5; index++)
		tell_gid(verbs, 1, others[index]);
}

/* ---- Partition keys ---- */

static void tell_pkey(const struct ends *e, uint8_t port, int index)
{
	__be16 pkey = 0;
	int ret;

	errno = 0;
	ret = ibv_query_pkey(e->client.id->verbs, port, index, &pkey);
	told("ibv_query_pkey of port %d, index %d: %d, 0x%04x, errno %d", port, index, ret,
	     be16toh(pkey), errno);
}

static void tell_pkey_index(const struct ends *e, uint8_t port, uint16_t pkey)
{
	int ret;

	errno = 0;
	ret = ibv_get_pkey_index(e->client.id->verbs, port, htobe16(pkey));
	told("ibv_get_pkey_index of port %d, key 0x%04x: %d, errno %d", port, pkey, ret, errno);
}

/* Which partition keys are there, and what do queries for others return? */
void ask_pkeys(struct ends *e, int unused)
{
	struct ibv_device_attr device;
	struct ibv_port_attr port;

	(void)unused;
	must(!ibv_query_device(e->client.id->verbs, &device), "ibv_query_device");
	must(!ibv_query_port(e->client.id->verbs, 1, &port), "ibv_query_port");
	told("keys of the device: %d, of its port: %d", device.max_pkeys, port.pkey_tbl_len);
	tell_pkey(e, 1, 0);
	tell_pkey(e, 1, 1);
	tell_pkey(e, 1, -1);
	tell_pkey(e, 0, 0);
	tell_pkey(e, 2, 0);
	tell_pkey_index(e, 1, 0xffff);
	tell_pkey_index(e, 1, 0x7fff);
	tell_pkey_index(e, 2, 0xffff);
}

/* ---- READs ---- */

/* A READ into two pieces of memory. Which are filled, and does the QP live? */
void ask_pieces(struct ends *e, int unused)
{
	struct end *client = &e->client, *server = &e->server;
	struct ibv_send_wr wr = { .wr_id = 'e', .opcode = IBV_WR_RDMA_READ, .num_sge = 2 }, *bad;
	struct ibv_sge sges[2];
	struct ibv_mr *sink, *source;
	int i;

	(void)unused;
	sink = ibv_reg_mr(client->id->qp->pd, client->buffer, 4096,
			  IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	source = ibv_reg_mr(server->id->qp->pd, server->buffer, 4096, IBV_ACCESS_REMOTE_READ);
	must(sink && source, "ibv_reg_mr");
	memset(client->buffer, 'c', 4096);
	memset(server->buffer, 's', 4096);
	for (i = 0; i < 2; i++)
		sges[i] = (struct ibv_sge){ (uintptr_t)client->buffer + 8 * i, 8, sink->lkey };
	wr.sg_list = sges;
	wr.wr.rdma.remote_addr = (uintptr_t)server->buffer;
	wr.wr.rdma.rkey = source->rkey;
	tell_post(client, "ibv_post_send of a READ", ibv_post_send(client->id->qp, &wr, &bad));
	watch(e, 500, 99);
	told("client: %.24s", client->buffer);
	tell_post(client, "ibv_post_send", post_send(client, 64, 0));
	watch(e, 500, 99);
}
