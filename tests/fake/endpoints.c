/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: fake verbs, the calls of librdmacm that consist of other calls, such as rdma_create_ep.
 * Contract: as in the man pages. Each of those other calls can fail. The ledger has the objects
 * that they create as the program's own: it has to destroy them with rdma_destroy_ep.
 */
#include <errno.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fake/state.h"

#define RESOLVE_MS 2000

/*
 * The PD, CQs and channels that an id has itself (id->pd and so on), and the QP attributes for a
 * listener's clients.
 */
struct fake_endpoint {
	LIST_ENTRY(fake_endpoint) next;
	struct rdma_cm_id *id;
	struct ibv_qp_init_attr attr; /* of a listener */
};

struct fake_info {
	struct fake_object object;
	struct sockaddr_storage address;
	struct rdma_addrinfo pub;
};

static LIST_HEAD(endpoint_list, fake_endpoint) endpoints;

static struct fake_endpoint *find_endpoint(const struct rdma_cm_id *id)
{
	struct fake_endpoint *endpoint = LIST_FIRST(&endpoints);

	while (endpoint && endpoint->id != id)
		endpoint = LIST_NEXT(endpoint, next);
	return endpoint;
}

static struct fake_endpoint *add_endpoint(struct rdma_cm_id *id)
{
	struct fake_endpoint *endpoint = fake_allocate(sizeof(*endpoint));

	endpoint->id = id;
	LIST_INSERT_HEAD(&endpoints, endpoint, next);
	return endpoint;
}

int rdma_getaddrinfo(const char *node, const char *service, const struct rdma_addrinfo *hints,
		     struct rdma_addrinfo **res)
{
	struct fake_fault fault = fake_begin("rdma_getaddrinfo");
	struct sockaddr_in6 *in6;
	struct sockaddr_in *in;
	struct fake_info *info;

	if (fault.error)
		return fake_end_rdma(fault.error);
	if (node && strstr(node, "no.such")) {
		fake_end(0);
		return EAI_NONAME;
	}
	info = fake_new(struct fake_info, "address information");
	info->pub.ai_flags = hints->ai_flags;
	info->pub.ai_port_space = hints->ai_port_space;
	info->pub.ai_qp_type = IBV_QPT_RC;
	in = (struct sockaddr_in *)&info->address;
	in6 = (struct sockaddr_in6 *)&info->address;
	info->address.ss_family = node && strchr(node, ':') ? AF_INET6 : AF_INET;
	in->sin_port = htons((uint16_t)atoi(service));
	if (fake_config->port && ntohs(in->sin_port) != fake_config->port)
		fake_complain("rdma_getaddrinfo: another port, %s", service);
	if (fake_config->ipv6 && info->address.ss_family != AF_INET6)
		fake_complain("rdma_getaddrinfo: another address");
	if (info->address.ss_family == AF_INET6)
		in6->sin6_addr = in6addr_loopback;
	else
		in->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	info->pub.ai_src_addr = info->pub.ai_dst_addr = (struct sockaddr *)&info->address;
	*res = &info->pub;
	return fake_end_rdma(0);
}

void rdma_freeaddrinfo(struct rdma_addrinfo *res)
{
	fake_begin_sure("rdma_freeaddrinfo");
	fake_retire(&fake_of(struct fake_info, res)->object, "rdma_freeaddrinfo");
	fake_end(0);
}

static void strip(struct rdma_cm_id *id)
{
	if (id->recv_cq)
		ibv_destroy_cq(id->recv_cq);
	if (id->send_cq)
		ibv_destroy_cq(id->send_cq);
	if (id->recv_cq_channel)
		ibv_destroy_comp_channel(id->recv_cq_channel);
	if (id->send_cq_channel)
		ibv_destroy_comp_channel(id->send_cq_channel);
	id->recv_cq = id->send_cq = NULL;
	id->recv_cq_channel = id->send_cq_channel = NULL;
}

static int make_cq(struct rdma_cm_id *id, uint32_t entries, struct ibv_comp_channel **channel,
		   struct ibv_cq **cq)
{
	*channel = ibv_create_comp_channel(id->verbs);
	if (!*channel)
		return errno;
	*cq = ibv_create_cq(id->verbs, (int)entries, id, *channel, 0);
	return *cq ? 0 : errno;
}

/* What rdma_create_qp does if the program gives it no PD and no CQs. */
static int equip(struct rdma_cm_id *id, const struct ibv_qp_init_attr *wanted)
{
	struct ibv_qp_init_attr attr = *wanted;
	int ret;

	id->pd = ibv_alloc_pd(id->verbs);
	if (!id->pd)
		return errno;
	ret = make_cq(id, attr.cap.max_recv_wr, &id->recv_cq_channel, &id->recv_cq);
	if (!ret)
		ret = make_cq(id, attr.cap.max_send_wr, &id->send_cq_channel, &id->send_cq);
	attr.qp_type = IBV_QPT_RC;
	attr.send_cq = id->send_cq;
	attr.recv_cq = id->recv_cq;
	if (!ret)
		ret = rdma_create_qp(id, id->pd, &attr) ? errno : 0;
	if (ret)
		strip(id);
	return ret;
}

int fake_equip_request(struct rdma_cm_id *listener, struct rdma_cm_id *id)
{
	const struct fake_endpoint *endpoint = find_endpoint(listener);
	int ret;

	if (!endpoint)
		return 0;
	ret = equip(id, &endpoint->attr);
	add_endpoint(id);
	if (ret) {
		listener->event = id->event;
		id->event = NULL;
	}
	return ret;
}

static int make_endpoint(struct rdma_cm_id *id, struct rdma_addrinfo *res,
			 struct ibv_qp_init_attr *attr)
{
	if (res->ai_flags & RAI_PASSIVE) {
		add_endpoint(id)->attr = *attr;
		return rdma_bind_addr(id, res->ai_src_addr) ? errno : 0;
	}
	add_endpoint(id);
	if (rdma_resolve_addr(id, NULL, res->ai_dst_addr, RESOLVE_MS))
		return errno;
	/* librdmacm checks only the status of an event, and the next call fails. */
	if (fake_of(struct fake_id, id)->state != FAKE_ADDR)
		return ENODEV;
	if (rdma_resolve_route(id, RESOLVE_MS))
		return errno;
	return fake_of(struct fake_id, id)->state == FAKE_ROUTE ? equip(id, attr) : ENODEV;
}

int rdma_create_ep(struct rdma_cm_id **id, struct rdma_addrinfo *res, struct ibv_pd *pd,
		   struct ibv_qp_init_attr *attr)
{
	int ret;

	(void)pd;
	if (rdma_create_id(NULL, id, NULL, (enum rdma_port_space)res->ai_port_space))
		return -1;
	ret = make_endpoint(*id, res, attr);
	if (!ret)
		return 0;
	rdma_destroy_ep(*id);
	errno = ret;
	return -1;
}

/* The program may have destroyed the QP before; its CQs were destroyed with it. */
void fake_strip_endpoint(struct rdma_cm_id *id)
{
	if (find_endpoint(id))
		strip(id);
}

void rdma_destroy_ep(struct rdma_cm_id *id)
{
	struct fake_endpoint *endpoint = find_endpoint(id);
	struct ibv_pd *pd = endpoint ? id->pd : NULL;

	if (id->qp)
		rdma_destroy_qp(id);
	if (endpoint) {
		LIST_REMOVE(endpoint, next);
		free(endpoint);
	}
	rdma_destroy_id(id);
	if (pd)
		ibv_dealloc_pd(pd);
}
