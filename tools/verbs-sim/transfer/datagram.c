/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Datagrams: a send of a UD QP reaches each QP that it is addressed to and that has a receive; the
 * sender hears only of its own mistakes. See transfer.h.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/ip.h>
#include <netinet/ip6.h>
#include <string.h>

#include "verbs-sim/core/schedule.h"
#include "verbs-sim/transfer/transfer.h"

#define MOST_MTU        4096
#define ROCE_UDP_HEADER 8

static uint32_t mtu_of(const struct sim_qp *qp)
{
	return 128u << qp->pd->context->device->ports[qp->attr.port_num - 1].mtu;
}

static bool is_multicast(const union ibv_gid *gid)
{
	if (IN6_IS_ADDR_V4MAPPED((const struct in6_addr *)gid))
		return IN_MULTICAST((uint32_t)gid->raw[12] << 24);
	return gid->raw[0] == 0xff;
}

/* Returns the index of a group in a QP's list, or the length of the list. */
static uint32_t find_group(const struct sim_qp *qp, const union ibv_gid *gid)
{
	uint32_t i;

	for (i = 0; i < qp->n_groups && memcmp(&qp->groups[i], gid, sizeof(*gid)); i++)
		;
	return i;
}

int sim_attach(struct sim_qp *qp, const union ibv_gid *group)
{
	uint32_t i = find_group(qp, group);

	if (qp->type != IBV_QPT_UD || !is_multicast(group))
		return EINVAL;
	if (i == SIM_MOST_GROUPS)
		return ENOMEM;
	qp->groups[i] = *group;
	qp->n_groups += i == qp->n_groups;
	return 0;
}

int sim_detach(struct sim_qp *qp, const union ibv_gid *group)
{
	uint32_t i = find_group(qp, group);

	if (i == qp->n_groups)
		return EINVAL;
	qp->groups[i] = qp->groups[--qp->n_groups];
	return 0;
}

/* Returns true if the datagram reaches this QP, whether or not the QP takes it. */
static bool reaches(const struct sim_request *request, const struct sim_qp *peer)
{
	const struct ibv_ah_attr *path = &request->to.path;
	const struct sim_device *device = peer->pd->context->device;
	const union ibv_gid *gid = &path->grh.dgid;

	if (peer->type != IBV_QPT_UD || (peer->state != IBV_QPS_RTR && peer->state != IBV_QPS_RTS))
		return false;
	if (path->is_global && is_multicast(gid))
		return find_group(peer, gid) < peer->n_groups;
	if (request->to.qp_num != peer->object.number)
		return false;
	return path->is_global ? sim_has_gid(device, gid)
			       : device->ports[peer->attr.port_num - 1].lid == path->dlid;
}

/* Writes the first 40 bytes of a received datagram. Before an IPv4 header, soft-RoCE leaves 20 zeros. */
static void write_header(const struct sim_qp *qp, const struct sim_request *request, uint8_t *to)
{
	const struct ibv_global_route *route = &request->to.path.grh;
	const struct sim_gid *source =
		sim_find_gid(sim_host_of(qp), qp->attr.port_num, route->sgid_index);
	uint16_t length = htons((uint16_t)(request->length + ROCE_UDP_HEADER));
	struct ip6_hdr *v6 = (struct ip6_hdr *)to;
	struct iphdr *v4 = (struct iphdr *)(to + SIM_GRH - sizeof(*v4));

	memset(to, 0, SIM_GRH);
	if (!request->to.path.is_global || !source)
		return;
	if (IN6_IS_ADDR_V4MAPPED((const struct in6_addr *)&route->dgid)) {
		*v4 = (struct iphdr){ .version = 4,
				      .ihl = 5,
				      .tot_len = length,
				      .ttl = route->hop_limit,
				      .protocol = IPPROTO_UDP };
		memcpy(&v4->saddr, &source->gid.raw[12], sizeof(v4->saddr));
		memcpy(&v4->daddr, &route->dgid.raw[12], sizeof(v4->daddr));
		return;
	}
	v6->ip6_flow = htonl(6u << 28);
	v6->ip6_plen = length;
	v6->ip6_nxt = IPPROTO_UDP;
	v6->ip6_hlim = route->hop_limit;
	memcpy(&v6->ip6_src, &source->gid, sizeof(v6->ip6_src));
	memcpy(&v6->ip6_dst, &route->dgid, sizeof(v6->ip6_dst));
}

