/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * librdmacm: rdma_create_ep, and the addresses that it takes. What it calls is no call of the
 * program.
 */
#include <errno.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>

#include "verbs-sim/calls/call.h"
#include "verbs-sim/calls/cm.h"

static struct sockaddr *copy_of(const struct addrinfo *found)
{
	struct sockaddr *copy = calloc(1, found->ai_addrlen);

	return copy ? memcpy(copy, found->ai_addr, found->ai_addrlen) : NULL;
}

static int look_up(const char *node, const char *service, const struct rdma_addrinfo *hints,
		   struct addrinfo **found)
{
	struct addrinfo wanted = { .ai_socktype = SOCK_STREAM,
				   .ai_family = hints ? hints->ai_family : 0 };

	if (hints && hints->ai_flags & RAI_PASSIVE)
		wanted.ai_flags |= AI_PASSIVE;
	if (hints && hints->ai_flags & RAI_NUMERICHOST)
		wanted.ai_flags |= AI_NUMERICHOST;
	return getaddrinfo(node, service, &wanted, found);
}

EXPORTED int rdma_getaddrinfo(const char *node, const char *service,
			      const struct rdma_addrinfo *hints, struct rdma_addrinfo **res)
{
	struct rdma_addrinfo *info;
	struct addrinfo *found;
	int ret;

	SIM_CALL_OR(-1, "rdma_getaddrinfo", ENOMEM, EINVAL);
	ret = look_up(node, service, hints, &found);
	if (ret)
		return ret;
	info = calloc(1, sizeof(*info));
	if (!info)
		return EAI_MEMORY;
	info->ai_flags = hints ? hints->ai_flags : 0;
	info->ai_family = found->ai_family;
	info->ai_qp_type = hints && hints->ai_qp_type ? hints->ai_qp_type : IBV_QPT_RC;
	info->ai_port_space = hints && hints->ai_port_space ? hints->ai_port_space : RDMA_PS_TCP;
	if (info->ai_flags & RAI_PASSIVE) {
		info->ai_src_addr = copy_of(found);
		info->ai_src_len = found->ai_addrlen;
	} else {
		info->ai_dst_addr = copy_of(found);
		info->ai_dst_len = found->ai_addrlen;
	}
	freeaddrinfo(found);
	*res = info;
	return 0;
}

EXPORTED void rdma_freeaddrinfo(struct rdma_addrinfo *res)
{
	sim_step("rdma_freeaddrinfo");
	free(res->ai_src_addr);
	free(res->ai_dst_addr);
	free(res);
}

/* ---- Endpoints ---- */

static int connect_ep(struct rdma_cm_id *id, struct rdma_addrinfo *res, struct ibv_pd *pd,
		      struct ibv_qp_init_attr *attr)
{
	if (sim_resolve_addr(id, res->ai_src_addr, res->ai_dst_addr) || sim_resolve_route(id))
		return -1;
	sim_ack_last_event(id);
	return attr ? sim_make_qp(id, pd, attr) : 0;
}

/* Its requests get QPs like this one. */
static int bind_ep(struct rdma_cm_id *id, struct rdma_addrinfo *res, struct ibv_pd *pd,
		   struct ibv_qp_init_attr *attr)
{
	if (attr) {
		user_id(id)->makes_qps = true;
		user_id(id)->qp_attr = *attr;
		user_id(id)->qp_pd = pd;
	}
	return sim_bind(id, res->ai_src_addr);
}

EXPORTED int rdma_create_ep(struct rdma_cm_id **created, struct rdma_addrinfo *res,
			    struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	bool passive = res->ai_flags & RAI_PASSIVE;
	struct rdma_cm_id *id;
	int error;

	SIM_CALL_OR(-1, "rdma_create_ep", ENODEV, ENOMEM, EADDRINUSE, EHOSTUNREACH);
	if (sim_make_id(NULL, &id, NULL, (enum rdma_port_space)res->ai_port_space))
		return -1;
	if (attr)
		attr->qp_type = (enum ibv_qp_type)res->ai_qp_type;
	if (passive ? !bind_ep(id, res, pd, attr) : !connect_ep(id, res, pd, attr)) {
		*created = id;
		return 0;
	}
	error = errno;
	sim_delete_id(id);
	errno = error;
	return -1;
}

EXPORTED void rdma_destroy_ep(struct rdma_cm_id *id)
{
	sim_step("rdma_destroy_ep");
	if (id->qp)
		sim_unmake_qp(id);
	if (id->srq)
		sim_unmake_srq(id);
	sim_delete_id(id);
}