static void complete(struct sim_qp *peer, const struct sim_recv *recv, const struct sim_qp *qp,
		     const struct sim_request *request, uint32_t length, enum ibv_wc_status status)
{
	struct ibv_wc wc = {
		.wr_id = recv->wr_id,
		.status = status,
		.opcode = IBV_WC_RECV,
		.byte_len = length + SIM_GRH,
		.qp_num = peer->object.number,
		.src_qp = qp->object.number,
		.slid = qp->pd->context->device->ports[qp->attr.port_num - 1].lid,
		.wc_flags = request->to.path.is_global ? IBV_WC_GRH : 0,
	};

	if (request->opcode == IBV_WR_SEND_WITH_IMM) {
		wc.wc_flags |= IBV_WC_WITH_IMM;
		wc.imm_data = request->imm;
		sim_receive(peer->object.program, &wc.imm_data, sizeof(wc.imm_data), SIM_FIXED);
	}
	sim_complete(peer->recv_cq, &wc, status || request->flags & IBV_SEND_SOLICITED);
}

/* Returns true if there is no receive; or, on Linux 6.12, none with room for header and data. */
static bool is_lost(const struct sim_qp *peer, const struct sim_recv *next, uint32_t length)
{
	return !next || (sim_qp_traits(peer)->drops_too_long && !sim_fits(next, length + SIM_GRH));
}

/* A receive without room ends the QP, if the datagram is not lost. */
static void arrive(struct sim_qp *peer, const struct sim_qp *qp, const struct sim_request *request)
{
	static uint8_t data[SIM_GRH + MOST_MTU];
	const struct sim_recv *next = sim_next_recv(peer);
	enum ibv_wc_status status = IBV_WC_SUCCESS;
	uint32_t length = request->length;
	struct sim_recv *recv;
	bool fits;

	if (is_lost(peer, next, length))
		return;
	write_header(qp, request, data);
	memcpy(data + SIM_GRH, request->data, length);
	length = sim_receive(peer->object.program, data + SIM_GRH, length, mtu_of(qp));
	if (is_lost(peer, next, length))
		return;
	recv = sim_take_recv(peer);
	fits = sim_fits(recv, length + SIM_GRH);
	if (!fits)
		status = sim_qp_traits(peer)->too_long_here;
	else if (sim_scatter(sim_recv_pd(peer), recv->sge, recv->num_sge, data, length + SIM_GRH))
		status = sim_qp_traits(peer)->bad_recv_key;
	status = sim_judge(peer->object.program, status);
	complete(peer, recv, qp, request, length, status);
	sim_free(recv);
	if (status)
		sim_fail_qp(peer);
}

/* Returns true for one of this many datagrams, by chance; 0: for none. */
static bool happens(uint32_t to_one_of)
{
	return to_one_of && sim_rarely(to_one_of);
}

static bool is_stopped(struct sim_host from, struct sim_host to)
{
	return sim_passage(from, to) || sim_loses(from, to);
}

void sim_send_datagram(struct sim_qp *qp, const struct sim_request *request)
{
	const struct sim_device *device = qp->pd->context->device;
	struct sim_object *object;
	struct sim_qp *peer;
	int times;

	if (request->length > mtu_of(qp))
		return;
	SIM_EACH(object, SIM_QP)
	{
		peer = (struct sim_qp *)object;
		if (!reaches(request, peer) || peer->attr.qkey != request->to.qkey ||
		    is_stopped(sim_host_of(qp), sim_host_of(peer)) || happens(device->traits.loses))
			continue;
		for (times = happens(device->traits.repeats) ? 2 : 1; times; times--)
			arrive(peer, qp, request);
	}
}
